#!/usr/bin/env python3
"""Holds what all commands have in common (docs/cli.md, "Common to all") against each of them.

one_behaviour.py TK RULE: a rule is a function rule_NAME below; `list` prints their names. One line of the table COMMANDS
is a command and a valid use of it; a command of `tk --help` that is not in it fails the rule `complete`.
"""
import fcntl
import hashlib
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

TK = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
NOW = "1700000000000"
I, S, B, L, N = "integer", "string", "boolean", "list", "null"


class Command:
    """A command, arguments that work, and what it is.

    kind: read (changes nothing), write, free (needs no data directory). base: what the directory holds: plain, cluster, none.
    prints: something on stdout, as text and with --json; text_only: no report, so --json changes nothing of it.
    keys: of the objects that --json prints, by the value of `type` (None: objects without), name: types.
    makes: makes the data directory. dry: takes --dry-run. misspelt: arguments with a name that is nearly right.
    waits: arguments with which it runs until it is stopped. lock: the file whose lock it wants.
    """

    def __init__(self, name, args="", kind="read", base="plain", stdin=b"", prints=True, json_prints=None, text_only=False, keys=None,
                 makes=False, dry=False, misspelt=None, waits=None, lock=None, exit=0):
        self.name, self.args, self.kind, self.base, self.stdin, self.prints = name, args.split(), kind, base, stdin, prints
        self.json_prints = prints if json_prints is None else json_prints
        self.text_only, self.keys, self.makes, self.dry, self.misspelt = text_only, keys or {}, makes, dry, misspelt
        self.waits, self.lock, self.exit = waits, lock, exit

    def words(self):
        return self.name.split()


OFFSETS = {None: {"group": S, "topic": S, "partition": I, "offset": I}}
REPLICA = {None: {"topic": S, "partition": I, "broker": I, "role": S, "alive": B, "in_sync": B, "leo": I, "hw": I, "leader_epoch": I}}
TXN = {None: {}}
GROUP = {None: {"group": S, "state": S, "protocol": S + N, "assignor": S + N, "generation": I, "members": I, "topics": L}}
QUESTION = b'{"partitions":{"t":2},"members":[{"id":"A","topics":["t"]}]}\n'

