// Messages of Kafka's internal records as JSON, as the converters that Kafka generates from its schemas print
// them (kafka-on-disk.md §15.4): lowerCamelCase names in the schema's order, numbers as numbers, ids as
// base64url, bytes as base64, tagged fields only where they are there.
#pragma once

#include <functional>
#include <string_view>

#include "core/base/text.h"
#include "core/format/schema_value.h"

namespace tk {

/// Prints one field's value in another way; false leaves it to the usual one. `field` is its name in the
/// schema.
using SchemaFieldPrinter =
    std::function<bool(std::string_view field, const SchemaValue& value, TextBuffer& to)>;

/// Appends a value; fields of structures at any depth are offered to `printer`, which may be empty.
void append_schema_json(TextBuffer& to, const SchemaValue& value, const SchemaFieldPrinter& printer = {});

/// "previous_producer_id" as "previousProducerId".
std::string camel_case(std::string_view schema_name);
/// "PartitionChangeRecord" as "PARTITION_CHANGE_RECORD".
std::string upper_snake_case(std::string_view class_name);

}  // namespace tk
