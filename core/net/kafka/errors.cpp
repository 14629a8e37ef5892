#include "core/net/kafka/errors.h"

namespace tk::kafka {

std::int16_t error_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::unknown_topic_or_partition:
      return kUnknownTopicOrPartition;
    case ErrorCode::topic_already_exists:
      return kTopicAlreadyExists;
    case ErrorCode::group_id_not_found:
      return kGroupIdNotFound;
    case ErrorCode::message_too_large:
      return kMessageTooLarge;
    case ErrorCode::invalid_record:
      return kInvalidRecord;
    case ErrorCode::storage_error:
      return kStorageError;
    case ErrorCode::unsupported_version:
      return kUnsupportedVersion;
    case ErrorCode::unknown_server_error:
      return kUnknownServerError;
    case ErrorCode::invalid_txn_state:
      return kInvalidTxnState;
    case ErrorCode::unknown_producer_id:
      return kInvalidProducerIdMapping;
    case ErrorCode::transactional_id_not_found:
      return kTransactionalIdNotFound;
    case ErrorCode::invalid_request:
      return kInvalidRequest;
    case ErrorCode::invalid_topic:
      return kInvalidTopic;
    case ErrorCode::invalid_config:
      return kInvalidConfig;
    case ErrorCode::invalid_partitions:
      return kInvalidPartitions;
    case ErrorCode::invalid_group_id:
      return kInvalidGroupId;
    case ErrorCode::invalid_session_timeout:
      return kInvalidSessionTimeout;
    case ErrorCode::corrupt_message:
      return kCorruptMessage;
    case ErrorCode::corrupt_state:
      return kStorageError;
    case ErrorCode::log_dir_locked:
      return kRequestTimedOut;
    case ErrorCode::offset_out_of_range:
      return kOffsetOutOfRange;
    case ErrorCode::offset_metadata_too_large:
      return kOffsetMetadataTooLarge;
    case ErrorCode::illegal_generation:
      return kIllegalGeneration;
    case ErrorCode::unknown_member_id:
      return kUnknownMemberId;
    case ErrorCode::fenced_instance_id:
      return kFencedInstanceId;
    case ErrorCode::fenced_member_epoch:
      return kFencedMemberEpoch;
    case ErrorCode::stale_member_epoch:
      return kStaleMemberEpoch;
    case ErrorCode::unreleased_instance_id:
      return kUnreleasedInstanceId;
    case ErrorCode::rebalance_in_progress:
      return kRebalanceInProgress;
    case ErrorCode::inconsistent_group_protocol:
      return kInconsistentGroupProtocol;
    case ErrorCode::unsupported_assignor:
      return kUnsupportedAssignor;
    case ErrorCode::non_empty_group:
      return kNonEmptyGroup;
    case ErrorCode::group_subscribed_to_topic:
      return kGroupSubscribedToTopic;
    case ErrorCode::invalid_producer_epoch:
      return kInvalidProducerEpoch;
    case ErrorCode::out_of_order_sequence_number:
      return kOutOfOrderSequence;
    default:
      return kUnknownServerError;
  }
}

std::int16_t append_error_of(const Error& error) {
  const bool damaged = error.code() == ErrorCode::corrupt_message || error.code() == ErrorCode::corrupt_state;
  return damaged ? kStorageError : error_of(error);
}

std::int16_t group_error_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::storage_error:
    case ErrorCode::corrupt_state:
    case ErrorCode::log_dir_locked:
      return kCoordinatorNotAvailable;
    default:
      return error_of(error);
  }
}

}  // namespace tk::kafka
