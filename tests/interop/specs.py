"""Random batch sequences for Kafka's engine to write, and what a reader must see of them, from the specification alone."""

START = 1700000000000
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def random_record(rnd, ts, keys):
    return {"ts": ts - rnd.choice([0, 0, 0, 30]),
            "key": rnd.choice([f"k{rnd.randrange(keys)}"] * 9 + ["ü", None]),
            "value": rnd.choice(["v" * rnd.randrange(60)] * 5 + [None, ""]),
            "headers": [["h", rnd.choice(["x", "", None])]] * rnd.choice([0, 0, 1, 2])}


def random_spec(rnd, batches, keys, transactional):
    """A list of batch specs (head of KafkaLog.java); transactions of up to three producers, the last ones may stay open."""
    spec, ts, sequences, open_producers = [], START, {}, set()
    for _ in range(batches):
        if open_producers and rnd.random() < .25:
            producer = rnd.choice(sorted(open_producers))
            open_producers.discard(producer)
            spec.append(marker(rnd.choice(["commit", "abort"]), producer, ts))
            continue
        if rnd.random() < .12:
            spec.append({"roll": 1})
            continue
        records = []
        for _ in range(rnd.randrange(1, 9)):
            ts += rnd.randrange(0, 50)
            records.append(random_record(rnd, ts, keys))
        batch = {"codec": rnd.choice(CODECS), "epoch": 0, "records": records}
        if transactional or rnd.random() < .5:
            producer = rnd.randrange(100, 103)
            batch.update(producer_id=producer, producer_epoch=0, base_sequence=sequences.get(producer, 0),
                         transactional=transactional)
            sequences[producer] = sequences.get(producer, 0) + len(records)
            if transactional:
                open_producers.add(producer)
        spec.append(batch)
    if rnd.random() < .7:
        spec += [marker("commit", producer, ts) for producer in sorted(open_producers)]
    return spec


def marker(kind, producer, ts):
    return {"control": kind, "producer_id": producer, "producer_epoch": 0, "epoch": 0, "ts": ts, "coordinator_epoch": 1}


def expected(spec):
    """(uncommitted records, committed records, log end offset, last stable offset) of a written specification."""
    offset, batches, running, aborted = 0, [], {}, set()
    for entry in spec:
        if "roll" in entry:
            continue
        producer = entry.get("producer_id")
        if "control" in entry:
            first, members = running.pop(producer)
            if entry["control"] == "abort":
                aborted.update(members)
            offset += 1
            continue
        rows = [{**r, "offset": offset + i} for i, r in enumerate(entry["records"])]
        if entry.get("transactional"):
            running.setdefault(producer, (offset, []))[1].extend(r["offset"] for r in rows)
        batches += rows
        offset += len(rows)
    stable = min([first for first, _ in running.values()], default=offset)
    committed = [r for r in batches if r["offset"] < stable and r["offset"] not in aborted]
    return batches, committed, offset, stable


def written_by_tk(count, salt):
    """Records that use every kind of key, value and header, with timestamps partly out of order; as `consume -J` rows."""
    rows = []
    for i in range(count):
        row = {"offset": i, "ts": START + 10 * i - (70 if i % 7 == 3 else 0),
               "key": f"key-{i % 13}", "value": f"{salt} value {i} " + "x" * (i * 37 % 90), "headers": []}
        if i % 11 == 1:
            row["key"] = None
        if i % 11 == 2:
            row["key"] = ""
        if i % 11 == 3:
            del row["key"]
            row["key_b64"] = "AP+AfwA="
        if i % 17 == 5:
            row["value"] = None
        if i % 17 == 6:
            row["value"] = ""
        if i % 17 == 7:
            del row["value"]
            row["value_b64"] = "/v8AgIE="
        if i % 5 == 2:
            row["headers"] = [["a", "1"], ["a", "2"], ["n", None], ["e", ""], ["b", {"b64": "//4="}]]
        rows.append(row)
    return rows
