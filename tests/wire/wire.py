"""Kafka's wire protocol by hand, as little of it as hostile and impatient clients need: requests of versions without tagged
fields, frames in pieces, answers as bytes. What real clients do is tested with real clients."""
import socket, struct, subprocess, time

PRODUCE, FETCH, LIST_OFFSETS, METADATA, OFFSET_COMMIT, OFFSET_FETCH, JOIN, HEARTBEAT, SYNC, DESCRIBE_GROUPS = 0, 1, 2, 3, 8, 9, 11, 12, 14, 15
API_VERSIONS, CREATE_TOPICS, INIT_PRODUCER_ID, ADD_OFFSETS_TO_TXN, TXN_OFFSET_COMMIT, DESCRIBE_CONFIGS = 18, 19, 22, 25, 28, 32


def i8(n): return struct.pack(">b", n)
def i16(n): return struct.pack(">h", n)
def i32(n): return struct.pack(">i", n)
def i64(n): return struct.pack(">q", n)
def text(s):
    if s is None: return i16(-1)
    raw = s if isinstance(s, bytes) else s.encode()
    return i16(len(raw)) + raw
def data(b): return i32(-1) if b is None else i32(len(b)) + b
def array(items): return i32(len(items)) + b"".join(items)


def varint(n):
    n = (n << 1) ^ (n >> 63)
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


_table = []
for _n in range(256):
    _c = _n
    for _ in range(8): _c = _c >> 1 ^ (0x82F63B78 if _c & 1 else 0)
    _table.append(_c)


