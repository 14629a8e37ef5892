#!/usr/bin/env python3
"""What a broker's own topics say of groups, topics and transactions, against the answers of its AdminClient:
compare_state.py TK FIXTURE

FIXTURE has groups.json, topics.json, transactions.json, taken just before the stop. Prints what falls short; exit 1 if any."""
import json
import os
import subprocess
import sys

TK, FIXTURE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
DATA = FIXTURE + "/data"
short, compared = [], 0
# Taken while the writer of these was at work, before the kill: its last transactions came after.
STILL_RUNNING = {"kafka-4.4-killed": {"tx-writer"}}.get(os.path.basename(FIXTURE), set())


def rows(*args):
    run = subprocess.run([TK, *args, "--json", "-d", DATA], capture_output=True, timeout=60)
    if run.returncode:
        short.append(f"exit {run.returncode} of {' '.join(args)}: {run.stderr[-200:]!r}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def load(name):
    with open(f"{FIXTURE}/{name}.json", encoding="utf-8") as f:
        return json.load(f)


def check(what, got, want):
    global compared
    compared += 1
    if got != want:
        short.append(f"{what}: {got}, the broker {want}")


def groups():
    want = load("groups")
    listed = {row["group"]: row for row in rows("groups", "list")}
    check("groups", sorted(listed), sorted(want))
    for name, group in want.items():
        row = listed.get(name)
        if row is None:
            continue
        check(f"{name} type", row["type"], group["type"].lower())
        check(f"{name} state", row["state"], group["state"])
        if group["type"] == "Classic" or group["type"] == "Consumer":
            check(f"{name} assignor", row["assignor"] or "", group["assignor"])
        if group["group_epoch"] is not None:
            check(f"{name} epoch", row["generation"], group["group_epoch"])
        members = group["members"] if isinstance(group["members"], list) else []
        described = {m["member"]: m for m in rows("groups", "describe", name, "--members")}
        check(f"{name} members", sorted(described), sorted(m["member_id"] for m in members))
        for member in members:
            found = described.get(member["member_id"], {})
            check(f"{name} {member['client_id']}", [found.get("client"), found.get("instance"), sorted(found.get("partitions", []))],
                  [member["client_id"], member["instance_id"], sorted(member["assignment"])])
            if member["member_epoch"] is not None:
                check(f"{name} {member['client_id']} epoch", found.get("member_epoch"), member["member_epoch"])
        offsets = {f"{r['topic']}-{r['partition']}": r for r in rows("groups", "describe", name) if r["committed"] is not None}
        check(f"{name} committed", sorted(offsets), sorted(group["offsets"]))
        for partition, offset in group["offsets"].items():
            found = offsets.get(partition, {})
            if "start_offset" in offset:
                check(f"{name} {partition}", found.get("committed"), offset["start_offset"])
            else:
                check(f"{name} {partition}", [found.get("committed"), found.get("metadata"), found.get("leader_epoch")],
                      [offset["offset"], offset["metadata"], offset["leader_epoch"]])


def topics():
    described = {}
    for row in rows("topics", "describe"):
        if row["state"] == "live":
            described.setdefault(row["topic"], []).append(row)
    configs = {row["topic"]: row["configs"] for row in rows("topics", "describe", "--configs")}
    for name, topic in load("topics").items():
        found = described.get(name, [])
        check(f"{name} id", {r["topic_id"] for r in found}, {topic["topic_id"]})
        check(f"{name} partitions", sorted(r["partition"] for r in found), sorted(p["partition"] for p in topic["partitions"]))
        # Only what differs from the default is shown.
        shown = configs.get(name, {})
        check(f"{name} configs", {k: v for k, v in shown.items() if topic["configs"].get(k) != v}, {})
        check(f"{name} internal.segment.bytes", shown.get("internal.segment.bytes"), topic["configs"].get("internal.segment.bytes"))


def transactions():
    want = load("transactions")
    listed = rows("txn", "list")
    by_id = {row["id"]: row for row in listed if "state" in row}
    check("transactions", sorted(by_id), sorted(t["transactional_id"] for t in want["list_transactions"]))
    for name, t in want["describe_transactions"].items():
        if name in STILL_RUNNING:
            continue
        row = by_id.get(name, {})
        check(f"{name}", [row.get("state"), row.get("producer_id"), row.get("epoch"), row.get("timeout_ms"), row.get("started"), row.get("partitions")],
              [t["state"], t["producer_id"], t["producer_epoch"], t["timeout_ms"], t["start_ms"], t["partitions"]])
    opened = {f"{r['topic']}-{r['partition']}": r for r in listed if "first_offset" in r}
    for partition, producers in want["describe_producers"].items():
        for p in producers:
            if p["current_txn_start_offset"] is None:
                continue
            row = opened.get(partition, {})
            check(f"{partition} open", [row.get("producer_id"), row.get("epoch"), row.get("first_offset"), row.get("hanging")],
                  [p["producer_id"], p["producer_epoch"], p["current_txn_start_offset"], False])


groups()
topics()
transactions()
for line in short[:15]:
    print(line)
print(f"{os.path.basename(FIXTURE)} state: {compared} compared, {len(short)} fall short")
sys.exit(1 if short or compared < 40 else 0)
