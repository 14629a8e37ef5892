"""tk and Kafka's own storage engine on the same files: each reads what the other wrote, the indexes are the same bytes,
and after damage both come to the same end; tk's assignors and Kafka's on the same groups. Run by
scripts/interop-kafka.sh; the last line is `N passed, N failed`."""
import json
import os
import random
import shutil
import sys
import tempfile
import time

import ageing
import assignors
import transactions
from partners import Kafka, flat, segments, tk, tk_records, tk_rows
from specs import CODECS, START, expected, random_spec, written_by_tk

SECONDS = float(os.environ.get("TK_INTEROP_SECONDS", "120"))
# The same logs each time, and no more on a fast machine than on a slow one, so that a failure can be repeated. By hand:
# TK_INTEROP_SEED=$RANDOM TK_INTEROP_LOGS=100000 TK_INTEROP_SECONDS=3600.
SEED = int(os.environ.get("TK_INTEROP_SEED", "20261129"))
LOGS = int(os.environ.get("TK_INTEROP_LOGS", "400"))
NOW = START + 10**6
SEGMENT_BYTES = 20000

work = tempfile.mkdtemp(prefix="tk-interop-")
kafka = Kafka()
passed, failed = 0, 0


def check(name, good, detail=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"failed: {name}: {str(detail)[:400]}")
    return bool(good)


def path(name):
    return os.path.join(work, name)


def copy(directory, name):
    shutil.rmtree(path(name), ignore_errors=True)
    return shutil.copytree(directory, path(name))


def first_difference(got, want):
    """A short account of how two lists differ, empty if they do not."""
    if got == want:
        return ""
    pair = next(((g, w) for g, w in zip(got, want) if g != w), None)
    return f"{len(got)} rows, expected {len(want)}; first difference: {pair}"


# What tk writes.

