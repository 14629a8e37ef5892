"""Measures `tk serve` (serve.md §5, rows N1 to N10) beside a Kafka broker, if KAFKA_CLASSPATH names the classes of
one (`java -cp`), in alternating pairs in one run. Bare clients speak the protocol by themselves, so that the server's
own time is seen; where a heavy client takes most of it, its share is printed.

    scripts/bench.sh --serve [--records N] [--pairs N] [--rows N1,N4] [--json FILE]
"""
import argparse, json, os, shutil, socket, statistics, struct, subprocess, tempfile, time

from follow import inotify_times, median
from servers import CLASSPATH, TK, Broker, Client, Tk, batch_of, text


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

        # One batch of 1 KiB a fetch: a topic of such batches, as the first batch comes whole, however large.
        if self.wanted("N2"):
            small = batch_of(b"x" * 950)
            for server in servers:
                client = Client(server.address)
                client.send(3, 1, struct.pack(">i", 1) + text("small"))
                client.receive()
                time.sleep(0.5)
                for _ in range(500):
                    client.produce("small", small, 1)

        def fetches(server):
            client, begin, count, offset = Client(server.address), time.perf_counter(), 0, 0
            while time.perf_counter() - begin < 1:
                _, following, size = client.fetch("small", offset, 1024)
                assert size < 1300, size
                offset = following if following < 500 else 0
                count += 1
            return count / (time.perf_counter() - begin)
        self.pairs("N2", "fetches a second, one connection", "1/s", fetches, servers)

        def fetches_of_many(server):
            """All ask, then all are answered, again and again."""
            clients = [Client(server.address) for _ in range(64)]
            frame = struct.pack(">hhi", 1, 11, 1) + text("bench") + clients[0].fetch_body("small", 7, 1024)
            frame = struct.pack(">i", len(frame)) + frame
            begin, count = time.perf_counter(), 0
            while time.perf_counter() - begin < 1:
                for client in clients:
                    client.socket.sendall(frame)
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
        ways = {}

        def way_of(server):
            client = Client(server.address)
            client.send(3, 1, struct.pack(">i", 1) + text("one"))
            client.receive()
            time.sleep(0.5)
            for _ in range(1000):
                client.produce("one", batch)  # (a broker's first ones are slow)
            ways[server.name] = lambda: client.produce("one", batch)
        for server in [*servers, none]:
            way_of(server)
        file = open(os.path.join(self.home, "forced"), "wb", buffering=0)

        def bare():
            file.write(batch)
            os.fdatasync(file.fileno())
        ways["write+fdatasync"] = bare
        # In turns: what else the machine does, and the disk, change by the second.
        times = {name: [] for name in ways}
        for _ in range(30):
            for name, way in ways.items():
                for _ in range(100):
                    begin = time.perf_counter()
                    way()
                    times[name].append(time.perf_counter() - begin)
        none.stop()
        file.close()
        p50 = {name: sorted(values)[len(values) // 2] * 1e6 for name, values in times.items()}
        p99 = {name: sorted(values)[len(values) * 99 // 100] * 1e6 for name, values in times.items()}
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
        self.add("N7", "append to answer of a parked fetch: p50", "us", **medians, inotify=median(inotify_times, os.path.join(self.home, "watched")) * 1e6)

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
