# What must not become dear, in figures that no other work on the machine disturbs: instructions, bytes read, system
# calls, memory. Times are for scripts/bench.sh.
load common

setup_file() {
  cd "$BATS_FILE_TMPDIR"
  python3 - <<'PY'
for count in (20000, 60000):
    with open(f"lines-{count}", "w") as out:
        for i in range(count):
            out.write(f"{1700000000 + i} GET /api/v1/orders/{i * 7919 % 10**7:07d} status=200 bytes={i % 10**5:05d} us={i:06d} id={i:016x}".ljust(99, ".")[:99] + "\n")
PY
  local format count
  for format in kafka json; do
    for count in 20000 60000; do
      "$TK" -d "$format-$count" topics create t --format $format -q
      "$TK" -d "$format-$count" produce t -q "lines-$count"
    done
  done
  export GATES=$BATS_FILE_TMPDIR
}

instructions() { # COMMAND...: how many it takes, with the checksum that every processor of the last ten years has
  TK_CRC=sse42 valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 > /dev/null |
    sed -nE 's/.*Collected : ([0-9]+).*/\1/p'
}

# per_record LIMIT COMMAND: COMMAND with {} for 20000 and for 60000; the slope between the two is what a record costs. Looking
# whether another thread is done costs instructions, too, and on a busy machine many: the least of up to three measurements, each
# after what $before names. The limits leave room for the ways that the C library has of copying and searching: the processor
# decides which.
per_record() {
  local few many each turn
  for turn in 1 2 3; do
    ${before:-true}
    few=$(instructions ${2//\{\}/20000})
    many=$(instructions ${2//\{\}/60000})
    [ "$many" -gt "$few" ]
    each=$(((many - few) / 40000))
    echo "$each instructions a record, at most $1"
    [ "$each" -gt "$1" ] || return 0
  done
  return 1
}

@test "instructions a record: produce" {
  cd "$GATES"
  fresh_topics() {
    local format count
    rm -rf new-*
    for format in kafka json; do
      for count in 20000 60000; do "$TK" -d "new-$format-$count" topics create t --format $format -q; done
    done
  }
  local before=fresh_topics
  per_record 310 "$TK -d new-kafka-{} produce t -q --sync none lines-{}"
  per_record 630 "$TK -d new-json-{} produce t -q --sync none lines-{}"
}

@test "instructions a record: consume" {
  cd "$GATES"
  per_record 265 "$TK -d kafka-{} consume t"
  per_record 490 "$TK -d json-{} consume t"
}

@test "instructions a record: verify, dump-log" {
  cd "$GATES"
  per_record 45 "$TK -d kafka-{} verify t --quick"
  per_record 190 "$TK -d kafka-{} verify t"
  per_record 580 "$TK dump-log --print-data-log kafka-{}/t-0/$SEGMENT"
}

@test "instructions of a start" {
  [ "$(instructions "$TK" --version)" -le 200000 ]
}

calls() { # COMMAND...: reads and writes of a run
  strace -f -qq -e trace=read,write,pread64,pwrite64,readv,writev -o "$GATES/calls" "$@" > /dev/null
  grep -cE '(read|write|readv|writev|read64|write64)\(' "$GATES/calls"
}

@test "system calls: at most one for 2,000 records of 100 bytes" {
  cd "$GATES"
  local few many
  "$TK" -d calls-20000 topics create t --format kafka -q
  "$TK" -d calls-60000 topics create t --format kafka -q
  few=$(calls "$TK" -d calls-20000 produce t -q lines-20000)
  many=$(calls "$TK" -d calls-60000 produce t -q lines-60000)
  echo "produce: $few and $many calls"
  [ $((many - few)) -le 20 ]
  few=$(calls "$TK" -d kafka-20000 consume t)
  many=$(calls "$TK" -d kafka-60000 consume t)
  echo "consume: $few and $many calls"
  [ "$few" -gt 0 ]
  [ $((many - few)) -le 20 ]
}

bytes_read() { # COMMAND...
  strace -f -qq -e trace=read,pread64,readv,preadv -o "$GATES/reads" "$@" > /dev/null
  awk -F' = ' '$NF > 0 { sum += $NF } END { print sum + 0 }' "$GATES/reads"
}

@test "a partition of 1,000 segments is opened for append as one of a single segment" {
  "$TK" -d many topics create t --format kafka -c segment.bytes=200 -q
  printf '%0100d\n' {1..1000} | "$TK" -d many produce t -q --batch-size 1 --sync none
  [ "$(segment_files many/t-0 | wc -l)" -ge 1000 ]
  "$TK" -d one topics create t --format kafka -q
  printf '%0100d\n' {1..1000} | "$TK" -d one produce t -q --batch-size 1 --sync none
  local of_many of_one
  of_many=$(bytes_read sh -c "echo x | '$TK' -d many produce t -q")
  of_one=$(bytes_read sh -c "echo x | '$TK' -d one produce t -q")
  echo "$of_many and $of_one bytes read"
  [ "$of_one" -gt 0 ]
  [ $((of_many - of_one)) -lt 65536 ]
  equal "$("$TK" -d many topics describe t --json | jq .log_end_offset)" 1001
}

@test "reading from an offset or from a time does not scan the log" {
  "$TK" topics create t --format kafka -q
  local i from read_bytes
  head -n 2000 "$GATES/lines-20000" > some
  for ((i = 0; i < 100; i++)); do "$TK" produce t -q --timestamp $((1700000000000 + i * 1000)) < some; done
  [ "$(stat -c %s logs/t-0/$SEGMENT)" -gt 20000000 ]
  # At most the records of one timestamp, and some chunks.
  for from in 150000 @1700000050000 -5; do
    read_bytes=$(bytes_read "$TK" consume t -o "$from" -n 1)
    echo "from $from: $read_bytes bytes read"
    [ "$read_bytes" -lt 1000000 ]
  done
  equal "$(tk consume t -o @1700000050000 -n 1 -f '%o\n')" 100000
}

@test "a commit does not grow with the log, nor with the number of groups" {
  local i dir read_bytes calls forced few_bytes few_calls
  for dir in small long groups; do
    "$TK" -d $dir topics create t -p 100 --format kafka -q
    seq 1000 | "$TK" -d $dir produce t -q --partitioner round-robin
    "$TK" -d $dir commit g $(printf 't-%d=5 ' {0..99}) -q
  done
  # Forced data have index entries, and are not read again.
  for i in 1 2 3 4; do "$TK" -d long produce t -p 3 -q "$GATES/lines-60000" "$GATES/lines-60000"; done
  [ "$(stat -c %s long/t-3/$SEGMENT)" -gt 45000000 ]
  for i in {1..500}; do cp groups/group-g.json groups/group-$i.json; done
  for dir in small long groups; do
    read_bytes=$(bytes_read "$TK" -d $dir commit g t-3=6 -q)
    strace -f -qq -o all "$TK" -d $dir commit g t-3=7 -q
    calls=$(wc -l < all) forced=$(grep -cE '(fsync|fdatasync)\(' all)
    echo "$dir: $read_bytes bytes read, $calls calls, $forced of them forcing"
    [ -n "${few_calls:-}" ] || few_bytes=$read_bytes few_calls=$calls
    equal "$forced" 2 # the file and its name
    [ $((read_bytes - few_bytes)) -lt 150000 ]
    [ $((calls - few_calls)) -lt 40 ]
  done
  equal "$("$TK" -d long groups describe g --json | jq -c 'select(.partition == 3) | [.committed, .end_offset > 450000]')" "[7,true]"
}

@test "peak memory on a partition of 4 GiB" {
  local free
  free=$(df --output=avail -k . | tail -n 1)
  [ "$free" -gt 6000000 ] || skip "needs 6 GB of disk"
  head -c 1050000000 < <(while cat "$GATES/lines-60000"; do :; done) > lines
  "$TK" topics create t --format kafka -q
  local i
  for i in 1 2 3 4; do peak_below 64 "$TK" produce t -q --sync none lines; done
  rm lines
  [ "$(du -m --apparent-size logs | tail -n 1 | cut -f 1)" -ge 4096 ]
  peak_below 64 "$TK" consume t
  peak_below 64 "$TK" consume t -J
  peak_below 64 "$TK" consume t --order time -n 100000
  peak_below 64 "$TK" consume t -o -5
  peak_below 64 "$TK" verify t
  peak_below 64 "$TK" recover t --full
  peak_below 64 "$TK" topics describe t
  peak_below 64 "$TK" dump-log --print-data-log logs/t-0/$SEGMENT
}

# peak_below MEBIBYTES COMMAND...: the most memory that it held at any time.
peak_below() {
  local limit=$1 peak
  shift
  peak=$(python3 -c '
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(code)' "$@")
  echo "$peak MiB for $2, $4"
  [ "$peak" -lt "$limit" ]
}

@test "R22: memory does not grow with the number of compressed batches" {
  tk topics create t --format kafka -q
  # Batches of about 100 records.
  seq -f '%0100.0f' 0 1999999 | tk produce t -q --compression gzip:1 --batch-size 11000
  [ "$(tk verify t --json | jq -s '.[-1].batches')" -ge 15000 ]
  peak_below 64 "$TK" verify t
  peak_below 64 "$TK" consume t
  peak_below 64 "$TK" dump-log --print-data-log logs/t-0/$SEGMENT
}
