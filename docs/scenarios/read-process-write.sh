#!/usr/bin/env bash
# Exactly once from one topic into another: records and the offset that says how far they go are committed together.
. "$(dirname "$0")/common.sh"
ten_records
seen() { "$tk" consume output --isolation read_committed | tr '\n' ' ' | sed 's/ $//'; }
# batch FROM COUNT: works on some records of the input inside the open transaction.
batch() { "$tk" consume input -o "$1" -n "$2" -f 'did %s\n' | "$tk" produce output --txn worker -q; }
say "A worker takes four records in a transaction and commits its results with the offset it has come to:"
"$tk" txn begin worker > /dev/null
batch 0 4
"$tk" txn commit worker --group work --offset input-0=4
claim "committed" "$(committed work)" 4
claim "seen" "$(seen)" "did 0 did 1 did 2 did 3"
say "The next batch crashes after its results were written and before its commit:"
"$tk" txn begin worker > /dev/null
batch 4 4
claim "committed" "$(committed work)" 4
claim "seen" "$(seen)" "did 0 did 1 did 2 did 3"
say "A new worker begins under the same id, which aborts what the old one left, and goes on at what is committed:"
"$tk" txn begin worker > epoch
batch 4 6
"$tk" txn commit "worker@$(cat epoch)" --group work --offset input-0=10
claim "committed" "$(committed work)" 10
claim "seen" "$(seen)" "did 0 did 1 did 2 did 3 did 4 did 5 did 6 did 7 did 8 did 9"
claim "written" "$("$tk" consume output --count)" 14
say "Fourteen results were written, ten are seen: those of the aborted transaction never are."
