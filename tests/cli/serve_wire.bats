#!/usr/bin/env bats
# tk serve against recorded exchanges of a real broker, against a model of fetch sessions, and with many waiting (tests/wire).

load common

@test "recorded exchanges with a real broker are answered as it answered them" {
  run timeout 100 python3 "$project/tests/wire/replay.py" "$TK" "$TK_DIR"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  contains "$output" "186 passed, 0 failed"
  tk_is 0 verify
}

@test "incremental fetch sessions: every record is seen once, in order" {
  run timeout 100 python3 "$project/tests/wire/sessions.py" "$TK" "$TK_DIR" 2000
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  contains "$output" "2000 steps"
}

@test "hundreds wait, and one record wakes them, while others are answered" {
  run timeout 60 python3 "$project/tests/wire/waiters.py" "$TK" "$TK_DIR" 500 300
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  contains "$output" "800 of 800 woken"
}

@test "four producers of tk's and four of the wire on one partition, and a reader of each kind" {
  run timeout 60 python3 "$project/tests/wire/side_by_side.py" "$TK" "$TK_DIR" 500
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  contains "$output" "4000 records of 8 producers"
  tk_is 0 verify
}
