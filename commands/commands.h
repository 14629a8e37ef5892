// The entry points of the commands: options and context in, exit code out (cli.md §1).
//
// What ends a command at once is thrown as an Error. What does not (one damaged file of many) is reported
// through Context::diagnostics while the rest goes on, and comes back as the exit code.
#pragma once

namespace tk {

struct Context;
struct TopicsCreateOptions;
struct TopicsListOptions;
struct TopicsDescribeOptions;
struct TopicsAlterOptions;
struct TopicsDeleteOptions;
struct ProduceOptions;
struct ConsumeOptions;
struct DumpLogOptions;
struct VerifyOptions;
struct RecoverOptions;
struct RebalanceOptions;
struct CommitOptions;
struct GroupsListOptions;
struct GroupsDescribeOptions;
struct GroupsEventsOptions;
struct GroupsExportOptions;
struct GroupsDeleteOptions;
struct GroupsDeleteOffsetsOptions;
struct GroupsResetOptions;
struct TxnBeginOptions;
struct TxnEndOptions;
struct TxnListOptions;
struct TxnDescribeOptions;
struct TxnExpireOptions;
struct ProducersListOptions;
struct ProducersDeleteOptions;
struct ClusterInitOptions;
struct ClusterStatusOptions;
struct ClusterStopOptions;
struct ClusterStartOptions;
struct ClusterEventsOptions;
struct ReplicateSimOptions;
struct FailoverOptions;
struct RetainOptions;
struct CompactOptions;
struct DeleteRecordsOptions;
struct GetOffsetsOptions;
struct ServeOptions;

int run_topics_create(const TopicsCreateOptions& options, Context& context);
int run_topics_list(const TopicsListOptions& options, Context& context);
int run_topics_describe(const TopicsDescribeOptions& options, Context& context);
int run_topics_alter(const TopicsAlterOptions& options, Context& context);
int run_topics_delete(const TopicsDeleteOptions& options, Context& context);
int run_produce(const ProduceOptions& options, Context& context);
int run_consume(const ConsumeOptions& options, Context& context);
int run_dump_log(const DumpLogOptions& options, Context& context);
int run_verify(const VerifyOptions& options, Context& context);
int run_recover(const RecoverOptions& options, Context& context);
int run_rebalance(const RebalanceOptions& options, Context& context);
int run_rebalance_preview(const RebalanceOptions& options, Context& context);
int run_commit(const CommitOptions& options, Context& context);
int run_groups_list(const GroupsListOptions& options, Context& context);
int run_groups_describe(const GroupsDescribeOptions& options, Context& context);
int run_groups_events(const GroupsEventsOptions& options, Context& context);
int run_groups_export(const GroupsExportOptions& options, Context& context);
int run_groups_delete(const GroupsDeleteOptions& options, Context& context);
int run_groups_delete_offsets(const GroupsDeleteOffsetsOptions& options, Context& context);
int run_groups_reset_offsets(const GroupsResetOptions& options, Context& context);
int run_txn_begin(const TxnBeginOptions& options, Context& context);
int run_txn_commit(const TxnEndOptions& options, Context& context);
int run_txn_abort(const TxnEndOptions& options, Context& context);
int run_txn_list(const TxnListOptions& options, Context& context);
int run_txn_describe(const TxnDescribeOptions& options, Context& context);
int run_txn_expire(const TxnExpireOptions& options, Context& context);
int run_producers_list(const ProducersListOptions& options, Context& context);
int run_producers_delete(const ProducersDeleteOptions& options, Context& context);
int run_cluster_init(const ClusterInitOptions& options, Context& context);
int run_cluster_status(const ClusterStatusOptions& options, Context& context);
int run_cluster_stop(const ClusterStopOptions& options, Context& context);
int run_cluster_start(const ClusterStartOptions& options, Context& context);
int run_cluster_events(const ClusterEventsOptions& options, Context& context);
int run_replicate_sim(const ReplicateSimOptions& options, Context& context);
int run_failover(const FailoverOptions& options, Context& context);
int run_retain(const RetainOptions& options, Context& context);
int run_compact(const CompactOptions& options, Context& context);
int run_delete_records(const DeleteRecordsOptions& options, Context& context);
int run_get_offsets(const GetOffsetsOptions& options, Context& context);
int run_serve(const ServeOptions& options, Context& context);

}  // namespace tk
