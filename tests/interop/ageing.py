"""How logs age in tests: what is asked of both sides, and what is compared. Run as a program it records what Kafka's
engine makes of random logs, for the tests that have no Kafka (tests/cli/ageing_recorded.py reads it):
python3 tests/interop/ageing.py COUNT OUT.tar.zst"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

from partners import Kafka, segments, tk
from specs import START, random_spec

POLICY = ["cleanup.policy=compact", "delete.retention.ms=60000"]
STEPS_MS = [1, 30000, 60000, 60001]
KEEP = ("base_offset", "last_offset", "count", "producer_id", "producer_epoch", "base_sequence", "transactional", "control",
        "delete_horizon_ms", "max_ts", "codec", "valid")


def compact(directory, now):
    """Compacts tk's copy as the engine compacts the other: (exit code, stderr)."""
    code, _, err = tk("compact", "t", "--force", "--at", now, "-d", directory, *(w for p in POLICY for w in ("-c", p)))
    return code, err


def batches(kafka, directory):
    """The batches of a partition as Kafka's reader sees them, without what may differ."""
    rows = sum((kafka.ask("batches", f) for f in segments(directory + "/t-0")), [])
    return [{k: r.get(k) for k in KEEP} for r in rows]


def retention_rule(rnd, size, age):
    """(a random rule, the other kind switched off)"""
    rule = rnd.choice([f"retention.bytes={rnd.randrange(size + 1)}", f"retention.ms={age - rnd.randrange(4000)}"])
    return rule, "retention.ms=-1" if "bytes" in rule else "retention.bytes=-1"


def record_one(kafka, rnd, now, directory):
    """A random log in `directory`/log, and what Kafka makes of it, round by round."""
    spec = random_spec(rnd, rnd.randrange(10, 40), rnd.choice([3, 12, 200]), rnd.random() < .5)
    with open(f"{directory}/spec", "w", encoding="utf-8") as f:
        f.writelines(json.dumps(s) + "\n" for s in spec)
    answer = kafka.last("write", f"{directory}/log/t-0", f"in={directory}/spec", f"now={now}", "index.interval.bytes=200")
    if "error" in answer:
        raise RuntimeError(answer)
    os.remove(f"{directory}/spec")
    aged = f"{directory}/aged"
    shutil.copytree(f"{directory}/log", aged)
    rounds, at = [], now
    for _ in range(3):
        kafka.ask("compact", f"{aged}/t-0", *POLICY, f"now={at}")
        offsets = [r["offset"] for f in segments(aged + "/t-0") for r in kafka.ask("read", f)]
        rounds.append({"now": at, "batches": batches(kafka, aged), "offsets": offsets})
        at += rnd.choice(STEPS_MS)
    shutil.rmtree(aged)
    rules = []
    for _ in range(3):
        shutil.copytree(f"{directory}/log", aged)
        size = sum(os.path.getsize(f) for f in segments(aged + "/t-0"))
        rule, other = retention_rule(rnd, size, now - START)
        kafka.ask("retain", f"{aged}/t-0", rule, other, f"now={now}")
        rules.append({"rule": [rule, other], "segments": [os.path.basename(f) for f in segments(aged + "/t-0")]})
        shutil.rmtree(aged)
    with open(f"{directory}/kafka.json", "w", encoding="utf-8") as f:
        json.dump({"now": now, "compact": rounds, "retain": rules}, f, separators=(",", ":"))


def main():
    count, out = int(sys.argv[1]), os.path.abspath(sys.argv[2])
    rnd, kafka, work = random.Random(20261130), Kafka(), tempfile.mkdtemp(prefix="tk-ageing-")
    try:
        for number in range(count):
            os.mkdir(f"{work}/{number:03d}")
            record_one(kafka, rnd, START + 10**6, f"{work}/{number:03d}")
        subprocess.run(f"tar -c --sort=name --owner=0 --group=0 --numeric-owner -C {work} . | zstd -19 -q -f -o {out}", shell=True, check=True)
    finally:
        kafka.close()
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
