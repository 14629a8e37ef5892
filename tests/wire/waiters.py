"""Many wait on one partition (serve.md §5 T9): waiters.py TK DIRECTORY [POLLS] [FETCHES]
POLLS (5000) HTTP long polls and FETCHES (2000) fetches are parked; one record wakes them all within a second, meanwhile other
connections are answered, memory stays below 64 MiB, and waiting costs no CPU."""
import multiprocessing, resource, select, sys
from wire import *

TK, directory = sys.argv[1:3]
polls, fetches = int(sys.argv[3]) if len(sys.argv) > 3 else 5000, int(sys.argv[4]) if len(sys.argv) > 4 else 2000
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
server = Server(TK, directory)
client = server.client()
client.metadata("t")
client.produce("t", batch([b"first"]))
host, port = server.http_address.rsplit(":", 1)
waiting = []
for _ in range(polls):
    one = socket.create_connection((host, int(port)), 20)
    one.sendall(b"GET /topics/t/records?offset=1&wait_ms=60000&format=raw HTTP/1.1\r\nHost: localhost\r\n\r\n")
    waiting.append(one)
for _ in range(fetches):
    one = server.client()
    one.send(FETCH, 7, fetch_body([("t", 0, 1, 1 << 20)], max_wait=60000))
    waiting.append(one.socket)
for _ in range(100):
    metrics = server.http(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").decode()
    if f'tk_waiting{{kind="records"}} {polls + fetches}' in metrics: break
    time.sleep(0.1)
else:
    raise SystemExit("not all are parked")
memory = server.memory()
before = server.cpu()
time.sleep(2)
idle = server.cpu() - before
poller = select.epoll()
for one in waiting: poller.register(one, select.EPOLLIN)


def ask_again_and_again(address, results, over):
    """Another connection: when it asked, and how long that took."""
    other, times = Client(address), []
    while not over.is_set():
        at = time.time()
        other.metadata("t")
        times.append((at, time.time() - at))
    results.send(times)


receive, send = multiprocessing.Pipe(False)
over = multiprocessing.Event()
other = multiprocessing.Process(target=ask_again_and_again, args=(server.kafka_address, send, over))
other.start()
time.sleep(0.3)
began = time.time()
client.produce("t", batch([b"second"]))
woken, last = 0, began
while woken < len(waiting) and time.time() - began < 10:
    for number, _ in poller.poll(0.005, 1000):
        poller.unregister(number)
        woken, last = woken + 1, time.time()
over.set()
times = sorted(took for at, took in receive.recv() if at + took >= began and at <= last)
other.join()
p99 = times[int(len(times) * 0.99)] * 1000
print(f"{woken} of {len(waiting)} woken in {last - began:.3f} s; {memory / 2**20:.1f} MiB; {idle:.2f} s of CPU in 2 s of waiting; "
      f"another connection waited {p99:.1f} ms (p99 of {len(times)})")
answer = waiting[0].recv(65536)
assert b"second" in answer, answer
assert woken == len(waiting) and last - began < 1 + (polls + fetches) / 20000, "too late"
assert memory <= 64 << 20 and idle < 0.1
assert server.stop() == 143
