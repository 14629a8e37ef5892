# tk retain, compact, delete-records, get-offsets, consume --latest-per-key (cli.md §8; field cases R59 to R75).
load common

DAY=86400000

# keyed FORMAT ARGS...: topic t, one partition, with the records of stdin as KEY:VALUE.
keyed() {
  local format=$1
  shift
  tk topics create t --format "$format" -c cleanup.policy=compact "$@" 2>/dev/null
  tk produce t -q -K : --null-marker NULL
}

@test "R67: the current value of each key, deleted keys left out, in offset order" {
  for format in json kafka; do
    rm -rf logs
    printf 'a:1\nb:1\nb:2\nc:1\nc:NULL\n' | keyed $format
    equal "$(records --latest-per-key)" "0:1 2:2"
    equal "$(records --latest-per-key --until 2)" "0:1 1:1"
    equal "$(records --latest-per-key --key b)" "2:2"
    tk_is 0 consume t --latest-per-key --count
    equal "$output" 2
  done
  tk_is 2 consume t --latest-per-key -F
  tk_is 2 consume t --latest-per-key -g G
}

@test "R63: the active segment is left alone, and the report says so; --roll closes it first" {
  printf 'k:1\nk:2\nk:3\n' | keyed kafka
  tk_is 0 compact t --json
  equal "$(rows '[.action, .records_after, .other_bytes > 0]')" '["skipped",null,true]'
  contains "$(rows .other_reason)" "active segment"
  tk_is 0 compact t --force
  equal "$(records)" "0:1 1:2 2:3"
  local before
  before=$(digest logs)
  tk_is 0 compact t --force --roll --dry-run --json
  equal "$(rows '[.action, .cleaned_to, .records_before, .records_after, .other_bytes]')" '["would_compact",3,3,1,0]'
  equal "$(digest logs)" "$before"
  tk_is 0 compact t --force --roll --json
  equal "$(rows '[.action, .first_dirty_offset, .cleaned_to, .records_before, .records_after]')" '["compacted",0,3,3,1]'
  equal "$(records)" "2:3"
  tk_is 0 verify
}

@test "R60: the end offset survives when nothing is left, and appends go on behind it" {
  for format in json kafka; do
    rm -rf logs
    printf 'k:1\nk:2\nk:NULL\n' | keyed $format
    tk_is 0 compact t --force --roll --at $T
    equal "$(records --null-marker NULL)" "2:null"
    tk_is 0 compact t --force --at $((T + DAY - 1))
    equal "$(records)" "2:null"
    tk_is 0 compact t --force --at $((T + DAY))
    equal "$(records)" ""
    equal "$(end_offset)" 3
    tk_is 0 verify
    echo k:4 | tk produce t -q -K :
    equal "$(records)" "3:4"
  done
}

@test "cron does not compact what is clean: the ratio is 0 afterwards, and only --force goes through it again" {
  seq 2000 | sed 's/.*/k&:v/; s/k[0-9]*\([0-9]\):/k\1:/' | keyed kafka -c segment.bytes=4096
  tk_is 0 compact t --json
  equal "$(rows .action)" compacted
  equal "$(cat logs/cleaner-offset-checkpoint)" "$(printf '0\n1\nt 0 %s' "$(rows .cleaned_to)")"
  tk_is 0 compact t --json
  equal "$(rows '[.action, .dirty_ratio]')" '["skipped",0]'
  tk_is 0 compact t --force --json
  equal "$(rows '[.action, .records_before == .records_after]')" '["compacted",true]'
}

@test "a map with less room than there are keys: several passes; less than one batch has: refused, nothing lost" {
  tk topics create t --format kafka -c cleanup.policy=compact -c segment.bytes=20000 -c min.cleanable.dirty.ratio=0
  seq 3000 | sed 's/.*/key-&:v/' | tk produce t -q -K : --batch-size 4000
  tk_is 2 compact t --map-bytes 4K --json
  error_is INVALID_CONFIG
  contains "$stderr" "--map-bytes"
  tk_is 0 compact t --map-bytes 16K --json
  equal "$(rows '.passes > 3')" true
  tk_is 0 consume t --count
  equal "$output" 3000
}

@test "a topic that is not compacted, an unknown config, a missing topic or directory" {
  seq 3 | tk produce t -q
  tk_is 2 compact t --json
  error_is INVALID_CONFIG
  contains "$stderr" "cleanup.policy"
  tk_is 0 compact
  equal "$output" ""
  tk_is 2 compact t -c cleanup.polcy=compact
  contains "$stderr" "cleanup.policy"
  tk_is 2 retain t -c retention.ms=soon
  for command in compact retain get-offsets; do tk_is 1 $command none; done
  tk_is 1 -d nowhere compact
  [ ! -e nowhere ]
  tk_is 1 -d nowhere retain
  [ ! -e nowhere ]
}

