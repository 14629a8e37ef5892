#!/usr/bin/env bash
# Measures tk against the limits of this machine, in pairs, and prints a table; the same as JSON with --json FILE.
#   scripts/bench.sh                       every row, 9 pairs each
#   scripts/bench.sh --rows P1,C1 --pairs 21
#   scripts/bench.sh --peers               other programs, too; writes the tables of docs/performance.md
#   scripts/bench.sh --serve               `tk serve`, beside a broker if KAFKA_CLASSPATH names one's classes
# Times are of this machine at this moment: compare ratios, never figures of different runs.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$root"
command -v python3 >/dev/null || die "python3 is needed"
if [ -z "${TK:-}" ]; then
  install_packages "${build_packages[@]}"
  build release tk
  export TK=$root/build/release/tk
fi
if [ "${1:-}" = --serve ]; then
  shift
  exec python3 scripts/bench/serve.py "$@"
fi
exec python3 scripts/bench/run.py "$@"