COMMANDS = [
    Command("topics create", "new", "write", prints=False, makes=True, lock="tk-topics.lock"),
    Command("topics list", keys={None: {"topic": S, "partitions": I, "format": S, "bytes": I, "records": I, "state": S}}),
    Command("topics describe", "orders", misspelt="ordes", keys={None: {
        "topic": S, "partition": I, "format": S, "segments": I, "bytes": I, "log_start_offset": I, "log_end_offset": I,
        "high_watermark": I, "last_stable_offset": I, "first_ts": I + N, "last_ts": I + N, "topic_id": S + N, "state": S, "path": S}}),
    Command("topics alter", "orders -p 2", "write", prints=False, misspelt="ordes -p 2", lock="tk-topics.lock"),
    Command("topics delete", "orders", "write", prints=False, json_prints=True, dry=True, misspelt="ordes", lock="tk-topics.lock",
            keys={None: {"topic": S, "path": S, "action": S}}),
    Command("produce", "orders", "write", stdin=b"x\ny\n", makes=True, waits="orders", lock="orders-0/.lock", keys={None: {
        "topic": S, "partition": I, "base_offset": I, "last_offset": I, "count": I, "duplicates": I, "bytes": I}}),
    Command("consume", "orders", misspelt="ordes", waits="orders -F", keys={None: {
        "topic": S, "partition": I, "offset": I, "ts": I, "tstype": S, "key": S + N, "value": S + N, "headers": L}}),
    Command("dump-log", "events-0", misspelt="evens-0", waits="-", keys={
        "batch": {"file": S, "position": I, "size": I, "magic": I + N, "base_offset": I, "last_offset": I, "count": I, "codec": S,
                  "crc": I + N, "valid": B, "leader_epoch": I, "producer_id": I, "producer_epoch": I, "base_sequence": I,
                  "transactional": B, "control": B, "max_ts": I},
        "index": {"offset": I, "position": I}, "timeindex": {"ts": I, "offset": I}}),
    Command("verify", "", misspelt="ordes", keys={
        "problem": {"severity": S, "kind": S, "partition": S + N, "file": S, "position": I + N, "offset": I + N, "found": I + N,
                    "expected": I + N, "message": S},
        "summary": {"partitions": I, "segments": I, "bytes": I, "batches": I, "records": I, "damage": I, "derived": I, "notes": I,
                    "unprotected": I}}),
    Command("recover", "", "write", dry=True, misspelt="ordes", lock="orders-0/.lock", keys={None: {
        "partition": S, "segment": S, "file_bytes": I, "valid_bytes": I, "cut_bytes": I, "records": I, "next_offset": I, "reason": S,
        "action": S, "index": S}}),
    Command("rebalance", "busy --heartbeat m", "write", lock="group-busy.lock", waits="--preview", keys={None: {
        "group": S, "generation": I, "assignor": S, "member": S, "partitions": L, "revoking": L, "moved": I}}),
    Command("commit", "idle orders-0=6", "write", misspelt="idle ordes-0=6", lock="group-idle.lock", keys={None: {
        "group": S, "topic": S, "partition": I, "offset": I, "previous": I + N, "went_back": B}}),
    Command("groups list", keys=GROUP),
    Command("groups describe", "idle", misspelt="idel", keys={None: {
        "group": S, "topic": S, "partition": I, "committed": I + N, "log_start_offset": I + N, "log_end_offset": I + N,
        "end_offset": I + N, "lag": I + N, "member": S + N, "metadata": S + N, "leader_epoch": I + N, "commit_ts": I + N, "note": S + N}}),
    Command("groups events", "idle", misspelt="idel", keys={None: {"ts": I, "group": S, "ev": S}}),
    Command("groups export", "idle", misspelt="idel", keys=OFFSETS),
    Command("groups delete", "idle", "write", prints=False, json_prints=True, dry=True, misspelt="idel", lock="group-idle.lock",
            keys={None: {"group": S, "path": S, "action": S}}),
    Command("groups delete-offsets", "idle -t orders", "write", dry=True, misspelt="idel -t orders", lock="group-idle.lock",
            keys={None: {"group": S, "topic": S, "partition": I, "action": S}}),
    Command("groups reset-offsets", "idle --to-earliest --all-topics --execute", "write", misspelt="idel --to-earliest --all-topics",
            lock="group-idle.lock", keys={None: {"group": S, "topic": S, "partition": I, "from": I + N, "to": I, "clamped": B, "note": S + N}}),
    Command("txn begin", "fresh", "write", makes=True, lock="tk-producers.lock",
            keys={None: {"id": S, "producer_id": I, "epoch": I, "timeout_ms": I}}),
    Command("txn commit", "open", "write", prints=False, json_prints=True, misspelt="opne", lock="tk-producers.lock", keys={None: {"id": S}}),
    Command("txn abort", "open", "write", prints=False, json_prints=True, misspelt="opne", lock="tk-producers.lock", keys={None: {"id": S}}),
    Command("txn list", "", keys=TXN),
    Command("txn describe", "open", misspelt="opne", keys=TXN),
    Command("txn expire", "--at 2100-01-01T00:00:00Z", "write", lock="tk-producers.lock",
            keys={None: {"id": S}}),
    Command("producers list", keys={None: {"name": S, "producer_id": I, "epoch": I, "partitions": L}}),
    Command("producers delete", "loader", "write", prints=False, misspelt="laoder", lock="tk-producers.lock"),
    Command("cluster init", "--brokers 2", "write", "none", prints=False, makes=True),
    Command("cluster status", "", base="cluster", keys={
        "broker": {"broker": I, "alive": B, "fenced": B, "broker_epoch": I, "leaders": I, "replicas": I, "path": S},
        "controller": {"controller": I, "alive": B, "role": S, "epoch": I, "log_end_offset": I, "high_watermark": I},
        "cluster": {"cluster_id": S, "now": I, "brokers": I, "controllers": I}}),
    Command("cluster stop", "2", "write", "cluster", prints=False, lock="tk-cluster.lock"),
    Command("cluster start", "3", "write", "cluster", prints=False, lock="tk-cluster.lock"),
    Command("cluster events", "", base="cluster", keys={None: {}}),
    Command("replicate-sim", "orders-0", "write", "cluster", misspelt="ordes-0", lock="tk-cluster.lock", keys=REPLICA,
            waits="--seeds 1..100000000"),
    Command("failover", "orders-0 --to 2", "write", "cluster", dry=True, misspelt="ordes-0", lock="tk-cluster.lock", keys={None: {
        "topic": S, "partition": I, "old_leader": I, "new_leader": I, "leader_epoch": I, "isr": L, "truncated": "object",
        "committed_lost": I, "acked_lost": "object"}}),
    Command("retain", "-c retention.bytes=1", "write", dry=True, misspelt="ordes", lock="orders-0/.lock", keys={None: {
        "topic": S, "partition": I, "segment": S, "action": S, "reason": S, "bytes": I, "max_ts": I + N, "next_offset": I}}),
    Command("compact", "-c cleanup.policy=compact --force --roll orders", "write", dry=True, misspelt="ordes", lock="orders-0/.lock", keys={None: {
        "topic": S, "partition": I, "action": S, "reason": S + N, "first_dirty_offset": I + N, "cleaned_to": I + N, "records_before": I + N,
        "records_after": I + N, "bytes_before": I + N, "bytes_after": I + N}}),
    Command("delete-records", "orders-0=2", "write", dry=True, misspelt="ordes-0=2", lock="orders-0/.lock", keys={None: {
        "topic": S, "partition": I, "from": I, "to": I, "segments_deleted": I}}),
    Command("get-offsets", "", misspelt="ordes", keys={None: {"topic": S, "partition": I, "offset": I + N, "ts": I + N}}),
    Command("serve", "--kafka 127.0.0.1:0 --idle-exit 1", "write", makes=True, waits="--kafka 127.0.0.1:0", lock="tk-serve.lock",
            keys={None: {"event": S}}),
    Command("completion", "bash", "free", "none", text_only=True),
    Command("help", "consume", "free", "none", text_only=True),
]
BY_NAME = {command.name: command for command in COMMANDS}