@test "a damaged log is named, with its place, and not compacted" {
  seq 2000 | sed 's/.*/k:&/' | keyed kafka -c segment.bytes=4096
  poke $S0 200 ff
  tk_is 3 compact t --force --json
  error_is CORRUPT_MESSAGE
  equal "$(jq -r .path <<< "$(tail -n 1 <<< "$stderr")")" "$PWD/logs/t-0/$SEGMENT"
}

@test "a full disk in mid-compaction: the old segments stay whole, and the next run finishes" {
  [ "$(id -u)" -eq 0 ] || skip "needs root for a small tmpfs"
  mkdir small
  mount -t tmpfs -o size=3m tmpfs small 2>/dev/null || skip "no tmpfs here"
  seq 20000 | sed 's/.*/key-&:some value/' > lines
  tk -d small/d topics create t --format kafka -c cleanup.policy=compact -c segment.bytes=700000 -c min.cleanable.dirty.ratio=0 2>/dev/null
  tk -d small/d produce t -q -K : lines
  tk -d small/d produce t -q -K : lines
  tk -d small/d consume t --latest-per-key | sort > before
  head -c 4M /dev/zero > small/fill || true
  run --separate-stderr "$TK" -d small/d compact t --json
  local code=$status
  rm small/fill
  tk -d small/d consume t --latest-per-key | sort > after
  run "$TK" -d small/d compact t --json
  local again=$status
  tk -d small/d consume t --latest-per-key | sort > last
  run "$TK" -d small/d verify
  local verified=$status left
  left=$(find small -name '*.cleaned' -o -name '*.swap' -o -name '*.deleted')
  umount small
  equal "$code $again $verified $left" "1 0 0 "
  error_is STORAGE_ERROR
  cmp before after
  cmp before last
}

@test "R71: retention by size; what stays says why; twice deletes nothing more (R70)" {
  put $S0 A
  put logs/t-0/00000000000000000001.log B@1
  put logs/t-0/00000000000000000002.log C@2
  tk_is 0 retain t -c retention.bytes=139 -c retention.ms=-1 --json
  equal "$(rows .action)" "kept kept kept"
  tk_is 0 retain t -c retention.bytes=100 -c retention.ms=-1 --dry-run --json
  equal "$(rows '[.segment, .action, .bytes, .next_offset]' | head -c 300)" \
    '["00000000000000000000.log","would_delete",69,1] ["00000000000000000001.log","kept",69,2] ["00000000000000000002.log","kept",69,3]'
  equal "$(segment_files logs/t-0 | wc -l)" 3
  tk_is 0 retain t -c retention.bytes=100 -c retention.ms=-1 --json
  equal "$(rows .action)" "deleted kept kept"
  tk_is 0 retain t -c retention.bytes=100 -c retention.ms=-1 --json
  equal "$(rows .action)" "kept kept"
  contains "$(rows .reason)" "retention.bytes=100"
  equal "$(records)" "1:b 2:c"
}

@test "retention by time, of the active segment, too: the log end stays" {
  put $S0 A
  put logs/t-0/00000000000000000001.log B@1
  tk_is 0 retain t -c retention.ms=$DAY --at $((T + DAY)) --json
  equal "$(rows .action)" "kept kept"
  tk_is 0 retain t -c retention.ms=$DAY --at $((T + 2 * DAY)) --json
  equal "$(rows .action)" "deleted deleted"
  equal "$(end_offset) $(records)" "2 "
  tk_is 0 verify
  echo next | tk produce t -q --format kafka
  equal "$(records)" "2:next"
}

@test "a topic that tk made forgets nothing by itself; produce applies what the topic's config asks for at a roll" {
  seq 3000 | tk produce keep -q -c segment.bytes=4096
  tk_is 0 retain keep --at $((T * 10)) --json
  equal "$(rows .action | tr ' ' '\n' | sort -u)" kept
  seq 3000 | tk produce short -q -c segment.bytes=4096 -c retention.bytes=8192
  local start
  start=$(tk get-offsets short --time earliest)
  [ "${start##*:}" -gt 1000 ]
  equal "$(tk get-offsets short)" short:0:3000
  tk_is 0 verify
}

@test "R65: delete-records moves the start, removes whole segments, and a compaction goes on from there" {
  put $S0 A B C
  tk_is 4 delete-records t-0=4 --json
  error_is OFFSET_OUT_OF_RANGE
  tk_is 0 delete-records t-0=2 --dry-run --json
  equal "$(rows '[.from, .to, .segments_deleted]')" '[0,2,0]'
  equal "$(records)" "0:a 1:b 2:c"
  tk_is 0 delete-records t-0=2 --json
  equal "$(records)" "2:c"
  equal "$(cat logs/log-start-offset-checkpoint)" "$(printf '0\n1\nt 0 2')"
  tk_is 0 delete-records t-0=1 --json
  equal "$(rows '[.from, .to]')" '[2,2]'
  tk_is 0 compact t -c cleanup.policy=compact --force
  equal "$(records)" "2:c"
  tk_is 0 delete-records t-0=-1
  equal "$(records)" ""
  equal "$(tk get-offsets t --time earliest) $(tk get-offsets t)" "t:0:3 t:0:3"
  tk_is 2 delete-records
  tk_is 2 delete-records t-0
  tk_is 2 delete-records t-0=x
  tk_is 1 delete-records t-7=0
}

