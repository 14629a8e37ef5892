#!/usr/bin/env bats
# A cluster whose replicas' files are hurt: who leads, what is copied, what is kept (docs/replication.md, Rules).
load common.bash

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
  equal "$(rows 'select(.broker == 2) | .leo')" 1
  cmp damaged c/broker-1/t-0/$SEGMENT
  cmp <(head -c 69 damaged) c/broker-2/t-0/$SEGMENT
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

# lagging FORMAT [CONFIG]: a cluster of 2 in c; broker 1 leads t with 3 records, broker 2 is alive, has none, and is not in sync.
lagging() {
  rm -rf c
  tk -d c cluster init --brokers 2 -q
  tk -d c topics create t -p 1 --replicas 2 --format $1 ${2:-} -q
  tk -d c cluster stop 2
  for record in a b d; do echo $record | tk -d c produce t --acks 1 -q; done
  tk -d c cluster start 2 2>/dev/null
}

@test "R24: whichever byte of the leader's second batch is flipped, the follower has the first, and nothing else" {
  for format in kafka json; do
    lagging $format
    units c/broker-1/t-0/$SEGMENT >places
    local from size byte held
    read -r from size < <(awk '$1 == 1 { print $2, $3 }' places)
    for ((byte = from; byte < from + size; byte += 3)); do
      rm -rf d && cp -r c d
      held=$(xxd -s $byte -l 1 -p d/broker-1/t-0/$SEGMENT)
      poke d/broker-1/t-0/$SEGMENT $byte "$(printf %02x $((0x$held ^ 0x41)))"
      cp d/broker-1/t-0/$SEGMENT damaged
      tk_is 3 -d d replicate-sim t-0 --rounds 3 --json
      contains "$stderr" "$SEGMENT"
      equal "$byte: $(rows 'select(.broker == 2) | "\(.leo) \(.in_sync)"')" "$byte: 1 false"
      cmp <(head -c $from damaged) d/broker-2/t-0/$SEGMENT
      cmp damaged d/broker-1/t-0/$SEGMENT
    done
  done
}

@test "R24: a follower in sync has what is good of a damaged leader before it leads, and what is lost is told" {
  export TK_DIR=$PWD/c
  tk cluster init --brokers 2 -q
  for topic in t u; do tk topics create $topic -p 1 --replicas 2 --format kafka -q; done
  for record in a b d; do echo $record | tk produce t --acks 1 -q; done
  echo c | tk produce u --acks 1 -q
  printf '\377' | dd of=c/broker-1/t-0/$SEGMENT bs=1 seek=135 conv=notrunc status=none
  tk_is 3 replicate-sim t-0 --json
  error_is CORRUPT_MESSAGE
  equal "$(tail -n 1 <<<"$stderr" | jq -r '"\(.path) \(.position)"')" "$PWD/c/broker-1/t-0/$SEGMENT 69"
  equal "$(rows 'select(.broker == 2) | "\(.role) \(.leo)"')" "leader 1"
  tk_is 0 replicate-sim u-0 --json
  equal "$(rows '"\(.broker) \(.leo)"')" "1 1 2 1"
  tk_is 0 replicate-sim t-0 --rounds 3 --json
  equal "$(rows '"\(.broker) \(.leo) \(.in_sync)"')" "1 1 true 2 1 true"
  tk_is 0 consume t
  equal "$output" a
}

@test "R24: a follower that has more than what is good of its leader gives up nothing" {
  for format in json kafka; do
    for how in flip gone emptied; do
      rm -rf c
      export TK_DIR=$PWD/c
      tk cluster init --brokers 2 -q
      tk topics create t -p 1 --replicas 2 --format $format -q
      for i in 1 2 3 4 5 6; do echo r$i | tk produce t --acks all -q; done
      tk cluster stop 2
      echo r7 | tk produce t --acks 1 -q
      tk cluster start 2 2>/dev/null # killed: it has all but the last, and is not in sync
      cp c/broker-2/t-0/$SEGMENT before
      hurt $how 1
      tk_is 3 replicate-sim t-0 --rounds 3 --json
      error_is CORRUPT_MESSAGE
      equal "$how: $(rows 'select(.broker == 2) | "\(.leo) \(.in_sync)"')" "$how: 6 false"
      cmp before c/broker-2/t-0/$SEGMENT
    done
  done
}

@test "damage in a closed segment of a leader is named by the follower that finds it, which keeps what lies before" {
  tk cluster init --brokers 2 -q
  tk topics create t -p 1 --replicas 2 --format kafka -c segment.bytes=4096 -q
  tk cluster stop 2
  for ((i = 0; i < 100; i++)); do printf '%0100d\n' $i; done | tk produce t --acks 1 --batch-size 1 -q
  [ "$(segment_files logs/broker-1/t-0 | wc -l)" -gt 1 ]
  # In the last byte of the sixth batch.
  units logs/broker-1/t-0/$SEGMENT >places
  local at size
  read -r at size < <(awk '$1 == 5 { print $2, $3 }' places)
  poke logs/broker-1/t-0/$SEGMENT $((at + size - 1)) 40
  tk cluster start 2 2>/dev/null
  tk_is 3 replicate-sim t-0 --rounds 3 --json
  error_is CORRUPT_MESSAGE
  equal "$(tail -n 1 <<<"$stderr" | jq -r '"\(.path) \(.position)"')" "$TK_DIR/broker-1/t-0/$SEGMENT $at"
  equal "$(rows 'select(.broker == 2) | "\(.leo) \(.in_sync)"')" "5 false"
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

@test "a leader that lost its first segment takes it from no follower; one that deleted it on purpose does" {
  for format in json kafka; do
    lagging $format "-c segment.bytes=128"
    echo e | tk -d c produce t --acks 1 -q
    [ "$(segment_files c/broker-1/t-0 | wc -l)" -gt 2 ]
    tk_is 0 -d c replicate-sim t-0 --rounds 1 --only 2 --json
    cat c/broker-2/t-0/*.log >before
    cp -r c d
    rm c/broker-1/t-0/$SEGMENT
    tk_is 0 -d c replicate-sim t-0 --rounds 3 --json
    cat c/broker-2/t-0/*.log >after
    cmp before after
    # One that still needs what is lost keeps what it has, and is named.
    lagging $format "-c segment.bytes=128"
    rm c/broker-1/t-0/$SEGMENT
    tk_is 3 -d c replicate-sim t-0 --rounds 3 --json
    error_is CORRUPT_MESSAGE
    contains "$stderr" c/broker-1/t-0
    equal "$(rows 'select(.broker == 2) | "\(.leo) \(.in_sync)"')" "0 false"
    # On purpose.
    tk_is 0 -d d replicate-sim t-0 --rounds 2 --json
    tk_is 0 -d d delete-records t-0=2
    tk_is 0 -d d replicate-sim t-0 --rounds 2 --json
    [ ! -e d/broker-2/t-0/$SEGMENT ]
  done
}
