#include "core/catalog/state_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace tk {
namespace {

using Json = nlohmann::ordered_json;

/// Objects and lists within each other; unknown members may have some, but no file that somebody wrote has so
/// many.
constexpr int kDeepest = 64;

}  // namespace

void StateJson::refuse(std::string message, std::optional<std::uint64_t> position) const {
  Error error(ErrorCode::corrupt_state, std::move(message));
  error = position ? std::move(error).at(path_, *position) : std::move(error).at(path_);
  throw std::move(error).hint(hint_);
}

Json StateJson::parse(std::string_view text, std::int64_t version) const {
  const auto not_too_deep = [&](int depth, Json::parse_event_t event, Json&) {
    const bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (opens && depth > kDeepest) refuse(fmt::format("more than {} levels of objects and lists", kDeepest));
    return true;
  };
  Json root;
  try {
    root = Json::parse(text, not_too_deep);
  } catch (const Json::parse_error& error) {
    // The library counts from 1, and gives the last byte that it has read.
    refuse("the file is no whole JSON text", error.byte > 0 ? error.byte - 1 : 0);
  } catch (const Json::exception&) {
    refuse("the file holds a number that none can be");
  }
  if (!root.is_object()) refuse("the file is no JSON object");
  const auto found = root.find("format");
  if (found == root.end() || !found->is_number_integer())
    refuse("the file's \"format\" is no version number");
  if (*found == version) return root;
  throw Error(ErrorCode::unsupported_version,
              fmt::format("the file has version {}, and this program knows {}", found->dump(), version))
      .at(path_)
      .hint("use the version of tk that wrote it, or a later one");
}

std::string kept_members(const nlohmann::ordered_json& members) {
  return members.empty() ? std::string() : members.dump();
}

void add_kept_members(nlohmann::ordered_json& to, const std::string& kept) {
  if (kept.empty()) return;
  const auto members = nlohmann::ordered_json::parse(kept);
  for (const auto& [name, value] : members.items()) to[name] = value;
}

}  // namespace tk
