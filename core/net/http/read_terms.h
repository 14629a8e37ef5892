// What a reading request asks for: its parameters, checked (serve.md §3.1).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/net/http/request.h"
#include "core/net/options.h"

namespace tk::http {

enum class ReadFormat : std::uint8_t { ndjson, json, sse, raw };

/// What of the log is asked for, the same for all readings of a request.
struct ReadTerms {
  ReadFormat format = ReadFormat::ndjson;
  std::int64_t max_records = 1000;
  std::int64_t max_bytes = 1 << 20;
  std::int64_t min_records = 1;
  std::int64_t min_bytes = 1;
  std::int64_t wait_ms = 0;
  bool committed = false;
  bool follow = false;
  bool limited = false;  // max_records was given
  std::optional<std::string> key;
};

/// "NAME: why", as an invalid request.
Error bad_parameter(const std::string& name, const std::string& why);
/// Throws invalid_request for what is no number, or out of its range.
ReadTerms read_terms(const Request& request, const net::ServerOptions& options);
/// "0:12,1:33", as Tk-Next has it: an offset by partition.
std::map<std::int32_t, std::int64_t> parse_cursor(const std::string& text);

}  // namespace tk::http
