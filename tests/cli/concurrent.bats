# Several at work on one partition: writers take turns, readers and followers see a prefix of what is written, in order.
load common

@test "producers that roll take turns: every record once, each producer's in its order, nothing damaged" {
  local format p pids
  for format in json kafka; do
    tk_is 0 topics create $format --format $format -c segment.bytes=20K -c index.interval.bytes=500
    pids=()
    for p in 1 2 3; do
      # Pauses in the input make them give the turn up and take it again.
      for part in {0..9}; do
        seq $((part * 300 + 1)) $((part * 300 + 300)) | sed "s/^/$p-/"
        sleep 0.02
      done | tk produce $format -q --batch-size 700 --sync "$([ $p = 1 ] && echo batch || echo end)" 3>&- &
      pids+=($!)
    done
    for p in "${pids[@]}"; do wait "$p"; done
    tk consume $format -J | jq -r '"\(.offset) \(.value)"' > all
    cmp <(cut -d ' ' -f 1 all) <(seq 0 8999)
    for p in 1 2 3; do cmp <(cut -d ' ' -f 2 all | grep "^$p-") <(seq 3000 | sed "s/^/$p-/"); done
    [ "$(segment_files "logs/$format-0" | wc -l)" -gt 5 ]
  done
  tk_is 0 verify
}

# hold SECONDS: somebody has the right to write t-0 (byte 0 of its lock file) for so long, or until killed.
hold() {
  python3 - "$1" logs/t-0/.lock <<'PY' 3>&- &
import fcntl, struct, sys, time
with open(sys.argv[2], "r+b") as file:
    fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0))  # 37: F_OFD_SETLK
    open("held", "w").close()
    time.sleep(float(sys.argv[1]))
PY
  holder=$!
  until [ -e held ]; do sleep 0.02; done
}

@test "who gets no turn in time is refused, and has written nothing" {
  seq 3 | tk produce t -q
  local holder before
  before=$(sha256sum < $S0)
  hold 60
  tk_is 4 produce t --lock-timeout 0 --json <<< x
  error_is LOG_DIR_LOCKED
  tk_is 4 produce t --lock-timeout 300 --json <<< x
  error_is LOG_DIR_LOCKED
  contains "$stderr" logs/t-0/.lock
  tk_is 4 recover t --lock-timeout 0
  tk_is 4 topics delete t --lock-timeout 0
  # Readers take no lock.
  equal "$(values)" "1 2 3"
  tk_is 0 verify
  kill $holder
  equal "$(sha256sum < $S0)" "$before"
  tk_is 0 produce t --lock-timeout 5000 --json <<< x
  equal "$(rows .base_offset)" 3
}

@test "who waits for a turn gets it when it comes free" {
  seq 3 | tk produce t -q
  local holder
  hold 0.4
  tk_is 0 produce t --lock-timeout 20000 --json <<< x
  equal "$(values)" "1 2 3 x"
}

@test "a signal ends the wait for a turn" {
  seq 3 | tk produce t -q
  local holder signal code
  hold 60
  for signal in INT:130 TERM:143; do
    code=0
    timeout 30 "$TK" produce t --lock-timeout 1000000 <<< x 2> err 3>&- &
    local waiting=$!
    until [ -n "$(pgrep -P $waiting)" ]; do sleep 0.02; done
    sleep 0.3
    kill -"${signal%:*}" "$(pgrep -P $waiting)"
    wait $waiting || code=$?
    equal "$code" "${signal#*:}"
    contains "$(cat err)" interrupted
  done
  kill $holder
  equal "$(values)" "1 2 3"
}

@test "readers beside a writer that rolls see a prefix of its input, never less than before" {
  local format rounds n before
  seq 40000 | sed 's/$/ of a growing log/' > lines
  for format in json kafka; do
    tk_is 0 topics create $format --format $format -c segment.bytes=30K -c index.interval.bytes=300
    for part in {0..39}; do
      sed -n "$((part * 1000 + 1)),$((part * 1000 + 1000))p" lines
      sleep 0.03
    done | tk produce $format -q --batch-size 3000 --linger-ms 1 3>&- &
    local producer=$!
    rounds=0 before=0
    while kill -0 $producer 2> /dev/null; do
      tk consume $format > seen
      n=$(wc -l < seen)
      [ "$n" -ge "$before" ]
      cmp <(head -n "$n" lines) seen
      before=$n rounds=$((rounds + 1))
    done
    wait $producer
    [ "$rounds" -gt 3 ]
    tk consume $format | cmp - lines
  done
}

@test "followers get every record once and in order, across rolls and writers" {
  local format part f followers
  seq 20000 | sed 's/$/ of a log with followers/' > lines
  for format in json kafka; do
    tk_is 0 topics create $format --format $format -c segment.bytes=30K
    followers=()
    for f in 1 2; do
      timeout 60 "$TK" consume $format -F -n 20000 > "followed-$f" 3>&- &
      followers+=($!)
    done
    for part in {0..19}; do
      sed -n "$((part * 1000 + 1)),$((part * 1000 + 1000))p" lines | tk produce $format -q --batch-size 2000
    done
    for f in "${followers[@]}"; do wait "$f"; done
    cmp followed-1 lines
    cmp followed-2 lines
  done
}
