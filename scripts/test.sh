#!/usr/bin/env bash
# Runs every test: unit tests (release and with sanitizers), shell tests, command lines of documents, producers that are
# killed, format, layers, Kafka's own engine as a partner.
# The last line is `N passed, N failed` over all of them; exit 1 if any failed or a runner had none.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$root"
mkdir -p "$logs"

passed=0 failed=0
# count NAME PASSED FAILED [SKIPPED]: adds a runner's result. A runner without tests is a failure of the runner.
count() {
  local name=$1 p=$2 f=$3 skipped=${4:-0}
  [ $((p + f)) -gt 0 ] || f=1
  passed=$((passed + p)) failed=$((failed + f))
  local note=""
  [ "$skipped" -eq 0 ] || note=", $skipped skipped"
  printf '%-28s %5d passed, %d failed%s (%ds)\n' "$name" "$p" "$f" "$note" $((SECONDS - began))
  began=$SECONDS
}
finish() {
  printf '%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ] || exit 1
  exit 0
}
began=$SECONDS

# unit_tests NAME DIRECTORY: runs the doctest executables of a build, some at a time; adds up doctest's own totals.
unit_tests() {
  local name=$1 dir=$2 out=$logs/unit-$1
  rm -rf "$out"
  mkdir -p "$out"
  find "$dir" -maxdepth 1 -name 'test_*' -type f -perm -u+x | sort |
    xargs -r -P "$jobs" -I{} sh -c '"$1" >"$2/$(basename "$1").log" 2>&1; echo "exit $?" >>"$2/$(basename "$1").log"' _ {} "$out" || true
  local p=0 f=0 log totals
  for log in "$out"/*.log; do
    [ -e "$log" ] || continue
    totals=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -E '^\[doctest\] test cases:' | tail -n 1 | grep -oE '[0-9]+ (passed|failed)' | tr '\n' ' ' || true)
    local tp=0 tf=0
    [[ $totals =~ ([0-9]+)\ passed ]] && tp=${BASH_REMATCH[1]}
    [[ $totals =~ ([0-9]+)\ failed ]] && tf=${BASH_REMATCH[1]}
    # A crash or a sanitizer's stop leaves no totals, or a bad exit code with good totals.
    if ! grep -qx 'exit 0' "$log" && [ "$tf" -eq 0 ]; then tf=1; fi
    if [ "$tf" -gt 0 ]; then
      say "failed: $(basename "$log" .log) ($name)"
      tail -n 40 "$log"
    fi
    p=$((p + tp)) f=$((f + tf))
  done
  count "unit tests, $name" "$p" "$f"
}

# Test targets of a configured build directory.
test_targets() { ninja -C "$1" -t targets all | sed -nE 's|^tests/unit/(test_[a-z0-9_]+): CXX_EXECUTABLE.*|\1|p'; }

sanitized_tests() {
  [ -e build/asan/build.ninja ] || logged configure-asan cmake --preset asan || return 1
  local targets
  mapfile -t targets < <(test_targets build/asan)
  [ ${#targets[@]} -gt 0 ] || return 1
  build asan "${targets[@]}"
}

# shell_tests: each bats file is one job; its TAP output is counted, and what a plan promised and did not deliver failed.
shell_tests() {
  local out=$logs/bats
  rm -rf "$out"
  mkdir -p "$out"
  export TK=$root/build/release/tk TK_FIXTURES_UNPACKED=$root/tests/fixtures/unpacked
  tests/cli/unpack_fixtures.sh "$TK_FIXTURES_UNPACKED" || { count "shell tests" 0 1; return; }
  # The long ones first, so that the last to end is a short one.
  printf '%s\n' tests/cli/{gates,experiments,serve_txn,fixtures,round_trip,verify,field_cases_pipelines,cluster,cluster_damage,seed_scenario}.bats tests/cli/*.bats | awk '!seen[$0]++' |
    xargs -P "$jobs" -I{} sh -c 'timeout 400 bats --tap "$1" >"$2/$(basename "$1").tap" 2>&1 || true' _ {} "$out"
  local p=0 f=0 s=0 tap
  for tap in "$out"/*.tap; do
    [ -e "$tap" ] || continue
    local plan ok skip
    plan=$(sed -nE 's/^1\.\.([0-9]+)$/\1/p' "$tap" | head -n 1)
    skip=$(grep -cE '^ok .* # skip' "$tap" || true)
    ok=$(($(grep -cE '^ok ' "$tap" || true) - skip))
    local bad=$((${plan:-1} - ok - skip))
    [ "$bad" -le 0 ] || { say "failed: $(basename "$tap" .tap)"; awk '/^not ok/{on=1} /^ok /{on=0} on' "$tap" | head -n 60; [ -n "$plan" ] || tail -n 20 "$tap"; }
    [ "$bad" -ge 0 ] || bad=1
    p=$((p + ok)) f=$((f + bad)) s=$((s + skip))
  done
  count "shell tests" "$p" "$f" "$s"
}

# start_test NAME SCRIPT ARGS...: a script of tests/, whose last line counts. Seeds are fixed, so that a failure can be
# repeated; by hand more of it, with others (--help). They wait for disks and for time more than they compute: several run at
# once, and count_started waits for them.
started=()
start_test() {
  local name=$1 script=$2
  shift 2
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
  TK=$root/build/release/tk timeout 300 python3 "tests/$script.py" "$@" >"$logs/$name.log" 2>&1 &
  started+=("$name")
}
count_started() {
  wait || true
  local name last p f
  for name in "${started[@]}"; do
    last=$(tail -n 1 "$logs/$name.log")
    p=0 f=1
    [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]] && p=${BASH_REMATCH[1]} f=${BASH_REMATCH[2]}
    [ "$f" -eq 0 ] || tail -n 20 "$logs/$name.log"
    count "$name" "$p" "$f"
  done
}

source_files() {
  git ls-files -co --exclude-standard '*.cpp' '*.h' 2>/dev/null | grep . || find core commands cli tests -name '*.cpp' -o -name '*.h'
}

one_check() {
  local name=$1
  shift
  if "$@"; then count "$name" 1 0; else count "$name" 0 1; fi
}
formatted() { source_files | logged clang-format xargs -r clang-format-14 --dry-run -Werror; }

kafka_interop() {
  local major=0
  if command -v java >/dev/null && command -v javac >/dev/null && command -v mvn >/dev/null; then
    major=$(java -version 2>&1 | sed -nE '1s/.*"([0-9]+).*/\1/p')
  fi
  if [ "${major:-0}" -lt 17 ]; then
    say "skipped: Kafka's own engine as a partner (needs a JDK of 17 or newer, and Maven)"
    return
  fi
  TK=$root/build/release/tk TK_INTEROP_SECONDS=${TK_INTEROP_SECONDS:-30} TK_INTEROP_CLIENTS=${TK_INTEROP_CLIENTS:-0} scripts/interop-kafka.sh >"$logs/interop.log" 2>&1 || true
  local last p f
  last=$(tail -n 1 "$logs/interop.log")
  if [[ $last =~ ^skipped ]]; then
    say "$last"
    return
  fi
  p=0 f=1
  [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]] && p=${BASH_REMATCH[1]} f=${BASH_REMATCH[2]}
  [ "$f" -eq 0 ] || tail -n 40 "$logs/interop.log"
  count "Kafka's own engine" "$p" "$f"
}

install_packages "${build_packages[@]}" "${test_packages[@]}"
if ! build release; then
  count "release build" 0 1
  finish
fi
say "built (release, ${SECONDS}s)"
began=$SECONDS
unit_tests release build/release/tests/unit
shell_tests
start_test "command lines of documents" docs/run_docs
start_test "producers killed" crash/kill_produce --rounds 200 --seed 1
start_test "named producers killed" crash/kill_named --rounds 100 --seed 1
start_test "clusters killed" crash/kill_cluster --rounds 20 --seed 1
start_test "clusters with three controllers killed" crash/kill_cluster --rounds 8 --seed 101 --controllers 3
start_test "members killed" crash/kill_group --seconds 15 --seed 1
start_test "servers killed" crash/kill_serve --rounds 8 --txn 3 --seed 1
count_started
one_check "formatting" formatted
one_check "layers" scripts/check_layers.sh
if sanitized_tests; then unit_tests sanitizers build/asan/tests/unit; else count "unit tests, sanitizers" 0 1; fi
kafka_interop
finish
