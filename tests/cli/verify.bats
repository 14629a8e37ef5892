# tk verify: what is wrong, where, and how bad; changes nothing.
load common

problems() { jq -rc 'select(.type == "problem") | "\(.severity) \(.kind) \(.position)"' <<< "$output" | tr '\n' ' ' | sed 's/ $//'; }
summary() { jq -c "select(.type == \"summary\") | $1" <<< "$output"; }

@test "a healthy directory: exit 0 and counts" {
  tk_is 0 topics create t -p 2 --format kafka -c segment.bytes=2K
  seq 1000 | tk produce t -p 0 -q --batch-size 500
  seq 10 | tk produce t -p 1 -q
  seq 5 | tk produce u -q
  tk_is 0 verify --json
  equal "$(problems)" ""
  equal "$(summary '[.partitions, .segments, .records, .damage, .derived]')" "[3,$(ls logs/*/*.log | wc -l),1015,0,0]"
  equal "$(summary .bytes)" "$(cat logs/*/*.log | wc -c)"
  equal "$(tail -n 1 <<< "$output" | jq -r .type)" summary
  tk_is 0 verify
  tk_is 0 verify t-1 u
}

@test "topic, partition, file and directory" {
  put $S0 A B C
  put logs/u-0/$SEGMENT A B
  poke logs/u-0/$SEGMENT 136 63
  tk_is 0 verify t
  tk_is 3 verify u
  tk_is 3 verify
  tk_is 3 verify ./logs
  tk_is 3 verify ./logs/u-0
  tk_is 3 verify logs/u-0/$SEGMENT
  tk_is 0 verify $S0
  tk_is 1 verify nosuch
}

@test "damage by kind and place" {
  put $S0 A B C
  poke $S0 136 63
  tk_is 3 verify t --json
  equal "$(problems)" "damage bad_crc 69"
  equal "$(jq -c 'select(.type == "problem") | [.partition, .offset]' <<< "$output")" '["t-0",1]'
  put $S0 A B C
  poke $S0 77 7fffffff # the second batch's length
  tk_is 3 verify t --json
  equal "$(jq -r 'select(.type == "problem" and .severity == "damage") | "\(.kind) \(.position)"' <<< "$output" | head -n 1)" "bad_length 69"
  put $S0 A B C
  poke $S0 85 09 # the second batch's magic
  tk_is 3 verify t --json
  equal "$(problems | cut -d' ' -f 1-3)" "damage bad_magic 69"
  put $S0 A A
  tk_is 3 verify t --json
  equal "$(problems)" "damage offset_regression 69"
  put $S0 A B
  truncate -s 130 $S0
  tk_is 3 verify t --json
  equal "$(problems | cut -d' ' -f 2-3)" "torn_tail 69"
  put $S0 A
  truncate -s 1000 $S0
  tk_is 3 verify t --json
  equal "$(problems | cut -d' ' -f 2-3)" "zero_tail 69"
}

@test "a bad record in a batch whose checksum is good; --quick leaves it alone" {
  put $S0 L4
  tk_is 3 verify t --json
  equal "$(jq -r 'select(.type == "problem") | "\(.severity) \(.kind) \(.position)"' <<< "$output")" "damage record 0"
  tk_is 0 verify t --quick
}

@test "wrong indexes are derived damage" {
  tk_is 0 topics create t --format kafka -c index.interval.bytes=200
  seq 500 | tk produce t -q --batch-size 300
  tk_is 0 verify t
  local index=${S0%.log}.index
  poke "$index" 0 7fffffff
  tk_is 3 verify t --json
  equal "$(jq -r 'select(.type == "problem") | "\(.severity) \(.kind)"' <<< "$output" | sort -u)" "derived index"
  rm "$index"
  run --separate-stderr "$TK" verify t --json # missing: nothing to be wrong
  equal "$(summary .damage)" 0
}

