# What cannot be done is said with its place, with the documented exit code, and nothing is lost.
load common

@test "a missing directory: a reader says so and makes nothing" {
  local command
  for command in "consume t" "topics list" "topics describe t" "verify" "recover" "dump-log t"; do
    # shellcheck disable=SC2086
    tk_is 1 $command -d nowhere --json
    contains "$stderr" nowhere
    [ ! -e nowhere ]
  done
}

@test "a data directory that is a file" {
  echo > file
  tk_is 1 consume t -d file
  tk_is 1 produce t -d file <<< x
  contains "$stderr" file
}

@test "an input file that cannot be read is named, and nothing is said to be stored that is not" {
  mkdir directory
  tk_is 1 produce t directory --json
  contains "$stderr" directory
  tk_is 1 produce t nosuchfile --json
  contains "$stderr" nosuchfile
}

@test "a directory in the place of a segment is named, and never written over" {
  mkdir -p $S0
  tk_is 0 consume t # a broker, too, looks only at files (kafka-4.4-damaged: foreign-dir-log)
  contains "$stderr" $SEGMENT
  run --separate-stderr "$TK" produce t --format kafka <<< x
  [[ $status == [13] ]]
  [ -d $S0 ]
}

on_read_only_mount() {
  equal "$(tk consume t -d mount | tr '\n' ' ')" "1 2 3 4 5 6 7 8 9 10 " &&
    tk_is 0 verify -d mount &&
    tk_is 0 dump-log ./mount/t-0 &&
    tk_is 0 topics describe t -d mount &&
    tk_is 1 produce t -d mount --json <<< x &&
    error_is STORAGE_ERROR &&
    contains "$stderr" mount &&
    tk_is 1 topics create u -d mount --json
}

@test "a read-only mount: reading works, writing is an error that names the place" {
  seq 10 | tk produce t -q
  mkdir mount
  mount --bind logs mount 2> /dev/null || skip "mounting is not permitted here"
  mount -o remount,bind,ro mount || { umount mount; skip "mounting is not permitted here"; }
  local failed=0
  on_read_only_mount || failed=1
  umount mount
  return $failed
}

@test "unknown commands and flags get the nearest name" {
  tk_is 2 consum t
  contains "$stderr" consume
  tk_is 2 consume t --isolaton read_committed
  contains "$stderr" isolation
  tk_is 2
  tk_is 2 produce
}

@test "an unknown config key" {
  tk_is 2 topics create t -c retention.msec=5 --json
  error_is INVALID_CONFIG
  contains "$stderr" retention.ms
  tk_is 2 produce t -c nonsense=1 --json <<< x
  error_is INVALID_CONFIG
  [ ! -e logs/t-0 ]
}

@test "an illegal topic name" {
  local name
  for name in 'a b' 'a/b' '..' '.' 'ä' ''; do
    tk_is 2 topics create "$name" --json
    error_is INVALID_TOPIC_EXCEPTION
  done
  [ ! -e logs ] || [ -z "$(find logs -mindepth 1 -type d)" ]
}

@test "a partition out of range, and one that is no number" {
  echo x | tk produce t -q
  tk_is 1 produce t -p 1 --json <<< x
  error_is UNKNOWN_TOPIC_OR_PARTITION
  tk_is 1 consume t -p 1 --json
  tk_is 2 produce t -p one <<< x
  tk_is 2 produce t -p -1 <<< x
}

@test "a line over max.message.bytes is named by its number" {
  tk_is 0 topics create t -c max.message.bytes=500
  { seq 4; printf 'x%.0s' {1..600}; echo; } > lines
  tk_is 1 produce t --json < lines
  error_is MESSAGE_TOO_LARGE
  contains "$stderr" 5
}

