# tk recover: cuts what a crash left, refuses to cut what can be read, and never throws anything away unsaved.
load common

row() { jq -c "$1" <<< "$output"; }
cut_files() { find logs -name '*.cut-*' -printf '%f %s\n' | sort; }

@test "nothing to do" {
  seq 10 | tk produce t -q
  tk_is 0 recover --json
  equal "$(jq -r '.reason + " " + .action' <<< "$output" | sort -u)" "none none"
  equal "$(values)" "1 2 3 4 5 6 7 8 9 10"
}

@test "a torn tail is cut without a copy; --dry-run only says so" {
  put $S0 A B
  truncate -s 100 $S0
  local before
  before=$(digest logs)
  tk_is 3 recover --dry-run --json
  equal "$(row '[.partition, .segment, .file_bytes, .valid_bytes, .cut_bytes, .records, .next_offset, .reason, .action]')" \
    '["t-0","00000000000000000000.log",100,69,31,1,1,"torn_tail","would_truncate"]'
  equal "$(digest logs)" "$before"
  tk_is 0 recover --json
  equal "$(row '[.cut_bytes, .reason, .action]')" '[31,"torn_tail","truncated"]'
  equal "$(size $S0)" 69
  equal "$(cut_files)" ""
  tk_is 0 verify
}

@test "garbage at the end is cut and saved" {
  put $S0 A B
  printf 'garbage that is no record at all, and long enough for a header of sixty-one bytes' >> $S0
  local total
  total=$(size $S0)
  run --separate-stderr "$TK" consume t
  equal "$status" 3
  tk_is 0 recover --json
  equal "$(row '[.valid_bytes, .cut_bytes, .action]')" "[138,$((total - 138)),\"truncated\"]"
  equal "$(size $S0)" 138
  equal "$(cut_files)" "$SEGMENT.cut-138 $((total - 138))"
  equal "$(values)" "a b"
}

@test "damage before readable records: refused, then --truncate, then --salvage" {
  put $S0 A B C
  poke $S0 136 63
  cp -r logs salvage
  cp -r logs truncate
  tk_is 3 recover t --json
  equal "$(row '[.reason, .action, .position, .bad_offsets, .next_good_offset, .next_good_position, .good_records_after]')" \
    '["bad_crc","refused",69,[1,1],2,138,1]'
  cmp $S0 salvage/t-0/$SEGMENT

  tk_is 0 recover t --truncate --json -d truncate
  equal "$(row '[.action, .cut_bytes, .next_offset]')" '["truncated",138,1]'
  equal "$(size truncate/t-0/$SEGMENT)" 69
  equal "$(size truncate/t-0/$SEGMENT.cut-69)" 138
  tk_is 0 verify -d truncate

  tk_is 0 recover t --salvage --json -d salvage
  equal "$(row .action)" '"salvaged"'
  equal "$(records -d salvage)" "0:a 2:c"
  equal "$(TK_DIR=salvage end_offset)" 3
  equal "$(size salvage/t-0/$SEGMENT.cut-69)" 69
  tk_is 0 verify -d salvage
}

@test "damage in a middle segment: the rest is dropped only by --truncate" {
  put logs/t-0/$SEGMENT A B
  put logs/t-0/00000000000000000002.log A@2 B@3
  put logs/t-0/00000000000000000004.log A@4 B@5
  poke logs/t-0/00000000000000000002.log 67 7a # the value of offset 2
  cp -r logs salvage
  cp -r logs truncate
  tk_is 3 recover --full
  equal "$(records)" "0:a 1:b 3:b 4:a 5:b"
  tk_is 0 recover --full --truncate -d truncate
  equal "$(records -d truncate)" "0:a 1:b"
  equal "$(TK_DIR=truncate end_offset)" 2
  tk_is 0 recover --full --salvage -d salvage
  equal "$(records -d salvage)" "0:a 1:b 3:b 4:a 5:b"
  tk_is 0 verify -d salvage
}

@test "several bad places in one segment" {
  put $S0 A B C A@3 B@4 C@5
  poke $S0 136 00
  poke $S0 $((69 * 4 + 67)) 00
  tk_is 0 recover --salvage
  equal "$(records)" "0:a 2:c 3:a 5:c"
  tk_is 0 verify
}

