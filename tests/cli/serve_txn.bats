#!/usr/bin/env bats
# Transactions of real clients through tk serve, a dead broker's disk, and what happens at the end.

load common
# shellcheck source=serve.bash
. "$BATS_TEST_DIRNAME/serve.bash"

@test "kcat's transaction is seen when it is committed, and tk sees the same" {
  serve
  seq 1 500 | timeout 20 kcat -P -b "$kafka" -t x -X transactional.id=one
  equal "$(timeout 20 kcat -C -e -q -b "$kafka" -t x -o beginning -X isolation.level=read_committed | wc -l)" 500
  equal "$(tk consume x --isolation read_committed | wc -l)" 500
  tk_is 0 txn list --json
  equal "$(rows 'select(.id == "one") | .state')" Empty
  # One of tk's own, left open and then aborted, is not seen by a committed reader.
  tk txn begin two >/dev/null
  echo hidden | tk produce x --txn two -q
  equal "$(timeout 20 kcat -C -e -q -b "$kafka" -t x -o beginning -X isolation.level=read_committed | wc -l)" 500
  equal "$(timeout 20 kcat -C -e -q -b "$kafka" -t x -o beginning -X isolation.level=read_uncommitted | grep -c hidden)" 1
  tk txn abort two
  echo shown | timeout 20 kcat -P -b "$kafka" -t x
  equal "$(timeout 20 kcat -C -e -q -b "$kafka" -t x -o beginning -X isolation.level=read_committed | tail -1)" shown
  equal "$(timeout 20 kcat -C -e -q -b "$kafka" -t x -o beginning -X isolation.level=read_committed | grep -c hidden)" 0
  stop TERM 143
  tk_is 0 verify
}

# tree_hash DIR: names, sizes, times and content of everything in it.
tree_hash() { (cd "$1" && find . -printf '%p %s %T@ %y\n' | sort && find . -type f -print0 | sort -z | xargs -0 sha256sum) | sha256sum; }

# expected FIXTURE TOPIC FILTER: offset and value of its records, as the fixture has them.
seen_by_kcat() { timeout 30 kcat -C -e -q -b "$kafka" -t "$1" -o beginning -X isolation.level="$2" -f '%p %o %S\n' | sort; }
seen_by_tk() { "$TK" -d "$1" consume "$2" --isolation "$3" -f '%p %o %S\n' | sort; }

@test "a dead broker's disk is read by ordinary consumers, and nothing of it changes" {
  for name in kafka-4.4-clean kafka-4.4-killed kafka-3.9 kafka-2.8 kafka-0.10; do
    data=$(fixture "$name")/data
    before=$(tree_hash "$data")
    TK_DIR=$data serve --read-only
    n=0
    for topic in $("$TK" -d "$data" topics list --json | jq -r 'select(.state == "live") | .topic' | grep -v '^__' | head -n 12); do
      for isolation in read_uncommitted read_committed; do
        seen_by_kcat "$topic" "$isolation" >by_kcat
        seen_by_tk "$data" "$topic" "$isolation" >by_tk
        cmp by_kcat by_tk || { echo "$name $topic $isolation"; return 1; }
      done
      n=$((n + $(wc -l <by_tk)))
    done
    [ "$n" -gt 100 ]
    ! echo no | timeout 20 kcat -P -b "$kafka" -t codec-zstd -X message.timeout.ms=2000 2>/dev/null
    stop TERM 143
    equal "$(tree_hash "$data")" "$before"
  done
}

@test "groups of a broker's disk go on from the broker's commits" {
  data=$(fixture kafka-4.4-clean)/data
  TK_DIR=$data serve --read-only
  get /groups
  [ "$(jq length body)" -gt 0 ]
  group=$(jq -r '.[0].group' body)
  get "/groups/$group"
  equal "$(jq -c '[.[] | select(.committed != null) | {topic, partition, committed}] | sort' body)" \
    "$("$TK" -d "$data" groups describe "$group" --json | jq -sc '[.[] | select(.committed != null) | {topic, partition, committed}] | sort')"
}

@test "damaged batches are left out with --on-damage skip" {
  seq 1 3000 | tk produce t --format kafka -q
  size=$(stat -c %s "$S0")
  printf '\377\377\377\377' | dd of="$S0" bs=1 seek=$((size / 2)) conv=notrunc status=none
  tk consume t --on-damage skip >want 2>/dev/null || true
  [ "$(wc -l <want)" -lt 3000 ]
  serve --on-damage skip
  kcat_all t | cmp - want
}

