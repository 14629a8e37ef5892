#!/usr/bin/env bash
# Kafka's own storage engine, assignors and broker as test partners (tests/interop): needs a JDK of 17 or newer, and Maven for the
# first run; and clients in Java, Python, JavaScript and Go, and Kafka's own tools, against tk serve, where they can be had. Takes TK_INTEROP_SECONDS (default 120) for the random logs, and asks about TK_INTEROP_GROUPS (3000) groups. The last line is `N passed, N failed`, or `skipped: ...`.
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
export PYTHONDONTWRITEBYTECODE=1 TK=$tk
passed=0 failed=0
# part NAME SECONDS FILE: runs one of the partners; what it says last is counted, "skipped: ..." says nothing.
part() {
  local text last
  text=$(timeout "$2" "$python" "$root/tests/interop/$3") || true
  last=$(tail -n 1 <<<"$text")
  printf '%s\n' "$text" | sed "s/^/$1: /"
  if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  elif [[ $last != skipped:* ]]; then
    failed=$((failed + 1))
  fi
}
part "storage engine" 300 interop.py
part broker 200 broker.py
# (Installing them takes a minute or two.)
if [ "${TK_INTEROP_CLIENTS:-1}" = 0 ]; then
  say "skipped: clients of other languages and Kafka's tools against tk serve (TK_INTEROP_CLIENTS=0)"
else
  part "clients" 1200 clients.py
  part "Java tools" 600 java_tools.py
fi
say "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