# docs/cli.md: each code name has one exit code.
EXITS = {name: code for code, names in {
    1: "UNKNOWN_TOPIC_OR_PARTITION TOPIC_ALREADY_EXISTS GROUP_ID_NOT_FOUND MESSAGE_TOO_LARGE INVALID_RECORD INVALID_TXN_STATE "
       "BROKER_NOT_AVAILABLE STORAGE_ERROR UNSUPPORTED_VERSION UNKNOWN_PRODUCER_ID TRANSACTIONAL_ID_NOT_FOUND",
    2: "INVALID_REQUEST INVALID_TOPIC_EXCEPTION INVALID_CONFIG INVALID_PARTITIONS INVALID_GROUP_ID INVALID_SESSION_TIMEOUT",
    3: "CORRUPT_MESSAGE CORRUPT_STATE",
    4: "LOG_DIR_LOCKED NOT_LEADER_OR_FOLLOWER LEADER_NOT_AVAILABLE ELIGIBLE_LEADERS_NOT_AVAILABLE",
}.items() for name in names.split()}

failures = []
checks = 0


def check(truth, *what):
    global checks
    checks += 1
    if not truth:
        failures.append(" ".join(str(w) for w in what))


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return f"exit {self.code}, stdout {self.out[:300]!r}, stderr {self.err[:500]!r}"


def environment(**changes):
    env = {key: value for key, value in os.environ.items() if not key.startswith("TK_") and key not in ("NO_COLOR", "TERM")}
    env.update({"NO_COLOR": "1", "TK_NOW": NOW})
    env.update(changes)
    return {key: value for key, value in env.items() if value is not None}


def run(args, stdin=b"", env=None, cwd=None, **streams):
    """stdin: bytes, or a file; stdout and stderr are captured unless they are given."""
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    done = subprocess.run([TK, *args], input=stdin, env=env or environment(), cwd=cwd, timeout=60, check=False, **given)
    return Result(done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode())