def crc32c(raw):
    crc = 0xFFFFFFFF
    for byte in raw: crc = crc >> 8 ^ _table[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def batch(values, producer=-1, epoch=-1, sequence=-1, transactional=False, now=None):
    """A v2 batch of values without keys."""
    now = int(time.time() * 1000) if now is None else now
    records = b""
    for delta, value in enumerate(values):
        body = b"\0" + varint(0) + varint(delta) + varint(-1) + varint(len(value)) + value + varint(0)
        records += varint(len(body)) + body
    tail = struct.pack(">hiqqqhii", 16 if transactional else 0, len(values) - 1, now, now, producer, epoch, sequence, len(values)) + records
    return i64(0) + i32(4 + 1 + 4 + len(tail)) + i32(0) + b"\2" + struct.pack(">I", crc32c(tail)) + tail


class Client:
    """One connection. Answers come back without their length and correlation id."""

    def __init__(self, address, client_id="wire", timeout=20):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.client_id, self.number = client_id, 0

    def frame(self, api, version, body):
        self.number += 1
        head = i16(api) + i16(version) + i32(self.number) + text(self.client_id)
        return i32(len(head) + len(body)) + head + body

    def send(self, api, version, body): self.socket.sendall(self.frame(api, version, body))

    def exactly(self, size):
        parts = []
        while size > 0:
            got = self.socket.recv(min(size, 1 << 20))
            if not got: raise ConnectionError("closed")
            parts.append(got)
            size -= len(got)
        return b"".join(parts)

    def receive(self):
        answer = self.exactly(struct.unpack(">i", self.exactly(4))[0])
        self.answered = struct.unpack(">i", answer[:4])[0]
        return answer[4:]

    def ask(self, api, version, body):
        self.send(api, version, body)
        return self.receive()

    def closed(self, within=10):
        """True if the server closes the connection."""
        self.socket.settimeout(within)
        try:
            while self.socket.recv(65536): pass
            return True
        except (ConnectionError, BrokenPipeError):
            return True
        except socket.timeout:
            return False

    def close(self): self.socket.close()

    # ---- requests

    def produce(self, topic, records, acks=-1, partition=0, transactional_id=None, timeout_ms=10000, version=8):
        """(error, base offset)"""
        answer = self.ask(PRODUCE, version, produce_body(topic, records, acks, partition, transactional_id, timeout_ms))
        at = 4 + 2 + len(topic) + 4 + 4
        return struct.unpack(">hq", answer[at:at + 10])

    def metadata(self, *topics): return self.ask(METADATA, 1, array([text(t) for t in topics]))

    def end_offset(self, topic, partition=0, timestamp=-1):
        answer = self.ask(LIST_OFFSETS, 1, i32(-1) + array([text(topic) + array([i32(partition) + i64(timestamp)])]))
        at = 4 + 2 + len(topic) + 4 + 4
        error, _, offset = struct.unpack(">hqq", answer[at:at + 18])
        assert error == 0, error
        return offset

    def init_producer(self, transactional_id=None, timeout_ms=60000):
        """(error, producer id, epoch)"""
        return struct.unpack(">hqh", self.ask(INIT_PRODUCER_ID, 0, text(transactional_id) + i32(timeout_ms))[4:16])


def produce_body(topic, records, acks=-1, partition=0, transactional_id=None, timeout_ms=10000):
    return text(transactional_id) + i16(acks) + i32(timeout_ms) + array([text(topic) + array([i32(partition) + data(records)])])


def fetch_body(rows, max_wait=0, min_bytes=1, max_bytes=1 << 26, committed=False, session=(0, -1), forget=()):
    """Fetch v7 to v8; rows: (topic, partition, offset, partition_max_bytes)."""
    topics = [text(t) + array([i32(p) + i64(o) + i64(-1) + i32(m)]) for t, p, o, m in rows]
    return (i32(-1) + i32(max_wait) + i32(min_bytes) + i32(max_bytes) + i8(committed) + i32(session[0]) + i32(session[1]) +
            array(topics) + array([text(t) + array([i32(p)]) for t, p in forget]))


def fetch_answer(answer):
    """Of Fetch v7: (error, session id, [(topic, partition, error, high watermark, records)])."""
    error, session, count = struct.unpack(">hii", answer[4:14])
    at, rows = 14, []
    for _ in range(count):
        size, = struct.unpack(">h", answer[at:at + 2])
        topic = answer[at + 2:at + 2 + size].decode()
        at += 2 + size
        partitions, = struct.unpack(">i", answer[at:at + 4])
        at += 4
        for _ in range(partitions):
            number, code, high, _, _, aborted = struct.unpack(">ihqqqi", answer[at:at + 34])
            at += 34 + 16 * max(aborted, 0)
            length, = struct.unpack(">i", answer[at:at + 4])
            at += 4
            rows.append((topic, number, code, high, answer[at:at + max(length, 0)]))
            at += max(length, 0)
    return error, session, rows


def batches(records):
    """(base offset, last offset, size) of the whole batches in fetched bytes."""
    at = 0
    while len(records) - at >= 61:
        base, length = struct.unpack(">qi", records[at:at + 12])
        if at + 12 + length > len(records): return
        last, = struct.unpack(">i", records[at + 23:at + 27])
        yield base, base + last, 12 + length
        at += 12 + length


class Server:
    """`tk serve` on free ports of 127.0.0.1, and on what `args` add: then addresses["kafka"][1] and so on."""

    def __init__(self, tk, directory, *args, **how):
        self.addresses = {"kafka": [], "http": []}
        self.process = subprocess.Popen([tk, "-d", directory, "serve", "--kafka", "127.0.0.1:0", "--http", "127.0.0.1:0", *args],
                                        stdout=subprocess.PIPE, text=True, stderr=how.get("stderr", subprocess.DEVNULL))
        for line in self.process.stdout:
            words = line.split()
            if words[0] == "listening": self.addresses[words[1]].append(words[2])
            if words[0] == "ready": break
        else:
            raise RuntimeError("the server did not start")
        self.kafka_address, self.http_address = self.addresses["kafka"][0], self.addresses["http"][0]

    def client(self, **how): return Client(self.kafka_address, **how)
    def alive(self): return self.process.poll() is None

    def http(self, request, timeout=20):
        """The whole answer to raw bytes; the connection is closed then."""
        host, port = self.http_address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout) as s:
            s.sendall(request)
            answer = b""
            while True:
                got = s.recv(65536)
                if not got: return answer
                answer += got

    def memory(self):
        """Resident bytes."""
        with open(f"/proc/{self.process.pid}/statm") as f: return int(f.read().split()[1]) * 4096

    def cpu(self):
        """Seconds of CPU so far."""
        with open(f"/proc/{self.process.pid}/stat") as f: fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        return self.process.wait(20)
