#include "core/format/control_record.h"

#include <algorithm>
#include <string>

#include "core/base/json_writer.h"
#include "core/base/utf8.h"
#include "core/base/uuid.h"
#include "core/base/varint.h"

namespace tk {

namespace {

constexpr std::int16_t kLastKnownType = 6;
constexpr std::int16_t kLastLeaderChangeVersion = 1;

Fault bad_record(const char* detail, std::int64_t found = 0, std::int64_t expected = 0) {
  return {FaultKind::record, detail, found, expected};
}

/// Writes one message of the flexible schema encoding (§0.3) as JSON while reading it. The reader latches the
/// first mistake, so only loops look at it on the way.
class MessageToJson {
 public:
  MessageToJson(ByteView value, TextBuffer& to) : bytes_(value), reader_(value), to_(to) {}

  [[nodiscard]] bool ok() const { return reader_.ok(); }

  template <class Int>
  Int number(std::string_view before) {
    const Int n = reader_.be<Int>();
    append(to_, before);
    append_number(to_, n);
    return n;
  }

  void uuid(std::string_view before) {
    Uuid id;
    const ByteView bytes = reader_.take(id.bytes.size());
    if (!reader_.ok()) return;
    std::copy(bytes.begin(), bytes.end(), id.bytes.begin());
    append(to_, before);
    append(to_, "\"");
    append(to_, id.text());
    append(to_, "\"");
  }

  void string(std::string_view before) {
    const std::uint32_t length = counted();
    const std::string_view text = as_text(reader_.take(length));
    if (!reader_.ok()) return;
    append(to_, before);
    append_json_string(to_, is_utf8(text) ? text : repaired(text));
  }

  /// `element` reads one element and writes its members; the braces and its tagged fields are this
  /// function's.
  template <class Element>
  void array(std::string_view before, Element&& element) {
    const std::uint32_t count = counted();
    // Every element takes a byte at least, so a count cannot make the loop longer than the value.
    if (count > reader_.remaining()) reader_.fail();
    append(to_, before);
    append(to_, "[");
    for (std::uint32_t i = 0; i < count && reader_.ok(); ++i) {
      append(to_, i == 0 ? "{" : ",{");
      element();
      tagged_fields();
      append(to_, "}");
    }
    append(to_, "]");
  }

  /// Steps over the fields of later schemas; the known ones have none of them.
  void tagged_fields() {
    const std::uint32_t count = uvarint();
    for (std::uint32_t i = 0; i < count && reader_.ok(); ++i) {
      uvarint();
      reader_.take(uvarint());
    }
  }

  void literal(std::string_view text) { append(to_, text); }

 private:
  std::uint32_t uvarint() {
    std::uint32_t value = 0;
    const std::uint8_t* const at = bytes_.data() + reader_.position();
    const std::uint8_t* const next =
        reader_.ok() ? get_uvarint(at, bytes_.data() + bytes_.size(), value) : nullptr;
    if (next == nullptr) {
      reader_.fail();
      return 0;
    }
    reader_.take(static_cast<std::size_t>(next - at));
    return value;
  }

  /// `text` with U+FFFD for every piece that is not UTF-8; valid until the next call.
  std::string_view repaired(std::string_view text) {
    repaired_.clear();
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at != end;) {
      const Utf8Step step = utf8_step(at, end);
      repaired_ += step.valid ? std::string_view(at, step.length) : "\xEF\xBF\xBD";
      at += step.length;
    }
    return repaired_;
  }

  /// A length or count, which is stored plus one; 0 is null, which no member here may be.
  std::uint32_t counted() {
    const std::uint32_t stored = uvarint();
    if (stored == 0) reader_.fail();
    return reader_.ok() ? stored - 1 : 0;
  }

