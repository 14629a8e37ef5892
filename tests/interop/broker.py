"""A real broker (KRaft, one node) on directories that tk wrote, appended to, recovered and salvaged: it starts without a
recovery error, its consumers read the records that tk reads, and tk reads what it writes afterwards. Run by
scripts/interop-kafka.sh; the last line is `N passed, N failed`, or `skipped: ...`."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TK = os.environ["TK"]
work = tempfile.mkdtemp(prefix="tk-broker-")
passed, failed = 0, 0
# What a broker logs of a log that it has to repair.
REPAIRS = ("Found invalid messages", "CorruptRecordException", "CorruptIndexException", "truncat", "Could not find offset index",
           "Error while", "FATAL", "fatal fault", "Failed to load producer snapshot", "renaming it to", "stray")
# Words of healthy starts that hold one of these.
HEALTHY = ("No logs found to be truncated", "stray.replica", "log.cleaner", "unclean", "Truncating to 0 has no effect")


def check(name, good, detail=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"failed: {name}: {str(detail)[:600]}")
    return bool(good)


def skip(why):
    print(f"skipped: {why}")
    shutil.rmtree(work, ignore_errors=True)
    sys.exit(0)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


CLASSPATH = subprocess.run([HERE + "/kafkalog", "classpath"], capture_output=True, text=True).stdout.strip()
PORT, CONTROLLER = free_port(), free_port()
DATA = work + "/data"
# Without a backend of its own slf4j is mute, so a log4j-free console logger is set up by Kafka's tools' defaults.
JAVA = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", CLASSPATH]


def java(*args, **kw):
    return subprocess.run([*JAVA, *args], capture_output=True, text=True, timeout=120, **kw)


class Broker:
    def __init__(self):
        self.properties = work + "/server.properties"
        with open(self.properties, "w", encoding="utf-8") as f:
            f.write(f"""process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{PORT},CONTROLLER://127.0.0.1:{CONTROLLER}
advertised.listeners=PLAINTEXT://127.0.0.1:{PORT}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.quorum.voters=1@127.0.0.1:{CONTROLLER}
log.dirs={DATA}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=2
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=2
share.coordinator.state.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
log.retention.ms=-1
num.partitions=1
auto.create.topics.enable=true
""")
        done = java("kafka.tools.StorageTool", "format", "-t", "tkinteropcluster000000", "-c", self.properties)
        if done.returncode:
            skip(f"a broker's directory could not be formatted: {(done.stderr + done.stdout)[-300:]}")
        self.process = None

    def start(self, expect=True):
        self.log = open(work + "/broker.log", "wb")
        self.process = subprocess.Popen([*JAVA, "kafka.Kafka", self.properties], stdout=self.log, stderr=subprocess.STDOUT)
        until = time.time() + 90
        while time.time() < until and self.process.poll() is None:
            ready = subprocess.run(["kcat", "-b", f"127.0.0.1:{PORT}", "-L", "-m", "2"], capture_output=True, timeout=20)
            if ready.returncode == 0 and b" 1 brokers" in ready.stdout:
                return True
            time.sleep(0.3)
        self.stop()
        return False

    def stop(self, kill=False):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
            self.process.wait(timeout=60)
        self.process = None
        self.log.close()

    def complaints(self):
        with open(work + "/broker.log", encoding="utf-8", errors="replace") as f:
            return [line.strip() for line in f if any(word in line for word in REPAIRS) and not any(word in line for word in HEALTHY)]


def kcat(*args, stdin=None):
    return subprocess.run(["kcat", "-b", f"127.0.0.1:{PORT}", "-q", *args], input=stdin, capture_output=True, timeout=60)


def consumed(topic):
    """What a consumer of the broker's reads, as (offset, ts, key, value)."""
    out = kcat("-C", "-t", topic, "-e", "-o", "beginning", "-J", "-X", "isolation.level=read_uncommitted").stdout
    rows = [json.loads(line) for line in out.splitlines()]
    return [(r["offset"], r["ts"], r.get("key"), r.get("payload")) for r in rows]


def tk(*args, stdin=b""):
    return subprocess.run([TK, *args], input=stdin, capture_output=True, timeout=60)


def read_by_tk(topic):
    out = tk("consume", topic, "-J", "-d", DATA).stdout
    rows = [json.loads(line) for line in out.splitlines()]
    return [(r["offset"], r["ts"], r["key"], r["value"]) for r in rows]


