# tk topics: create, list, describe, alter, delete.
load common

@test "create makes the partitions, an id, and nothing twice" {
  tk_is 0 topics create orders -p 3
  [ -d logs/orders-0 ] && [ -d logs/orders-1 ] && [ -d logs/orders-2 ] && [ ! -e logs/orders-3 ]
  local id
  id=$(jq -r .topics.orders.id logs/tk-topics.json)
  [[ $id =~ ^[A-Za-z0-9_-]{22}$ ]]
  equal "$(cat logs/orders-2/partition.metadata)" "version: 0"$'\n'"topic_id: $id"
  equal "$(jq -c '[.format, .topics.orders.partitions, .topics.orders.format]' logs/tk-topics.json)" '[1,3,"json"]'
  tk_is 1 topics create orders --json
  error_is TOPIC_ALREADY_EXISTS
  tk_is 0 topics create orders --if-not-exists
}

@test "format: --format, TK_FORMAT, and what exists wins" {
  tk_is 0 topics create a
  TK_FORMAT=kafka tk_is 0 topics create b
  tk_is 0 topics create c --format kafka
  tk_is 0 topics list --json
  equal "$(jq -rs 'sort_by(.topic)[] | "\(.topic)=\(.format)"' <<< "$output" | tr '\n' ' ')" "a=json b=kafka c=kafka "
  echo x | tk produce a -q
  tk_is 1 produce a --format kafka <<< y
  contains "$stderr" json
  equal "$(values)" "(exit 1)" # no topic t
  tk_is 0 consume a
  equal "$output" x
}

@test "a directory that belongs to a broker gets kafka topics" {
  mkdir logs
  printf 'version=1\nnode.id=1\ncluster.id=Zk3TgNzYQ1qwQXZ0yVnZ0g\n' > logs/meta.properties
  tk_is 0 topics create t
  tk_is 0 topics list --json
  equal "$(rows .format)" kafka
}

@test "list and describe: counts, sizes, offsets, times" {
  tk_is 0 topics create t -p 2 --format kafka
  printf 'a\nb\nc\n' | tk produce t -p 1 --timestamp $T -q
  tk_is 0 topics list --json
  equal "$(rows '[.topic, .partitions, .format, .records] | @csv')" '"t",2,"kafka",3'
  equal "$(rows .bytes)" "$(cat logs/t-*/*.log | wc -c)"
  tk_is 0 topics describe t --json
  equal "$(jq -c 'select(.partition == 1) | [.segments, .log_start_offset, .log_end_offset, .high_watermark, .last_stable_offset, .first_ts, .last_ts]' <<< "$output")" "[1,0,3,3,3,$T,$T]"
  equal "$(jq -c 'select(.partition == 0) | [.log_start_offset, .log_end_offset, .first_ts, .last_ts, .bytes]' <<< "$output")" "[0,0,null,null,0]"
  equal "$(jq -r 'select(.partition == 0) | .topic_id' <<< "$output")" "$(jq -r .topics.t.id logs/tk-topics.json)"
  [ -d "$(jq -r 'select(.partition == 1) | .path' <<< "$output")" ]
}

@test "configs are Kafka's, sizes take K and M, an unknown key is an error with the nearest name" {
  tk_is 0 topics create t -c segment.bytes=64K -c retention.ms=3600000
  tk_is 0 topics describe t --configs --json
  equal "$(rows '[.topic, .configs["segment.bytes"], .configs["retention.ms"]] | @csv')" '"t","65536","3600000"'
  tk_is 0 topics alter t -c segment.bytes=128 --unset retention.ms
  tk_is 0 topics describe t --configs --json
  equal "$(rows '.configs | [.["segment.bytes"], has("retention.ms")] | tostring')" '["128",false]'
  tk_is 2 topics create u -c segment.byte=100 --json
  error_is INVALID_CONFIG
  contains "$stderr" segment.bytes
  tk_is 2 topics create u -c segment.bytes=127 --json
  error_is INVALID_CONFIG
  tk_is 2 topics create u -c segment.bytes=many --json
  error_is INVALID_CONFIG
  [ ! -e logs/u-0 ]
}

@test "alter adds partitions and never takes them away" {
  tk_is 0 topics create t -p 2
  tk_is 0 topics alter t -p 4
  [ -d logs/t-3 ]
  tk_is 2 topics alter t -p 3 --json
  error_is INVALID_PARTITIONS
  [ -d logs/t-3 ]
  tk_is 2 topics create u -p 0 --json
  error_is INVALID_PARTITIONS
}

@test "delete says what it would do, does it, and a topic may come again" {
  tk_is 0 topics create t -p 2
  echo old | tk produce t -q
  local before
  before=$(digest logs)
  tk_is 0 topics delete t --dry-run
  equal "$(digest logs)" "$before"
  tk_is 0 topics delete t
  [ -z "$(find logs -name 't-*')" ]
  tk_is 1 consume t
  tk_is 0 topics create t
  tk_is 0 consume t
  equal "$output" ""
  tk_is 1 topics delete nosuch --json
  error_is UNKNOWN_TOPIC_OR_PARTITION
}

@test "the next delete removes what a crashed one left" {
  tk_is 0 topics create t
  tk_is 0 topics create u
  mv logs/t-0 logs/t-0.0123456789abcdef0123456789abcdef-delete
  tk_is 0 topics delete u
  [ -z "$(find logs -name '*-delete')" ]
}

@test "a name: last dash splits, the whole name comes first, -p leaves no doubt" {
  tk_is 0 topics create a -p 2
  echo of-a | tk produce a -p 1 -q
  tk_is 0 consume a-1
  equal "$output" of-a
  tk_is 0 topics create a-1
  echo of-a-1 | tk produce a-1 -q
  tk_is 0 consume a-1
  equal "$output" of-a-1
  tk_is 0 consume a -p 1
  equal "$output" of-a
  tk_is 0 consume a-1-0
  equal "$output" of-a-1
}

@test "replicas elsewhere than in a cluster" {
  tk_is 2 topics create t --replicas 2
  tk_is 0 topics create t --replicas 1
}

@test "a missing topic gets the nearest name; describe of the rest goes on" {
  tk_is 0 topics create orders
  tk_is 1 topics describe order --json
  contains "$stderr" orders
  error_is UNKNOWN_TOPIC_OR_PARTITION
  tk_is 1 topics describe nosuch orders --json
  equal "$(rows .topic)" orders
}

@test "an unknown version of tk-topics.json is refused, never rewritten" {
  tk_is 0 topics create t
  sed -i 's/"format": *1/"format":99/' logs/tk-topics.json
  local before
  before=$(cat logs/tk-topics.json)
  tk_is 1 topics create u --json
  error_is UNSUPPORTED_VERSION
  equal "$(cat logs/tk-topics.json)" "$before"
}

@test "a damaged tk-topics.json is named and not overwritten; the partitions stay readable" {
  tk_is 0 topics create t
  echo x | tk produce t -q
  echo '{"format":1,"topics":' > logs/tk-topics.json
  tk_is 3 topics create u --json
  error_is CORRUPT_STATE
  equal "$(cat logs/tk-topics.json)" '{"format":1,"topics":'
  run --separate-stderr "$TK" dump-log "$PWD/logs/t-0"
  contains "$output" "offset: 0"
}
