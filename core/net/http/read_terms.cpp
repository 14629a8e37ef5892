#include "core/net/http/read_terms.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/net/http/exchange.h"

namespace tk::http {

Error bad_parameter(const std::string& name, const std::string& why) {
  return Error(ErrorCode::invalid_request, fmt::format("{}: {}", name, why));
}

namespace {

std::int64_t number_of(const Request& request, const std::string& name, std::int64_t standard,
                       std::int64_t least, std::int64_t most, bool size = false) {
  const auto given = request.parameter(name);
  if (!given) return standard;
  const auto number = size ? parse_size(*given) : parse_int(*given);
  if (!number || *number < least || *number > most)
    throw bad_parameter(name, fmt::format("'{}' is no number from {} to {}", printable(*given), least, most));
  return *number;
}

ReadFormat format_of(const Request& request) {
  const std::string given = request.parameter("format").value_or("");
  if (given == "ndjson") return ReadFormat::ndjson;
  if (given == "json") return ReadFormat::json;
  if (given == "sse") return ReadFormat::sse;
  if (given == "raw") return ReadFormat::raw;
  if (!given.empty())
    throw bad_parameter("format", fmt::format("'{}' is none of ndjson, json, sse, raw", printable(given)));
  const std::string accept = request.header("accept");
  if (accept.find(kSse) != std::string::npos) return ReadFormat::sse;
  if (accept.find(kNdjson) != std::string::npos) return ReadFormat::ndjson;
  return accept.find(kJson) != std::string::npos ? ReadFormat::json : ReadFormat::ndjson;
}

}  // namespace

ReadTerms read_terms(const Request& request, const net::ServerOptions& options) {
  ReadTerms terms;
  terms.format = format_of(request);
  terms.limited = request.parameter("max_records").has_value();
  terms.max_records = number_of(request, "max_records", 1000, 1, 1000000);
  terms.max_bytes = number_of(request, "max_bytes", 1 << 20, 1, 64 << 20, true);
  terms.min_records = number_of(request, "min_records", 1, 0, 1000000);
  terms.min_bytes = number_of(request, "min_bytes", 1, 0, 64 << 20, true);
  terms.wait_ms = number_of(request, "wait_ms", 0, 0, options.max_wait_ms);
  const std::string isolation = request.parameter("isolation").value_or("read_uncommitted");
  if (isolation != "read_uncommitted" && isolation != "read_committed")
    throw bad_parameter("isolation", "it is read_uncommitted or read_committed");
  terms.committed = isolation == "read_committed";
  terms.follow = request.parameter("follow").value_or("0") == "1";
  terms.key = request.parameter("key");
  return terms;
}

/// "0:12,1:33"
std::map<std::int32_t, std::int64_t> parse_cursor(const std::string& text) {
  std::map<std::int32_t, std::int64_t> cursor;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const std::size_t colon = part.find(':');
    const auto number = colon == std::string::npos ? std::nullopt : parse_int(part.substr(0, colon));
    const auto offset = colon == std::string::npos ? std::nullopt : parse_int(part.substr(colon + 1));
    if (!number || !offset || *number < 0 || *number > INT32_MAX || *offset < 0)
      throw bad_parameter("cursor", fmt::format("'{}' is not PARTITION:OFFSET", printable(part)));
    cursor[static_cast<std::int32_t>(*number)] = *offset;
    at = end + 1;
  }
  return cursor;
}

}  // namespace tk::http
