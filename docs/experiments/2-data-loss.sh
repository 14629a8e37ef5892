#!/usr/bin/env bash
# Data loss: with acks=1 the leader dies right after the writes; with acks=all nothing is lost. Then a thousand random histories.
. "$(dirname "$0")/common.sh"
n=$(sized 500 50)
histories=$(sized 1000 100)
# die_after ACKS: n committed records, then n with these acks; the leader dies at once, another is elected, the old one follows.
die_after() {
  export TK_DIR=$PWD/acks-$1
  "$tk" cluster init --brokers 3 -q
  "$tk" topics create t -c min.insync.replicas=2 -q
  seq "$n" | "$tk" produce t --acks all -q
  seq $((n + 1)) $((2 * n)) | "$tk" produce t --acks "$1" -q
  "$tk" cluster stop 1
  "$tk" failover t-0 --json > "failover-$1"
  "$tk" cluster start 1
  "$tk" replicate-sim t-0 --rounds 3 -q > /dev/null
  seq $((2 * n)) > acknowledged
  "$tk" consume t > "left-$1"
  comm -23 <(sort acknowledged) <(sort "left-$1") | sort -n > "lost-$1"
}
for acks in 1 all; do
  die_after $acks
  say "acks=$acks: $((2 * n)) records acknowledged, then the leader died"
  if [ -s lost-$acks ]; then say "  lost: $(wc -l < lost-$acks), the records $(head -n 1 lost-$acks) to $(tail -n 1 lost-$acks)"; else say "  lost: none"; fi
  claim "failover counted" "$(jq -r .acked_lost.\"$acks\" failover-$acks)" "$(wc -l < lost-$acks)"
done
claim "acks=1: which were lost" "$(cmp lost-1 <(seq $((n + 1)) $((2 * n))) && echo "those behind the high watermark")" "those behind the high watermark"
claim "acks=all: lost" "$(wc -l < lost-all)" 0

say "$histories random histories of 500 steps: crashes, power cuts, lost messages, elections; producers of each acks level"
"$tk" replicate-sim --seeds "1..$histories" --json > seeds.json
jq -rs 'map(select(.seed)) as $all | ["0","1","all"][] as $level
  | [$level, ([$all[].acked[$level]] | add), ([$all[].lost[$level]] | add), ($all | map(select(.lost[$level] > 0)) | length)] | @tsv' seeds.json > totals.tsv
row '  %-8s %12s %8s %20s' acks acknowledged lost "histories with loss"
while IFS=$'\t' read -r acks acked lost with; do row '  %-8s %12s %8s %20s' "$acks" "$acked" "$lost" "$with"; done < totals.tsv
# How many histories lost 0, 1-4, 5-9 ... acknowledged records, a column an acks level.
jq -rs 'def bucket: if . == 0 then 0 elif . < 5 then 1 elif . < 10 then 2 elif . < 15 then 3 elif . < 20 then 4 else 5 end;
  map(select(.seed)) as $all | ["0","1-4","5-9","10-14","15-19","20+"] | to_entries[]
  | .key as $b | [.value, (["0","1","all"][] as $l | $all | map(select((.lost[$l] | bucket) == $b)) | length)] | @tsv' seeds.json > histogram.tsv
row '  %-14s %7s %7s %9s' "records lost" acks=0 acks=1 acks=all
while IFS=$'\t' read -r lost a b c; do row '  %-14s %7s %7s %9s' "$lost" "$a" "$b" "$c"; done < histogram.tsv
claim "acks=all: lost" "$(awk '$1 == "all" {print $3}' totals.tsv)" 0
claim "histories that break a rule" "$(jq -rs 'map(select(.violations != null and .violations != [])) | length' seeds.json)" 0
at_least "acks=1: lost" "$(awk '$1 == "1" {print $3}' totals.tsv)" 1
