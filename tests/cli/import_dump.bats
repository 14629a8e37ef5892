# Field case R108: a log dumped as JSON, edited by any script or not at all, and written back.
load common

dump() { tk dump-log "$@" --json --print-data-log; }

# source_log VECTOR...: a partition of these below src, and its dump in dump.json.
source_log() {
  put src/t-0/$SEGMENT "$@"
  tk -d src dump-log t-0 --json --print-data-log > dump.json
}
same_bytes() { cmp "src/t-0/$SEGMENT" "$S0"; }
# What consume says of every record, but for where it was read from.
content() { tk consume "$@" -J | jq -c 'del(.topic, .partition)'; }

@test "R108: unedited, the same bytes" {
  source_log A B C TX@3 CM@5
  tk_is 0 produce t-0 -i dump dump.json
  equal "$output" "t-0 0..5 6"
  same_bytes
  equal "$(values)" "a b c a b"
  tk_is 0 verify
  equal "$(jq -r '.topics.t | "\(.format) \(.partitions)"' logs/tk-topics.json)" "kafka 1"
}

@test "the report as an object" {
  source_log A@1000 TX@1001
  tk_is 0 produce t-0 -i dump dump.json --json
  equal "$(rows '[.topic, .partition, .base_offset, .last_offset, .count, .duplicates, .bytes]')" '["t",0,1000,1002,3,0,148]'
  tk_is 0 produce u-0 -i dump --report batch < dump.json
  equal "$output" "u-0 1000..1000 1
u-0 1001..1002 2"
}

