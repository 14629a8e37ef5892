"""Recorded exchanges of clients with a real 4.4.0 broker are replayed against `tk serve`, and the ANSWERS compared (serve.md §5
T3): replay.py TK DIRECTORY [CASE]...
Requests go out in the recorded order, on connections as recorded; what waited then (another request came before its answer) waits
here. Ids that a server chooses (topics, producers, members, sessions) are learned from the answers, put into the requests that
follow, and must stay for each other one to one. What is not compared, and why, stands in MASKED and DIFFERS. The last line counts."""
import json, sys, time
from wire import *
import schema

TK, directory = sys.argv[1:3]
only = sys.argv[3:]

# Of an address, a clock, a disk, or texts for people.
MASKED = {"throttle_time_ms", "error_message", "host", "port", "rack", "node_id", "broker_id", "leader_id", "controller_id", "replica_nodes", "isr_nodes",
          "cluster_id", "log_dir", "total_bytes", "usable_bytes", "partition_size", "log_append_time_ms", "timestamp", "client_host",
          "last_timestamp", "transaction_start_time_ms", "batch_index_error_message", "broker_epoch", "is_cordoned", "metadata_offset",
          "coordinator_epoch", "eligible_leader_replicas", "last_known_elr", "brokers", "responses_node_endpoints", "node_endpoints", "current_leader",
          "finalized_features_epoch", "zk_migration_ready", "offline_replicas", "controller_epoch", "authorized_operations",
          "topic_authorized_operations", "cluster_authorized_operations", "member_metadata_subscription"}
# Chosen by a server: learned. (A producer id of -1, an empty member id and so on stand for themselves.)
LEARNED = {"topic_id": "topic", "producer_id": "producer", "member_id": "member", "leader": "member", "session_id": "session",
           "v3_and_below_producer_id": "producer"}
NOTHING = {"topic": b"\0" * 16, "producer": -1, "member": "", "session": 0}

# Of these lists tk has a part, which must be as it is there (serve.md §2.2: the APIs that are served).
PARTS = {"ApiVersions.api_keys": "api_key", "ApiVersions.supported_features": "name", "ApiVersions.finalized_features": "name",
         "ListGroups.groups": "group_id", "Metadata.topics": "name"}

# Where tk answers otherwise on purpose: a case, and what of it, with the reason. "*": the whole case is not compared.
DIFFERS = {
    "unsupported-api17-v1": "SaslHandshake is not served (serve.md §1.5)",
    "sasl-handshake-on-plaintext": "SaslHandshake is not served (serve.md §1.5)",
    "get-telemetry-subscriptions": "telemetry is not served (serve.md §6)",
    "produce-null-records": "answered with 87 (serve.md §2.4)",
    "metadata-auto-create": "a topic is there in the first answer (serve.md §2.3)",
    "transaction-times-out": "takes 13 s; a unit test has it",
    "classic-follower-sync-waits-for-leader": {"Heartbeat", "DescribeGroups"},  # its members' sessions ended there meanwhile
    "produce-batch-codec5": {"-1 there, 87 here"},  # serve.md §2.4
    "produce-batch-badgzip": {"-1 there, 2 here"},  # serve.md §2.4
    "transactional-fenced-txn-v1": {"51 there"},  # ends of transactions are one step (serve.md §2.8)
    "transactional-fenced-txn-v2": {"51 there"},
    "fetch-as-replica": {"error_code"},  # 42 for the request (serve.md §2.5)
    "create-topics-validate-only": {"topic_id"},  # of a topic that is not made
    "create-topics-name-249": {"topic_id"},
    "describe-configs-some-keys": {"'604800000' there, '-1' here"},  # tk's defaults (serve.md §1.1)
    "consumer-group-heartbeat-into-live-classic-group": "groups do not change protocol while they have members (serve.md §7.2)",
}
# The same in every case: AddPartitionsToTxn from version 4 on is for brokers; where a broker takes min.insync.replicas from.
DIFFERS_EVERYWHERE = ("api_keys[16].max_version: 5 there, 3 here", "config_source: 3 there, 5 here")

# The topics that the recorded cases found there: (name, partitions, configs).
TOPICS = [("err", 1, {}), ("err2", 1, {}), ("err-tx", 1, {}), ("err2-tx", 1, {}), ("err-compact", 1, {"cleanup.policy": "compact"}),
          ("err-small", 1, {"max.message.bytes": "300"}), ("err.dot", 1, {})]


class Difference(Exception): pass


