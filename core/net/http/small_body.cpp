#include "core/net/http/small_body.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace tk::http {

nlohmann::json parse_small_body(const std::string& body) {
  constexpr std::size_t most = 1U << 20;
  if (body.size() > most) throw Error(ErrorCode::message_too_large, "the body is larger than 1 MiB");
  return nlohmann::json::parse(body, nullptr, false);
}

}  // namespace tk::http
