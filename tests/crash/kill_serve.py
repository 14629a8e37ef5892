#!/usr/bin/env python3
"""Kills `tk serve` at random moments under producers, and looks at what it left (serve.md §5 T7).

    kill_serve.py [--rounds N] [--txn N] [--seed S] [--keep DIR]

Each round starts a server on the directory that the last one left, lets producers of acks=all write to it (every second one
idempotent, which goes on with its sequences over the kills: a batch without an answer is sent again), commits offsets of a
group, and kills the server with SIGKILL. Then: every record that was acknowledged is there, an idempotent producer's are there
once and in order, offsets are dense, the group's commit is not behind what was acknowledged, and the next server starts without a
step by hand. In --txn rounds producers write transactions over two partitions: a reader of committed records sees each
transaction whole, every one whose end was acknowledged, and none that was aborted. `tk verify` has nothing to say at the end.
The executable is $TK, else build/release/tk. The last line is `N passed, N failed`.
"""
import argparse, os, pathlib, random, shutil, struct, subprocess, sys, tempfile, threading, time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "wire"))
from wire import *

TK = os.environ.get("TK", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/tk"))
TOPIC = "t"


class Failure(Exception): pass


def require(holds, what):
    if not holds: raise Failure(what)


def tk(directory, *args):
    done = subprocess.run([TK, "-d", directory, *args], capture_output=True, text=True)
    require(done.returncode == 0, f"tk {args}: exit {done.returncode}: {done.stderr[:500]}")
    return done.stdout.splitlines()


class Producer:
    """Appends values NAME:N and knows which were acknowledged; idempotent ones keep their place over the kills."""

    def __init__(self, name, idempotent):
        self.name, self.idempotent, self.next, self.acked = name, idempotent, 0, []
        self.identity, self.pending = None, None

    def run(self, address, rng, stop):
        try:
            client = Client(address, timeout=5)
            client.metadata(TOPIC)
            if self.idempotent and self.identity is None:
                error, pid, epoch = client.init_producer()
                if error: return
                self.identity = (pid, epoch)
            while not stop.is_set():
                if self.pending is None or not self.idempotent:
                    count = rng.randrange(1, 20)
                    self.pending = list(range(self.next, self.next + count))
                    self.next += count
                values = [f"{self.name}:{n}".encode() + b"." * rng.randrange(0, 300) for n in self.pending]
                if self.idempotent:
                    # The same bytes again, as a client sends them.
                    values = [f"{self.name}:{n}".encode() for n in self.pending]
                    records = batch(values, *self.identity, self.pending[0], now=1700000000000)
                else:
                    records = batch(values)
                error, _ = client.produce(TOPIC, records)
                if error == 0:
                    self.acked += self.pending
                    self.pending = None
                elif error not in (56, 7):
                    raise Failure(f"{self.name}: error {error}")
        except OSError:
            pass


class Committer:
    """Commits rising offsets of a group without members."""

    def __init__(self): self.acked, self.asked = -1, 0

    def run(self, address, rng, stop):
        try:
            client = Client(address, timeout=5)
            client.metadata(TOPIC)
            while not stop.is_set():
                self.asked += 1
                answer = client.ask(OFFSET_COMMIT, 2, text("g") + i32(-1) + text("") + i64(-1) +
                                    array([text(TOPIC) + array([i32(0) + i64(self.asked) + text("")])]))
                if answer[-2:] == b"\0\0": self.acked = self.asked
        except OSError:
            pass

    def check(self, server):
        answer = server.client().ask(OFFSET_FETCH, 1, text("g") + array([text(TOPIC) + array([i32(0)])]))
        at = 4 + 2 + len(TOPIC) + 4 + 4
        found, = struct.unpack(">q", answer[at:at + 8])
        require(self.acked <= found <= self.asked, f"the commit is {found}, {self.acked} was acknowledged")


class Transactor:
    """Transactions of one record in each of two partitions, some of them aborted."""

    def __init__(self, name): self.name, self.number, self.committed, self.aborted = name, 0, [], []

    def run(self, address, rng, stop):
        try:
            client = Client(address, timeout=5)
            client.metadata("x")
            error, pid, epoch = client.init_producer(self.name)
            if error: return
            sequence = [0, 0]
            while not stop.is_set():
                self.number += 1
                value = [f"{self.name}:{self.number}".encode()]
                answer = client.ask(24, 0, text(self.name) + i64(pid) + i16(epoch) + array([text("x") + array([i32(0), i32(1)])]))
                if answer[-2:] != b"\0\0": return
                for partition in (0, 1):
                    error, _ = client.produce("x", batch(value, pid, epoch, sequence[partition], True), partition=partition, transactional_id=self.name)
                    if error: return
                    sequence[partition] += 1
                commits = rng.random() < 0.7
                if client.ask(26, 0, text(self.name) + i64(pid) + i16(epoch) + i8(commits))[4:6] != b"\0\0": return
                (self.committed if commits else self.aborted).append(self.number)
        except OSError:
            pass


def run_and_kill(directory, workers, rng):
    server = Server(TK, directory)
    stop = threading.Event()
    broken = []
    def guarded(worker, seed):
        try: worker.run(server.kafka_address, random.Random(seed), stop)
        except Failure as failure: broken.append(failure)
    threads = [threading.Thread(target=guarded, args=(w, rng.random())) for w in workers]
    for thread in threads: thread.start()
    time.sleep(0.02 + rng.random() ** 2 * 0.6)
    server.kill()
    stop.set()
    for thread in threads: thread.join()
    if broken: raise broken[0]


def check_records(directory, producers, committer):
    server = Server(TK, directory)  # the next start needs nobody's hands
    committer.check(server)
    server.kill()
    rows = [line.split(" ", 1) for line in tk(directory, "consume", TOPIC, "-f", "%o %s\n")]
    require([int(offset) for offset, _ in rows] == list(range(len(rows))), "offsets are not dense")
    found = {}
    for _, value in rows:
        name, number = value.rstrip(".").split(":")
        found.setdefault(name, []).append(int(number))
    for producer in producers:
        mine = found.get(producer.name, [])
        missing = set(producer.acked) - set(mine)
        require(not missing, f"{producer.name}: acknowledged and not there: {sorted(missing)[:5]}")
        if producer.idempotent: require(mine == list(range(len(mine))), f"{producer.name}: not once, or not in order: {mine[-30:]}")


def check_transactions(directory, transactors):
    server = Server(TK, directory)
    # Whoever begins anew ends what its last life left open.
    for transactor in transactors: require(server.client().init_producer(transactor.name)[0] == 0, "InitProducerId")
    server.kill()
    by_partition = [set(tk(directory, "consume", "x", "-p", str(p), "--isolation", "read_committed", "-f", "%s\n")) for p in (0, 1)]
    require(by_partition[0] == by_partition[1], f"half a transaction: {list(by_partition[0] ^ by_partition[1])[:5]}")
    for transactor in transactors:
        for number in transactor.committed: require(f"{transactor.name}:{number}" in by_partition[0], f"committed and not there: {transactor.name}:{number}")
        for number in transactor.aborted: require(f"{transactor.name}:{number}" not in by_partition[0], f"aborted and there: {transactor.name}:{number}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--txn", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="where the directories are left")
    options = parser.parse_args()
    rng, home = random.Random(options.seed), options.keep or tempfile.mkdtemp(prefix="tk-kill-serve-")
    os.makedirs(home, exist_ok=True)
    passed = failed = 0
    producers = [Producer(f"p{i}", i % 2 == 1) for i in range(4)]
    transactors = [Transactor(f"x{i}") for i in range(3)]
    committer = Committer()
    plain, txn = home + "/plain", home + "/txn"
    for directory, topic, partitions in ((plain, TOPIC, "1"), (txn, "x", "2")):
        tk(directory, "topics", "create", topic, "-p", partitions, "--format", "kafka", "-c", "segment.bytes=100000", "-q")
    for number in range(options.rounds + options.txn):
        try:
            if number < options.rounds:
                run_and_kill(plain, [*producers, committer], rng)
                check_records(plain, producers, committer)
            else:
                run_and_kill(txn, transactors, rng)
                check_transactions(txn, transactors)
            passed += 1
        except Failure as failure:
            failed += 1
            print(f"round {number} (seed {options.seed}): {failure}", flush=True)
    for directory in (plain, txn):
        try:
            tk(directory, "verify")
        except Failure as failure:
            failed += 1
            print(failure)
    acked = sum(len(p.acked) for p in producers)
    print(f"{acked} records and {sum(len(t.committed) for t in transactors)} transactions acknowledged, {committer.acked} commits")
    if not options.keep: shutil.rmtree(home, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