@test "headers, nulls, gaps, emptied batches, unordered times, odd text" {
  source_log N H@4 E@5 TH@10 O@20 P@30 G2@40 F@2147483700
  tk_is 0 produce t-0 -i dump dump.json
  cmp "src/t-0/$SEGMENT" <(cat logs/t-0/*.log)
  # 2147483700 is too far from 0 for one segment's index.
  equal "$(segment_files logs/t-0 | xargs -n 1 basename)" "$SEGMENT
00000000002147483700.log"
}

@test "a log that begins above 0 begins there" {
  source_log A@1000 B@1001
  tk_is 0 produce t-0 -i dump dump.json
  cmp "src/t-0/$SEGMENT" logs/t-0/00000000000000001000.log
  equal "$(tk topics describe t --json | jq -c '[.log_start_offset, .log_end_offset]')" "[1000,1002]"
}

@test "leader epochs, log append time, a delete horizon" {
  mkdir -p src/t-0
  python3 - "$here" src/t-0/$SEGMENT "$(hex_of A)" "$(hex_of B)" "$(hex_of O@2)" <<'PY'
import struct, sys
sys.path.insert(0, sys.argv[1])
from batches import crc32c
def patched(batch, epoch, changes):
    batch = bytearray(batch)
    batch[12:16] = struct.pack(">i", epoch)
    for at, data in changes:
        batch[at:at + len(data)] = data
    batch[17:21] = struct.pack(">I", crc32c(batch[21:]))
    return batch
a, b, o = (bytes.fromhex(text) for text in sys.argv[3:])
with open(sys.argv[2], "wb") as out:
    out.write(patched(a, 3, []))
    # The horizon takes the place of the base timestamp, and the record's delta is relative to it: -2 as a varint.
    out.write(patched(b, 3, [(22, b"\x40"), (35, struct.pack(">q", 1699999999999)), (63, b"\x03")]))
    # Log append time: the broker's maximum counts, the deltas are those of the producer.
    out.write(patched(o, 7, [(22, b"\x08"), (35, struct.pack(">q", 1700000009999))]))
PY
  tk -d src dump-log t-0 --json --print-data-log > dump.json
  equal "$(jq -rc 'select(.type == "batch") | [.leader_epoch, .timestamp_type, .delete_horizon_ms]' dump.json | tr '\n' ' ')" \
    '[3,"CreateTime",null] [3,"CreateTime",1700000000001] [7,"LogAppendTime",null] '
  equal "$(jq -rc 'select(.offset >= 2) | [.ts, .create_ts]' dump.json | tr '\n' ' ')" \
    '[1700000009999,1700000000100] [1700000009999,1700000000050] [1700000009999,1700000000200] '
  tk_is 0 produce t-0 -i dump dump.json
  same_bytes
  equal "$(cat logs/t-0/leader-epoch-checkpoint)" $'0\n2\n3 0\n7 2'
}

@test "aborted and open transactions stay so" {
  source_log TX AB TX@3
  tk_is 0 produce t-0 -i dump dump.json
  same_bytes
  equal "$(values --isolation read_committed)" ""
  equal "$(values)" "a b a b"
  equal "$(tk topics describe t --json | jq .last_stable_offset)" 3
  # kafka-on-disk.md §6.2: producer 4005, epoch 18, sequence 1, last offset 4, delta 1, T, coordinator epoch 7, open at 3.
  equal "$(ls logs/t-0/*.snapshot)" logs/t-0/00000000000000000005.snapshot
  equal "$(tail -c +7 logs/t-0/00000000000000000005.snapshot | xxd -p | tr -d '\n')" \
    000000010000000000000fa50012000000010000000000000004000000010000018bcfe56800000000070000000000000003
}

@test "no producers, no snapshot" {
  source_log A B
  tk_is 0 produce t-0 -i dump dump.json
  equal "$(find logs -name '*.snapshot')" ""
}

@test "every codec is kept, and every record" {
  mkdir -p src/t-0
  local at=0 codec
  for codec in none gzip snappy lz4 zstd; do
    python3 "$here/batches.py" "$codec" offset=$at pid=7 pepoch=1 seq=$at "k=$codec" a=two "=three three three"
    at=$((at + 3))
  done | xxd -r -p > src/t-0/$SEGMENT
  tk -d src dump-log t-0 --json --print-data-log > dump.json
  tk_is 0 produce t-0 -i dump dump.json
  cmp <(content -d src t) <(content t)
  equal "$(tk consume t -n 4 | tr '\n' ' ')" "none two three three three gzip "
  equal "$(dump t-0 | jq -r 'select(.type == "batch") | "\(.codec) \(.base_offset) \(.base_sequence) \(.producer_id)"')" \
    $'none 0 0 7\ngzip 3 3 7\nsnappy 6 6 7\nlz4 9 9 7\nzstd 12 12 7'
  tk_is 0 verify
}

@test "messages of magic 0 and 1 keep their format" {
  source_log G1 W1
  tk_is 0 produce t-0 -i dump dump.json
  cmp <(content -d src t | jq -c '[.offset, .key, .value]') <(content t | jq -c '[.offset, .key, .value]')
  equal "$(dump t-0 | jq -rc 'select(.type == "batch") | [.magic, .codec]' | tr '\n' ' ')" \
    "$(jq -rc 'select(.type == "batch") | [.magic, .codec]' dump.json | tr '\n' ' ')"
  # What is not compressed is the same to the byte.
  local fx=$project/tests/fixtures
  source_log G1
  rm -rf logs
  tk_is 0 produce t-0 -i dump dump.json
  same_bytes
  [ -d "$fx" ]
}

@test "messages of magic 0 and 1: what they cannot hold is refused by line" {
  source_log G1
  jq -c 'if .type == "record" then .headers = [["a","b"]] else . end' dump.json > edited
  tk_is 1 produce t-0 -i dump edited
  contains "$stderr" "have no headers"
  source_log W1
  # The wrapper bears the offset of its last message.
  jq -sc 'map(select(.type != "record")) + [map(select(.type == "record"))[0]] | .[]' dump.json > edited
  tk_is 1 produce u-0 -i dump edited
  contains "$stderr" "gives it its offset"
}

@test "what brokers left, with transactions and after compaction" {
  local from partition
  from=$(fixture kafka-4.4-clean)/data
  for partition in txn-0 txn-open-0 compacted-txn-0 plain-0; do
    dump "$from/$partition" > dump.json 2> notes
    tk_is 0 produce "$partition" -i dump -q dump.json
    if ! grep -qE '"codec":"(gzip|snappy|lz4|zstd)"' dump.json; then
      cmp <(cat "$from/$partition"/*.log) <(cat "logs/$partition"/*.log)
    fi
    cmp <(content -d "$from" "${partition%-0}" -p 0) <(content "${partition%-0}")
    cmp <(content -d "$from" "${partition%-0}" -p 0 --isolation read_committed) <(content "${partition%-0}" --isolation read_committed)
  done
}

@test "a json topic, with values that are JSON and bytes that are no text" {
  printf 'k:plain\nk:\xff\xfe\nk2:"quoted"\n' | tk -d src produce t -q -K: -H 'a=1' -H $'b=\xff'
  printf '{"n":[1,2.50]}\n"text"\nnull\n' | tk -d src produce t -q --json-values
  tk -d src dump-log t-0 --json --print-data-log > dump.json
  tk_is 0 produce t-0 -i dump dump.json
  equal "$output" "t-0 0..5 6"
  same_bytes
  equal "$(jq -r .topics.t.format logs/tk-topics.json)" json
}

@test "transactions of a json topic" {
  # A segment made without tk: bodies without a checksum.
  python3 - src/t-0 <<'PY'
import json, os, struct, sys
bodies = [{"key": "k", "value": "a", "ts": 1, "pid": 9, "pepoch": 2, "seq": 0, "txn": True},
          {"key": None, "value": None, "ts": 2, "pid": 9, "pepoch": 2, "seq": -1, "txn": True, "control": "abort"},
          {"key": "k", "value": "b", "ts": 3, "epoch": 4}]
os.makedirs(sys.argv[1])
with open(sys.argv[1] + "/00000000000000000000.log", "wb") as out:
    for offset, body in zip((5, 6, 9), bodies):
        text = json.dumps(body, separators=(",", ":")).encode()
        out.write(struct.pack(">qi", offset, len(text)) + text)
PY
  tk -d src dump-log t-0 --json --print-data-log > dump.json
  tk_is 0 produce t-0 -i dump dump.json
  equal "$(records)" "5:a 9:b"
  equal "$(values --isolation read_committed)" "b"
  # The bodies again, now with a checksum each.
  equal "$(python3 - logs/t-0/00000000000000000005.log <<'PY'
import json, struct, sys
data, at = open(sys.argv[1], "rb").read(), 0
while at < len(data):
    offset, length = struct.unpack(">qi", data[at:at + 12])
    body = json.loads(data[at + 12:at + 12 + length])
    assert len(body.pop("crc")) == 8
    print(offset, json.dumps(body, separators=(",", ":")))
    at += 12 + length
PY
)" '5 {"key":"k","value":"a","ts":1,"pid":9,"pepoch":2,"seq":0,"txn":true}
6 {"key":null,"value":null,"ts":2,"pid":9,"pepoch":2,"seq":-1,"txn":true,"control":"abort"}
9 {"key":"k","value":"b","ts":3,"epoch":4}'
  equal "$(find logs -name '*.snapshot')" logs/t-0/00000000000000000010.snapshot
}

@test "edited: values changed, records dropped, times moved, members sorted" {
  source_log A B C TX@3 CM@5
  jq -c 'if .value == "b" then .value = "changed" else . end' dump.json | tk produce e-0 -q -i dump
  equal "$(tk consume e | tr '\n' ' ')" "a changed c a changed "
  tk_is 0 verify

  jq -c 'select(.type != "record" or .value != "a")' dump.json | tk produce f-0 -q -i dump
  equal "$(tk consume f -J | jq -rc '"\(.offset):\(.value)"' | tr '\n' ' ')" "1:b 2:c 4:b "
  # The batch of the first record stays, empty, so that no offset is told anew.
  equal "$(dump f-0 | jq -rc 'select(.type == "batch") | [.base_offset, .last_offset, .count, .base_timestamp]' | tr '\n' ' ')" \
    "[0,0,0,-1] [1,1,1,$((T + 1))] [2,2,1,$((T + 2))] [3,4,1,$T] [5,5,1,$((T + 1))] "
  tk_is 0 verify

  jq -c 'if .type == "record" then .ts += 5000 else . end' dump.json | tk produce g-0 -q -i dump
  # A batch's largest timestamp follows, also when the record that had it goes.
  source_log O
  jq -c 'select(.offset != 2)' dump.json | tk produce o-0 -q -i dump
  equal "$(dump o-0 | jq -c 'select(.type == "batch") | [.last_offset, .count, .max_ts]')" "[2,2,$((T + 100))]"
  tk_is 0 verify
  source_log A B C TX@3 CM@5
  equal "$(tk consume g -J | jq -c .ts | tr '\n' ' ')" "$((T + 5000)) $((T + 5001)) $((T + 5002)) $((T + 5000)) $((T + 5000)) "
  tk_is 0 verify

  jq -cS . dump.json | tk produce h-0 -q -i dump
  cmp src/t-0/$SEGMENT logs/h-0/$SEGMENT

  jq -c 'if .type == "batch" then .codec = "zstd" | .leader_epoch = 5 else . end' dump.json | tk produce i-0 -q -i dump
  equal "$(dump i-0 | jq -r 'select(.type == "batch") | "\(.codec)\(.leader_epoch)"' | sort -u)" zstd5
  cmp <(content -d src t) <(content i)
}

@test "a dump of everything: other objects are passed over, damage is named" {
  source_log A B C
  printf '{"type":"index","offset":0,"position":0}\n{"type":"something","batch":[{"type":"batch"}]}\n' | cat - dump.json | tk produce t-0 -q -i dump
  same_bytes
  poke src/t-0/$SEGMENT 136 63
  dump src/t-0/$SEGMENT > damaged.json || [ $? -eq 3 ]
  tk_is 0 produce u-0 -i dump damaged.json
  contains "$stderr" "damaged when it was dumped"
  equal "$output" "u-0 0..2 2"
  equal "$(tk consume u -J | jq -rc '"\(.offset):\(.value)"' | tr '\n' ' ')" "0:a 2:c "
}

@test "wrong input names its line, and makes nothing" {
  source_log A B C
  local -A wrong=(
    [no_json]='offset: 0 payload: a'
    [no_object]='[1]'
    [two]='{"type":"record"}{}'
    [no_type]='{"offset":0}'
    [stray]='{"type":"record","offset":0,"ts":1,"key":null,"value":"a"}'
    [no_magic]='{"type":"batch","base_offset":0,"last_offset":0}'
    [magic]='{"type":"batch","magic":3,"base_offset":0,"last_offset":0}'
    [negative]='{"type":"batch","magic":2,"base_offset":-1,"last_offset":0}'
    [backwards]='{"type":"batch","magic":2,"base_offset":5,"last_offset":4}'
    [far]='{"type":"batch","magic":2,"base_offset":0,"last_offset":2147483648}'
    [end]='{"type":"batch","magic":2,"base_offset":9223372036854775807,"last_offset":9223372036854775807}'
    [codec]='{"type":"batch","magic":2,"base_offset":0,"last_offset":0,"codec":"brotli"}'
    [epoch]='{"type":"batch","magic":2,"base_offset":0,"last_offset":0,"producer_epoch":32768}'
    [fraction]='{"type":"batch","magic":2,"base_offset":0.5,"last_offset":0}'
    [wide]='{"type":"batch","magic":null,"base_offset":0,"last_offset":1}'
    [packed]='{"type":"batch","magic":null,"base_offset":0,"last_offset":0,"codec":"gzip"}'
  )
  local name
  for name in "${!wrong[@]}"; do
    printf '{"type":"index","offset":0,"position":0}\n%s\n' "${wrong[$name]}" > in
    tk_is 1 produce t-0 -i dump in --json || { echo "case $name"; return 1; }
    contains "$stderr" "line 2 of in: " || { echo "case $name"; return 1; }
    error_is INVALID_RECORD
    [ ! -e logs/t-0 ]
  done
}

@test "wrong records name their line, and what was before them stays" {
  source_log A B C
  local edits=(
    'if .offset == 2 then .offset = 3 else . end'                         # outside its batch
    'if .offset == 2 then del(.ts) else . end'
    'if .offset == 2 then .value_b64 = "Yg==" else . end'                 # beside its value
    'if .offset == 2 then del(.value) | .value_b64 = "!" else . end'
    'if .offset == 2 then .key = 5 else . end'
    'if .offset == 2 then .headers = [["a"]] else . end'
    'if .offset == 2 then .headers = [[null,"a"]] else . end'
  )
  local edit n=0
  for edit in "${edits[@]}"; do
    n=$((n + 1))
    jq -c "$edit" dump.json > in
    tk_is 1 produce "p$n-0" -i dump in || { echo "edit $edit"; return 1; }
    contains "$stderr" "line 6 of in: " || { echo "edit $edit"; return 1; }
    contains "$stderr" "p$n-0 holds what was before it, 2 records"
    equal "$(tk consume "p$n" | tr '\n' ' ')" "a b "
    tk_is 0 verify "p$n"
  done
}

@test "offsets rise, and a dump has one format" {
  source_log A B C
  jq -c 'if .type == "batch" and .base_offset == 2 then .base_offset = 1 else . end' dump.json > in
  tk_is 1 produce t-0 -i dump in
  contains "$stderr" "line 5 of in: offset 1 does not rise"
  source_log O
  jq -c 'if .offset == 1 then .offset = 0 else . end' dump.json > in
  tk_is 1 produce u-0 -i dump in
  contains "$stderr" "line 3 of in: offset 0 does not rise"
  printf '{"type":"batch","magic":null,"base_offset":3,"last_offset":3}\n' | cat dump.json - > in
  tk_is 1 produce v-0 -i dump in
  contains "$stderr" "line 5 of in: kafka batches and json records"
}

@test "a dump without its records is refused" {
  source_log A B
  tk -d src dump-log t-0 --json > dump.json
  tk_is 1 produce t-0 -i dump dump.json --json
  error_is INVALID_RECORD
  contains "$stderr" "--print-data-log"
  [ ! -e logs/t-0 ]
}

@test "only into a new, empty partition" {
  source_log A B C
  tk_is 0 produce t-0 -i dump -q dump.json
  local before
  before=$(digest logs/t-0)
  tk_is 1 produce t-0 -i dump dump.json
  contains "$stderr" "partition t-0 is not empty"
  equal "$(digest logs/t-0)" "$before"

  # Partitions one after the other, a topic that is there, and one with another format.
  tk_is 0 produce t-1 -i dump -q dump.json
  equal "$(tk consume t -p 1 | tr '\n' ' ')" "a b c "
  tk_is 0 topics create made --format kafka -p 2 -c segment.bytes=150
  tk_is 0 produce made-1 -i dump -q dump.json
  equal "$(segment_files logs/made-1 | wc -l)" 2
  tk_is 0 topics create other --format json
  tk_is 1 produce other-0 -i dump dump.json
  contains "$stderr" "line 1 of dump.json: it has the kafka format, topic 'other' the json format"
  tk_is 1 produce n-0 -i dump --format json dump.json
  tk_is 1 produce n-0 -i dump --no-create dump.json
  [ ! -e logs/n-0 ]
}

@test "the target is a partition" {
  source_log A
  tk_is 2 produce t -i dump dump.json
  contains "$stderr" "t-0"
  tk_is 0 produce t -p 2 -i dump dump.json
  equal "$output" "t-2 0..0 1"
  equal "$(jq .topics.t.partitions logs/tk-topics.json)" 3
  tk_is 2 produce u-2 --partitions 2 -i dump dump.json
  tk_is 0 topics create a-1
  tk_is 2 produce a-1 -i dump dump.json # a topic of that name comes first
}

@test "nothing in, nothing made" {
  tk_is 0 produce t-0 -i dump < /dev/null
  equal "$output" ""
  [ ! -e logs/t-0 ]
}
