// Where `produce -i dump` puts what it reads: a new, empty partition.
#pragma once

#include <memory>
#include <string>

#include "core/format/topic_format.h"
#include "core/log/partition_log.h"
#include "core/store/store.h"

namespace tk {

struct Context;
struct ProduceOptions;

/// The target partition. It is made when the first unit comes, so that an input that is no dump makes
/// nothing.
class ImportLog {
 public:
  /// Finds out which partition is meant. Throws invalid_request if the options name none,
  /// topic_already_exists if it holds something, unknown_topic_or_partition if it is missing and must not be
  /// made. All three must outlive this.
  ImportLog(Store& store, const ProduceOptions& options, Context& context);

  [[nodiscard]] const std::string& topic() const { return topic_; }
  [[nodiscard]] PartitionId partition() const { return partition_; }
  /// TOPIC-P.
  [[nodiscard]] std::string name() const;
  /// Why units of this format cannot go there, empty if they can.
  [[nodiscard]] std::string format_fault(TopicFormat format) const;

  /// Makes what is missing, with `first` as the partition's start, and takes the turn, which the log keeps to
  /// the end: what others appended between two units would take the offsets of those to come. Throws as the
  /// constructor does, and invalid_record if the partition, though empty, goes on above `first`.
  void open(TopicFormat format, Offset first);
  [[nodiscard]] bool is_open() const { return log_ != nullptr; }
  /// The log, once it is open.
  [[nodiscard]] PartitionLog& log() { return *log_; }

 private:
  void name_target();
  void require_empty(const PartitionInfo& partition) const;
  const TopicInfo& make_partition(TopicFormat format);

  Store& store_;
  const ProduceOptions& options_;
  Context& context_;
  std::string topic_;
  PartitionId partition_;
  std::unique_ptr<PartitionLog> log_;
};

}  // namespace tk
