# Codecs, old formats, and reading what transactions and compaction left; one test a case from the field.
load common

compressed() { python3 "$here/batches.py" "$@"; }

@test "R43 LZ4 frames with the old header checksum: right for magic 0 only" {
  local v
  for v in L1 L2 L3; do
    put $S0 $v
    equal "$v $(values)" "$v hello"
    tk_is 0 verify
  done
  put $S0 L5
  tk_is 3 consume t
  equal "$output" ""
  tk_is 3 verify
}

@test "R44 the LZ4 content checksum is checked" {
  put $S0 L4
  tk_is 3 consume t
  equal "$output" ""
  tk_is 3 verify --json
  grep -qiE 'lz4|frame|content|checksum' <<< "$(jq -r 'select(.type == "problem") | .message' <<< "$output")"
}

@test "R46 snappy raw and framed, either byte order, several chunks" {
  local v
  for v in S1 S2 S3 S4; do
    put $S0 $v
    equal "$v $(values)" "$v hello"
    tk_is 0 verify
  done
}

@test "R47 offsets inside old compressed messages" {
  put $S0 W1
  tk_is 0 consume t -J
  equal "$(rows '[.offset, .key, .ts] | @csv')" "100,\"k0\",$T 102,\"k2\",$((T + 2)) 104,\"k4\",$((T + 4))"
  equal "$(end_offset)" 105
  put $S0 W0
  tk_is 0 consume t -J
  equal "$(rows '[.offset, .key] | @csv')" "100, 102, 104,"
  equal "$(jq -r .tstype <<< "$output" | sort -u)" NoTimestampType
  equal "$(end_offset)" 105
  equal "$(tk consume t -o 103 -J | jq -r .offset)" 104
}

@test "R48 a wrapper of one magic around messages of another is read" {
  put_hex $S0 "$(compressed legacy-mixed)"
  equal "$(records)" "0:one 1:two"
}

@test "R50 the oldest format, and json records that look like it" {
  put $S0 G1
  tk_is 0 dump-log $S0 --json --print-data-log
  equal "$(jq -c 'select(.type == "batch") | [.magic, .crc, .valid]' <<< "$output")" '[0,3916773564,true]'
  equal "$(jq -c 'select(.type == "record") | [.offset, .key, .value]' <<< "$output")" '[0,null,"message1"]'
  rm -r logs
  put $S0 J
  tk_is 0 consume t -J
  equal "$(rows '[.offset, .key, .value] | @json')" '[0,null,null] [1,null,null]'
  tk_is 0 topics list --json
  equal "$(rows .format)" json
}

@test "R51 reading ends by position, not by the last record" {
  put $S0 TX CM
  equal "$(end_offset)" 3
  run --separate-stderr timeout 5 "$TK" consume t --from-beginning
  equal "$status $output" "0 a"$'\n'b
  equal "$(values -o -1)" b
  equal "$(values -o 2)" ""
  equal "$(values --isolation read_committed)" "a b"
}

@test "R52 aborted records are filtered, whatever the codec" {
  local codec
  for codec in none gzip snappy lz4 zstd; do
    put_hex $S0 "$(compressed $codec pid=4005 pepoch=18 seq=0 txn=1 k=a k=b)$vec_AB"
    equal "$codec $(values)" "$codec a b"
    equal "$codec $(values --isolation read_committed)" "$codec "
    tk_is 0 verify
  done
}

@test "R54 an open transaction holds the last stable offset" {
  put $S0 TX
  tk_is 0 topics describe t --json
  equal "$(rows '[.log_end_offset, .last_stable_offset] | @csv')" "2,0"
  equal "$(values --isolation read_committed)" ""
  equal "$(values)" "a b"
}

@test "R55 read_uncommitted shows what was aborted, never the marker" {
  put $S0 TX AB
  equal "$(records)" "0:a 1:b"
  equal "$(values --isolation read_committed)" ""
  tk_is 0 topics describe t --json
  equal "$(rows .last_stable_offset)" 3
}

@test "R56 a committed reader ends at the last stable offset" {
  put $S0 TX A@2 A@3 A@4 A@5 A@6 A@7 A@8 A@9
  tk_is 0 topics describe t --json
  equal "$(rows '[.high_watermark, .last_stable_offset] | @csv')" "10,0"
  tk_is 0 consume t --count
  equal "$output" 10
  tk_is 0 consume t --count --isolation read_committed
  equal "$output" 0
}

@test "an abort before, a transaction around, and one across segments" {
  put $S0 AB@0 TX@1 CM@3
  equal "$(values --isolation read_committed)" "a b"
  rm -r logs
  put $S0 TX
  put logs/t-0/00000000000000000002.log AB B@3
  equal "$(records --isolation read_committed)" 3:b
  equal "$(records)" "0:a 1:b 3:b"
  equal "$(records --isolation read_committed -o 1)" 3:b
}

@test "R59 a batch whose tail was compacted away, and one that is empty" {
  put $S0 TH
  equal "$(tk consume t -J | jq -r .offset)" 10
  equal "$(end_offset)" 15
  run --separate-stderr timeout 5 "$TK" consume t -o 11
  equal "$status $output" "0 "
  rm -r logs
  put logs/t-0/00000000000000000005.log E TH
  equal "$(tk consume t -J | jq -r .offset)" 10
  equal "$(end_offset)" 15
  tk_is 0 verify
  tk_is 0 produce t --json <<< next
  equal "$(rows .base_offset)" 15
}

@test "R75 no timestamp is shown as none" {
  put $S0 G1
  tk_is 0 topics describe t --json
  equal "$(rows '[.first_ts, .last_ts] | @json')" "[null,null]"
  tk_is 0 consume t -f '%o %s\n' --order time
  equal "$output" "0 message1"
}
