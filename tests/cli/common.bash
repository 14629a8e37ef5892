# What the shell tests share. Each test works in its own empty directory with TK_DIR set to ./logs.
# An expectation comes from the documents, from arithmetic or from another tool, never from tk's own output.

bats_require_minimum_version 1.5.0
here=$BATS_TEST_DIRNAME
project=$(cd "$here/../.." && pwd)
TK=${TK:-$project/build/release/tk}
export NO_COLOR=1
unset TK_FORMAT TK_NOW
T=1700000000000 # 2023-11-14T22:13:20Z, the time of every vector
SEGMENT=00000000000000000000.log
# shellcheck source=vectors.bash
. "$here/vectors.bash"

setup() {
  [ -x "$TK" ] || { echo "no executable at $TK: build first, or set TK"; return 1; }
  cd "$BATS_TEST_TMPDIR" || return 1
  export TK_DIR=$PWD/logs
  S0=logs/t-0/$SEGMENT
}

tk() { "$TK" "$@"; }

# tk_is STATUS ARGS...: runs tk and fails unless it exits with STATUS; leaves $output and $stderr.
tk_is() {
  local want=$1
  shift
  run --separate-stderr "$TK" "$@"
  [ "$status" -eq "$want" ] || {
    printf 'tk %s: exit %s, expected %s\nstdout: %s\nstderr: %s\n' "$*" "$status" "$want" "${output:0:1500}" "${stderr:0:1500}"
    return 1
  }
}

# equal GOT WANT
equal() {
  [ "$1" = "$2" ] || {
    printf 'got:      %s\nexpected: %s\n' "${1:0:1500}" "${2:0:1500}"
    return 1
  }
}

# contains TEXT PART: the text holds the part (a fixed string).
contains() {
  grep -qF -- "$2" <<<"$1" || {
    printf 'not in it: %s\ntext: %s\n' "$2" "${1:0:1500}"
    return 1
  }
}

# rows FILTER: jq over the NDJSON in $output, joined to one line by blanks.
rows() { jq -rc "$1" <<<"$output" | tr '\n' ' ' | sed 's/ $//'; }

# error_is CODE_NAME: the last line on stderr is the error object of a command that ran with --json.
error_is() { equal "$(tail -n 1 <<<"$stderr" | jq -r .error)" "$1"; }

# hex_of VECTOR: VECTOR is a name of vectors.bash, NAME@OFFSET for another base offset.
hex_of() {
  local name=${1%@*} variable
  variable=vec_$name
  [ -n "${!variable:-}" ] || { echo "no vector $name" >&2; return 1; }
  if [ "$name" = "$1" ]; then printf %s "${!variable}"; else printf '%016x%s' "${1#*@}" "${!variable:16}"; fi
}

# put FILE VECTOR...: the file holds these vectors, one after the other; put_hex FILE HEX the same with bytes as hex.
put() {
  local file=$1 v
  shift
  mkdir -p "$(dirname "$file")"
  for v in "$@"; do hex_of "$v"; done | xxd -r -p > "$file"
}
put_hex() {
  mkdir -p "$(dirname "$1")"
  printf %s "$2" | xxd -r -p > "$1"
}

# poke FILE POSITION HEX: overwrites bytes in place.
poke() { printf %s "$3" | xxd -r -p | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

# values ARGS...: the values a consumer of t prints, joined by blanks. A failing read is marked.
values() {
  local text code=0
  text=$("$TK" consume t "$@" 2>/dev/null) || code=$?
  [ "$code" -eq 0 ] || text+="(exit $code)"
  tr '\n' ' ' <<<"$text" | sed 's/ $//'
}
# records ARGS...: offset:value of each record of t, joined by blanks, whatever the exit code.
records() { { "$TK" consume t -J "$@" 2>/dev/null || true; } | jq -rc '"\(.offset):\(.value)"' | tr '\n' ' ' | sed 's/ $//'; }

# end_offset [TOPIC [PARTITION]]: what describe says.
end_offset() { "$TK" topics describe "${1:-t}" --json | jq -r "select(.partition == ${2:-0}) | .log_end_offset"; }

size() { stat -c %s "$1"; }
segment_files() { ls "$1"/*.log; }

# digest DIR: content, size and modification time of every file.
digest() { (cd "$1" && find . -printf '%p %s %T@ %y\n' | sort && find . -type f -print0 | sort -z | xargs -0 sha256sum) | sha256sum; }

# fixture NAME: path of an unpacked broker directory (do not change what is in it).
fixture() {
  local target=${TK_FIXTURES_UNPACKED:-$project/tests/fixtures/unpacked}
  "$here/unpack_fixtures.sh" "$target" "$1" || return 1
  echo "$target/$1"
}

# units FILE: "offset position size" of each stored unit, by the 12 bytes both formats begin with.
units() {
  python3 - "$1" <<'PY'
import struct, sys
data = open(sys.argv[1], "rb").read()
at = 0
while at + 12 <= len(data):
    offset, length = struct.unpack(">qi", data[at:at + 12])
    print(offset, at, 12 + length)
    at += 12 + length
assert at == len(data), "bytes left over"
PY
}
