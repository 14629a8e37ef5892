// The schemas of Kafka's own messages: which fields, of which types, each version of a record has
// (kafka-on-disk.md §13).
//
// The schemas are a text table, one record after the other:
//
//     @FAMILY NAME TYPE_ID LOWEST HIGHEST
//     VERSION FIELD FIELD ... [#{TAG=FIELD TAG=FIELD ...}]
//     VERSION as OTHER_VERSION
//
// FIELD is `name:TYPE`. TYPE is boolean, int8, int16, uint16, int32, uint32, int64, float64, uuid, string,
// bytes, records,
// `[TYPE]` (an array) or `{FIELD ...}` (a struct), with `c` in front for the compact encodings and `?` before
// that where a null is allowed. `#{...}`, possibly empty, marks a flexible version: tagged fields follow the
// others (KIP-482).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tk {

enum class SchemaKind : std::uint8_t {
  boolean,
  int8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  float64,
  uuid,
  string,
  bytes,
  array,
  structure,
};

struct SchemaField;

/// The type of a field, or of a whole message (then a structure).
struct SchemaType {
  SchemaKind kind = SchemaKind::structure;
  /// Lengths are unsigned varints plus one instead of fixed integers.
  bool compact = false;
  bool nullable = false;
  /// A structure that ends with tagged fields.
  bool flexible = false;
  /// Of an array.
  std::unique_ptr<SchemaType> element;
  /// Of a structure: first those that are always there, in their order, then the tagged ones by rising tag.
  std::vector<SchemaField> fields;

  /// The place of the field of this name in `fields`, or -1.
  [[nodiscard]] int index_of(std::string_view name) const;
  /// The fewest bytes a value of this type takes; what bounds the count of an array that is read.
  [[nodiscard]] std::size_t least_bytes() const;
};

struct SchemaField {
  std::string_view name;
  SchemaType type;
  /// -1: always there.
  std::int32_t tag = -1;
};

/// What a table says of a record besides its fields.
struct SchemaRecord {
  std::string_view family;  // "metadata", "message", "group", "share", "transaction"
  std::string_view name;    // "PartitionRecord"
  /// The API key of a metadata record or of a request, the type of a coordinator's record; -1: none.
  std::int16_t type_id = -1;
  std::int16_t lowest = 0;
  std::int16_t highest = 0;
};

/// The records of one table. A version is parsed when it is first asked for. Safe to use from several
/// threads.
class SchemaSet {
 public:
  /// `table` must outlive the set.
  explicit SchemaSet(std::string_view table);

  /// The schema of a record's version; null if there is no such record or version. Lives as long as the set.
  const SchemaType* find(std::string_view name, int version) const;
  /// Null if there is none.
  const SchemaRecord* record(std::string_view name) const;
  /// The record of this family and number whose name ends in `suffix`; null if there is none.
  const SchemaRecord* record(std::string_view family, int type_id, std::string_view suffix = "") const;
  /// All of them, in the order of the table.
  [[nodiscard]] std::vector<const SchemaRecord*> records() const;

 private:
  struct Entry {
    SchemaRecord record;
    std::map<int, std::string_view> lines;
    std::map<int, std::unique_ptr<SchemaType>> parsed;
  };
  Entry* entry(std::string_view name) const;

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::map<std::string_view, Entry*> by_name_;
};

/// The records of Kafka 4.4's internal topics and control records.
const SchemaSet& internal_schemas();
/// Their table (schema_table.cpp).
std::string_view internal_record_table();

}  // namespace tk
