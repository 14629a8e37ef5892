// What a mistyped topic or partition may have meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tk {

/// Which of `topics` a name that is not there may have meant; of a partition ("ordes-0") with its number
/// ("orders-0").
std::optional<std::string> nearest_topic(std::string_view name, const std::vector<std::string>& topics);

}  // namespace tk
