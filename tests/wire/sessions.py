"""A client with incremental fetch sessions against a model (serve.md §5 T5): sessions.py TK DIRECTORY [STEPS] [SEED]
Random steps: partitions come into the session and leave it, records are appended, log starts move, topics are deleted and made
anew, the session is lost, closed, evicted by others, and answers are cut by small sizes. Every record of a partition must be seen
once, in order, but for those that were deleted before they were read."""
import random, sys
from wire import *

TK, directory = sys.argv[1:3]
steps, seed = int(sys.argv[3]) if len(sys.argv) > 3 else 10000, int(sys.argv[4]) if len(sys.argv) > 4 else 1
rng = random.Random(seed)
server = Server(TK, directory)
client, writer = server.client(), server.client()
NAMES = [f"s{i}" for i in range(6)]


class Partition:
    """What was written and not deleted, and how far the reader is."""
    def __init__(self): self.end, self.start, self.position, self.in_session = 0, 0, 0, False


def create(name):
    writer.ask(CREATE_TOPICS, 2, array([text(name) + i32(2) + i16(1) + i32(0) + i32(0)]) + i32(5000) + i8(0))
    for p in (0, 1): model[name, p] = Partition()


model, session, epoch, seen, sizes, evictions, deleted_topics = {}, 0, 0, 0, [], 0, 0
for name in NAMES: create(name)
told = {}  # offsets as the server last had them in the session


def take(answer):
    """Checks an answer, moves the reader on."""
    global session, epoch, seen
    error, number, rows = fetch_answer(answer)
    if error:
        assert error in (70, 71), error
        session = epoch = 0
        return
    if epoch == 0: session, epoch = number, 1 if number else 0
    else:
        epoch += 1
        if number == 0: session = epoch = 0
    for topic, number, code, high, records in rows:
        partition = model[topic, number]
        if code == 1:  # out of range: the log start has moved
            assert partition.position < partition.start, (topic, number)
            partition.position = partition.start
            continue
        assert code == 0, (topic, number, code)
        assert high == partition.end, (topic, number, high, partition.end)
        for base, last, size in batches(records):
            if last < partition.position: continue
            assert base <= partition.position <= last, (topic, number, base, last, partition.position)
            seen += last + 1 - partition.position
            partition.position = last + 1


def fetch(max_bytes):
    """The next request of the session, with what has changed since the last one, or a full one."""
    global session, epoch
    wanted = {key: p for key, p in model.items() if p.in_session}
    if epoch == 0:
        told.clear()
        rows = [(t, n, p.position, rng.choice([200, 5000])) for (t, n), p in wanted.items()]
        told.update({(t, n): (o, m) for t, n, o, m in rows})
        return take(client.ask(FETCH, 7, fetch_body(rows, max_bytes=max_bytes, session=(session, 0))))
    rows, forget = [], [key for key in told if key not in wanted]
    for (t, n), p in wanted.items():
        if told.get((t, n), (None,))[0] != p.position or rng.random() < 0.05: rows.append((t, n, p.position, rng.choice([200, 5000])))
    for key in forget: del told[key]
    told.update({(t, n): (o, m) for t, n, o, m in rows})
    take(client.ask(FETCH, 7, fetch_body(rows, max_bytes=max_bytes, session=(session, epoch), forget=forget)))


for step in range(steps):
    what = rng.random()
    key = rng.choice(list(model))
    partition = model[key]
    if what < 0.25:
        count = rng.choice([1, 1, 5, 40])
        error, base = writer.produce(key[0], batch([b"v" * rng.choice([10, 300])] * count), acks=1, partition=key[1])
        assert (error, base) == (0, partition.end), (error, base, partition.end)
        partition.end += count
    elif what < 0.32:
        partition.in_session = not partition.in_session
    elif what < 0.345:
        partition.start = rng.randint(partition.start, partition.end)
        answer = writer.ask(21, 0, array([text(key[0]) + array([i32(key[1]) + i64(partition.start)])]) + i32(5000))
        assert answer[-2:] == b"\0\0", answer
    elif what < 0.35:
        # A topic goes, and one of its name comes: the session's partitions of it are forgotten first.
        for p in (0, 1): model[key[0], p].in_session = False
        fetch(1000)
        writer.ask(20, 1, array([text(key[0])]) + i32(5000))
        create(key[0])
        deleted_topics += 1
    elif what < 0.36:
        session, epoch = rng.choice([(session, 0), (0, 0), (12345, 0)])  # begun anew, or what it was is not known
    elif what < 0.37 and epoch:
        take(client.ask(FETCH, 7, fetch_body([], session=(session, epoch + 1))))  # a wrong epoch: 71
        assert epoch == 0
    elif what < 0.38:
        client.close()  # sessions are the server's, not a connection's
        client = server.client()
    elif what < 0.3803:
        # A thousand others: no room for more, until they are closed.
        others = [fetch_answer(writer.ask(FETCH, 7, fetch_body([("s0", 0, 0, 10)], max_bytes=0, session=(0, 0))))[1] for _ in range(1001)]
        assert others[-1] == 0
        session = epoch = 0
        fetch(5000)
        assert session == 0
        for one in others: writer.ask(FETCH, 7, fetch_body([], session=(one, -1)))
        evictions += 1
    else:
        fetch(rng.choice([0, 300, 5000, 1 << 20]))
for partition in model.values(): partition.in_session = True
session = epoch = 0
for _ in range(2000):
    fetch(1 << 20)
    if all(p.position == p.end for p in model.values()): break
else:
    raise SystemExit("the end is not reached")
assert server.stop() == 143
print(f"{steps} steps, {seen} records seen once and in order, {deleted_topics} topics made anew, {evictions} times no room")