def flip(topic, at_batch):
    """Damages the payload of a batch in the first segment."""
    name = sorted(n for n in os.listdir(f"{DATA}/{topic}-0") if n.endswith(".log"))[0]
    path = f"{DATA}/{topic}-0/{name}"
    with open(path, "r+b") as f:
        data, at, n = f.read(), 0, 0
        while n < at_batch:
            at += 12 + int.from_bytes(data[at + 8:at + 12], "big")
            n += 1
        f.seek(at + 70)
        f.write(bytes([data[at + 70] ^ 1]))


def lines(prefix, n):
    return "".join(f"{prefix}{i}:value {prefix} {i}\n" for i in range(n)).encode()


def groups_tool(*args):
    """Kafka's own kafka-consumer-groups on the running broker: its lines."""
    done = java("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", "--bootstrap-server", f"127.0.0.1:{PORT}", *args)
    return (done.stdout + done.stderr).splitlines()


def committed(group):
    """What the broker has as the group's offset in plain-0; None if there is none."""
    for line in groups_tool("--describe", "--group", group):
        words = line.split()
        if words[:3] == [group, "plain", "0"]:
            return int(words[3]) if words[3].isdigit() else None
    return None


GROUPS = ["g-classic", "g-classic-gone", "g-848", "g-848-gone", "g-part"]


def make_groups():
    """Groups that have read plain: classic ones by kcat, KIP-848's by Kafka's own console consumer."""
    for group in GROUPS:
        if "848" in group:
            java("org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", f"127.0.0.1:{PORT}", "--topic", "plain", "--group", group,
                 "--command-property", "group.protocol=consumer", "--from-beginning", "--max-messages", "120", "--timeout-ms", "20000")
        else:
            kcat("-e", "-X", "auto.offset.reset=earliest", "-X", f"client.id={group}", "-G", group, "plain")
        check(f"the group has read all: {group}", committed(group) == 120, groups_tool("--describe", "--group", group))


def change_groups():
    for group, offset in (("g-classic", 7), ("g-848", 9)):
        done = tk("groups", "reset-offsets", group, "--topic", "plain", "--to-offset", str(offset), "--execute", "-d", DATA)
        check(f"tk resets a broker's group: {group}", done.returncode == 0, done.stderr)
    for group in ("g-classic-gone", "g-848-gone"):
        check(f"tk deletes a broker's group: {group}", tk("groups", "delete", group, "-d", DATA).returncode == 0)
    check("tk deletes a commit", tk("groups", "delete-offsets", "g-part", "--topic", "plain", "-d", DATA).returncode == 0)


def check_groups():
    """The broker has come up with what tk wrote."""
    known = groups_tool("--list")
    check("deleted groups are gone, the others are there", {"g-classic", "g-848"} <= set(known) and not {"g-classic-gone", "g-848-gone"} & set(known), known)
    check("a classic group stands where it was set", committed("g-classic") == 7, groups_tool("--describe", "--group", "g-classic"))
    check("one of KIP-848, too", committed("g-848") == 9, groups_tool("--describe", "--group", "g-848"))
    check("a deleted commit is gone", committed("g-part") is None, groups_tool("--describe", "--group", "g-part"))
    out = kcat("-e", "-X", "auto.offset.reset=latest", "-f", "%o\n", "-G", "g-classic", "plain").stdout.split()
    check("a member goes on from there", out[:1] == [b"7"], out[:3])


TOPICS = ["plain", "appended", "imported", "served", "salvaged", "cut", "rebuilt", "zstd"]
MADE_LATER = ["imported", "served"]