  ByteView bytes_;
  ByteReader reader_;
  TextBuffer& to_;
  std::string repaired_;
};

void leader_change(MessageToJson& json) {
  const auto version = json.number<std::int16_t>(R"({"version":)");
  json.number<std::int32_t>(R"(,"leaderId":)");
  const auto voter = [&json, version] {
    json.number<std::int32_t>(R"("voterId":)");
    if (version >= 1) json.uuid(R"(,"voterDirectoryId":)");
  };
  json.array(R"(,"voters":)", voter);
  json.array(R"(,"grantingVoters":)", voter);
}

void kraft_voters(MessageToJson& json) {
  json.number<std::int16_t>(R"({"version":)");
  json.array(R"(,"voters":)", [&json] {
    json.number<std::int32_t>(R"("voterId":)");
    json.uuid(R"(,"voterDirectoryId":)");
    json.array(R"(,"endpoints":)", [&json] {
      json.string(R"("name":)");
      json.string(R"(,"host":)");
      json.number<std::uint16_t>(R"(,"port":)");
    });
    json.number<std::int16_t>(R"(,"kRaftVersionFeature":{"minSupportedVersion":)");
    json.number<std::int16_t>(R"(,"maxSupportedVersion":)");
    json.tagged_fields();
    json.literal("}");
  });
}

void message(MessageToJson& json, ControlType type) {
  switch (type) {
    case ControlType::leader_change:
      return leader_change(json);
    case ControlType::kraft_voters:
      return kraft_voters(json);
    case ControlType::snapshot_header:
      json.number<std::int16_t>(R"({"version":)");
      json.number<std::int64_t>(R"(,"lastContainedLogTimestamp":)");
      return;
    case ControlType::kraft_version:
      json.number<std::int16_t>(R"({"version":)");
      json.number<std::int16_t>(R"(,"kRaftVersion":)");
      return;
    default:
      json.number<std::int16_t>(R"({"version":)");
  }
}

std::string_view message_label(ControlType type) {
  switch (type) {
    case ControlType::leader_change:
      return " LeaderChange: ";
    case ControlType::snapshot_header:
      return " SnapshotHeader ";
    case ControlType::snapshot_footer:
      return " SnapshotFooter ";
    case ControlType::kraft_version:
      return " KRaftVersion ";
    default:
      return " KRaftVoters ";
  }
}

Fault append_message(TextBuffer& to, ControlType type, const std::optional<std::string_view>& value) {
  if (!value) return bad_record("a control record of the quorum has no value");
  const ByteView bytes = as_bytes(*value);
  if (bytes.size() < 2) return bad_record("a control record's value is cut off");
  const auto version = load_be<std::int16_t>(bytes.data());
  if (version < 0) return bad_record("a control record's version is negative", version);
  if (type == ControlType::leader_change && version > kLastLeaderChangeVersion) {
    return bad_record("a leader change of an unknown version", version, kLastLeaderChangeVersion);
  }
  const std::size_t before = to.size();
  append(to, message_label(type));
  MessageToJson json(bytes, to);
  message(json, type);
  json.tagged_fields();
  json.literal("}");
  if (json.ok()) return {};
  to.resize(before);
  return bad_record("a control record's value does not follow its schema");
}

}  // namespace

Fault parse_control_key(const std::optional<std::string_view>& key, ControlKey& out) {
  out = {};
  if (!key) return bad_record("a control record has no key");
  ByteReader reader(as_bytes(*key));
  const auto version = reader.be<std::int16_t>();
  const auto type = reader.be<std::int16_t>();
  if (!reader.ok()) {
    return bad_record("a control record's key is too short", static_cast<std::int64_t>(key->size()), 4);
  }
  if (version < 0) return bad_record("a control record's key has a negative version", version);
  out.type_id = type;
  if (type >= 0 && type <= kLastKnownType) out.type = static_cast<ControlType>(type);
  return {};
}

Fault parse_end_marker(const std::optional<std::string_view>& value, std::int32_t& coordinator_epoch) {
  if (!value) return bad_record("an end marker has no value");
  ByteReader reader(as_bytes(*value));
  const auto version = reader.be<std::int16_t>();
  const auto epoch = reader.be<std::int32_t>();
  if (!reader.ok()) {
    return bad_record("an end marker's value is too short", static_cast<std::int64_t>(value->size()), 6);
  }
  if (version < 0) return bad_record("an end marker has a negative version", version);
  coordinator_epoch = epoch;
  return {};
}

std::array<char, 4> end_marker_key(bool commit) {
  std::array<char, 4> key{};
  store_be<std::int16_t>(key.data() + 2,
                         static_cast<std::int16_t>(commit ? ControlType::commit : ControlType::abort));
  return key;
}

std::array<char, 6> end_marker_value(std::int32_t coordinator_epoch) {
  std::array<char, 6> value{};
  store_be(value.data() + 2, coordinator_epoch);
  return value;
}

Fault append_control_text(TextBuffer& to, const RecordView& record) {
  ControlKey key;
  if (const Fault fault = parse_control_key(record.key, key)) return fault;
  if (key.type == ControlType::unknown) {
    append(to, " controlType: UNKNOWN(");
    append_number(to, key.type_id);
    append(to, ")");
    return {};
  }
  if (!key.ends_transaction()) return append_message(to, key.type, record.value);
  std::int32_t epoch = 0;
  if (const Fault fault = parse_end_marker(record.value, epoch)) return fault;
  append(to, key.type == ControlType::commit ? " endTxnMarker: COMMIT" : " endTxnMarker: ABORT");
  append(to, " coordinatorEpoch: ");
  append_number(to, epoch);
  return {};
}

}  // namespace tk
