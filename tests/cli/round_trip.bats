# Real text, over 100,000 lines, into both formats with every codec over many segments, and back byte for byte.
load common

setup_file() {
  cd "$BATS_FILE_TMPDIR"
  while [ "$(wc -l < text 2> /dev/null || echo 0)" -lt 100000 ]; do
    cat /var/lib/dpkg/status /var/lib/dpkg/info/*.list /usr/share/common-licenses/* >> text 2> /dev/null || true
    [ -s text ] || cat "$BATS_TEST_DIRNAME"/*.bats >> text
  done
  head -n 120000 text > cut && mv cut text
  export TEXT=$BATS_FILE_TMPDIR/text
}

there_and_back() { # FORMAT SEGMENT_BYTES [produce options]
  local format=$1 bytes=$2
  shift 2
  tk_is 0 topics create t --format "$format" -c segment.bytes="$bytes"
  tk produce t -q "$@" < "$TEXT"
  tk consume t | cmp - "$TEXT"
  [ "$(segment_files logs/t-0 | wc -l)" -ge 5 ]
  equal "$(find logs/t-0 -name '*.log' -size +"$bytes"c)" ""
  equal "$(end_offset)" "$(wc -l < "$TEXT")"
  tk_is 0 verify
  equal "$(tk consume t -o 77777 -n 2)" "$(sed -n '77778,77779p' "$TEXT")"
}

# The first batch's records, taken out without tk: 61 bytes of header, then what the codec's own program reads.
first_payload() {
  local size
  read -r _ _ size < <(units logs/t-0/$SEGMENT | head -n 1)
  head -c "$size" logs/t-0/$SEGMENT | tail -c +62
}
first_codec() { echo $((16#$(head -c 23 logs/t-0/$SEGMENT | tail -c 1 | xxd -p) & 7)); }

@test "json" {
  there_and_back json 1048576
  cmp "$TEXT" <(python3 "$here/json_segment.py" logs/t-0/*.log)
}
@test "kafka, uncompressed" {
  there_and_back kafka 262144
  equal "$(first_codec)" 0
}
@test "kafka, gzip" {
  there_and_back kafka 65536 -z gzip
  equal "$(first_codec)" 1
  first_payload | gzip -dc | grep -qaF "$(head -n 1 "$TEXT")"
}
@test "kafka, snappy" {
  there_and_back kafka 65536 -z snappy
  equal "$(first_codec)" 2
  equal "$(first_payload | head -c 8 | xxd -p)" 82534e4150505900 # the framing of the Java client
}
@test "kafka, lz4" {
  there_and_back kafka 65536 -z lz4
  equal "$(first_codec)" 3
  first_payload | lz4 -dc | grep -qaF "$(head -n 1 "$TEXT")"
}
@test "kafka, zstd" {
  there_and_back kafka 65536 -z zstd
  equal "$(first_codec)" 4
  first_payload | zstd -dcq | grep -qaF "$(head -n 1 "$TEXT")"
}

@test "from one format to the other and back through JSON, with keys, over three partitions" {
  tk_is 0 topics create a -p 3 --format json
  tk_is 0 topics create b -p 3 --format kafka
  tk_is 0 topics create c -p 3 --format json
  head -n 20000 "$TEXT" | awk '{print "k" NR % 17 "\t" $0}' > keyed
  tk produce a -q -K $'\t' < keyed
  tk consume a -J | tk produce b -q -i json -z lz4
  tk consume b -J | tk produce c -q -i json
  cmp <(tk consume a -J | sed 's/"topic":"a"//') <(tk consume c -J | sed 's/"topic":"c"//')
  cmp <(tk consume b -K $'\t' | sort) <(sort keyed)
}

@test "appended in many runs: the same bytes, no segment lost" {
  tk_is 0 topics create t --format kafka -c segment.bytes=16K
  head -n 5000 "$TEXT" > part
  split -l 100 part run.
  local f
  for f in run.*; do tk produce t -q < "$f"; done
  tk consume t | cmp - part
  tk_is 0 verify
}

@test "memory does not grow with the log" {
  tk_is 0 topics create t --format kafka
  tk produce t -q -z gzip --batch-size 1000 < "$TEXT"
  python3 - "$TK" <<'PY'
import resource, subprocess, sys
for command in (["verify", "t"], ["dump-log", "t", "--deep-iteration"], ["consume", "t"]):
    subprocess.run([sys.argv[1], *command], stdout=subprocess.DEVNULL, check=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
assert peak < 64 * 1024, f"{peak} KiB"
PY
}
