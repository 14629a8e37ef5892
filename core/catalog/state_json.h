// What the readers of JSON state files share: from text to a checked root object, with errors that name the
// file.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace tk {

class StateJson {
 public:
  /// `hint`: what to do about a damaged file.
  StateJson(std::string path, std::string hint) : path_(std::move(path)), hint_(std::move(hint)) {}

  /// The file's object. Throws corrupt_state (position where there is one) for what is no whole JSON text, no
  /// object, too deep or without a version, unsupported_version for another version than `version`.
  [[nodiscard]] nlohmann::ordered_json parse(std::string_view text, std::int64_t version) const;
  /// Throws corrupt_state.
  [[noreturn]] void refuse(std::string message, std::optional<std::uint64_t> position = {}) const;

 private:
  std::string path_;
  std::string hint_;
};

/// Members that this version does not know, as a text to be written again with the rest; empty if there are
/// none.
std::string kept_members(const nlohmann::ordered_json& members);
/// Appends what kept_members() gave.
void add_kept_members(nlohmann::ordered_json& to, const std::string& kept);

}  // namespace tk
