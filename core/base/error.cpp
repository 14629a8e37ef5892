#include "core/base/error.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "core/base/error_codes.h"

namespace tk {
namespace {

struct CodeRow {
  ErrorCode code;
  std::string_view name;
  int exit;
};

constexpr std::array kCodes = {
    CodeRow{ErrorCode::unknown_topic_or_partition, "UNKNOWN_TOPIC_OR_PARTITION", 1},
    CodeRow{ErrorCode::topic_already_exists, "TOPIC_ALREADY_EXISTS", 1},
    CodeRow{ErrorCode::group_id_not_found, "GROUP_ID_NOT_FOUND", 1},
    CodeRow{ErrorCode::message_too_large, "MESSAGE_TOO_LARGE", 1},
    CodeRow{ErrorCode::invalid_record, "INVALID_RECORD", 1},
    CodeRow{ErrorCode::storage_error, "STORAGE_ERROR", 1},
    CodeRow{ErrorCode::unsupported_version, "UNSUPPORTED_VERSION", 1},
    CodeRow{ErrorCode::unknown_server_error, "UNKNOWN_SERVER_ERROR", 1},
    CodeRow{ErrorCode::invalid_txn_state, "INVALID_TXN_STATE", 1},
    CodeRow{ErrorCode::unknown_producer_id, "UNKNOWN_PRODUCER_ID", 1},
    CodeRow{ErrorCode::transactional_id_not_found, "TRANSACTIONAL_ID_NOT_FOUND", 1},
    CodeRow{ErrorCode::broker_not_available, "BROKER_NOT_AVAILABLE", 1},
    CodeRow{ErrorCode::invalid_request, "INVALID_REQUEST", 2},
    CodeRow{ErrorCode::invalid_topic, "INVALID_TOPIC_EXCEPTION", 2},
    CodeRow{ErrorCode::invalid_config, "INVALID_CONFIG", 2},
    CodeRow{ErrorCode::invalid_partitions, "INVALID_PARTITIONS", 2},
    CodeRow{ErrorCode::invalid_group_id, "INVALID_GROUP_ID", 2},
    CodeRow{ErrorCode::invalid_session_timeout, "INVALID_SESSION_TIMEOUT", 2},
    CodeRow{ErrorCode::corrupt_message, "CORRUPT_MESSAGE", 3},
    CodeRow{ErrorCode::corrupt_state, "CORRUPT_STATE", 3},
    CodeRow{ErrorCode::log_dir_locked, "LOG_DIR_LOCKED", 4},
    CodeRow{ErrorCode::offset_out_of_range, "OFFSET_OUT_OF_RANGE", 4},
    CodeRow{ErrorCode::no_offset_for_partition, "NO_OFFSET_FOR_PARTITION", 4},
    CodeRow{ErrorCode::log_truncation, "LOG_TRUNCATION", 4},
    CodeRow{ErrorCode::offset_metadata_too_large, "OFFSET_METADATA_TOO_LARGE", 4},
    CodeRow{ErrorCode::illegal_generation, "ILLEGAL_GENERATION", 4},
    CodeRow{ErrorCode::unknown_member_id, "UNKNOWN_MEMBER_ID", 4},
    CodeRow{ErrorCode::fenced_instance_id, "FENCED_INSTANCE_ID", 4},
    CodeRow{ErrorCode::fenced_member_epoch, "FENCED_MEMBER_EPOCH", 4},
    CodeRow{ErrorCode::stale_member_epoch, "STALE_MEMBER_EPOCH", 4},
    CodeRow{ErrorCode::unreleased_instance_id, "UNRELEASED_INSTANCE_ID", 4},
    CodeRow{ErrorCode::rebalance_in_progress, "REBALANCE_IN_PROGRESS", 4},
    CodeRow{ErrorCode::inconsistent_group_protocol, "INCONSISTENT_GROUP_PROTOCOL", 4},
    CodeRow{ErrorCode::unsupported_assignor, "UNSUPPORTED_ASSIGNOR", 4},
    CodeRow{ErrorCode::non_empty_group, "NON_EMPTY_GROUP", 4},
    CodeRow{ErrorCode::group_subscribed_to_topic, "GROUP_SUBSCRIBED_TO_TOPIC", 4},
    CodeRow{ErrorCode::not_leader_or_follower, "NOT_LEADER_OR_FOLLOWER", 4},
    CodeRow{ErrorCode::invalid_producer_epoch, "INVALID_PRODUCER_EPOCH", 4},
    CodeRow{ErrorCode::out_of_order_sequence_number, "OUT_OF_ORDER_SEQUENCE_NUMBER", 4},
    CodeRow{ErrorCode::leader_not_available, "LEADER_NOT_AVAILABLE", 4},
    CodeRow{ErrorCode::not_enough_replicas, "NOT_ENOUGH_REPLICAS", 4},
    CodeRow{ErrorCode::not_enough_replicas_after_append, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", 4},
    CodeRow{ErrorCode::request_timed_out, "REQUEST_TIMED_OUT", 4},
    CodeRow{ErrorCode::eligible_leaders_not_available, "ELIGIBLE_LEADERS_NOT_AVAILABLE", 4},
    CodeRow{ErrorCode::preferred_leader_not_available, "PREFERRED_LEADER_NOT_AVAILABLE", 4},
    CodeRow{ErrorCode::election_not_needed, "ELECTION_NOT_NEEDED", 4},
    CodeRow{ErrorCode::offset_not_available, "OFFSET_NOT_AVAILABLE", 4},
};

const CodeRow& row(ErrorCode code) {
  return kCodes[static_cast<std::size_t>(code)];
}

static_assert([] {
  for (std::size_t i = 0; i < kCodes.size(); ++i) {
    if (static_cast<std::size_t>(kCodes[i].code) != i) return false;
  }
  return true;
}());

}  // namespace

std::string_view code_name(ErrorCode code) {
  return row(code).name;
}
std::vector<std::string_view> code_names(int exit) {
  std::vector<std::string_view> names;
  for (const CodeRow& each : kCodes) {
    if (each.exit == exit) names.push_back(each.name);
  }
  return names;
}

int exit_code(ErrorCode code) {
  return row(code).exit;
}

Error system_error(std::string_view action, std::string path, int error_number) {
  Error error = Error(ErrorCode::storage_error,
                      fmt::format("cannot {}: {}", action, std::generic_category().message(error_number)))
                    .at(std::move(path));
  if (error_number != EMFILE) return error;
  return std::move(error).hint("let this process open more files: 'ulimit -n'");
}

}  // namespace tk
