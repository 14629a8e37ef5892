#!/usr/bin/env bats
# Consumer groups and idempotent producers of real clients through tk serve.

load common
# shellcheck source=serve.bash
. "$BATS_TEST_DIRNAME/serve.bash"

@test "a group of kcat's commits, and goes on where it was after a restart" {
  serve
  seq 1 2000 | timeout 20 kcat -P -b "$kafka" -t t
  equal "$(timeout 20 kcat -b "$kafka" -G g -X auto.offset.reset=earliest -e -q t 2>/dev/null | wc -l)" 2000
  tk_is 0 groups describe g --json
  equal "$(rows '[.committed, .lag] | join(" ")')" "2000 0"
  stop TERM 143
  serve
  echo more | timeout 20 kcat -P -b "$kafka" -t t
  equal "$(timeout 20 kcat -b "$kafka" -G g -X auto.offset.reset=earliest -e -q t 2>/dev/null)" more
  tk_is 0 verify
}

@test "two members share out the partitions, and one takes over when the other leaves" {
  serve
  python <<'EOF'
import sys, threading, time
from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic
broker = sys.argv[1]
admin = KafkaAdminClient(bootstrap_servers=broker)
admin.create_topics([NewTopic("g4", 4, 1)])
producer = KafkaProducer(bootstrap_servers=broker)
for i in range(400):
    producer.send("g4", b"%d" % i, partition=i % 4)
producer.flush()
seen, held, ends = [], {}, {"a": threading.Event(), "b": threading.Event()}
def member(name):
    consumer = KafkaConsumer("g4", bootstrap_servers=broker, group_id="kg", auto_offset_reset="earliest",
                             session_timeout_ms=6000, heartbeat_interval_ms=200, consumer_timeout_ms=100)
    while not ends[name].is_set():
        seen.extend((m.partition, m.offset) for m in consumer)
        held[name] = sorted(p.partition for p in consumer.assignment())
    consumer.commit()
    consumer.close()
def until(what):
    end = time.time() + 15
    while not what():
        assert time.time() < end, (held, len(seen))
        time.sleep(0.05)
threads = {n: threading.Thread(target=member, args=n) for n in "ab"}
threads["a"].start()
until(lambda: held.get("a") == [0, 1, 2, 3] and len(seen) == 400)
threads["b"].start()
until(lambda: len(held.get("a", [])) == 2 and len(held.get("b", [])) == 2 and sorted(held["a"] + held["b"]) == [0, 1, 2, 3])
assert [g[0] for g in admin.list_consumer_groups()] == ["kg"]
described = admin.describe_consumer_groups(["kg"])[0]
assert described.state == "Stable" and len(described.members) == 2, described
ends["a"].set()
threads["a"].join()
until(lambda: held["b"] == [0, 1, 2, 3])
ends["b"].set()
threads["b"].join()
offsets = admin.list_consumer_group_offsets("kg")
assert sorted(o.offset for o in offsets.values()) == [100] * 4, offsets
assert sorted(seen) == sorted(set(seen)), "something was read twice"
EOF
  tk_is 0 groups describe kg --state --json
  equal "$(rows .state)" Empty
}

@test "members of a stored group go on after kill -9 without a rebalance" {
  serve
  seq 1 10 | timeout 20 kcat -P -b "$kafka" -t t
  python >got 2>pyerr 3>&- <<'EOF' &
import sys, time
from kafka import KafkaConsumer
consumer = KafkaConsumer("t", bootstrap_servers=sys.argv[1], group_id="g", auto_offset_reset="earliest",
                         session_timeout_ms=20000, heartbeat_interval_ms=300, consumer_timeout_ms=100)
end = time.time() + 25
while time.time() < end:
    for record in consumer:
        print(record.value.decode(), flush=True)
        if record.value == b"eleven":
            sys.exit(0)
EOF
  member=$!
  for _ in $(seq 200); do [ "$(wc -l <got)" -eq 10 ] && break; sleep 0.05; done
  tk_is 0 groups describe g --state --json
  generation=$(rows .generation)
  port=${kafka##*:}
  kill -9 "$server"
  wait "$server" 2>/dev/null || true
  tk produce t <<<"eleven" -q
  "$TK" serve --kafka "127.0.0.1:$port" >ports 2>serve.err 3>&- &
  server=$!
  for _ in $(seq 300); do grep -q eleven got && break; sleep 0.05; done
  grep -q eleven got
  tk_is 0 groups describe g --state --json
  equal "$(rows .generation)" "$generation"
  kill "$member" 2>/dev/null || true
}

@test "tk and a wire client do not share a classic group" {
  serve
  seq 1 10 | timeout 20 kcat -P -b "$kafka" -t t
  timeout 30 kcat -b "$kafka" -G g -q -u t >got 2>kerr 3>&- &
  member=$!
  for _ in $(seq 200); do tk groups describe g --state --json 2>/dev/null | grep -q '"Stable"' && break; sleep 0.05; done
  tk_is 4 --json rebalance g --join me=t --protocol classic
  error_is INCONSISTENT_GROUP_PROTOCOL
  tk_is 4 --json groups reset-offsets g --to-earliest --execute --topic t
  error_is NON_EMPTY_GROUP
  kill "$member"
  wait "$member" 2>/dev/null || true
}

@test "an idempotent producer's records are there once, and its ids survive a restart" {
  serve
  seq 1 3000 | timeout 20 kcat -P -b "$kafka" -t i -X enable.idempotence=true
  first=$(tk dump-log i --print-data-log 2>/dev/null | grep -o 'producerId: [0-9]*' | sort -u)
  kill -9 "$server"
  wait "$server" 2>/dev/null || true
  serve
  seq 1 3000 | timeout 20 kcat -P -b "$kafka" -t i -X enable.idempotence=true
  equal "$(tk consume i | sort -n | uniq -c | awk '$1 != 2' | wc -l)" 0
  equal "$(tk dump-log i --print-data-log 2>/dev/null | grep -o 'producerId: [0-9]*' | sort -u | wc -l)" 2
  [ -n "$first" ]
  tk_is 0 verify
}