def write_through_serve():
    """A partition that clients of `tk serve` wrote, with every codec and by idempotent producers, takes the place of an empty one."""
    directory = work + "/serve"
    process = subprocess.Popen([TK, "-d", directory, "serve", "--kafka", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in process.stdout:
        if line.startswith("listening"): address = line.split()[2]
        if line.startswith("ready"): break
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        for idempotent in ("false", "true"):
            subprocess.run(["kcat", "-P", "-q", "-b", address, "-t", "served", "-K", ":", "-z", codec, "-X", "enable.idempotence=" + idempotent],
                           input=lines(f"{codec}-{idempotent}-", 100), timeout=60)
    process.terminate()
    check("serve ends", process.wait(10) == 143)
    for name in os.listdir(f"{DATA}/served-0"):
        if name != "partition.metadata": os.remove(f"{DATA}/served-0/{name}")
    for name in os.listdir(f"{directory}/served-0"):
        if name.endswith((".log", ".index", ".timeindex", ".snapshot", ".txnindex")) or name == "leader-epoch-checkpoint":
            shutil.copy(f"{directory}/served-0/{name}", f"{DATA}/served-0/{name}")


def main():
    broker = Broker()
    if not broker.start():
        with open(work + "/broker.log", encoding="utf-8", errors="replace") as f:
            skip("no broker could be started: " + f.read()[-300:].replace("\n", " "))
    for topic in TOPICS:
        for part in range(3 if topic not in MADE_LATER else 0):
            kcat("-P", "-t", topic, "-K", ":", "-X", f"compression.codec={'zstd' if topic == 'zstd' else 'none'}",
                 stdin=lines(f"{topic}{part}-", 40))
    for topic in MADE_LATER:
        kcat("-P", "-t", topic, "-K", ":", stdin=b"")  # asks for the topic, so that it is made
        until = time.time() + 10
        while not os.path.isdir(f"{DATA}/{topic}-0") and time.time() < until:
            kcat("-L", "-t", topic)
            time.sleep(0.2)
    before = {topic: consumed(topic) for topic in TOPICS}
    make_groups()
    check("the broker lives: a reset is refused", tk("groups", "reset-offsets", "g-classic", "--topic", "plain", "--to-offset", "1", "--execute", "-d", DATA).returncode == 4)
    check("the broker lives: writing is refused", tk("produce", "appended", "-K", ":", "-d", DATA, stdin=b"a:b\n").returncode == 4)
    broker.stop()

    for topic in TOPICS:
        check(f"tk reads what the broker wrote: {topic}", read_by_tk(topic) == before[topic], read_by_tk(topic)[:2])
    check("verify finds nothing", tk("verify", DATA).returncode == 0, tk("verify", DATA).stdout[-400:])

    change_groups()
    # Appended to, several segments, all codecs.
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        done = tk("produce", "appended", "-K", ":", "-z", codec, "-d", DATA, "-q", stdin=lines(f"tk-{codec}-", 200))
        check(f"append {codec}", done.returncode == 0, done.stderr[-200:])
    # Written from a dump, with a gap at the start of the offsets kept out of it: a new partition begins at 0.
    dump = tk("dump-log", "appended", "--json", "--print-data-log", "-d", DATA).stdout
    done = tk("produce", "imported-0", "-i", "dump", "-d", DATA, "-q", stdin=dump)
    check("a dump written into an empty partition", done.returncode == 0, done.stderr[-200:])
    write_through_serve()
    # Damaged and repaired.
    flip("salvaged", 1)
    check("salvage", tk("recover", "salvaged", "--salvage", "--full", "-d", DATA).returncode == 0)
    flip("cut", 2)
    check("truncate", tk("recover", "cut", "--truncate", "--full", "-d", DATA).returncode == 0)
    for name in os.listdir(f"{DATA}/rebuilt-0"):
        if name.endswith((".index", ".timeindex", ".snapshot")):
            os.remove(f"{DATA}/rebuilt-0/{name}")
    tk("recover", "rebuilt", "--full", "-d", DATA)
    check("all of it verifies", tk("verify", DATA).returncode == 0, tk("verify", DATA).stdout[-400:])

    want = {topic: read_by_tk(topic) for topic in TOPICS}
    said = [json.loads(line) for line in tk("recover", "--as-broker", "--dry-run", "--json", "-d", DATA).stdout.splitlines()]
    check("the start was foreseen to lose nothing", all(r["starts"] and not r["cut_bytes"] and not r["stray"] for r in said),
          [r for r in said if not r["starts"] or r["cut_bytes"] or r["stray"]])
    check("the broker starts", broker.start())
    check("and has nothing to repair", not broker.complaints(), broker.complaints()[:5])
    check_groups()
    for topic in TOPICS:
        got = consumed(topic)
        check(f"its consumers read what tk reads: {topic}", got == want[topic], f"{len(got)} of {len(want[topic])}: {got[:1]} {want[topic][:1]}")
    for topic in TOPICS:
        kcat("-P", "-t", topic, "-K", ":", stdin=lines(f"after-{topic}-", 20))
    after = {topic: consumed(topic) for topic in TOPICS}
    for topic in TOPICS:
        check(f"the broker goes on where tk ended: {topic}", [r[0] for r in after[topic][-20:]] ==
              list(range(want[topic][-1][0] + 1, want[topic][-1][0] + 21)), after[topic][-1:])
    broker.stop(kill=True)
    for topic in TOPICS:
        check(f"tk reads it after a kill: {topic}", read_by_tk(topic) == after[topic])


try:
    if not shutil.which("kcat"):
        skip("kcat is not installed")
    main()
finally:
    shutil.rmtree(work, ignore_errors=True)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
