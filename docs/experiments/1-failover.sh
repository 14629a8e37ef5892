#!/usr/bin/env bash
# Three brokers: a follower dies and leaves the ISR, then the leader dies, another is elected, and consumers go on.
. "$(dirname "$0")/common.sh"
n=$(sized 1000 10)
sent=0 step=0
: > offsets.tsv
# send ACKS: n more records, numbered on.
send() {
  seq $((sent + 1)) $((sent + n)) | "$tk" produce t --acks "$1" -q
  sent=$((sent + n))
}
fetch() { "$tk" replicate-sim t-0 "$@" -q > /dev/null; }
# show WHAT: every replica as it is now; and a consumer of a group reads what it may.
show() {
  "$tk" replicate-sim t-0 --rounds 0 --json > replicas
  "$tk" consume t -g readers -q >> consumed
  jq -r --argjson step "$step" --arg read "$(wc -l < consumed)" -s \
    '(map(select(.role == "leader"))[0].hw) as $hw | [$step, .[].leo, $hw, $read] | @tsv' replicas >> offsets.tsv
  # shellcheck disable=SC2046
  row '%s  %-44s %6s %6s %6s %6s %6s' "$step" "$1" \
    $(jq -r '"\(.leo)\(if .role == "leader" then "L" elif .in_sync then "s" else "-" end)"' replicas) \
    $(tail -n 1 offsets.tsv | cut -f 5-6)
  step=$((step + 1))
}
"$tk" cluster init --brokers 3 -q
"$tk" topics create t -c min.insync.replicas=2 -q
say "Log end of each broker (L leads, s is in sync, - is not), high watermark, and what a consumer has read:"
row '%s  %-44s %6s %6s %6s %6s %6s' "" "" " 1 " "2 " "3 " hw read
send all; fetch;                              show "$n records, acks=all"
send 1;                                       show "$n more, acks=1: the leader alone has them"
fetch --rounds 2;                             show "the followers fetch"
"$tk" cluster stop 3; send 1; fetch --rounds 2; show "broker 3 dies; $n more: no commit"
fetch --tick 31000; fetch;                    show "31 s later it leaves the ISR: commit"
"$tk" cluster stop 1
"$tk" failover t-0 --json > failover;         show "broker 1, the leader, dies: 2 is elected"
"$tk" produce t --acks all -q <<< refused 2> refused || refusal=$?
send 1; fetch;                                show "$n more, acks=1, on the new leader"
"$tk" cluster start 3; fetch --rounds 3;      show "broker 3 is back, and in sync again"
"$tk" cluster start 1; fetch --rounds 3;      show "broker 1, too"
send all; fetch;                              show "$n more, acks=all"
say "What was seen:"
claim "elected" "$(jq -r '"\(.old_leader) -> \(.new_leader), ISR \(.isr)"' failover)" "1 -> 2, ISR [2]"
claim "committed records lost" "$(jq .committed_lost failover)" 0
claim "acks=all with one replica of two: exit" "${refusal:-0}" 4
claim "read" "$(wc -l < consumed)" "$sent"
claim "read in order, each once" "$(cmp consumed <(seq "$sent") && echo yes)" yes
