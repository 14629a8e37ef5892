#!/usr/bin/env bash
# At least once: what is committed after it is done is done again after a crash, and nothing is lost.
. "$(dirname "$0")/common.sh"
ten_records
say "A batch of four, read without a commit, done, and committed then:"
"$tk" consume input -g least -n 4 --commit none > batch
worker done-work < batch
"$tk" commit least input-0=4 > /dev/null
claim "committed" "$(committed least)" 4
say "The worker of the second batch dies after two records, before the commit:"
"$tk" consume input -g least -n 4 --commit none > batch
worker done-work 2 < batch || true
claim "committed" "$(committed least)" 4
say "A new worker goes on at what is committed:"
"$tk" consume input -g least --commit none > batch
worker done-work < batch
"$tk" commit least input-0=10 > /dev/null
claim "done" "$(one_line done-work)" "0 1 2 3 4 5 4 5 6 7 8 9"
say "Nothing is lost; 4 and 5 were done twice."
