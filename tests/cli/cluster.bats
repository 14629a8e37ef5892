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

# three_of FORMAT: a cluster of three in ./FORMAT, with six records of acks=all in t-0, led by broker 1.
three_of() {
  rm -rf "$1"
  export TK_DIR=$PWD/$1
  tk cluster init --brokers 3 -q
  tk topics create t -p 1 --replicas 3 --format "$1" -c min.insync.replicas=2 -q
  for ((i = 1; i <= 6; i++)); do echo "r$i" | tk produce t --acks all -q; done
}

# hurt HOW BROKER: what somebody's hand, or a disk, does to a replica whose broker is up.
hurt() {
  local log=$TK_DIR/broker-$2/t-0/$SEGMENT
  case $1 in
    flip) printf '\377' | dd of="$log" bs=1 seek=135 conv=notrunc status=none ;; # in the second or third record
    gone) rm -r "$TK_DIR/broker-$2/t-0" ;;
    emptied) truncate -s 0 "$log" ;;
    cut) truncate -s -20 "$log" ;; # in the last record, which was acknowledged
    tail) printf '\377' | dd of="$log" bs=1 seek=$(($(stat -c %s "$log") - 5)) conv=notrunc status=none ;;
  esac
}

@test "a replica that is damaged or deleted by hand takes no record along" {
  for format in json kafka; do
    for how in flip gone emptied cut tail; do
      for broker in 1 2; do
        three_of $format
        hurt $how $broker
        tk_is 0 replicate-sim t-0 --rounds 3 --json
        contains "$stderr" "broker-$broker/t-0"
        # Whoever leads now: all of them have all of it, and are in the ISR again.
        equal "$(rows '"\(.broker) \(.leo) \(.hw) \(.in_sync)"')" "1 6 6 true 2 6 6 true 3 6 6 true"
        tk_is 0 consume t
        equal "$output" "$(printf 'r%s\n' 1 2 3 4 5 6)"
        echo r7 | tk produce t --acks all -q
        for other in 2 3; do cmp "$TK_DIR/broker-1/t-0/$SEGMENT" "$TK_DIR/broker-$other/t-0/$SEGMENT"; done
      done
    done
  done
}

@test "a replica that was damaged while its broker was down comes back as one that lost its records" {
  three_of kafka
  tk cluster stop 1 --controlled
  hurt gone 1
  tk cluster stop 2 3
  tk_is 0 cluster start 1
  # The mark of the clean stop vouches for nothing that is not there: broker 1 leads no more.
  tk_is 4 failover t-0 --to 1 --json
  tk cluster start 2 3
  tk_is 0 replicate-sim t-0 --rounds 3 --json
  equal "$(rows '"\(.broker) \(.leo) \(.in_sync)"')" "1 6 true 2 6 true 3 6 true"
  tk_is 0 consume t
  equal "$output" "$(printf 'r%s\n' 1 2 3 4 5 6)"
}

@test "damage to the only replica that may lead is named, and nothing is cut" {
  for how in flip gone emptied; do
    three_of json
    tk cluster stop 2 --controlled
    tk cluster stop 3 --controlled # in the ELR: one in-sync replica is less than two
    hurt $how 1
    local log=$TK_DIR/broker-1/t-0/$SEGMENT
    [ $how = gone ] || cp "$log" damaged
    for command in "replicate-sim t-0 --rounds 3" "consume t" "produce t --acks 1"; do
      tk_is 3 $command --json <<<more
      error_is CORRUPT_MESSAGE
      contains "$stderr" broker-1/t-0
      [ $how = gone ] || cmp damaged "$log"
    done
    # Another that has all of it comes back, and leads.
    tk cluster start 3 2>/dev/null || true
    tk_is 0 replicate-sim t-0 --rounds 3 --json
    equal "$(rows 'select(.role == "leader") | "\(.broker) \(.leo)"')" "3 6"
    tk cluster start 2
    tk_is 0 replicate-sim t-0 --rounds 3 --json
    equal "$(rows '"\(.broker) \(.leo) \(.in_sync)"')" "1 6 true 2 6 true 3 6 true"
  done
}