# In memory where there is such a place: hundreds of short runs that force their data.
WORK = tempfile.mkdtemp(prefix="tk-one-behaviour.", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
os.chmod(WORK, 0o755)
CLEAN = [WORK]
DIR = os.path.join(WORK, "data")
_bases = {}


def setup(script, directory):
    for line in script.strip().splitlines():
        words = line.strip().split("|")
        result = run(["-d", directory, "-q", *words[0].split()], stdin=(words[1] if len(words) > 1 else "").encode().decode("unicode_escape").encode())
        if result.code != 0:
            sys.exit(f"could not make the test's data: {line.strip()}: {result}")


def base(name):
    if name not in _bases:
        directory = os.path.join(WORK, "base-" + name)
        if name == "plain":
            setup(r"""
                topics create orders -c segment.bytes=200
                produce orders -K :|a:1\nb:2\na:3\nb:4\na:5\nb:6\na:7\nb:8\n
                produce events --format kafka --producer loader|1\n2\n3\n
                rebalance busy --topic events --join m --session-timeout 0 --max-poll-interval 0
                commit idle orders-0=5
                txn begin open --timeout 900000
                produce events --txn open|4\n
                """, directory)
        elif name == "cluster":
            setup(r"""
                cluster init --brokers 3
                topics create orders -c min.insync.replicas=1
                produce orders --acks all|1\n2\n3\n
                cluster stop 3 --controlled
                """, directory)
        _bases[name] = directory
    return _bases[name]


def fresh(command):
    """DIR as the command wants to find it; returns it."""
    shutil.rmtree(DIR, ignore_errors=True)
    if command.base != "none":
        subprocess.run(["cp", "-a", base(command.base), DIR], check=True)
    return DIR


def digest(directory):
    """Every file with its content, size and modification time."""
    lines = []
    for where, names, files in os.walk(directory):
        for name in sorted(names + files):
            path = os.path.join(where, name)
            stat = os.lstat(path)
            content = hashlib.sha256(open(path, "rb").read()).hexdigest() if name in files and os.path.isfile(path) else ""
            lines.append(f"{path} {stat.st_mode} {stat.st_size} {stat.st_mtime_ns} {content}")
    return sorted(lines)


def valid(command, before=(), after=(), args=None, **how):
    """A valid use of the command in a fresh directory, with more arguments before and behind."""
    fresh(command)
    how.setdefault("stdin", command.stdin)
    return run(["-d", DIR, *before, *command.words(), *(command.args if args is None else args.split()), *after], **how)


def error_object(result, *what):
    """The last line on stderr of a failure with --json; its exit code is the one that its name has."""
    try:
        last = json.loads(result.err.strip().splitlines()[-1])
    except (IndexError, ValueError):
        check(False, *what, "the last line on stderr is no object:", result)
        return {}
    check(list(last)[:4] == ["error", "message", "path", "position"], *what, "members", last)
    check(EXITS.get(last.get("error")) == result.code, *what, last.get("error"), "with exit", result.code)
    return last


def kinds(value):
    return (N if value is None else B if isinstance(value, bool) else I if isinstance(value, int) else S if isinstance(value, str)
            else L if isinstance(value, list) else "object" if isinstance(value, dict) else "number")


# ---- the rules


def rule_complete():
    listed = re.findall(r"^  ([a-z-]+(?: [a-z-]+)?)  +\S", run(["--help"]).out.split("Global options:")[0], re.M)
    check(len(listed) > 30, "tk --help lists", len(listed), "commands")
    for name in listed:
        check(name in BY_NAME, name, "is not in the table of", __file__)
    for name in BY_NAME:
        check(name in listed, name, "is in the table, but not in tk --help")


def rule_valid_use():
    """Exit 0; the data on stdout, anything else on stderr; --quiet leaves nothing on stderr."""
    for command in COMMANDS:
        result = valid(command)
        check(result.code == command.exit and "error" not in result.err, command.name, result)
        if command.prints is not None:
            check(bool(result.out) == bool(command.prints), command.name, "prints on stdout:", result)
        quiet = valid(command, after=["-q"])
        check(quiet.code == command.exit and re.sub(r"tk: warning: .*\n", "", quiet.err) == "", command.name, "-q:", quiet)


def rule_json():
    """--json: an object a line with the members and types of docs/cli.md; 64-bit integers as numbers; same exit code."""
    for command in COMMANDS:
        if command.text_only:
            continue
        result = valid(command, after=["--json"])
        check(result.code == command.exit, command.name, "--json:", result)
        if command.prints is not None:
            check(bool(result.out) == bool(command.json_prints), command.name, "--json prints:", result)
        for line in result.out.splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                check(False, command.name, "no JSON:", line)
                continue
            wanted = command.keys.get(row.get("type"), command.keys.get(None)) if isinstance(row, dict) else None
            if wanted is None:
                check(isinstance(row, dict) and "type" in row, command.name, "is no object of the table:", line)
                continue
            for key, types in wanted.items():
                check(key in row and kinds(row[key]) in types, command.name, key, "of", types, "in", line)


def rule_global_options():
    """They stand before or behind the command; $TK_DIR is as good as --dir, and ./tk-data the default."""
    for command in COMMANDS:
        if command.name == "serve":  # its port differs from run to run
            continue
        usual = valid(command, after=["--json"])
        check(valid(command, before=["--json", "--color", "never"]).out == usual.out, command.name, "--json before the command")
        fresh(command)
        here = run([*command.words(), *command.args, "--json", "--dir=" + DIR], stdin=command.stdin)
        check((here.code, here.out) == (usual.code, usual.out), command.name, "--dir behind the command:", here)
        fresh(command)
        here = run([*command.words(), *command.args, "--json"], stdin=command.stdin, env=environment(TK_DIR=DIR))
        check((here.code, here.out) == (usual.code, usual.out), command.name, "$TK_DIR:", here)
        if command.kind != "free" and not command.makes:
            lost = run([*command.words(), *command.args], cwd=WORK, stdin=command.stdin)
            check(lost.code == 1 and "tk-data" in lost.err, command.name, "without a directory:", lost)


def rule_missing_directory():
    """Who only reads or changes what is there fails and makes nothing; the message names the directory."""
    for command in COMMANDS:
        if command.kind == "free":
            continue
        missing = os.path.join(WORK, "missing")
        shutil.rmtree(missing, ignore_errors=True)
        result = run(["-d", missing, "--json", *command.words(), *command.args], stdin=command.stdin)
        if command.makes:
            check(result.code == 0 and os.path.isdir(missing), command.name, result)
            continue
        check(result.code == 1 and not os.path.exists(missing), command.name, "missing directory:", result)
        last = error_object(result, command.name, "missing directory:")
        check(missing in (last.get("path") or ""), command.name, "names the directory:", last)


def rule_file_as_directory():
    """A file where the directory should be, or on the way to it: exit 1, the path, and the file is as it was."""
    file = os.path.join(WORK, "file")
    with open(file, "w") as out:
        out.write("mine\n")
    for command in COMMANDS:
        if command.kind == "free":
            continue
        for path in (file, file + "/below"):
            result = run(["-d", path, "--json", *command.words(), *command.args], stdin=command.stdin)
            check(result.code == 1, command.name, "-d", path, result)
            check(file in (error_object(result, command.name, path).get("path") or ""), command.name, "names the path:", result)
    check(open(file).read() == "mine\n", "the file was changed")


def rule_unwritable_directory():
    """On what cannot be written, readers work as ever; writers fail with the path, and leave all as it was."""
    tk, as_user = TK, []
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            print("skipped: root without setpriv")
            return
        place = tempfile.mkdtemp(prefix="tk-one-behaviour.")
        os.chmod(place, 0o755)
        CLEAN.append(place)
        tk = shutil.copy(TK, place)
        as_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    for command in COMMANDS:
        if command.base == "none":
            continue
        fresh(command)
        subprocess.run(["chmod", "-R", "a-w,a+rX", DIR], check=True)
        before = digest(DIR)
        done = subprocess.run([*as_user, tk, "-d", DIR, "--json", *command.words(), *command.args], input=command.stdin, capture_output=True,
                              env=environment(TMPDIR="/tmp"), timeout=60, check=False, cwd="/")
        result = Result(done.returncode, done.stdout.decode(), done.stderr.decode())
        check(digest(DIR) == before, command.name, "changed a directory that cannot be written")
        if command.kind == "read":
            check(result.code == command.exit, command.name, "read-only:", result)
        else:
            check(result.code == 1, command.name, "read-only:", result)
            check(DIR in (error_object(result, command.name, "read-only:").get("path") or ""), command.name, "names the path:", result)
        subprocess.run(["chmod", "-R", "u+w", DIR], check=True)


def rule_mistyped_option():
    """Exit 2 before anything is done: one message with the nearest name, and where help is."""
    for command in COMMANDS:
        fresh(command)
        before = digest(DIR)
        result = run(["-d", DIR, *command.words(), *command.args, "--lock-timeuot", "5", "--json"], stdin=command.stdin)
        first = result.err.splitlines()[0] if result.err else ""
        check(result.code == 2 and result.out == "", command.name, result)
        check(first == "tk: error: unknown option '--lock-timeuot'; did you mean '--lock-timeout'?", command.name, "says", first)
        check(f"tk {command.name} --help" in result.err, command.name, "points to its help:", result)
        check(error_object(result, command.name).get("error") == "INVALID_REQUEST", command.name, result)
        check(digest(DIR) == before, command.name, "changed something in spite of a usage error")
        for args in (["--lock-timeout"], ["--lock-timeout", "x"], ["--color", "pink"], ["--at", "someday"], ["-d", ""]):
            again = run(["-d", DIR, *command.words(), *command.args, *args], stdin=command.stdin)
            check(again.code == 2 and again.out == "" and again.err.startswith("tk: error: "), command.name, args, again)
        again = run(["-d", DIR, *command.words(), *command.args], stdin=command.stdin, env=environment(TK_NOW="soon"))
        check(again.code == 2 and "TK_NOW" in again.err, command.name, "$TK_NOW:", again)


def rule_mistyped_command():
    for command in COMMANDS:
        *first, last = command.words()
        for wrong in (last[:-1] + "xx", last[1:] + last[0], last[:1] + last[2:]):
            if " ".join([*first, wrong]) in BY_NAME:
                continue
            result = run([*first, wrong])
            check(result.code == 2 and result.out == "" and "unknown command" in result.err, command.name, wrong, result)
        result = run([*first, last[:-2] + last[-1] + last[-2]])
        check(result.code == 2 and f"did you mean '{command.name}'?" in result.err, command.name, result)


def rule_mistyped_name():
    """A topic, group or transaction that is not there: exit 1, Kafka's code, the nearest name; nothing is changed."""
    for command in COMMANDS:
        if command.misspelt is None:
            continue
        result = valid(command, args=command.misspelt, after=["--json"])
        check(result.code == 1, command.name, command.misspelt, result)
        check("did you mean" in result.err, command.name, command.misspelt, "has no suggestion:", result)
        error_object(result, command.name, command.misspelt)


def rule_help():
    for command in COMMANDS:
        fresh(command)
        before = digest(DIR)
        usual = run([*command.words(), "--help"])
        check(usual.code == 0 and usual.err == "", command.name, usual)
        for args in ([*command.words(), "-h"], ["help", *command.words()], ["-d", DIR, *command.words(), *command.args, "--help"]):
            check(run(args).out == usual.out, args, "differs from --help")
        check(digest(DIR) == before, command.name, "--help changed something")
        lines = usual.out.splitlines()
        check(re.fullmatch(rf"tk {command.name} - \S.*[^.]", lines[0]), command.name, "purpose:", lines[0])
        check(lines[2].startswith(f"Usage: tk {command.name} [OPTION]..."), command.name, lines[2])
        examples = usual.out.split("\nExamples:\n")[-1].splitlines()
        check(2 <= len(examples) <= 5 and all(re.search(rf"\btk .*{command.words()[-1]}", line) for line in examples), command.name, examples)
        check("\nGlobal options:\n" in usual.out and max(map(len, lines)) <= 140, command.name, "longest line", max(map(len, lines)))
        check(("--dry-run" in usual.out) == command.dry or command.name in ("groups reset-offsets", "verify"), command.name, "--dry-run")
        described = usual.out.split("Usage:")[1].split("\n\n")[1]
        check(re.match(r"[A-Z].*\.$", described, re.S), command.name, "is not described:", described)


def rule_full_output():
    """/dev/full: exit 1 and a message, wherever something was to be printed."""
    if not os.path.exists("/dev/full"):
        return
    for command in COMMANDS:
        for after in ([], ["--json"]):
            prints = command.json_prints if after else command.prints
            if prints is None:
                continue
            with open("/dev/full", "wb") as full:
                result = valid(command, after=after, stdout=full)
            check(result.code == (1 if prints else command.exit), command.name, after, "> /dev/full:", result)
            if prints:
                check("tk: error: " in result.err and "standard output" in result.err, command.name, "> /dev/full:", result)
                if after:
                    error_object(result, command.name, "> /dev/full:")


def rule_closed_streams():
    for command in COMMANDS:
        if command.prints is not None:
            result = valid(command, stdout=None, preexec_fn=lambda: os.close(1))
            check(result.code == (1 if command.prints else command.exit), command.name, ">&-:", result)
        result = valid(command, stderr=None, preexec_fn=lambda: os.close(2))
        check(result.code == command.exit, command.name, "2>&-:", result)
        if not command.stdin:
            result = valid(command, preexec_fn=lambda: os.close(0))
            check(result.code == command.exit, command.name, "<&-:", result)


def rule_broken_pipe():
    """A reader that has gone: no message, exit 0."""
    for command in COMMANDS:
        for after in ([], ["--json"]):
            reader, writer = os.pipe()
            os.close(reader)
            result = valid(command, after=after, stdout=writer)
            os.close(writer)
            check(result.code == command.exit and "error" not in result.err, command.name, after, "| gone:", result)


def rule_signals():
    """SIGINT 130, SIGTERM 143, without a message of failure, and no lock stays behind."""
    for command in COMMANDS:
        if command.waits is None:
            continue
        for number in (signal.SIGINT, signal.SIGTERM):
            fresh(command)
            process = subprocess.Popen([TK, "-d", DIR, *command.words(), *command.waits.split()], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, env=environment())
            if command.name == "serve":
                process.stdout.readline()
            time.sleep(0.15)
            check(process.poll() is None, command.name, command.waits, "ended by itself")
            process.send_signal(number)
            try:
                out, err = process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                check(False, command.name, "does not end at signal", number)
                continue
            check(process.returncode == 128 + number, command.name, "signal", number, "gives", process.returncode, err.decode())
            check(b"error" not in err, command.name, err.decode())
        result = run(["-d", DIR, "--lock-timeout", "0", *command.words(), *command.args], stdin=command.stdin)
        check(result.code == command.exit, command.name, "after it was interrupted:", result)


def rule_readers_change_nothing():
    """Readers, and every --dry-run, leave content, size and time of each file as they are; a --dry-run says what would be."""
    for command in COMMANDS:
        if command.kind == "write" and not command.dry:
            continue
        fresh(command)
        before = digest(DIR)
        for after in ([], ["--json"]):
            args = ["-d", DIR, *command.words(), *command.args, *after, *(["--dry-run"] if command.dry else [])]
            result = run(args, stdin=command.stdin)
            check(result.code == command.exit, args, result)
            check(digest(DIR) == before, args, "changed something")
            check(result.out, args, "says nothing")
            if after and not command.text_only:
                for line in result.out.splitlines():
                    check(isinstance(json.loads(line), dict), args, line)


def hold(path, whole):
    """An exclusive lock as another process has it: of the whole file (a broker's), or of its first byte (a tk's)."""
    file = open(path, "a+b")
    fcntl.fcntl(file, 37, struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0 if whole else 1, 0) + bytes(4))  # F_OFD_SETLK
    return file


