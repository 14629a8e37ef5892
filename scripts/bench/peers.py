"""The rows of `scripts/bench.sh --peers`: other programs that read or write the same segments, or do the same work.

A ratio is the other program's time by tk's. `must` is the multiple that tk claims, where it claims one. What is not
installed is skipped by name. Kafka's own code runs in a JVM that is warm (an untimed round comes first), unless a row says
that the program's start is part of it."""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import time

import data
from pairs import Row

HERE = pathlib.Path(__file__).resolve().parent
INTEROP = HERE.parent.parent / "tests" / "interop"
KAFKALOG = INTEROP / "kafkalog"
READERS = HERE / "readers"
# Where the interoperability tests put clients of other languages, too.
CACHE = pathlib.Path(os.environ.get("TK_CLIENTS", pathlib.Path.home() / ".cache" / "tk-clients"))


def quiet(*words, **more):
    """True if the command ran and ended well."""
    try:
        return subprocess.run([str(w) for w in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def same(left, right):
    """A check that two shell commands print the same."""
    def check():
        done = subprocess.run(["bash", "-c", f"cmp <({left}) <({right})"], capture_output=True, text=True)
        return "" if done.returncode == 0 else "other output: " + (done.stdout + done.stderr).strip()[-200:]
    return check


class Peers:
    def __init__(self, tk, directory, lines):
        self.tk, self.dir, self.count = tk, directory, lines
        self.skipped, self.broker, self.engine = [], None, None
        self.lines = self.path("lines.txt")
        data.write_lines(self.lines, lines)
        self.sh(f"{tk} -d {self.path('kafka')} topics create t --format kafka -c segment.bytes=2147483647 -q")
        self.sh(f"{tk} -d {self.path('kafka')} produce t -q < {self.lines}")
        self.sh(f"{tk} -d {self.path('json')} topics create t --format json -c segment.bytes=2147483647 -q")
        self.sh(f"{tk} -d {self.path('json')} produce t -q < {self.lines}")
        self.segment = f"{self.path('kafka')}/t-0/{0:020d}.log"
        self.write_bodies()
        os.sync()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.broker:
            self.broker.stop()
        if self.engine:
            self.engine.close()

    def path(self, name):
        return os.path.join(self.dir, name)

    def sh(self, command):
        subprocess.run(["bash", "-c", command], check=True, stdout=subprocess.DEVNULL)

    def write_bodies(self):
        """The bodies of the json topic's records, a line each, for programs that read lines."""
        with open(f"{self.path('json')}/t-0/{0:020d}.log", "rb") as log, open(self.path("bodies"), "wb") as out:
            for _ in range(self.count):
                out.write(log.read(struct.unpack(">qi", log.read(12))[1]) + b"\n")

    def has(self, what, *programs):
        """Whether all the programs are there; what is skipped otherwise is noted."""
        for program in programs:
            if not shutil.which(program):
                self.skipped.append(f"{what}: {program} is not installed")
                return False
        return True

    def rows(self):
        yield from self.kafka_rows()
        yield from self.kcat_rows()
        yield from self.python_rows()
        yield from self.node_rows()
        yield from self.database_rows()
        yield from self.text_rows()
        yield from self.start_rows()

    def consume(self, name="kafka"):
        return f"{self.tk} -d {self.path(name)} consume t"

    def produce(self, options="--format kafka"):
        """(what to do before, the command): a new topic from the lines. Not forced to disk, as a broker does not force, nor
        the others here."""
        new = self.path("new")

        def prepare():
            shutil.rmtree(new, ignore_errors=True)
            self.sh(f"{self.tk} -d {new} topics create t {options} -c segment.bytes=2147483647 -q")

        return prepare, f"{self.tk} -d {new} produce t -q --sync none < {self.lines}"

    # Kafka itself

    def kafka_rows(self):
        if not self.has("Kafka's own code", "java", "javac", "mvn"):
            return
        if not quiet(KAFKALOG, "fetch", timeout=300):
            self.skipped.append("Kafka's own code: its packages could not be fetched")
            return
        sys.path.insert(0, str(INTEROP))
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = True
        import partners
        self.engine = partners.Kafka()
        tk, segment, kafka = self.tk, self.segment, self.path("kafka")
        text = f"dump --print-data-log --files {segment}"
        yield Row("K1", "kafka-dump-log --print-data-log", f"{KAFKALOG} {text} > /dev/null", f"{tk} dump-log --print-data-log {segment} > /dev/null", 60, 85,
                  check=same(f"{KAFKALOG} {text}", f"{tk} dump-log --print-data-log {segment}"))
        yield Row("K2", "kafka-dump-log, batches only", f"{KAFKALOG} dump --files {segment} > /dev/null", f"{tk} dump-log {segment} > /dev/null", 5, None,
                  check=same(f"{KAFKALOG} dump --files {segment}", f"{tk} dump-log {segment}"))
        yield Row("K3", "CRC of every batch, Kafka's classes (verify --quick)", self.asked("time-batches", segment), f"{tk} -d {kafka} verify t --quick", 1.6, 2.2)
        yield Row("K4", "every record read, Kafka's classes (verify)", self.asked("time-records", segment), f"{tk} -d {kafka} verify t", 2, None)
        # Beside each other: a load makes the indexes anew, as `recover --full` does.
        loaded = self.path("loaded")
        self.sh(f"cp -r {kafka} {loaded}")
        yield Row("K5", "a broker's recovery of the partition (recover --full)", self.asked("load", f"{loaded}/t-0"), f"{tk} -d {kafka} recover t --full", 1.3, 1.9)
        yield Row("K6", "the same, with the start of both programs", f"{KAFKALOG} load {loaded}/t-0", f"{tk} -d {kafka} recover t --full", 6, None)
        yield self.cleaner()

    def asked(self, *words):
        def ask():
            begin = time.perf_counter()
            answer = self.engine.last(*words)
            if "error" in answer:
                raise SystemExit(f"bench: Kafka's engine: {answer}")
            return answer.get("seconds", time.perf_counter() - begin)

        ask.__doc__ = "Kafka's engine: " + " ".join(map(str, words))
        return ask

    def cleaner(self):
        """Kafka's log cleaner and `tk compact` over the same four closed segments."""
        made, aged, lines = self.path("keyed"), self.path("aged"), self.path("keyed.txt")
        data.write_keyed_lines(lines, self.count, 100_000)
        self.sh(f"{self.tk} -d {made} topics create t --format kafka -c segment.bytes={self.count * 22} -q")
        self.sh(f"{self.tk} -d {made} produce t -K $'\\t' -q < {lines}")

        def prepare():
            shutil.rmtree(aged, ignore_errors=True)
            shutil.copytree(made, aged)
            os.sync()

        theirs = self.asked("compact", f"{aged}/t-0")
        return Row("K7", "log cleaner, 100,000 keys (compact)", theirs,
                   f"{self.tk} -d {aged} compact t --force -q -c cleanup.policy=compact", 8, 13, prepare)

    # Clients of a broker

    def kcat_rows(self):
        """They do more: sockets, requests, acknowledgements."""
        if not self.engine or not self.has("a broker", "kcat"):
            return
        classpath = subprocess.run([KAFKALOG, "classpath"], capture_output=True, text=True).stdout.strip()
        os.environ["KAFKA_CLASSPATH"] = classpath
        import servers
        self.broker = servers.Broker(self.path("broker"))
        address = self.broker.address
        prepare, produce = self.produce()
        turn = [0]

        def into(command):
            def run():
                turn[0] += 1
                begin = time.perf_counter()
                with open(self.lines, "rb") as lines:
                    subprocess.run(command(f"t{turn[0]}"), stdin=lines, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
                return time.perf_counter() - begin
            run.__doc__ = " ".join(command("TOPIC"))
            return run

        java = ["java", "-Xmx512m", "-cp", classpath]
        yield Row("B1", "kcat -P to a broker (produce)", into(lambda topic: ["kcat", "-P", "-b", address, "-t", topic]), produce, 10, 18, prepare)
        subprocess.run(["kcat", "-P", "-b", address, "-t", "bench"], stdin=open(self.lines, "rb"), check=True)
        yield Row("B2", "kcat -C from a broker (consume)", f"kcat -C -q -e -b {address} -t bench -o beginning > /dev/null", self.consume() + " > /dev/null", 8, 12,
                  check=same(f"kcat -C -q -e -b {address} -t bench -o beginning", self.consume()))
        yield Row("B3", "kafka-console-producer (produce)", into(lambda topic: [*java, "org.apache.kafka.tools.ConsoleProducer", "--bootstrap-server", address, "--topic", topic]),
                  produce, 80, None, prepare)
        consumer = f"java -Xmx512m -cp '{classpath}' org.apache.kafka.tools.consumer.ConsoleConsumer --bootstrap-server {address} --topic bench --from-beginning --max-messages {self.count}"
        yield Row("B4", "kafka-console-consumer (consume)", f"{consumer} > /dev/null 2>&1", self.consume() + " > /dev/null", 50, None)

    # Libraries of other languages

    def python_rows(self):
        python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"
        prepare, produce = self.produce("--format json")
        yield Row("J1", "Python json, written (produce json)", f"{python} {READERS}/json_lines.py write < {self.lines} > /dev/null", produce, 60, None, prepare)
        yield Row("J2", "Python json, read (consume json)", f"{python} {READERS}/json_lines.py read < {self.path('bodies')} > /dev/null", self.consume("json") + " > /dev/null", 60, None,
                  check=same(f"{python} {READERS}/json_lines.py read < {self.path('bodies')}", self.consume("json")))
        if not quiet(python, "-c", "import kafka.record.memory_records"):
            self.skipped.append("kafka-python: not installed")
            return
        script, written = f"{python} {READERS}/kafka_python.py", self.path("python.log")
        prepare, produce = self.produce()
        yield Row("L1p", "kafka-python's batches, written (produce)", f"{script} write {self.lines} {written}", produce, 150, None, prepare,
                  same(f"{self.tk} dump-log --print-data-log {written} --json | jq -r 'select(.type == \"record\").value' | head -n 1000", f"head -n 1000 {self.lines}"))
        yield Row("L2p", "kafka-python, decoded without sums (consume)", f"{script} read {self.segment} > /dev/null", self.consume() + " > /dev/null", 50, None,
                  check=same(f"{script} read {self.segment}", self.consume()))
        yield Row("L3p", "kafka-python, decoded with sums (consume)", f"{script} check {self.segment} > /dev/null", self.consume() + " > /dev/null", 300, None)

    def node_rows(self):
        if not self.has("Node", "node"):
            return
        script = f"node {READERS}/json_lines.js < {self.path('bodies')}"
        yield Row("J3", "Node's JSON.parse (consume json)", f"{script} > /dev/null", self.consume("json") + " > /dev/null", None, None,
                  check=lambda: self.same_file(script, "json"))
        if not (CACHE / "node_modules" / "kafkajs").exists():
            CACHE.mkdir(parents=True, exist_ok=True)
            if not quiet("npm", "install", "--silent", "--no-audit", "--no-fund", "kafkajs", cwd=CACHE, timeout=200):
                self.skipped.append("kafkajs: could not be installed")
                return
        script = f"NODE_PATH={CACHE}/node_modules node {READERS}/kafkajs.js {self.segment}"
        yield Row("L4n", "kafkajs, decoded without sums (consume)", f"{script} > /dev/null", self.consume() + " > /dev/null", 15, None,
                  check=lambda: self.same_file(script, "kafka"))

    def same_file(self, command, name):
        """Node's writes to a pipe may be refused: its output goes into a file."""
        out = self.path("out")
        self.sh(f"{command} > {out}")
        return same(f"cat {out}", self.consume(name))()

    # Databases, text tools

    def database_rows(self):
        if not self.has("SQLite", "sqlite3"):
            return
        database, script = self.path("db"), self.path("import.sql")
        with open(script, "w") as out:
            out.write("PRAGMA journal_mode=WAL;\nCREATE TABLE t(v TEXT);\n.separator \"\\001\" \"\\n\"\n"
                      f".import {self.lines} t\n")
        prepare, produce = self.produce()

        def empty():
            prepare()
            for end in ("", "-wal", "-shm"):
                pathlib.Path(database + end).unlink(missing_ok=True)

        yield Row("Q1", "SQLite, one transaction, WAL (produce)", f"sqlite3 {database} < {script} > /dev/null", produce, 15, None, empty)
        empty()
        self.sh(f"sqlite3 {database} < {script}")
        scan = f"sqlite3 {database} 'SELECT v FROM t ORDER BY rowid'"
        yield Row("Q2", "SQLite, ordered scan (consume)", f"{scan} > /dev/null", self.consume() + " > /dev/null", 4, None, check=same(scan, self.consume()))

    def text_rows(self):
        bodies = self.path("bodies")
        if self.has("jq", "jq"):
            yield Row("J4", "jq -r .value (consume json)", f"jq -r .value {bodies} > /dev/null", self.consume("json") + " > /dev/null", 50, None,
                      check=same(f"jq -r .value {bodies}", self.consume("json")))
        if not self.has("mawk", "mawk"):
            return
        lines = self.path("keyed.txt")
        if not os.path.exists(lines):
            data.write_keyed_lines(lines, self.count, 100_000)
        latest, topic = f"mawk -F'\\t' '{{last[$1] = $2}} END {{for (key in last) print key \"\\t\" last[key]}}' {lines}", self.path("latest")
        self.sh(f"{self.tk} -d {topic} topics create t --format kafka -q")
        self.sh(f"{self.tk} -d {topic} produce t -K $'\\t' -q < {lines}")
        ours = f"{self.tk} -d {topic} consume t --latest-per-key -f '%k\\t%s\\n'"
        yield Row("M2", "mawk, last value by key (consume --latest-per-key)", f"{latest} > /dev/null", f"{ours} > /dev/null", None, None,
                  check=same(f"{latest} | sort", f"{ours} | sort"))

    def start_rows(self):
        tk = f"{self.tk} --version"
        for name, program, words, must in (
            ("S3", "python3", "python3 -c pass", 7), ("S4", "node", "node -e 0", 25), ("S5", "java", "java -version", 25),
            ("S6", "kcat", "kcat -V", None), ("S7", "sqlite3", "sqlite3 -version", None), ("S8", "jq", "jq --version", None),
        ):
            found = shutil.which(program)
            if not found:
                self.skipped.append(f"start of {program}: not installed")
                continue
            # The interpreter itself, not a wrapper that looks for one.
            if program == "python3" and os.path.exists("/usr/bin/python3"):
                found = "/usr/bin/python3"
            yield Row(name, f"start: {words} (tk --version)", " ".join([found, *words.split()[1:]]), tk, must, None, repeat=20)
