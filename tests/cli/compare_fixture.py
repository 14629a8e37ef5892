#!/usr/bin/env python3
"""One real broker directory against what the broker's own tools said of it: compare_fixture.py TK FIXTURE ASPECT

FIXTURE is an unpacked folder: data*/ as a broker left it, records/ what Kafka's consumer read, offsets.json, golden/ the
text of the real dump tool. ASPECT is records, offsets, dump or unchanged. Prints the first differences; exit 1 if any."""
import base64
import glob
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys

TK, FIXTURE, ASPECT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
NAME = os.path.basename(FIXTURE)
OPTIONS = {"plain": [], "print": ["--print-data-log"], "deep": ["--deep-iteration"],
           "index-sanity": ["--index-sanity-check"], "verify-index": ["--verify-index-only"],
           "offsets-decoder": ["--offsets-decoder"], "transaction-log-decoder": ["--transaction-log-decoder"],
           "cluster-metadata-decoder": ["--cluster-metadata-decoder"], "share-group-state-decoder": ["--share-group-state-decoder"],
           "skip-record-metadata": ["--print-data-log", "--skip-record-metadata"],
           "offsets-decoder-skip-record-metadata": ["--offsets-decoder", "--skip-record-metadata"],
           "wrong-cluster-metadata-decoder": ["--cluster-metadata-decoder"]}
# The recorded answers are of a broker that was started again and added markers before anybody read.
NOT_COMPARABLE = {"kafka-4.4-killed": {"txn-0", "txn-1"}}.get(NAME, set())
checked, differences = 0, []


def tk(*args, cwd=None):
    run = subprocess.run([TK, *args], capture_output=True, timeout=60, cwd=cwd, stdin=subprocess.DEVNULL)
    return run.returncode, run.stdout, run.stderr.decode("utf-8", "replace")


def check(what, got, want):
    global checked
    checked += 1
    if got != want:
        if isinstance(got, list) and isinstance(want, list):
            pair = next(((i, g, w) for i, (g, w) in enumerate(zip(got, want)) if g != w), "a prefix")
            got, want = f"{len(got)} rows", f"{len(want)} rows; first difference {pair}"
        differences.append(f"{what}: got {got}, expected {want}"[:600])


def data_directories():
    return [d for d in sorted(os.listdir(FIXTURE)) if d.startswith("data") and "before" not in d and "controller" not in d]


def partitions(directory):
    return {n for n in os.listdir(directory) if os.path.isdir(f"{directory}/{n}") and re.search(r"-\d+$", n)}


def places(wanted):
    """Where a partition lies; a name with ~ stands for one too long for a file name."""
    for d in data_directories():
        directory = f"{FIXTURE}/{d}"
        for n in sorted(partitions(directory)):
            if n == wanted or "~" in wanted and n.startswith(wanted.split("~")[0]) and n.endswith(wanted[wanted.rindex("-"):]):
                yield directory, n


def content(row, name):
    if row.get(name + "_b64") is not None:
        return base64.b64decode(row[name + "_b64"])
    return None if row.get(name) is None else row[name].encode()


def flat(row):
    headers = [(n, None if v is None else base64.b64decode(v["b64"]) if isinstance(v, dict) else v.encode())
               for n, v in row.get("headers") or []]
    return (row["topic"], row["partition"], row["offset"], row["ts"], content(row, "key"), content(row, "value"), headers)


def lines(text):
    return [flat(json.loads(line)) for line in text.splitlines() if line.strip()]


