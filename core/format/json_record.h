// The json format: a record as `[8-byte offset][4-byte length][one JSON object]` (design.md §1,
// docs/formats.md).
//
// tk writes the members key, value, ts, then only where they apply headers, epoch, pid, pepoch, seq, txn,
// control, horizon, and last crc: the CRC-32C, in hex, of the 12 prefix bytes and the body up to the comma
// before "crc". Bytes that are not UTF-8 are stored as key_b64 and value_b64, in a header (name or value) as
// {"b64":".."}. A reader takes any order, ignores members it does not know, and accepts a body without crc.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/json_reader.h"
#include "core/format/unit.h"

namespace tk {

/// `empty`: a cleaner took the record away and kept its place, as it is the last of its producer or of what
/// was cleaned (kafka-on-disk.md §11.6 keeps an empty batch there). It is data without a record, no marker.
enum class JsonControl : std::uint8_t { none, commit, abort, empty };

/// What a json record says besides key, value, timestamp and headers.
struct JsonFields {
  LeaderEpoch leader_epoch{0};
  ProducerId producer_id = kNoProducerId;
  std::int16_t producer_epoch = -1;
  std::int32_t sequence = -1;
  bool transactional = false;
  JsonControl control = JsonControl::none;
  /// When a tombstone or a marker may go (KIP-534), in ms; -1: no cleaning has met it yet.
  std::int64_t delete_horizon = kNoTimestamp;
};

/// Writes records one after the other. For one thread.
class JsonRecordEncoder {
 public:
  /// Appends one record with its checksum.
  void encode(Buffer& out, Offset offset, const RecordView& record, const JsonFields& fields);
  /// The same of a record that is only a key and a value, which nearly all are. A null pointer or a negative
  /// size is null.
  void encode_plain(Buffer& out, Offset offset, const char* key, std::int32_t key_size, const char* value,
                    std::int32_t value_size, std::int64_t timestamp, LeaderEpoch leader_epoch);

 private:
  void make_tail(std::int64_t timestamp, LeaderEpoch leader_epoch);

  // What stands between the value of a plain record and the digits of its crc: records that follow each other
  // mostly share it. All of it is stored at once, and what is written next covers what is too much.
  std::array<char, 64> tail_{};
  std::size_t tail_size_ = 0;
  std::int64_t tail_timestamp_ = 0;
  LeaderEpoch tail_epoch_;
};

/// Appends a single record.
void encode_json_record(Buffer& out, Offset offset, const RecordView& record, const JsonFields& fields);

/// Bytes that a record takes at most.
std::size_t json_record_bound(const RecordView& record);

/// Parses units; views point into the unit or into reused memory and are valid until the next call. For one
/// thread.
class JsonRecordDecoder {
 public:
  /// Parses the body of a whole unit. Bodies in the shape that tk writes take a fast path that trusts their
  /// checksum for UTF-8; the caller has checked it (check_unit). A fault of kind `record` if the body is no
  /// record.
  Fault decode(ByteView unit, RecordView& record);
  /// The other members of the unit decoded last.
  [[nodiscard]] const JsonFields& fields() const { return fields_; }
  /// True if the unit decoded last carries a checksum.
  [[nodiscard]] bool has_crc() const { return crc().has_value(); }
  /// That checksum, as it is stored.
  [[nodiscard]] std::optional<std::uint32_t> crc() const;

 private:
  bool decode_own_shape(std::string_view body, RecordView& record);
  Fault decode_any(std::string_view body, RecordView& record);
  bool own_timestamp(const char* at, const char* end, std::int64_t& out);
  bool own_string(const char*& at, const char* end, std::string_view& out);
  bool own_escaped(const char*& at, const char* end, std::string_view& out);
  void keep_crc(std::string_view digits);
  std::string& scratch();
  /// A string of `reader`; it takes a scratch only if it has escapes.
  std::string_view text_of(JsonReader& reader);

  JsonFields fields_;
  // The digits of the checksum, which are not looked at before somebody asks.
  std::array<char, 8> crc_digits_{};
  bool has_digits_ = false;
  std::vector<HeaderView> headers_;
  std::deque<std::string> scratches_;  // one per string that had escapes; views into them must stay valid
  std::size_t scratches_used_ = 0;
  Buffer unescaped_;  // the strings of a unit in tk's own shape that had escapes
  // The timestamp read last and its digits: records that follow each other mostly share it.
  std::array<char, 20> stamp_{};
  std::size_t stamp_size_ = 0;
  std::int64_t stamped_ = 0;
};

/// Verifies the checksum of a whole json unit; one without passes. Finds a crc member at any place of the
/// object.
Fault check_json_unit(ByteView unit);

/// The facts of a whole json unit as a UnitInfo.
Fault read_json_info(ByteView unit, UnitInfo& info);

}  // namespace tk
