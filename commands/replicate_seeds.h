// tk replicate-sim --seed and --seeds.
#pragma once

namespace tk {

struct Context;
struct ReplicateSimOptions;

int run_seeds(const ReplicateSimOptions& options, Context& context);

}  // namespace tk
