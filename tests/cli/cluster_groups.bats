# Consumer groups over the topics of a cluster (cli.md §6, §7): files beside the broker directories, one view of the topics.
load common

setup() {
  [ -x "$TK" ] || { echo "no executable at $TK: build first, or set TK"; return 1; }
  cd "$BATS_TEST_TMPDIR" || return 1
  export TK_DIR=$PWD/cluster
  tk cluster init --brokers 3 -q
  tk topics create t -p 2 -c min.insync.replicas=2 -q
}
teardown() {
  local pid
  for pid in $(jobs -p); do kill -KILL "$pid" 2> /dev/null || true; done
}
# leader PARTITION: who leads it.
leader() { tk replicate-sim "t-$1" --rounds 0 --json | jq 'select(.role == "leader").broker'; }
committed() { tk groups describe g --json | jq -c '[.partition, .committed]' | tr -d '\n'; }
lines_of() {
  local end=$((SECONDS + 15))
  until [ "$(wc -l < "$1")" -ge "$2" ]; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.05
  done
}

@test "a group reads, commits and is described as anywhere else; its files lie beside the brokers' directories" {
  seq 10 | tk produce t --partitioner round-robin -q
  equal "$(tk consume t -g g | sort -n)" "$(seq 10)"
  equal "$(committed)" "[0,5][1,5]"
  tk commit g t-0=3 -q
  equal "$(tk consume t -g g | wc -l)" 2
  tk_is 4 commit g t-0=6 --json
  error_is OFFSET_OUT_OF_RANGE
  tk_is 0 rebalance h --topic t --join a --join b --json
  equal "$(rows '.partitions[]')" "t-0 t-1"
  equal "$(cd cluster && ls group-*.json)" $'group-g.json\ngroup-h.json'
  local broker
  for broker in 1 2 3; do [ -z "$(find cluster/broker-$broker -name 'group-*')" ]; done
  # One broker's directory is not for writing.
  tk_is 4 -d cluster/broker-2 commit g t-0=1 --json
  error_is NOT_LEADER_OR_FOLLOWER
}

@test "nobody leads: consume is refused and leaves the group, others go on; commits are kept through a failover" {
  seq 10 | tk produce t --partitioner round-robin -q
  tk consume t -g g -q > /dev/null
  local before
  before=$(leader 0)
  tk cluster stop "$before" -q
  tk_is 4 consume t -g g --json
  error_is LEADER_NOT_AVAILABLE
  equal "$(tk groups describe g --state --json | jq -c '[.state, .members]')" '["Empty",0]'
  tk_is 4 groups describe g --json
  equal "$(jq -c 'select(.partition == 0) | [.committed, .end_offset, .note]' <<< "$output")" '[5,null,"no live leader"]'
  # What was read may be committed all the same.
  tk_is 0 commit g t-0=4
  tk_is 0 failover t-0
  [ "$(leader 0)" != "$before" ]
  # The new leader's high watermark may be behind the commit: its log is not, and nothing is read twice.
  tk_is 0 groups describe g --json
  equal "$(jq -c 'select(.partition == 0) | [.committed, .log_end_offset, .note]' <<< "$output")" '[4,5,null]'
  tk_is 0 consume t -g g
  equal "$stderr" ""
  echo 11 | tk produce t -p 0 -q
  equal "$({ echo "$output"; tk consume t -g g; } | grep -c .)" 2
  equal "$(committed)" "[0,6][1,5]"
}

@test "a running member keeps nobody out, and goes on through a failover" {
  seq 10 | tk produce t --partitioner round-robin -q
  "$TK" consume t -g g -F --heartbeat-ms 200 > out 2> errors 3>&- &
  local member=$! code=0
  lines_of out 10
  seq 11 20 | tk produce t --partitioner round-robin -q --lock-timeout 2000
  lines_of out 20
  tk cluster stop "$(leader 0)" -q
  tk failover t-0 -q
  seq 21 30 | tk produce t --partitioner round-robin -q
  lines_of out 30
  kill -TERM $member
  wait $member || code=$?
  equal "$code" 143
  equal "$(sort -n out)" "$(seq 30)"
  equal "$(committed)" "[0,15][1,15]"
  equal "$(cat errors)" ""
}
