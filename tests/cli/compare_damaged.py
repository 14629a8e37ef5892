#!/usr/bin/env python3
"""Damaged partitions against what a real broker made of them: compare_damaged.py TK FIXTURE ASPECT

FIXTURE holds data/ (one damage a partition), outcome.json (what a broker's start without the clean-shutdown marker did),
records/ (what Kafka's consumer read then). ASPECT is verify, truncate or salvage. Prints what falls short; exit 1 if any."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

TK, FIXTURE, ASPECT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
# Nothing is wrong with the partition itself: a note at most.
FINE = ("ok-", "left-deleted", "left-tmp", "foreign-", "root-foreign", "left-cleaned", "left-swap-index-only", "ext-next")
# Altered values under a right checksum contradict nothing on disk; what is wrong with producer snapshots alone is not
# checked yet.
UNSEEN = ("comp-snappy-fixed", "comp-zstd-fixed", "snap-stray", "snap-last-missing")
# The broker's answer depends on its recovery point, or on state that an offline truncation does not follow.
NOT_COMPARABLE = ("rp-", "logstart-", "left-swap", "left-cleaned-swap", "base-overflow", "foreign-short-name", "seg-name",
                  "seg-dup", "ext-lower-offset")
work = tempfile.mkdtemp(prefix="tk-damaged-")
short, compared = [], 0


def tk(*args):
    run = subprocess.run([TK, *args], capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    if run.returncode not in (0, 1, 3, 4):
        short.append(f"exit {run.returncode} of {' '.join(args)}: {run.stderr[-200:]!r}")
    return run.returncode, run.stdout


def fresh(partition):
    """A copy of one partition with the files of its log directory."""
    target = work + "/copy"
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    for f in glob.glob(FIXTURE + "/data/*") + glob.glob(FIXTURE + "/data/.*"):
        if os.path.isfile(f):
            shutil.copy2(f, target)
    shutil.copytree(f"{FIXTURE}/data/{partition}", f"{target}/{partition}")
    return target


def identities(text):
    """Records without their topic, as comparable texts."""
    names = ("offset", "ts", "key", "key_b64", "value", "value_b64", "headers")
    return {json.dumps([row.get(n) for n in names]) for row in map(json.loads, text.splitlines())}


def consumed(partition, directory):
    return identities(tk("consume", partition, "-J", "-d", directory)[1])


def check_verify(partition, _):
    code, out = tk("verify", partition, "-d", fresh(partition))
    if partition.startswith("ok-") and code != 0:
        short.append(f"{partition} is called damaged: {out[:200]!r}")
    if not partition.startswith(FINE + UNSEEN) and code != 3:
        short.append(f"{partition}: verify exit {code}, expected 3")


def check_truncate(partition, outcome):
    want = outcome.get("log_end_offset")
    if want is None or partition.startswith(NOT_COMPARABLE):
        return
    directory = fresh(partition)
    tk("recover", partition, "--truncate", "--full", "-d", directory)
    _, out = tk("topics", "describe", partition.rsplit("-", 1)[0], "--json", "-d", directory)
    rows = [json.loads(line) for line in out.splitlines()]
    got = rows[0].get("log_end_offset") if rows else None
    if got != want:
        short.append(f"{partition}: --truncate ends at {got}, a broker at {want}")


def check_salvage(partition, outcome):
    directory = fresh(partition)
    before = consumed(partition, directory)
    tk("recover", partition, "--salvage", "--full", "-d", directory)
    after = consumed(partition, directory)
    if not before <= after:
        short.append(f"{partition}: --salvage lost {len(before - after)} readable records")
    file = f"{FIXTURE}/records/{partition}.ndjson"
    # A good checksum over a bad body (-fixed): Kafka hands out the records before the fault, tk none of that batch.
    if os.path.exists(file) and outcome.get("consumer", {}).get("as_written", True) and not partition[:-2].endswith("-fixed"):
        with open(file, encoding="utf-8") as f:
            kept = identities(f.read())
        if not kept <= after:
            short.append(f"{partition}: --salvage lost {len(kept - after)} records that a broker keeps")


check = {"verify": check_verify, "truncate": check_truncate, "salvage": check_salvage}[ASPECT]
try:
    with open(FIXTURE + "/cases.json") as f:
        cases = json.load(f)
    with open(FIXTURE + "/outcome.json") as f:
        outcomes = json.load(f)
    for case in cases:
        if os.path.isdir(f"{FIXTURE}/data/{case}"):
            compared += 1
            outcome = outcomes.get(case)
            check(case, outcome if isinstance(outcome, dict) else {})
finally:
    shutil.rmtree(work, ignore_errors=True)
for line in short[:15]:
    print(line)
print(f"{os.path.basename(FIXTURE)} {ASPECT}: {compared} partitions, {len(short)} fall short")
sys.exit(1 if short or not compared else 0)
