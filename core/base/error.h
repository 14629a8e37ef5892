// The one exception of the core: what ends a command. Damage found in data is not an Error but a value (a
// Fault).
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace tk {

/// Why a command ended. Names are Kafka's where it has one; cli.md §1 gives each its exit code.
enum class ErrorCode : std::uint8_t {
  // exit 1
  unknown_topic_or_partition,
  topic_already_exists,
  group_id_not_found,
  message_too_large,
  invalid_record,
  storage_error,
  unsupported_version,
  unknown_server_error,
  invalid_txn_state,
  unknown_producer_id,
  transactional_id_not_found,
  broker_not_available,
  // exit 2
  invalid_request,
  invalid_topic,
  invalid_config,
  invalid_partitions,
  invalid_group_id,
  invalid_session_timeout,
  // exit 3
  corrupt_message,
  corrupt_state,
  // exit 4
  log_dir_locked,
  offset_out_of_range,
  no_offset_for_partition,
  log_truncation,
  offset_metadata_too_large,
  illegal_generation,
  unknown_member_id,
  fenced_instance_id,
  fenced_member_epoch,
  stale_member_epoch,
  unreleased_instance_id,
  rebalance_in_progress,
  inconsistent_group_protocol,
  unsupported_assignor,
  non_empty_group,
  group_subscribed_to_topic,
  not_leader_or_follower,
  invalid_producer_epoch,
  out_of_order_sequence_number,
  leader_not_available,
  not_enough_replicas,
  not_enough_replicas_after_append,
  request_timed_out,
  eligible_leaders_not_available,
  preferred_leader_not_available,
  election_not_needed,
  offset_not_available,
};

/// The name scripts see, for example "STORAGE_ERROR".
std::string_view code_name(ErrorCode code);
/// The exit code of cli.md §1: 1 failed, 2 usage, 3 damaged, 4 refused.
int exit_code(ErrorCode code);

/// What failed, where, and what to do next.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  /// The file or directory concerned.
  [[nodiscard]] Error at(std::string path) && {
    path_ = std::move(path);
    return std::move(*this);
  }
  /// The byte position in that file.
  [[nodiscard]] Error at(std::string path, std::uint64_t position) && {
    path_ = std::move(path);
    position_ = position;
    return std::move(*this);
  }
  /// What the user can do about it; only where it is certain to help.
  [[nodiscard]] Error hint(std::string hint) && {
    hint_ = std::move(hint);
    return std::move(*this);
  }

  [[nodiscard]] ErrorCode code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::optional<std::uint64_t>& position() const { return position_; }
  [[nodiscard]] const std::string& hint() const { return hint_; }
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorCode code_;
  std::string message_;
  std::string path_;
  std::optional<std::uint64_t> position_;
  std::string hint_;
};

/// A failed system call on `path`: the message holds `action` and the system's text for `error_number`.
Error system_error(std::string_view action, std::string path, int error_number);

}  // namespace tk
