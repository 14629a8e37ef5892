// How many processors there are to work with.
#pragma once

namespace tk {

/// Those this process may run on (its CPU affinity, as `taskset` sets it): at least 1. The system is asked
/// once.
unsigned usable_processors();

}  // namespace tk
