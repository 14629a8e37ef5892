#!/usr/bin/env bash
# Inside segments: batches, codecs and producer ids, in what tk wrote and in what a real Kafka 4.4 broker left.
. "$(dirname "$0")/common.sh"
n=$(sized 20000 1000)
fixture=${FIXTURE:?FIXTURE=directory of an unpacked kafka-4.4-clean (scripts/experiments.sh sets it)}
# inside NAME PATH: a line about all batches of a partition, from dump-log.
inside() {
  "$tk" dump-log "$2" --json | jq -rs --arg name "$1" 'map(select(.type == "batch" and .file != null)) as $b
    | ($b | map(select(.control | not))) as $data
    | [$name, ($data | length), ([$data[].count] | add), ([$data[].size] | add), ([$data[].codec] | unique | join(",")),
       ([$b[].producer_id | select(. >= 0)] | unique | length), ($b | map(select(.transactional)) | length),
       ($b | map(select(.control)) | length), ($b | map(select(.valid | not)) | length)] | @tsv' >> inside.tsv
}
: > inside.tsv
say "tk writes $n lines five times, once with a named producer, once in a transaction:"
seq -f 'line %.0f of a text that repeats itself' "$n" > lines.txt
for codec in none gzip snappy lz4 zstd; do
  "$tk" produce "tk-$codec" lines.txt --format kafka -z $codec -q
  inside "tk-$codec" "$TK_DIR/tk-$codec-0"
done
"$tk" produce tk-named lines.txt --format kafka --producer import-1 -q
inside tk-named "$TK_DIR/tk-named-0"
"$tk" txn begin a > /dev/null
"$tk" produce tk-txn lines.txt --format kafka --txn a -q
"$tk" txn commit a
inside tk-txn "$TK_DIR/tk-txn-0"
for p in codec-none codec-gzip codec-snappy codec-lz4 codec-zstd txn; do inside "broker-$p" "$fixture/data/$p-0"; done
row '%-20s %8s %8s %9s %-7s %10s %6s %8s %8s' partition batches records bytes codec producers in-txn markers damaged
while IFS=$'\t' read -r a b c d e f g h i; do row '%-20s %8s %8s %9s %-7s %10s %6s %8s %8s' "$a" "$b" "$c" "$d" "$e" "$f" "$g" "$h" "$i"; done < inside.tsv
say "What was seen:"
column() { awk -F '\t' -v name="$1" -v column="$2" '$1 == name {print $column}' inside.tsv; }
for codec in none gzip snappy lz4 zstd; do
  claim "$codec: records, codec" "$(column tk-$codec 3) $(column tk-$codec 5)" "$n $codec"
  claim "$codec, broker: records, codec" "$(column broker-codec-$codec 3) $(column broker-codec-$codec 5)" \
    "$(wc -l < "$fixture/records/codec-$codec-0.ndjson") $codec"
done
claim "a named producer: producer ids" "$(column tk-named 6)" 1
claim "a transaction: markers" "$(column tk-txn 8)" 1
claim "damaged batches" "$(awk -F '\t' '{n += $9} END {print n}' inside.tsv)" 0
