#!/usr/bin/env python3
"""What `recover --as-broker --dry-run` says against what a broker did: compare_starts.py TK DAMAGED ALONE

The two are the unpacked fixtures kafka-4.4-damaged and kafka-4.4-damaged-alone; broker_starts.tsv holds the broker's side.
Prints what falls short; exit 1 if any."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

TK, DAMAGED, ALONE = (os.path.abspath(a) for a in sys.argv[1:4])
work = tempfile.mkdtemp(prefix="tk-starts-")
short, compared = [], 0


def directory_of(case):
    """A log directory with the case's partition alone (and what lies beside it)."""
    alone = os.path.isdir(f"{ALONE}/{case}")
    source = f"{ALONE}/{case}/data" if alone else f"{DAMAGED}/data"
    target = work + "/copy"
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    for name in os.listdir(source):
        path = f"{source}/{name}"
        if os.path.isfile(path):
            shutil.copy2(path, target)
        elif name == f"{case}-0" or alone:
            shutil.copytree(path, f"{target}/{name}")
    return target


def rows(directory):
    run = subprocess.run([TK, "recover", "--as-broker", "--dry-run", "--json", "-d", directory], capture_output=True, timeout=60)
    if run.returncode not in (0, 3):
        short.append(f"exit {run.returncode}: {run.stderr[-200:]!r}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def expected():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "broker_starts.tsv"), encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#"):
                yield line.rstrip("\n").split("\t")


try:
    for case, marker, starts, end, start, stray, segments, *exception in expected():
        compared += 1
        directory = directory_of(case)
        if marker == "yes":
            open(directory + "/.kafka_cleanshutdown", "w").close()
        found = [r for r in rows(directory) if r["partition"] == f"{case}-0" and r["marker"] == (marker == "yes")]
        if len(found) != 1:
            short.append(f"{case}, marker {marker}: {len(found)} rows")
            continue
        row = found[0]
        got = ["yes" if row["starts"] else "no", "-", "-", "-", "-"]
        if row["starts"]:
            kept = ",".join(f"{base}:{size}" for base, size in sorted(row["segments"])) or "-"
            got = ["yes", str(row["log_end_offset"]), str(row["log_start_offset"]), "stray" if row["stray"] else "-", kept]
        want = [starts, end, start, stray if starts == "yes" else "-", segments]
        if exception:
            if got == want:
                short.append(f"{case}, marker {marker}: is listed as an exception, but agrees")
        elif got != want:
            short.append(f"{case}, marker {marker}: {got}, the broker {want}; {row['reason']}")
        elif row["starts"] and row["cut_bytes"] > 0 and not row["reason"]:
            short.append(f"{case}, marker {marker}: {row['cut_bytes']} bytes cut without a reason")
finally:
    shutil.rmtree(work, ignore_errors=True)
for line in short[:15]:
    print(line)
print(f"starts: {compared} compared, {len(short)} fall short")
sys.exit(1 if short or compared != 372 else 0)
