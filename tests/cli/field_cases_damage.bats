# Damage that people met in the field, one test a case.
load common

problem() { jq -c "select(.type == \"problem\") | $1" <<< "$output"; }

@test "R01 one flipped byte does not take the rest with it" {
  put $S0 A B C
  poke $S0 136 63
  tk_is 3 verify --json
  equal "$(problem '[.kind, .position, .offset]')" '["bad_crc",69,1]'
  contains "$output" 3712301227
  contains "$output" 3471286492
  equal "$(jq -c 'select(.type == "summary") | .batches' <<< "$output")" 2
  cp -r logs truncated
  tk_is 0 recover --truncate -d truncated
  equal "$(size truncated/t-0/$SEGMENT)" 69
  equal "$(TK_DIR=truncated end_offset)" 1
  tk_is 0 recover --salvage
  equal "$(records)" "0:a 2:c"
  equal "$(end_offset)" 3
  equal "$(size logs/t-0/$SEGMENT.cut-69)" 69
}

@test "R02 the last batch is half there" {
  put $S0 A B
  truncate -s 100 $S0
  equal "$(values)" a
  equal "$(end_offset)" 1
  tk_is 3 verify --json
  equal "$(problem '[.kind, .position]')" '["torn_tail",69]'
  contains "$(problem .message)" 31
  tk_is 0 recover
  equal "$(size $S0)" 69
}

@test "R03 the tail is all zeros" {
  put $S0 A
  truncate -s 64M $S0
  local began=$EPOCHREALTIME
  equal "$(end_offset)" 1
  equal "$(values)" a
  tk_is 3 verify --json
  equal "$(problem '[.kind, .position]')" '["zero_tail",69]'
  tk_is 0 recover --json
  equal "$(jq -c '[.valid_bytes, .cut_bytes, .reason]' <<< "$output")" "[69,$((64 * 1024 * 1024 - 69)),\"zero_tail\"]"
  local took=$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))
  [ $took -lt 3000 ] || { echo "took $took ms"; return 1; }
  equal "$(size $S0)" 69
}

@test "R05 a 10 MB index full of zeros" {
  put $S0 A
  truncate -s 10485760 ${S0%.log}.index
  tk_is 0 verify --json # a note: so does every killed broker leave its active segment
  equal "$(problem '[.severity, .kind]' | sort -u)" '["note","index"]'
  equal "$(values -o 0)" a
  tk_is 0 recover
  equal "$(size ${S0%.log}.index)" 0
  equal "$(values -o 0)" a
  tk_is 0 verify
}

@test "R06 an index whose length is not a multiple of its entries" {
  put $S0 A B C
  head -c 9 /dev/zero > ${S0%.log}.index
  head -c 13 /dev/zero > ${S0%.log}.timeindex
  equal "$(values)" "a b c"
  tk_is 3 verify --json
  equal "$(problem .severity | sort -u)" '"derived"'
  tk_is 0 recover
  equal "$(($(size ${S0%.log}.index) % 8)) $(($(size ${S0%.log}.timeindex) % 12))" "0 0"
  tk_is 0 verify
}

@test "R07 an empty active segment without an index is healthy" {
  mkdir -p logs/t-0
  : > logs/t-0/00000000000000000042.log
  equal "$(end_offset)" 42
  tk_is 0 verify
}

@test "R08 an index entry holds the last offset of its batch" {
  put $S0 O
  put_hex ${S0%.log}.index 0000000200000000
  tk_is 0 verify
  run --separate-stderr "$TK" dump-log ${S0%.log}.index
  equal "$stderr" ""
  put_hex ${S0%.log}.index 0000000100000000
  run --separate-stderr "$TK" dump-log ${S0%.log}.index
  contains "$stderr" "Index offset: 1, log offset: 2"
}

@test "R09 looking changes nothing" {
  put $S0 A B C
  head -c 24 /dev/zero > ${S0%.log}.index
  head -c 40 /dev/zero >> $S0
  local before
  before=$(digest logs)
  run "$TK" dump-log t
  run "$TK" verify
  run "$TK" consume t
  run "$TK" topics describe
  run "$TK" recover --dry-run --full
  equal "$(digest logs)" "$before"
}

@test "R11 checksums are good, offsets are not" {
  put $S0 A A
  tk_is 3 verify --json
  equal "$(problem '[.kind, .position]')" '["offset_regression",69]'
  equal "$(records)" 0:a
  put $S0 A B C
  poke $S0 76 09
  tk_is 3 verify --json
  equal "$(problem 'select(.severity == "damage") | [.kind, .position]')" '["offset_regression",138]'
}

