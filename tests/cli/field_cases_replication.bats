#!/usr/bin/env bats
# Failures of real clusters, told in bug reports: replication, leader epochs, failover. Each has its case's number;
# R24, and replicas that are hurt by hand, are in cluster_damage.bats.
load common.bash

# scenario LINE...: runs the lines on real directories.
scenario() {
  printf '%s\n' "$@" >case.scenario
  tk_is 0 replicate-sim --scenario case.scenario
}

@test "R98: what an unclean election costs is counted: a replica, a level, a record" {
  tk cluster init --brokers 3 -q
  tk topics create t -p 1 --replicas 3 -c min.insync.replicas=2 -q
  seq 0 1 | tk produce t --acks all -q
  tk replicate-sim t-0 --rounds 1 >/dev/null
  tk cluster stop 3
  tk replicate-sim t-0 --tick 31000 >/dev/null
  seq 2 4 | tk produce t --acks all -q # two in sync
  tk cluster stop 2
  tk replicate-sim t-0 --tick 31000 >/dev/null
  seq 5 9 | tk produce t --acks 1 -q
  tk cluster stop 1
  tk cluster start 2 3
  tk_is 4 failover t-0 --to 3 --json
  error_is ELIGIBLE_LEADERS_NOT_AVAILABLE
  tk_is 0 failover t-0 --to 3 --unclean --json
  equal "$(rows '"\(.new_leader) \(.truncated) \(.committed_lost) \(.acked_lost)"')" '3 {"1":8,"2":3} 3 {"0":0,"1":5,"all":3}'
  tk cluster start 1
  tk_is 0 replicate-sim t-0 --rounds 3 --json
  equal "$(rows '"\(.broker) \(.leo)"')" "1 2 2 2 3 2"
}

@test "R99: a follower that restarts asks for the end of its epoch, and keeps what was acknowledged" {
  local story=("append m0" sync checkpoint "append m1" "fetch 2" "fetch 2 lose=reply" "bounce 2" "kill 1" "fence 1")
  scenario "config rf=2 min.isr=1" "${story[@]}" "expect log 2 = m0 m1 epochs=0@0,1@2 leo=2" "expect lost acks=all ="
  # The rule before leader epochs cuts at the high watermark.
  scenario "config rf=2 min.isr=1 trunc=hw" "${story[@]}" "expect log 2 = m0 leo=1" \
    "expect lost acks=all = m1" "expect-violation R3" "expect-violation R4"
}

@test "R100: two logs that differ at one offset become one again" {
  scenario "config rf=2 min.isr=1" "append m1" sync checkpoint flush "append m2" sync "kill 1" "kill 2 lose=1" \
    "fence 1" "fence 2" "start 2" "append m3" "start 1" "fetch 1" "expect reply diverging (0,1) truncated 1" sync \
    "expect log 1 = m1 m3" "expect log 2 = m1 m3" "expect logs-equal"
}

@test "R101: a follower with two epochs that the leader never saw goes back to the last one both know" {
  # Follower 2: epoch 0 to offset 10, then two epochs of its own to 25. Leader 1: epoch 0 to 15, then its own.
  scenario "config rf=2 min.isr=1 unclean=true" "append 0 1 2 3 4 5 6 7 8 9" sync "append 10 11 12 13 14 acks=1" \
    "kill 1" "fence 1" "append a0 a1 a2 a3 a4 a5 a6 a7 a8 a9" "bounce 2" "fence 2" "unfence 2" \
    "append b0 b1 b2 b3 b4" "kill 2" "fence 2" "start 1" "elect unclean to=1" "append c0 c1 c2 acks=1" "start 2" \
    "fetch 2" "expect reply diverging (0,15) truncated 15" sync \
    "expect log 2 = 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 c0 c1 c2" "expect logs-equal"
}

@test "R103: a follower that is ahead of its leader gives up what the leader lost, and not its whole log" {
  local ninety ten fifteen
  ninety=$(seq -s ' ' 0 89) ten=$(seq -s ' ' 90 99) fifteen=$(seq -s ' ' 200 214)
  # 2 leaves the ISR having all; the leader's disk loses ten records, and grows past them before 2 asks.
  scenario "config rf=2 min.isr=1" "append $ninety" sync flush "append $ten" sync "kill 2" "fence 2" "kill 1 lose=10" \
    "start 1" "append $fifteen" "start 2" "fetch 2" "expect reply diverging (0,90) truncated 10" sync \
    "expect log 2 = $ninety $fifteen" "expect logs-equal"
  # What was below is not fetched again.
  equal "$(jq -rc '.events[]? | select(.ev == "fetch" and .from >= 0) | .from' <<<"$output" | sort -n | uniq -c | awk '$2 < 90 && $2 > 0' | wc -l)" 0
}

@test "R105: the high watermark of a replica that cannot be seen is kept" {
  tk cluster init --brokers 2 -q
  for topic in t u; do
    tk topics create $topic -p 1 --replicas 2 -q
    seq 1 6 | tk produce $topic --acks all -q
  done
  tk cluster stop 2 --controlled
  grep -x 't 0 6' "$TK_DIR/broker-2/replication-offset-checkpoint"
  mv "$TK_DIR/broker-2/t-0" away
  seq 7 9 | tk produce t --acks all -q
  seq 7 9 | tk produce u --acks all -q
  grep -x 't 0 6' "$TK_DIR/broker-2/replication-offset-checkpoint"
  mv away "$TK_DIR/broker-2/t-0"
  tk cluster start 2
  tk_is 0 cluster status --json
  tk_is 0 replicate-sim t-0 --rounds 2 --json
  equal "$(rows '"\(.broker) \(.leo) \(.in_sync)"')" "1 9 true 2 9 true"
}

@test "R107: random kills, cuts, losses and elections lose nothing that was acknowledged to all" {
  tk_is 0 replicate-sim --seeds 1..60 --json
  equal "$(rows 'select(.failed != null) | .failed' | tail -n 1)" 0
  # The checker can fail: each rule that is switched off is found (a unit test goes through all of them).
  tk_is 3 replicate-sim --seeds 1..1000 --without epoch-truncation --shrink 0 --json
}

@test "a fetch under way does not bring a replica that was built anew back into the ISR" {
  scenario "config rf=2 min.isr=1" "append a b" sync "send 2" "rebuild 2" "deliver 1" "expect leader 1 epoch=0 isr=1" \
    sync "expect log 2 = a b" "expect leader 1 epoch=0 isr=1,2" "expect lost acks=all ="
}

@test "a clean stop vouches for no record that its disk lost since, committed to its knowledge or not" {
  # 3 has b and was stopped before it heard that b is committed; then its disk rots there.
  scenario "config rf=3 min.isr=2 elr=on" "append a" sync sync "append b" "fetch 2" "fetch 3" "fetch 2" "fetch 3 lose=reply" \
    "kill 2 clean" "fence 2" "kill 3 clean" "fence 3" "corrupt 3 off=1 byte=40" "kill 1 clean" "fence 1" \
    "start 3" "expect leader none" "start 1" sync "expect log 1 = a b" "expect log 3 = a b" "expect lost acks=all ="
}
