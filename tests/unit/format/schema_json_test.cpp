// Messages of internal records as JSON: the forms that the recorded dumps do not show.
#include "core/format/schema_json.h"

#include <doctest/doctest.h>

using namespace tk;

namespace {

std::string json(const SchemaValue& value, const SchemaFieldPrinter& printer = {}) {
  TextBuffer to;
  append_schema_json(to, value, printer);
  return {to.data(), to.size()};
}

SchemaValue message(std::string_view name, int version) {
  return SchemaValue::of(*internal_schemas().find(name, version));
}

}  // namespace

TEST_CASE("schema json: names") {
  CHECK(camel_case("previous_producer_id") == "previousProducerId");
  CHECK(camel_case("isr") == "isr");
  CHECK(upper_snake_case("PartitionChangeRecord") == "PARTITION_CHANGE_RECORD");
  CHECK(upper_snake_case("NoOpRecord") == "NO_OP_RECORD");
}

TEST_CASE("schema json: doubles as Java prints them") {
  // Double.toString: a point always, a power of ten outside of 0.001 to 10^7.
  CHECK(json(1048576.0) == "1048576.0");
  CHECK(json(12.5) == "12.5");
  CHECK(json(0.0) == "0.0");
  CHECK(json(0.001) == "0.001");
  CHECK(json(0.0001) == "1.0E-4");
  CHECK(json(9999999.0) == "9999999.0");
  CHECK(json(10485760.0) == "1.048576E7");
  CHECK(json(-1e22) == "-1.0E22");
}

TEST_CASE("schema json: tagged fields where the schema declares them, only when they are there") {
  SchemaValue value = message("TransactionLogValue", 1);
  value["producer_id"] = 7;
  CHECK(json(value).starts_with(R"({"producerId":7,"producerEpoch":0,)"));
  value["previous_producer_id"] = 6;
  value["client_transaction_version"] = 2;
  const std::string text = json(value);
  CHECK(text.starts_with(R"({"producerId":7,"previousProducerId":6,"producerEpoch":0,)"));
  CHECK(text.ends_with(R"("clientTransactionVersion":2})"));
}

TEST_CASE("schema json: bytes, text that is no UTF-8, a field printed otherwise") {
  CHECK(json(SchemaValue::Bytes{"\x01\xff"}) == "\"Af8=\"");
  CHECK(json(std::string("a\xff"
                         "b")) ==
        "\"a\xEF\xBF\xBD"
        "b\"");
  SchemaValue key = message("OffsetCommitKey", 0);
  key["group"] = "g";
  key["topic"] = "t";
  CHECK(json(key, [](std::string_view field, const SchemaValue&, TextBuffer& to) {
          if (field == "group") append(to, "1");
          return field == "group";
        }) == R"({"group":1,"topic":"t","partition":0})");
}