class Ids:
    """Which of ours stands for which recorded one."""

    def __init__(self): self.ours, self.theirs = {}, {}

    def learn(self, kind, theirs, ours, where):
        if NOTHING[kind] in (theirs, ours) and theirs != ours: raise Difference(f"{where}: {theirs!r} there, {ours!r} here")
        if self.ours.setdefault((kind, theirs), ours) != ours: raise Difference(f"{where}: another {kind} than before")
        if self.theirs.setdefault((kind, ours), theirs) != theirs: raise Difference(f"{where}: the {kind} of another")

    def replace(self, value):
        """A request's body, with ours."""
        if isinstance(value, list): return [self.replace(v) for v in value]
        if not isinstance(value, dict): return value
        out = {}
        for name, inner in value.items():
            kind = LEARNED.get(name) or ("topic" if name in ("topic_ids",) else None)
            if kind and not isinstance(inner, (dict, list)): out[name] = self.ours.get((kind, inner), inner)
            elif name == "records" and isinstance(inner, bytes): out[name] = self.batch(inner)
            else: out[name] = self.replace(inner)
        return out

    def batch(self, raw):
        """A batch of a producer whose id is another one here."""
        if len(raw) < 61 or raw[16] != 2: return raw
        producer, = struct.unpack(">q", raw[43:51])
        length, = struct.unpack(">i", raw[8:12])
        ours = self.ours.get(("producer", producer))
        if producer < 0 or ours is None or length + 12 != len(raw) or crc32c(raw[21:]) != struct.unpack(">I", raw[17:21])[0]: return raw
        raw = raw[:43] + struct.pack(">q", ours) + raw[51:]
        return raw[:17] + struct.pack(">I", crc32c(raw[21:])) + raw[21:]


def sort_key(element):
    if not isinstance(element, dict): return repr(element)
    keys = ("name", "topic", "group_id", "resource_name", "partition_index", "partition", "index", "partition_id", "error_code", "api_key", "transactional_id")
    return repr([element.get(k) for k in keys])


def compare(theirs, ours, ids, where):
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for name, value in sorted(theirs.items(), key=lambda item: item[0] != "error_code"):
            path = f"{where}.{name}"
            kind = LEARNED.get(name)
            if name in MASKED or value == ours[name] and not kind: continue
            if path in PARTS:
                key = PARTS[path]
                both = {v[key] for v in value or []} & {o[key] for o in ours[name] or []}
                compare(*([v for v in rows or [] if v[key] in both] for rows in (value, ours[name])), ids, path)
            elif kind and not isinstance(value, (dict, list)) and value is not None: ids.learn(kind, value, ours[name], path)
            elif name == "records" and isinstance(value, bytes) and isinstance(ours[name], bytes): compare_records(value, ours[name], ids, path)
            else: compare(value, ours[name], ids, path)
    elif isinstance(theirs, list) and isinstance(ours, list):
        if len(theirs) != len(ours): raise Difference(f"{where}: {len(theirs)} there, {len(ours)} here: {theirs!r:.300} / {ours!r:.300}")
        # Sets, as answers about several topics are (serve.md §2.2); members by the ids that are known.
        known = lambda e: isinstance(e, dict) and ids.ours.get(("member", e.get("member_id")))
        for element in [e for e in theirs if known(e)]:
            mine = [o for o in ours if o["member_id"] == known(element)]
            if not mine: raise Difference(f"{where}: a member is missing")
            compare(element, mine[0], ids, f"{where}[member]")
            theirs, ours = [e for e in theirs if e is not element], [o for o in ours if o is not mine[0]]
        for i, (a, b) in enumerate(zip(sorted(theirs, key=sort_key), sorted(ours, key=sort_key))): compare(a, b, ids, f"{where}[{i}]")
    elif theirs != ours:
        raise Difference(f"{where}: {theirs!r:.200} there, {ours!r:.200} here")


def compare_records(theirs, ours, ids, where):
    """Batch by batch: offsets, attributes, counts, sequences, and the records' own bytes; timestamps are of another day."""
    def facts(raw):
        at, rows = 0, []
        while len(raw) - at >= 61 and raw[at + 16] == 2:
            base, length = struct.unpack(">qi", raw[at:at + 12])
            if at + 12 + length > len(raw): break
            attributes, delta, first, _, producer, epoch, sequence, count = struct.unpack(">hiqqqhii", raw[at + 21:at + 61])
            body = raw[at + 61:at + 12 + length]
            rows.append(({"base": base, "attributes": attributes, "delta": delta, "epoch": epoch, "sequence": sequence, "count": count,
                          "body": body if attributes & 7 == 0 and not attributes & 32 else len(body) > 0}, producer))
            at += 12 + length
        return rows
    a, b = facts(theirs), facts(ours)
    if len(a) != len(b): raise Difference(f"{where}: {len(a)} batches there, {len(b)} here")
    for i, ((theirs, producer), (ours, our_producer)) in enumerate(zip(a, b)):
        ids.learn("producer", producer, our_producer, f"{where}[{i}].producer")
        compare(theirs, ours, ids, f"{where}[{i}]")


