#!/usr/bin/env bash
# Order: records of one key stay in order while the consumers of six partitions become 1, then 3, then 6; records of
# different keys do not.
. "$(dirname "$0")/common.sh"
n=$(sized 6000 600) # records, in three parts
keys=40
members=()
trap 'kill "${members[@]}" 2> /dev/null || true' EXIT
# All members append to one file, each write at once: its order is the order in which records were worked on.
start() {
  local m
  for m in "$@"; do
    "$tk" consume t -g scale --member "c$m" -F -f "c$m %p %o %k %s\n" --heartbeat-ms 100 -q >> processed &
    members+=($!)
  done
}
# shared COUNT: waits until COUNT members share the six partitions and nobody has to give one up.
shared() {
  for _ in $(seq 300); do
    "$tk" groups describe scale --members --json > who 2> /dev/null || true
    [ -s who ] && [ "$(jq -s "length == $1 and all(.[]; (.partitions | length) == 6 / $1 and .revoking == [])" who)" = true ] && break
    sleep 0.1
  done
  claim "members, partitions of each" "$(jq -s 'length' who), $(jq -rs 'map(.partitions | length | tostring) | unique | join(" ")' who)" "$1, $((6 / $1))"
}
drained() {
  for _ in $(seq 300); do
    [ "$(wc -l < processed)" -lt "$1" ] || break
    sleep 0.1
  done
}
# send FROM: a third of the records, key k(i mod 40), value i; a few at a time.
send() {
  local i part=$((n / 30))
  for ((i = $1; i < $1 + n / 3; i += part)); do
    seq "$i" $((i + part - 1)) | awk -v k=$keys '{print "k" ($1 % k) ":" $1}' | "$tk" produce t -K : -q
    sleep 0.05
  done
}
"$tk" topics create t -p 6 -q
: > processed
say "One consumer, then three, then six, while $n records of $keys keys come:"
start 1; shared 1
send 1 & sender=$!
start 2 3; wait $sender; shared 3
send $((n / 3 + 1)) & sender=$!
start 4 5 6; wait $sender; shared 6
send $((2 * n / 3 + 1))
drained "$n"
kill -TERM "${members[@]}"
wait "${members[@]}" || true
members=()
say "The checker, over what was worked on, in the order of the work:"
awk -v n="$n" '
  { if (seen[$5]++) twice++
    if ($4 in last && $5 <= last[$4]) broken++
    if ($4 in by && by[$4] != $1) moved[$4]
    last[$4] = $5; by[$4] = $1
    if ($5 < before) back++
    before = $5; who[$1]++ }
  END { for (k in moved) changed++
    for (w in who) consumers++
    printf "%d %d %d %d %d %d\n", NR, twice, broken, back, consumers, changed }' processed > checked
read -r lines twice broken back consumers changed < checked
# Which consumer worked on which partition, from where to where: for the plot.
awk '{ if (!($2 in by) || by[$2] != $1) { if ($2 in by) print $2, from[$2], to[$2], by[$2]; from[$2] = NR; by[$2] = $1 } to[$2] = NR }
  END { for (p in by) print p, from[p], to[p], by[p] }' processed | sort -n > handovers.tsv
claim "records, done twice" "$lines, $twice" "$n, 0"
claim "consumers" "$consumers" 6
at_least "keys that changed their consumer" "$changed" 1
claim "records behind a later one of the same key" "$broken" 0
at_least "records behind a later one of another key" "$back" 1
