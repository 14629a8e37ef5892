// The APIs that are served (serve.md §2.2), each with its versions and who handles it.
#pragma once

#include <span>
#include <string_view>

#include "core/net/kafka/call.h"

namespace tk::kafka {

inline constexpr std::int16_t kApiVersionsKey = 18;

struct ApiRow {
  std::string_view name;
  MessageType type;
  /// The first version that ApiVersions says; Produce says more than it serves (serve.md §2.2).
  std::int16_t advertised_from = 0;
  /// The handler needs the frame's bytes after it has returned.
  bool keeps_frame = false;
  void (*run)(const CallPtr& call) = nullptr;
};

/// By key.
std::span<const ApiRow> apis();
/// Null if it is not served.
const ApiRow* find_api(std::int16_t key);
/// True if requests of that version have tagged fields in their header.
bool is_flexible(std::int16_t key, std::int16_t version);

}  // namespace tk::kafka
