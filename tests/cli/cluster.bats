#!/usr/bin/env bats
# A cluster of directories, driven by short commands (docs/cli.md, Replication).
load common.bash

@test "the slowest follower leaves the ISR, the leader dies, no committed record is lost" {
  for format in json kafka; do
    export TK_DIR=$PWD/$format
    tk cluster init --brokers 3 -q
    tk topics create t -p 1 --replicas 3 --format $format -c min.insync.replicas=2 -q
    seq 1 20 | tk produce t --acks all -q
    tk_is 0 replicate-sim t-0 --json
    equal "$(rows '"\(.broker) \(.role) \(.leo) \(.hw) \(.in_sync)"')" "1 leader 20 20 true 2 follower 20 20 true 3 follower 20 20 true"
    # Broker 3 dies unseen; its absence holds the high watermark, and with acks=1 nobody waits for it.
    tk cluster stop 3
    printf 'lost1\nlost2\n' | tk produce t --acks 1 -q
    tk_is 0 consume t
    equal "$(tail -n 1 <<<"$output")" 20
    tk cluster stop 1
    tk_is 0 failover t-0 --json
    equal "$(rows '"\(.old_leader) \(.new_leader) \(.leader_epoch) \(.isr) \(.truncated) \(.committed_lost) \(.acked_lost)"')" \
      '1 2 1 [2] {"1":2} 0 {"0":0,"1":2,"all":0}'
    run --separate-stderr bash -c "echo x | '$TK' produce t --acks all --json"
    equal "$status" 4
    error_is NOT_ENOUGH_REPLICAS
    tk cluster start 3
    tk replicate-sim t-0 --rounds 3 >/dev/null
    tk cluster start 1
    tk replicate-sim t-0 --rounds 3 >/dev/null
    echo after | tk produce t --acks all -q
    tk_is 0 replicate-sim t-0 --rounds 3 --json
    equal "$(rows '"\(.broker) \(.role) \(.leo) \(.hw) \(.in_sync)"')" "1 follower 21 21 true 2 leader 21 21 true 3 follower 21 21 true"
    tk_is 0 consume t
    equal "$output" "$(seq 1 20; echo after)"
    for other in 2 3; do cmp "$TK_DIR/broker-1/t-0/$SEGMENT" "$TK_DIR/broker-$other/t-0/$SEGMENT"; done
    for id in 1 2 3; do
      tk_is 0 verify "$TK_DIR/broker-$id" --json
      equal "$(rows 'select(.kind == "foreign")')" "" # tk's own state file is not foreign
    done
  done
}

@test "acks=1 loses what only the dead leader had, counted; acks=all loses nothing" {
  tk cluster init --brokers 3 -q
  tk topics create a -c min.insync.replicas=2 -q
  seq 1 5 | tk produce a --acks all -q
  seq 6 10 | tk produce a --acks 1 -q
  tk cluster stop 1
  tk_is 0 failover a-0 --json
  equal "$(rows '"\(.new_leader) \(.committed_lost) \(.acked_lost)"')" '2 0 {"0":0,"1":5,"all":0}'
  # The new leader knows the high watermark when its followers have fetched in its epoch (S18).
  tk replicate-sim a-0 --rounds 2 >/dev/null
  tk_is 0 consume a
  equal "$output" "$(seq 1 5)"
}

@test "what cannot be done says so" {
  tk_is 1 cluster status --json
  error_is STORAGE_ERROR
  tk cluster init --brokers 3 -q
  tk_is 2 cluster init --brokers 3 --json
  error_is INVALID_REQUEST
  tk topics create t -q
  tk_is 1 cluster start 2 --json
  error_is BROKER_NOT_AVAILABLE
  tk_is 1 cluster stop 7 --json
  error_is BROKER_NOT_AVAILABLE
  tk_is 1 replicate-sim x-0 --json
  error_is UNKNOWN_TOPIC_OR_PARTITION
  tk_is 2 topics create u --replicas 4 --json
  tk_is 4 topics create u -d "$TK_DIR/broker-1" --json
  seq 1 3 | tk produce t -q
  tk cluster stop 1 2 3
  tk_is 4 consume t --json
  error_is LEADER_NOT_AVAILABLE
  tk_is 4 failover t-0 --json
  error_is ELIGIBLE_LEADERS_NOT_AVAILABLE
}

