// Every version of every record of Kafka's internal topics: what a generated message is encoded to is decoded
// to it again, and no damage to it is read as anything but a message of the same bytes or a fault.
#include "core/format/schema.h"

#include <doctest/doctest.h>

#include <random>
#include <set>

#include "core/format/internal_record.h"
#include "core/format/schema_value.h"

using namespace tk;

namespace {

using Random = std::mt19937_64;

std::int64_t integer_of(SchemaKind kind, Random& random) {
  const auto bits = static_cast<std::int64_t>(random());
  const bool small = random() % 2 == 0;
  switch (kind) {
    case SchemaKind::int8:
      return static_cast<std::int8_t>(bits);
    case SchemaKind::int16:
      return static_cast<std::int16_t>(bits);
    case SchemaKind::uint16:
      return static_cast<std::uint16_t>(bits);
    case SchemaKind::uint32:
      return static_cast<std::uint32_t>(bits);
    case SchemaKind::int64:
      return small ? bits % 1000 : bits;
    default:
      return static_cast<std::int32_t>(small ? bits % 1000 : bits);
  }
}

SchemaValue generate(const SchemaType& type, Random& random) {
  if (type.nullable && random() % 4 == 0) return SchemaValue::Null{};
  const std::size_t size = random() % 8 == 0 ? 200 : random() % 4;
  switch (type.kind) {
    case SchemaKind::boolean:
      return random() % 2 == 0;
    case SchemaKind::float64:
      return static_cast<double>(random() % 1000) / 8;
    case SchemaKind::uuid:
      return Uuid::random();
    case SchemaKind::string:
      return std::string(size, 'a');
    case SchemaKind::bytes:
      return SchemaValue::Bytes{std::string(size, '\xff')};
    case SchemaKind::array: {
      SchemaValue::Array elements;
      for (std::size_t i = 0; i < size % 5; ++i) elements.push_back(generate(*type.element, random));
      return elements;
    }
    case SchemaKind::structure: {
      SchemaStruct made{&type, {}, {}};
      for (const SchemaField& field : type.fields) {
        made.fields.push_back(field.tag < 0 || random() % 2 == 0 ? generate(field.type, random)
                                                                 : SchemaValue());
      }
      if (type.flexible && random() % 4 == 0) made.unknown.push_back({200, std::string(size, 'u')});
      return made;
    }
    default:
      return integer_of(type.kind, random);
  }
}

template <class Visit>
void every_version(Visit&& visit) {
  for (const SchemaRecord* record : internal_schemas().records()) {
    for (int version = record->lowest; version <= record->highest; ++version) {
      const SchemaType* type = internal_schemas().find(record->name, version);
      REQUIRE_MESSAGE(type != nullptr, record->name << " " << version);
      visit(*record, version, *type);
    }
  }
}

std::string hex(const Buffer& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes.view()) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace

TEST_SUITE("format.schema") {
  TEST_CASE("the table has what Kafka 4.4 has") {
    CHECK(internal_schemas().records().size() == 92);
    int versions = 0;
    every_version([&](const SchemaRecord&, int, const SchemaType&) { ++versions; });
    CHECK(versions == 120);
    CHECK(internal_schemas().record("metadata", 5)->name == "PartitionChangeRecord");
    CHECK(internal_schemas().record("group", 1, "Value")->name == "OffsetCommitValue");
    CHECK(internal_schemas().record("transaction", 0, "Key")->name == "TransactionLogKey");
    CHECK(internal_schemas().record("metadata", 13) == nullptr);
    CHECK(internal_schemas().find("PartitionRecord", 3) == nullptr);
    CHECK(internal_schemas().find("NoSuchRecord", 0) == nullptr);
    // "as": the version is another's.
    CHECK(internal_schemas().find("ConsumerProtocolAssignment", 3) ==
          internal_schemas().find("ConsumerProtocolAssignment", 0));
    CHECK(internal_schemas().find("RegisterBrokerRecord", 3)->index_of("log_dirs") >= 0);
    CHECK(internal_schemas().find("RegisterBrokerRecord", 2)->index_of("log_dirs") < 0);
  }

  TEST_CASE("generated messages of every version come back, byte by byte") {
    Random random(7);
    every_version([&](const SchemaRecord& record, int version, const SchemaType& type) {
      for (int round = 0; round < 25; ++round) {
        const SchemaValue value = generate(type, random);
        Buffer bytes;
        REQUIRE(!encode_schema(type, value, bytes));
        SchemaValue back;
        const Fault fault = decode_schema(type, bytes.view(), back);
        REQUIRE_MESSAGE(!fault, record.name << " " << version << ": " << fault.detail);
        REQUIRE(back == value);
        Buffer again;
        REQUIRE(!encode_schema(type, back, again));
        REQUIRE(as_text(again.view()) == as_text(bytes.view()));
      }
      SchemaValue fresh = SchemaValue::of(type);
      Buffer bytes;
      CHECK(!encode_schema(type, fresh, bytes));
      CHECK(bytes.size() >= type.least_bytes());
    });
  }

  TEST_CASE("cut and garbled messages are faults or other messages, never more") {
    Random random(11);
    every_version([&](const SchemaRecord&, int, const SchemaType& type) {
      Buffer bytes;
      REQUIRE(!encode_schema(type, generate(type, random), bytes));
      SchemaValue read;
      for (std::size_t size = 0; size < bytes.size(); ++size) {
        // Every message ends with its last field: none is whole when a part of it is missing.
        CHECK(decode_schema(type, bytes.view().first(size), read));
      }
      bytes.append("x");
      CHECK(decode_schema(type, bytes.view(), read));
      bytes.cut(bytes.size() - 1);
      for (int round = 0; round < 60 && !bytes.empty(); ++round) {
        Buffer garbled;
        garbled.append(bytes.view());
        for (int i = 0; i < 3; ++i)
          garbled.data()[random() % garbled.size()] = static_cast<std::uint8_t>(random());
        if (decode_schema(type, garbled.view(), read)) continue;
        Buffer again;
        REQUIRE(!encode_schema(type, read, again));
        SchemaValue second;
        REQUIRE(!decode_schema(type, again.view(), second));
        Buffer third;
        REQUIRE(!encode_schema(type, second, third));
        REQUIRE(as_text(third.view()) == as_text(again.view()));
      }
    });
  }

  TEST_CASE("the example of kafka-on-disk.md 13.4.1") {
    SchemaValue topic = SchemaValue::of(*internal_schemas().find("TopicRecord", 0));
    topic["name"] = "orders";
    topic["topic_id"] = Uuid{{1, 2, 3}};
    Buffer bytes;
    REQUIRE(!encode_metadata_record("TopicRecord", 0, topic, bytes));
    CHECK(hex(bytes) ==
          "010200"
          "07"
          "6f7264657273"
          "01020300000000000000000000000000"
          "00");
    InternalRecord read;
    REQUIRE(!decode_metadata_record(as_text(bytes.view()), read));
    CHECK(read.record->name == "TopicRecord");
    CHECK(read.value["name"].text() == "orders");
  }

  TEST_CASE("tagged fields: absent, null and those of later releases") {
    const SchemaType& type = *internal_schemas().find("PartitionChangeRecord", 0);
    SchemaValue change = SchemaValue::of(type);
    change["isr"] = SchemaValue::integers({1, 2});
    change["replicas"] = SchemaValue::Null{};
    change.structure().unknown.push_back({1000, "z"});
    Buffer bytes;
    REQUIRE(!encode_schema(type, change, bytes));
    // Partition and id, then 3 tags: 0 in 9 bytes, 2 in 1, 1000 in 1.
    CHECK(hex(bytes).substr(40) ==
          "03"
          "0009"
          "030000000100000002"
          "020100"
          "e807017a");
    SchemaValue read;
    REQUIRE(!decode_schema(type, bytes.view(), read));
    CHECK(read["isr"].int32s() == std::vector<std::int32_t>{1, 2});
    CHECK(read["leader"].is_absent());
    CHECK(read["replicas"].is_null());
    CHECK(read.structure().unknown == change.structure().unknown);
    CHECK(read.find("directories") == nullptr);
  }

  TEST_CASE("what a field cannot hold is refused and leaves nothing") {
    const SchemaType& type = *internal_schemas().find("FeatureLevelRecord", 0);
    const auto refused = [&](const char* field, SchemaValue value) {
      SchemaValue message = SchemaValue::of(type);
      message[field] = std::move(value);
      Buffer bytes;
      const Fault fault = encode_schema(type, message, bytes);
      CHECK(bytes.empty());
      return std::string(fault.detail);
    };
    CHECK(refused("feature_level", 32768) == "a number out of the range of its field");
    CHECK(refused("feature_level", "1") == "a value of another kind than its field");
    CHECK(refused("name", std::string(32768, 'n')) == "longer than its field can be");
    CHECK(refused("name", SchemaValue::Null{}) == "a null where none may be");
    CHECK(refused("name", SchemaValue()) == "a field without a value");
    CHECK_THROWS(SchemaValue::of(type)["no_such_field"]);
    CHECK_THROWS((void)SchemaValue::of(type)["name"].integer());
  }

  TEST_CASE("frames that are none") {
    const auto detail = [](std::string_view bytes, InternalRecord& out) {
      return std::string(decode_metadata_record(bytes, out).detail);
    };
    InternalRecord read;
    CHECK(std::string(decode_metadata_record(std::nullopt, read).detail) == "a null");
    CHECK(detail("", read) == "the frame is cut");
    CHECK(detail(std::string_view("\1\2", 2), read) == "the frame is cut");
    CHECK(detail(std::string_view("\0\2\0", 3), read) == "unknown frame version");
    CHECK(detail(std::string_view("\1\2\1", 3), read) == "unknown version");
    // A type of a later release is stepped over.
    CHECK(detail(std::string_view("\1\x63\0xyz", 6), read).empty());
    CHECK(read.record == nullptr);
    CHECK(read.type_id == 99);
    CHECK(detail(std::string_view("\1\x14\0\0x", 5), read) == "bytes behind the message");
  }
}
