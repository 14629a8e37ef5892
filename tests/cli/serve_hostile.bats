#!/usr/bin/env bats
# Strangers at tk serve's ports: tests/wire/hostile.py has the cases; each must leave a server that serves an honest client.

load common

# cases NAME...
cases() {
  run timeout 120 python3 "$project/tests/wire/hostile.py" "$TK" "$PWD" "$@"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  equal "$(tail -n 1 <<<"$output")" "$# passed, 0 failed"
}

@test "requests of one session at the same time; a segment that is taken away" {
  cases two_requests_of_one_session a_segment_is_taken_away
}

@test "text that is not UTF-8, and frames of 2 GiB" {
  cases text_that_is_none frames_of_2_gib
}

@test "requests that ask for more than they are, and names that nobody has, take no memory" {
  cases requests_that_cost_more_than_they_are names_that_nobody_has fetch_more_than_fits_a_frame
}

@test "frames and heads that do not end hold up nobody else, and are cut" {
  cases frames_that_do_not_end http_heads_byte_by_byte
}

@test "HTTP: foreign hosts and origins, wrong requests, deep and endless bodies" {
  cases hosts_and_origins http_of_every_wrong_kind one_key_for_all_records
}

@test "readers that are slow or vanish, and a search for what is nowhere, cost only themselves" {
  cases readers_that_are_slow a_key_that_is_nowhere peers_are_probed
}

@test "--read-only changes nothing, whatever is asked for" {
  cases read_only_writes_nothing
}

@test "a cluster's directory is not served, its brokers are, read-only" {
  tk_is 0 cluster init --brokers 2
  tk_is 2 --json serve --kafka 127.0.0.1:0
  error_is INVALID_REQUEST
  contains "$stderr" broker-
}

@test "a second signal ends it at once" {
  python3 - "$TK" "$TK_DIR" "$project/tests/wire" <<'PY'
import sys, time
sys.path.insert(0, sys.argv[3])
from wire import *
server = Server(sys.argv[1], sys.argv[2], "--drain-ms", "20000")
client = server.client()
client.metadata("t")
# A reader that does not read keeps it draining.
for _ in range(40): client.produce("t", batch([b"x" * 900000]), acks=1)
client.send(FETCH, 7, fetch_body([("t", 0, 0, 1 << 30)]))
time.sleep(0.3)
server.process.terminate()
time.sleep(0.5)
assert server.alive()
began = time.time()
server.process.terminate()
assert server.process.wait(5) == 143 and time.time() - began < 1
PY
}
