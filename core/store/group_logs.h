// A store's topics as groups look at them.
#pragma once

#include <optional>

#include "core/group/group_topics.h"
#include "core/store/store.h"

namespace tk {

class GroupLogs final : public GroupTopics {
 public:
  /// Looks through `store`, which must outlive it.
  explicit GroupLogs(const Store& store) : store_(&store) {}

  /// Opens the store's directory anew for looking; from then on that is what is looked through.
  void refresh() override;
  [[nodiscard]] std::optional<std::int32_t> partition_count(const std::string& topic) const override;
  [[nodiscard]] std::optional<Uuid> topic_id(const std::string& topic) const override;
  [[nodiscard]] std::optional<LogEdges> edges(const TopicPartition& partition) const override;
  [[nodiscard]] Offset last_stable(const TopicPartition& partition) const override;
  [[nodiscard]] LeaderEpochs leader_epochs(const TopicPartition& partition) const override;
  [[nodiscard]] std::optional<Offset> offset_for_time(const TopicPartition& partition,
                                                      std::int64_t timestamp_ms) const override;

  /// The partition's place in the store; null if there is none.
  [[nodiscard]] const PartitionInfo* find(const TopicPartition& partition) const;
  [[nodiscard]] const Store& store() const { return *store_; }

 private:
  const Store* store_;
  std::optional<Store> own_;
};

}  // namespace tk
