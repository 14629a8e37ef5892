"""What strangers may send to `tk serve` (serve.md §1.5, §5 T10, T11): hostile.py TK DIRECTORY [CASE]...
Each case starts a server of its own, does its worst, and then an honest client must be served. The last line counts.
--long: also the limits of half a minute and more."""
import os, shutil, socket, struct, subprocess, sys, threading, time, traceback
from wire import *

MiB = 1 << 20
cases = []
def case(f): cases.append(f); return f
def long_case(f): f.long = True; cases.append(f); return f


def tk(server, *args): return subprocess.run([TK, "-d", server.directory, *args], capture_output=True, check=True).stdout
def http_connection(server, timeout=20):
    host, port = server.http_address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout)
def post(path, body, kind=b"text/plain", host=b"localhost"):
    return (b"POST " + path + b" HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\nContent-Type: " + kind +
            b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
def get(path, *headers):
    return b"GET " + path + b" HTTP/1.1\r\nConnection: close\r\n" + b"".join(h + b"\r\n" for h in headers) + b"\r\n"
def status(answer): return int(answer[9:12])


class Peak:
    """The most memory that a server takes meanwhile, in MiB."""
    def __init__(self, server): self.server = server
    def __enter__(self):
        self.most, self.over = 0, False
        def watch():
            while not self.over and self.server.alive():
                self.most = max(self.most, self.server.memory() // MiB)
                time.sleep(0.02)
        self.thread = threading.Thread(target=watch)
        self.thread.start()
        return self
    def __exit__(self, *_):
        self.over = True
        self.thread.join()


def quickest(server, within):
    """Another client is answered within so many seconds."""
    began = time.time()
    server.client(timeout=within).metadata()
    took = time.time() - began
    assert took < within, took


@case
def two_requests_of_one_session(server):
    """A fetch that is parked while another one takes partitions out of its session."""
    first, second = server.client(), server.client()
    first.metadata("a", "b")
    _, session, _ = fetch_answer(first.ask(FETCH, 7, fetch_body([("a", 0, 0, 999), ("b", 0, 0, 999)], session=(0, 0))))
    assert session != 0
    first.send(FETCH, 7, fetch_body([], max_wait=5000, session=(session, 1)))
    time.sleep(0.1)
    for epoch, topic in ((2, "b"), (3, "a")):
        second.ask(FETCH, 7, fetch_body([], session=(session, epoch), forget=[(topic, 0)]))
    second.produce("a", batch([b"x"]))
    assert fetch_answer(first.receive())[2][0][3] == 1


@case
def a_segment_is_taken_away(server):
    client = server.client()
    client.ask(CREATE_TOPICS, 2, array([text("g") + i32(1) + i16(1) + i32(0) + array([text("segment.bytes") + text("65536")])]) + i32(5000) + i8(0))
    for _ in range(20): client.produce("g", batch([b"y" * 20000]))
    for offset in (3, 15): client.ask(FETCH, 7, fetch_body([("g", 0, offset, 1000)]))
    logs = sorted(f for f in os.listdir(server.directory + "/g-0") if f.endswith(".log"))
    for name in logs[:3]: os.rename(f"{server.directory}/g-0/{name}", f"{server.directory}/{name}.gone")
    client.ask(FETCH, 7, fetch_body([("g", 0, 3, 1000)]))
    assert fetch_answer(client.ask(FETCH, 7, fetch_body([("g", 0, 15, 30000)])))[2][0][2] == 0


@case
def text_that_is_none(server):
    """Bytes that are not UTF-8 wherever a request has text."""
    bad = b"\xff\xfe\x80"
    client = server.client(client_id=b"c\xff")
    client.metadata("a")
    _, pid, epoch = client.init_producer("tx")
    requests = [
        (JOIN, 0, text("g0") + i32(9000) + text("") + text("consumer") + array([text("range") + data(b"\0" * 6)])),
        (JOIN, 5, text("g1") + i32(9000) + i32(9000) + text("") + text(bad) + text(bad) + array([text(bad) + data(bad)])),
        (JOIN, 0, text(bad) + i32(9000) + text("") + text(bad) + array([text(bad) + data(bad)])),
        (SYNC, 0, text("g0") + i32(1) + text(bad) + array([text(bad) + data(bad)])),
        (HEARTBEAT, 0, text(bad) + i32(1) + text(bad)),
        (OFFSET_COMMIT, 2, text("g3") + i32(-1) + text("") + i64(-1) + array([text("a") + array([i32(0) + i64(5) + text(bad)])])),
        (OFFSET_COMMIT, 2, text(bad) + i32(-1) + text("") + i64(-1) + array([text("a") + array([i32(0) + i64(5) + text("")])])),
        (OFFSET_FETCH, 1, text(bad) + array([text(bad) + array([i32(0)])])),
        (INIT_PRODUCER_ID, 0, text(bad) + i32(1000)),
        (ADD_OFFSETS_TO_TXN, 0, text("tx") + i64(pid) + i16(epoch) + text(bad)),
        (ADD_OFFSETS_TO_TXN, 0, text(bad) + i64(pid) + i16(epoch) + text("g")),
        (ADD_OFFSETS_TO_TXN, 0, text("tx") + i64(pid) + i16(epoch) + text("gt")),
        (TXN_OFFSET_COMMIT, 0, text("tx") + text("gt") + i64(pid) + i16(epoch) + array([text("a") + array([i32(0) + i64(5) + text(bad)])])),
        (PRODUCE, 8, produce_body("a", batch([b"x"], pid, epoch, 0, True), transactional_id=bad)),
        (DESCRIBE_GROUPS, 0, array([text(bad)])),
        (CREATE_TOPICS, 2, array([text(bad) + i32(1) + i16(1) + i32(0) + array([text(bad) + text(bad)])]) + i32(5000) + i8(0)),
        (DESCRIBE_CONFIGS, 1, array([i8(2) + text(bad) + i32(-1)]) + i8(0)),
        (METADATA, 1, array([text(bad)])),
    ]
    for api, version, body in requests:
        try:
            client.ask(api, version, body)
        except ConnectionError:
            client = server.client()
        assert server.alive(), (api, version)
    # (What is committed in the transaction is whole.)
    assert client.produce("a", batch([b"y"]))[0] == 0


@case
def requests_that_cost_more_than_they_are(server):
    """Thousands of names in one request: neither memory nor the others' time."""
    client = server.client()
    client.ask(CREATE_TOPICS, 2, array([text("big") + i32(500) + i16(1) + i32(0) + i32(0)]) + i32(5000) + i8(0))
    client.metadata("a")
    floods = [
        (METADATA, 1, array([text("big")] * 20000)),
        (DESCRIBE_CONFIGS, 1, array([i8(2) + text("a") + i32(-1)] * 50000) + i8(0)),
        (CREATE_TOPICS, 2, array([text("t%d" % i) + i32(0) + i16(1) + i32(0) + i32(0) for i in range(40000)]) + i32(5000) + i8(0)),
        (FETCH, 7, fetch_body([("a", 0, 0, 1000)] * 100000, max_wait=300)),
        (DESCRIBE_GROUPS, 0, array([text("g")] * 50000)),
    ]
    for api, version, body in floods:
        with Peak(server) as peak:
            flooding = server.client()
            flooding.send(api, version, body)
            time.sleep(0.05)
            quickest(server, 4)
            flooding.receive()
        assert peak.most < 250, (api, peak.most)


@case
def names_that_nobody_has(server):
    """A group that there is not leaves nothing behind."""
    client = server.client()
    client.metadata("a")
    for i in range(300): client.ask(OFFSET_FETCH, 1, text("w%d" % i) + i32(0))
    before = server.memory()
    for i in range(3000):
        client.send(OFFSET_FETCH, 1, text("g%d" % i + "x" * 4000) + i32(0))
        client.receive()
        client.send(JOIN, 4, text("j%d" % i) + i32(9000) + i32(9000) + text("") + text("consumer") + array([text("range") + data(b"")]))
        client.receive()
    grown = (server.memory() - before) // MiB
    assert grown < 8, grown


@case
def frames_that_do_not_end(server):
    """Many begin large requests and send no more: small ones of others go on."""
    held = []
    for _ in range(12):
        client = server.client()
        client.socket.settimeout(0.2)
        try:
            client.socket.sendall(i32(50 * MiB) + i16(PRODUCE) + i16(8) + i32(1) + i16(-1) + b"x" * (4 * MiB - 10))
        except socket.timeout:
            pass
        held.append(client)
    with http_connection(server) as body:
        body.sendall(post(b"/topics/n/records", b"x" * MiB)[:MiB // 2])
        for _ in range(20): quickest(server, 2)
        assert server.memory() < 150 * MiB, server.memory() // MiB


@case
def frames_of_2_gib(server):
    for length in (2**31 - 1, 104857601, -1, -2**31, 0, 7):
        client = server.client()
        client.socket.sendall(i32(length) + b"x" * 100)
        assert client.closed(), length


@case
def fetch_more_than_fits_a_frame(server):
    client = server.client()
    client.metadata("h")
    value = batch([b"z" * 900000])
    for _ in range(70): client.produce("h", value, acks=1)
    answer = client.ask(FETCH, 7, fetch_body([("h", 0, 0, 2**31 - 1)], max_bytes=2**31 - 1))
    assert 50_000_000 < len(answer) < 60_000_000, len(answer)


@case
def hosts_and_origins(server):
    port = server.http_address.rsplit(":", 1)[1].encode()
    for host, want in ((b"127.0.0.1:" + port, 200), (b"localhost:" + port, 200), (b"[::1]:" + port, 200), (b"LOCALHOST", 200),
                       (b"evil.com", 421), (b"127.evil.com", 421), (b"127.0.0.1.evil.com", 421), (b"localhost.evil.com", 421),
                       (b"127.0.0.1@evil.com", 421), (b"", 421), (b"2130706433", 421)):
        got = status(server.http(get(b"/topics", b"Host: " + host)))
        assert got == want, (host, got)
    assert status(server.http(get(b"/topics"))) == 421
    assert status(server.http(get(b"/topics", b"Host: localhost", b"Host: evil.com"))) in (400, 421)
    for origin in (b"http://evil.com", b"null", b"http://127.0.0.1:" + port, b"http://localhost"):
        assert status(server.http(get(b"/topics", b"Host: localhost", b"Origin: " + origin))) == 403, origin


@case
def http_of_every_wrong_kind(server):
    for request, want in (
            (get(b"/%zz", b"Host: localhost"), 404),
            (get(b"/../../etc/passwd", b"Host: localhost"), 404),
            (get(b"/topics/..%2f..%2fetc/records", b"Host: localhost"), 404),
            (get(b"/topics/%00/records", b"Host: localhost"), 404),
            (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 20000 + b"\r\n\r\n", 431),
            (b"POST /topics/t/records HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999999\r\n\r\n", 413),
            (b"POST /topics/t/records HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 100, 400),
            (i32(20) + i16(3) + i16(1) + i32(1) + text("kafka") + i32(-1), 400)):
        got = status(server.http(request))
        assert got == want, (request[:60], got)
    deep = b'{"name":"d","configs":{"a":' + b"[" * 400000 + b"]" * 400000 + b"}}"
    assert status(server.http(post(b"/topics", deep))) == 400
    assert status(server.http(post(b"/topics", b"[" * 2000000))) == 413
    assert status(server.http(post(b"/topics/t/records", b"[" * 400000, b"application/json"))) == 400
    assert status(server.http(post(b"/topics/t/records", b"\xff\xfe", b"application/x-ndjson"))) == 400
    with Peak(server) as peak:
        assert status(server.http(post(b"/topics/t/records", b"\n" * 20000000))) == 413
    assert peak.most < 250, peak.most


@case
def one_key_for_all_records(server):
    key = b"a-key-that-is-longer-than-what-a-string-holds-in-itself"
    assert status(server.http(post(b"/topics/k/records?key=" + key, b"a\nb\nc\n"))) == 200
    assert tk(server, "consume", "k", "-f", "%k %s\n") == b"".join(key + b" " + v + b"\n" for v in (b"a", b"b", b"c"))


@case
def a_key_that_is_nowhere(server):
    """Looking for it through a large log keeps no worker from the others, and ends."""
    client = server.client()
    client.metadata("k")
    value = batch([b"v" * 100] * 9000)
    for _ in range(60): client.produce("k", value, acks=1)
    answer = server.http(get(b"/topics/k/records?key=none&offset=0", b"Host: localhost"))
    assert status(answer) == 204, answer[:100]
    at = int(answer.split(b"Tk-Next: 0:")[1].split(b"\r\n")[0])
    assert 0 < at < 540000, at
    while at < 540000:
        answer = server.http(get(b"/topics/k/records?key=none&cursor=0:%d" % at, b"Host: localhost"))
        at = int(answer.split(b"Tk-Next: 0:")[1].split(b"\r\n")[0])
    began = time.time()
    assert status(server.http(get(b"/topics/k/records?key=none&offset=0&wait_ms=1500", b"Host: localhost"))) == 204
    assert 1.3 < time.time() - began < 4


@case
def readers_that_are_slow(server):
    """One that reads slowly gets all of a stream; one that never reads costs itself only."""
    client = server.client()
    client.metadata("f")
    value = batch([b"z" * 1000] * 100)
    for _ in range(80): client.produce("f", value, acks=1)
    with Peak(server) as peak:
        never = []
        for _ in range(100):
            one = http_connection(server)
            one.sendall(b"GET /topics/f/records?max_bytes=64M&max_records=1000000&format=raw HTTP/1.1\r\nHost: localhost\r\n\r\n")
            never.append(one)
        for _ in range(50):
            one = server.client()
            for _ in range(16): one.send(FETCH, 7, fetch_body([("f", 0, 0, 1 << 30)]))
            never.append(one)
        slow = http_connection(server)
        slow.sendall(b"GET /topics/f/records?follow=1&format=raw&max_records=8000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.5)
        quickest(server, 2)
        got, end = 0, b""
        while not end.endswith(b"\r\n0\r\n\r\n"):
            part = slow.recv(65536)
            got, end = got + len(part), (end + part)[-20:]
            time.sleep(0.002)
        assert got > 8000 * 1001, got
        for _ in range(20): quickest(server, 2)
    assert peak.most < 250, peak.most


@case
def http_heads_byte_by_byte(server):
    """A byte a second is no way to send a head: it is cut after 10 s, others are not affected."""
    drip = [http_connection(server) for _ in range(5)]
    began = time.time()
    open_ones, cut_after = set(drip), []
    while open_ones and time.time() - began < 20:
        for one in list(open_ones):
            try:
                one.sendall(b"G")
                one.settimeout(0.01)
                if one.recv(10) == b"": raise ConnectionError
            except socket.timeout:
                pass
            except OSError:
                open_ones.discard(one)
                cut_after.append(time.time() - began)
        quickest(server, 1)
        time.sleep(0.7)
    assert not open_ones and 8 < min(cut_after) < 15, cut_after


@case
def peers_are_probed(server):
    """Whoever vanishes without a word is found by the system's probes (tests/wire/vanished.py lets some vanish): every accepted socket
    has a keepalive timer of a minute at most."""
    kafka, http = server.client(), http_connection(server)
    kafka.metadata()
    http.sendall(get(b"/topics", b"Host: localhost").replace(b"Connection: close\r\n", b""))
    http.recv(65536)
    time.sleep(0.1)
    for local, remote in ((server.kafka_address, kafka.socket), (server.http_address, http)):
        ends = ["0100007F:%04X" % int(local.rsplit(":", 1)[1]), "0100007F:%04X" % remote.getsockname()[1]]
        with open("/proc/net/tcp") as table: rows = [line.split() for line in table]
        timers = [row[5].split(":") for row in rows if row[1:3] == ends]
        assert len(timers) == 1 and timers[0][0] == "02" and 0 < int(timers[0][1], 16) <= 6000, timers


@long_case
def frames_byte_by_byte(server):
    """A frame that trickles, and one that rests, are cut after half a minute; who never reads after a minute."""
    client = server.client()
    client.metadata("f")
    for _ in range(300): client.produce("f", batch([b"z" * 100000]), acks=1)
    drip, rest, deaf = server.client(), server.client(), server.client()
    deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.send(FETCH, 7, fetch_body([("f", 0, 0, 1 << 30)]))
    rest.socket.sendall(i32(1000) + b"xx")
    drip.socket.sendall(i32(1000))
    began, cut = time.time(), None
    while time.time() - began < 45 and cut is None:
        try:
            drip.socket.sendall(b"x")
            time.sleep(1)
        except OSError:
            cut = time.time() - began
        quickest(server, 1)
    assert cut and 28 < cut < 40, cut
    assert rest.closed(5)
    while time.time() - began < 75:
        quickest(server, 1)
        time.sleep(1)
    deaf.socket.settimeout(5)
    got = 0
    try:
        while True:
            part = deaf.socket.recv(65536)
            if not part: break
            got += len(part)
    except OSError:
        pass
    assert got < 25_000_000, got


@case
def read_only_writes_nothing(server):
    client = server.client()
    client.metadata("r")
    client.produce("r", batch([b"x"]))
    server.stop()
    def tree():
        return {(path, name, (s := os.stat(os.path.join(path, name))).st_mtime_ns, s.st_size, s.st_ino)
                for path, directories, files in os.walk(server.directory) for name in files + directories}
    before = tree()
    other = Server(TK, server.directory, "--read-only")
    other.directory = server.directory
    client = other.client()
    client.metadata("r", "new")
    assert client.produce("r", batch([b"y"]))[0] == 44
    assert client.init_producer()[0] == 44 and client.init_producer("t")[0] == 44
    for api, version, body in (
            (CREATE_TOPICS, 2, array([text("n") + i32(1) + i16(1) + i32(0) + i32(0)]) + i32(5000) + i8(0)),
            (20, 1, array([text("r")]) + i32(5000)),
            (21, 0, array([text("r") + array([i32(0) + i64(1)])]) + i32(5000)),
            (33, 0, array([i8(2) + text("r") + array([text("retention.ms") + text("5")])]) + i8(0)),
            (37, 0, array([text("r") + i32(3) + i32(-1)]) + i32(5000) + i8(0)),
            (OFFSET_COMMIT, 2, text("g") + i32(-1) + text("") + i64(-1) + array([text("r") + array([i32(0) + i64(1) + text("")])])),
            (JOIN, 0, text("g2") + i32(9000) + text("") + text("consumer") + array([text("range") + data(b"\0" * 6)])),
            (26, 1, text("t") + i64(1) + i16(0) + i8(1)),
            (27, 1, array([i64(1) + i16(0) + i8(1) + array([text("r") + array([i32(0)])]) + i32(0)])) if False else (METADATA, 1, i32(-1)),
            (42, 0, array([text("g")]))):
        client.ask(api, version, body)
    assert status(other.http(post(b"/topics/r/records", b"a\n"))) == 403
    assert status(other.http(post(b"/topics", b'{"name":"q"}'))) == 403
    assert status(other.http(b"DELETE /topics/r HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")) == 403
    assert client.end_offset("r") == 1
    other.stop()
    assert tree() == before, tree() ^ before
    server.process = Server(TK, server.directory).process


def run(f, directory):
    shutil.rmtree(directory, ignore_errors=True)
    errors = open(directory + ".err", "w")
    server = Server(TK, directory, stderr=errors)
    server.directory = directory
    try:
        f(server)
        assert server.alive(), f"the server ended: {server.process.poll()}"
        if f is not read_only_writes_nothing:
            client = server.client()
            client.metadata("honest")
            assert client.produce("honest", batch([b"work"])) == (0, 0)
            server.client().close()
            assert server.stop() == 143
        return True
    except Exception:
        print(f"failed: {f.__name__}")
        traceback.print_exc(file=sys.stdout)
        print(open(directory + ".err").read()[:2000], flush=True)
        return False
    finally:
        if server.alive(): server.kill()


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--long"]
    TK, wanted = arguments[0], arguments[2:]
    chosen = [f for f in cases if (f.__name__ in wanted if wanted else "--long" in sys.argv or not hasattr(f, "long"))]
    results = []
    for f in chosen:
        began = time.time()
        results.append(run(f, arguments[1] + "/" + f.__name__))
        print(f"{'ok' if results[-1] else 'not ok'} {f.__name__} {time.time() - began:.1f} s", flush=True)
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    sys.exit(0 if all(results) else 1)
