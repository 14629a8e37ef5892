# What the scripts share: where the project is, packages, builds, unpacking of test data. Sourced, not run.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc 2>/dev/null || echo 2)
logs=$root/build/logs

# The build needs these; every name is a package of Debian 12.
build_packages=(g++ cmake ninja-build ccache pkg-config libcli11-dev libfmt-dev nlohmann-json3-dev libzstd-dev liblz4-dev
  libsnappy-dev zlib1g-dev libdeflate-dev libxxhash-dev libboost-dev doctest-dev zstd)
# The tests need these besides.
test_packages=(bats clang-format-14 procps jq xxd python3 python3-kafka python3-lz4 python3-zstandard python3-snappy lz4 strace valgrind
  kcat curl)

say() { printf '%s\n' "$*"; }
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# missing_packages NAME...: prints those that are not installed; one call, so that it costs nothing when all are there.
missing_packages() {
  local have
  have=$(dpkg-query -W -f='${binary:Package} ${db:Status-Status}\n' "$@" 2>/dev/null | sed -n 's/:[a-z0-9]* installed$//p; s/ installed$//p' || true)
  local name
  for name in "$@"; do grep -qxF "$name" <<<"$have" || printf '%s\n' "$name"; done
}

# install_packages NAME...: installs what is missing. The package lists may be absent (a bare container) or old, and the
# network may be away: try with the lists as they are, then refresh them, and judge by whether the install succeeded.
install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: please see that these are installed: $*" >&2
    return 0
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    die "not installed: ${missing[*]}
as root: apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  mkdir -p "$logs"
  local log=$logs/packages.log
  local install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}")
  if ! "${install[@]}" >"$log" 2>&1; then
    apt-get update >>"$log" 2>&1 || say "apt-get update failed; trying with the package lists that are there" >&2
    if ! "${install[@]}" >>"$log" 2>&1; then
      tail -n 20 "$log" >&2
      die "could not install ${missing[*]} (whole log: $log)"
    fi
  fi
}

# logged NAME COMMAND...: runs COMMAND with its output in build/logs/NAME.log, and shows the end of that if it fails.
logged() {
  local log=$logs/$1.log
  shift
  mkdir -p "$logs"
  "$@" >"$log" 2>&1 && return 0
  local rc=$?
  say "failed: $*; the end of $log:" >&2
  tail -n 40 "$log" >&2
  return "$rc"
}

# build PRESET [TARGET]...: configures once (ninja itself notices changes later), then builds.
build() {
  local preset=$1
  shift
  cd "$root"
  [ -e "build/$preset/build.ninja" ] || logged "configure-$preset" cmake --preset "$preset" || return 1
  logged "build-$preset" cmake --build "build/$preset" -j "$jobs" ${1:+--target "$@"}
}

# unpack_fixture NAME TARGET: the directory tests/fixtures/NAME.tar.zst holds, below TARGET.
unpack_fixture() {
  mkdir -p "$2"
  zstd -dcq --long=27 "$root/tests/fixtures/$1.tar.zst" | tar -xpf - -C "$2"
}
