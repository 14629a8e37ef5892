// JSON bodies that say what to do, against those that hold records: they are small.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tk::http {

/// Throws message_too_large above 1 MiB: a tree of values takes many times the bytes of its text. What is no
/// JSON is a discarded value.
nlohmann::json parse_small_body(const std::string& body);

}  // namespace tk::http
