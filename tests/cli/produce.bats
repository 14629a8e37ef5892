# tk produce: what becomes a record, where it goes, what is refused, what is printed.
load common

@test "one record a line; a last line without a newline counts; empty lines and carriage returns are data" {
  printf 'a\n\nb\r\nc' | tk produce t
  tk_is 0 consume t -J
  equal "$(rows '.value | @json')" '"a" "" "b\r" "c"'
  equal "$(jq -c .key <<< "$output" | sort -u)" null
}

@test "files in order, - is stdin; each file's last line ends its record" {
  printf 'one\ntwo' > f1
  printf 'four\n' > f2
  echo three | tk produce t f1 - f2 -q
  equal "$(values)" "one two three four"
}

@test "no input makes no record and no file of the topic's is harmed" {
  tk_is 0 produce t < /dev/null
  equal "$output" ""
  tk_is 0 consume t
  equal "$output" ""
}

@test "the summary: a line or an object for each partition touched" {
  tk_is 0 topics create orders -p 2
  seq 50 > lines
  tk_is 0 produce orders -p 0 < lines
  equal "$output" "orders-0 0..49 50"
  tk_is 0 produce orders -p 0 --json < lines
  equal "$(rows '[.topic, .partition, .base_offset, .last_offset, .count, .duplicates] | @csv')" '"orders",0,50,99,50,0'
  tk_is 0 produce orders -p 0 -q < lines
  equal "$output" ""
  printf 'a:1\nb:2\n' > keyed
  tk_is 0 produce orders -K : --partitioner round-robin --json < keyed
  equal "$(jq -s -c 'map(.partition) | sort' <<< "$output")" "[0,1]"
}

@test "keys: fixed, split at the first separator, missing" {
  echo v | tk produce t -k fixed -q
  printf 'k:v:w\n:empty\n' | tk produce t -K : -q
  printf 'none\n' | tk produce t -K : --allow-no-key -q
  printf 'a=>b\n' | tk produce t -K '=>' -q
  tk_is 0 consume t -J
  equal "$(rows '[.key, .value] | @json')" '["fixed","v"] ["k","v:w"] ["","empty"] [null,"none"] ["a","b"]'
}

@test "headers and the marker for null" {
  printf 'k:v\nk:NIL\nNIL:v\n' | tk produce t -K : -H a=1 -H a=2 -H e= --null-marker NIL -q
  tk_is 0 consume t -J
  equal "$(rows '[.key, .value] | @json')" '["k","v"] ["k",null] [null,"v"]'
  equal "$(jq -c .headers <<< "$output" | sort -u)" '[["a","1"],["a","2"],["e",""]]'
}

@test "delimiters of one and more bytes, and NUL" {
  printf 'a;b;c' | tk produce t -D ';' -q
  printf 'd\r\ne\r\n' | tk produce t -D $'\r\n' -q
  printf 'f\0g\nh\0' | tk produce t -0 -q
  tk_is 0 consume t -J
  equal "$(rows '.value | @json')" '"a" "b" "c" "d" "e" "f" "g\nh"'
}

@test "raw: each file, or all of stdin, is one record" {
  printf 'x\ny\n' > f1
  printf 'z' > f2
  tk produce t -i raw f1 f2 -q
  printf '1\n2\n' | tk produce t -i raw -q
  tk_is 0 consume t -J
  equal "$(rows '.value | @json')" '"x\ny\n" "z" "1\n2\n"'
}

@test "json input honours key, value, headers, ts and partition, and ignores where it came from" {
  tk_is 0 topics create t -p 3
  cat > in <<'J'
{"topic":"other","partition":2,"offset":77,"ts":1700000000005,"tstype":"CreateTime","key":"k","value":"v","headers":[["a","1"],["n",null],["b",{"b64":"/w=="}]]}
{"partition":2,"key_b64":"AP8=","value":null}
{"partition":2,"value":{"a":[1, 2.50]}}
J
  tk_is 0 produce t -i json -q --timestamp $T < in
  tk_is 0 consume t -p 2 -J
  equal "$(jq -c '[.offset, .ts, .key, .key_b64]' <<< "$output" | tr '\n' ' ')" "[0,1700000000005,\"k\",null] [1,$T,null,\"AP8=\"] [2,$T,null,null] "
  equal "$(head -n 1 <<< "$output" | jq -c .headers)" '[["a","1"],["n",null],["b",{"b64":"/w=="}]]'
  # A json topic keeps a value that is neither string nor null as JSON.
  contains "$(tail -n 1 <<< "$output")" '"value":{"a":[1, 2.50]}'
  tk_is 1 produce t -i json <<< '{"partition":3,"value":"x"}'
  tk_is 0 produce t -i json --repartition -q <<< '{"partition":3,"value":"x"}'
}