@test "topics describe shows a cluster's leaders, replicas and what is not committed yet" {
  tk cluster init --brokers 3 -q
  tk topics create t -p 2 -c min.insync.replicas=2 -q
  seq 1 4 | tk produce t --partition 0 --acks all -q
  tk cluster stop 2 3
  seq 5 6 | tk produce t --partition 0 --acks 1 -q
  tk replicate-sim t-0 --tick 31000 >/dev/null
  # One after the other is fenced: with two left the ISR is as large as it has to be, and nobody is remembered.
  tk_is 0 topics describe t --json
  equal "$(rows '[.partition, .leader, .leader_epoch, .replicas, .isr, .elr, .high_watermark, .log_end_offset]')" \
    "[0,1,0,[1,2,3],[1],[3],4,6] [1,1,2,[2,3,1],[1],[3],0,0]"
  tk_is 0 topics describe t
  contains "$output" "HIGH WATERMARK"
}

@test "what came before a line that is refused is acknowledged, and counted" {
  tk cluster init --brokers 3 -q
  tk topics create t -p 1 -c min.insync.replicas=2 -q
  { seq 30000 | sed 's/$/:of some length, so that several chunks are read and appended before the line that is wrong/'; echo wrong; } >lines
  run --separate-stderr bash -c "'$TK' produce t -K : --acks all --json <lines"
  equal "$status" 1
  local told
  told=$(jq -r 'select(.error) | .message' <<<"$(tail -n 1 <<<"$stderr")" | sed -nE 's/.* ([0-9]+) records of this run are acknowledged$/\1/p')
  [ "$told" -gt 1000 ]
  equal "$(tk consume t --count)" "$told"
}

