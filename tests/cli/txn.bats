# Transactions from processes of their own (cli.md §9; field cases R51 to R57).
load common

committed() { values --isolation read_committed; }

# What a reader of TOPIC sees of what is committed, sorted.
sorted() { tk consume "$1" --isolation read_committed | sort | tr '\n' ' '; }
say() { printf '%s\n' "$@"; }

@test "begin, produce, commit and abort; markers are never shown; both formats" {
  for format in json kafka; do
    rm -rf logs
    tk topics create t -p 1 --format $format
    tk_is 0 txn begin A --json
    equal "$(rows '[.id, .epoch, .timeout_ms]')" '["A",0,60000]'
    printf 'a1\na2\n' | tk produce t --txn A -q
    echo plain | tk produce t -q
    equal "$(committed)|$(values)" "|a1 a2 plain"
    equal "$(tk get-offsets t --isolation read_committed)" t:0:0
    tk_is 0 txn abort A
    equal "$(committed)|$(values)" "plain|a1 a2 plain"
    [ -s logs/t-0/00000000000000000000.txnindex ]
    tk txn begin A > /dev/null
    echo b1 | tk produce t --txn A -q
    tk_is 0 txn commit A
    equal "$(committed)|$(values)" "plain b1|a1 a2 plain b1"
    equal "$(end_offset)" 6
    tk_is 0 verify
    tk_is 0 recover --full --json
    equal "$(rows .action | tr ' ' '\n' | sort -u)" none
    equal "$(committed)" "plain b1"
  done
}

@test "group offsets become visible with the commit, or never" {
  seq 9 | tk produce in -q
  tk txn begin A > /dev/null
  echo out | tk produce t --txn A -q
  tk_is 0 txn abort A
  tk txn begin A > /dev/null
  echo out | tk produce t --txn A -q
  tk_is 0 txn commit A --group g --offset in-0=5
  tk_is 0 groups describe g --json
  equal "$(rows '[.topic, .committed]')" '["in",5]'
}

@test "a newer holder fences the older one; without an open transaction there is nothing to end" {
  echo something | tk produce other -q
  tk_is 1 txn commit A --json
  error_is INVALID_TXN_STATE
  tk txn begin A > /dev/null
  echo old | tk produce t --txn A@0 -q
  tk_is 0 txn begin A
  local epoch=$output
  [ "$epoch" -gt 0 ]
  run --separate-stderr bash -c "echo zombie | '$TK' produce t --txn A@0 --json"
  equal "$status" 4
  error_is INVALID_PRODUCER_EPOCH
  tk_is 4 txn commit A@0 --json
  error_is INVALID_PRODUCER_EPOCH
  echo new | tk produce t --txn A@"$epoch" -q
  tk_is 0 txn commit A@"$epoch"
  equal "$(committed)|$(values)" "new|old new"
  tk_is 1 txn abort A --json
  error_is INVALID_TXN_STATE
}

@test "a transaction over its time is aborted by the next command on the directory" {
  tk txn begin A --timeout 1000 --at $T > /dev/null
  echo late | tk produce t --txn A -q --at $((T + 1))
  tk_is 0 txn list --json --at $((T + 500))
  equal "$(rows 'select(.state) | [.id, .state]')" '["A","Ongoing"]'
  equal "$(rows 'select(.first_offset != null) | [.topic, .partition, .first_offset, .batches]')" '["t",0,0,1]'
  tk_is 0 txn expire --at $((T + 1002))
  equal "$(committed)|$(values)" "|late"
  tk_is 1 txn commit A --at $((T + 1003))
  equal "$(tk get-offsets t) $(tk get-offsets t --isolation read_committed)" "t:0:2 t:0:2"
}

@test "R54: who holds the last stable offset back, in any directory" {
  put $S0 TX
  tk_is 0 txn list --json --at $((T + 60000))
  equal "$(rows 'select(.first_offset != null) | [.topic, .partition, .producer_id, .epoch, .first_offset, .batches]')" '["t",0,4005,18,0,1]'
}

@test "two processes in one transaction take turns; kill -9 in it leaves one that ends whole" {
  tk topics create t -p 2 --format kafka
  tk txn begin A > /dev/null
  seq 2000 > in
  "$TK" produce t --txn A -q in 3>&- &
  local one=$!
  tk produce t --txn A -q in
  wait $one
  tk txn commit A > /dev/null
  equal "$(tk consume t --count --isolation read_committed)" 4000
  tk txn begin A > /dev/null
  yes | "$TK" produce t --txn A -q 3>&- &
  sleep 0.2
  pkill -9 -P $$ -f 'produce t --txn A' || true
  wait || true
  tk_is 0 txn abort A
  equal "$(tk consume t --count --isolation read_committed)" 4000
  tk_is 0 verify
}

