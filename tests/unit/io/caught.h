// The Error that something throws, for checks on its parts.
#pragma once

#include <optional>

#include "core/base/error.h"

namespace tk::test {

template <class Action>
std::optional<Error> caught(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace tk::test
