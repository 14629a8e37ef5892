"""Servers to measure, `tk serve` and Kafka's broker, and a bare client that speaks the protocol by itself."""
import os
import socket
import struct
import subprocess
import time

from data import crc32c

TK = os.environ["TK"]
# Of a broker's classes (`java -cp`); without it there is no broker.
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
