"""What Kafka's engine made of random logs (tests/interop/ageing.py recorded it), and what tk makes of them:
ageing_recorded.py TK DIRECTORY. Prints what differs; exit 1 if anything does."""
import glob
import json
import os
import shutil
import subprocess
import sys

tk, root = sys.argv[1], sys.argv[2]
KEEP = ("base_offset", "last_offset", "count", "producer_id", "producer_epoch", "base_sequence", "transactional", "control",
        "delete_horizon_ms", "max_ts", "codec", "valid")
compared, wrong = 0, 0


def run(*args):
    done = subprocess.run([tk, *map(str, args)], capture_output=True, timeout=60)
    if done.returncode:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode()[-300:]}")
    return [json.loads(line) for line in done.stdout.splitlines()] if "--json" in args else []


def logs(directory):
    return sorted(glob.glob(directory + "/t-0/" + "[0-9]" * 20 + ".log"))


def compare(name, got, want):
    global compared, wrong
    compared += 1
    if got != want:
        wrong += 1
        first = next(((g, w) for g, w in zip(got, want) if g != w), (len(got), len(want)))
        print(f"{name}: got {first[0]}, Kafka {first[1]}")


def plain(row):
    return {k: row.get(k) for k in KEEP}


for case in sorted(os.listdir(root)):
    with open(f"{root}/{case}/kafka.json", encoding="utf-8") as f:
        kafka = json.load(f)
    aged = f"{root}/{case}/aged"
    shutil.copytree(f"{root}/{case}/log", aged)
    for number, turn in enumerate(kafka["compact"]):
        run("compact", "t", "--force", "--at", turn["now"], "-d", aged, "-c", "cleanup.policy=compact", "-c", "delete.retention.ms=60000")
        rows = [r for f in logs(aged) for r in run("dump-log", "--json", "--print-data-log", f)]
        compare(f"{case} round {number} batches", [plain(r) for r in rows if r["type"] == "batch"], [plain(r) for r in turn["batches"]])
        compare(f"{case} round {number} records", [r["offset"] for r in run("consume", "t", "--json", "-d", aged)], turn["offsets"])
    shutil.rmtree(aged)
    for turn in kafka["retain"]:
        shutil.copytree(f"{root}/{case}/log", aged)
        run("retain", "t", "--at", kafka["now"], "-d", aged, *(w for r in turn["rule"] for w in ("-c", r)))
        compare(f"{case} {turn['rule'][0]}", [os.path.basename(f) for f in logs(aged)], turn["segments"])
        shutil.rmtree(aged)
print(f"{compared} compared, {wrong} wrong")
sys.exit(1 if wrong or not compared else 0)