@test "indexes and the epoch checkpoint are made new" {
  tk_is 0 topics create t --format kafka -c index.interval.bytes=200
  seq 300 | tk produce t -q --batch-size 300
  cp logs/t-0/00000000000000000000.index index
  cp logs/t-0/leader-epoch-checkpoint epochs
  head -c 100 /dev/urandom > logs/t-0/00000000000000000000.index
  echo nonsense > logs/t-0/leader-epoch-checkpoint
  tk_is 3 verify
  tk_is 0 recover --full --json
  contains "$output" '"rebuilt"'
  cmp index logs/t-0/00000000000000000000.index
  cmp epochs logs/t-0/leader-epoch-checkpoint
  tk_is 0 verify
}

@test "the next writer recovers by itself, and says so" {
  tk_is 0 topics create t --format kafka
  seq 3 | tk produce t -q
  cp $S0 whole
  truncate -s -5 $S0
  tk_is 0 produce t --json <<< again
  [ -n "$stderr" ]
  equal "$(rows .base_offset)" 0
  equal "$(values)" again
}

@test "a writer does not write behind damage that has readable records after it" {
  put $S0 A B C
  poke $S0 136 63
  cp $S0 before
  tk_is 3 produce t --json <<< x
  contains "$stderr" recover
  cmp before $S0
}

@test "the json format: refused, salvaged, truncated" {
  printf 'a\nb\nc\n' | tk produce t -q --timestamp $T
  local at
  read -r _ at _ < <(units $S0 | sed -n 2p)
  # A letter of the second value, by its place in the text.
  local place
  place=$(grep -obUa '"value":"b"' $S0 | cut -d: -f 1)
  poke $S0 $((place + 9)) 7a
  cp -r logs salvage
  tk_is 3 consume t
  equal "$output" a$'\n'c
  tk_is 3 recover --full
  tk_is 0 recover --full --salvage -d salvage
  equal "$(records -d salvage)" "0:a 2:c"
  tk_is 0 recover --full --truncate
  equal "$(records)" 0:a
  equal "$(size $S0)" "$at"
}

@test "a path, a partition, a whole directory; one bad partition does not stop the others" {
  put logs/a-0/$SEGMENT A B C
  poke logs/a-0/$SEGMENT 136 63
  put logs/b-0/$SEGMENT A B
  truncate -s 100 logs/b-0/$SEGMENT
  tk_is 3 recover --json
  equal "$(size logs/b-0/$SEGMENT)" 69
  equal "$(size logs/a-0/$SEGMENT)" 207
  tk_is 0 recover ./logs/a-0 --truncate
  equal "$(size logs/a-0/$SEGMENT)" 69
}

@test "running it again changes nothing" {
  put $S0 A B C
  poke $S0 136 63
  tk_is 0 recover --salvage
  local before
  before=$(digest logs/t-0)
  tk_is 0 recover --salvage
  tk_is 0 recover
  equal "$(digest logs/t-0)" "$before"
}