def rule_live_broker():
    """Its directory is refused to writers at once, whatever --lock-timeout says; readers do not mind."""
    for command in COMMANDS:
        if command.base != "plain":
            continue
        fresh(command)
        with hold(os.path.join(DIR, ".lock"), True):
            before, began = digest(DIR), time.monotonic()
            result = run(["-d", DIR, "--json", *command.words(), *command.args], stdin=command.stdin)
            took = time.monotonic() - began
            if command.kind == "read":
                check(result.code == command.exit, command.name, "live broker:", result)
                continue
            check(result.code == 4 and took < 5, command.name, "live broker:", f"{took:.1f} s", result)
            last = error_object(result, command.name, "live broker:")
            check(last.get("error") == "LOG_DIR_LOCKED" and DIR in (last.get("path") or ""), command.name, last)
            check(digest(DIR) == before, command.name, "changed something in a live broker's directory")
            if command.dry:
                looked = run(["-d", DIR, *command.words(), *command.args, "--dry-run"], stdin=command.stdin)
                check(looked.code == command.exit, command.name, "--dry-run beside a live broker:", looked)


def rule_another_tk():
    """A lock that another tk holds is waited for as long as --lock-timeout says: then exit 4 and the path."""
    for command in COMMANDS:
        if command.lock is None:
            continue
        fresh(command)
        path = os.path.join(DIR, command.lock)
        with hold(path, True):
            for wait in ("0", "150"):
                began = time.monotonic()
                result = run(["-d", DIR, "--json", "--lock-timeout", wait, *command.words(), *command.args], stdin=command.stdin)
                took = time.monotonic() - began
                last = error_object(result, command.name, command.lock)
                check(result.code == 4 and last.get("error") == "LOG_DIR_LOCKED", command.name, command.lock, result)
                check(DIR in (last.get("path") or ""), command.name, last)
                check(took < 5 and (command.name == "serve" or took * 1000 >= int(wait)), command.name, "waited", f"{took:.2f} s of", wait, "ms")


