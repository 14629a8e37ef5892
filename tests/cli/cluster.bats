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

@test "R24: damage in a leader's log is named and kept, the follower stops at the last good batch, other partitions go on" {
  export TK_DIR=$PWD/c
  tk cluster init --brokers 2 -q
  for topic in t u; do tk topics create $topic -p 1 --replicas 2 --format kafka -q; done
  tk cluster stop 2
  for record in a b d; do echo $record | tk produce t --acks 1 -q; done
  echo c | tk produce u --acks 1 -q
  # The second of three batches of 69 bytes.
  printf '\377' | dd of=c/broker-1/t-0/$SEGMENT bs=1 seek=135 conv=notrunc status=none
  cp c/broker-1/t-0/$SEGMENT damaged
  tk_is 0 cluster start 2
  contains "$stderr" "$SEGMENT: damage at byte 69"
  tk_is 0 replicate-sim t-0 --rounds 3 --json
  equal "$(rows '"\(.broker) \(.leo)"')" "1 1 2 1"
  cmp <(tail -c +70 damaged) c/broker-1/t-0/$SEGMENT.cut-69
  tk_is 0 replicate-sim u-0 --rounds 3 --json
  equal "$(rows '"\(.broker) \(.leo) \(.in_sync)"')" "1 1 true 2 1 true"
}
