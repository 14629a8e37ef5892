// Records that Kafka 4.4.0 wrote into its internal topics, against what its own dump tool prints of them.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/format/internal_record.h"
#include "core/format/record_decoder.h"
#include "tests/support/archive.h"

using namespace tk;
using nlohmann::json;
using tk::test::Archive;
using tk::test::read_archive;

namespace {

const Archive& broker() {
  static const Archive files = read_archive(TK_FIXTURES "/kafka-4.4-clean.tar.zst");
  return files;
}

struct StoredRecord {
  std::optional<std::string> key, value;
};

/// The data records of a segment or snapshot by offset.
std::map<std::int64_t, StoredRecord> records_of(const std::string& file) {
  const auto found = broker().find("kafka-4.4-clean/data/" + file);
  REQUIRE_MESSAGE(found != broker().end(), file);
  ByteView rest{reinterpret_cast<const std::uint8_t*>(found->second.data()), found->second.size()};
  std::map<std::int64_t, StoredRecord> records;
  RecordDecoder decoder;
  while (!rest.empty()) {
    const Frame frame = frame_unit(rest, rest.size());
    REQUIRE(frame.status == FrameStatus::whole);
    UnitInfo info;
    REQUIRE(!read_unit_info(rest.first(frame.size), frame.kind, info));
    const Fault fault = decoder.decode(rest.first(frame.size), info, [&](const RecordView& record) {
      if (info.control) return;
      StoredRecord& stored = records[record.offset.value()];
      if (record.key) stored.key = std::string(*record.key);
      if (record.value) stored.value = std::string(*record.value);
    });
    REQUIRE(!fault);
    rest = rest.subspan(frame.size);
  }
  return records;
}

/// offset -> what the dump tool printed behind `marker` of it, a JSON object.
std::map<std::int64_t, json> printed(const std::string& name, const std::string& marker) {
  std::ifstream lines(TK_FIXTURES "/internal-topics/" + name);
  REQUIRE_MESSAGE(lines, name);
  std::map<std::int64_t, json> objects;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(marker + "{");
    if (!line.starts_with("| offset: ") || at == std::string::npos) continue;
    std::istringstream text(line.substr(at + marker.size()));
    json object;
    text >> object;
    objects[std::stoll(line.substr(10))] = std::move(object);
  }
  return objects;
}

std::string camel(std::string_view snake) {
  std::string name;
  for (std::size_t i = 0; i < snake.size(); ++i) {
    if (snake[i] != '_') {
      name += snake[i];
    } else if (++i < snake.size()) {
      name += static_cast<char>(std::toupper(snake[i]));
    }
  }
  return name;
}

/// A value as the dump tool prints it; tagged fields that are absent are left out.
json to_json(const SchemaValue& value) {
  if (value.is_null()) return nullptr;
  return std::visit(
      [&](const auto& held) -> json {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, Uuid>) return held.text();
        if constexpr (std::is_same_v<T, SchemaValue::Array>) {
          json elements = json::array();
          for (const SchemaValue& element : held) elements.push_back(to_json(element));
          return elements;
        }
        if constexpr (std::is_same_v<T, SchemaStruct>) {
          json object = json::object();
          for (std::size_t i = 0; i < held.fields.size(); ++i) {
            if (!held.fields[i].is_absent())
              object[camel(held.type->fields[i].name)] = to_json(held.fields[i]);
          }
          return object;
        }
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::int64_t> ||
                      std::is_same_v<T, double> || std::is_same_v<T, std::string>) {
          return held;
        }
        return nullptr;
      },
      value.data());
}

/// Every member of `read` is in `printed` and equal; the tool prints defaults, too, and byte strings in a way
/// of its own.
void check_same(const json& read, const json& printed_value, const std::string& where) {
  if (read.is_object()) {
    for (const auto& [name, member] : read.items()) {
      INFO(where << "." << name);
      REQUIRE(printed_value.contains(name));
      check_same(member, printed_value.at(name), where + "." + name);
    }
  } else if (read.is_array()) {
    REQUIRE(read.size() == printed_value.size());
    for (std::size_t i = 0; i < read.size(); ++i) check_same(read[i], printed_value[i], where);
  } else if (!read.is_null()) {
    INFO(where);
    CHECK(read == printed_value);
  }
}

std::string type_name(std::string_view record) {
  std::string name;
  for (const char c : record) {
    if (std::isupper(static_cast<unsigned char>(c)) && !name.empty()) name += '_';
    name += static_cast<char>(std::toupper(c));
  }
  return name;
}

void check_metadata(const std::string& file) {
  const auto expected =
      printed("__cluster_metadata-0__" + file + "__cluster-metadata-decoder.txt", "payload: ");
  const auto records = records_of("__cluster_metadata-0/" + file);
  CHECK(records.size() >= 5);
  for (const auto& [offset, stored] : records) {
    INFO(file << " offset " << offset);
    InternalRecord read;
    const Fault fault = decode_metadata_record(stored.value, read);
    REQUIRE_MESSAGE(!fault, fault.detail);
    REQUIRE(read.record != nullptr);
    Buffer again;
    REQUIRE(!encode_metadata_record(read.record->name, read.version, read.value, again));
    CHECK(as_text(again.view()) == *stored.value);
    if (!expected.contains(offset)) continue;  // the tool stopped before it
    const json& want = expected.at(offset);
    CHECK(want.at("type") == type_name(read.record->name));
    CHECK(want.at("version") == read.version);
    check_same(to_json(read.value), want.at("data"), file);
  }
}

}  // namespace

TEST_SUITE("format.schema") {
  TEST_CASE(
      "a broker's metadata log and snapshots are read as its own tool reads them, and written back the "
      "same") {
    check_metadata("00000000000000000000.log");
    check_metadata("00000000000000000107.log");
    check_metadata("00000000000000000000-0000000000.checkpoint");
    check_metadata("00000000000000000115-0000000001.checkpoint");
  }

  TEST_CASE("a broker's committed offsets and groups") {
    int values = 0;
    for (const char* partition : {"__consumer_offsets-0", "__consumer_offsets-1", "__consumer_offsets-2"}) {
      const std::string file = std::string(partition) + "/00000000000000000000.log";
      const std::string dump = std::string(partition) + "__00000000000000000000.log__offsets-decoder.txt";
      const auto keys = printed(dump, "key: ");
      const auto payloads = printed(dump, "payload: ");
      for (const auto& [offset, stored] : records_of(file)) {
        INFO(file << " offset " << offset);
        InternalRecord key;
        const Fault fault = decode_coordinator_key("group", stored.key, key);
        REQUIRE_MESSAGE(!fault, fault.detail);
        REQUIRE(key.record != nullptr);
        if (keys.contains(offset)) {
          CHECK(keys.at(offset).at("type") == std::to_string(key.type_id));
          check_same(to_json(key.value), keys.at(offset).at("data"), file);
        }
        if (!stored.value) continue;
        InternalRecord value;
        REQUIRE(!decode_coordinator_value("group", key.type_id, stored.value, value));
        Buffer again;
        REQUIRE(
            !encode_schema(*internal_schemas().find(value.record->name, value.version), value.value, again));
        CHECK(as_text(again.view()) == stored.value->substr(2));
        if (!payloads.contains(offset) || !payloads.at(offset).is_object()) continue;
        const json& want = payloads.at(offset);
        CHECK(want.at("version") == std::to_string(value.version));
        check_same(to_json(value.value), want.at("data"), file);
        ++values;
      }
    }
    CHECK(values > 20);
  }
}