@test "delete-records removes segments below the offset" {
  seq 3000 | tk produce t -q -c segment.bytes=4096
  tk_is 0 delete-records t-0=1500 --json
  [ "$(rows .segments_deleted)" -gt 3 ]
  equal "$(tk consume t | head -n 1)" 1501
  tk_is 0 verify
}

@test "R73: offsets by time: the first at or after, none is empty, never the end" {
  printf '{"value":"a","ts":%s}\n' $((T + 100)) $((T + 50)) $((T + 200)) | tk produce t -q -i json --format kafka
  for pair in 60:0 100:0 101:2 200:2 201:; do
    equal "$(tk get-offsets t --time $((T + ${pair%:*})))" "t:0:${pair#*:}"
  done
  tk_is 0 get-offsets t --time $((T + 150)) --json
  equal "$(rows '[.topic, .partition, .offset, .ts]')" "[\"t\",0,2,$((T + 200))]"
  tk_is 0 get-offsets t-0 --time max-timestamp --json
  equal "$(rows '[.offset, .ts]')" "[2,$((T + 200))]"
  tk_is 0 get-offsets t --time $((T + 201)) --json
  equal "$(rows '[.offset, .ts]')" '[null,null]'
}

@test "R56: for committed readers the end is the last stable offset" {
  put $S0 TX E@2
  equal "$(tk get-offsets t) $(tk get-offsets t --isolation read_committed)" "t:0:7 t:0:0"
}

@test "two compactions at once take turns, and a producer goes on meanwhile" {
  seq 30000 | sed 's/.*/k:&/' | keyed kafka -c segment.bytes=10000
  "$TK" compact t --force -q 3>&- &
  local one=$!
  "$TK" compact t --force -q 3>&- &
  local two=$!
  seq 50 | sed 's/.*/n:&/' | tk produce t -q -K :
  wait $one
  wait $two
  equal "$(tk consume t --latest-per-key -K : | tail -n 1)" n:50
  equal "$(end_offset)" 30050
  tk_is 0 verify
}

@test "compaction of many keys, by both processors or in several passes: the last value of each, in order" {
  # 300,000 records of 20,000 keys in an order that jumps; one key in seven ends with a tombstone.
  awk 'BEGIN { for (i = 0; i < 300000; i++) { k = (i * 7919) % 20011
    print "k" k "\t" (i > 270000 && k % 7 == 0 ? "" : "v" i) } }' >input
  awk -F'\t' '{ last[$1] = NR; line[NR] = $0 } END { for (k in last) print last[k] - 1 "\t" line[last[k]] }' input | sort -n >expected
  for format in json kafka; do
    # The smaller map has not room for all keys at once.
    for map in 128M 600K; do
      rm -rf "$TK_DIR"
      tk topics create t --format $format -c cleanup.policy=compact -c segment.bytes=1000000 -q
      tk produce t -K $'\t' --null-marker '' -q <input
      tk_is 0 compact t --force --roll --map-bytes $map --json
      [ "$(jq .passes <<<"$output")" = 1 ] || [ $map = 600K ]
      [ "$(jq .passes <<<"$output")" != 1 ] || [ $map = 128M ]
      tk consume t -f '%o\t%k\t%s\n' >left
      cmp expected left
      tk_is 0 verify t
    done
  done
}

@test "dry runs leave a directory as it is, lock files included" {
  put $S0 A B
  put logs/t-0/00000000000000000002.log C@2
  local before
  before=$(digest logs)
  tk_is 0 compact t -c cleanup.policy=compact --force --roll --dry-run
  tk_is 0 retain t -c retention.bytes=0 --dry-run
  tk_is 0 delete-records t-0=2 --dry-run
  tk_is 0 get-offsets t
  tk_is 0 txn list
  tk_is 0 producers list
  equal "$(digest logs)" "$before"
}

@test "compaction and retention leave of 40 recorded logs what Kafka's engine left" {
  mkdir aged
  zstd -dcq "$BATS_TEST_DIRNAME/../fixtures/ageing/kafka-made.tar.zst" | tar -xf - -C aged
  run python3 "$BATS_TEST_DIRNAME/ageing_recorded.py" "$TK" aged
  equal "$output" "360 compared, 0 wrong"
}

@test "a broker's metadata log is neither retained by age nor compacted nor shortened" {
  cp -r "$(fixture kafka-4.4-clean)/data" broker
  local before
  before=$(cat broker/__cluster_metadata-0/*.log | cksum)
  tk_is 0 -d broker retain __cluster_metadata --at 2099-01-01T00:00:00Z
  contains "$output" "decided by its controllers"
  tk_is 2 -d broker compact __cluster_metadata --force --roll -c cleanup.policy=compact
  tk_is 2 -d broker delete-records __cluster_metadata-0=10
  contains "$stderr" "its controllers do that"
  equal "$(cat broker/__cluster_metadata-0/*.log | cksum)" "$before"
}
