#!/usr/bin/env bash
# Runs the experiments of docs/experiments: scripts/experiments.sh [N]... [--small] [--plots] [--keep DIR]
#   N         only this one (1 to 7; default: all)
#   --small   with little data, as the tests do
#   --plots   makes the pictures in docs/experiments anew, from what the run measured (needs gnuplot)
#   --keep D  leaves what the runs made in D/N
# The executable is $TK, else build/release/tk. Needs jq; experiment 4 python3, part of 7 strace.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
wanted=() plots='' keep=''
export SMALL=''
while [ $# -gt 0 ]; do
  case $1 in
    [1-7]) wanted+=("$1") ;;
    --small) SMALL=1 ;;
    --plots) plots=1 ;;
    --keep) keep=${2:?--keep wants a directory}; shift ;;
    *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  shift
done
[ ${#wanted[@]} -gt 0 ] || wanted=(1 2 3 4 5 6 7)
export TK=${TK:-$root/build/release/tk}
[ -x "$TK" ] || die "no executable at $TK: build first (scripts/quickstart.sh), or set TK"
TK=$(realpath "$TK")
command -v jq > /dev/null || die "jq is missing: apt-get install jq"
[ -z "$plots" ] || command -v gnuplot > /dev/null || die "gnuplot is missing, which --plots needs: apt-get install gnuplot-nox"
unset TK_DIR TK_NOW TK_FORMAT
experiments=$root/docs/experiments
work=$(mktemp -d "${TMPDIR:-/tmp}/tk-experiments.XXXXXX")
trap 'rm -rf "$work"' EXIT
for number in "${wanted[@]}"; do
  script=$(find "$experiments" -name "$number-*.sh" -o -name "$number-*.py")
  if [ "$number" = 3 ]; then
    fixtures=${TK_FIXTURES_UNPACKED:-$root/tests/fixtures/unpacked}
    "$root/tests/cli/unpack_fixtures.sh" "$fixtures" kafka-4.4-clean
    export FIXTURE=$fixtures/kafka-4.4-clean
  fi
  say "== $(basename "$script" .sh)"
  place=${keep:-$work}/$number
  rm -rf "$place"
  mkdir -p "$place"
  (cd "$place" && "$script") || { say "experiment $number failed"; exit 1; }
  for picture in "$experiments/$number"-*.gp; do
    [ -n "$plots" ] && [ -e "$picture" ] || continue
    (cd "$place" && gnuplot "$picture") > "${picture%.gp}.svg" || exit 1
    say "  made ${picture%.gp}.svg"
  done
done