@test "scenario files: replies and final states on real directories" {
  for file in "$project"/tests/fixtures/replication/*.scenario; do
    tk_is 0 replicate-sim --scenario "$file" -q
  done
}

@test "a scenario that is wrong names file and line" {
  printf 'append a\nfetsh 2\n' >bad.scenario
  tk_is 2 replicate-sim --scenario bad.scenario --json
  contains "$stderr" "bad.scenario"
  contains "$stderr" "line 2"
  printf 'append a\nexpect log 1 = b\n' >wrong.scenario
  tk_is 3 replicate-sim --scenario wrong.scenario
  contains "$stderr" "line 2"
}

@test "consume -F in a cluster shows what is committed, and goes on through a failover" {
  tk cluster init --brokers 3 -q
  tk topics create t -c min.insync.replicas=2 -q
  seq 1 3 | tk produce t --acks all -q
  "$TK" consume t -F -n 6 --idle-timeout 30000 >out 2>err &
  local pid=$!
  seq 4 5 | tk produce t --acks all -q
  echo lost | tk produce t --acks 1 -q # on the leader only: never shown
  tk cluster stop 1
  tk failover t-0 >/dev/null
  echo 6 | tk produce t --acks all -q
  wait $pid
  equal "$(cat out)" "$(seq 1 6)"
}

@test "a scenario runs on the cluster of -d, and not on that of the environment" {
  tk cluster init --brokers 3 -q
  printf 'append a; sync\n' >s.scenario
  cp "$TK_DIR/tk-cluster.json" before
  tk_is 0 replicate-sim --scenario s.scenario -q
  cmp before "$TK_DIR/tk-cluster.json"
  tk_is 0 -d "$TK_DIR" replicate-sim --scenario s.scenario -q
  tk_is 0 consume t
  equal "$output" a
}

@test "delete-records and transactions go to the followers; compact is refused" {
  tk cluster init --brokers 3 -q
  tk topics create t -c min.insync.replicas=2 -q
  seq 1 10 | tk produce t --acks all -q
  tk_is 4 delete-records t-0=11 --json
  error_is OFFSET_OUT_OF_RANGE
  tk_is 0 delete-records t-0=4 --json
  equal "$(rows '[.from, .to]')" '[0,4]'
  tk txn begin A >/dev/null
  echo 11 | tk produce t --txn A --acks all -q
  tk txn commit A >/dev/null
  tk cluster stop 1
  tk failover t-0 >/dev/null
  tk replicate-sim t-0 --rounds 2 >/dev/null
  tk_is 0 consume t --isolation read_committed
  equal "$output" "$(seq 5 11)"
  tk_is 2 compact t --json
  error_is INVALID_REQUEST
}

@test "retain takes segments from the leader below the high watermark, and the followers go along" {
  tk cluster init --brokers 3 -q
  tk topics create t -c min.insync.replicas=2 -c segment.bytes=2048 -c retention.bytes=4096 -q
  seq 1 500 | tk produce t --acks all -q
  tk_is 0 retain --json
  local start
  start=$(jq -s '[.[] | select(.action == "deleted")] | last | .next_offset' <<<"$output")
  [ "$start" -gt 0 ]
  tk_is 0 consume t
  equal "$output" "$(seq $((start + 1)) 500)"
  tk replicate-sim t-0 --rounds 2 >/dev/null
  for id in 1 2 3; do
    equal "$(find "$TK_DIR/broker-$id/t-0" -name '*.log' | sort | head -n 1)" "$TK_DIR/broker-$id/t-0/$(printf '%020d' "$start").log"
  done
  tk cluster stop 1
  tk failover t-0 >/dev/null
  tk replicate-sim t-0 --rounds 2 >/dev/null
  tk_is 0 consume t
  equal "$output" "$(seq $((start + 1)) 500)"
  tk_is 0 verify
}

@test "consume -F shows a record when the followers have it, and not before" {
  tk cluster init --brokers 3 -q
  tk topics create t -c min.insync.replicas=2 -q
  echo 1 | tk produce t --acks all -q
  tk cluster stop 2 3
  echo 2 | tk produce t --acks 1 -q # on the leader's disk only
  "$TK" consume t -F -n 2 --idle-timeout 30000 >out &
  local pid=$!
  for ((i = 0; i < 100; i++)); do [ -s out ] && break || sleep 0.1; done
  sleep 0.5
  equal "$(cat out)" 1
  tk_is 0 consume t
  equal "$output" 1
  tk cluster start 2 3
  tk replicate-sim t-0 --rounds 2 >/dev/null
  wait $pid
  equal "$(cat out)" "$(printf '1\n2')"
}

@test "verify, dump-log and recover take a cluster's directory for those of its brokers and controllers" {
  tk cluster init --brokers 3 --controllers 3 -q
  tk topics create t -c min.insync.replicas=2 -q
  seq 1 20 | tk produce t --acks all -q
  tk_is 0 verify --json
  equal "$(rows 'select(.type == "summary") | [.partitions, .damage, .derived, .notes]')" "[6,0,0,0]"
  tk_is 0 verify t --json
  equal "$(rows 'select(.type == "summary") | [.partitions, .records]')" "[3,60]"
  printf 'X' | dd of="$TK_DIR/broker-2/t-0/$SEGMENT" bs=1 seek=100 conv=notrunc status=none
  tk_is 3 verify --json
  contains "$(jq -r 'select(.severity == "damage") | .file' <<<"$output")" "broker-2/t-0/$SEGMENT"
  tk_is 2 recover --json --truncate
  error_is INVALID_REQUEST
  tk_is 2 recover "$TK_DIR/broker-2/t-0" --json --truncate
  error_is INVALID_REQUEST
  tk_is 3 recover --dry-run
}