def compare_records():
    for file in sorted(glob.glob(FIXTURE + "/records/*.ndjson")):
        name = os.path.basename(file)[:-len(".ndjson")]
        committed = name.endswith(".committed")
        partition = name[:-len(".committed")] if committed else name
        if partition.startswith("__") or partition in NOT_COMPARABLE:
            continue
        with open(file, "rb") as f:
            want = (0, lines(f.read()))
        isolation = ["--isolation", "read_committed"] if committed else []

        def read():
            for directory, n in places(partition):
                code, out, _ = tk("consume", n, "-J", *isolation, "-d", directory)
                yield code, lines(out)

        tries = list(read())
        agreed = next((t for t in tries if t == want), tries[-1] if tries else (None, []))
        check(f"{name}: exit code", agreed[0], 0)
        check(f"{name}: records", agreed[1], want[1])


def compare_offsets():
    with open(FIXTURE + "/offsets.json") as f:
        offsets = json.load(f)
    for partition, o in offsets.items():
        if partition.startswith("__") or not isinstance(o, dict) or partition in NOT_COMPARABLE:
            continue
        want = [o.get("earliest"), o.get("latest"), o.get("latest_committed")]

        def read():
            for directory, n in places(partition):
                topic, number = n.rsplit("-", 1)
                _, out, _ = tk("topics", "describe", topic, "--json", "-d", directory)
                row = next((r for r in map(json.loads, out.splitlines()) if r.get("partition") == int(number)), {})
                stable = row.get("last_stable_offset") if want[2] is not None else None
                yield [row.get("log_start_offset"), row.get("log_end_offset"), stable]

        tries = list(read())
        if tries:
            check(f"{partition}: start, end, last stable offset", next((t for t in tries if t == want), tries[-1]), want)


def goldens(directory):
    """(path below the data directory, option, expected text) of every recorded run of the dump tool."""
    base = f"{FIXTURE}/golden/{os.path.basename(directory)}"
    if not os.path.isdir(base):
        base = f"{FIXTURE}/golden" if len(data_directories()) == 1 else None
    if not base:
        return
    for file in sorted(glob.glob(base + "/**/*.txt", recursive=True) + glob.glob(base + "/**/*.txt.gz", recursive=True)):
        path, _, option = re.sub(r"\.txt(\.gz)?$", "", os.path.relpath(file, base)).rpartition("__")
        if "~" in path:
            path = next((n for n in partitions(directory) if n.startswith(path.split("~")[0])), "?") + "/" + os.path.basename(path)
        if option in OPTIONS and os.path.exists(f"{directory}/{path}"):
            with (gzip.open if file.endswith(".gz") else open)(file, "rb") as f:
                yield path, option, f.read()


def compare_dump():
    for d in data_directories():
        directory = f"{FIXTURE}/{d}"
        for path, option, want in goldens(directory):
            _, got, err = tk("dump-log", path, *OPTIONS[option], cwd=directory)
            if got == want:
                check(path, True, True)
            else:
                check(f"{path} {option} (stderr {err[:80]!r})", got.split(b"\n"), want.split(b"\n"))


def digest(directory):
    h = hashlib.sha256()
    for root, folders, files in os.walk(directory):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(root, name)
            with open(path, "rb") as f:
                h.update(f"{path} {os.stat(path).st_mtime_ns} ".encode() + f.read())
        h.update(str(sorted(folders)).encode())
    return h.hexdigest()


def compare_unchanged():
    """Looking changes nothing, not even a modification time."""
    for d in data_directories():
        directory = f"{FIXTURE}/{d}"
        before = digest(directory)
        tk("topics", "list", "-d", directory)
        tk("topics", "describe", "-d", directory)
        tk("verify", directory)
        tk("recover", directory, "--dry-run", "--full")
        for n in sorted(partitions(directory)):
            tk("consume", n, "-J", "-d", directory)
            tk("dump-log", f"{directory}/{n}")
        check(f"{d}: digest", digest(directory), before)


{"records": compare_records, "offsets": compare_offsets, "dump": compare_dump, "unchanged": compare_unchanged}[ASPECT]()
for line in differences[:5]:
    print(line)
print(f"{NAME} {ASPECT}: {checked} compared, {len(differences)} differ")
sys.exit(1 if differences or not checked else 0)