@test "every single flipped bit of a log is found, and none of a record printed" {
  echo '{"ts":1700000000000,"key":"key","value":"value"}' > one
  local format position bit byte
  for format in kafka json; do
    rm -rf logs
    tk_is 0 topics create t --format $format
    tk produce t -i json -q < one
    tk produce t -i json -q < one
    tk produce t -i json -q < one
    local first at length
    read -r first at length < <(units $S0 | sed -n 2p)
    cp $S0 whole
    local name
    name=$(grep -obUa '"crc"' $S0 | sed -n 2p | cut -d: -f 1)
    name=$((${name:-0} + 1))
    for ((position = at; position < at + length; position++)); do
      # Bytes 12-15 of a batch, the leader epoch, are outside every checksum.
      [ $format = kafka ] && ((position - at >= 12 && position - at < 16)) && continue
      # Without the name of its checksum member a json record is one without checksum: counted, not blamed.
      [ $format = json ] && ((position >= name && position < name + 3)) && continue
      bit=$((position % 8))
      cp whole $S0
      byte=$((16#$(tail -c +$((position + 1)) whole | head -c 1 | xxd -p)))
      poke $S0 $position "$(printf %02x $((byte ^ 1 << bit)))"
      run --separate-stderr "$TK" verify t
      [ "$status" -eq 3 ] || { echo "$format: byte $((position - at)) bit $bit: exit $status"; return 1; }
    done
  done
}

@test "json records without a checksum are counted, not blamed" {
  put $S0 J
  tk_is 0 verify t --json
  equal "$(summary '[.records, .unprotected, .damage]')" "[2,2,0]"
}

@test "gaps, foreign and left-over files are notes" {
  put $S0 A C
  mkdir logs/lost+found
  echo > logs/t-0/notes.txt
  : > logs/t-0/00000000000000000000.log.deleted
  tk_is 0 verify --json
  equal "$(jq -r 'select(.type == "problem") | .severity' <<< "$output" | sort -u)" note
  contains "$(jq -r 'select(.type == "problem") | .kind' <<< "$output")" gap
  contains "$(jq -r 'select(.type == "problem") | .kind' <<< "$output")" foreign
}

@test "a partition that a live writer holds may end in an incomplete record" {
  (echo a; sleep 2) | tk produce t -q --linger-ms 10 3>&- &
  local writer=$!
  sleep 0.5
  tk_is 0 verify t
  wait $writer
}

@test "state files of tk's own are looked at, too: a damaged group, producers' file or topics' file is damage" {
  tk topics create t -q
  echo a | tk produce t -q
  tk commit g t-0=1 -q
  tk txn begin A >/dev/null
  tk_is 0 verify
  for file in group-g.json tk-producers.json tk-topics.json; do
    cp "logs/$file" kept
    head -c $(($(stat -c %s kept) - 9)) kept > "logs/$file"
    tk_is 3 verify --json
    equal "$(jq -r 'select(.type == "problem") | "\(.kind) \(.severity) \(.file)"' <<< "$output" | sed 's|[^ ]*/||')" "state_file damage $file"
    cp kept "logs/$file"
  done
  tk_is 0 verify
}

@test "an open transaction: whether a coordinator will end it, by __transaction_state" {
  local dir said
  dir=$(fixture kafka-4.4-damaged)/data
  said() { jq -r 'select(.severity == "note" and (.message | test("is open from offset"))) | .message' <<< "$output"; }
  # Its producer is in no record of the coordinators.
  run --separate-stderr "$TK" -d "$dir" verify txn-tail --json
  contains "$(said)" "the transaction of producer 5 "
  contains "$(said)" "hangs: __transaction_state has no open transaction of that producer here"
  # One that the coordinator has as Ongoing in this partition does not hang.
  dir=$(fixture kafka-4.4-clean)/data
  tk_is 0 verify "$dir" --json
  equal "$(said | grep -c 'is open from offset')" 1
  equal "$(said | grep -c hangs)" 0
  equal "$(tk -d "$dir" txn list --json | jq -c 'select(.hanging != null) | [.topic, .hanging]')" '["txn-open",false]'
  # Without the partition of __transaction_state that holds it nobody can tell: neither yes nor no.
  cp -a --sparse=always "$dir" some
  rm -r some/__transaction_state-*
  run --separate-stderr "$TK" verify ./some --json
  equal "$(said | grep -c '__transaction_state')" 0
  equal "$(tk -d some txn list --json | jq -c 'select(.topic) | [.topic, .hanging]')" '["txn-open",null]'
  # With some of its partitions the answer depends on whether it is among them.
  local p answers=
  for p in 0 1; do
    rm -rf some
    cp -a --sparse=always "$dir" some
    rm -r some/__transaction_state-$p
    answers+=" $(tk -d some txn list --json 2> err | jq -c 'select(.topic) | .hanging')"
  done
  equal "$(tr ' ' '\n' <<< "$answers" | sort | tr '\n' ' ')" " false null "
}