@test "a kafka topic keeps a JSON value as its text" {
  tk_is 0 topics create t --format kafka
  tk_is 0 produce t -i json -q <<< '{"value":{"a":[1, 2.50]}}'
  tk_is 0 consume t
  equal "$output" '{"a":[1, 2.50]}'
}

@test "a topic made by this command grows to the partitions of its input" {
  printf '{"partition":0,"value":"a"}\n{"partition":2,"value":"b"}\n' | tk produce t -i json -q
  tk_is 0 topics list --json
  equal "$(rows .partitions)" 3
  tk_is 0 consume t-2
  equal "$output" b
}

@test "json values" {
  printf '{"a":1}\n[2]\n"s"\nnull\n' | tk produce t --json-values -q
  tk_is 0 consume t -J
  equal "$(rows '.value | tojson')" '{"a":1} [2] "s" null'
  tk_is 1 produce t --json-values --json <<< 'not json'
  error_is INVALID_RECORD
  tk_is 0 topics create k --format kafka
  run --separate-stderr "$TK" produce k --json-values <<< '1'
  [[ $status == [12] ]]
}

@test "murmur2 places keys as Kafka's producer does" {
  tk_is 0 topics create t -p 3
  printf '%s:\n' a b c d e f g h abc foobar 21 a-little-bit-long-string lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8 "" |
    tk produce t -K : -q
  tk_is 0 consume t -J
  equal "$(jq -sr 'map("\(.key)=\(.partition)") | sort | join(" ")' <<< "$output")" \
    "21=0 =0 a-little-bit-long-string=2 a=1 abc=0 b=2 c=1 d=2 e=2 f=0 foobar=0 g=0 h=1 lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8=2"
}

@test "crc32 and fnv1a place keys as librdkafka does; round-robin and sticky" {
  for p in crc32 fnv1a; do tk_is 0 topics create $p -p 10; done
  printf '%s:\n' kafka 1234 hejsan 23456 | tk produce crc32 -K : --partitioner crc32 -q
  printf '%s:\n' kafka 1234 hejsan 23456 | tk produce fnv1a -K : --partitioner fnv1a -q
  tk_is 0 consume crc32 -J
  equal "$(jq -sr 'map("\(.key)=\(.partition)") | sort | join(" ")' <<< "$output")" "1234=9 23456=3 hejsan=6 kafka=9"
  tk_is 0 consume fnv1a -J
  equal "$(jq -sr 'map("\(.key)=\(.partition)") | sort | join(" ")' <<< "$output")" "1234=5 23456=3 hejsan=8 kafka=5"
  tk_is 0 topics create rr -p 4
  seq 8 | tk produce rr --partitioner round-robin -q
  tk_is 0 topics describe rr --json
  equal "$(rows .log_end_offset)" "2 2 2 2"
  tk_is 0 topics create st -p 4
  seq 8 | tk produce st -q # eight small records without a key fit one batch
  tk_is 0 topics describe st --json
  equal "$(jq -s 'map(.log_end_offset) | max' <<< "$output")" 8
}

@test "every codec, and none on a json topic" {
  tk_is 0 topics create t --format kafka
  seq 1000 > lines
  local codec
  for codec in none gzip snappy lz4 zstd gzip:9 lz4:9 zstd:19; do tk_is 0 produce t -q -z $codec < lines; done
  tk_is 0 consume t
  equal "$output" "$(for i in 1 2 3 4 5 6 7 8; do seq 1000; done)"
  tk_is 0 dump-log t --json
  equal "$(jq -r 'select(.type == "batch") | .codec' <<< "$output" | uniq | tr '\n' ' ')" "none gzip snappy lz4 zstd gzip lz4 zstd "
  tk_is 2 produce t -z brotli < lines
  tk_is 2 produce t -z zstd:99 < lines
  tk_is 0 topics create j --format json
  tk_is 2 produce j -z gzip < lines
  tk_is 0 topics describe j --json
  equal "$(rows .log_end_offset)" 0
}

@test "compression.type of the topic is the default" {
  tk_is 0 topics create t --format kafka -c compression.type=zstd
  seq 100 | tk produce t -q
  tk_is 0 dump-log t --json
  equal "$(rows 'select(.type == "batch") | .codec')" zstd
}

@test "batch size: batches close in time, and a larger record gets its own" {
  tk_is 0 topics create t --format kafka
  { seq 1000 | sed 's/$/ of a few bytes/'; head -c 5000 /dev/zero | tr '\0' x; echo; } > lines
  tk_is 0 produce t --batch-size 1000 --report batch --json < lines
  [ "$(wc -l <<< "$output")" -gt 20 ]
  equal "$(jq -s 'map(.count) | add' <<< "$output")" 1001
  tk_is 0 dump-log t --json
  equal "$(jq -s 'map(select(.type == "batch" and .count > 1) | .size) | max <= 1100' <<< "$output")" true
  tk consume t | cmp - lines
}