@test "R24: damage in a leader's log is named, the follower stops at the last good batch, other partitions go on" {
  export TK_DIR=$PWD/c
  tk cluster init --brokers 2 -q
  for topic in t u; do tk topics create $topic -p 1 --replicas 2 --format kafka -q; done
  tk cluster stop 2
  for record in a b d; do echo $record | tk produce t --acks 1 -q; done
  echo c | tk produce u --acks 1 -q
  # The second of three batches of 69 bytes.
  printf '\377' | dd of=c/broker-1/t-0/$SEGMENT bs=1 seek=135 conv=notrunc status=none
  cp c/broker-1/t-0/$SEGMENT damaged
  tk cluster start 2 2>/dev/null || true
  tk_is 3 replicate-sim t-0 --rounds 3 --json
  error_is CORRUPT_MESSAGE
  contains "$stderr" "$SEGMENT"
  equal "$(rows 'select(.broker == 2) | .leo')" 0
  cmp damaged c/broker-1/t-0/$SEGMENT
  tk replicate-sim u-0 --rounds 3 --json >out 2>/dev/null || true
  equal "$(jq -r '"\(.broker) \(.leo) \(.in_sync)"' out | tr '\n' ' ')" "1 1 true 2 1 true "
  # As a broker does at its start: what is left is served, what was cut is kept.
  tk cluster stop 1 2>/dev/null || true
  tk_is 0 cluster start 1
  contains "$stderr" "$SEGMENT: damage at byte 69"
  cmp <(tail -c +70 damaged) c/broker-1/t-0/$SEGMENT.cut-69
  tk_is 0 replicate-sim t-0 --rounds 3 --json
  equal "$(rows '"\(.broker) \(.leo)"')" "1 1 2 1"
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

@test "produce gives the cluster's lock up while its input pauses, and finds the new leader" {
  tk cluster init --brokers 3 -q
  tk topics create t -c min.insync.replicas=2 -q
  mkfifo in
  "$TK" produce t --acks all -q <in &
  local pid=$!
  exec 5>in
  echo a >&5
  for ((i = 0; i < 100; i++)); do [ "$(tk consume t)" = a ] && break || sleep 0.1; done
  equal "$(tk consume t)" a
  # The writer lives, and others change the cluster: another broker leads.
  tk cluster stop 1 --lock-timeout 5000
  tk failover t-0 --lock-timeout 5000 >/dev/null
  echo b >&5
  exec 5>&-
  wait $pid
  tk replicate-sim t-0 --rounds 2 >/dev/null
  tk_is 0 consume t
  equal "$output" "$(printf 'a\nb')"
  # Each slice is a line of the events.
  tk_is 0 cluster events
  equal "$(jq -rc 'select(.op == "append") | .args[0]' <<<"$output" | tr '\n' ';')" "t-0 0..0;t-0 1..1;"
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

@test "a flipped byte on a broker's disk is found by a scrub, and the log built anew from the leader" {
  tk cluster init --brokers 3 -q
  tk topics create t -c min.insync.replicas=2 -c segment.bytes=4096 -q
  seq 1 200 | tk produce t --acks all -q
  # In a closed segment: what the opening of a replica does not look at.
  printf 'X' | dd of="$TK_DIR/broker-2/t-0/$SEGMENT" bs=1 seek=100 conv=notrunc status=none
  tk_is 3 verify "$TK_DIR/broker-2"
  tk_is 0 replicate-sim t-0 --step "scrub 2"
  contains "$(jq -r .reply <<<"$output")" "damaged at 1, rebuilt from 1"
  tk_is 0 replicate-sim t-0 --rounds 3 --json
  equal "$(rows '"\(.broker) \(.leo) \(.in_sync)"')" "1 200 true 2 200 true 3 200 true"
  tk_is 0 verify "$TK_DIR/broker-2"
  cmp "$TK_DIR/broker-1/t-0/$SEGMENT" "$TK_DIR/broker-2/t-0/$SEGMENT"
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
