# The first promise: append, roll, reopen, read from the middle, and survive a cut at any byte of the last record.
load common

fifty_records() { # FORMAT: 50 keyed records in ten runs, tiny segments
  tk_is 0 topics create orders -p 1 --format "$1" -c segment.bytes=1024
  local from j # not i: bats' own run uses that name
  for ((from = 0; from < 50; from += 5)); do
    for ((j = from; j < from + 5; j++)); do echo "user-$((j % 4)):order $j, of some length, so that the segments roll"; done > lines
    tk_is 0 produce orders --json -K : < lines
    equal "$(rows '[.topic, .partition, .base_offset, .last_offset, .count] | @csv' | tail -n 1)" "\"orders\",0,$from,$((from + 4)),5"
  done
}

read_back() {
  [ "$(segment_files logs/orders-0 | wc -l)" -ge 3 ]
  tk_is 0 consume orders -J
  equal "$(rows '"\(.offset) \(.key) \(.value)"')" "$(for i in {0..49}; do echo -n "$i user-$((i % 4)) order $i, of some length, so that the segments roll "; done | sed 's/ $//')"
  tk_is 0 consume orders -J -o 27 -n 3
  equal "$(rows .offset)" "27 28 29"
  tk_is 0 consume orders -K : -o 49
  equal "$output" "user-1:order 49, of some length, so that the segments roll"
  tk_is 0 verify
}

cut_everywhere() { # the last stored unit cut to every length from nothing to all but one byte
  local last first at length cut copy
  last=$(segment_files logs/orders-0 | tail -n 1)
  read -r first at length < <(units "$last" | tail -n 1)
  local before=""
  for ((cut = 0; cut < first; cut++)); do before+="$cut "; done
  for ((cut = 0; cut < length; cut++)); do
    copy=cut-$cut
    cp -r logs "$copy"
    truncate -s $((at + cut)) "$copy/orders-0/$(basename "$last")"
    tk_is 0 consume orders -J -d "$copy"
    equal "$cut: $(rows .offset) " "$cut: $before"
    tk_is 0 produce orders --json -d "$copy" <<< again
    equal "$cut: $(rows .base_offset)" "$cut: $first"
    tk_is 0 consume orders -J -d "$copy"
    equal "$cut: $(rows .offset) " "$cut: $before$first "
    equal "$cut: $(jq -r 'select(.offset == '"$first"') | .value' <<< "$output")" "$cut: again"
    rm -r "$copy"
  done
}

@test "json: fifty records, reopened, rolled, read back and from the middle" {
  fifty_records json
  read_back
}
@test "kafka: fifty records, reopened, rolled, read back and from the middle" {
  fifty_records kafka
  read_back
}
@test "json: the first record is offset, length, text" {
  fifty_records json
  local file=logs/orders-0/$SEGMENT length
  equal "$(head -c 8 "$file" | xxd -p)" 0000000000000000
  length=$((16#$(head -c 12 "$file" | tail -c 4 | xxd -p)))
  equal "$(tail -c +13 "$file" | head -c "$length" | jq -r '.key + " " + .value')" "user-0 order 0, of some length, so that the segments roll"
}
@test "json: cut at every byte of the last record, recovered by the next append" {
  fifty_records json
  cut_everywhere
}
@test "kafka: cut at every byte of the last batch, recovered by the next append" {
  fifty_records kafka
  cut_everywhere
}

@test "the whole of it: append and roll, reopen, rebalance, resume, failover" {
  for format in json kafka; do
    export TK_DIR=$PWD/whole-$format
    tk cluster init --brokers 3 -q
    tk topics create t -p 2 --replicas 3 --format $format -c min.insync.replicas=2 -c segment.bytes=512 -q
    local from # ten runs for each partition: batches of ten
    for ((from = 1; from <= 200; from += 10)); do seq $from $((from + 9)) | tk produce t-$((from > 100)) --acks all -q; done
    # Both partitions have rolled, on every broker, and every command reads them anew.
    for id in 1 2 3; do for p in 0 1; do [ "$(ls "$TK_DIR"/broker-$id/t-$p/*.log | wc -l)" -gt 1 ]; done; done
    tk_is 0 consume t -o 90 -p 0
    equal "$output" "$(seq 91 100)"
    # Two members share the partitions; what was committed is not read again.
    tk_is 0 rebalance g --topic t --join a --join b --json
    equal "$(jq -rs 'map(.partitions | length) | add' <<<"$output")" 2
    tk rebalance g --leave a --leave b >/dev/null
    tk_is 0 consume t -g g -n 150
    equal "$(wc -l <<<"$output")" 150
    cp <(printf '%s\n' "$output") first
    tk_is 0 consume t -g g
    equal "$(sort -n first <(printf '%s\n' "$output"))" "$(seq 1 200)"
    # The slowest follower has left the ISR; the leader dies; the other takes over with every committed record.
    tk cluster stop 3
    echo 201 | tk produce t-0 --acks all -q
    tk cluster stop 1
    tk_is 0 failover t-0 --json
    equal "$(jq -rs 'last | "\(.new_leader) \(.committed_lost) \(.acked_lost.all)"' <<<"$output")" "2 0 0"
    tk cluster start 3 1
    tk replicate-sim t-0 --rounds 3 >/dev/null
    tk_is 0 consume t -p 0
    equal "$output" "$(seq 1 100; echo 201)"
    tk_is 0 consume t -g g
    equal "$output" 201
  done
}
