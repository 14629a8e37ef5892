# Disks that are full or read-only, directories that go away, files that shrink: what was promised is there, and the
# message and exit code say what happened.
load common

teardown() {
  local mounted
  for mounted in "$BATS_TEST_TMPDIR"/*; do
    if mountpoint -q "$mounted"; then umount "$mounted"; fi
  done
}

# small_disk NAME SIZE: a file system of this size at ./NAME.
small_disk() {
  mkdir -p "$1"
  mount -t tmpfs -o "size=$2" tmpfs "$1" 2> /dev/null || skip "mounting a tmpfs is not allowed here"
}

# fill FORMAT SYNC: a producer fills the disk up; what it says is durable is there, and the rest can be appended later.
fill() {
  small_disk disk 400k
  export TK_DIR=$PWD/disk/logs
  tk_is 0 topics create t --format "$1" -c segment.bytes=100K -c index.interval.bytes=500
  seq 40000 | sed 's/$/ of many lines/' > lines
  run --separate-stderr bash -c "exec '$TK' produce t --json --sync $2 < lines"
  equal "$status" 1
  error_is STORAGE_ERROR
  local told there
  told=$(jq -r 'select(.error) | .message' <<< "$(tail -n 1 <<< "$stderr")" | sed -nE 's/.* ([0-9]+) records? of this run (is|are) durable$/\1/p')
  there=$(tk consume t --count)
  [ "$told" -gt 1000 ]
  equal "$told" "$there"
  cmp <(tk consume t) <(head -n "$there" lines)
  mount -o remount,size=4m "$PWD/disk"
  tail -n +$((there + 1)) lines | tk produce t -q --sync "$2"
  tk consume t | cmp - lines
  tk_is 0 verify
}

@test "a full disk: json, forced at the end" { fill json end; }
@test "a full disk: json, forced by batch" { fill json batch; }
@test "a full disk: kafka, forced at the end" { fill kafka end; }
@test "a full disk: kafka, forced by batch" { fill kafka batch; }
@test "a full disk: kafka, left to the system" { fill kafka none; }

@test "a full disk from the start: nothing is made that stands in the way later" {
  small_disk disk 64k
  export TK_DIR=$PWD/disk/logs
  dd if=/dev/zero of=disk/ballast bs=1k count=64 status=none 2> /dev/null || true
  run --separate-stderr bash -c "seq 10 | '$TK' produce t --json"
  equal "$status" 1
  error_is STORAGE_ERROR
  rm disk/ballast
  seq 10 | tk produce t -q
  equal "$(values)" "1 2 3 4 5 6 7 8 9 10"
  tk_is 0 verify
}

@test "a full disk under a cluster: what the leader's disk alone has is not called acknowledged" {
  small_disk disk 3m
  export TK_DIR=$PWD/disk/cluster
  tk cluster init --brokers 3 -q
  tk topics create t -p 1 --replicas 3 -c min.insync.replicas=2 -q
  seq 1000 | tk produce t --acks all -q
  run --separate-stderr bash -c "seq 1001 60000 | '$TK' produce t --acks all --json"
  equal "$status" 1
  error_is STORAGE_ERROR
  contains "$stderr" "0 records of this run are acknowledged"
  equal "$(tk consume t)" "$(seq 1000)"
  mount -o remount,size=40m "$PWD/disk"
  echo after | tk produce t --acks all -q
  tk_is 0 consume t
  # What had reached the leader may survive: here it did, in order.
  local count=$(($(wc -l <<<"$output") - 1))
  equal "$output" "$(seq $count; echo after)"
  tk_is 0 verify
}

# looks: every command that only looks, with its output.
looks() {
  tk consume t && tk verify && tk dump-log t --print-data-log --deep-iteration && tk topics list && tk topics describe t &&
    tk recover --dry-run
}

# refused ARGS...: a command that writes fails with STORAGE_ERROR.
refused() {
  run --separate-stderr bash -c "echo x | '$TK' $* --json"
  equal "$status" 1
  error_is STORAGE_ERROR
}

@test "a read-only mount: looking works as ever, writing is refused and changes nothing" {
  small_disk disk 4m
  export TK_DIR=$PWD/disk/logs
  seq 1000 | tk produce t -q -c segment.bytes=4K
  looks > before
  mount -o remount,ro "$PWD/disk"
  local whole
  whole=$(digest disk/logs)
  looks > after
  cmp before after
  refused produce t
  refused produce u
  refused topics create u
  refused topics alter t -p 2
  refused topics delete t
  equal "$(digest disk/logs)" "$whole"
}

@test "a directory without the right to write: the same for a user who is not root" {
  command -v setpriv > /dev/null || skip "setpriv is not here"
  [ "$(id -u)" -eq 0 ] || skip "only root can become somebody else"
  seq 1000 | tk produce t -q
  local path
  for path in "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")"; do chmod o+rx "$path"; done
  local somebody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  "${somebody[@]}" "$TK" --version > /dev/null 2>&1 || skip "the executable cannot be reached by another user"
  looks > before
  "${somebody[@]}" "$TK" consume t > after
  cmp after <(seq 1000)
  "${somebody[@]}" "$TK" verify > /dev/null
  run --separate-stderr "${somebody[@]}" "$TK" produce t --json <<< x
  equal "$status" 1
  error_is STORAGE_ERROR
  looks > after
  cmp before after
}

@test "the directory goes away under a producer: it says so, and nothing comes back" {
  local code=0
  mkfifo lines
  tk produce t -q --linger-ms 1 < lines 2> err 3>&- &
  local producer=$!
  exec 8> lines
  echo a >&8
  until [ "$(tk consume t 2> /dev/null)" = a ]; do sleep 0.05; done
  rm -rf logs
  echo b >&8
  exec 8>&-
  wait $producer || code=$?
  equal "$code" 1
  contains "$(cat err)" "1 record of this run is durable"
  [ ! -e logs/t-0 ]
}

@test "the directory goes away under a follower: it says so" {
  local code=0
  seq 10 | tk produce t -q
  timeout 20 "$TK" consume t -F > followed 2> err 3>&- &
  local follower=$!
  until [ "$(wc -l < followed)" -eq 10 ]; do sleep 0.05; done
  rm -rf logs
  wait $follower || code=$?
  equal "$code" 1
  contains "$(cat err)" logs/t-0
  cmp followed <(seq 10)
}

# shrinking COMMAND...: the segment is cut while the command, which reads it, waits for its reader; leaves ./got, ./err, $code.
shrinking() {
  code=0
  mkfifo pipe
  tk "$@" > pipe 2> err 3>&- &
  local reader=$!
  exec 9< pipe
  head -c 100 <&9 > got
  truncate -s 6000013 $S0
  cat <&9 >> got
  exec 9<&-
  wait $reader || code=$?
}

@test "a file that shrinks while it is read: said with its name, and only whole records are printed" {
  local code
  tk_is 0 topics create t --format kafka
  seq -f '%.0f of a long file, which is longer than what pipes and buffers hold' 300000 > lines
  tk produce t -q < lines
  [ "$(size $S0)" -gt 20000000 ]
  cp $S0 whole
  shrinking consume t
  equal "$code" 1
  contains "$(cat err)" "shrank"
  contains "$(cat err)" "$S0"
  [ "$(wc -l < got)" -gt 50000 ]
  cmp <(head -n "$(wc -l < got)" lines) got
  cp whole $S0
  rm pipe
  shrinking dump-log t --print-data-log
  equal "$code" 1
  contains "$(cat err)" "shrank"
  contains "$(cat err)" "$S0"
}
