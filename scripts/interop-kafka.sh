#!/usr/bin/env bash
# Kafka's own storage engine and assignors as test partners (tests/interop): needs a JDK of 17 or newer, and Maven for the
# first run. Takes TK_INTEROP_SECONDS (default 120) for the random logs, and asks about TK_INTEROP_GROUPS (3000) groups. The last line is `N passed, N failed`, or `skipped: ...`.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
tk=${TK:-$root/build/release/tk}
if [ ! -x "$tk" ]; then
  install_packages "${build_packages[@]}"
  build release tk || die "the build failed"
fi
for tool in java javac mvn; do
  command -v "$tool" >/dev/null || { say "skipped: $tool is not installed"; exit 0; }
done
if ! timeout 240 "$root/tests/interop/kafkalog" fetch; then
  say "skipped: Kafka's packages could not be fetched"
  exit 0
fi
# The distribution's interpreter: it has the distribution's kafka module.
python=/usr/bin/python3
[ -x "$python" ] || python=python3
PYTHONDONTWRITEBYTECODE=1 TK=$tk exec timeout 300 "$python" "$root/tests/interop/interop.py"
