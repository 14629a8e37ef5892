#!/usr/bin/env bash
# Transactions: read, process, write. What each isolation level sees on the way, after an abort, and after a crash between the
# commit marker and the group's file.
. "$(dirname "$0")/common.sh"
n=$(sized 1000 10) # records a batch
"$tk" topics create output -q
seq $((4 * n)) | "$tk" produce input -q
position() { "$tk" groups describe work --json 2> /dev/null | jq -r .committed || true; }
count() { "$tk" consume output --count --isolation "$1"; }
show() { row '%-52s %11s %9s %8s' "$1" "$(count read_uncommitted)" "$(count read_committed)" "$(position)"; }
# batch FROM COUNT: the work on some records of the input, inside the open transaction.
batch() { "$tk" consume input -o "$1" -n "$2" -f 'did %s\n' | "$tk" produce output --txn worker -q; }
row '%-52s %11s %9s %8s' "" uncommitted committed group
"$tk" txn begin worker > /dev/null
batch 0 "$n";                                                   show "a batch of $n inside a transaction"
"$tk" txn commit worker --group work --offset "input-0=$n";     show "committed, with the offset $n of the group"
"$tk" txn begin worker > /dev/null
batch "$n" $((n / 2));                                          show "half a batch more"
"$tk" txn abort worker;                                         show "aborted midway"
"$tk" txn begin worker > /dev/null
batch "$(position)" "$n";                                       show "a new transaction, from the group's offset"
commit=("$tk" txn commit worker --group work --offset "input-0=$((2 * n))")
if strace -o trace true 2> /dev/null; then
  # The group's file is replaced twice: with what is pending before the decision, with what is committed after the markers.
  { strace -f -o trace -P "$TK_DIR/group-work.json.tmp" -e trace=rename -e inject=rename:error=EIO:signal=KILL:when=2 "${commit[@]}"; } 2> /dev/null || crash=$?
  claim "killed between marker and group file: exit" "${crash:-0}" 137
  markers=$("$tk" dump-log output-0 --json | jq -s 'map(select(.type == "batch" and .control)) | length')
  claim "markers in the log" "$markers" 3
  say "The next command completes the transaction:"
  "$tk" txn expire -q
else
  say "(strace is missing, or may not trace: no crash here)"
  "${commit[@]}"
fi
show "committed once"
"$tk" txn begin worker > /dev/null
batch "$(position)" $((2 * n))
"$tk" txn commit worker --group work --offset "input-0=$((4 * n))"; show "the rest"
say "What was seen:"
"$tk" consume output --isolation read_committed > seen
claim "read_committed: each result once, in order" "$(cmp seen <(seq -f 'did %.0f' $((4 * n))) && echo yes)" yes
claim "read_uncommitted: results of the aborted transaction besides" "$(($(count read_uncommitted) - 4 * n))" $((n / 2))
claim "the group's offset" "$(position)" $((4 * n))
