// Kafka's error codes on the wire, and what tk's own errors are there.
#pragma once

#include <cstdint>

#include "core/base/error.h"

namespace tk::kafka {

inline constexpr std::int16_t kUnknownServerError = -1;
inline constexpr std::int16_t kNone = 0;
inline constexpr std::int16_t kOffsetOutOfRange = 1;
inline constexpr std::int16_t kCorruptMessage = 2;
inline constexpr std::int16_t kUnknownTopicOrPartition = 3;
inline constexpr std::int16_t kRequestTimedOut = 7;
inline constexpr std::int16_t kMessageTooLarge = 10;
inline constexpr std::int16_t kOffsetMetadataTooLarge = 12;
inline constexpr std::int16_t kCoordinatorNotAvailable = 15;
inline constexpr std::int16_t kInvalidTopic = 17;
inline constexpr std::int16_t kRecordListTooLarge = 18;
inline constexpr std::int16_t kNotEnoughReplicas = 19;
inline constexpr std::int16_t kInvalidRequiredAcks = 21;
inline constexpr std::int16_t kIllegalGeneration = 22;
inline constexpr std::int16_t kInconsistentGroupProtocol = 23;
inline constexpr std::int16_t kInvalidGroupId = 24;
inline constexpr std::int16_t kUnknownMemberId = 25;
inline constexpr std::int16_t kInvalidSessionTimeout = 26;
inline constexpr std::int16_t kRebalanceInProgress = 27;
inline constexpr std::int16_t kInvalidTimestamp = 32;
inline constexpr std::int16_t kUnsupportedVersion = 35;
inline constexpr std::int16_t kTopicAlreadyExists = 36;
inline constexpr std::int16_t kInvalidPartitions = 37;
inline constexpr std::int16_t kInvalidReplicationFactor = 38;
inline constexpr std::int16_t kInvalidReplicaAssignment = 39;
inline constexpr std::int16_t kInvalidConfig = 40;
inline constexpr std::int16_t kInvalidRequest = 42;
inline constexpr std::int16_t kPolicyViolation = 44;
inline constexpr std::int16_t kOutOfOrderSequence = 45;
inline constexpr std::int16_t kInvalidProducerEpoch = 47;
inline constexpr std::int16_t kInvalidTxnState = 48;
inline constexpr std::int16_t kInvalidProducerIdMapping = 49;
inline constexpr std::int16_t kInvalidTransactionTimeout = 50;
inline constexpr std::int16_t kTransactionCoordinatorFenced = 52;
inline constexpr std::int16_t kTransactionalIdAuthorizationFailed = 53;
inline constexpr std::int16_t kOperationNotAttempted = 55;
inline constexpr std::int16_t kStorageError = 56;
inline constexpr std::int16_t kNonEmptyGroup = 68;
inline constexpr std::int16_t kGroupIdNotFound = 69;
inline constexpr std::int16_t kFetchSessionIdNotFound = 70;
inline constexpr std::int16_t kInvalidFetchSessionEpoch = 71;
inline constexpr std::int16_t kFencedLeaderEpoch = 74;
inline constexpr std::int16_t kUnknownLeaderEpoch = 75;
inline constexpr std::int16_t kUnsupportedCompressionType = 76;
inline constexpr std::int16_t kMemberIdRequired = 79;
inline constexpr std::int16_t kGroupMaxSizeReached = 81;
inline constexpr std::int16_t kFencedInstanceId = 82;
inline constexpr std::int16_t kElectionNotNeeded = 84;
inline constexpr std::int16_t kGroupSubscribedToTopic = 86;
inline constexpr std::int16_t kInvalidRecord = 87;
inline constexpr std::int16_t kUnstableOffsetCommit = 88;
inline constexpr std::int16_t kProducerFenced = 90;
inline constexpr std::int16_t kUnknownTopicId = 100;
inline constexpr std::int16_t kTransactionalIdNotFound = 105;
inline constexpr std::int16_t kFetchSessionTopicIdError = 106;
inline constexpr std::int16_t kFencedMemberEpoch = 110;
inline constexpr std::int16_t kUnreleasedInstanceId = 111;
inline constexpr std::int16_t kUnsupportedAssignor = 112;
inline constexpr std::int16_t kStaleMemberEpoch = 113;
inline constexpr std::int16_t kTransactionAbortable = 120;
inline constexpr std::int16_t kInvalidRegularExpression = 128;
inline constexpr std::int16_t kRebootstrapRequired = 129;

/// What a request about topics, groups or transactions is answered for an Error.
std::int16_t error_of(const Error& error);
/// The same of an append: a damaged or unusable partition is a storage error, which clients retry.
std::int16_t append_error_of(const Error& error);
/// The same of a change of a group: what cannot be saved is COORDINATOR_NOT_AVAILABLE.
std::int16_t group_error_of(const Error& error);

}  // namespace tk::kafka
