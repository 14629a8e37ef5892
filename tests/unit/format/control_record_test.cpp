// The expected lines are what Kafka 4.4.0's dump tool prints for records with these keys and values.
#include "core/format/control_record.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace tk;

namespace {

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(at, 2)), nullptr, 16)));
  }
  return bytes;
}

/// The text for a record with this key and value ("null" for none), or "fault".
std::string control_text(std::string_view key_hex, std::string_view value_hex) {
  const std::string key = from_hex(key_hex == "null" ? "" : key_hex);
  const std::string value = from_hex(value_hex == "null" ? "" : value_hex);
  RecordView record;
  if (key_hex != "null") record.key = key;
  if (value_hex != "null") record.value = value;
  TextBuffer text = {'x'};
  if (const Fault fault = append_control_text(text, record)) {
    CHECK(fault.kind == FaultKind::record);
    CHECK(text.size() == 1);
    return "fault";
  }
  return {text.begin() + 1, text.end()};
}

constexpr std::string_view kThreeVoters =
    "0000040000006543434330303030303030303030313031020b434f4e54524f4c4c45520a3132372e302e302e3152db0000000001"
    "00000000"
    "006643434330303030303030303030313032020b434f4e54524f4c4c45520a3132372e302e302e3152dc00000000010000000000"
    "67434343"
    "30303030303030303030313033020b434f4e54524f4c4c45520a3132372e302e302e3152dd0000000001000000";

}  // namespace

