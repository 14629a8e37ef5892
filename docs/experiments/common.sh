# What the experiments share, besides say, claim and $tk of the scenarios: sizes, tables and the files that plots are made from.
. "$(dirname "${BASH_SOURCE[0]}")/../scenarios/common.sh"
small=${SMALL:-}
# sized FULL SMALL: how much of something.
sized() { if [ -z "$small" ]; then printf '%s' "$1"; else printf '%s' "$2"; fi; }
# row FORMAT VALUE...: a line of a table, shown.
row() {
  # shellcheck disable=SC2059
  printf "$1\n" "${@:2}"
}
# at_least WHAT GOT LEAST
at_least() {
  if [ "$2" -ge "$3" ]; then say "  $1: $2"; else say "  $1: $2, but should be at least $3"; exit 1; fi
}