@test "a record larger than a segment gets a segment to itself" {
  local format
  for format in json kafka; do
    tk_is 0 topics create $format --format $format -c segment.bytes=1024
    { seq 20; head -c 5000 /dev/zero | tr '\0' y; echo; seq 20; } > lines
    tk_is 0 produce $format -q < lines
    tk consume $format | cmp - lines
    equal "$(find logs/$format-0 -name '*.log' -size +1024c | wc -l)" 1
  done
}

@test "a record larger than max.message.bytes is refused by number; acknowledged ones stay" {
  local format
  for format in json kafka; do
    tk_is 0 topics create $format --format $format -c max.message.bytes=1000
    { echo first; head -c 3000 /dev/zero | tr '\0' z; echo; echo last; } > lines
    tk_is 1 produce $format --json < lines
    error_is MESSAGE_TOO_LARGE
    contains "$stderr" "2"
    run --separate-stderr "$TK" consume $format
    [[ $output == "" || $output == first ]]
    tk_is 0 verify $format
  done
}

@test "timestamps: given, frozen, in three notations" {
  echo a | tk produce t -q --timestamp 2023-11-14T22:13:20Z
  echo b | tk produce t -q --timestamp 2023-11-15T03:43:20+05:30
  echo c | TK_NOW=$T tk produce t -q
  echo d | tk produce t -q --at $T
  echo e | tk produce t -q --at $T --timestamp -15m
  tk_is 0 consume t -J
  equal "$(rows .ts)" "$T $T $T $T $((T - 900000))"
}

@test "--no-create, and a partition out of range" {
  tk_is 1 produce t --no-create --json <<< x
  error_is UNKNOWN_TOPIC_OR_PARTITION
  [ ! -e logs/t-0 ]
  tk_is 0 topics create t
  tk_is 1 produce t -p 1 --json <<< x
  error_is UNKNOWN_TOPIC_OR_PARTITION
}

@test "sync: none and batch give the same records" {
  seq 3 | tk produce t -q --sync none
  seq 4 6 | tk produce t -q --sync batch
  seq 7 9 | tk produce t -q --sync end
  equal "$(values)" "1 2 3 4 5 6 7 8 9"
  tk_is 0 verify
}

@test "several producers on one partition: every record once, each producer's in its order" {
  tk_is 0 topics create t --format kafka -c segment.bytes=4K
  local p pids=()
  for p in 1 2 3 4; do
    seq 2000 | sed "s/^/$p-/" | tk produce t -q --batch-size 500 3>&- &
    pids+=($!)
  done
  for p in "${pids[@]}"; do wait "$p"; done
  tk consume t > all
  equal "$(wc -l < all)" 8000
  for p in 1 2 3 4; do cmp <(grep "^$p-" all) <(seq 2000 | sed "s/^/$p-/"); done
  tk_is 0 verify
}

@test "dump as input: offsets, gaps, producers, control records and batch borders are kept" {
  put logs/a-0/$SEGMENT A TX@5 CM@7 H@9
  tk dump-log a --json --print-data-log > dump
  tk_is 0 topics create b --format kafka
  tk_is 0 produce b-0 -i dump -q < dump
  cmp logs/a-0/$SEGMENT logs/b-0/$SEGMENT
  tk_is 0 consume b -J
  equal "$(rows .offset)" "0 5 6 9"
  run --separate-stderr "$TK" produce b-0 -i dump < dump # not empty any more
  [ "$status" -ne 0 ]
  cmp logs/a-0/$SEGMENT logs/b-0/$SEGMENT
}

@test "more partitions than files may be open: the same records at the same places" {
  local format limits i
  for i in {0..999}; do printf '%s:%02700d\n' $i $i; done > lines
  sed '800s/://' lines > fault
  for format in json kafka; do
    for limits in "ulimit -n 80" "ulimit -Sn 50"; do
      rm -rf logs
      # Two files each of 60 partitions. A soft limit is raised to the hard one; that is not.
      tk topics create t -p 60 --format $format -q
      (
        $limits
        "$TK" produce t -K : --batch-size 1000 --sync none -q < lines
        printf '%s\n' k{1..120}:v | "$TK" produce t -K : --json --report batch --batch-size 1 > report
      )
      tk consume t -J | jq -c 'del(.ts)' > "got-${limits//[^a-zS]/}"
      equal "$(jq -s 'map(.count) | add' report)" 120
      # A fault ends the input: what was whole before it is there, nothing behind it.
      run --separate-stderr sh -c "$limits; exec '$TK' produce t -K : --batch-size 1 --sync none < fault"
      equal "$status" 1
      contains "$stderr" "line 800 "
      equal "$(tk consume t --count)" $((1000 + 120 + 799))
    done
    cmp got-ulimitn got-ulimitSn
    equal "$(jq -s 'group_by(.partition) | all(map(.offset) == [range(length)])' got-ulimitn)" true
    equal "$(jq -r .key got-ulimitn | sort -u | wc -l)" 1120
  done
}
