#!/usr/bin/env python3
"""Random damage to every kind of file of a real broker's directory: random_damage.py TK SECONDS SEED FIXTURE...

Each round copies a directory, damages a file or two (flip, cut, zero, double, swap, junk; sometimes a whole file goes, is
emptied or gets another's content), and runs every command that reads such a directory, and a repair. Each must end by itself
with an exit code that the contract has, within bounded memory, without a sanitizer's report; what consume prints must be
records of the original. Prints what falls short with the seed that repeats it; exit 1 if any."""
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

TK, SECONDS, SEED, FIXTURES = os.path.abspath(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
MEMORY = int(os.environ.get("TK_DAMAGE_MEMORY", str(3 << 30)))  # address space of a command; 0: no limit (sanitizers)
work = tempfile.mkdtemp(prefix="tk-random-")
short, rounds, runs = [], 0, 0


def limit():
    if MEMORY:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def tk(what, *args):
    global runs
    runs += 1
    try:
        run = subprocess.run([TK, *args], capture_output=True, timeout=60, stdin=subprocess.DEVNULL, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        short.append(f"{what}: {' '.join(args[:3])} does not end")
        return b""
    if run.returncode not in (0, 1, 3, 4) or b"Sanitizer" in run.stderr or b"bad_alloc" in run.stderr:
        short.append(f"{what}: exit {run.returncode} of {' '.join(args)}: {run.stderr[-300:]!r}")
    return run.stdout


def identities(text):
    names = ("topic", "offset", "ts", "key", "key_b64", "value", "value_b64", "headers")
    return {json.dumps([row.get(n) for n in names]) for row in map(json.loads, text.splitlines())}


def damage(rnd, data):
    if not data:
        return rnd.randbytes(rnd.choice((1, 8, 12, 34, 100)))
    data = bytearray(data)
    p = rnd.randrange(len(data))
    q = min(len(data), p + rnd.choice((1, 2, 4, 8, 46, 61, 512)))
    kind = rnd.choice(("flip", "cut", "zero", "double", "swap", "junk", "grow"))
    if kind == "flip":
        data[p] ^= 1 << rnd.randrange(8)
    elif kind == "cut":
        del data[p:]
    elif kind == "zero":
        data[p:q] = bytes(q - p)
    elif kind == "double":
        data[q:q] = data[p:q]
    elif kind == "swap":
        data[p:q] = data[p:q][::-1]
    elif kind == "junk":
        data[p:q] = rnd.randbytes(q - p)
    else:
        data += rnd.choice((bytes(1000), rnd.randbytes(100), bytes(data[:100])))
    return bytes(data)


class Source:
    """A directory, its files by kind, and the records of the topics that are looked at."""

    def __init__(self, fixture):
        self.path = fixture + "/data"
        self.files = {}
        for root, _, names in os.walk(self.path):
            for name in names:
                path = os.path.relpath(os.path.join(root, name), self.path)
                if os.path.getsize(f"{self.path}/{path}") <= 1 << 20:
                    kind = name.rsplit(".", 1)[-1] if "." in name[1:] and name[0].isdigit() else name
                    if path.startswith("__"):
                        kind = path.split("/")[0].rsplit("-", 1)[0] + "/" + kind
                    self.files.setdefault(kind, []).append(path)
        self.topics = {}

    def good(self, topic):
        if topic not in self.topics:
            self.topics[topic] = identities(tk("original", "consume", topic, "-J", "-d", self.path))
        return self.topics[topic]


def one_round(number):
    rnd = random.Random(f"{SEED} {number}")
    source = sources[rnd.randrange(len(sources))]
    kinds = sorted(source.files)
    hit = [rnd.choice(sorted(source.files[rnd.choice(kinds)])) for _ in range(rnd.choice((1, 1, 1, 2, 3)))]
    target = work + "/data"
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    # Only the partitions that are hit, one more, and the internal ones: quick to copy.
    wanted = {path.split("/")[0] for path in hit}
    for name in os.listdir(source.path):
        path = f"{source.path}/{name}"
        if os.path.isfile(path):
            shutil.copy(path, target)
        elif name in wanted or (name.startswith("__") and rnd.random() < 0.5):
            shutil.copytree(path, f"{target}/{name}", copy_function=copy_sparse)
    for path in hit:
        with open(f"{target}/{path}", "rb") as f:
            data = f.read()
        way = rnd.random()
        if way < 0.04:
            os.remove(f"{target}/{path}")
            continue
        if way < 0.08:
            data = b""
        elif way < 0.12:
            with open(f"{source.path}/{rnd.choice(sorted(source.files[rnd.choice(kinds)]))}", "rb") as f:
                data = f.read()
        else:
            for _ in range(rnd.choice((1, 1, 2, 5))):
                data = damage(rnd, data)
        os.chmod(f"{target}/{path}", 0o644)
        with open(f"{target}/{path}", "wb") as f:
            f.write(data)
    what = f"seed {SEED} round {number} ({', '.join(hit)})"
    tk(what, "verify", target, "--json")
    tk(what, "dump-log", target, "--json", "--print-data-log")
    tk(what, "recover", target, "--as-broker", "--dry-run", "--json")
    tk(what, "recover", target, "--dry-run", "--full", "--json")
    for path in hit:
        tk(what, "dump-log", f"{target}/{path}", "--cluster-metadata-decoder" if "__cluster" in path else "--offsets-decoder")
    tk(what, "topics", "describe", "--json", "-d", target)
    tk(what, "topics", "describe", "--configs", "--json", "-d", target)
    tk(what, "groups", "list", "--json", "-d", target)
    tk(what, "txn", "list", "--json", "-d", target)
    for directory in sorted(wanted):
        topic = directory.rsplit("-", 1)[0]
        if not os.path.isdir(f"{target}/{directory}") or directory.startswith("__") or "." in directory.rsplit("-", 1)[-1]:
            continue
        for repair in (None, "--salvage"):
            if repair:
                tk(what, "recover", f"{target}/{directory}", repair, "--full")
            false = identities(tk(what, "consume", topic, "-J", "-d", target)) - source.good(topic)
            if false:
                short.append(f"{what}: {len(false)} false records {'after ' + repair if repair else ''}: {sorted(false)[0][:200]}")
                break


def copy_sparse(source, target):
    subprocess.run(["cp", "--sparse=always", source, target], check=True)


try:
    sources = [Source(os.path.abspath(f)) for f in FIXTURES]
    until = time.time() + SECONDS
    first = int(os.environ.get("TK_DAMAGE_ROUND", "0"))
    while time.time() < until and len(short) < 20:
        one_round(first + rounds)
        rounds += 1
        if "TK_DAMAGE_ROUND" in os.environ:
            break
finally:
    shutil.rmtree(work, ignore_errors=True)
for line in short[:15]:
    print(line)
print(f"random damage: {rounds} rounds, {runs} commands, {len(short)} fall short")
sys.exit(1 if short or not rounds else 0)
