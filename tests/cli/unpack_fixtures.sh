#!/usr/bin/env bash
# Unpacks the packed broker directories of tests/fixtures, once: unpack_fixtures.sh TARGET [NAME]...
# Several test files may ask at the same time: they take turns, and a finished one leaves a stamp.
set -euo pipefail
packed=$(cd "$(dirname "${BASH_SOURCE[0]}")/../fixtures" && pwd)
target=$1
shift
mkdir -p "$target"
if [ $# -eq 0 ]; then
  for archive in "$packed"/kafka-*.tar.zst; do set -- "$@" "$(basename "$archive" .tar.zst)"; done
fi
exec 9> "$target/.turn"
flock 9
for name in "$@"; do
  archive=$packed/$name.tar.zst stamp=$target/.$name.done
  [ ! -e "$stamp" ] || [ "$archive" -nt "$stamp" ] || [ "$packed/manifests.tar.zst" -nt "$stamp" ] || continue
  rm -rf "${target:?}/$name"
  zstd -dcq --long=27 "$archive" | tar -xpf - -C "$target"
  # What else the broker's tools said of it; not every directory has something there.
  zstd -dcq --long=27 "$packed/manifests.tar.zst" | tar -xpf - -C "$target" "$name" 2> /dev/null || true
  touch "$stamp"
done
