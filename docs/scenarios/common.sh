# What the delivery scenarios share: ten records, a worker that crashes, and what is compared in the end.
set -euo pipefail
tk=${TK:-tk}
export TK_DIR=${TK_DIR:-$PWD/scenario-data}
say() { printf '%s\n' "$*"; }
# claim WHAT GOT WANT
claim() {
  if [ "$2" = "$3" ]; then say "  $1: $2"; else say "  $1: $2, but should be: $3"; exit 1; fi
}
ten_records() {
  "$tk" topics create input -q
  seq 0 9 | "$tk" produce input -q
}
# worker FILE [CRASH_AFTER]: does the work of each line of standard input, which is to note it in FILE; with CRASH_AFTER
# it dies after so many.
worker() {
  local done=0 record
  while read -r record; do
    [ -z "${2:-}" ] || [ "$done" -lt "$2" ] || return 1
    printf '%s\n' "$record" >> "$1"
    done=$((done + 1))
  done
}
committed() { "$tk" groups describe "$1" --json | sed -E 's/.*"committed":([0-9]+).*/\1/'; }
one_line() { tr '\n' ' ' < "$1" | sed 's/ $//'; }
