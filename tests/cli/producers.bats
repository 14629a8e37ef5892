# tk produce --producer and tk producers: the same input piped again ends with every record once (cli.md §9).
load common

@test "an input piped twice, longer, shorter, another one; both formats, every codec" {
  for how in json kafka "kafka -z zstd" "kafka -z lz4"; do
    rm -rf logs
    # shellcheck disable=SC2086
    seq 10 | tk produce t --producer p --format $how -q
    # shellcheck disable=SC2086
    seq 25 | tk produce t --producer p ${how#* } -q 2> /dev/null || seq 25 | tk produce t --producer p -q
    tk_is 0 consume t
    equal "$output" "$(seq 25)"
    run --separate-stderr bash -c "seq 7 | '$TK' produce t --producer p --json"
    equal "$status $(rows '[.count, .duplicates, .base_offset]')" '0 [0,7,null]'
    run --separate-stderr bash -c "(seq 24; echo other) | '$TK' produce t --producer p --json"
    equal "$status" 4
    error_is OUT_OF_ORDER_SEQUENCE_NUMBER
    equal "$(end_offset)" 25
    tk_is 0 verify
  done
}

@test "over many partitions, keys and null keys alike, whatever the batch size" {
  for key in "" "-K :"; do
    rm -rf logs
    tk topics create t -p 5 --format kafka
    seq 3000 | sed 's/.*/k&:v&/' > in
    # shellcheck disable=SC2086
    head -n 1234 in | tk produce t --producer p -q --batch-size 300 $key
    # shellcheck disable=SC2086
    tk produce t --producer p -q --batch-size 5000 $key in
    # shellcheck disable=SC2086
    cmp <(tk consume t $key | sort) <(sort in)
  done
}

@test "a topic whose partition count has changed since is refused" {
  seq 9 | tk produce t --producer p -q -p 0
  tk topics alter t -p 3
  run --separate-stderr bash -c "seq 20 | '$TK' produce t --producer p --json"
  equal "$status $(end_offset)" "4 9"
}

@test "what a producer wrote survives retention and compaction of its topic" {
  seq 3000 | sed 's/.*/k:&/' > in
  tk topics create t --format kafka -c segment.bytes=4096 -c cleanup.policy=compact,delete
  tk produce t --producer p -q -K : in
  tk_is 0 compact t --force --roll --at $((T + 1000 * 86400000))
  tk_is 0 retain t -c retention.bytes=0
  run --separate-stderr bash -c "'$TK' produce t --producer p -K : --json in"
  equal "$status $(rows '[.count, .duplicates]')" '0 [0,3000]'
  equal "$(end_offset)" 3000
}

@test "producers list and delete" {
  seq 5 | tk produce t --producer p -q
  tk_is 0 producers list --json
  equal "$(rows .name)" p
  tk_is 0 producers delete p
  tk_is 0 producers list --json
  equal "$output" ""
  tk_is 1 producers delete p
}

@test "the same input again changes nothing, a longer one is completed" {
  seq 1 100 > short && seq 1 250 > long
  for format in json kafka; do
    tk_is 0 produce "$format" --format "$format" --partitions 3 --producer p short
    tk_is 0 produce "$format" --producer p short --json
    equal "$(rows '[.partition,.base_offset,.count,.duplicates]')" "[0,null,0,34] [1,null,0,33] [2,null,0,33]"
    tk_is 0 produce "$format" --producer p long --json
    # Record N of an input without keys goes to partition N mod 3, so 84, 83 and 83 of 250.
    equal "$(rows '[.partition,.base_offset,.last_offset,.count,.duplicates]')" \
      "[0,34,83,50,34] [1,33,82,50,33] [2,33,82,50,33]"
    equal "$(tk consume "$format" | sort -n | cmp - long && echo same)" same
    tk_is 0 produce "$format" --producer p long
    contains "$output" "$format-0 - 0 (84 duplicates)"
  done
  tk_is 0 verify
}

@test "batches are cut elsewhere at the second run, keys and headers too" {
  seq 1 5000 | sed 's/.*/k&:v&/' > input
  head -1777 input > part
  for format in json kafka; do
    create=(--format "$format" --partitions 4 -K : -H h=1 --producer p -q)
    tk_is 0 produce "$format" "${create[@]}" --batch-size 300 part
    tk_is 0 produce "$format" "${create[@]}" --batch-size 20000 input
    equal "$(tk consume "$format" -K : | sort | cmp - <(sort input) && echo same)" same
    # Another header is another record.
    tk_is 4 --json produce "$format" --format "$format" -K : -H h=2 --producer p -q input
    error_is OUT_OF_ORDER_SEQUENCE_NUMBER
  done
}

@test "compressed batches, files in a row, a last line without an end" {
  printf 'a\nb\nc' > one && printf 'd\ne' > two
  tk_is 0 produce t --format kafka -z zstd --producer p one
  tk_is 0 produce t -z gzip --producer p one two
  tk_is 0 produce t -z lz4 --producer p one two
  equal "$(tk consume t | tr '\n' ' ')" "a b c d e "
}

@test "another input is refused and writes nothing" {
  for format in json kafka; do
    seq 1 90 | tk produce "$format" --format "$format" --partitions 3 --producer p -q
    before=$(find logs/"$format"-* -name '*.log' -exec cksum {} + | sort)
    # Another record somewhere at the frontier, in the middle, a shorter one, a record more at the front.
    for other in "seq 2 500" "seq 1 90 | sed s/88/x/" "seq 4 20" "(echo 0; seq 1 300)"; do
      bash -c "$other" > input
      tk_is 4 --json produce "$format" --producer p input
      error_is OUT_OF_ORDER_SEQUENCE_NUMBER
      equal "$output" ""
    done
    equal "$(find logs/"$format"-* -name '*.log' -exec cksum {} + | sort)" "$before"
    # The beginning of the same input is no other input.
    seq 1 40 > input
    tk_is 0 produce "$format" --producer p input
  done
}

@test "several names and other writers share a topic" {
  for n in 1 2 3; do
    seq 1 200 | sed "s/^/$n-/" > in$n
    head -120 in$n | tk produce t --partitions 2 --producer p$n -q
    seq 1 7 | sed 's/^/nobody-/' | tk produce t -q
  done
  for n in 3 1 2; do tk produce t --producer p$n -q in$n; done
  equal "$(tk consume t | grep -v nobody | sort | cmp - <(sort in1 in2 in3) && echo same)" same
  equal "$(tk consume t | grep -c nobody)" 21
  tk_is 0 producers list --json
  equal "$(rows '[.name,.producer_id,.epoch,([.partitions[].last_sequence+1]|add)]')" \
    '["p1",4000,0,200] ["p2",4001,0,200] ["p3",4002,0,200]'
}

@test "one name in several topics" {
  seq 1 10 > input
  tk_is 0 produce a --producer p input
  tk_is 0 produce b --producer p input
  equal "$(tk consume a | tr -d '\n')$(tk consume b | tr -d '\n')" "1234567891012345678910"
}

@test "two runs of one name: the second waits, and finds nothing left to do" {
  mkfifo pipe
  seq 1 50 > input
  tk topics create t -q
  tk produce t --producer p -q pipe 3>&- &
  exec 4> pipe
  cat input >&4
  for _ in $(seq 100); do [ "$(tk consume t --count)" = 50 ] && break; sleep 0.05; done
  tk_is 4 --json produce t --producer p --lock-timeout 100 input
  error_is LOG_DIR_LOCKED
  tk_is 4 --json producers delete p
  error_is LOG_DIR_LOCKED
  exec 4>&-
  wait
  tk_is 0 produce t --producer p input
  equal "$(tk consume t --count)" 50
}

@test "names are deleted, and the next run begins anew" {
  seq 1 5 > input
  tk_is 0 produce t --producer import input
  tk_is 1 --json producers delete imprt
  error_is UNKNOWN_PRODUCER_ID
  contains "$stderr" "did you mean 'import'"
  tk_is 0 producers delete import
  tk_is 0 producers list --json
  equal "$output" ""
  tk_is 0 produce t --producer import input
  equal "$(tk consume t --count)" 10
}

@test "a bad line stops, and the mended input goes on behind what was taken" {
  printf 'a:1\nb:2\nc3\nd:4\n' > bad
  printf 'a:1\nb:2\nc:3\nd:4\n' > good
  for format in json kafka; do
    tk_is 1 produce "$format" --format "$format" -K : --producer p --batch-size 1 bad
    contains "$stderr" "line 3"
    tk_is 0 produce "$format" -K : --producer p good
    equal "$(tk consume "$format" | tr -d '\n')" 1234
    tk_is 1 produce "$format" -K : --producer p bad
    contains "$stderr" "line 3"
  done
}

@test "a state file that cannot be used" {
  seq 1 5 > input
  tk_is 0 produce t --producer p input
  cp logs/tk-producers.json good
  echo '{"format":9}' > logs/tk-producers.json
  tk_is 1 --json produce t --producer p input
  error_is UNSUPPORTED_VERSION
  echo '{"format":1' > logs/tk-producers.json
  tk_is 3 --json produce t --producer p input
  error_is CORRUPT_STATE
  tk_is 3 --json producers list
  error_is CORRUPT_STATE
  # Who writes without a name is not concerned.
  tk_is 0 produce t input
  equal "$(cat logs/tk-producers.json)" '{"format":1'
  mv good logs/tk-producers.json
  tk_is 0 produce t --producer p input
  equal "$(tk consume t --count)" 10
  # With the file lost, ids of the log are not given away again.
  rm logs/tk-producers.json
  tk_is 0 produce t --producer new input
  tk_is 0 producers list --json
  equal "$(rows .producer_id)" 4001
}

@test "usage" {
  tk_is 2 produce t --producer p --txn A
  tk_is 2 produce t --producer ''
  tk_is 2 produce t-0 -i dump --producer p
}

@test "damage at the end is cut, and the input goes on: by the next writer, and by recover" {
  seq 100 > input
  for format in json kafka; do
    for how in writer recover; do
      rm -rf logs
      tk topics create t --format $format -q
      head -n 50 input | tk produce t --producer p -q
      tk produce t --producer p -q input
      truncate -s -7 $S0
      [ $how = writer ] || tk_is 0 recover
      tk produce t --producer p -q input 2> /dev/null
      equal "$(tk consume t | sort -n)" "$(seq 100)"
      tk_is 0 verify
    done
  done
}