@test "with --on-damage skip a client reads of a broker's damaged partitions what consume shows" {
  data=$(fixture kafka-4.4-damaged)/data
  TK_DIR=$data serve --read-only --on-damage skip
  # Bad checksums, and good ones over records that are not what the header says.
  for topic in flip-payload-mid ext-zeros-mid-seg comp-gzip-fixed count-huge-fixed record-tail-fixed; do
    "$TK" -d "$data" consume $topic >want 2>/dev/null || true
    [ -s want ]
    kcat_all $topic | cmp - want
  done
}

@test "a signal under load ends it in time, and nothing acknowledged is lost" {
  serve
  python >acked <<'EOF' &
import sys, os, threading
from kafka import KafkaProducer
threading.Timer(8, lambda: os._exit(0)).start()
producer = KafkaProducer(bootstrap_servers=sys.argv[1], acks="all", retries=0, max_block_ms=2000)
i = 0
while True:
    sent = [(n, producer.send("s", b"%d" % n)) for n in range(i, i + 50)]
    for n, future in sent:
        future.get(2)
        print(n, flush=True)
    i += 50
EOF
  client=$!
  timeout 20 curl -s "http://$http/topics/s/records?offset=end&wait_ms=50000" >/dev/null &
  for _ in $(seq 200); do [ "$(wc -l <acked)" -ge 300 ] && break; sleep 0.02; done
  begin=$(date +%s%N)
  stop TERM 143
  [ $(($(date +%s%N) - begin)) -lt 2500000000 ]
  kill "$client" 2>/dev/null || true
  wait "$client" 2>/dev/null || true
  [ "$(wc -l <acked)" -ge 300 ]
  tk consume s | sort >have
  sort acked >want
  equal "$(comm -23 want have | wc -l)" 0
  tk_is 0 verify
}

@test "many wait, one record wakes them all, and memory stays small" {
  serve
  tk produce w <<<"first" -q
  python "$http" "$server" <<'EOF'
import socket, sys, time
host, port = sys.argv[2].split(":")
request = b"GET /topics/w/records?offset=end&wait_ms=50000 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
sockets = []
for i in range(800):
    s = socket.create_connection((host, int(port)), 5)
    s.sendall(request)
    sockets.append(s)
time.sleep(1)
def cpu():
    fields = open(f"/proc/{sys.argv[3]}/stat").read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])
before = cpu()
time.sleep(1)
assert cpu() - before <= 5, cpu() - before
post = socket.create_connection((host, int(port)), 5)
body = b'{"value":"wake up"}\n'
post.sendall(b"POST /topics/w/records HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
begin = time.time()
for s in sockets:
    s.settimeout(10)
    got = s.recv(4096)
    while b"wake up" not in got:
        more = s.recv(4096)
        assert more, got
        got += more
took = time.time() - begin
assert took < 5, took
rss = [int(l.split()[1]) for l in open(f"/proc/{sys.argv[3]}/status") if l.startswith("VmRSS")][0]
assert rss < 300000, rss
EOF
}

@test "mutated requests of real clients end connections, never the server" {
  serve
  seq 1 100 | timeout 20 kcat -P -b "$kafka" -t t
  zstd -dcq "$project/tests/fixtures/wire/exchanges.txt.zst" | grep '^Q' | cut -d' ' -f4 >frames
  PYTHON_SECONDS=$((54 + ${TK_MUTATED_SECONDS:-6})) python "$PWD/frames" <<'EOF'
import os, random, socket, struct, sys, time
host, port = sys.argv[1].split(":")
frames = [bytes.fromhex(line.strip()) for line in open(sys.argv[2])]
random.seed(5)
end = time.time() + float(os.environ.get("TK_MUTATED_SECONDS", 6))
sent = 0
while time.time() < end:
    s = socket.create_connection((host, int(port)), 5)
    s.settimeout(0.05)
    for _ in range(30):
        f = bytearray(random.choice(frames))
        # Nothing here waits or deletes: joins, fetches that wait and deletions are sent as they are elsewhere.
        for _ in range(random.randint(1, 4)):
            what = random.random()
            at = random.randrange(len(f))
            if what < 0.5: f[at] = random.randrange(256)
            elif what < 0.7: f[at:at + 4] = struct.pack(">i", random.choice([-1, 0, 1, 2**31 - 1, -2**31, 65536]))
            elif what < 0.85 and len(f) > 9: del f[at:]
            else: f[at:at] = bytes(random.randrange(256) for _ in range(random.randint(1, 9)))
            if len(f) < 9: f += b"\0" * 9
        try:
            s.sendall(struct.pack(">i", len(f)) + bytes(f))
            sent += 1
        except OSError:
            break
    try:
        s.recv(65536)
    except OSError:
        pass
    s.close()
print(sent)
EOF
  kill -0 "$server"
  # What came before it is worked off first, which takes a while on a busy machine.
  echo alive | timeout 90 kcat -P -b "$kafka" -t good
  equal "$(kcat_all good)" alive
}
