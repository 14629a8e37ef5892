"""The two partners of the interoperability test: the executable under test, and Kafka's own engine in one JVM."""
import base64
import glob
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TK = os.environ.get("TK", os.path.join(HERE, "..", "..", "build", "release", "tk"))


class Kafka:
    """One `kafkalog repl`: a question is a line of words, the answer the list of JSON objects up to {"done":true}."""

    def __init__(self):
        self.process = subprocess.Popen([os.path.join(HERE, "kafkalog"), "repl"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = []
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("Kafka's engine ended")
            row = json.loads(line)
            if row.get("done"):
                return answer
            answer.append(row)

    def last(self, *words):
        answer = self.ask(*words)
        return answer[-1] if answer else {}

    def records(self, partition_dir, command="read"):
        """All records of a partition directory, segment by segment."""
        return [flat(r) for f in segments(partition_dir) for r in self.ask(command, f)]

    def dump(self, cwd, *args):
        """The text of the real dump tool."""
        run = subprocess.run([os.path.join(HERE, "kafkalog"), "dump", *args], cwd=cwd, capture_output=True, timeout=60)
        return run.stdout

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)


def segments(partition_dir):
    return sorted(glob.glob(partition_dir + "/" + "[0-9]" * 20 + ".log"))


def tk(*args, stdin=b"", cwd=None):
    """(exit code, stdout, stderr) of the executable."""
    if isinstance(stdin, str):
        stdin = stdin.encode()
    run = subprocess.run([TK, *map(str, args)], input=stdin, capture_output=True, timeout=60, cwd=cwd,
                         env={**os.environ, "NO_COLOR": "1"})
    return run.returncode, run.stdout, run.stderr


def tk_rows(*args, **kw):
    code, out, err = tk(*args, **kw)
    return code, [json.loads(line) for line in out.splitlines()], err


def tk_records(directory, *args):
    code, rows, _ = tk_rows("consume", "t", "-J", *args, "-d", directory)
    return code, [flat(r) for r in rows]


def content(holder, name):
    """Bytes of a key or value member, or None for null."""
    if holder.get(name + "_b64") is not None:
        return base64.b64decode(holder[name + "_b64"])
    text = holder.get(name)
    return None if text is None else text.encode()


def flat(row):
    """A record line of either partner, or of a spec, as a comparable tuple."""
    headers = []
    for name, value in row.get("headers") or []:
        headers.append((name, None if value is None else base64.b64decode(value["b64"]) if isinstance(value, dict) else value.encode()))
    return (row.get("offset"), row.get("ts"), content(row, "key"), content(row, "value"), tuple(headers))
