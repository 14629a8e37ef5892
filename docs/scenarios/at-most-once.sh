#!/usr/bin/env bash
# At most once: what is committed before it is done is lost by a crash, and nothing is done twice.
. "$(dirname "$0")/common.sh"
ten_records
say "A batch of four, committed by consume and done afterwards:"
"$tk" consume input -g once -n 4 > batch
worker done-work < batch
claim "committed" "$(committed once)" 4
say "The second batch is committed, and its worker dies after two records:"
"$tk" consume input -g once -n 4 > batch
worker done-work 2 < batch || true
claim "committed" "$(committed once)" 8
say "A new worker goes on behind what is committed:"
"$tk" consume input -g once > batch
worker done-work < batch
claim "done" "$(one_line done-work)" "0 1 2 3 4 5 8 9"
say "6 and 7 are lost; nothing was done twice."
