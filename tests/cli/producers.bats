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

@test "killed again and again in the middle, then run to its end: every record once" {
  seq 40000 | sed 's/$/ of a longer line/' > in
  for format in json kafka; do
    rm -rf logs
    tk topics create t -p 3 --format $format
    for i in 1 2 3 4 5 6 7 8 9 10; do
      "$TK" produce t --producer p --batch-size 4000 -q in 3>&- &
      local writer=$!
      sleep "0.0$i"
      kill -9 $writer 2> /dev/null || true
      wait $writer || true
    done
    tk produce t --producer p -q in 2> /dev/null
    cmp <(tk consume t | sort) <(sort in)
    tk_is 0 verify
  done
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

@test "a state file that cannot be used is named, not written over" {
  seq 5 | tk produce t --producer p -q
  echo '{"format":99}' > logs/tk-producers.json
  run --separate-stderr bash -c "seq 6 | '$TK' produce t --producer p --json"
  equal "$status" 1
  error_is UNSUPPORTED_VERSION
  echo '{"format":1,' > logs/tk-producers.json
  run --separate-stderr bash -c "seq 6 | '$TK' produce t --producer p --json"
  equal "$status" 3
  error_is CORRUPT_STATE
  equal "$(cat logs/tk-producers.json)" '{"format":1,'
  equal "$(end_offset)" 5
}
