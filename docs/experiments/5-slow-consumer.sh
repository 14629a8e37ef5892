#!/usr/bin/env bash
# A consumer that works longer on its records than max.poll.interval.ms is expelled: its late commit is refused, and others do
# its work again. Smaller batches help, and so does polling without taking records. The clock is $TK_NOW, so nothing waits.
. "$(dirname "$0")/common.sh"
n=$(sized 200 40)
interval=1000 # ms between polls, at most
cost=100      # ms of work on a record
export TK_NOW=1700000000000
"$tk" topics create orders -q
seq "$n" | "$tk" produce orders -q
# poll MEMBER COUNT: takes records, without a commit.
poll() { "$tk" consume orders -g "$group" --member "$1" --max-poll-interval $interval -n "$2" --commit none -q; }
work() { # MEMBER: the work on the records of standard input, which are noted; time goes by
  local record
  while read -r record; do
    printf '%s %s\n' "$record" "$1" >> "$group.done"
    TK_NOW=$((TK_NOW + cost))
  done
}
position() { "$tk" groups describe "$group" --json | jq '.committed // 0'; }
epoch() { "$tk" groups describe "$group" --members --json | jq -r --arg m "$1" 'select(.member == $m) | .member_epoch'; }
# run GROUP BATCH PAUSE: slow takes batches until it has done all, or is expelled; other looks in whenever slow has worked, and
# takes what is free. PAUSE: slow polls for nothing after every PAUSE records.
run() {
  group=$1
  local batch=$2 pause=$3 next=0 code
  refused=0
  while [ "$next" -lt "$n" ]; do
    poll slow "$batch" > taken
    [ -s taken ] || break
    generation=$(epoch slow)
    if [ "$pause" -gt 0 ]; then
      split -l "$pause" taken part.
      for part in part.*; do work slow < "$part"; poll slow 0; done
      rm part.*
    else
      work slow < taken
    fi
    next=$((next + $(wc -l < taken)))
    # Another member comes by. If slow is over its time, it is expelled now, and what it had is read again.
    "$tk" rebalance "$group" --expire -q > /dev/null
    code=0
    "$tk" commit "$group" "orders-0=$next" --member slow --generation "$generation" --json > /dev/null 2> refusal || code=$?
    if [ "$code" -ne 0 ]; then
      refused=$code
      break
    fi
  done
  while poll other 5 > taken && [ -s taken ]; do
    work other < taken
    "$tk" commit "$group" "orders-0=$(($(position) + $(wc -l < taken)))" --member other --generation "$(epoch other)" -q > /dev/null
  done
  "$tk" rebalance "$group" --leave slow -q > /dev/null 2>&1 || true
  duplicates=$(cut -d ' ' -f 1 "$group.done" | sort | uniq -d | wc -l)
  row '%-42s %10s %8s %11s' "$4" "$(cut -d ' ' -f 1 "$group.done" | sort -u | wc -l)" "$refused" "$duplicates"
}
row '%-42s %10s %8s %11s' "$cost ms a record, poll interval $interval ms" "done" refused duplicates
run big 20 0 "batches of 20: 2000 ms"
claim "the late commit" "$(tail -n 1 refusal | jq -r .error), exit $refused" "UNKNOWN_MEMBER_ID, exit 4"
claim "expelled because of" "$("$tk" groups events big --json | jq -r 'select(.ev == "expire") | .detail.deadline' | head -n 1)" poll
claim "the group's history has the refusal" "$("$tk" groups events big --json | jq -r 'select(.ev == "fenced") | "\(.member) \(.detail.error)"')" "slow UNKNOWN_MEMBER_ID"
claim "done twice" "$duplicates" 20
run small 5 0 "batches of 5: 500 ms"
claim "refused, done twice" "$refused $duplicates" "0 0"
run paused 20 5 "batches of 20, a poll after every 5"
claim "refused, done twice" "$refused $duplicates" "0 0"
