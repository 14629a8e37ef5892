// Texts of the command line as typed values. Each function throws Error(invalid_request) that says what is
// wrong with the value; whose value it is, the reader of the arguments adds (arguments.h).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/common_options.h"
#include "commands/consume_options.h"
#include "commands/produce_options.h"
#include "core/format/codec.h"

namespace tk::cli {

/// Throws Error(invalid_request, message).
[[noreturn]] void usage_error(std::string message);

/// A whole number of [least, most].
std::int64_t parse_number(const std::string& text, std::int64_t least = 0,
                          std::int64_t most = std::numeric_limits<std::int64_t>::max());
/// A partition's number, 0 to 2^31 - 1.
std::int32_t parse_partition(const std::string& text);
/// How many partitions, 1 to 2^31 - 1; else Error(invalid_partitions).
std::int32_t parse_partition_count(const std::string& text);
/// A size in bytes, with K, M or G, from 1 to 2^31 - 1.
std::int64_t parse_bytes(const std::string& text);
/// A point in time in ms (text.h); relative ones count from `now_ms`.
std::int64_t parse_time_value(const std::string& text, std::int64_t now_ms);

/// A length of time in ms (text.h).
std::int64_t parse_duration_value(const std::string& text);

/// beginning, earliest, end, latest, N, -N, @TIME.
OffsetSpec parse_offset_spec(const std::string& text, std::int64_t now_ms);
/// "earliest", "latest", "none", "by_duration:PT1H".
ResetPolicy parse_reset_policy(const std::string& text);
/// end, N, @TIME.
UntilSpec parse_until(const std::string& text, std::int64_t now_ms);
/// A:B, either side may be empty: nothing; A is at most B.
std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>> parse_offset_range(
    const std::string& text);

/// none, gzip, snappy, lz4 or zstd, and a level behind a colon.
Compression parse_compression_value(const std::string& text);
/// KEY=VALUE; the value may be empty and may hold further equals signs.
ConfigSetting parse_config(const std::string& text);
ProduceOptions::Header parse_header(const std::string& text);

/// ID or ID@EPOCH: digits behind the last @ are the epoch, 0 to 32767.
TransactionName parse_transaction(const std::string& text);

/// Resolves \n \t \r \0 \\ and \xNN; any other backslash is an error.
std::string parse_escapes(const std::string& text);
/// The parts of -f/--output-format: kcat's tokens and the escapes above.
std::vector<FormatPart> parse_output_format(const std::string& text);

/// The parts between commas, blanks kept.
std::vector<std::string> split_commas(const std::string& text);

}  // namespace tk::cli
