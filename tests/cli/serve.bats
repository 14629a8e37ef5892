#!/usr/bin/env bats
# tk serve with real clients: kcat and kafka-python. What a client wrote is what tk reads, and the other way.

load common

# shellcheck source=serve.bash
. "$BATS_TEST_DIRNAME/serve.bash"

@test "kcat produces with every codec and reads it back, and tk reads the same" {
  serve
  seq 1 3000 | sed 's/.*/k&:value &/' >lines
  for codec in none gzip snappy lz4 zstd; do
    timeout 20 kcat -P -b "$kafka" -t "c-$codec" -K : -z "$codec" -X acks=all <lines
    kcat_all "c-$codec" -K : | cmp - lines
    tk consume "c-$codec" -K : | cmp - lines
  done
  stop TERM 143
  tk_is 0 verify
}

@test "a log of many megabytes comes whole, in answers that end within batches" {
  seq 1 400000 | tk produce big --format kafka --batch-size 131072 -q
  seq 400001 401000 | tk produce big --batch-size 1 -q
  serve
  seq 1 401000 >want
  kcat_all big | cmp - want
  kcat_all big -X fetch.message.max.bytes=50000 | cmp - want
  kcat_all big -X fetch.message.max.bytes=1000 | cmp - want
  seq 401001 401100 | timeout 20 kcat -P -b "$kafka" -t big
  seq 1 401100 >want
  kcat_all big | cmp - want
}

@test "kafka-python produces, consumes, and asks for offsets" {
  serve
  python <<'EOF'
import sys
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
producer = KafkaProducer(bootstrap_servers=sys.argv[1], acks="all")
for i in range(500):
    last = producer.send("py", b"v%d" % i, key=b"k%d" % i, headers=[("h", b"x")], timestamp_ms=1700000000000 + i)
producer.flush()
assert last.get().offset == 499
part = TopicPartition("py", 0)
consumer = KafkaConsumer(bootstrap_servers=sys.argv[1], consumer_timeout_ms=5000, enable_auto_commit=False)
consumer.assign([part])
consumer.seek(part, 100)
for i in range(100, 500):
    record = next(consumer)
    assert (record.offset, record.key, record.value, record.headers) == (i, b"k%d" % i, b"v%d" % i, [("h", b"x")]), record
assert consumer.beginning_offsets([part])[part] == 0 and consumer.end_offsets([part])[part] == 500
found = consumer.offsets_for_times({part: 1700000000123})[part]
assert (found.offset, found.timestamp) == (123, 1700000000123), found
EOF
  equal "$(tk consume py -o 7 -n 1 -f '%k %s %T\n')" "k7 v7 1700000000007"
}

@test "topics are made, described, grown and deleted by kafka-python" {
  serve
  python <<'EOF'
import sys
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewPartitions, NewTopic
from kafka.errors import InvalidReplicationFactorError, InvalidTopicError, TopicAlreadyExistsError, UnknownTopicOrPartitionError
admin = KafkaAdminClient(bootstrap_servers=sys.argv[1])
admin.create_topics([NewTopic("made", 3, 1, topic_configs={"retention.ms": "1000"})])
def refused(error, topic):
    try:
        admin.create_topics([topic])
    except error:
        return
    raise AssertionError(topic)
refused(TopicAlreadyExistsError, NewTopic("made", 1, 1))
refused(InvalidTopicError, NewTopic("../x", 1, 1))
refused(InvalidReplicationFactorError, NewTopic("r", 1, 3))
admin.create_partitions({"made": NewPartitions(5)})
admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, "made", {"segment.bytes": "4096"})])
rows = admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, "made")])[0].resources[0][4]
values = {row[0]: row[1] for row in rows}
assert values["segment.bytes"] == "4096" and values["retention.ms"] == "-1", values
assert "made" in admin.list_topics()
admin.create_topics([NewTopic("gone", 1, 1)])
admin.delete_topics(["gone"])
assert "gone" not in admin.list_topics()
try:
    admin.delete_topics(["gone"])
    raise AssertionError("deleted twice")
except UnknownTopicOrPartitionError:
    pass
EOF
  tk_is 0 topics describe made --json
  equal "$(rows '.partition' | wc -w)" 5
  tk_is 1 topics describe gone
}