@test "the data carry the epoch, the markers the next one; each abort has its entry" {
  tk topics create t --format kafka -q
  tk txn begin A -q && say x y | tk produce t --txn A -q && tk txn abort A
  tk txn begin A -q && say z | tk produce t --txn A -q && tk txn commit A
  tk_is 0 dump-log t-0 --json --deep-iteration
  # base offset, epoch, sequence, transactional, control
  equal "$(jq -rc 'select(.type=="batch")|[.base_offset,.producer_epoch,.base_sequence,.transactional,.control]' <<<"$output" | tr '\n' ' ')" \
    '[0,0,0,true,false] [2,1,-1,true,true] [3,1,0,true,false] [4,2,-1,true,true] '
  # version 0, producer 4000, first 0, marker 2, last stable offset 3 (kafka-on-disk.md 5.4)
  equal "$(xxd -p -c 40 logs/t-0/00000000000000000000.txnindex)" \
    "00000000000000000fa0000000000000000000000000000000020000000000000003"
  # 4000, epoch 2, no batch of it, coordinator 0, nothing open: 46 bytes behind the head of 10
  equal "$(xxd -p -c 60 -s 6 -l 28 logs/t-0/00000000000000000005.snapshot)" \
    "000000010000000000000fa00002ffffffffffffffffffffffff0000"
}

@test "an open transaction: where the stable part ends, and who holds it back" {
  for format in json kafka; do
    tk topics create "$format" --format "$format" -q
    say 0 1 | tk produce "$format" -q
    tk txn begin "$format" -q
    say 2 3 | tk produce "$format" --txn "$format" --timestamp $T -q
    say 4 | tk produce "$format" --txn "$format" --timestamp $T -q
    tk_is 0 topics describe "$format" --json
    equal "$(rows '[.log_end_offset,.last_stable_offset]')" "[5,2]"
    equal "$(sorted "$format")" "0 1 "
    batches=$([ "$format" = json ] && echo 3 || echo 2)
    tk_is 0 --at $((T + 5000)) txn list --json
    equal "$(jq -rc 'select(.topic)|[.topic,.partition,.epoch,.first_offset,.first_ts,.age_ms,.batches]' <<<"$output")" \
      "[\"$format\",0,0,2,$T,5000,$batches]"
    equal "$(jq -rc 'select(.state == "Ongoing")|[.id,.epoch,.state,.partitions,.groups]' <<<"$output")" \
      "[\"$format\",0,\"Ongoing\",[\"$format-0\"],[]]"
    tk_is 0 txn describe "$format"
    contains "$output" Ongoing
    tk txn commit "$format"
    tk_is 0 topics describe "$format" --json
    equal "$(rows '[.log_end_offset,.last_stable_offset]')" "[6,6]"
    tk_is 0 txn list --json
    equal "$(jq -rc 'select(.topic)' <<<"$output")" ""
    tk producers list > /dev/null
  done
}

@test "a member that is not one any more cannot commit" {
  seq 0 9 | tk produce in -q
  tk rebalance g --topic in --join m -q
  generation=$(tk groups describe g --members --json | jq .generation)
  tk txn begin A -q
  tk_is 4 --json txn commit A --group g --offset in-0=4 --member m --generation $((generation + 1))
  error_is ILLEGAL_GENERATION
  tk_is 4 --json txn commit A --group g --offset in-0=4 --member other --generation "$generation"
  error_is UNKNOWN_MEMBER_ID
  tk_is 0 txn commit A --group g --offset in-0=4 --member m --generation "$generation"
  equal "$(tk groups describe g --json | jq .committed)" 4
}

@test "an older holder is fenced" {
  tk topics create t -q
  tk txn begin A -q
  say old | tk produce t --txn A@0 -q
  equal "$(tk txn begin A)" 1
  say old > line
  tk_is 4 --json produce t --txn A@0 line
  error_is INVALID_PRODUCER_EPOCH
  for end in commit abort; do
    tk_is 4 --json txn $end A@0
    error_is INVALID_PRODUCER_EPOCH
    tk_is 4 --json txn $end A@7
    error_is INVALID_PRODUCER_EPOCH
  done
  say new | tk produce t --txn A@1 -q
  tk_is 0 txn commit A@1
  equal "$(sorted t)" "new "
}

@test "a holder that still runs is fenced where it writes next" {
  for format in json kafka; do
    for end in commit abort begin; do
      topic=$format-$end
      tk topics create "$topic" --format "$format" -q
      tk txn begin "$topic" -q
      rm -f pipe && mkfifo pipe
      tk produce "$topic" --txn "$topic" -q pipe 2> error 3>&- &
      holder=$!
      exec 4> pipe
      echo before >&4
      for _ in $(seq 100); do [ "$(tk consume "$topic" --count)" = 1 ] && break; sleep 0.05; done
      tk_is 0 txn "$end" "$topic"
      echo behind >&4
      exec 4>&-
      wait $holder && return 1
      contains "$(cat error)" "of transaction '$topic' is not the one at hand"
      equal "$(tk consume "$topic")" before
      equal "$(sorted "$topic")" "$([ $end = commit ] && echo 'before ')"
    done
  done
}

