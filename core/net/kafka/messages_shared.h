// Structs that are the same in several messages. (They may lie in none of them: clang takes a struct with
// default values for one without a constructor as long as the struct around it is not whole, and
// std::optional asks.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/uuid.h"

namespace tk::kafka {

/// Where a list of partitions goes on.
struct PartitionCursor {
  std::string topic_name;
  std::int32_t partition_index = 0;

  template <class F>
  void fields(F& f) {
    f(topic_name);
    f(partition_index);
  }
  friend bool operator==(const PartitionCursor&, const PartitionCursor&) = default;
};

/// Partitions of a topic that is named by its id.
struct PartitionsById {
  Uuid topic_id;
  std::vector<std::int32_t> partitions;

  template <class F>
  void fields(F& f) {
    f(topic_id);
    f(partitions);
  }
  friend bool operator==(const PartitionsById&, const PartitionsById&) = default;
};

/// The same with the topic's name beside the id.
struct NamedPartitionsById {
  Uuid topic_id;
  std::string topic_name;
  std::vector<std::int32_t> partitions;

  template <class F>
  void fields(F& f) {
    f(topic_id);
    f(topic_name);
    f(partitions);
  }
  friend bool operator==(const NamedPartitionsById&, const NamedPartitionsById&) = default;
};

/// What a member of a consumer group has; T is one of the two above.
template <class T>
struct MemberAssignment {
  std::vector<T> topic_partitions;

  template <class F>
  void fields(F& f) {
    f(topic_partitions);
  }
  friend bool operator==(const MemberAssignment&, const MemberAssignment&) = default;
};

}  // namespace tk::kafka
