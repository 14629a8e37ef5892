# In shell pipelines, one test a case from the field; each for both formats where it matters.
load common

@test "R76 bytes survive the pipe" {
  local format
  for format in json kafka; do
    rm -rf logs
    printf 'a\0b\n\xff\xfe\n' | tk produce t -q --format $format
    equal "$(tk consume t | xxd -p)" 6100620afffe0a
    head -c 1000 /dev/urandom > random
    tk produce u -q -i raw --format $format < random
    tk consume u -D '' | cmp - random
    for i in {0..255}; do printf "\\x$(printf %02x "$i")"; done > every
    tk produce v -q -i raw --format $format every every
    cmp <(tk consume v -D '') <(cat every every)
  done
}

@test "R78 JSON of bytes that are not text, and back" {
  local format
  echo '{"key_b64":"/wA=","value_b64":"gA==","headers":[["h",{"b64":"/g=="}],["ü","ü"]],"ts":1700000000000}' > in
  for format in json kafka; do
    rm -rf logs
    tk produce t -q -i json --format $format < in
    tk_is 0 consume t -J
    equal "$(jq -c '[.key_b64, .value_b64, .headers, has("key"), has("value")]' <<< "$output")" '["/wA=","gA==",[["h",{"b64":"/g=="}],["ü","ü"]],false,false]'
    equal "$(tk consume t -K '' | xxd -p)" ff00800a
    tk consume t -J | tk produce u -q -i json --format $format
    cmp <(tk consume t -J | jq -c 'del(.topic)') <(tk consume u -J | jq -c 'del(.topic)')
  done
}

@test "R79 null, empty and the word null" {
  put $S0 N
  local format
  for format in kafka json; do
    tk consume t -J | tk produce $format -q -i json --format $format
    cmp <(tk consume t -J | jq -c 'del(.topic)') <(tk consume $format -J | jq -c 'del(.topic)')
  done
  tk consume t -K : --null-marker '<nil>' | tk produce w -q -K : --null-marker '<nil>'
  cmp <(tk consume t -J | jq -c '[.key, .value]') <(tk consume w -J | jq -c '[.key, .value]')
  echo 'null' | tk produce x -q
  tk_is 0 consume x -J
  equal "$(rows '.value | @json')" '"null"'
}

@test "R80 headers keep nulls, duplicates and order" {
  put $S0 H
  local want='[["a","1"],["a","2"],["n",null],["e",""]]' format
  equal "$(tk consume t -J | jq -c .headers)" "$want"
  for format in kafka json; do
    tk consume t -J | tk produce $format -q -i json --format $format
    equal "$(tk consume $format -J | jq -c .headers)" "$want"
  done
}

@test "R81 a full disk: exit 1, and the message says how many records are there" {
  local format
  seq 100000 | sed 's/$/ of many lines/' > lines
  for format in kafka json; do
    rm -rf logs
    tk_is 0 topics create t --format $format
    run --separate-stderr bash -c "ulimit -f 256; exec '$TK' produce t --json < lines"
    equal "$status" 1
    error_is STORAGE_ERROR
    local stored
    stored=$(tk consume t --count)
    [ "$stored" -lt 100000 ]
    contains "$stderr" "$stored"
    cmp <(tk consume t) <(head -n "$stored" lines)
    tk_is 0 produce t --json <<< after
    equal "$(rows .base_offset)" "$stored"
  done
}

@test "R82 | head ends at once and quietly" {
  seq 300000 | tk produce t -q
  local began=$EPOCHREALTIME
  run --separate-stderr bash -c "set -o pipefail; timeout 5 '$TK' consume t | head -n 1"
  equal "$status|$output|$stderr" "0|1|"
  run --separate-stderr bash -c "set -o pipefail; timeout 5 '$TK' consume t -J | head -n 1 | jq -r .value"
  equal "$status|$output|$stderr" "0|1|"
  run --separate-stderr bash -c "set -o pipefail; timeout 5 '$TK' dump-log t | head -n 1 | wc -l"
  equal "$status|$output|$stderr" "0|1|"
  [ $(((${EPOCHREALTIME/./} - ${began/./}) / 1000)) -lt 3000 ]
}

@test "R83 stdout is data only" {
  printf 'a\n' | tk produce t -q > out 2> err
  equal "$(cat out err | wc -c)" 0
  tk consume t 2> /dev/null | cmp - <(printf 'a\n')
  tk consume t > /dev/null 2> err
  equal "$(wc -c < err)" 0
}

@test "R85 a line is there within the linger, while the input stays open" {
  local format
  for format in kafka json; do
    tk_is 0 topics create $format --format $format
    (echo a; exec sleep 2) | tk produce $format --linger-ms 100 -q 3>&- &
    local writer=$! i seen=""
    for i in {1..15}; do
      sleep 0.1
      seen=$(tk consume $format)
      [ -z "$seen" ] || break
    done
    equal "$seen" a
    wait $writer
  done
}

@test "R86 to the end means the end at the start" {
  tk_is 0 topics create t
  (for i in {1..600}; do echo x; sleep 0.003; done) | tk produce t -q --linger-ms 1 3>&- &
  local writer=$! i
  for i in 1 2 3 4 5; do
    run --separate-stderr timeout 5 "$TK" consume t --from-beginning
    equal "$status" 0
    sleep 0.1
  done
  wait $writer
  tk_is 0 consume t --count
  equal "$output" 600
}

@test "an idle pipe keeps no other producer out" {
  (echo first; sleep 3) | tk produce t -q --linger-ms 10 3>&- &
  local writer=$!
  sleep 0.5
  tk_is 0 produce t --lock-timeout 1500 --json <<< second
  equal "$(rows .base_offset)" 1
  wait $writer
  equal "$(values)" "first second"
}

@test "a killed producer leaves whole records and a log that goes on" {
  local format
  for format in kafka json; do
    tk_is 0 topics create $format --format $format -c segment.bytes=64K
    (yes "a line of some length, again and again") | "$TK" produce $format -q 3>&- &
    local writer=$!
    until [ "$(tk consume $format --count 2> /dev/null || echo 0)" -gt 1000 ]; do sleep 0.05; done
    kill -9 $writer
    wait $writer 2> /dev/null || true
    tk_is 0 consume $format --count
    local count=$output
    tk_is 0 produce $format --json <<< next
    equal "$(rows .base_offset)" "$count"
    tk_is 0 verify $format
    equal "$(tk consume $format | sort -u | wc -l)" 2
  done
}

@test "a terminated producer keeps what it was given, exit 143" {
  mkfifo pipe
  "$TK" produce t -q --linger-ms 10 < pipe 3>&- &
  local writer=$! code=0
  exec 5> pipe
  seq 5 >&5
  sleep 0.5
  kill -TERM $writer
  wait $writer || code=$?
  exec 5>&-
  equal "$code" 143
  equal "$(values)" "1 2 3 4 5"
}