def produce(directory, rows, interval, runs, codecs):
    """Writes rows to topic t of a new directory in some runs, a codec after the other; the error text, or ''."""
    code, _, err = tk("topics", "create", "t", "--format", "kafka", "-c", f"segment.bytes={SEGMENT_BYTES}",
                      "-c", f"index.interval.bytes={interval}", "-d", directory)
    if code:
        return err or f"exit {code}"
    step = -(-len(rows) // runs)
    for run in range(runs):
        part = rows[run * step:(run + 1) * step]
        text = "".join(json.dumps(r) + "\n" for r in part)
        code, _, err = tk("produce", "t", "-q", "-i", "json", "--batch-size", "700", "--compression", codecs[run % len(codecs)],
                          "-d", directory, stdin=text)
        if code:
            return err or f"exit {code}"
    return ""


def entries(file, size):
    """The entries of an index file, without the zeros a preallocated one ends in."""
    if not os.path.exists(file):
        return []
    with open(file, "rb") as f:
        data = f.read()
    rows = [data[i:i + size] for i in range(0, len(data), size)]
    while rows and not any(rows[-1]):
        rows.pop()
    return rows


def check_indexes(name, directory, interval):
    """tk's index files against those Kafka makes from nothing but the .log files."""
    rebuilt = copy(directory, "rebuilt")
    for f in os.listdir(rebuilt + "/t-0"):
        if f.endswith(("index", ".snapshot")):
            os.remove(f"{rebuilt}/t-0/{f}")
    answer = kafka.last("load", f"{rebuilt}/t-0", f"now={NOW}", f"index.interval.bytes={interval}", f"internal.segment.bytes={SEGMENT_BYTES}")
    if not check(f"{name}: Kafka rebuilds the indexes", "error" not in answer, answer):
        return
    logs = [os.path.basename(f)[:-4] for f in segments(directory + "/t-0")]
    for kind, size in ((".index", 8), (".timeindex", 12)):
        wrong = ""
        for base in logs:
            mine = entries(f"{directory}/t-0/{base}{kind}", size)
            theirs = entries(f"{rebuilt}/t-0/{base}{kind}", size)
            # The end of a recovery adds a last time entry; the active segment of a log in use need not have it.
            ends = [theirs, theirs[:-1]] if kind == ".timeindex" and base == logs[-1] else [theirs]
            if mine not in ends:
                at = next((i for i, (a, b) in enumerate(zip(mine, theirs)) if a != b), min(len(mine), len(theirs)))
                wrong = wrong or f"{base}: {len(mine)} entries, Kafka {len(theirs)}; differ at {at}: {[x[at].hex() if at < len(x) else None for x in (mine, theirs)]}"
        check(f"{name}: {kind} as Kafka's own", not wrong, wrong)


def check_python_reader(name, directory, want):
    """A third implementation: the record module of kafka-python."""
    try:
        from kafka.record import MemoryRecords
    except ImportError:
        return
    got = []
    for file in segments(directory + "/t-0"):
        with open(file, "rb") as f:
            records = MemoryRecords(f.read())
        while records.has_next():
            for r in records.next_batch():
                got.append((r.offset, r.timestamp, r.key, r.value, tuple((k, v) for k, v in r.headers)))
    difference = first_difference(got, want)
    check(f"{name}: kafka-python reads the same", not difference, difference)


def check_written(name, rows, interval, runs, codecs):
    directory = path("written")
    shutil.rmtree(directory, ignore_errors=True)
    error = produce(directory, rows, interval, runs, codecs)
    if not check(f"{name}: produce", not error, error):
        return
    want = [flat(r) for r in rows]
    check(f"{name}: rolled", len(segments(directory + "/t-0")) > 1 or codecs != ["none"], len(segments(directory + "/t-0")))
    code, got = tk_records(directory)
    check(f"{name}: tk reads it", code == 0 and got == want, (code, first_difference(got, want)))
    for how in ([], ["clean"]):
        loaded = copy(directory, "loaded")
        answer = kafka.last("load", f"{loaded}/t-0", *how, f"now={NOW}", f"index.interval.bytes={interval}")
        check(f"{name}: Kafka opens it {' '.join(how)}", answer.get("log_end_offset") == len(rows), answer)
        got = kafka.records(loaded + "/t-0")
        difference = first_difference(got, want)
        check(f"{name}: Kafka reads it {' '.join(how)}", not difference, difference)
    check_indexes(name, directory, interval)
    check_python_reader(name, directory, want)


def check_dump_text():
    """dump-log against the real tool on segments that tk wrote (those of the last check_written)."""
    directory = path("written")
    names = ["t-0/" + os.path.basename(f) for f in segments(directory + "/t-0")[:3]]
    names += [n[:-4] + kind for n in names for kind in (".index", ".timeindex")]
    for options in (["--deep-iteration"], ["--print-data-log"]):
        want = kafka.dump(directory, *options, "--files", ",".join(names))
        _, got, _ = tk("dump-log", *options, "--files", ",".join(names), cwd=directory)
        difference = first_difference(got.splitlines(), want.splitlines())
        check(f"dump text {options[0]}", want and not difference, difference)


def check_everything_tk_writes():
    for interval in (200, 4096):
        for codec in CODECS:
            check_written(f"{codec}, one run, interval {interval}", written_by_tk(900, codec), interval, 1, [codec])
        check_written(f"all codecs, many runs, interval {interval}", written_by_tk(900, "many"), interval, 15, CODECS)
        check_written(f"uncompressed, many runs, interval {interval}", written_by_tk(900, "runs"), interval, 12, ["none"])
    check_dump_text()


# What Kafka writes: random logs, whole and damaged. One check a kind, over all rounds.

class Kind:
    def __init__(self, name):
        self.name, self.rounds, self.bad = name, 0, []

    def note(self, good, detail):
        self.rounds += 1
        if not good:
            self.bad.append(detail)

    def report(self):
        check(f"{self.name} ({self.rounds} logs, {len(self.bad)} differ, seed {SEED})", self.rounds and not self.bad,
              self.bad[:2])


def damage(rnd, file):
    with open(file, "rb") as f:
        raw = bytearray(f.read())
    position, kind = rnd.randrange(len(raw)), rnd.choice(["flip", "flip", "cut", "zero"])
    if kind == "flip":
        raw[position] ^= 1 << rnd.randrange(8)
    elif kind == "cut":
        del raw[position:]
    else:
        raw[position:] = bytes(len(raw) - position)
    return kind, position, raw


def check_same_end(rnd, directory, kind_of_check, number):
    """Damages one segment in two copies; Kafka's recovery on one, tk's on the other."""
    full = [f for f in segments(directory + "/t-0") if os.path.getsize(f)]
    if not full:
        return
    file = rnd.choice(full)
    kind, position, raw = damage(rnd, file)
    theirs, mine = copy(directory, "theirs"), copy(directory, "mine")
    for target in (theirs, mine):
        with open(file.replace(directory, target), "wb") as f:
            f.write(raw)
    answer = kafka.last("load", f"{theirs}/t-0", f"now={NOW}", "index.interval.bytes=200")
    if "error" in answer:
        return  # damage that keeps a broker from starting has no end to compare
    code, planned, err = tk_rows("recover", mine, "--truncate", "--full", "--json")
    _, rows, _ = tk_rows("topics", "describe", "t", "--json", "-d", mine)
    end = rows[0].get("log_end_offset") if rows else None
    if code == 3 and planned:
        end = planned[-1]["next_offset"]  # a batch of unknown magic at the very end stays, but is no record to tk
    _, got = tk_records(mine)
    try:
        want = kafka.records(theirs + "/t-0")
    except Exception as e:  # a record that only a consumer notices
        want = [(None, str(e))]
    where = (number, kind, os.path.basename(file), position)
    if answer["log_end_offset"] > 2**31:
        return  # an offset that cannot be indexed: a broker splits the segment, tk leaves it and names it
    if end != answer["log_end_offset"]:
        kind_of_check.note(False, (where, "end", end, answer["log_end_offset"], code, err[-200:]))
    elif any(r[0] is None for r in want):
        kind_of_check.note(True, "")  # Kafka's reader stopped at an error: only the end is comparable
    elif code == 3:
        # Kafka's file reader takes batches as they lie. tk names what is out of line (exit 3) and leaves it out.
        left = iter(want)
        kind_of_check.note(all(any(r == w for w in left) for r in got), (where, "not a part of what Kafka reads"))
    else:
        difference = first_difference(got, want)
        kind_of_check.note(not difference, (where, difference))


def producers(answer):
    return sorted(json.dumps(p, sort_keys=True) for p in answer.get("producers", []))


def check_ageing(rnd, directory, kinds, number):
    """Rounds of compaction with the clock moved on, and a retention, on two copies: Kafka's engine and tk."""
    compacted, states, retained = kinds
    theirs, mine = copy(directory, "theirs"), copy(directory, "mine")
    now = NOW
    for turn in range(3):
        kafka.ask("compact", f"{theirs}/t-0", *ageing.POLICY, f"now={now}")
        code, err = ageing.compact(mine, now)
        # Kafka's reader shows markers' batches only as what they are: compare them, too.
        want, got = (ageing.batches(kafka, d) for d in (theirs, mine))
        difference = first_difference(got, want)
        compacted.note(code == 0 and not difference, (number, turn, code, err[-200:], difference))
        difference = first_difference(kafka.records(mine + "/t-0"), kafka.records(theirs + "/t-0"))
        compacted.note(not difference, (number, turn, difference))
        code, rows, _ = tk_rows("verify", mine, "--json")
        compacted.note(code == 0, (number, turn, code, rows[:2]))
        now += rnd.choice(ageing.STEPS_MS)
    loaded = [kafka.last("load", f"{copy(d, 'loaded')}/t-0", f"now={now}") for d in (theirs, mine)]
    fields = ("log_start_offset", "log_end_offset", "last_stable_offset")
    states.note(all(loaded[0].get(k) == loaded[1].get(k) for k in fields) and producers(loaded[0]) == producers(loaded[1]),
                (number, loaded))
    theirs, mine = copy(directory, "theirs"), copy(directory, "mine")
    size = sum(os.path.getsize(f) for f in segments(directory + "/t-0"))
    rule, other = ageing.retention_rule(rnd, size, NOW - START)
    kafka.ask("retain", f"{theirs}/t-0", rule, other, f"now={NOW}")
    code, _, err = tk("retain", "t", "-c", rule, "-c", other, "--at", NOW, "-d", mine)
    names = [[os.path.basename(f) for f in segments(d + "/t-0")] for d in (theirs, mine)]
    retained.note(code == 0 and names[0] == names[1], (number, rule, code, names, err[-200:]))


def check_random_logs():
    ages = [Kind(n) for n in ("compaction leaves the same batches and records", "producer states after compaction",
                              "retention leaves the same segments")]
    rnd = random.Random(SEED)
    plain, committed, offsets, healthy, same_end = (Kind(n) for n in (
        "random logs of Kafka's engine read the same", "read committed", "offsets", "verify finds nothing wrong",
        "same end after damage as a broker's recovery"))
    until, number = time.time() + SECONDS, 0
    while time.time() < until and number < LOGS:
        number += 1
        spec = random_spec(rnd, rnd.randrange(5, 40), rnd.choice([3, 12, 200]), rnd.random() < .4)
        directory = path("random")
        shutil.rmtree(directory, ignore_errors=True)
        with open(path("spec"), "w", encoding="utf-8") as f:
            f.writelines(json.dumps(s) + "\n" for s in spec)
        state = kafka.last("write", f"{directory}/t-0", f"in={path('spec')}", f"now={NOW}", "index.interval.bytes=200")
        if "error" in state:
            plain.note(False, ("Kafka refused the spec", state))
            continue
        uncommitted_rows, committed_rows, end, stable = expected(spec)
        code, got = tk_records(directory)
        want = [flat(r) for r in uncommitted_rows]
        plain.note(code == 0 and got == want, (number, code, first_difference(got, want)))
        code, got = tk_records(directory, "--isolation", "read_committed")
        want = [flat(r) for r in committed_rows]
        committed.note(code == 0 and got == want, (number, code, first_difference(got, want)))
        _, rows, _ = tk_rows("topics", "describe", "t", "--json", "-d", directory)
        seen = (rows[0].get("log_end_offset"), rows[0].get("last_stable_offset")) if rows else None
        offsets.note(seen == (end, stable), (number, seen, (end, stable), state))
        code, rows, _ = tk_rows("verify", directory, "--json")
        healthy.note(code == 0, (number, code, rows[:2]))
        check_same_end(rnd, directory, same_end, number)
        if number % 2 == 0:
            check_ageing(rnd, directory, ages, number)
    for kind in (plain, committed, offsets, healthy, same_end, *ages):
        kind.report()


try:
    for outcome in assignors.checks():
        check(*outcome)
    check_everything_tk_writes()
    for seed in range(SEED, SEED + 3):
        for outcome in transactions.checks(kafka, work, seed):
            check(*outcome)
    check_random_logs()
except Exception as e:  # one more failure, and the totals all the same
    check("the run itself", False, repr(e))
finally:
    kafka.close()
    shutil.rmtree(work, ignore_errors=True)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
