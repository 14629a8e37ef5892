"""Clients in other languages against `tk serve` (serve.md §5 T1): each produces with the codecs it has, consumes in a group,
commits, goes on behind its commit after a restart of the server, and shares a group of two members; transactions where it has them,
of which the aborted ones are not seen. Run by scripts/interop-kafka.sh. Clients are installed once into ~/.cache/tk-clients by their
languages' package managers; what cannot be had is skipped by name. Arguments: the clients that are wanted (all).
The last line is `N passed, N failed`."""
import json, os, pathlib, shutil, socket, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
TK = os.environ["TK"]
CACHE = pathlib.Path(os.environ.get("TK_CLIENTS", pathlib.Path.home() / ".cache" / "tk-clients"))
passed = failed = 0


def run(*command, cwd=None, seconds=120, env=None):
    return subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, timeout=seconds, env={**os.environ, **(env or {})})


def installed(name, *commands, cwd=None):
    """True if the package manager brought it, now or earlier."""
    mark = CACHE / f"{name}.ok"
    if mark.exists(): return True
    CACHE.mkdir(parents=True, exist_ok=True)
    for command in commands:
        try:
            done = run(*command, cwd=cwd or CACHE, seconds=240)
        except (OSError, subprocess.TimeoutExpired) as error:
            print(f"skipped: {name}: {error}")
            return False
        if done.returncode:
            print(f"skipped: {name}: {' '.join(map(str, command))[:60]}: {(done.stderr or done.stdout).strip()[-120:]}")
            return False
    mark.touch()
    return True


class Server:
    """Always on the same port, so that clients find it again."""

    def __init__(self, directory):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{s.getsockname()[1]}"
        self.directory = directory
        self.start()

    def start(self):
        self.process = subprocess.Popen([TK, "-d", self.directory, "serve", "--kafka", self.address], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if line.startswith("ready"): break

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


def values(directory, topic, *args):
    out = run(TK, "-d", directory, "consume", topic, "-f", "%s\n", *args).stdout
    return out.split()


def check(name, step, good, detail=""):
    global passed, failed
    if good: passed += 1
    else:
        failed += 1
        print(f"failed: {name}: {step}: {str(detail)[:700]}")


def client(name, program, codecs, transactions):
    """`program` is called with ADDRESS and a step: "produce TOPIC CODEC FIRST COUNT", "group TOPIC GROUP COUNT" (prints the values that it
    read and committed, one a line), "pair TOPIC GROUP COUNT" (two members of one process), "txn TOPIC" (commits c0..c9, aborts a0..a9)."""
    directory = tempfile.mkdtemp(prefix="tk-clients-")
    server = Server(directory)
    def step(*args):
        try:
            done = run(*program, server.address, *args, cwd=CACHE)
        except subprocess.TimeoutExpired:
            return None, "timed out"
        return (done.stdout.split() if done.returncode == 0 else None), done.stderr[-700:]
    try:
        for codec in codecs:
            out, error = step("produce", f"t-{codec}", codec, "0", "300")
            check(name, f"produces with {codec}", out is not None and values(directory, f"t-{codec}") == [f"v{i}" for i in range(300)], error)
        first = f"t-{codecs[0]}"
        out, error = step("group", first, "g", "200")
        check(name, "reads in a group", out == [f"v{i}" for i in range(200)], (out and out[:3], error))
        server.stop()
        server.start()
        out, error = step("group", first, "g", "100")
        check(name, "goes on behind its commit after a restart", out == [f"v{i}" for i in range(200, 300)], (out and out[:3], error))
        run(TK, "-d", directory, "topics", "create", "two", "-p", "4", "--format", "kafka", "-q")
        step("produce", "two", "none", "0", "200")
        out, error = step("pair", "two", "g2", "200")
        check(name, "two members share a group", out is not None and sorted(out) == sorted(f"v{i}" for i in range(200)), (out and len(out), error))
        if transactions:
            out, error = step("txn", "x")
            seen = values(directory, "x", "--isolation", "read_committed")
            check(name, "transactions", out is not None and seen == [f"c{i}" for i in range(10)], (seen, error))
        done = run(TK, "-d", directory, "verify", "--json")
        check(name, "what it wrote is whole", done.returncode == 0, done.stdout[-300:])
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)


# The consumer protocol (KIP-848) where a client has it: the same steps again.
KIP_848 = ["env", "GROUP_PROTOCOL=consumer"]
ALL_CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]

wanted = sys.argv[1:]
def asked(name): return not wanted or name in wanted


def java_client():
    classes, path = CACHE / "java", run(HERE / "kafkalog", "classpath", seconds=240).stdout.strip()
    if not path: return print("skipped: Java: Kafka's packages could not be fetched")
    done = run("javac", "-cp", path, "-d", classes, HERE / "ClientSteps.java")
    if done.returncode: return check("Java", "is compiled", False, done.stderr)
    program = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{classes}:{path}", "ClientSteps"]
    client("Java", program, ALL_CODECS, True)
    client("Java, group.protocol=consumer", [*KIP_848, *program], ["none"], False)


def python_clients():
    python = CACHE / "py/bin/python"
    if not installed("venv", [sys.executable, "-m", "venv", CACHE / "py"]): return
    for name, packages in (("confluent-kafka", ["confluent-kafka"]), ("aiokafka", ["aiokafka", "cramjam"])):
        if not asked(name) or not installed(name, [python, "-m", "pip", "install", "-q", *packages]): continue
        program = [python, HERE / f"client_{name.replace('-', '_')}.py"]
        client(name, program, ALL_CODECS, True)
        if name == "confluent-kafka": client(f"{name}, group.protocol=consumer", [*KIP_848, *program], ["none"], False)


def kafkajs():
    if not shutil.which("node") or not shutil.which("npm"): return print("skipped: kafkajs: node and npm are not installed")
    if not installed("kafkajs", ["npm", "install", "--silent", "--no-audit", "--no-fund", "kafkajs"]): return
    shutil.copy(HERE / "client_kafkajs.js", CACHE)
    client("kafkajs", ["node", CACHE / "client_kafkajs.js"], ["none", "gzip"], True)


def go_client(name, module, transactions, consumer_protocol):
    go = shutil.which("go") or ("/usr/local/go/bin/go" if os.path.exists("/usr/local/go/bin/go") else None)
    if not go: return print(f"skipped: {name}: go is not installed")
    source, program = CACHE / f"go-{name}", CACHE / f"client-{name}"
    source.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / f"client_{name.replace('-', '_')}.go", source / "main.go")
    shutil.copy(HERE / "client_common.go", source / "common.go")
    if not (source / "go.mod").exists(): run(go, "mod", "init", "interop", cwd=source)
    if not installed(name, [go, "get", module], cwd=source): return
    done = run(go, "build", "-o", program, cwd=source, seconds=240)
    if done.returncode: return check(name, "is compiled", False, done.stderr)
    client(name, [program], ALL_CODECS, transactions)
    if consumer_protocol: client(f"{name}, KIP-848", [*KIP_848, program], ["none"], False)


if asked("Java"): java_client()
python_clients()
if asked("kafkajs"): kafkajs()
for name, *rest in (("franz-go", "github.com/twmb/franz-go/pkg/kgo", True, True), ("sarama", "github.com/IBM/sarama", True, False),
                    ("kafka-go", "github.com/segmentio/kafka-go", False, False)):
    if asked(name): go_client(name, *rest)
print(f"{passed} passed, {failed} failed")
