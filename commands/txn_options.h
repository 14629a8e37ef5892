// Options of `tk txn ...` and `tk producers ...` (cli.md §9).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/common_options.h"

namespace tk {

struct TxnBeginOptions {
  std::string id;
  /// In ms, from 1; a transaction open for longer is aborted.
  std::int64_t timeout_ms = 60000;
};

struct TxnEndOptions {
  struct Offset {
    /// TOPIC-P.
    std::string partition;
    /// The next offset to read.
    std::int64_t offset = 0;
  };
  TransactionName name;
  // What follows is of `commit` only; offsets need a group, and a group offsets.
  std::optional<std::string> group;
  std::vector<Offset> offsets;
  std::optional<std::string> member;
  std::optional<std::int64_t> generation;
};

struct TxnListOptions {};
struct TxnDescribeOptions {
  std::string id;
};
struct TxnExpireOptions {};

struct ProducersListOptions {};
struct ProducersDeleteOptions {
  std::string name;
};

}  // namespace tk