@test "a broker's directory: marker, checkpoints, partition.metadata" {
  local dir id
  dir=$(fixture kafka-4.4-clean)
  mkdir broker
  cp -r --sparse=always "$dir"/data/{plain-0,plain-1,rolled-0,meta.properties,*-checkpoint} broker/
  chmod -R u+w broker
  touch broker/.kafka_cleanshutdown
  tk_is 0 verify broker
  # Nothing to be done: nothing is touched.
  tk_is 0 recover rolled -d broker
  [ -e broker/.kafka_cleanshutdown ]
  # A cut lowers what the checkpoints claim, and the broker has to look for itself.
  local last
  last=$(ls broker/rolled-0/*.log | tail -n 1)
  truncate -s -5 "$last"
  tk_is 0 recover rolled -d broker
  [ ! -e broker/.kafka_cleanshutdown ]
  local end
  end=$(tk topics describe rolled --json -d broker | jq .log_end_offset)
  equal "$(grep '^rolled 0' broker/replication-offset-checkpoint)" "rolled 0 $end"
  equal "$(grep '^rolled 0' broker/recovery-point-offset-checkpoint)" "rolled 0 $end"
  # Files that keep a broker from starting.
  id=$(tail -n 1 broker/plain-1/partition.metadata)
  rm broker/plain-0/partition.metadata
  echo garbage > broker/recovery-point-offset-checkpoint
  echo garbage > broker/replication-offset-checkpoint
  tk_is 3 verify broker
  tk_is 3 recover --as-broker --dry-run -d broker
  tk_is 0 recover --dry-run -d broker
  [ ! -e broker/plain-0/partition.metadata ]
  tk_is 0 recover -d broker
  equal "$(tail -n 1 broker/plain-0/partition.metadata)" "$id"
  equal "$(cat broker/recovery-point-offset-checkpoint.damaged)" garbage
  equal "$(grep '^rolled 0' broker/replication-offset-checkpoint)" "rolled 0 $end"
  tk_is 0 verify broker
  tk_is 0 recover --as-broker --dry-run -d broker --json
  equal "$(rows 'select(.starts | not)')" ""
}

@test "a broker's snapshots that are gone are made anew" {
  local dir
  dir=$(fixture kafka-4.4-damaged)
  mkdir broker
  cp -r "$dir"/data/snap-missing-0 broker/
  cp "$dir"/data/meta.properties broker/
  chmod -R u+w broker
  tk_is 3 verify snap-missing -d broker
  tk_is 0 recover snap-missing --full -d broker
  tk_is 0 verify snap-missing -d broker
  # As the broker's own start left them.
  equal "$(cd broker/snap-missing-0 && ls *.snapshot | tr '\n' ' ')" \
    "00000000000000000042.snapshot 00000000000000000084.snapshot 00000000000000000126.snapshot 00000000000000000150.snapshot "
}

@test "a flipped leader epoch, which no checksum covers, does not rewrite the history of epochs" {
  tk topics create t --format kafka -q
  for record in a b c; do echo $record | tk produce t -q; done
  local log=$TK_DIR/t-0/$SEGMENT
  # Byte 12 to 15 of the second batch of 69 or 70 bytes.
  local second=$(($(stat -c %s "$log") / 3))
  printf '\125' | dd of="$log" bs=1 seek=$((second + 15)) conv=notrunc status=none
  echo d | tk produce t -q
  equal "$(cat "$TK_DIR/t-0/leader-epoch-checkpoint")" "$(printf '0\n1\n0 0')"
  tk_is 3 verify --json
  contains "$output" "leader epoch goes back from 85"
}

@test "a broker's checkpoints that lie behind the log's end: --full mends them, before a broker drops the log for one" {
  local dir
  dir=$(fixture kafka-4.4-damaged)/data
  mkdir broker
  cp -a "$dir"/logstart-beyond-end-0 "$dir"/meta.properties "$dir"/*-checkpoint broker/
  chmod -R u+w broker
  # The fixture has it for the log start; the others are made to say so, too.
  sed -i 's/^logstart-beyond-end 0 .*/logstart-beyond-end 0 500/' broker/recovery-point-offset-checkpoint
  printf '0\n1\nlogstart-beyond-end 0 500\n' > broker/cleaner-offset-checkpoint
  # What it is about: a broker would begin anew at 500.
  run --separate-stderr "$TK" recover logstart-beyond-end --as-broker --dry-run --json -d broker
  equal "$(rows '[.log_end_offset, .log_start_offset]' | cut -d ' ' -f 1)" "[500,500]"
  equal "$(tk verify logstart-beyond-end --json -d broker 2> err | jq -c 'select(.kind == "offset_checkpoint") | [.severity, .found, .expected]' | sort | uniq -c | tr -s ' ')" ' 3 ["derived",500,150]'
  cp -r broker before
  tk_is 0 recover logstart-beyond-end --full --dry-run -d broker
  contains "$stderr" "log-start-offset-checkpoint: said 500 of logstart-beyond-end-0, whose log ends at 150: would be forgotten"
  equal "$(diff -r before broker)" ""
  tk_is 0 recover logstart-beyond-end --full -d broker
  contains "$stderr" "recovery-point-offset-checkpoint: said 500 of logstart-beyond-end-0, whose log ends at 150: lowered"
  equal "$(grep -h '^logstart-beyond-end 0' broker/{recovery-point,cleaner,log-start}-offset-checkpoint)" "logstart-beyond-end 0 150"
  tk_is 0 verify logstart-beyond-end -d broker
  run --separate-stderr "$TK" recover logstart-beyond-end --as-broker --dry-run --json -d broker
  equal "$(rows '[.log_end_offset, .cut_bytes]' | cut -d ' ' -f 1)" "[150,0]"
  equal "$(tk consume logstart-beyond-end --count -d broker)" 150
}
