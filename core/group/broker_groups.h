// The groups of a Kafka broker: what replaying the records of `__consumer_offsets` and `__share_group_state`
// gives (kafka-on-disk.md §13.1, §13.3; KIP-848, KIP-932). Only read.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/format/schema_value.h"
#include "core/group/group_state.h"

namespace tk {

enum class BrokerGroupType : std::uint8_t { classic, consumer, share, streams };
/// "classic", "consumer", "share", "streams".
std::string_view broker_group_type_name(BrokerGroupType type);

struct BrokerGroup {
  BrokerGroupType type = BrokerGroupType::classic;
  /// As tk's own groups have it: `protocol` is `consumer` where members have epochs. Of a share group the
  /// offsets are where its records begin that are not done with.
  GroupState state;
  /// The classic protocol's type, "consumer" for applications that read; empty: a group of commits alone.
  std::string protocol_type;
  /// The assignor's name, which need not be one that is known here; empty: none.
  std::string assignor;
  /// The partition of `__consumer_offsets` that its records lie in; nothing: only share state is there.
  std::optional<PartitionId> held_by;
};

/// Takes records in the order in which they settle (settled_records.h).
class BrokerGroupReplay {
 public:
  /// A record of `__consumer_offsets`. False if it is not known here, or cannot be decoded: it is stepped
  /// over.
  bool take_offsets(PartitionId partition, const std::optional<std::string_view>& key,
                    const std::optional<std::string_view>& value, Offset offset);
  /// A record of `__share_group_state`.
  bool take_share_state(const std::optional<std::string_view>& key,
                        const std::optional<std::string_view>& value);

  /// The groups by id. `topic_name` gives a topic's name by its id, empty if nobody knows it: the id stands
  /// for it then.
  using TopicName = std::function<std::string(const Uuid&)>;
  /// `held_here` says whether a group's own records would be here: without them it is gone, whatever is left
  /// of it in the share state.
  [[nodiscard]] std::map<std::string, BrokerGroup> groups(
      const TopicName& topic_name, const std::function<bool(const std::string&)>& held_here) const;

 private:
  struct Member {
    std::optional<SchemaValue> metadata, current, target;
  };
  struct Commit {
    CommittedOffset committed;
    Offset at;  // its record's
  };
  struct Raw {
    std::optional<PartitionId> held_by;
    std::optional<SchemaValue> classic;
    /// Epoch of a consumer, share or streams group, and of its assignment.
    std::optional<BrokerGroupType> epoch_type;
    std::int32_t epoch = 0;
    std::int32_t target_epoch = 0;
    std::map<std::string, Member> members;
    std::map<std::string, SchemaValue> expressions;
    std::map<TopicPartition, Commit> offsets;
    std::map<std::pair<std::string, std::int32_t>, std::int64_t> share_starts;  // by topic id's text
    std::map<std::string, Uuid> share_topics;

    /// The group is there by its own records.
    [[nodiscard]] bool exists() const {
      return classic || epoch_type || !members.empty() || !offsets.empty();
    }
  };

  void take_commit(Raw& group, const SchemaValue& key, const SchemaValue* value, Offset offset);
  static BrokerGroup classic_group(const Raw& raw);
  static BrokerGroup epoch_group(const Raw& raw, const TopicName& topic_name);

  std::map<std::string, Raw> groups_;
};

}  // namespace tk