class Replay:
    def __init__(self, server):
        self.server, self.ids, self.connections, self.waiting = server, Ids(), {}, []

    def connection(self, number):
        if number not in self.connections: self.connections[number] = self.server.client(timeout=8)
        return self.connections[number]

    def send(self, row):
        _, case, connection, api, answered, version, request, answer, at, took = row
        frame = bytes.fromhex(request)
        parts = schema.read_request(api, version, frame)
        if parts: frame = parts[0] + schema.write_struct(schema.fields_of(api, "Request", version), self.ids.replace(parts[1]))
        self.connection(connection).socket.sendall(i32(len(frame)) + frame)

    def receive(self, row, closes):
        """Takes the answer, and compares it."""
        _, case, connection, api, answered, version, request, answer, at, took = row
        client = self.connection(connection)
        if answer is None:
            if closes and not client.closed(3): raise Difference("it is closed there, and open here")
            return
        try:
            theirs, ours = bytes.fromhex(answer), client.exactly(struct.unpack(">i", client.exactly(4))[0])
        except ConnectionError:
            raise Difference("it is answered there, and closed here")
        if theirs[:4] != ours[:4]: raise Difference(f"correlation id {ours[:4].hex()}")
        fields = schema.fields_of(api, "Response", answered)
        if fields is None: return
        compare(schema.read_answer(api, answered, theirs), schema.read_answer(api, answered, ours), self.ids, schema.NAMES[api])

    def run(self, rows):
        """One case. An answer is waited for unless another request was sent before it came."""
        asks = [row for row in rows if row[0] == "ask"]
        closed = {row[2] for row in rows if row[0] == "close" and row[3] == "broker"}
        problems = []
        def take(row, last):
            try:
                self.receive(row, last and row[2] in closed)
            except (Difference, ValueError, OSError) as difference:
                problems.append(f"{schema.NAMES.get(row[3], row[3])} v{row[5]} (number {asks.index(row) + 1}): {difference}")
        for i, row in enumerate(asks):
            try:
                self.send(row)
            except OSError as error:
                problems.append(f"not sent: {error}")
                continue
            following = asks[i + 1][8] if i + 1 < len(asks) else float("inf")
            self.waiting.append(row)
            ready = [w for w in self.waiting if w[7] is None or w[8] + w[9] <= following + 0.05]
            for one in ready:
                take(one, all(w[2] != one[2] for w in asks[i + 1:]))
                self.waiting.remove(one)
        for one in self.waiting: take(one, True)
        self.waiting.clear()
        for client in self.connections.values(): client.close()
        self.connections.clear()
        return problems


server = Server(TK, directory, "--min-session-ms", "6000")
setup = server.client()
for name, partitions, configs in TOPICS:
    setup.ask(CREATE_TOPICS, 2, array([text(name) + i32(partitions) + i16(1) + i32(0) + array([text(k) + text(v) for k, v in configs.items()])]) +
              i32(5000) + i8(0))
rows = [json.loads(line) for line in schema.unpacked("replay.ndjson.zst").splitlines()]
cases = {}
for row in rows: cases.setdefault(row[1], []).append(row)
replay, passed, failed, left_out = Replay(server), 0, 0, 0


def recorded_ids():
    """Topics by name, where an answer has both."""
    found = {}
    for row in rows:
        if row[0] != "ask" or row[3] not in (3, 19) or not row[7] or (row[3], row[4]) < (3, 10): continue
        for topic in schema.read_answer(row[3], row[4], bytes.fromhex(row[7]))["topics"]:
            if topic.get("topic_id") not in (None, b"\0" * 16) and topic["error_code"] == 0: found.setdefault(topic["name"], topic["topic_id"])
    found["err2-tx"] = bytes.fromhex("dd7f6e07a7004280807a4471ff190105")  # (as they are fetched, in fetch-isolation and
    found["err2"] = bytes.fromhex("ed03646a2ab64a12b08ef6862ee159a9")  # fetch-woken-by-produce)
    return found


body = {"topics": None, "allow_auto_topic_creation": False, "include_topic_authorized_operations": False}
frame = i32(1) + b"\0" + setup.ask(3, 12, text("")[2:] + b"\0" + schema.write_struct(schema.fields_of(3, "Request", 12), body))[1:]
for topic in schema.read_answer(3, 12, frame)["topics"]:
    if topic["name"] in recorded_ids(): replay.ids.learn("topic", recorded_ids()[topic["name"]], topic["topic_id"], topic["name"])
for case, its in cases.items():
    if only and case not in only: continue
    reason = DIFFERS.get(case)
    if isinstance(reason, str):
        left_out += 1
        continue
    problems = [p for p in replay.run(its) if not any(part in p for part in (*(reason or ()), *DIFFERS_EVERYWHERE))]
    if problems:
        failed += 1
        print(f"{case}:", *problems, sep="\n    ", flush=True)
    else:
        passed += 1
assert server.alive()
server.stop()
print(f"{left_out} cases are not compared")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
