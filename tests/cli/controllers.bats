#!/usr/bin/env bats
# Three controllers: what a majority has is decided, and survives any one of them (docs/replication.md).
load common.bash

controllers() { jq -rc 'select(.type=="controller") | "\(.controller) \(.alive) \(.role) \(.epoch)"' <<<"$output" | tr '\n' ';'; }

@test "a controller dies, another is elected, and every decision is still there" {
  tk cluster init --brokers 3 --controllers 3 -q
  tk topics create t -c min.insync.replicas=2 -q
  seq 1 5 | tk produce t --acks all -q
  tk cluster stop --controller 1
  # Nobody has been told: nothing runs between commands.
  tk_is 0 cluster status --json
  equal "$(controllers)" "1 false none 1;2 true follower 1;3 true follower 1;"
  # A decision is needed: cluster time passes to the election, a fetch timeout (2000 ms) away.
  tk cluster stop 1
  tk_is 0 failover t-0 --json
  equal "$(rows '"\(.new_leader) \(.leader_epoch) \(.isr) \(.committed_lost)"')" "2 1 [2,3] 0"
  tk_is 0 cluster status --json
  equal "$(jq -r 'select(.type=="cluster") | "\(.now) \(.controllers)"' <<<"$output")" "2000 3"
  equal "$(jq -rc 'select(.role=="leader") | "\(.epoch) \(.log_end_offset == .high_watermark)"' <<<"$output")" "2 true"
  # The one that returns gives up nothing and gets what it has missed.
  tk cluster start 1
  tk cluster start --controller 1
  tk replicate-sim t-0 --rounds 3 --tick 1000 >/dev/null
  for n in 2 3; do cmp "$TK_DIR/metadata/__cluster_metadata-0/$SEGMENT" "$TK_DIR/metadata-$n/__cluster_metadata-0/$SEGMENT"; done
  tk_is 0 verify "$TK_DIR/metadata" "$TK_DIR/metadata-2" "$TK_DIR/metadata-3"
  tk_is 0 consume t
  equal "$output" "$(seq 1 5)"
}

@test "without a majority nothing is decided, and the data go on with the ISR they have" {
  tk cluster init --brokers 3 --controllers 3 -q
  tk topics create t -c min.insync.replicas=2 -q
  tk cluster stop --controller 2 --controller 3
  tk_is 4 topics create u --json
  error_is LEADER_NOT_AVAILABLE
  seq 1 3 | tk produce t --acks all -q
  tk cluster stop 3
  tk_is 4 failover t-0 --json
  error_is LEADER_NOT_AVAILABLE
  run --separate-stderr bash -c "echo x | '$TK' produce t --acks all --timeout-ms 60000 --json"
  equal "$status" 4
  error_is REQUEST_TIMED_OUT
  tk_is 0 consume t
  equal "$output" "$(seq 1 3)"
  tk cluster start --controller 2
  tk_is 0 failover t-0
  echo y | tk produce t --acks all -q
  tk_is 0 consume t
  equal "$output" "$(seq 1 3; echo x; echo y)"
}

@test "one controller stops and starts; its log goes on in a new epoch" {
  tk cluster init --brokers 1 -q
  tk cluster stop --controller 1
  tk_is 1 cluster stop --controller 1 --json
  error_is BROKER_NOT_AVAILABLE
  tk_is 4 topics create t --json
  error_is LEADER_NOT_AVAILABLE
  tk cluster start --controller 1
  tk topics create t -q
  tk_is 0 cluster status --json
  equal "$(jq -rc 'select(.type=="controller") | "\(.alive) \(.role) \(.epoch)"' <<<"$output")" "true leader 2"
  tk_is 1 cluster start --controller 2 --json
  error_is BROKER_NOT_AVAILABLE
  tk_is 2 cluster stop
}

@test "a controller's log that is damaged in the middle is named, and nothing is guessed" {
  tk cluster init --brokers 3 --controllers 3 -q
  tk topics create t -q
  for n in "" -2 -3; do printf 'X' | dd of="$TK_DIR/metadata$n/__cluster_metadata-0/$SEGMENT" bs=1 seek=200 conv=notrunc status=none; done
  tk_is 3 cluster status --json
  error_is CORRUPT_STATE
  contains "$stderr" "$SEGMENT"
}