@test "the key separator is missing on line 7" {
  { for i in 1 2 3 4 5 6; do echo "k:$i"; done; echo none; echo k:8; } > lines
  tk_is 1 produce t -K : --json < lines
  error_is INVALID_RECORD
  contains "$(tail -n 1 <<< "$stderr" | jq -r .message)" 7
  tk_is 0 consume t --count
  [ "$output" -le 6 ]
}

@test "invalid JSON on line 3" {
  printf '{"value":"1"}\n{"value":"2"}\n{"value":\n{"value":"4"}\n' > lines
  tk_is 1 produce t -i json --json < lines
  error_is INVALID_RECORD
  contains "$(tail -n 1 <<< "$stderr" | jq -r .message)" 3
  local line
  for line in '[1]' '"text"' '{"value":"a"} x' '{"value":"\ud800"}' '{"key_b64":"?"}' '{"ts":"soon"}' '{"headers":[["a"]]}' '{"value":"a' '{"partition":-1}'; do
    tk_is 1 produce t -i json --json <<< "$line"
  done
}

@test "compression on a json topic" {
  tk_is 0 topics create t --format json
  tk_is 2 produce t --compression zstd --json <<< x
  equal "$(end_offset)" 0
}

@test "stdout that cannot be written" {
  seq 1000 | tk produce t -q
  local code=0
  tk consume t > /dev/full 2> err || code=$?
  equal "$code" 1
  [ -s err ]
  code=0
  tk topics list > /dev/full 2> err || code=$?
  equal "$code" 1
  code=0
  tk dump-log t > /dev/full 2> err || code=$?
  equal "$code" 1
}

@test "stdin and stdout closed" {
  local code=0
  "$TK" produce t <&- > out 2> err || code=$? # not by `run`: its own pipe would take the free descriptor
  equal "$code" 1
  contains "$(< err)" closed
  echo x | tk produce t -q
  code=0
  "$TK" consume t >&- 2> err || code=$?
  equal "$code" 1
  equal "$(values)" x
}

@test "a directory that a live broker holds: readers work, writers are refused at once" {
  echo x | tk produce t -q
  mkfifo held release
  python3 -c '
import fcntl
lock = open("logs/.lock", "a")
fcntl.lockf(lock, fcntl.LOCK_EX)
open("held", "w").close()
open("release").read()' 3>&- &
  local holder=$!
  cat held
  local began=$SECONDS
  tk_is 4 produce t --json <<< y
  error_is LOG_DIR_LOCKED
  contains "$stderr" .lock
  tk_is 4 topics create u --json
  tk_is 4 recover --json
  [ $((SECONDS - began)) -le 3 ]
  equal "$(values)" x
  tk_is 0 verify
  : > release
  wait $holder
  tk_is 0 produce t <<< y
  equal "$(values)" "x y"
}

@test "a config that is no number, a size that is none, a time that is none" {
  tk_is 2 consume t -n many
  tk_is 2 produce t --batch-size -5 <<< x
  tk_is 2 produce t --timestamp tomorrowish <<< x
  tk_is 2 consume t --until yesterdayish
  tk_is 2 consume t --isolation strict
  tk_is 2 topics create t --format xml
  tk_is 2 topics create t -p many
}

@test "random bytes as a segment: no crash, no hang, no record" {
  local i command
  for i in 1 2 3; do
    mkdir -p logs/t-0
    head -c 20000 /dev/urandom > $S0
    for command in "consume t" "verify" "dump-log t" "recover --dry-run" "topics describe"; do
      # shellcheck disable=SC2086
      run --separate-stderr timeout 20 "$TK" $command
      [[ $status == [03] ]] || { echo "$command: exit $status: $stderr"; return 1; }
    done
    equal "$(records)" ""
  done
}

@test "the last line on stderr of a failure is one JSON object" {
  put $S0 A B C
  poke $S0 136 63
  tk_is 3 consume t -J
  equal "$(tail -n 1 <<< "$stderr" | jq -c '[.error, .position, has("message"), has("path")]')" '["CORRUPT_MESSAGE",69,true,true]'
}
