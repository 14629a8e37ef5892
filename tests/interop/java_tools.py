"""Kafka's own command line tools against `tk serve` (serve.md §5 T1): consoles, perf tools, topics, groups, configs, get-offsets,
delete-records, log-dirs, transactions, cluster. Run by scripts/interop-kafka.sh; the last line is `N passed, N failed`."""
import json, os, pathlib, re, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
TK = os.environ["TK"]
CLASSPATH = subprocess.run([HERE / "kafkalog", "classpath"], capture_output=True, text=True, check=True).stdout.strip()
directory = tempfile.mkdtemp(prefix="tk-java-tools-")
passed = failed = 0


def check(name, good, detail=""):
    global passed, failed
    if good: passed += 1
    else:
        failed += 1
        print(f"failed: {name}: {str(detail)[-700:]}")


def start():
    process = subprocess.Popen([TK, "-d", directory, "serve", "--kafka", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in process.stdout:
        if line.startswith("listening kafka"): address = line.split()[2]
        if line.startswith("ready"): return process, address


def tool(name, *args, stdin="", server="--bootstrap-server"):
    try:
        done = subprocess.run(["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", CLASSPATH, "org.apache.kafka.tools." + name,
                               *([server, ADDRESS] if server else []), *args], input=stdin, capture_output=True, text=True, timeout=90)
    except subprocess.TimeoutExpired:
        return None, "", "timed out"
    # (slf4j-simple says there what every client does: what went wrong would be lost in it.)
    return done.returncode, done.stdout, "\n".join(line for line in done.stderr.splitlines() if "] INFO " not in line)


def tk(*args): return subprocess.run([TK, "-d", directory, *args], capture_output=True, text=True).stdout
def rows(*args): return [json.loads(line) for line in tk(*args, "--json").splitlines()]


SERVER, ADDRESS = start()
try:
    code, out, err = tool("TopicCommand", "--create", "--topic", "j", "--partitions", "3", "--config", "retention.ms=7200000")
    check("kafka-topics --create", code == 0 and [r["partitions"] for r in rows("topics", "list")] == [3], (out, err))
    code, out, err = tool("TopicCommand", "--alter", "--topic", "j", "--partitions", "4")
    check("kafka-topics --alter", code == 0 and [r["partitions"] for r in rows("topics", "list")] == [4], (out, err))
    code, out, err = tool("TopicCommand", "--describe", "--topic", "j")
    check("kafka-topics --describe", code == 0 and "PartitionCount: 4" in out and "retention.ms=7200000" in out and out.count("Leader: 1") == 4, (out, err))
    code, out, err = tool("ConsoleProducer", "--topic", "j", stdin="".join(f"line {i}\n" for i in range(300)))
    check("kafka-console-producer", code == 0 and sorted(tk("consume", "j").splitlines()) == sorted(f"line {i}" for i in range(300)), err)
    for protocol in ("classic", "consumer"):
        code, out, err = tool("consumer.ConsoleConsumer", "--topic", "j", "--from-beginning", "--group", "g-" + protocol, "--max-messages", "300",
                              "--timeout-ms", "20000", "--command-property", "group.protocol=" + protocol)
        check(f"kafka-console-consumer, group.protocol={protocol}", sorted(out.splitlines()) == sorted(f"line {i}" for i in range(300)), (len(out), err))
        code, out, err = tool("consumer.group.ConsumerGroupCommand", "--describe", "--group", "g-" + protocol)
        lags = [line.split()[5] for line in out.splitlines() if line.startswith("g-")]
        check(f"kafka-consumer-groups --describe, {protocol}", code == 0 and set(lags) == {"0"}, (out, err))
    code, out, err = tool("consumer.group.ConsumerGroupCommand", "--list", "--state")
    check("kafka-consumer-groups --list", code == 0 and "g-classic" in out and "g-consumer" in out, (out, err))
    code, out, err = tool("consumer.group.ConsumerGroupCommand", "--reset-offsets", "--group", "g-classic", "--topic", "j", "--to-earliest", "--execute")
    check("kafka-consumer-groups --reset-offsets", code == 0 and sum(r["lag"] for r in rows("groups", "describe", "g-classic")) == 300, (out, err))
    code, out, err = tool("consumer.group.ConsumerGroupCommand", "--delete", "--group", "g-consumer")
    left = [r["group"] for r in rows("groups", "list")]
    check("kafka-consumer-groups --delete", code == 0 and left == ["g-classic"], (code, left, out, err))
    code, out, err = tool("GroupsCommand", "--list")
    check("kafka-groups --list", code == 0 and re.search(r"g-classic\s+Classic", out), (out, err))
    code, out, err = tool("ConfigCommand", "--alter", "--entity-type", "topics", "--entity-name", "j", "--add-config", "max.message.bytes=5000")
    check("kafka-configs --alter", code == 0 and "max.message.bytes" in tk("topics", "describe", "j", "--configs"), (out, err))
    code, out, err = tool("ConfigCommand", "--describe", "--entity-type", "topics", "--entity-name", "j")
    check("kafka-configs --describe", code == 0 and "max.message.bytes=5000" in out, (out, err))
    code, out, err = tool("GetOffsetShell", "--topic", "j")
    check("kafka-get-offsets", code == 0 and sum(int(line.split(":")[2]) for line in out.split()) == 300, (out, err))
    with open(directory + ".json", "w", encoding="utf-8") as file:
        json.dump({"partitions": [{"topic": "j", "partition": p, "offset": -1} for p in range(4)], "version": 1}, file)
    code, out, err = tool("DeleteRecordsCommand", "--offset-json-file", directory + ".json")
    check("kafka-delete-records", code == 0 and tk("consume", "j") == "", (out, err))
    code, out, err = tool("LogDirsCommand", "--describe", "--topic-list", "j")
    described = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    check("kafka-log-dirs", code == 0 and described and len(described[0]["brokers"][0]["logDirs"][0]["partitions"]) == 4, (out, err))
    code, out, err = tool("ProducerPerformance", "--topic", "p", "--num-records", "5000", "--record-size", "100", "--throughput", "-1", "--bootstrap-server", ADDRESS,
                          "--command-property", "acks=all", server=None)
    check("kafka-producer-perf-test", code == 0 and "5000 records sent" in out, (out, err))
    code, out, err = tool("ConsumerPerformance", "--topic", "p", "--num-records", "5000")
    check("kafka-consumer-perf-test", code == 0 and ", 5000, " in out, (out, err))
    code, out, err = tool("ProducerPerformance", "--topic", "x", "--num-records", "1000", "--record-size", "100", "--throughput", "-1", "--bootstrap-server", ADDRESS,
                          "--transactional-id", "perf", "--transaction-duration-ms", "50", server=None)
    check("kafka-producer-perf-test with transactions", code == 0 and len(tk("consume", "x", "--isolation", "read_committed").splitlines()) == 1000, (out, err))
    code, out, err = tool("TransactionsCommand", "list")
    check("kafka-transactions list", code == 0 and re.search(r"perf\s+1\s+\d+\s+CompleteCommit", out), (out, err))
    code, out, err = tool("TransactionsCommand", "describe", "--transactional-id", "perf")
    check("kafka-transactions describe", code == 0 and "CompleteCommit" in out, (out, err))
    code, out, err = tool("TransactionsCommand", "describe-producers", "--topic", "x", "--partition", "0")
    check("kafka-transactions describe-producers", code == 0 and "None" in out, (out, err))
    code, out, err = tool("ClusterTool", "cluster-id", "--bootstrap-server", ADDRESS, server=None)
    check("kafka-cluster cluster-id", code == 0 and "Cluster ID" in out, (out, err))
    code, out, err = tool("TopicCommand", "--delete", "--topic", "j")
    check("kafka-topics --delete", code == 0 and sorted(r["topic"] for r in rows("topics", "list")) == ["p", "x"], (out, err))
    for topic in ("p", "x"):
        logs = sorted(str(path) for path in pathlib.Path(directory, topic + "-0").glob("*.log"))
        read = subprocess.run([HERE / "kafkalog", "read", *logs], capture_output=True, text=True, timeout=90).stdout.splitlines()
        theirs = [(r["offset"], r["value"]) for r in map(json.loads, read)]
        check(f"Kafka's engine reads the same: {topic}", theirs and theirs == [(r["offset"], r["value"]) for r in map(json.loads, tk("consume", topic, "-J").splitlines())], len(theirs))
    check("what they wrote is whole", subprocess.run([TK, "-d", directory, "verify", "-q"], capture_output=True).returncode == 0)
finally:
    SERVER.terminate()
    SERVER.wait(10)
    shutil.rmtree(directory, ignore_errors=True)
    pathlib.Path(directory + ".json").unlink(missing_ok=True)
print(f"{passed} passed, {failed} failed")
