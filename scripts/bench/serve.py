"""Measures `tk serve` (serve.md §5, rows N1 to N10) beside a Kafka broker, if KAFKA_CLASSPATH names the classes of
one (`java -cp`), in alternating pairs in one run. Bare clients speak the protocol by themselves, so that the server's
own time is seen; where a heavy client takes most of it, its share is printed.

    scripts/bench.sh --serve [--records N] [--pairs N] [--rows N1,N4] [--json FILE]
"""
import argparse, ctypes, json, os, shutil, socket, statistics, struct, subprocess, sys, tempfile, time

TK = os.environ["TK"]
CLASSPATH = os.environ.get("KAFKA_CLASSPATH", "")
TICK = os.sysconf("SC_CLK_TCK")


def text(s):
    return struct.pack(">h", len(s)) + s.encode()


class Client:
    """One connection, one request at a time."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), 10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray(4 << 20)
        self.view = memoryview(self.buffer)

    def send(self, key, version, body):
        frame = struct.pack(">hhi", key, version, 1) + text("bench") + body
        self.socket.sendall(struct.pack(">i", len(frame)) + frame)

    def receive(self):
        """Into the buffer; returns the size of the answer without its length."""
        have = 0
        while have < 4:
            have += self.read(have)
        size = struct.unpack_from(">i", self.buffer)[0]
        if size + 4 > len(self.buffer):
            self.view.release()
            self.buffer.extend(bytes(size))
            self.view = memoryview(self.buffer)
        while have < size + 4:
            have += self.read(have)
        return size

    def read(self, at):
        got = self.socket.recv_into(self.view[at:])
        if got == 0:
            raise ConnectionError("closed")
        return got

    def fetch_body(self, topic, offset, max_bytes, wait_ms=0, min_bytes=1):
        return (struct.pack(">iiiibiii", -1, wait_ms, min_bytes, max_bytes, 0, 0, -1, 1) + text(topic) +
                struct.pack(">iiiqqi", 1, 0, -1, offset, -1, max_bytes) + struct.pack(">i", 0) + text(""))

    def fetch(self, topic, offset, max_bytes):
        """Bytes of records, and the next offset by the heads of the whole batches."""
        self.send(1, 11, self.fetch_body(topic, offset, max_bytes))
        size = self.receive()
        at = 4 + 4 + 4 + 2 + 4 + 4 + 2 + len(topic) + 4 + 4 + 2 + 8 + 8 + 8
        aborted = struct.unpack_from(">i", self.buffer, at)[0]
        at += 4 + max(aborted, 0) * 16 + 4
        records = struct.unpack_from(">i", self.buffer, at)[0]
        at += 4
        end, following = at + records, offset
        while at + 61 <= end:
            base, length = struct.unpack_from(">qi", self.buffer, at)
            if at + 12 + length > end:
                break
            following = base + struct.unpack_from(">i", self.buffer, at + 23)[0] + 1
            at += 12 + length
        return records, following, size

    def produce(self, topic, batch, acks=-1):
        self.send(0, 7, struct.pack(">hhii", -1, acks, 10000, 1) + text(topic) +
                  struct.pack(">iii", 1, 0, len(batch)) + batch)
        self.receive()


CRC_TABLE = None


def crc32c(data):
    global CRC_TABLE
    if CRC_TABLE is None:
        CRC_TABLE = []
        for n in range(256):
            for _ in range(8):
                n = (n >> 1) ^ 0x82F63B78 if n & 1 else n >> 1
            CRC_TABLE.append(n)
    c = 0xFFFFFFFF
    for b in data:
        c = (c >> 8) ^ CRC_TABLE[(c ^ b) & 0xFF]
    return c ^ 0xFFFFFFFF


def batch_of(value):
    def varint(n):
        u, out = (n << 1) ^ (n >> 63), b""
        while u >= 0x80:
            out += bytes([u & 0x7F | 0x80])
            u >>= 7
        return out + bytes([u])
    inner = b"\0" + varint(0) + varint(0) + varint(-1) + varint(len(value)) + value + varint(0)
    record = varint(len(inner)) + inner
    now = int(time.time() * 1000)
    tail = struct.pack(">hiqqqhii", 0, 0, now, now, -1, -1, -1, 1) + record
    return struct.pack(">qiib", 0, 4 + 1 + 4 + len(tail), -1, 2) + struct.pack(">I", crc32c(tail)) + tail


class Server:
    def cpu(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def rss(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1]) * 1024

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Tk(Server):
    name = "tk"

    def __init__(self, directory, *options):
        self.directory = directory
        begin = time.perf_counter()
        self.process = subprocess.Popen([TK, "-d", directory, "serve", "--kafka", "127.0.0.1:0", *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            words = line.split()
            if words[0] == "listening":
                self.address = words[2]
            if words[0] == "ready":
                break
        client = Client(self.address)
        client.send(3, 1, struct.pack(">i", -1))
        client.receive()
        self.start = time.perf_counter() - begin


class Broker(Server):
    name = "broker"

    def __init__(self, directory):
        self.directory = directory
        ports = []
        for _ in range(2):
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                ports.append(s.getsockname()[1])
        self.address = f"127.0.0.1:{ports[0]}"
        os.makedirs(directory, exist_ok=True)
        settings = os.path.join(directory, "server.properties")
        with open(settings, "w") as file:
            file.write(f"process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:{ports[1]}\n"
                       f"listeners=PLAINTEXT://127.0.0.1:{ports[0]},CONTROLLER://127.0.0.1:{ports[1]}\n"
                       f"advertised.listeners=PLAINTEXT://127.0.0.1:{ports[0]}\ncontroller.listener.names=CONTROLLER\n"
                       f"listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT\nlog.dirs={directory}/logs\n"
                       "offsets.topic.replication.factor=1\nnum.partitions=1\n")
        java = ["java", "-Xmx1g", "-cp", CLASSPATH]
        subprocess.run([*java, "kafka.tools.StorageTool", "format", "-t", "bench-bench-bench-bench", "-c", settings], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        begin = time.perf_counter()
        self.process = subprocess.Popen([*java, "kafka.Kafka", settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                client = Client(self.address)
                client.send(3, 1, struct.pack(">i", -1))
                client.receive()
                break
            except OSError:
                if time.perf_counter() - begin > 60 or self.process.poll() is not None:
                    raise SystemExit("the broker does not start")
                time.sleep(0.05)
        self.start = time.perf_counter() - begin


def kcat(*arguments, stdin=None):
    begin = time.perf_counter()
    before = os.times()
    subprocess.run(["kcat", *arguments], stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = os.times()
    client = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - begin, client


def read_all(server, topic, max_bytes):
    """Seconds, the server's CPU seconds, bytes."""
    client = Client(server.address)
    cpu, begin, offset, total = server.cpu(), time.perf_counter(), 0, 0
    while True:
        size, following, _ = client.fetch(topic, offset, max_bytes)
        if size == 0:
            break
        total += size
        offset = following
    return time.perf_counter() - begin, server.cpu() - cpu, total


