#!/usr/bin/env bats
# Producers of a cluster beside each other: its lock is held while input flows, and not while it pauses.
load common.bash

@test "produce gives the cluster's lock up while its input pauses, and finds the new leader" {
  tk cluster init --brokers 3 -q
  tk topics create t -c min.insync.replicas=2 -q
  mkfifo in
  "$TK" produce t --acks all -q <in &
  local pid=$!
  exec 5>in
  echo a >&5
  for ((i = 0; i < 100; i++)); do [ "$(tk consume t)" = a ] && break || sleep 0.1; done
  equal "$(tk consume t)" a
  # The writer lives, and others change the cluster: another broker leads.
  tk cluster stop 1 --lock-timeout 5000
  tk failover t-0 --lock-timeout 5000 >/dev/null
  echo b >&5
  exec 5>&-
  wait $pid
  tk replicate-sim t-0 --rounds 2 >/dev/null
  tk_is 0 consume t
  equal "$output" "$(printf 'a\nb')"
  # Each slice is a line of the events.
  tk_is 0 cluster events
  equal "$(jq -rc 'select(.op == "append") | .args[0]' <<<"$output" | tr '\n' ';')" "t-0 0..0;t-0 1..1;"
}

# fed ARGS...: a produce to t whose input comes slowly: lines go to descriptor 5; its process is $pid.
fed() {
  mkfifo in
  "$TK" produce t "$@" <in >out 2>err &
  pid=$!
  exec 5>in
}
# consumed VALUE...: waits till t holds these.
consumed() {
  local want
  want=$(printf '%s\n' "$@") # no blank at the end
  for ((i = 0; i < 100; i++)); do [ "$(tk consume t)" = "$want" ] && return || sleep 0.1; done
  equal "$(tk consume t)" "$want"
}

@test "a named producer that waits for input keeps nobody out, and goes on at a new leader" {
  tk cluster init --brokers 3 -q
  tk topics create t -c min.insync.replicas=2 -q
  fed --producer p --acks all
  echo a >&5
  consumed a
  # Each of these takes the cluster's lock.
  tk_is 0 cluster status --lock-timeout 3000
  tk_is 0 produce t --acks all -q --lock-timeout 3000 <<<other
  tk_is 0 produce t --acks all -q --producer q --lock-timeout 3000 <<<another
  tk_is 0 cluster stop 1 --lock-timeout 3000
  tk_is 0 failover t-0 --lock-timeout 3000
  echo b >&5
  consumed a other another b
  # The name is taken meanwhile, and the wait for it is no wait of the run that has it.
  printf 'a\nb\nc\nd\n' | "$TK" produce t --producer p --acks all >second 2>&1 5>&- &
  local second=$!
  sleep 0.5
  echo c >&5
  consumed a other another b c
  kill -0 $second
  exec 5>&-
  wait $pid
  equal "$(cat out)" "t-0 0..4 3"
  wait $second
  equal "$(cat second)" "t-0 5..5 1 (3 duplicates)"
  consumed a other another b c d
  tk_is 0 verify
}

@test "a named producer finds that what it wrote was lost to a failover while it waited" {
  tk cluster init --brokers 2 -q
  tk topics create t -p 1 --replicas 2 -q
  fed --producer p --acks 1
  echo a >&5
  for ((i = 0; i < 100; i++)); do [ "$(tk get-offsets t --json | jq .offset)" = 1 ] && break || sleep 0.1; done
  sleep 0.3
  tk cluster stop 1
  tk failover t-0 >/dev/null
  echo b >&5
  exec 5>&-
  local code=0
  wait $pid || code=$?
  equal "$code" 4
  contains "$(cat err)" "the log expects sequence 0"
  tk_is 0 consume t
  equal "$output" ""
  # The same input anew: all of it, once.
  tk_is 0 produce t --producer p --acks 1 -q <<<$'a\nb'
  tk_is 0 replicate-sim t-0 --rounds 2
  tk_is 0 consume t
  equal "$output" "$(printf 'a\nb')"
}

@test "a transaction that was ended while its producer waited for input takes nothing more" {
  tk cluster init --brokers 3 -q
  tk topics create t -c min.insync.replicas=2 -p 2 -q
  local epoch
  epoch=$(tk txn begin A --json | jq .epoch)
  fed --txn A --acks all
  echo a >&5
  for ((i = 0; i < 100; i++)); do [ "$(tk consume t)" = a ] && break || sleep 0.1; done
  tk_is 0 cluster status --lock-timeout 3000
  tk_is 0 produce t --acks all -q --lock-timeout 3000 --partition 1 <<<other
  echo b >&5
  for ((i = 0; i < 100; i++)); do [ "$(tk consume t --count)" = 3 ] && break || sleep 0.1; done
  # Records without a key go round, whatever the pauses between them.
  equal "$(tk consume t-0 t-1 -J | jq -rc '"\(.partition) \(.value)"' | sort | tr '\n' ' ')" "0 a 1 b 1 other "
  tk_is 0 txn commit A --lock-timeout 3000
  echo c >&5
  exec 5>&-
  local code=0
  wait $pid || code=$?
  equal "$code" 4
  contains "$(cat err)" INVALID_PRODUCER_EPOCH || contains "$(cat err)" "transaction"
  tk_is 0 consume t --isolation read_committed
  equal "$(sort <<<"$output" | tr '\n' ' ')" "a b other "
}

@test "a named run that follows one whose records were not committed waits for them, too" {
  tk cluster init --brokers 2 -q
  tk topics create t -p 1 --replicas 2 -q
  tk cluster stop 2 # still in sync, and fetches nothing
  tk_is 4 produce t --producer p --acks all --timeout-ms 100 --json <<<a
  error_is REQUEST_TIMED_OUT
  tk_is 4 produce t --producer p --acks all --timeout-ms 100 --json <<<a
  error_is REQUEST_TIMED_OUT
  tk_is 0 consume t
  equal "$output" ""
  tk cluster start 2
  tk_is 0 produce t --producer p --acks all --json <<<a
  tk_is 0 consume t
  equal "$output" a
}

@test "a line that is refused is named by its number in the input, however it came in slices" {
  tk cluster init --brokers 2 -q
  tk topics create t -p 1 --replicas 2 -q
  for way in "" "--producer p"; do
    # shellcheck disable=SC2086
    fed --acks all -i json $way
    echo '{"value":"a"}' >&5
    sleep 0.5
    printf '{"value":"b"}\nnone\n' >&5
    exec 5>&-
    wait $pid || true
    contains "$(cat err)" "line 3"
    rm in
  done
}