@test "other commands write beside it, and waiting readers see it at once" {
  serve
  tk produce t <<<"one" -q
  timeout 20 kcat -C -u -q -b "$kafka" -t t -o beginning >seen 2>/dev/null 3>&- &
  reader=$!
  for _ in $(seq 100); do grep -q one seen && break; sleep 0.05; done
  tk produce t <<<"two" -q
  echo three | timeout 20 kcat -P -b "$kafka" -t t
  tk produce t <<<"four" -q
  for _ in $(seq 100); do grep -q four seen && break; sleep 0.05; done
  kill "$reader"
  equal "$(tr '\n' ' ' <seen)" "one two three four "
  equal "$(tk consume t | tr '\n' ' ')" "one two three four "
}

@test "both formats are read and written through it" {
  tk topics create j --format json -q
  printf 'a:1\nb:\nc:3\n' | tk produce j -K : -q
  serve
  equal "$(kcat_all j -K : | tr '\n' ' ')" "a:1 b: c:3 "
  printf 'd:4\ne:5\n' | timeout 20 kcat -P -b "$kafka" -t j -K : -z lz4
  equal "$(tk consume j -K : | tr '\n' ' ')" "a:1 b: c:3 d:4 e:5 "
}

@test "kill -9 loses nothing that was acknowledged" {
  for round in 1 2 3; do
    serve
    python "$round" >acked <<'EOF' &
import sys
from kafka import KafkaProducer
producer = KafkaProducer(bootstrap_servers=sys.argv[1], acks="all", retries=0, linger_ms=1, max_block_ms=2000)
import threading
threading.Timer(4, lambda: __import__("os")._exit(0)).start()
i = 0
while True:
    batch = [(n, producer.send("k", b"%s-%d" % (sys.argv[2].encode(), n))) for n in range(i, i + 20)]
    for n, sent in batch:
        sent.get(2)
        print("%s-%d" % (sys.argv[2], n), flush=True)
    i += 20
EOF
    client=$!
    for _ in $(seq 100); do [ "$(wc -l <acked)" -ge 100 ] && break; sleep 0.02; done
    kill -9 "$server"
    wait "$server" 2>/dev/null || true
    wait "$client" 2>/dev/null || true
    cat acked >>all_acked
    [ -s acked ]
    tk consume k >stored
    sort all_acked >want
    sort stored >have
    equal "$(comm -23 want have | wc -l)" 0
    equal "$(tk consume k -f '%o\n' | awk '$1 != NR - 1' | wc -l)" 0
  done
}

@test "a taken port, a second server, a foreign address, a broker's directory, a missing directory" {
  serve
  tk_is 4 --json serve --kafka 127.0.0.1:0
  error_is LOG_DIR_LOCKED
  contains "$stderr" "$kafka"
  TK_DIR=other tk_is 1 serve --kafka "$kafka"
  contains "$stderr" "cannot listen on $kafka"
  TK_DIR=other tk_is 2 serve --kafka 0.0.0.0:0
  contains "$stderr" --allow-remote
  TK_DIR=other tk_is 2 serve --kafka 0.0.0.0:0 --allow-remote
  contains "$stderr" --advertise
  mkdir broker
  echo 'version=1' >broker/meta.properties
  TK_DIR=broker tk_is 2 serve --kafka 127.0.0.1:0
  contains "$stderr" --read-only
  TK_DIR=missing tk_is 1 serve --read-only --kafka 127.0.0.1:0
  [ ! -e missing ]
}

@test "garbage, HTTP, TLS and endless frames on the Kafka port close their connection and nothing else" {
  serve
  python <<'EOF'
import socket, sys
host, port = sys.argv[1].split(":")
for junk in (b"\0" * 64, b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\0" + b"x" * 60, b"\x7f\xff\xff\xff" + b"x" * 99,
             b"\0\0\0\x07abcdefg", b"\0\0\0\x0e\0\x03\0\x63\0\0\0\1\xff\xff\0\0\0\0"):
    with socket.create_connection((host, int(port)), 5) as c:
        c.settimeout(5)
        c.sendall(junk)
        try:
            assert c.recv(100) == b"", junk
        except ConnectionResetError:
            pass
EOF
  contains "$(cat serve.err)" "looks like HTTP"
  contains "$(cat serve.err)" "looks like TLS"
  timeout 10 kcat -L -b "$kafka" | grep -q "broker 1 at $kafka"
}

@test "--idle-exit, --port-file and --json" {
  tk_is 0 --json serve --kafka 127.0.0.1:0 --idle-exit 100 --port-file pf
  equal "$(rows '.event')" "listening ready stopped"
  equal "$(rows 'select(.event == "stopped") | .reason')" idle
  grep -qE '^listening kafka 127.0.0.1:[0-9]+$' pf
}
