// A broker's groups as replayed records have them (kafka-on-disk.md §13.1).
#include "core/group/broker_groups.h"

#include <doctest/doctest.h>

#include <functional>

#include "core/format/internal_record.h"
#include "core/group/group_name.h"

using namespace tk;

namespace {

std::string encoded(std::string_view name, int version, std::int16_t prefix,
                    const std::function<void(SchemaValue&)>& fill) {
  const SchemaType& type = *internal_schemas().find(name, version);
  SchemaValue value = SchemaValue::of(type);
  fill(value);
  Buffer out;
  store_be<std::int16_t>(out.room(2), prefix);
  out.commit(2);
  REQUIRE(!encode_schema(type, value, out));
  return std::string(as_text(out.view()));
}

std::string commit_key(const std::string& group, const std::string& topic, int partition) {
  return encoded("OffsetCommitKey", 0, 1, [&](SchemaValue& v) {
    v["group"] = group;
    v["topic"] = topic;
    v["partition"] = partition;
  });
}
std::string commit_value(std::int64_t offset) {
  return encoded("OffsetCommitValue", 3, 3, [&](SchemaValue& v) { v["offset"] = offset; });
}

struct Replay {
  BrokerGroupReplay groups;
  std::int64_t at = 0;

  bool take(const std::string& key, const std::optional<std::string>& value,
            std::optional<std::int64_t> offset = {}) {
    return groups.take_offsets(PartitionId(3), key,
                               value ? std::optional<std::string_view>(*value) : std::nullopt,
                               Offset(offset.value_or(at++)));
  }
  std::map<std::string, BrokerGroup> all() const {
    return groups.groups([](const Uuid&) { return std::string(); }, [](const std::string&) { return true; });
  }
};

}  // namespace

TEST_CASE("broker groups: the last commit counts, a tombstone removes, the group goes with its last record") {
  Replay replay;
  CHECK(replay.take(commit_key("g", "t", 0), commit_value(5)));
  CHECK(replay.take(commit_key("g", "t", 0), commit_value(7)));
  CHECK(replay.take(commit_key("g", "t", 1), commit_value(1)));
  CHECK(replay.take(commit_key("g", "t", 1), std::nullopt));
  const auto groups = replay.all();
  REQUIRE(groups.contains("g"));
  CHECK(groups.at("g").state.offsets.size() == 1);
  CHECK(groups.at("g").state.offsets.begin()->second.offset == 7);
  CHECK(groups.at("g").held_by == PartitionId(3));
  CHECK(groups.at("g").type == BrokerGroupType::classic);
  CHECK(groups.at("g").state.phase == GroupPhase::empty);
  CHECK(replay.take(commit_key("g", "t", 0), std::nullopt));
  CHECK(replay.all().empty());
}

TEST_CASE("broker groups: a transaction's commit that settles late gives way to what is newer in the log") {
  Replay replay;
  CHECK(replay.take(commit_key("g", "t", 0), commit_value(20), 10));
  CHECK(replay.take(commit_key("g", "t", 0), commit_value(15), 8));  // written before, committed after
  CHECK(replay.all().at("g").state.offsets.begin()->second.offset == 20);
}

TEST_CASE("broker groups: a consumer group's phase") {
  Replay replay;
  const auto key = [](std::string_view name, std::int16_t type) {
    return encoded(name, 0, type, [&](SchemaValue& v) {
      v["group_id"] = "g";
      if (v.find("member_id") != nullptr) v["member_id"] = "m";
    });
  };
  const auto epoch = [&](std::int32_t n) {
    replay.take(key("ConsumerGroupMetadataKey", 3),
                encoded("ConsumerGroupMetadataValue", 0, 0, [&](SchemaValue& v) { v["epoch"] = n; }));
  };
  const auto phase = [&] { return replay.all().at("g").state.phase; };
  epoch(1);
  CHECK(phase() == GroupPhase::empty);
  replay.take(
      key("ConsumerGroupMemberMetadataKey", 5),
      encoded("ConsumerGroupMemberMetadataValue", 0, 0, [](SchemaValue& v) { v["client_id"] = "c"; }));
  CHECK(phase() == GroupPhase::assigning);  // epoch 1, assigned for 0
  replay.take(key("ConsumerGroupTargetAssignmentMetadataKey", 6),
              encoded("ConsumerGroupTargetAssignmentMetadataValue", 0, 0,
                      [](SchemaValue& v) { v["assignment_epoch"] = 1; }));
  CHECK(phase() == GroupPhase::reconciling);
  replay.take(key("ConsumerGroupCurrentMemberAssignmentKey", 8),
              encoded("ConsumerGroupCurrentMemberAssignmentValue", 0, 0,
                      [](SchemaValue& v) { v["member_epoch"] = 1; }));
  CHECK(phase() == GroupPhase::stable);
  CHECK(replay.all().at("g").assignor == "uniform");
  epoch(2);
  CHECK(phase() == GroupPhase::assigning);
}

TEST_CASE("broker groups: what is not known is stepped over") {
  Replay replay;
  CHECK(!replay.take(std::string("\x00\x09\xff", 3), std::string("x")));
  CHECK(!replay.take(std::string("\x7f\xff", 2), std::string("x")));
  CHECK(!replay.take(commit_key("g", "t", 0), std::string("\x00\x63", 2)));
  CHECK(!replay.take(std::string(), std::nullopt));
  CHECK(replay.all().empty());
}

TEST_CASE("broker groups: the partition that holds a group") {
  // kafka-on-disk.md §13.1: abs(hash) % 50 there, here of another number of partitions.
  CHECK(offsets_partition_of("my-group", 50) == 12);
  CHECK(offsets_partition_of("my-group", 3) == 1906497762 % 3);
  CHECK(offsets_partition_of("polygenelubricants", 7) == 0);
}
