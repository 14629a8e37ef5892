#!/usr/bin/env python3
"""Damaged partitions against what a real broker made of them: compare_damaged.py TK FIXTURE ASPECT

FIXTURE holds data/ (one damage a partition), cases.json (what was done), outcome.json (what a broker's start without the
clean-shutdown marker did), records/ (what Kafka's consumer read then). damaged_cases.tsv says what verify must name in each
partition and lists the exceptions with their reasons. ASPECT is
  verify    every damage is named with its kind, file and position, and nothing else is; undamaged partitions are good
  truncate  recover --truncate ends with the broker's log end offset and the sizes of its segments
  plain     recover cuts no readable record, with and without --full
  dump      dump-log prints what Kafka's dump tool printed (golden/), but for the exceptions in damaged_dump.tsv
  salvage   recover --salvage keeps every record that was readable before and every one that the broker kept
Prints what falls short; exit 1 if any."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

TK, FIXTURE, ASPECT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
work = tempfile.mkdtemp(prefix="tk-damaged-")
short, compared = [], 0


def table():
    """case: (findings, exception)"""
    rows = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "damaged_cases.tsv"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                case, findings, *exception = line.rstrip("\n").split("\t")
                rows[case] = ([] if findings == "good" else findings.split("; "), exception[0] if exception else "")
    return rows


TABLE = table()


def fails(partition, text):
    short.append(f"{partition}: {text}")


def tk(partition, allowed, *args):
    run = subprocess.run([TK, *args], capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    if run.returncode not in allowed:
        fails(partition, f"exit {run.returncode} of {' '.join(args)}, not one of {allowed}: {run.stderr[-200:]!r}")
    return run.stdout


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
    return identities(tk(partition, (0, 3), "consume", partition, "-J", "-d", directory))


def check_verify(partition, case, outcome):
    expected, exception = TABLE[partition[:-2]]
    code = 3 if any(not finding.startswith("note ") for finding in expected) else 0
    out = tk(partition, (code,), "verify", partition, "--json", "-d", fresh(partition))
    problems = [row for row in map(json.loads, out.splitlines()) if row["type"] == "problem"]
    found = {}
    for p in problems:
        place = "-" if p["position"] is None else p["position"]
        found[f"{p['severity']} {p['kind']} {os.path.basename(p['file'])} {place}"] = p
    for finding in expected:
        if finding not in found:
            fails(partition, f"not named: {finding}; named: {list(found)}")
    for finding, p in found.items():
        if p["severity"] == "damage" and p["kind"] != "offset_checkpoint" and finding not in expected:
            fails(partition, f"named, but not done: {finding}")
    if partition.startswith("ok-") and problems:
        fails(partition, f"undamaged, but {list(found)}")
    if exception.startswith("unseen: "):
        return
    if not expected and not partition.startswith("ok-"):
        fails(partition, "nothing is to be named, and no reason why is given")
    # The batch that was hit is told, be it only as the one that another contradicts.
    for edit in case["edits"]:
        at = edit.get("batch_position")
        if at is not None and not any(at in (p["position"], *p.get("bad_bytes", [])[:1]) or f"byte {at}" in p["message"] for p in problems):
            fails(partition, f"the batch at byte {at} is not named: {list(found)}")


def check_truncate(partition, case, outcome):
    if "log_end_offset" not in outcome:
        fails(partition, "the broker's answer is missing")
        return
    directory = fresh(partition)
    tk(partition, (0, 3), "recover", partition, "--truncate", "-d", directory)
    out = tk(partition, (0, 3), "topics", "describe", partition.rsplit("-", 1)[0], "--json", "-d", directory)
    rows = [json.loads(line) for line in out.splitlines()]
    sizes = {os.path.basename(f): os.path.getsize(f) for f in glob.glob(f"{directory}/{partition}/*.log") if os.path.isfile(f)}
    got = (rows[0].get("log_end_offset") if rows else None, sizes)
    want = (outcome["log_end_offset"], outcome["segments_after"])
    exception = TABLE[partition[:-2]][1].startswith("truncate: ")
    if got != want and not exception:
        fails(partition, f"--truncate ends with {got}, a broker with {want}")
    if got == want and exception:
        fails(partition, "is listed as an exception, but ends as the broker did")


def check_plain(partition, case, outcome):
    for full in ([], ["--full"]):
        directory = fresh(partition)
        before = consumed(partition, directory)
        tk(partition, (0, 3), "recover", partition, *full, "-d", directory)
        lost = before - consumed(partition, directory)
        if lost:
            fails(partition, f"recover {full} cut {len(lost)} readable records")


def check_salvage(partition, case, outcome):
    directory = fresh(partition)
    before = consumed(partition, directory)
    tk(partition, (0, 3), "recover", partition, "--salvage", "--full", "-d", directory)
    after = consumed(partition, directory)
    if not before <= after:
        fails(partition, f"--salvage lost {len(before - after)} readable records")
    with open(f"{FIXTURE}/records/{partition}.ndjson", encoding="utf-8") as f:
        kept = identities(f.read())
    exception = TABLE[partition[:-2]][1].startswith("records: ")
    if not kept <= after and not exception:
        fails(partition, f"--salvage lost {len(kept - after)} records that a broker keeps")
    if kept <= after and exception:
        fails(partition, "is listed as an exception, but has all that the broker kept")


OPTIONS = {"plain": [], "deep": ["--deep-iteration"], "index-sanity": ["--index-sanity-check"], "verify-index": ["--verify-index-only"]}


def dump_exceptions():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "damaged_dump.tsv"), encoding="utf-8") as f:
        return dict(line.rstrip("\n").split("\t") for line in f if not line.startswith("#"))


def follows(rule, got, want):
    """Whether two texts that differ do so as the rule says."""
    if rule == "ends":  # in the middle of a line, too
        return got.startswith(want)
    got, want = got.splitlines(), want.splitlines()
    shown = set(got)
    without = [line for line in want if not line.startswith(b"| ") or line in shown]
    if rule == "records":
        return got == without
    if rule == "records ends":
        return got[:len(without)] == without
    if rule == "magic":
        return got[:len(want) - 1] == want[:-1] and not want[-1].startswith((b"base", b"| "))
    units = [line for line in got if line.startswith(b"baseOffset")]
    same = next(i for i, pair in enumerate(zip(got, want)) if pair[0] != pair[1])
    return rule == "length" and len(units) > len([line for line in want[:same] if line.startswith(b"baseOffset")])


def compare_dump():
    """The number of texts compared."""
    exceptions, texts = dump_exceptions(), sorted(glob.glob(FIXTURE + "/golden/*/*.txt"))
    for text in texts:
        name = os.path.relpath(text, FIXTURE + "/golden")[:-len(".txt")]
        path, option = name.rsplit("__", 1)
        with open(text, "rb") as f:
            want = f.read()
        run = subprocess.run([TK, "dump-log", path, *OPTIONS[option]], capture_output=True, timeout=60, cwd=FIXTURE + "/data")
        rule = exceptions.pop(name, None)
        if run.returncode not in (0, 1, 3):  # 1: an index without its log; 0: zeros at the end
            fails(name, f"exit {run.returncode}")
        if (run.stdout == want) == bool(rule):
            fails(name, f"is listed as an exception ({rule}), but agrees" if rule else "another text")
        elif rule and not follows(rule, run.stdout, want):
            fails(name, f"differs otherwise than the rule '{rule}' has it")
    if exceptions:
        short.append(f"exceptions without a text: {sorted(exceptions)}")
    return len(texts)


if ASPECT == "dump":
    texts = compare_dump()
    for line in short[:15]:
        print(line)
    print(f"{os.path.basename(FIXTURE)} dump: {texts} texts, {len(short)} fall short")
    sys.exit(1 if short or texts != 301 else 0)

check = {"verify": check_verify, "truncate": check_truncate, "plain": check_plain, "salvage": check_salvage}[ASPECT]
try:
    with open(FIXTURE + "/cases.json", encoding="utf-8") as f:
        cases = json.load(f)
    with open(FIXTURE + "/outcome.json", encoding="utf-8") as f:
        outcomes = json.load(f)
    if {name[:-2] for name in cases} != set(TABLE):
        short.append(f"table and fixture differ: {sorted({name[:-2] for name in cases} ^ set(TABLE))}")
    for name, case in cases.items():
        compared += 1
        check(name, case, outcomes[name])
finally:
    shutil.rmtree(work, ignore_errors=True)
for line in short[:15]:
    print(line)
print(f"{os.path.basename(FIXTURE)} {ASPECT}: {compared} partitions, {len(short)} fall short")
sys.exit(1 if short or compared != 159 else 0)