def on_terminal(args, env, stdout=subprocess.DEVNULL):
    """Runs with stderr on a terminal; what it showed there. `args` begin with tk's own, or with another program."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(args if args[0] == "strace" else [TK, *args], stdin=subprocess.DEVNULL, stdout=stdout, stderr=theirs, env=env)
    os.close(theirs)
    shown = b""
    while select.select([ours], [], [], 20)[0]:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    process.wait()
    os.close(ours)
    return shown.decode()


def rule_colour():
    """On a terminal only, never with NO_COLOR; --color decides otherwise; never in JSON."""
    for command in COMMANDS:
        wrong = [*command.words(), *command.args, "--no-such-option"]
        plain = environment(NO_COLOR=None, TERM="xterm")
        check("\033[" in on_terminal(wrong, plain), command.name, "has no colour on a terminal")
        check("\033[" not in on_terminal(wrong, environment(TERM="xterm")), command.name, "colours in spite of NO_COLOR")
        check("\033[" not in run(wrong, env=plain).err, command.name, "colours what is no terminal")
        if command.kind == "free":
            continue
        missing = ["-d", os.path.join(WORK, "file-or-not", "below"), *command.words(), *command.args]
        result = valid(command, after=["--json", "--color", "always"])
        check("\033[" not in result.out, command.name, "colours JSON:", result)
        if not command.makes:
            check("\033[" in run([*missing, "--color", "always"], env=environment()).err, command.name, "--color always")
            check("\033[" not in on_terminal([*missing, "--color", "never"], plain), command.name, "--color never")


def rule_progress():
    """Long work says on a terminal how far it is and how long it will take, then takes the line away; not with -q, and not
    where stderr is no terminal. Reads that a tracer holds up make little work long."""
    directory = os.path.join(WORK, "long")
    made = [TK, "-d", directory]
    settings = ["--format", "kafka", "-c", "segment.bytes=65536", "-c", "cleanup.policy=compact"]
    subprocess.run([*made, "topics", "create", "long", "-p", "4", *settings, "-q"], check=True, env=environment())
    lines = b"".join(b"%d:some text that makes the line of number %d longer\n" % (i, i) for i in range(8000))
    subprocess.run([*made, "produce", "long", "-K", ":", "-q"], check=True, input=lines, env=environment())

    def slowly(microseconds, *args):
        inject = f"inject=pread64:delay_exit={microseconds}"
        return ["strace", "-f", "-q", "-o", os.devnull, "-e", "trace=pread64", "-e", inject, TK, "-d", directory, *args]

    traced = subprocess.run(slowly(1, "topics", "list", "-q"), capture_output=True, check=False)
    if traced.returncode != 0:
        print("nothing may be traced here: progress is left out", file=sys.stderr)
        return
    long_input = os.path.join(WORK, "long-input")
    with open(long_input, "wb") as file:
        file.write(lines * 40)
    tracing = ["strace", "-f", "-q", "-o", os.devnull, "-e", "trace=pwrite64", "-e", "inject=pwrite64:delay_exit=200000", TK, "-d", os.path.join(WORK, "made")]
    shown = on_terminal([*tracing, "produce", "long", long_input], environment())
    check(re.search(r"produced \d+ MiB, \d+ MiB/s, \d+ % of \d+ MiB, \d+ s left", shown), "produce", "shows no progress:", repr(shown))
    segment = os.path.join(WORK, "made", "long-0", "%020d.log" % 0)
    printing = (["consume", "long"], ["dump-log", segment])
    for args in (["verify"], ["recover", "--full", "--dry-run"], *printing, ["compact", "long-0", "--force", "--roll"]):
        calls = subprocess.run(["strace", "-f", "-qq", "-c", "-e", "trace=pread64", TK, "-d", directory, *args, *(["--dry-run"] if args[0] == "compact" else [])],
                               capture_output=True, check=False, text=True).stderr
        count = int(re.search(r"(\d+)\s+pread64", calls).group(1))
        each = (6_000_000 if args in printing else 3_000_000) // count
        quiet = on_terminal(slowly(each, *args, "-q"), environment()) if args[0] == "verify" else ""
        check(quiet == "", args[0], "-q shows progress:", repr(quiet))
        if args in printing:
            shown = on_terminal(slowly(each, *args), environment())
            check(shown == "", args[0], "shows progress beside an output that is no file:", repr(shown))
        with open(os.path.join(WORK, "printed"), "wb") as printed:
            shown = on_terminal(slowly(each, *args), environment(), printed if args in printing else subprocess.DEVNULL)
        check(re.search(r" MiB, \d+ MiB/s, \d+ % of \d+ MiB, \d+ s left", shown), args[0], "shows no progress:", repr(shown))
        check(shown.endswith("\r\033[K"), args[0], "leaves its progress on the terminal:", repr(shown))
    shown = on_terminal(["replicate-sim", "--seeds", "1..1000"], environment())
    check(re.search(r"simulated \d+ seeds, \d+ seeds/s, \d+ % of 1000 seeds, \d+ s left", shown), "replicate-sim", "shows no progress:", repr(shown))


RULES = {name[5:]: rule for name, rule in globals().items() if name.startswith("rule_")}


def main():
    if len(sys.argv) != 3 or (sys.argv[2] not in RULES and sys.argv[2] != "list"):
        sys.exit(__doc__ + "\nrules: " + " ".join(RULES))
    if sys.argv[2] == "list":
        print("\n".join(RULES))
        return
    try:
        RULES[sys.argv[2]]()
    finally:
        subprocess.run(["chmod", "-R", "u+w", WORK], check=False)
        for place in CLEAN:
            shutil.rmtree(place, ignore_errors=True)
    for failure in failures:
        print(failure)
    print(f"{sys.argv[2]}: {checks - len(failures)} of {checks} hold")
    sys.exit(1 if failures or checks == 0 else 0)


main()