@test "two processes in one transaction take turns" {
  for format in json kafka; do
    tk topics create "$format" --format "$format" -q
    tk txn begin "$format" -q
    for n in 1 2 3; do seq 1 2000 | sed "s/^/$n-/" | tk produce "$format" --txn "$format" -q --batch-size 200 3>&- & done
    wait
    tk_is 0 txn commit "$format"
    equal "$(tk consume "$format" --isolation read_committed --count)" 6000
    for n in 1 2 3; do equal "$(tk consume "$format" | grep "^$n-" | cmp - <(seq 1 2000 | sed "s/^/$n-/") && echo same)" same; done
    tk_is 0 verify "$format"
  done
}

@test "what is over its time is aborted by the next command" {
  tk topics create t -q
  export TK_NOW=$T
  for next in "txn list" "txn expire" "produce t line" "compact t" "retain t" "commit g t-0=0"; do
    tk txn begin A --timeout 1000 -q
    say gone | tk produce t --txn A -q
    say stays > line
    TK_NOW=$((T + 1000)) tk txn describe A --json | jq -r .state | grep -q Ongoing
    # shellcheck disable=SC2086
    TK_NOW=$((T + 1001)) tk $next > /dev/null 2>&1 || true
    equal "$(tk txn describe A --json | jq -r '.state+" "+.ended')" "Empty abort"
    tk_is 1 --json txn commit A
    error_is INVALID_TXN_STATE
    tk_is 1 --json produce t --txn A line
    error_is INVALID_TXN_STATE
  done
  ! grep -q gone <<<"$(sorted t)"
}

@test "no transaction, and names that cannot be one" {
  tk topics create t -q
  for command in "txn commit A" "txn abort A" "txn commit A@0" "produce t --txn A"; do
    # shellcheck disable=SC2086
    tk_is 1 --json $command < /dev/null
    error_is INVALID_TXN_STATE
  done
  tk_is 1 --json txn describe A
  error_is TRANSACTIONAL_ID_NOT_FOUND
  tk txn begin ABC -q
  tk_is 1 txn describe ABD
  contains "$stderr" "did you mean 'ABC'"
  tk_is 2 txn begin A@1
  tk_is 2 txn begin ''
  tk_is 2 txn begin A --timeout 0
  tk_is 2 txn begin
  tk_is 2 txn commit A --group g
  tk_is 2 txn commit A --offset t-0=1
  tk_is 2 txn commit A --group g --offset t-0
  tk_is 2 txn commit A --member m
  tk_is 2 txn
  # An address is a good name.
  tk_is 0 txn begin me@example.org
  tk_is 0 txn commit me@example.org@0
}

@test "a topic that is deleted under a transaction does not hold it up" {
  tk topics create t -q && tk topics create u -q
  tk txn begin A -q
  say x | tk produce t --txn A -q
  say y | tk produce u --txn A -q
  tk topics delete t -q
  tk_is 0 txn commit A
  equal "$(sorted u)" "y "
}

@test "a commit that cannot be written everywhere is completed by the next command" {
  tk topics create t -p 2 -q
  tk txn begin A -q
  say x y | tk produce t --txn A -q
  exec 9<> logs/t-1/.lock
  # Another writer keeps partition 1 (a lock that is not given up when asked).
  python3 -c '
import fcntl, struct, sys, time
f = open("logs/t-1/.lock", "r+b")
fcntl.fcntl(f, 37, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 1, 0) + b"\0" * 4)
open("held", "w").close()
sys.stdin.read()' < <(sleep 30) 3>&- &
  keeper=$!
  for _ in $(seq 100); do [ -e held ] && break; sleep 0.05; done
  tk_is 4 --json --lock-timeout 200 txn commit A
  error_is LOG_DIR_LOCKED
  tk_is 0 txn describe A --json --lock-timeout 0
  equal "$(rows 'select(.state).state')" PrepareCommit
  # A decision stands.
  tk_is 4 --lock-timeout 200 txn commit A
  kill $keeper
  tk_is 0 txn list
  equal "$(tk txn describe A --json | jq -r '.state+" "+.ended')" "Empty commit"
  equal "$(sorted t)" "x y "
}

@test "what was aborted stays so when recover cuts the end of the log" {
  for format in json kafka; do
    rm -rf logs
    tk topics create t --format $format -q
    tk txn begin A > /dev/null
    echo aborted | tk produce t --txn A -q
    tk txn abort A
    echo last | tk produce t -q
    truncate -s -7 $S0
    tk_is 0 recover
    equal "$(committed)|$(values)" "|aborted"
    tk_is 0 verify
  done
}
