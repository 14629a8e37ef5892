// What a request names twice is answered once: else a small request could ask for an answer of any size.
#pragma once

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tk::kafka {

/// Leaves of elements with the same key the first one, in the order given. `key` returns something that can
/// be hashed (std::hash).
template <class T, class Key>
void keep_first(std::vector<T>& list, Key key) {
  std::unordered_set<decltype(key(list.front()))> seen;
  std::erase_if(list, [&](const T& element) { return !seen.insert(key(element)).second; });
}

inline void keep_first(std::vector<std::string>& names) {
  keep_first(names, [](const std::string& name) { return name; });
}

}  // namespace tk::kafka
