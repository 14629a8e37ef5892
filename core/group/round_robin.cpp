// Round robin: one ring of members over the partitions of all topics; who does not subscribe is passed over.
#include <algorithm>

#include "core/group/placement.h"

namespace tk {

Owners place_round_robin(const AssignmentProblem& problem) {
  const auto places = problem.static_first_places();
  std::vector<MemberIndex> ring(places.size());
  for (MemberIndex m = 0; m < static_cast<MemberIndex>(places.size()); ++m) ring[places[m]] = m;
  Owners owner(static_cast<std::size_t>(problem.partition_count()), kNobody);
  std::int32_t cursor = 0;  // goes on from topic to topic
  for (const auto& topic : problem.topics) {
    // The topic's places on the ring, so that passing others over costs nothing.
    std::vector<std::int32_t> stops;
    stops.reserve(topic.subscribers.size());
    for (const MemberIndex m : topic.subscribers) stops.push_back(places[m]);
    std::sort(stops.begin(), stops.end());
    auto stop = std::lower_bound(stops.begin(), stops.end(), cursor);
    for (std::int32_t p = 0; p < topic.count; ++p, ++stop) {
      if (stop == stops.end()) stop = stops.begin();
      owner[topic.first + p] = ring[*stop];
      cursor = *stop + 1;
    }
  }
  return owner;
}

}  // namespace tk