def cat_speed(path):
    """GB/s of a file through a loopback socket by sendfile: what no server can beat by much."""
    listener = socket.create_server(("127.0.0.1", 0))
    sender = os.fork()
    if sender == 0:
        s = socket.create_connection(listener.getsockname())
        with open(path, "rb") as file:
            s.sendfile(file)
        os._exit(0)
    s, _ = listener.accept()
    buffer, total, begin = bytearray(1 << 20), 0, time.perf_counter()
    while got := s.recv_into(buffer):
        total += got
    os.waitpid(sender, 0)
    return total / (time.perf_counter() - begin) / 1e9


def inotify_speed(path):
    """Microseconds from an append to a file until a process that watches it has said so over a socket (p50): what a server that
    follows a file cannot beat by much."""
    libc = ctypes.CDLL(None, use_errno=True)
    ours, theirs = socket.socketpair()
    open(path, "wb").close()
    watcher = os.fork()
    if watcher == 0:
        number = libc.inotify_init1(0)
        libc.inotify_add_watch(number, path.encode(), 2)  # IN_MODIFY
        theirs.send(b"r")
        while os.read(number, 4096):
            theirs.send(b"x")
    ours.recv(1)
    times = []
    with open(path, "ab", buffering=0) as file:
        for _ in range(300):
            time.sleep(0.002)
            begin = time.perf_counter()
            file.write(b"x" * 170)
            ours.recv(1)
            times.append(time.perf_counter() - begin)
    os.kill(watcher, 9)
    os.waitpid(watcher, 0)
    return statistics.median(times) * 1e6


