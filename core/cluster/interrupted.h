// What a command that was killed in the middle left of a cluster: a change stands in the metadata log, and
// the brokers' files do not know of it yet.
#pragma once

#include "core/cluster/cluster.h"

namespace tk {

/// Goes the rest of the way: a controlled shutdown that was announced is finished, and live brokers learn
/// what the metadata log says of their partitions. For whoever holds the cluster's lock, after load(). Opens
/// no log where nothing is behind.
void finish_interrupted(Cluster& cluster);

}  // namespace tk
