#!/usr/bin/env python3
"""Throughput against linger.ms, compression and batch.size.

Paced: records come through a pipe at a set pace, as from a program that logs. The pace decides how long it takes; linger and
batch size decide how many batches that makes, what they cost the processor, and what they take on disk. (From a file linger does
nothing: there is always a next record.) Unpaced: the same records from a file, as fast as it goes."""
import json, os, random, shutil, subprocess, sys, time

tk, small = os.environ["TK"], bool(os.environ.get("SMALL"))
paced_records, file_records = (600, 6000) if small else (6000, 300000)
per_tick, tick = 10, 0.002  # 10 records every 2 ms: 5,000 a second
lingers, codecs, sizes = (0, 5, 20), ("none", "gzip", "snappy", "lz4", "zstd"), (1024, 16384, 65536)
if small:
    lingers, codecs = (0, 20), ("none", "zstd")
    sizes = (1024, 65536)

random.seed(7)
words = "GET POST /orders /users /cart 200 404 500 mobile desktop basket paid refused".split()
def line(i):  # about 100 bytes, as a log has them
    return ("2026-11-30T10:%02d:%02d.%03dZ request=%08x %s user=%05d took=%dms\n" % (
        i // 60000 % 60, i // 1000 % 60, i % 1000, random.getrandbits(32), " ".join(random.choices(words, k=5)),
        random.randrange(20000), random.randrange(900))).encode()
lines = [line(i) for i in range(file_records)]

def produce(feed, records, *flags):
    """One run into a new topic; what it took and what it made."""
    shutil.rmtree("data", ignore_errors=True)
    began = time.monotonic()
    process = subprocess.Popen([tk, "-d", "data", "produce", "t", "--format", "kafka", "-q", *flags],
                               stdin=feed if feed else subprocess.PIPE)
    if not feed:
        for at in range(0, records, per_tick):
            process.stdin.write(b"".join(lines[at:at + per_tick]))
            process.stdin.flush()
            time.sleep(max(0, began + (at / per_tick + 1) * tick - time.monotonic()))
        process.stdin.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0, flags
    seconds = time.monotonic() - began
    dump = subprocess.run([tk, "-d", "data", "dump-log", "t", "--json"], stdout=subprocess.PIPE, check=True).stdout.splitlines()
    batches = [row for row in map(json.loads, dump) if row["type"] == "batch"]
    assert sum(b["count"] for b in batches) == records
    return {"batches": len(batches), "bytes": sum(b["size"] for b in batches), "seconds": seconds,
            "cpu_us": 1e6 * (used.ru_utime + used.ru_stime) / records}

def table(name, columns, rows):
    with open(name, "w") as out:
        for row in rows:
            print("\t".join(str(row[c]) for c in columns), file=out)

paced = []
print("%d records, %d every %g ms through a pipe (%d bytes of text):" % (
    paced_records, per_tick, 1000 * tick, sum(map(len, lines[:paced_records]))))
print("  linger batch.size codec    batches  bytes on disk  records/s  us of CPU a record")
for linger in lingers:
    for size in sizes:
        for codec in codecs:
            row = produce(None, paced_records, "--linger-ms", str(linger), "--batch-size", str(size), "-z", codec)
            row.update(linger=linger, size=size, codec=codec)
            paced.append(row)
            print("  %6d %10d %-7s %8d %14d %10d %12.1f" % (
                linger, size, codec, row["batches"], row["bytes"], paced_records / row["seconds"], row["cpu_us"]), flush=True)
table("paced.tsv", ("linger", "size", "codec", "batches", "bytes", "cpu_us"), paced)

with open("lines.txt", "wb") as out:
    out.writelines(lines)
unpaced = []
print("%d records from a file (%d bytes of text), the median of five runs:" % (file_records, os.path.getsize("lines.txt")))
print("         batch.size codec    batches  bytes on disk  records/s")
for size in sizes:
    for codec in codecs:
        runs = []
        for _ in range(1 if small else 5):
            with open("lines.txt", "rb") as feed:
                runs.append(produce(feed, file_records, "--batch-size", str(size), "-z", codec))
        row = sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]
        row.update(size=size, codec=codec, rate=int(file_records / row["seconds"]))
        unpaced.append(row)
        print("         %10d %-7s %8d %14d %10d" % (size, codec, row["batches"], row["bytes"], row["rate"]), flush=True)
table("unpaced.tsv", ("size", "codec", "batches", "bytes", "rate"), unpaced)

def of(rows, **wanted):
    return next(r for r in rows if all(r[k] == v for k, v in wanted.items()))
def claim(what, true):
    print("  %s: %s" % (what, "yes" if true else "no, but should be"))
    if not true:
        sys.exit(1)
print("What was seen:")
claim("the longer linger makes fewer batches (batch.size %d)" % sizes[-1], all(
    of(paced, linger=a, size=sizes[-1], codec=c)["batches"] > of(paced, linger=b, size=sizes[-1], codec=c)["batches"]
    for a, b in zip(lingers, lingers[1:]) for c in codecs))
claim("fewer batches are fewer bytes", all(
    of(paced, linger=lingers[0], size=sizes[-1], codec=c)["bytes"] > of(paced, linger=lingers[-1], size=sizes[-1], codec=c)["bytes"] for c in codecs))
claim("zstd takes less than half of what none takes (linger %d, batch.size %d)" % (lingers[-1], sizes[-1]),
      2 * of(paced, linger=lingers[-1], size=sizes[-1], codec="zstd")["bytes"] < of(paced, linger=lingers[-1], size=sizes[-1], codec="none")["bytes"])
claim("from a file, the larger batch.size makes fewer batches", all(
    of(unpaced, size=a, codec=c)["batches"] > of(unpaced, size=b, codec=c)["batches"] for a, b in zip(sizes, sizes[1:]) for c in codecs))
claim("and each codec takes fewer bytes at %d than at %d" % (sizes[-1], sizes[0]), all(
    of(unpaced, size=sizes[0], codec=c)["bytes"] > of(unpaced, size=sizes[-1], codec=c)["bytes"] for c in codecs))