TEST_SUITE("format.control_record") {
  TEST_CASE("ends of transactions") {
    CHECK(control_text("00000001", "000000000003") == " endTxnMarker: COMMIT coordinatorEpoch: 3");
    CHECK(control_text("00000000", "000000000000") == " endTxnMarker: ABORT coordinatorEpoch: 0");
    CHECK(control_text("00000001", "0001fffffffd78797a") == " endTxnMarker: COMMIT coordinatorEpoch: -3");
    CHECK(control_text("000500007a7a", "000000000003") == " endTxnMarker: ABORT coordinatorEpoch: 3");
    CHECK(control_text("00000001", "ffff00000003") == "fault");
    CHECK(control_text("00000001", "00000003") == "fault");
    CHECK(control_text("00000001", "null") == "fault");
  }

  TEST_CASE("keys that are none") {
    CHECK(control_text("null", "000000000003") == "fault");
    CHECK(control_text("000001", "000000000003") == "fault");
    CHECK(control_text("ffff0001", "000000000003") == "fault");
  }

  TEST_CASE("types of later releases") {
    CHECK(control_text("00000007", "null") == " controlType: UNKNOWN(7)");
    CHECK(control_text("0000ffff", "") == " controlType: UNKNOWN(-1)");
    CHECK(control_text("00006572", "00") == " controlType: UNKNOWN(25970)");
  }

  TEST_CASE("leader changes") {
    const std::string one =
        R"( LeaderChange: {"version":0,"leaderId":1,"voters":[{"voterId":1}],"grantingVoters":[{"voterId":1}]})";
    CHECK(control_text("00000002", "00000000000102000000010002000000010000") == one);
    CHECK(
        control_text("00000002", "00000000006704000000650000000066000000006700030000006700000000650000") ==
        R"( LeaderChange: {"version":0,"leaderId":103,"voters":[{"voterId":101},{"voterId":102},{"voterId":103}],)"
        R"("grantingVoters":[{"voterId":103},{"voterId":101}]})");
    // A tagged field of a later schema, and bytes behind the message.
    CHECK(control_text("00000002", "00000000000102000000010002000000010001050361626300") == one);
    CHECK(control_text("00000002", "00000000000102000000010002000000010000ffff") == one);
    CHECK(
        control_text(
            "00000002",
            "0001000000010200000001000102030405060708090a0b0c0d0e0f000200000001000102030405060708090a0b"
            "0c0d0e0f0000") ==
        R"( LeaderChange: {"version":1,"leaderId":1,"voters":[{"voterId":1,"voterDirectoryId":"AAECAwQFBgcICQoLDA0ODw"}],)"
        R"("grantingVoters":[{"voterId":1,"voterDirectoryId":"AAECAwQFBgcICQoLDA0ODw"}]})");
    CHECK(control_text("00000002", "00090000000102000000010002000000010000") == "fault");
    CHECK(control_text("00000002", "0000000000010002000000010000") == "fault");  // null array
  }

  TEST_CASE("snapshot header and footer, feature level") {
    CHECK(control_text("00000003", "0000000000000000000000") ==
          R"( SnapshotHeader {"version":0,"lastContainedLogTimestamp":0})");
    CHECK(control_text("00000003", "00000000018bcfe5680000") ==
          R"( SnapshotHeader {"version":0,"lastContainedLogTimestamp":1700000000000})");
    CHECK(control_text("00000004", "000000") == R"( SnapshotFooter {"version":0})");
    CHECK(control_text("00000004", "0000") == "fault");
    CHECK(control_text("00000005", "0000000100") == R"( KRaftVersion {"version":0,"kRaftVersion":1})");
    CHECK(control_text("00000005", "0001000100") == R"( KRaftVersion {"version":1,"kRaftVersion":1})");
    CHECK(control_text("00000005", "null") == "fault");
    CHECK(control_text("00000005", "ffff000100") == "fault");
  }

  TEST_CASE("voters") {
    CHECK(control_text("00000006", "00000100") == R"( KRaftVoters {"version":0,"voters":[]})");
    CHECK(control_text(
              "00000006",
              "00000200000001bdfeefddfc624644bcfd5796b6e60e70020b434f4e54524f4c4c45520a3132372e302e302e"
              "3152090000000001000000") ==
          R"( KRaftVoters {"version":0,"voters":[{"voterId":1,"voterDirectoryId":"vf7v3fxiRkS8_VeWtuYOcA",)"
          R"("endpoints":[{"name":"CONTROLLER","host":"127.0.0.1","port":21001}],)"
          R"("kRaftVersionFeature":{"minSupportedVersion":0,"maxSupportedVersion":1}}]})");
    // Signs, escapes, bytes that are not UTF-8, the largest port.
    CHECK(control_text(
              "00000006",
              "000002fffffffbfbffff00000000000000000000000000020761225c0a017f04c3a9ffffff00ffff0002000000") ==
          R"( KRaftVoters {"version":0,"voters":[{"voterId":-5,"voterDirectoryId":"-___AAAAAAAAAAAAAAAAAA",)"
          "\"endpoints\":[{\"name\":\"a\\\"\\\\\\n\\u0001\x7f\",\"host\":\"\xc3\xa9\xef\xbf\xbd\",\"port\":"
          "65535}],"
          R"("kRaftVersionFeature":{"minSupportedVersion":-1,"maxSupportedVersion":2}}]})");
  }

  TEST_CASE("no value that is cut or altered does harm") {
    const std::string whole = control_text("00000006", kThreeVoters);
    CHECK(whole.find(R"({"voterId":103,"voterDirectoryId":"Q0NDMDAwMDAwMDAwMDEwMw",)") != std::string::npos);
    for (std::size_t size = 0; size < kThreeVoters.size(); size += 2) {
      CAPTURE(size);
      CHECK(control_text("00000006", kThreeVoters.substr(0, size)) == "fault");
    }
    for (std::size_t at = 0; at < kThreeVoters.size(); at += 2) {
      for (const std::string_view byte : {"00", "7f", "80", "ff"}) {
        std::string altered(kThreeVoters);
        altered.replace(at, 2, byte);
        control_text("00000006", altered);
        control_text("00000002", altered);
      }
    }
    // Counts and lengths near the largest number.
    CHECK(control_text("00000006", "0000ffffffff0f") == "fault");
    CHECK(control_text("00000006", "000001ffffffff0f0000") == "fault");
    CHECK(control_text("00000004", "00000101ffffffff0f") == "fault");
  }

  TEST_CASE("what an end marker is made of") {
    const auto key = end_marker_key(true);
    CHECK(std::string(key.begin(), key.end()) == from_hex("00000001"));
    const auto abort = end_marker_key(false);
    CHECK(std::string(abort.begin(), abort.end()) == from_hex("00000000"));
    const auto value = end_marker_value(3);
    CHECK(std::string(value.begin(), value.end()) == from_hex("000000000003"));
    std::int32_t epoch = 0;
    CHECK_FALSE(parse_end_marker(std::string_view(value.data(), value.size()), epoch));
    CHECK(epoch == 3);
  }
}
