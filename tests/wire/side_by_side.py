"""`tk` beside a server on one partition (serve.md §5 T6): side_by_side.py TK DIRECTORY [RECORDS] [LINES]
Four `tk produce` and four wire producers append to it, a wire reader and `tk consume -F` follow: both see the same records, in the
order of their offsets, none lost or twice. Then the time from `tk produce`'s end of a line to a wire consumer that waits for it,
LINES (60) times; with 500 or more, by hand on a machine that does nothing else, its p99 must be 20 ms."""
import subprocess, sys, threading
from wire import *

TK, directory = sys.argv[1:3]
each = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 60
server = Server(TK, directory)
server.client().metadata("t")
follower = subprocess.Popen([TK, "-d", directory, "consume", "t", "-F", "-o", "0", "-n", str(8 * each), "-f", "%o %s\n"], stdout=subprocess.PIPE, text=True)
failures = []


def wire_producer(name):
    client, sent = server.client(), 0
    while sent < each:
        count = min(20, each - sent)
        error, _ = client.produce("t", batch([f"{name}:{n}".encode() for n in range(sent, sent + count)]), acks=1 if sent % 3 else -1, timeout_ms=60000)
        if error: failures.append((name, error))
        sent += count


def tk_producer(name):
    lines = "".join(f"{name}:{n}\n" for n in range(each))
    done = subprocess.run([TK, "-d", directory, "produce", "t", "-q", "--lock-timeout", "60000", "--batch-size", "2000"], input=lines, text=True, capture_output=True)
    if done.returncode: failures.append((name, done.stderr))


def wire_reader(rows):
    client, offset = server.client(), 0
    while len(rows) < 8 * each:
        _, _, answer = fetch_answer(client.ask(FETCH, 7, fetch_body([("t", 0, offset, 1 << 20)], max_wait=500)))
        for base, last, size in batches(answer[0][4]):
            if base < offset: continue
            assert base == offset, (base, offset)
            rows += range(base, last + 1)
            offset = last + 1


rows = []
threads = [threading.Thread(target=f, args=(f"{kind}{i}",)) for kind, f in (("w", wire_producer), ("k", tk_producer)) for i in range(4)]
threads.append(threading.Thread(target=wire_reader, args=(rows,)))
began = time.time()
for thread in threads: thread.start()
seen = [line.split(" ") for line in follower.stdout]
for thread in threads: thread.join()
follower.wait()
assert not failures, failures
assert rows == list(range(8 * each)), len(rows)
assert [int(offset) for offset, _ in seen] == rows, "tk consume -F saw others"
by_name = {}
for _, value in seen:
    name, number = value.rstrip("\n").split(":")
    by_name.setdefault(name, []).append(int(number))
assert len(by_name) == 8 and all(numbers == list(range(each)) for numbers in by_name.values()), {k: len(v) for k, v in by_name.items()}
print(f"{len(rows)} records of 8 producers in {time.time() - began:.1f} s: once, in order, the same for both readers")

# A line that tk produce has written is with a waiting consumer soon.
client, offset, times = server.client(), len(rows), []
producer = subprocess.Popen([TK, "-d", directory, "produce", "t", "-q", "--sync", "none", "--linger-ms", "0"], stdin=subprocess.PIPE, text=True)
for i in range(rounds):
    client.send(FETCH, 7, fetch_body([("t", 0, offset, 1 << 20)], max_wait=5000))
    time.sleep(0.02)
    at = time.time()
    producer.stdin.write(f"line {i}\n")
    producer.stdin.flush()
    _, _, answer = fetch_answer(client.receive())
    times.append(time.time() - at)
    offset = max(last for _, last, _ in batches(answer[0][4])) + 1
producer.stdin.close()
producer.wait()
times = sorted(times[5:])
p99 = times[int(len(times) * 0.99)] * 1000
print(f"a line of tk produce is read after {times[len(times) // 2] * 1000:.1f} ms (median), {p99:.1f} ms (p99 of {len(times)})")
assert rounds < 500 or p99 <= 20, p99
assert server.stop() == 143
