#!/usr/bin/env bash
# Effectively once: delivery at least once into a sink that knows, by partition and offset, what it has done already.
. "$(dirname "$0")/common.sh"
ten_records
# The sink is a directory: a file named by partition and offset is made by a rename, at once and once only.
mkdir sink
attempts=0
into_sink() {
  local partition offset value done=0
  while read -r partition offset value; do
    [ -z "${1:-}" ] || [ "$done" -lt "$1" ] || return 1
    attempts=$((attempts + 1)) done=$((done + 1))
    [ -e "sink/$partition-$offset" ] || { printf '%s\n' "$value" > .new && mv .new "sink/$partition-$offset"; }
  done
}
batch() { "$tk" consume input -g effect --commit none -f '%p %o %s\n' "$@" > batch; }
say "Batches of four into the sink, each committed when it is in; the second crashes after two records:"
batch -n 4
into_sink < batch
"$tk" commit effect input-0=4 > /dev/null
batch -n 4
into_sink 2 < batch || true
claim "committed" "$(committed effect)" 4
say "A new worker goes on at what is committed:"
batch
into_sink < batch
"$tk" commit effect input-0=10 > /dev/null
claim "attempts" "$attempts" 12
claim "effects" "$(for i in $(seq 0 9); do cat "sink/0-$i"; done | tr '\n' ' ' | sed 's/ $//')" "0 1 2 3 4 5 6 7 8 9"
say "Twelve attempts, ten effects: the repeated ones had none."