@test "R12 a crash in the middle of a compaction" {
  put $S0 A B C
  put $S0.swap A C
  tk_is 0 recover
  equal "$(records)" "0:a 2:c"
  rm -r logs
  put $S0 A B C
  put $S0.swap A C
  : > $S0.cleaned
  tk_is 0 recover
  equal "$(records)" "0:a 1:b 2:c"
  equal "$(find logs -name '*.swap' -o -name '*.cleaned')" ""
}

@test "R13 an empty last segment is used again" {
  mkdir -p logs/t-0
  : > $S0
  tk_is 0 produce t --format kafka --json <<< x
  equal "$(rows .base_offset)" 0
  equal "$(segment_files logs/t-0)" $S0
  equal "$(values)" x
}

@test "R15 a broken leader-epoch-checkpoint is made new" {
  local content
  for content in '' '0\n2\n0 0\n' '\0\0\0\0\0\0\0\0' '0\n1\n0\n' '7\n1\n0 0\n'; do
    rm -rf logs
    put $S0 A B C
    # shellcheck disable=SC2059
    printf "$content" > logs/t-0/leader-epoch-checkpoint
    equal "$(values)" "a b c"
    tk_is 0 recover
    equal "$(cat logs/t-0/leader-epoch-checkpoint)" $'0\n1\n0 0'
    tk_is 0 verify
  done
}

@test "R16 epoch 0 is an epoch, -1 is none" {
  put $S0 A B C
  for at in 0 69 138; do poke $S0 $((at + 12)) ffffffff; done
  echo x > logs/t-0/leader-epoch-checkpoint
  tk_is 0 recover
  equal "$(grep -cE '^-?[0-9]+ [0-9]+$' logs/t-0/leader-epoch-checkpoint)" 0
}

@test "R17 a full disk while a state file is written leaves the old one" {
  tk_is 0 topics create a
  run --separate-stderr bash -c "ulimit -f 0; exec '$TK' topics create b"
  equal "$status" 1
  tk_is 0 topics list --json
  equal "$(rows .topic)" a
  equal "$(find logs -name '*.tmp')" ""
}

@test "R18 a damaged producer snapshot does not stop anything" {
  # Kafka's snapshot of one producer; the file is named by the offset it stands at.
  local good=0001b7d04447000000010000000000000fa00002000000310000000000000065000000010000018bcfe5680500000003ffffffffffffffff
  local content
  for content in '' 0001 0009b7d04447 "${good%ff}fe"; do
    rm -rf logs
    put $S0 TX CM
    put_hex logs/t-0/00000000000000000003.snapshot "$content"
    equal "$(values)" "a b"
    tk_is 3 verify --json
    contains "$(problem '[.severity, .kind]')" '["derived","snapshot"]'
    tk_is 0 recover
    equal "$(values)" "a b"
  done
}

@test "R19 how far to skip" {
  put $S0 O C@3
  poke $S0 86 01
  tk_is 3 recover --json
  equal "$(jq -c '[.position, .bad_offsets, .next_good_offset, .next_good_position]' <<< "$output")" '[0,[0,2],3,87]'
  equal "$(records)" 3:c
}

@test "R20 a changed byte is never delivered as data" {
  local format
  for format in kafka json; do
    rm -rf logs
    printf 'q2q:abc\n' | tk produce t -K: --format $format -q
    python3 -c 'p="logs/t-0/00000000000000000000.log"; d=open(p,"rb").read(); assert d.count(b"q2q")==1; open(p,"wb").write(d.replace(b"q2q",b"q4q"))'
    tk_is 3 consume t -K:
    equal "$output" ""
  done
}

@test "R21 opening touches the end of the log only" {
  command -v strace > /dev/null || skip "no strace"
  strace -o probe true 2> /dev/null || skip "tracing is not permitted here"
  tk_is 0 topics create t --format kafka -c segment.bytes=1K
  seq 3000 | tk produce t -q --batch-size 500
  [ "$(segment_files logs/t-0 | wc -l)" -gt 20 ]
  strace -f -e trace=open,openat -o calls "$TK" produce t -q <<< x
  [ "$(grep -oE '[0-9]{20}\.log' calls | sort -u | wc -l)" -le 2 ]
}

@test "R111 garbage appended to a segment" {
  put $S0 A B
  printf '\x7f%.0s' {1..50} >> $S0
  tk_is 3 consume t
  equal "$output" a$'\n'b
  tk_is 3 verify
  tk_is 0 recover
  tk_is 0 verify
  equal "$(values)" "a b"
}
