#!/usr/bin/env python3
"""Kills `tk produce --producer` and `tk txn` at random moments and reruns them.

    kill_named.py [--rounds N] [--seed S] [--seconds S]

Idempotence: a named producer with random settings is killed with SIGKILL again and again while it pipes the same input;
other writers append meanwhile, and sometimes the end of a segment is torn. After the last, whole run the topic must hold
every line of the input once, in order within its partition. A round is one kill.
Transactions: every fourth log instead copies records from one topic to another in transactions that carry the group's
offset, with every command killed at random; read_committed must then show each record once, and nothing else.
The executable is $TK, else build/release/tk. The last line is `N passed, N failed`.
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROJECT = pathlib.Path(__file__).resolve().parents[2]
TK = os.environ.get("TK", str(PROJECT / "build/release/tk"))
KILLS_PER_LOG = 20
KILLED = []


class Failure(Exception):
    pass


def run(directory, *arguments, stdin=b"", code=0):
    result = subprocess.run([TK, "-d", directory, *arguments], input=stdin, capture_output=True, timeout=60)
    if result.returncode != code:
        raise Failure(f"tk {' '.join(arguments)} ended with {result.returncode}: {result.stderr.decode()[:600]}")
    return result.stdout


def kill(directory, rng, longest, *arguments, stdin=b""):
    """Runs a command and kills it after a random time. True if it ended before, and well."""
    process = subprocess.Popen([TK, "-d", directory, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        _, error = process.communicate(stdin, timeout=rng.random() ** 2 * longest)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        KILLED.append(arguments[0])
        return False
    if process.returncode != 0:
        raise Failure(f"tk {' '.join(arguments)} ended with {process.returncode}: {error.decode()[:600]}")
    return True


def tear(directory, rng):
    """Cuts off a little of the last segment of some partition, as a torn write leaves it; never a marker's worth."""
    logs = sorted(pathlib.Path(directory).glob("t-*/*.log"))
    partition = rng.choice(sorted({log.parent for log in logs})) if logs else None
    if partition is None:
        return
    last = max(partition.glob("*.log"))
    size = last.stat().st_size
    index = last.with_suffix(".index")
    if size > 100 and not (index.exists() and index.stat().st_size):
        os.truncate(last, size - rng.randrange(1, 40))


def idempotence(rng, rounds):
    directory = tempfile.mkdtemp(prefix="tk-named-")
    partitions = rng.choice([1, 2, 5])
    run(directory, "topics", "create", "t", "-q", "-p", str(partitions), "--format", rng.choice(["json", "kafka"]),
        "-c", f"segment.bytes={rng.choice([3000, 50000, 1000000])}", "-c", f"index.interval.bytes={rng.choice([100, 4096])}")
    keyed = rng.random() < 0.5
    lines = [b"%d%s%s" % (i, b":" if keyed else b" ", b"x" * (i * 7 % rng.choice([10, 90, 300]))) for i in range(rng.choice([300, 20000]))]
    source = os.path.join(directory, "..", os.path.basename(directory) + ".in")
    with open(source, "wb") as file:
        file.write(b"\n".join(lines) + b"\n")
    strangers = 0
    try:
        for _ in range(rounds):
            arguments = ["produce", "t", "--producer", "p", "-q", "--batch-size", str(rng.choice([1, 500, 16384])),
                         "--sync", rng.choice(["end", "batch", "none"])]
            kill(directory, rng, 0.15, *arguments, *(["-K", ":"] if keyed else []), source)
            if rng.random() < 0.3:
                tear(directory, rng)
            if rng.random() < 0.3:
                run(directory, "produce", "t", "-q", stdin=b"stranger\n" * 3)
                strangers += 3
        for _ in range(2):
            run(directory, "produce", "t", "--producer", "p", "-q", *(["-K", ":"] if keyed else []), source)
        got = []
        for partition in range(partitions):
            values = run(directory, "consume", f"t-{partition}", *(["-K", ":"] if keyed else [])).splitlines()
            values = [value for value in values if not value.endswith(b"stranger")]
            numbers = [int(value.split(b":" if keyed else b" ")[0]) for value in values]
            if numbers != sorted(set(numbers)):
                raise Failure(f"partition {partition} repeats or turns records round")
            got += values
        if sorted(got) != sorted(lines):
            raise Failure(f"{len(got)} records for {len(lines)} lines")
        run(directory, "verify")
    finally:
        os.remove(source)
    return directory


def transactions(rng, rounds):
    """Read, process, write: the copy of a topic by a worker that is killed all the time."""
    directory = tempfile.mkdtemp(prefix="tk-named-")
    format = rng.choice(["json", "kafka"])
    for topic in "in", "t":
        run(directory, "topics", "create", topic, "-q", "-p", "1" if topic == "in" else "2", "--format", format,
            "-c", f"segment.bytes={rng.choice([2000, 100000])}", "-c", "index.interval.bytes=100")
    count = rounds * 10
    run(directory, "produce", "in", "-q", stdin=b"".join(b"%d\n" % i for i in range(count)))

    def committed():
        rows = run(directory, "groups", "list", "--json")
        if b'"g"' not in rows:
            return 0
        row = run(directory, "groups", "describe", "g", "--json").decode()
        return int(row.split('"committed":')[1].split(",")[0])

    kills = 0
    while kills < rounds:
        if not kill(directory, rng, 0.05, "txn", "begin", "copy"):
            kills += 1
            continue
        at = committed()
        if at == count:
            break
        batch = run(directory, "consume", "in", "-o", str(at), "-n", str(rng.randrange(1, 30)))
        if not kill(directory, rng, 0.05, "produce", "t", "--txn", "copy", "-q", stdin=batch):
            kills += 1
            continue
        done = at + batch.count(b"\n")
        if not kill(directory, rng, 0.05, "txn", "commit", "copy", "--group", "g", "--offset", f"in-0={done}"):
            kills += 1
    while committed() < count:
        run(directory, "txn", "begin", "copy")
        at = committed()
        batch = run(directory, "consume", "in", "-o", str(at), "-n", "200")
        run(directory, "produce", "t", "--txn", "copy", "-q", stdin=batch)
        run(directory, "txn", "commit", "copy", "--group", "g", "--offset", f"in-0={at + len(batch.splitlines())}")
    run(directory, "txn", "expire", "--at", "2100-01-01T00:00:00Z")
    shown = sorted(int(value) for value in run(directory, "consume", "t", "--isolation", "read_committed").split())
    if shown != list(range(count)):
        raise Failure(f"{len(shown)} records are shown of {count}, {len(set(shown))} of them different")
    left = [line for line in run(directory, "txn", "list", "--json").splitlines() if b'"first_offset"' in line]
    if left:
        raise Failure(f"still open: {left[:3]}")
    run(directory, "verify")
    return directory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--seconds", type=float, help="end after this time")
    options = parser.parse_args()
    began = time.monotonic()
    passed = failed = number = 0
    while passed + failed < options.rounds and not (options.seconds and time.monotonic() - began > options.seconds):
        rng = random.Random(f"{options.seed}.{number}")
        rounds = min(KILLS_PER_LOG, options.rounds - passed - failed)
        try:
            shutil.rmtree((transactions if number % 4 == 3 else idempotence)(rng, rounds))
            passed += rounds
        except (Failure, subprocess.TimeoutExpired) as failure:
            failed += rounds
            print(f"failed: log {number} of seed {options.seed}: {failure}")
        number += 1
    print(f"{number} logs, {len(KILLED)} commands killed before their end, seed {options.seed}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
