#!/usr/bin/env python3
"""Kills members of a consumer group at random moments while a producer runs, and looks at what was printed.

    kill_group.py [--seconds S] [--members N] [--partitions P] [--seed N] [--format json|kafka]

Every record must be printed at least once, in order within each process; a record that is printed again was printed
before by a process that was killed, at or above what was committed when it was killed; nobody hangs, and no temporary
file is left. The executable is $TK, else build/release/tk. The last line is `N passed, N failed`.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time

PROJECT = pathlib.Path(__file__).resolve().parents[2]
TK = os.environ.get("TK", str(PROJECT / "build/release/tk"))
SESSION_MS = 1000


class Member:
    """A `consume -g` process with what it has printed, as (partition, offset) in order."""

    def __init__(self, directory, rng):
        self.killed = False
        self.printed = []
        self.end = None
        arguments = ["--session-timeout", str(SESSION_MS), "--heartbeat-ms", "200", "-f", "%p %o %s\\n"]
        if rng.random() < 0.7:
            arguments += ["--commit", f"every={rng.choice([200, 1000])}"]
        self.process = subprocess.Popen(
            [TK, "-d", directory, "consume", "t", "-g", "g", "-F", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            if line.endswith(b"\n"):
                partition, offset, value = line.split(b" ", 2)
                self.printed.append((int(partition), int(offset), value.rstrip(b"\n")))
        self.error = self.process.stderr.read().decode()

    def stop(self, how):
        self.killed = how == signal.SIGKILL
        self.process.send_signal(how)
        self.process.wait(20)
        self.reader.join(20)


def committed(directory):
    try:
        with open(os.path.join(directory, "group-g.json")) as file:
            offsets = json.load(file)["offsets"].get("t", {})
    except FileNotFoundError:
        return {}
    return {int(p): o["offset"] for p, o in offsets.items()}


def produce(directory, seconds, partitions, counts, stop):
    """Batches of numbered lines to random partitions; counts[p] is what was acknowledged."""
    rng = random.Random(7)
    deadline = time.time() + seconds
    while time.time() < deadline and not stop.is_set():
        p, n = rng.randrange(partitions), rng.choice([1, 20, 400])
        lines = "".join(f"{p}-{counts[p] + i}\n" for i in range(n))
        subprocess.run([TK, "-d", directory, "produce", "t", "-p", str(p), "-q"], input=lines.encode(), check=True)
        counts[p] += n
        time.sleep(rng.random() * 0.02)


def run(args):
    rng = random.Random(args.seed)
    failures, checks = [], 0
    directory = tempfile.mkdtemp(prefix="tk-group-")
    subprocess.run([TK, "-d", directory, "topics", "create", "t", "-p", str(args.partitions), "--format", args.format,
                    "-c", "segment.bytes=50000", "-q"], check=True)
    counts = [0] * args.partitions
    stop = threading.Event()
    producer = threading.Thread(target=produce, args=(directory, args.seconds, args.partitions, counts, stop))
    producer.start()
    members = [Member(directory, rng) for _ in range(args.members)]
    running, kills = list(members), 0
    deadline = time.time() + args.seconds
    while time.time() < deadline:
        time.sleep(rng.random() * 0.6)
        victim = rng.choice(running)
        running.remove(victim)
        how = signal.SIGKILL if rng.random() < 0.8 else signal.SIGTERM
        victim.stop(how)
        kills += victim.killed
        victim.at_kill = committed(directory)
        fresh = Member(directory, rng)
        members.append(fresh)
        running.append(fresh)
    producer.join()
    # The rest is read to the end: what killed members held is free once their sessions are over.
    def seen():
        return {(p, o) for m in members for p, o, _ in list(m.printed)}
    everything = {(p, o) for p in range(args.partitions) for o in range(counts[p])}
    give_up = time.time() + 30
    def settled():
        ends = committed(directory)
        kept = {(p, o) for m in members if not m.killed for p, o, _ in list(m.printed)}
        return all(at in kept or at[1] < ends.get(at[0], 0) for at in everything)
    while time.time() < give_up and not settled():
        time.sleep(0.2)
    for member in running:
        member.stop(signal.SIGTERM)

    def check(what, good, detail=""):
        nonlocal checks
        checks += 1
        if not good:
            failures.append(f"{what}: {detail}")

    missing = sorted(everything - seen())
    check("every record is printed", not missing, f"{len(missing)} missing, first {missing[:5]}")
    extra = sorted(seen() - everything)
    check("nothing else is printed", not extra, extra[:5])
    wrong = [(p, o, v) for m in members for p, o, v in m.printed if v != f"{p}-{o}".encode()]
    check("values belong to their offsets", not wrong, wrong[:3])
    by = collections.defaultdict(list)
    for number, member in enumerate(members):
        last = {}
        for p, o, _ in member.printed:
            by[p, o].append(number)
            if p in last and o <= last[p] and not member.killed:
                failures.append(f"member {number} printed {p}-{o} behind {p}-{last[p]}")
            last[p] = o
    checks += 1
    repeated = {at: who for at, who in by.items() if len(who) > 1}
    kept = [(at, who) for at, who in repeated.items() if not any(members[n].killed for n in who)]
    check("only what a killed member printed is printed again", not kept, kept[:5])
    early = [(at, n) for at, who in repeated.items() for n in who[:-1]
             if members[n].killed and at[1] < members[n].at_kill.get(at[0], 0)
             and not any(members[m].killed and at[1] >= members[m].at_kill.get(at[0], 0) for m in who)]
    check("nothing is repeated that was committed before the kill", not early, early[:5])
    # On a busy machine a signal may come before the process has said how it takes it.
    def ends(member):
        return (-9,) if member.killed else (0, 143) if member.printed else (0, 143, -15)
    bad = [(n, m.process.returncode, m.error) for n, m in enumerate(members)
           if m.process.returncode not in ends(m) or "error" in m.error]
    check("members end well", not bad, bad[:3])
    left = [name for name in os.listdir(directory) if ".tmp" in name]
    check("no temporary file is left", not left, left)
    ends = committed(directory)
    behind = [(p, ends.get(p), counts[p]) for p in range(args.partitions) if ends.get(p, 0) != counts[p]]
    check("all is committed in the end", not behind, behind[:5])
    for failure in failures:
        print("FAILED", failure)
    print(f"{sum(counts)} records, {kills} kills, {len(members)} members, {len(repeated)} records printed again")
    if failures:
        print(f"kept for a look: {directory}")
    else:
        shutil.rmtree(directory)
    print(f"{checks - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=15)
    options.add_argument("--members", type=int, default=8)
    options.add_argument("--partitions", type=int, default=12)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--format", default="json")
    raise SystemExit(run(options.parse_args()))