class Bench:
    def __init__(self, options):
        self.options = options
        self.rows = []
        self.home = tempfile.mkdtemp(prefix="tk-bench-serve-")
        self.input = os.path.join(self.home, "input")
        with open(self.input, "w") as file:
            for i in range(options.records):
                file.write(f"{i:099d}\n")

    def servers(self):
        tk = Tk(os.path.join(self.home, "tk"))
        found = [tk]
        if CLASSPATH:
            found.append(Broker(os.path.join(self.home, "broker")))
        return found

    def wanted(self, row):
        return not self.options.rows or row in self.options.rows.split(",")

    def add(self, row, what, unit, **values):
        self.rows.append({"row": row, "what": what, "unit": unit, **values})
        shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
        print(f"{row:4} {what:52} {unit:8} {shown}", flush=True)

    def pairs(self, row, what, unit, measure, servers):
        """The median of each server, in alternating turns."""
        if not self.wanted(row):
            return
        values = {server.name: [] for server in servers}
        for turn in range(self.options.pairs):
            for server in servers if turn % 2 == 0 else servers[::-1]:
                values[server.name].append(measure(server))
        self.add(row, what, unit, **{name: statistics.median(v) for name, v in values.items()})

    def run(self):
        servers = self.servers()
        try:
            for server in servers:
                kcat("-P", "-b", server.address, "-t", "bench", "-X", "linger.ms=5", stdin=open(self.input))
            self.measure(servers)
        finally:
            for server in servers:
                server.stop()
            shutil.rmtree(self.home, ignore_errors=True)

    def measure(self, servers):
        tk = servers[0]
        def per_gb(size):
            return lambda s: (lambda r: r[1] / r[2] * 1e9)(read_all(s, "bench", size))
        self.pairs("N1", "fetch 1 MiB: server's CPU seconds per GB", "s/GB", per_gb(1 << 20), servers)
        self.pairs("N1", "fetch 64 KiB: server's CPU seconds per GB", "s/GB", per_gb(64 << 10), servers)

        def fetches(server):
            client, begin, count, offset = Client(server.address), time.perf_counter(), 0, 0
            while time.perf_counter() - begin < 1:
                _, following, _ = client.fetch("bench", offset, 1024)
                offset = following if following > offset else 0
                count += 1
            return count / (time.perf_counter() - begin)
        self.pairs("N2", "fetches a second, one connection", "1/s", fetches, servers)

        def fetches_of_many(server):
            """All ask, then all are answered, again and again."""
            clients = [Client(server.address) for _ in range(64)]
            body = clients[0].fetch_body("bench", 0, 1024)
            begin, count = time.perf_counter(), 0
            while time.perf_counter() - begin < 1:
                for client in clients:
                    client.send(1, 11, body)
                for client in clients:
                    client.receive()
                count += len(clients)
            return count / (time.perf_counter() - begin)
        self.pairs("N2", "fetches a second, 64 connections", "1/s", fetches_of_many, servers)
        self.pairs("N3", "bare reader, 1 MiB fetches", "GB/s", lambda s: (lambda r: r[2] / r[0] / 1e9)(read_all(s, "bench", 1 << 20)), servers)
        segment = os.path.join(tk.directory, "bench-0", "00000000000000000000.log")
        if self.wanted("N3"):
            self.add("N3", "the segment by sendfile into a socket", "GB/s", cat=cat_speed(segment))

        shares = {}
        def consume(server):
            seconds, client = kcat("-C", "-q", "-e", "-b", server.address, "-t", "bench", "-o", "beginning")
            shares[server.name] = client / seconds
            return seconds
        self.pairs("N4", "kcat -C of all", "s", consume, servers)
        if shares:
            self.add("N4", "the client's CPU time in it", "", **shares)
        turn = [0]
        def produce(server):
            turn[0] += 1
            return kcat("-P", "-b", server.address, "-t", f"p{turn[0]}", "-X", "acks=all", stdin=open(self.input))[0]
        self.pairs("N5", "kcat -P of all, acks=all (tk forces, the broker does not)", "s", produce, servers)
        none = Tk(os.path.join(self.home, "tk-none"), "--sync", "none")
        none.name = "tk --sync none"
        self.pairs("N5", "kcat -P of all, acks=all, --sync none", "s", produce, [none, *servers[1:]])
        if CLASSPATH:
            self.java(servers, none)
        none.stop()
        self.one_by_one(servers)
        self.wake(servers)
        if self.wanted("N8"):
            subprocess.run([TK, "-d", tk.directory, "topics", "create", "js", "--format", "json", "-q"], check=True)
            subprocess.run([TK, "-d", tk.directory, "produce", "js", "-q"], stdin=open(self.input), check=True)
            json_time = kcat("-C", "-q", "-e", "-b", tk.address, "-t", "js", "-o", "beginning")[0]
            self.add("N8", "kcat -C of a json topic; of a kafka topic", "s", json=json_time, kafka=consume(tk))
        if self.wanted("N9"):
            self.start(servers)
        if self.wanted("N10"):
            self.add("N10", "resident memory after all", "MiB", **{s.name: s.rss() / 2**20 for s in servers})

    def java(self, servers, none):
        """Kafka's own perf tools; they say themselves how many records a second went through, without their start."""
        java = ["java", "-Xmx512m", "-cp", CLASSPATH]
        turn = [0]

        def produce(server):
            turn[0] += 1
            out = subprocess.run([*java, "org.apache.kafka.tools.ProducerPerformance", "--topic", f"j{turn[0]}", "--num-records",
                                  str(self.options.records), "--record-size", "100", "--throughput", "-1", "--producer-props",
                                  f"bootstrap.servers={server.address}", "acks=all"], capture_output=True, text=True, check=True).stdout
            return self.options.records / float(out.strip().splitlines()[-1].split("records sent, ")[1].split(" ")[0])

        def consume(server):
            out = subprocess.run([*java, "org.apache.kafka.tools.ConsumerPerformance", "--topic", "bench", "--num-records",
                                  str(self.options.records), "--bootstrap-server", server.address], capture_output=True, text=True, check=True).stdout
            fields = out.strip().splitlines()[-1].split(", ")
            return float(fields[-3]) / 1000  # fetch.time.ms
        self.pairs("N4", "Java's ConsumerPerformance, its fetch time", "s", consume, servers)
        self.pairs("N5", "Java's ProducerPerformance, acks=all", "s", produce, servers)
        self.pairs("N5", "Java's ProducerPerformance, acks=all, --sync none", "s", produce, [none, *servers[1:]])

    def one_by_one(self, servers):
        if not self.wanted("N6"):
            return
        none = Tk(os.path.join(self.home, "tk-none"), "--sync", "none")
        none.name = "tk --sync none"
        batch = batch_of(b"x" * 100)
        p50, p99 = {}, {}
        for server in [*servers, none]:
            client, times = Client(server.address), []
            client.send(3, 1, struct.pack(">i", 1) + text("one"))
            client.receive()
            time.sleep(0.5)
            for _ in range(1000):
                begin = time.perf_counter()
                client.produce("one", batch)
                times.append(time.perf_counter() - begin)
            times.sort()
            p50[server.name], p99[server.name] = times[500] * 1e6, times[990] * 1e6
        none.stop()
        path, times = os.path.join(self.home, "forced"), []
        with open(path, "wb", buffering=0) as file:
            for _ in range(1000):
                begin = time.perf_counter()
                file.write(batch)
                os.fdatasync(file.fileno())
                times.append(time.perf_counter() - begin)
        times.sort()
        p50["write+fdatasync"], p99["write+fdatasync"] = times[500] * 1e6, times[990] * 1e6
        self.add("N6", "one record at a time, acks=all: p50", "us", **p50)
        self.add("N6", "one record at a time, acks=all: p99", "us", **p99)

    def wake(self, servers):
        if not self.wanted("N7"):
            return
        batch, medians = batch_of(b"x" * 100), {}
        for server in servers:
            writer, reader, times = Client(server.address), Client(server.address), []
            writer.send(3, 1, struct.pack(">i", 1) + text("wake"))
            writer.receive()
            time.sleep(0.5)
            writer.produce("wake", batch, 1)
            for i in range(1, 301):
                reader.send(1, 11, reader.fetch_body("wake", i, 1 << 20, 5000))
                time.sleep(0.002)
                begin = time.perf_counter()
                writer.send(0, 7, struct.pack(">hhii", -1, 1, 10000, 1) + text("wake") + struct.pack(">iii", 1, 0, len(batch)) + batch)
                reader.receive()
                times.append(time.perf_counter() - begin)
                writer.receive()
            medians[server.name] = statistics.median(times) * 1e6
        self.add("N7", "append to answer of a parked fetch: p50", "us", **medians, inotify=inotify_speed(os.path.join(self.home, "watched")))

    def start(self, servers):
        directory = os.path.join(self.home, "many")
        subprocess.run([TK, "-d", directory, "topics", "create", "many", "-p", "1000", "--format", "kafka", "-q"], check=True)
        times = []
        for _ in range(9):
            server = Tk(directory)
            times.append(server.start * 1e3)
            server.stop()
        self.add("N9", "start to first Metadata, 1000 partitions (broker: empty)", "ms", tk=statistics.median(times),
                 **{s.name: s.start * 1e3 for s in servers[1:]})


parser = argparse.ArgumentParser()
parser.add_argument("--records", type=int, default=1000000)
parser.add_argument("--pairs", type=int, default=5)
parser.add_argument("--rows", default="")
parser.add_argument("--json")
arguments = parser.parse_args()
bench = Bench(arguments)
bench.run()
if arguments.json:
    with open(arguments.json, "w") as out:
        json.dump(bench.rows, out, indent=1)
