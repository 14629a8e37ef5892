"""The rows of `scripts/bench.sh` that hold tk against limits of the machine."""
import os
import shutil
import subprocess

import data
import follow
import groups
from pairs import Row, peak_memory_kib

# What a row must reach with the subject on one processor.
ONE_THREAD = {
    "P1": 0.40, "P3": 0.33, "P3q": 0.18, "P4": 0.80, "P5": 1.1, "P6": 0.90, "C1": 0.26, "C3": 0.35, "C4": 0.22, "C5": 15,
    "V1": 0.42, "V2": 0.35, "V3": 0.38, "D1": 0.10, "M1": 0.12, "M1d": 0.05,
}


class Bench:
    def __init__(self, tk, directory, lines):
        self.tk, self.dir, self.count = tk, directory, lines
        self.lines, self.quotes = self.path("lines.txt"), self.path("quotes.txt")
        data.write_lines(self.lines, lines)
        data.write_json_lines(self.quotes, lines // 2)
        os.sync()
        self.segment = {}

    def write_segments(self):
        """What the reading rows read. Not before they come: the less lies about in memory, the steadier the writing rows are."""
        for name, source, options in (
            ("kafka", self.lines, "--format kafka"),
            ("json", self.lines, "--format json"),
            ("quotes", self.quotes, "--format json"),
        ):
            self.make_topic(name, options)
            self.sh(f"{self.tk} -d {self.path(name)} produce t -q {source}")
            self.segment[name] = os.path.join(self.path(name), "t-0", f"{0:020d}.log")
        self.foreign = self.path("foreign")
        data.write_foreign_json_segment(self.foreign, self.path("bodies"), 200_000)
        self.sh(f"{self.tk} -d {self.foreign} recover t --full -q")
        # Or the kernel writes all this back during the rows, on a core that the subject counts on and the reference does not need.
        os.sync()

    def path(self, name):
        return os.path.join(self.dir, name)

    def sh(self, command):
        subprocess.run(["bash", "-c", command], check=True, stdout=subprocess.DEVNULL)

    def make_topic(self, name, options):
        self.sh(f"{self.tk} -d {self.path(name)} topics create t {options} -c segment.bytes=2147483647 -q")

    def heat(self, mebibytes):
        """Memory that was given back to the host comes again slowly: what the timed run will need is taken before."""
        heat = self.path("heat")
        self.sh(f"dd if=/dev/zero of={heat} bs=1M count={mebibytes} status=none; rm -f {heat}")

    def fresh(self, options, sync=False):
        def prepare():
            shutil.rmtree(self.path("new"), ignore_errors=True)
            if os.path.exists(self.path("copy")):
                os.remove(self.path("copy"))
            self.heat(self.count * 190 // 2**20 + 100)
            if sync:
                os.sync()
            self.make_topic("new", options)

        return prepare

    def produced(self, source, kafka=True, plain=True):
        """What is wrong with the topic that the last timed run wrote."""

        def check():
            wrong = subprocess.run(["bash", "-c", f"{self.tk} -d {self.path('new')} consume t | cmp - {source}"], capture_output=True)
            if wrong.returncode != 0:
                return "consume does not give the input: " + wrong.stdout.decode().strip()
            if kafka and plain:
                records, fault = data.check_batches(os.path.join(self.path("new"), "t-0", f"{0:020d}.log"))
                if fault or records != self.count:
                    return fault or f"{records} records instead of {self.count}"
            return ""

        return check

    def same(self, command, source):
        return lambda: "" if subprocess.run(["bash", "-c", f"{command} | cmp -s - {source}"]).returncode == 0 else "other output than the input"

    def rows(self):
        tk, lines, quotes = self.tk, self.lines, self.quotes
        new, copy = self.path("new"), self.path("copy")
        to_copy = f"dd if={lines} of={copy} bs=1M status=none"
        produce = f"{tk} -d {new} produce t -q --sync none"
        kafka, js = self.fresh("--format kafka"), self.fresh("--format json")

        def read(name):
            return f"dd if={self.segment[name]} of=/dev/null bs=1M status=none"

        def consume(name):
            return f"{tk} -d {self.path(name)} consume t"

        yield Row("P1", "produce kafka, from a file", to_copy, f"{produce} < {lines}", 0.70, 0.90, kafka, self.produced(lines))
        yield Row("P2", "produce kafka, from a pipe", f"cat {lines} | cat > {copy}", f"cat {lines} | {produce}", 0.70, 0.90, kafka, self.produced(lines))
        yield Row("P3", "produce json, from a file", to_copy, f"{produce} < {lines}", 0.55, 0.80, js, self.produced(lines, False))
        yield Row("P3q", "produce json, lines full of quotes", f"dd if={quotes} of={copy} bs=1M status=none", f"{produce} < {quotes}", 0.33, 0.45, js, self.produced(quotes, False))
        yield Row("P4", "produce kafka, durable", to_copy + " conv=fdatasync", f"{tk} -d {new} produce t -q < {lines}", 0.85, 0.95, self.fresh("--format kafka", sync=True), self.produced(lines))
        yield Row("P5", "produce kafka, lz4", f"lz4 -1 -q -c {lines} > {copy}", f"{produce} --compression lz4 < {lines}", 1.9, 2.4, kafka, self.produced(lines, plain=False))
        yield Row("P6", "produce kafka, zstd 1 (zstd -T1)", f"zstd -1 -T1 -q -c {lines} > {copy}", f"{produce} --compression zstd:1 < {lines}", 1.4, 1.7, kafka, self.produced(lines, plain=False))
        yield Row("P6t", "produce kafka, zstd 1 (zstd -T2)", f"zstd -1 -T2 -q -c {lines} > {copy}", f"{produce} --compression zstd:1 < {lines}", 0.95, 1.1, kafka, self.produced(lines, plain=False))
        self.write_segments()
        yield Row("C1", "consume kafka > /dev/null", read("kafka"), f"{consume('kafka')} > /dev/null", 0.42, 0.60, check=self.same(consume("kafka"), lines))
        yield Row("C2", "consume kafka | cat > /dev/null", f"cat {lines} | cat > /dev/null", f"{consume('kafka')} | cat > /dev/null", 0.80, 1.10)
        yield Row("C3", "consume kafka > a new file", to_copy, f"{consume('kafka')} > {copy}", 0.55, 0.85, kafka, lambda: "" if subprocess.run(["cmp", "-s", copy, lines]).returncode == 0 else "other output than the input")
        yield Row("C4", "consume json > /dev/null", read("json"), f"{consume('json')} > /dev/null", 0.30, 0.45, check=self.same(consume("json"), lines))
        yield Row("C4q", "consume json, lines full of quotes", read("quotes"), f"{consume('quotes')} > /dev/null", 0.18, 0.30, check=self.same(consume("quotes"), quotes))
        yield Row("C5", "consume json, foreign bodies (jq)", f"jq -c .value {self.path('bodies')} > /dev/null", f"{consume('foreign')} > /dev/null", 25, 50, check=self.same(consume("foreign"), f"<(jq -r .value {self.path('bodies')})"))
        yield Row("V1", "verify --quick", read("kafka"), f"{tk} -d {self.path('kafka')} verify t --quick", 0.65, 0.90)
        yield Row("V2", "verify", read("kafka"), f"{tk} -d {self.path('kafka')} verify t", 0.52, 0.75)
        yield Row("V3", "recover --full", read("kafka"), f"{tk} -d {self.path('kafka')} recover t --full", 0.55, 0.80)
        yield Row("D1", "dump-log --print-data-log", read("kafka"), f"{tk} dump-log --print-data-log {self.segment['kafka']} > /dev/null", 0.22, 0.30)
        yield self.compaction("M1", "100,000 keys", 100_000, 0.18, 0.30)
        yield self.compaction("M1d", "all keys distinct", None, 0.08, 0.12)
        yield Row("V1c", "verify --quick, not in memory", read("kafka"), f"{tk} -d {self.path('kafka')} verify t --quick", None, None, self.forget)
        yield Row("F1", "consume --follow, delay p50 (inotify)", self.inotify, self.follow, 1 / 8, 1 / 2)
        yield self.listing()
        yield self.fetch_rounds()
        yield from groups.Groups(self).rows()
        # At least 100,000 steps a second: the reference is the time that they may take.
        yield Row("X1", "simulator, 200 seeds of 500 steps (a second)", "sleep 1", f"{tk} replicate-sim --seeds 1..200 -q", 1.0, 2.0)
        yield Row("S1", "tk --version (/bin/true)", "/bin/true", f"{tk} --version", 1 / 1.6, 1.0, repeat=200)
        yield Row("S2", "consume -o N -n 1 (/bin/true)", "/bin/true", f"{tk} -d {self.path('kafka')} consume t -o {self.count - 12345} -n 1", 1 / 2.0, 1 / 1.2, repeat=200)

    def one_thread(self, row):
        """The same row with the subject on one processor."""
        return Row(row.name + "/1", row.what + ", one thread", row.reference, f"taskset -c {min(os.sched_getaffinity(0))} {row.subject}",
                   ONE_THREAD[row.name], None, row.prepare)

    def forget(self):
        """The segment's pages are given back, so that the next reader takes them from the disk."""
        with open(self.segment["kafka"], "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def inotify(self):
        """a bare inotify loop"""
        return follow.median(follow.inotify_times, self.path("watched"))

    def follow(self):
        """tk consume t -F"""
        shutil.rmtree(self.path("followed"), ignore_errors=True)
        return follow.median(follow.follow_times, self.tk, self.path("followed"))

    def listing(self):
        many = self.path("many")

        def prepare():
            if not os.path.exists(many):
                self.sh(f"{self.tk} -d {many} topics create t -p 2000 -q")
                self.sh(f"seq 100000 | sed 's/.*/&:&/' | {self.tk} -d {many} produce t -K : -q")

        return Row("L1", "topics list, 2000 partitions (find)", f"find {many} -name '*.log' -size +0 > /dev/null",
                   f"{self.tk} -d {many} topics list > /dev/null", 1 / 0.9, 1 / 0.6, prepare)

    def fetch_rounds(self):
        """A follower that has nothing takes the leader's whole log over: read, checksums looked at, written as it is."""
        made, run, copy, rounds = self.path("cluster"), self.path("cluster-run"), self.path("copy"), self.count // 5000

        def prepare():
            if not os.path.exists(made):
                self.sh(f"{self.tk} -d {made} cluster init --brokers 2 -q")
                self.sh(f"{self.tk} -d {made} topics create t --format kafka --replicas 2 -c segment.bytes=2147483647 -q")
                self.sh(f"{self.tk} -d {made} produce t --acks 1 -q < {self.lines}")
            shutil.rmtree(run, ignore_errors=True)
            shutil.copytree(made, run)
            if os.path.exists(copy):
                os.remove(copy)
            os.sync()

        def check():
            logs = [f"{run}/broker-{broker}/t-0/{0:020d}.log" for broker in (1, 2)]
            wrong = subprocess.run(["cmp", *logs], capture_output=True).stdout.decode().strip()
            shutil.rmtree(made)
            shutil.rmtree(run)
            return wrong

        return Row(
            "X2", "a follower's fetch rounds (dd)", f"dd if={made}/broker-1/t-0/{0:020d}.log of={copy} bs=1M status=none conv=fdatasync",
            f"{self.tk} -d {run} replicate-sim t-0 --only 2 --rounds {rounds} -q", 0.2, 0.4, prepare, check)

    def compaction(self, name, what, keys, must, aim):
        """A log whose closed segments are all dirty. The map has room for every key."""
        made, aged, lines = self.path(name), self.path("aged"), self.path("keyed")

        def prepare():
            if not os.path.exists(made):
                data.write_keyed_lines(lines, self.count, keys)
                self.sh(f"{self.tk} -d {made} topics create t --format kafka -c segment.bytes=268435456 -q")
                self.sh(f"{self.tk} -d {made} produce t -K $'\\t' -q < {lines}")
                os.remove(lines)
            shutil.rmtree(aged, ignore_errors=True)
            shutil.copytree(made, aged)
            os.sync()

        def check():
            left, latest = f"{self.tk} -d {aged} consume t", f"{self.tk} -d {made} consume t --latest-per-key"
            wrong = subprocess.run(["bash", "-c", f"cmp <({left} | sort) <({latest} | sort)"], capture_output=True)
            shutil.rmtree(made)
            shutil.rmtree(aged)
            return "" if wrong.returncode == 0 else "other records are left: " + wrong.stdout.decode().strip()

        return Row(
            name, f"compact, {what}", f"for i in {aged}/t-0/*.log; do dd if=$i of=/dev/null bs=1M status=none; done",
            f"{self.tk} -d {aged} compact t --force --roll -q --map-bytes 512M -c cleanup.policy=compact", must, aim, prepare, check)

    def memory(self, prefix=""):
        """Peak memory of the streaming commands, MiB."""
        kafka = self.path("kafka")
        shutil.rmtree(self.path("new"), ignore_errors=True)
        self.make_topic("new", "--format kafka")
        commands = {
            "produce": f"{self.tk} -d {self.path('new')} produce t -q {self.lines}",
            "consume": f"{self.tk} -d {kafka} consume t",
            "consume json": f"{self.tk} -d {self.path('json')} consume t",
            "verify": f"{self.tk} -d {kafka} verify t",
            "recover": f"{self.tk} -d {kafka} recover t --full",
            "dump-log": f"{self.tk} dump-log --print-data-log {self.segment['kafka']}",
        }
        return {name: peak_memory_kib(prefix + command) / 1024 for name, command in commands.items()}
