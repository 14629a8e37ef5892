"""Peers that vanish without a word (serve.md §1.4, §5 T10): vanished.py TK DIRECTORY
They live in a network namespace of their own, whose link is cut: no FIN, no RST, no answer to a probe. Idle ones, ones that wait
for a record, ones in the middle of a request and ones in the middle of an answer are all cut within their limits, while another
client is served; memory stays flat. Takes a minute and a half, and root for the namespace; "skipped: ..." where that cannot be had."""
import os, subprocess, sys
from wire import *

EACH = 20


def peers(kafka, http):
    """Runs in the namespace until it is killed; says on stdout when all are there."""
    def connect(address):
        host, port = address.rsplit(":", 1)
        return socket.create_connection((host, int(port)), 20)
    def get(path): return b"GET " + path + b" HTTP/1.1\r\nHost: " + http.encode() + b"\r\n\r\n"
    held = []
    for _ in range(EACH):
        idle, parked, half, deaf = (Client(kafka) for _ in range(4))
        idle.metadata("t")
        parked.send(FETCH, 7, fetch_body([("t", 0, 1, 1 << 20)], max_wait=300000))
        half.socket.sendall(i32(1000) + b"xx")
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.send(FETCH, 7, fetch_body([("big", 0, 0, 1 << 26)]))
        for path in (b"/topics/t/records?offset=1&wait_ms=300000", b"/topics/t/records?offset=1&follow=1", b"/topics/big/records?offset=0&format=raw&follow=1"):
            one = connect(http)
            one.sendall(get(path))
            held.append(one)
        held += [idle, parked, half, deaf]
    print("ready", flush=True)
    sys.stdin.read()


def ip(*args): subprocess.run(["ip", *args], check=True, capture_output=True)


def open_connections(server):
    metrics = server.http(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").decode()
    return sum(int(line.split()[1]) for line in metrics.splitlines() if line.startswith("tk_connections{")) - 1


def main(tk, directory):
    name, here, there = f"tk-{os.getpid()}", "10.213.7.1", "10.213.7.2"
    try:
        ip("netns", "add", name)
        ip("link", "add", f"v{os.getpid()}", "type", "veth", "peer", "name", "peer", "netns", name)
        ip("addr", "add", here + "/30", "dev", f"v{os.getpid()}")
        ip("link", "set", f"v{os.getpid()}", "up")
        ip("-n", name, "addr", "add", there + "/30", "dev", "peer")
        ip("-n", name, "link", "set", "peer", "up")
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"skipped: no network namespace: {getattr(error, 'stderr', error)}")
        return
    try:
        server = Server(tk, directory, "--kafka", here + ":0", "--http", here + ":0", "--allow-remote", "--max-wait-ms", "300000")
        client = server.client()
        client.metadata("t", "big")
        client.produce("t", batch([b"first"]))
        for _ in range(50): client.produce("big", batch([b"z" * 100000]), acks=1)
        process = subprocess.Popen(["ip", "netns", "exec", name, sys.executable, __file__, "--peers", server.addresses["kafka"][1], server.addresses["http"][1]],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        memory, count = server.memory(), open_connections(server)
        assert count == 7 * EACH + 1, count
        ip("-n", name, "link", "set", "peer", "down")
        began, gone = time.time(), {}
        client.produce("t", batch([b"second"]))  # the waiting ones are answered into the void
        while time.time() - began < 100:
            asked = time.time()
            client.metadata("t")
            assert time.time() - asked < 2
            left = open_connections(server) - 1
            for share in (6 * EACH, 0):
                if left <= share: gone.setdefault(share, time.time() - began)
            if left == 0: break
            time.sleep(1)
        grown = (server.memory() - memory) >> 20
        assert left == 0, f"{left} of {count - 1} are still there"
        assert gone[6 * EACH] < 45 and gone[0] < 90, gone
        assert grown < 16, grown
        process.kill()
        print(f"{count - 1} that vanished are cut after {gone[6 * EACH]:.0f} s (half a request) to {gone[0]:.0f} s; memory grew by {grown} MiB")
        assert server.stop() == 143
    finally:
        subprocess.run(["ip", "netns", "delete", name], capture_output=True)
        subprocess.run(["ip", "link", "delete", f"v{os.getpid()}"], capture_output=True)


if sys.argv[1] == "--peers": peers(*sys.argv[2:])
else: main(*sys.argv[1:])
