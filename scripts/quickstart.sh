#!/usr/bin/env bash
# Installs what is missing, builds tk, and shows its main job on real data: text into a log and back, byte for byte,
# then the directory that a real Kafka broker left. Safe to run again; works in a temporary directory that it removes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

install_packages "${build_packages[@]}"
build release tk || die "the build failed"
tk=$root/build/release/tk

work=$(mktemp -d "${TMPDIR:-/tmp}/tk-quickstart.XXXXXX")
trap 'rm -rf "$work"' EXIT
export TK_DIR=$work/data NO_COLOR=1
cd "$work"

step() { printf '\n== %s\n' "$*"; }
# Shows a command as it would be typed, then runs it.
run() {
  printf '$ tk %s\n' "$*"
  "$tk" "$@"
}
# run_head N ARGS...: the same, the first N lines of the output, long lines cut.
run_head() {
  local lines=$1
  shift
  printf '$ tk %s | head -n %s\n' "$*" "$lines"
  "$tk" "$@" | head -n "$lines" | cut -c 1-180
}

# Real text: the package database of this system, the names of all its files, again until there is enough of it.
while [ "$(wc -l < packages.txt 2>/dev/null || echo 0)" -lt 100000 ]; do
  cat /var/lib/dpkg/status /var/lib/dpkg/info/*.list /usr/share/common-licenses/* 2>/dev/null >> packages.txt || true
  [ -s packages.txt ] || cat "$root"/core/*/*.cpp >> packages.txt
done
lines=$(wc -l < packages.txt)

step "$lines lines of text into a topic of each format, rolled over many segments"
run topics create words --format json -c segment.bytes=512K
run topics create packages --format kafka -c segment.bytes=64K
printf '$ tk produce words < packages.txt; tk produce packages --compression zstd < packages.txt\n'
"$tk" produce words < packages.txt
"$tk" produce packages --compression zstd < packages.txt
mark=$(date +%s%3N)

step "read back: the same bytes"
for topic in words packages; do
  "$tk" consume "$topic" | cmp - packages.txt || die "$topic: not the same bytes"
  say "tk consume $topic: identical to packages.txt ($(wc -c < packages.txt) bytes)"
done
run topics describe

step "from the middle, and by time"
run consume packages -o $((lines / 2)) -n 3 -f '%t-%p offset %o: %s\n'
sleep 0.05
say "a line written later" | "$tk" produce packages -q
run consume packages -o "@$mark" -f 'offset %o, written at %T: %s\n'

step "is it whole? what is in it?"
run verify
run_head 3 dump-log packages-0
run_head 2 dump-log words-0

step "the directory of a real Kafka 4.4 broker"
unpack_fixture kafka-4.4-clean "$work"
broker=kafka-4.4-clean/data
run_head 6 -d $broker topics list
run -d $broker consume codec-zstd -o 100 -n 2 -J | cut -c 1-180
run_head 3 dump-log $broker/codec-zstd-0/00000000000000000000.log --deep-iteration
run -d $broker verify
got=$("$tk" -d $broker consume plain-0 plain-1 plain-2 --count)
want=$(cat kafka-4.4-clean/records/plain-[0-2].ndjson | wc -l)
[ "$got" = "$want" ] || die "plain: $got records, Kafka's own consumer read $want"

printf '\nShown: %s lines through both formats and back unchanged, and %s records of a real broker as its own consumer read them. The executable: %s\n' \
  "$lines" "$got" "${tk#"$root"/}"
