"""Transactions that tk writes by commands of their own, opened by Kafka's engine and by kafka-python: records, markers,
last stable offset, producers, and the index of aborted transactions."""
import json
import os
import random
import shutil
import struct

from partners import segments, tk, tk_records, tk_rows

STEPS = 60
IDS = "ABC"


class Story:
    """What was written, by the commands' own reports of offsets, and what must be seen of it."""

    def __init__(self, directory):
        self.dir = directory
        self.end = 0
        self.records = []  # (offset, value, id of the transaction or None, its number)
        self.open = {}  # id -> number
        self.fate = {}  # number -> "commit" or "abort"
        self.first = {}  # number -> its first offset
        self.aborted = []  # (first offset, offset of the marker)
        self.wrong = ""

    def run(self, *args, stdin=""):
        code, out, err = tk("-d", self.dir, *args, stdin=stdin)
        if code != 0 and not self.wrong:
            self.wrong = f"tk {' '.join(args)}: {code} {err[-200:]}"
        return [json.loads(line) for line in out.splitlines() if line.startswith(b"{")]

    def write(self, values, of=None):
        number = self.open.get(of)
        row = self.run("produce", "t", "--json", *(["--txn", of] if of else []), stdin="".join(v + "\n" for v in values))
        if not row or row[0]["base_offset"] != self.end or row[0]["count"] != len(values):
            self.wrong = self.wrong or f"produce says {row} at {self.end}"
            return
        if number is not None:
            self.first.setdefault(number, self.end)
        for value in values:
            self.records.append((self.end, value, of, number))
            self.end += 1

    def finish(self, of, how):
        number = self.open.pop(of)
        self.fate[number] = how
        if number in self.first:
            if how == "abort":
                self.aborted.append((self.first[number], self.end))
            self.end += 1  # the marker

    def last_stable(self):
        return min([self.first[n] for n in self.open.values() if n in self.first], default=self.end)

    def committed(self):
        stable = self.last_stable()
        return [(o, v) for o, v, _, n in self.records if o < stable and (n is None or self.fate.get(n) == "commit")]


def told(directory, seed):
    rnd = random.Random(seed)
    story = Story(directory)
    story.run("topics", "create", "t", "--format", "kafka", "-c", "segment.bytes=900", "-c", "index.interval.bytes=200", "-q")
    numbers = 0
    for step in range(STEPS):
        of = rnd.choice(IDS)
        kind = rnd.choice(["begin", "write", "write", "write", "plain", "end"])
        if kind == "plain":
            story.write([f"p{step}-{i}" for i in range(rnd.randrange(1, 4))])
        elif kind == "begin" or of not in story.open:
            if of in story.open:
                story.finish(of, "abort")  # the begin of the next ends it
            story.run("txn", "begin", of, "--json")
            numbers += 1
            story.open[of] = numbers
        elif kind == "write":
            story.write([f"{of}{step}-{i}" for i in range(rnd.randrange(1, 4))], of)
        else:
            how = rnd.choice(["commit", "abort"])
            story.run("txn", how, of, "--json")
            story.finish(of, how)
    return story


def txn_index(directory):
    """(first offset, last offset) of every entry, as Kafka lays them out."""
    entries = []
    for log in segments(directory + "/t-0"):
        file = log[:-4] + ".txnindex"
        if os.path.exists(file):
            with open(file, "rb") as f:
                content = f.read()
            entries += [struct.unpack(">qq", content[i + 10:i + 26]) for i in range(0, len(content), 34)]
    return entries


def python_markers(directory):
    """What kafka-python takes for control batches: (offset, 'commit' or 'abort')."""
    from kafka.record import MemoryRecords

    found = []
    for log in segments(directory + "/t-0"):
        with open(log, "rb") as f:
            records = MemoryRecords(f.read())
        while records.has_next():
            batch = records.next_batch()
            if batch.is_control_batch:
                found += [(r.offset, "commit" if struct.unpack(">hh", r.key[:4])[1] == 1 else "abort") for r in batch]
    return found


def checks(kafka, work, seed):
    """Yields (name, good, detail)."""
    directory = os.path.join(work, "transactions")
    shutil.rmtree(directory, ignore_errors=True)
    story = told(directory, seed)
    name = f"transactions of tk ({seed})"
    yield f"{name}: told", not story.wrong and len(story.aborted) > 1, story.wrong or story.aborted
    code, rows = tk_records(directory, "--isolation", "read_committed")
    got = [(r[0], r[3].decode()) for r in rows]
    yield f"{name}: tk's read_committed", code == 0 and got == story.committed(), (len(got), len(story.committed()))
    code, rows, _ = tk_rows("verify", directory, "--json")
    yield f"{name}: verify", code == 0, rows[:2]
    want = sorted((first, last) for first, last in story.aborted)
    yield f"{name}: .txnindex", sorted(txn_index(directory)) == want, (txn_index(directory), want)
    for how in ([], ["clean"]):
        copy = shutil.copytree(directory, os.path.join(work, "transactions-loaded"), dirs_exist_ok=True)
        if not how:
            for log in segments(copy + "/t-0"):  # Kafka makes them anew
                for kind in (".txnindex", ".index", ".timeindex"):
                    if os.path.exists(log[:-4] + kind):
                        os.remove(log[:-4] + kind)
        answer = kafka.last("load", f"{copy}/t-0", *how)
        seen = (answer.get("log_end_offset"), answer.get("last_stable_offset"))
        yield f"{name}: Kafka's offsets {how}", seen == (story.end, story.last_stable()), (seen, story.end, story.last_stable())
        opened = {p["txn_first_offset"] for p in answer.get("producers", {}).values() if "txn_first_offset" in p}
        mine = {story.first[n] for n in story.open.values() if n in story.first}
        yield f"{name}: Kafka's open transactions {how}", opened == mine, (opened, mine, answer.get("producers"))
        read = [(r[0], r[3].decode()) for r in kafka.records(copy + "/t-0")]
        yield f"{name}: Kafka's records {how}", read == [(o, v) for o, v, _, _ in story.records], len(read)
        yield f"{name}: Kafka's .txnindex {how}", sorted(txn_index(copy)) == want, (txn_index(copy), want)
        shutil.rmtree(copy)
    markers = markers_of(story)
    try:
        found = sorted(python_markers(directory))
    except ImportError:
        return
    yield f"{name}: kafka-python's markers", found == markers, (found[:5], markers[:5])


def markers_of(story):
    """Every offset that no record has is a marker's."""
    taken = {o for o, _, _, _ in story.records}
    aborted = {last for _, last in story.aborted}
    return [(o, "abort" if o in aborted else "commit") for o in range(story.end) if o not in taken]
