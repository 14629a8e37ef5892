# Transactions from processes of their own (cli.md §9; field cases R51 to R57).
load common

committed() { values --isolation read_committed; }

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
