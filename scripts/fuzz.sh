#!/usr/bin/env bash
# Runs the libFuzzer targets (docs/testing.md): fuzz.sh [-s SECONDS] [-u] [TARGET]...
# Each target runs for SECONDS (60) from the committed corpus and what earlier runs found, which lies in build/fuzz/corpus.
# With -u the corpus in tests/fuzz/corpus.tar.zst is made anew from both: the smallest set of inputs with the same coverage.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$root"

seconds=60 update=false
while getopts s:u option; do
  case $option in
    s) seconds=$OPTARG ;;
    u) update=true ;;
    *) die "usage: fuzz.sh [-s SECONDS] [-u] [TARGET]..." ;;
  esac
done
shift $((OPTIND - 1))

build fuzz fuzz_all
bin=build/fuzz/tests/fuzz
mapfile -t known < <(find "$bin" -maxdepth 1 -name 'fuzz_*' -type f -perm -u+x -printf '%f\n' | sed 's/^fuzz_//' | sort)
[ $# -gt 0 ] || set -- "${known[@]}"

packed=$root/tests/fuzz/corpus.tar.zst corpus=$root/build/fuzz/corpus findings=$root/build/fuzz/findings
mkdir -p "$corpus" "$findings" "$logs"
[ ! -e "$packed" ] || zstd -dcq "$packed" | tar -xf - -C "$corpus"

# Hostile input must not cost memory either: 768 MB in all, 300 MB at once (a batch may decode to 256 MiB).
limits=(-rss_limit_mb=768 -malloc_limit_mb=300 -timeout=60 -max_len=16384)
found=0
for target in "$@"; do
  [ -x "$bin/fuzz_$target" ] || die "no target '$target'; there are: ${known[*]}"
  mkdir -p "$corpus/$target"
  log=$logs/fuzz-$target.log
  code=0
  "$bin/fuzz_$target" "${limits[@]}" -max_total_time="$seconds" -print_final_stats=1 -verbosity=1 \
    -artifact_prefix="$findings/$target-" "$corpus/$target" >"$log" 2>&1 || code=$?
  printf '%-14s %10s executions, %s\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
    "$([ "$code" -eq 0 ] && echo "nothing found" || echo "FOUND (exit $code), see $log and $findings")"
  [ "$code" -eq 0 ] || found=1
done

if $update; then
  fresh=$(mktemp -d)
  trap 'rm -rf "$fresh"' EXIT
  for target in "${known[@]}"; do
    mkdir -p "$fresh/$target" "$corpus/$target"
    "$bin/fuzz_$target" "${limits[@]}" -merge=1 -max_len=4096 "$fresh/$target" "$corpus/$target" >"$logs/fuzz-merge-$target.log" 2>&1
  done
  tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$fresh" -cf - . | zstd -19 -qfo "$packed"
  say "$(find "$fresh" -type f | wc -l) inputs in $packed, $(stat -c %s "$packed") bytes"
fi
exit $found
