// Made by scripts/make_schema_table.py; do not edit. The grammar is in schema.h.
#include "core/format/schema.h"

// clang-format off

std::string_view tk::internal_record_table() {
  return R"schema(
@message ConsumerProtocolAssignment -1 0 3
0 assigned_partitions:[{topic:string partitions:[int32]}] user_data:?bytes
1 as 0
2 as 1
3 as 2
@message ConsumerProtocolSubscription -1 0 3
0 topics:[string] user_data:?bytes
1 topics:[string] user_data:?bytes owned_partitions:[{topic:string partitions:[int32]}]
2 topics:[string] user_data:?bytes owned_partitions:[{topic:string partitions:[int32]}] generation_id:int32
3 topics:[string] user_data:?bytes owned_partitions:[{topic:string partitions:[int32]}] generation_id:int32 rack_id:?string
@message DefaultPrincipalData -1 0 0
0 type:cstring name:cstring token_authenticated:boolean #{}
@message EndTxnMarker -1 0 0
0 coordinator_epoch:int32
@message KRaftVersionRecord -1 0 0
0 version:int16 kraft_version:int16 #{}
@message LeaderChangeMessage -1 0 1
0 version:int16 leader_id:int32 voters:c[{voter_id:int32 #{}}] granting_voters:c[{voter_id:int32 #{}}] #{}
1 version:int16 leader_id:int32 voters:c[{voter_id:int32 voter_directory_id:uuid #{}}] granting_voters:c[{voter_id:int32 voter_directory_id:uuid #{}}] #{}
@message SnapshotFooterRecord -1 0 0
0 version:int16 #{}
@message SnapshotHeaderRecord -1 0 0
0 version:int16 last_contained_log_timestamp:int64 #{}
@message VotersRecord -1 0 0
0 version:int16 voters:c[{voter_id:int32 voter_directory_id:uuid endpoints:c[{name:cstring host:cstring port:uint16 #{}}] kraft_version_feature:{min_supported_version:int16 max_supported_version:int16 #{}} #{}}] #{}
@metadata AbortTransactionRecord 25 0 0
0 #{0=reason:?cstring}
@metadata AccessControlEntryRecord 18 0 0
0 id:uuid resource_type:int8 resource_name:cstring pattern_type:int8 principal:cstring host:cstring operation:int8 permission_type:int8 #{}
@metadata BeginTransactionRecord 23 0 0
0 #{0=name:?cstring}
@metadata BrokerRegistrationChangeRecord 17 0 3
0 broker_id:int32 broker_epoch:int64 #{0=fenced:int8}
1 broker_id:int32 broker_epoch:int64 #{0=fenced:int8 1=in_controlled_shutdown:int8}
2 broker_id:int32 broker_epoch:int64 #{0=fenced:int8 1=in_controlled_shutdown:int8 2=log_dirs:c[uuid]}
3 broker_id:int32 broker_epoch:int64 #{0=fenced:int8 1=in_controlled_shutdown:int8 2=log_dirs:c[uuid] 3=cordoned_log_dirs:?c[uuid]}
@metadata ClearElrRecord 28 0 0
0 topic_name:cstring #{}
@metadata ClientQuotaRecord 14 0 0
0 entity:c[{entity_type:cstring entity_name:?cstring #{}}] key:cstring value:float64 remove:boolean #{}
@metadata ConfigRecord 4 0 0
0 resource_type:int8 resource_name:cstring name:cstring value:?cstring #{}
@metadata DelegationTokenRecord 10 0 0
0 owner:cstring requester:cstring renewers:c[cstring] issue_timestamp:int64 max_timestamp:int64 expiration_timestamp:int64 token_id:cstring #{}
@metadata EndTransactionRecord 24 0 0
0 #{}
@metadata FeatureLevelRecord 12 0 0
0 name:cstring feature_level:int16 #{}
@metadata FenceBrokerRecord 7 0 0
0 id:int32 epoch:int64 #{}
@metadata NoOpRecord 20 0 0
0 #{}
@metadata PartitionChangeRecord 5 0 2
0 partition_id:int32 topic_id:uuid #{0=isr:?c[int32] 1=leader:int32 2=replicas:?c[int32] 3=removing_replicas:?c[int32] 4=adding_replicas:?c[int32] 5=leader_recovery_state:int8}
1 partition_id:int32 topic_id:uuid #{0=isr:?c[int32] 1=leader:int32 2=replicas:?c[int32] 3=removing_replicas:?c[int32] 4=adding_replicas:?c[int32] 5=leader_recovery_state:int8 8=directories:?c[uuid]}
2 partition_id:int32 topic_id:uuid #{0=isr:?c[int32] 1=leader:int32 2=replicas:?c[int32] 3=removing_replicas:?c[int32] 4=adding_replicas:?c[int32] 5=leader_recovery_state:int8 6=eligible_leader_replicas:?c[int32] 7=last_known_elr:?c[int32] 8=directories:?c[uuid]}
@metadata PartitionRecord 3 0 2
0 partition_id:int32 topic_id:uuid replicas:c[int32] isr:c[int32] removing_replicas:c[int32] adding_replicas:c[int32] leader:int32 leader_epoch:int32 partition_epoch:int32 #{0=leader_recovery_state:int8}
1 partition_id:int32 topic_id:uuid replicas:c[int32] isr:c[int32] removing_replicas:c[int32] adding_replicas:c[int32] leader:int32 leader_epoch:int32 partition_epoch:int32 directories:c[uuid] #{0=leader_recovery_state:int8}
2 partition_id:int32 topic_id:uuid replicas:c[int32] isr:c[int32] removing_replicas:c[int32] adding_replicas:c[int32] leader:int32 leader_epoch:int32 partition_epoch:int32 directories:c[uuid] #{0=leader_recovery_state:int8 1=eligible_leader_replicas:?c[int32] 2=last_known_elr:?c[int32]}
@metadata ProducerIdsRecord 15 0 0
0 broker_id:int32 broker_epoch:int64 next_producer_id:int64 #{}
@metadata RegisterBrokerRecord 0 0 4
0 broker_id:int32 incarnation_id:uuid broker_epoch:int64 end_points:c[{name:cstring host:cstring port:uint16 security_protocol:int16 #{}}] features:c[{name:cstring min_supported_version:int16 max_supported_version:int16 #{}}] rack:?cstring fenced:boolean #{}
1 broker_id:int32 incarnation_id:uuid broker_epoch:int64 end_points:c[{name:cstring host:cstring port:uint16 security_protocol:int16 #{}}] features:c[{name:cstring min_supported_version:int16 max_supported_version:int16 #{}}] rack:?cstring fenced:boolean in_controlled_shutdown:boolean #{}
2 broker_id:int32 is_migrating_zk_broker:boolean incarnation_id:uuid broker_epoch:int64 end_points:c[{name:cstring host:cstring port:uint16 security_protocol:int16 #{}}] features:c[{name:cstring min_supported_version:int16 max_supported_version:int16 #{}}] rack:?cstring fenced:boolean in_controlled_shutdown:boolean #{}
3 broker_id:int32 is_migrating_zk_broker:boolean incarnation_id:uuid broker_epoch:int64 end_points:c[{name:cstring host:cstring port:uint16 security_protocol:int16 #{}}] features:c[{name:cstring min_supported_version:int16 max_supported_version:int16 #{}}] rack:?cstring fenced:boolean in_controlled_shutdown:boolean #{0=log_dirs:c[uuid]}
4 broker_id:int32 is_migrating_zk_broker:boolean incarnation_id:uuid broker_epoch:int64 end_points:c[{name:cstring host:cstring port:uint16 security_protocol:int16 #{}}] features:c[{name:cstring min_supported_version:int16 max_supported_version:int16 #{}}] rack:?cstring fenced:boolean in_controlled_shutdown:boolean #{0=log_dirs:c[uuid] 1=cordoned_log_dirs:?c[uuid]}
@metadata RegisterControllerRecord 27 0 0
0 controller_id:int32 incarnation_id:uuid zk_migration_ready:boolean end_points:c[{name:cstring host:cstring port:uint16 security_protocol:int16 #{}}] features:c[{name:cstring min_supported_version:int16 max_supported_version:int16 #{}}] #{}
@metadata RemoveAccessControlEntryRecord 19 0 0
0 id:uuid #{}
@metadata RemoveDelegationTokenRecord 26 0 0
0 token_id:cstring #{}
@metadata RemoveTopicRecord 9 0 0
0 topic_id:uuid #{}
@metadata RemoveUserScramCredentialRecord 22 0 0
0 name:cstring mechanism:int8 #{}
@metadata TopicRecord 2 0 0
0 name:cstring topic_id:uuid #{}
@metadata UnfenceBrokerRecord 8 0 0
0 id:int32 epoch:int64 #{}
@metadata UnregisterBrokerRecord 1 0 0
0 broker_id:int32 broker_epoch:int64 #{}
@metadata UnregisterControllerRecord 29 0 0
0 controller_id:int32 #{}
@metadata UserScramCredentialRecord 11 0 0
0 name:cstring mechanism:int8 salt:cbytes stored_key:cbytes server_key:cbytes iterations:int32 #{}
@metadata ZkMigrationStateRecord 21 0 0
0 zk_migration_state:int8 #{}
@group ConsumerGroupCurrentMemberAssignmentKey 8 0 0
0 group_id:string member_id:string
@group ConsumerGroupCurrentMemberAssignmentValue 8 0 0
0 member_epoch:int32 previous_member_epoch:int32 state:int8 assigned_partitions:c[{topic_id:uuid partitions:c[int32] #{0=assignment_epochs:?c[int32]}}] partitions_pending_revocation:c[{topic_id:uuid partitions:c[int32] #{0=assignment_epochs:?c[int32]}}] #{}
@group ConsumerGroupMemberMetadataKey 5 0 0
0 group_id:string member_id:string
@group ConsumerGroupMemberMetadataValue 5 0 0
0 instance_id:?cstring rack_id:?cstring client_id:cstring client_host:cstring subscribed_topic_names:c[cstring] subscribed_topic_regex:?cstring rebalance_timeout_ms:int32 server_assignor:?cstring #{0=classic_member_metadata:?{session_timeout_ms:int32 supported_protocols:c[{name:cstring metadata:cbytes #{}}] #{}}}
@group ConsumerGroupMetadataKey 3 0 0
0 group_id:string
@group ConsumerGroupMetadataValue 3 0 0
0 epoch:int32 #{0=metadata_hash:int64}
@group ConsumerGroupPartitionMetadataKey 4 0 0
0 group_id:string
@group ConsumerGroupPartitionMetadataValue 4 0 0
0 topics:c[{topic_id:uuid topic_name:cstring num_partitions:int32 partition_metadata:c[{partition:int32 racks:c[cstring] #{}}] #{}}] #{}
@group ConsumerGroupRegularExpressionKey 16 0 0
0 group_id:string regular_expression:string
@group ConsumerGroupRegularExpressionValue 16 0 0
0 topics:c[cstring] version:int64 timestamp:int64 #{}
@group ConsumerGroupTargetAssignmentMemberKey 7 0 0
0 group_id:string member_id:string
@group ConsumerGroupTargetAssignmentMemberValue 7 0 0
0 topic_partitions:c[{topic_id:uuid partitions:c[int32] #{}}] #{}
@group ConsumerGroupTargetAssignmentMetadataKey 6 0 0
0 group_id:string
@group ConsumerGroupTargetAssignmentMetadataValue 6 0 0
0 assignment_epoch:int32 #{0=assignment_timestamp:int64}
@group GroupMetadataKey 2 0 0
0 group:string
@group GroupMetadataValue 2 0 4
0 protocol_type:string generation:int32 protocol:?string leader:?string members:[{member_id:string client_id:string client_host:string session_timeout:int32 subscription:bytes assignment:bytes}]
1 protocol_type:string generation:int32 protocol:?string leader:?string members:[{member_id:string client_id:string client_host:string rebalance_timeout:int32 session_timeout:int32 subscription:bytes assignment:bytes}]
2 protocol_type:string generation:int32 protocol:?string leader:?string current_state_timestamp:int64 members:[{member_id:string client_id:string client_host:string rebalance_timeout:int32 session_timeout:int32 subscription:bytes assignment:bytes}]
3 protocol_type:string generation:int32 protocol:?string leader:?string current_state_timestamp:int64 members:[{member_id:string group_instance_id:?string client_id:string client_host:string rebalance_timeout:int32 session_timeout:int32 subscription:bytes assignment:bytes}]
4 protocol_type:cstring generation:int32 protocol:?cstring leader:?cstring current_state_timestamp:int64 members:c[{member_id:cstring group_instance_id:?cstring client_id:cstring client_host:cstring rebalance_timeout:int32 session_timeout:int32 subscription:cbytes assignment:cbytes #{}}] #{}
@group LegacyOffsetCommitKey 0 0 0
0 group:string topic:string partition:int32
@group LegacyOffsetCommitValue 0 0 0
0 offset:int64 metadata:string commit_timestamp:int64
@group OffsetCommitKey 1 0 0
0 group:string topic:string partition:int32
@group OffsetCommitValue 1 0 4
0 offset:int64 metadata:string commit_timestamp:int64
1 offset:int64 metadata:string commit_timestamp:int64 expire_timestamp:int64
2 offset:int64 metadata:string commit_timestamp:int64
3 offset:int64 leader_epoch:int32 metadata:string commit_timestamp:int64
4 offset:int64 leader_epoch:int32 metadata:cstring commit_timestamp:int64 #{0=topic_id:uuid}
@group ShareGroupCurrentMemberAssignmentKey 14 0 0
0 group_id:string member_id:string
@group ShareGroupCurrentMemberAssignmentValue 14 0 0
0 member_epoch:int32 previous_member_epoch:int32 state:int8 assigned_partitions:c[{topic_id:uuid partitions:c[int32] #{}}] #{}
@group ShareGroupMemberMetadataKey 10 0 0
0 group_id:string member_id:string
@group ShareGroupMemberMetadataValue 10 0 0
0 rack_id:?cstring client_id:cstring client_host:cstring subscribed_topic_names:c[cstring] #{}
@group ShareGroupMetadataKey 11 0 0
0 group_id:string
@group ShareGroupMetadataValue 11 0 0
0 epoch:int32 metadata_hash:int64 #{}
@group ShareGroupStatePartitionMetadataKey 15 0 0
0 group_id:string
@group ShareGroupStatePartitionMetadataValue 15 0 0
0 initializing_topics:c[{topic_id:uuid topic_name:cstring partitions:c[int32] #{}}] initialized_topics:c[{topic_id:uuid topic_name:cstring partitions:c[int32] #{}}] deleting_topics:c[{topic_id:uuid topic_name:cstring #{}}] #{}
@group ShareGroupTargetAssignmentMemberKey 13 0 0
0 group_id:string member_id:string
@group ShareGroupTargetAssignmentMemberValue 13 0 0
0 topic_partitions:c[{topic_id:uuid partitions:c[int32] #{}}] #{}
@group ShareGroupTargetAssignmentMetadataKey 12 0 0
0 group_id:string
@group ShareGroupTargetAssignmentMetadataValue 12 0 0
0 assignment_epoch:int32 #{0=assignment_timestamp:int64}
@group StreamsGroupCurrentMemberAssignmentKey 22 0 0
0 group_id:string member_id:string
@group StreamsGroupCurrentMemberAssignmentValue 22 0 0
0 member_epoch:int32 previous_member_epoch:int32 state:int8 active_tasks:c[{subtopology_id:cstring partitions:c[int32] #{0=assignment_epochs:?c[int32]}}] standby_tasks:c[{subtopology_id:cstring partitions:c[int32] #{0=assignment_epochs:?c[int32]}}] warmup_tasks:c[{subtopology_id:cstring partitions:c[int32] #{0=assignment_epochs:?c[int32]}}] active_tasks_pending_revocation:c[{subtopology_id:cstring partitions:c[int32] #{0=assignment_epochs:?c[int32]}}] standby_tasks_pending_revocation:c[{subtopology_id:cstring partitions:c[int32] #{0=assignment_epochs:?c[int32]}}] warmup_tasks_pending_revocation:c[{subtopology_id:cstring partitions:c[int32] #{0=assignment_epochs:?c[int32]}}] #{}
@group StreamsGroupMemberMetadataKey 19 0 0
0 group_id:string member_id:string
@group StreamsGroupMemberMetadataValue 19 0 0
0 instance_id:?cstring rack_id:?cstring client_id:cstring client_host:cstring rebalance_timeout_ms:int32 topology_epoch:int32 process_id:cstring user_endpoint:?{host:cstring port:uint16 #{}} client_tags:c[{key:cstring value:cstring #{}}] #{}
@group StreamsGroupMetadataKey 17 0 0
0 group_id:string
@group StreamsGroupMetadataValue 17 0 0
0 epoch:int32 metadata_hash:int64 #{0=validated_topology_epoch:int32 1=last_assignment_configs:?c[{key:cstring value:cstring #{}}] 2=stored_description_topology_epoch:int32 3=failed_description_topology_epoch:int32}
@group StreamsGroupTargetAssignmentMemberKey 21 0 0
0 group_id:string member_id:string
@group StreamsGroupTargetAssignmentMemberValue 21 0 0
0 active_tasks:c[{subtopology_id:cstring partitions:c[int32] #{}}] standby_tasks:c[{subtopology_id:cstring partitions:c[int32] #{}}] warmup_tasks:c[{subtopology_id:cstring partitions:c[int32] #{}}] #{}
@group StreamsGroupTargetAssignmentMetadataKey 20 0 0
0 group_id:string
@group StreamsGroupTargetAssignmentMetadataValue 20 0 0
0 assignment_epoch:int32 #{0=assignment_timestamp:int64}
@group StreamsGroupTopologyKey 23 0 0
0 group_id:string
@group StreamsGroupTopologyValue 23 0 0
0 epoch:int32 subtopologies:c[{subtopology_id:cstring source_topics:c[cstring] source_topic_regex:c[cstring] state_changelog_topics:c[{name:cstring partitions:int32 replication_factor:int16 topic_configs:c[{key:cstring value:cstring #{}}] #{}}] repartition_sink_topics:c[cstring] repartition_source_topics:c[{name:cstring partitions:int32 replication_factor:int16 topic_configs:c[{key:cstring value:cstring #{}}] #{}}] copartition_groups:c[{source_topics:c[int16] source_topic_regex:c[int16] repartition_source_topics:c[int16] #{}}] #{}}] #{}
@share ShareSnapshotKey 0 0 0
0 group_id:string topic_id:uuid partition:int32
@share ShareSnapshotValue 0 0 0
0 snapshot_epoch:int32 state_epoch:int32 leader_epoch:int32 start_offset:int64 create_timestamp:int64 write_timestamp:int64 state_batches:c[{first_offset:int64 last_offset:int64 delivery_state:int8 delivery_count:int16 #{}}] #{0=delivery_complete_count:int32}
@share ShareUpdateKey 1 0 0
0 group_id:string topic_id:uuid partition:int32
@share ShareUpdateValue 1 0 0
0 snapshot_epoch:int32 leader_epoch:int32 start_offset:int64 state_batches:c[{first_offset:int64 last_offset:int64 delivery_state:int8 delivery_count:int16 #{}}] #{0=delivery_complete_count:int32}
@transaction TransactionLogKey 0 0 0
0 transactional_id:string
@transaction TransactionLogValue 0 0 1
0 producer_id:int64 producer_epoch:int16 transaction_timeout_ms:int32 transaction_status:int8 transaction_partitions:?[{topic:string partition_ids:[int32]}] transaction_last_update_timestamp_ms:int64 transaction_start_timestamp_ms:int64
1 producer_id:int64 producer_epoch:int16 transaction_timeout_ms:int32 transaction_status:int8 transaction_partitions:?c[{topic:cstring partition_ids:c[int32] #{}}] transaction_last_update_timestamp_ms:int64 transaction_start_timestamp_ms:int64 #{0=previous_producer_id:int64 1=next_producer_id:int64 2=client_transaction_version:int16 3=next_producer_epoch:int16}
@generated QuorumStateData -1 0 1
0 cluster_id:cstring leader_id:int32 leader_epoch:int32 voted_id:int32 applied_offset:int64 current_voters:?c[{voter_id:int32 #{}}] #{}
1 leader_id:int32 leader_epoch:int32 voted_id:int32 voted_directory_id:uuid #{}
@log ProducerSnapshot -1 1 1
1 crc:uint32 producer_entries:[{producer_id:int64 epoch:int16 last_sequence:int32 last_offset:int64 offset_delta:int32 timestamp:int64 coordinator_epoch:int32 current_txn_first_offset:int64}]
@log RemoteLogSegmentMetadataRecord 0 0 0
0 remote_log_segment_id:{topic_id_partition:{name:cstring id:uuid partition:int32 #{}} id:uuid #{}} start_offset:int64 end_offset:int64 broker_id:int32 max_timestamp_ms:int64 event_timestamp_ms:int64 segment_leader_epochs:c[{leader_epoch:int32 offset:int64 #{}}] segment_size_in_bytes:int32 custom_metadata:?cbytes remote_log_segment_state:int8 #{0=txn_index_empty:boolean}
@log RemoteLogSegmentMetadataSnapshotRecord 3 0 0
0 segment_id:uuid start_offset:int64 end_offset:int64 broker_id:int32 max_timestamp_ms:int64 event_timestamp_ms:int64 segment_leader_epochs:c[{leader_epoch:int32 offset:int64 #{}}] segment_size_in_bytes:int32 custom_metadata:?cbytes remote_log_segment_state:int8 #{0=txn_index_empty:boolean}
@log RemoteLogSegmentMetadataUpdateRecord 1 0 0
0 remote_log_segment_id:{topic_id_partition:{name:cstring id:uuid partition:int32 #{}} id:uuid #{}} broker_id:int32 event_timestamp_ms:int64 custom_metadata:?cbytes remote_log_segment_state:int8 #{}
@log RemotePartitionDeleteMetadataRecord 2 0 0
0 topic_id_partition:{name:cstring id:uuid partition:int32 #{}} broker_id:int32 event_timestamp_ms:int64 remote_partition_delete_state:int8 #{}
)schema";
}
