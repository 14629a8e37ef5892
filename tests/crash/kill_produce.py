#!/usr/bin/env python3
"""Kills `tk produce` at random moments and looks at what it left.

    kill_produce.py [--rounds N] [--seed S] [--only ROUND] [--seconds S] [--keep DIR]

Each round starts a producer with random settings on a log, kills it with SIGKILL, and checks, by a reader of its own and
then by tk itself: every record that was reported durable is there, the rest of what is there is a prefix of the input,
offsets are dense, only the end of the last segment may be torn, and the next producer goes on without a manual step.
As a kill seldom tears a write, some rounds cut the last segment afterwards, anywhere behind what was reported.
Four rounds share a log. A round is repeated by its seed and number (--only runs the rounds before it on the same log,
too). The executable is $TK, else build/release/tk. The last line is `N passed, N failed`.
"""
import argparse
import collections
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import segments

ROUNDS_PER_LOG = 4
PROJECT = pathlib.Path(__file__).resolve().parents[2]
TK = os.environ.get("TK", str(PROJECT / "build/release/tk"))

Settings = collections.namedtuple("Settings", "format sync arguments size pause delay lines")


class Failure(Exception):
    pass


def settings_of_log(rng):
    """What a log keeps over its rounds: format and segment size."""
    create = ["--format", rng.choice(["json", "kafka"])]
    create += ["-c", f"segment.bytes={rng.choice([3000, 20000, 100000, 1000000])}"]
    create += ["-c", f"index.interval.bytes={rng.choice([100, 1000, 4096])}"]
    return create


def settings_of_round(rng, create):
    kafka = create[1] == "kafka"
    arguments = ["--batch-size", str(rng.choice([100, 2000, 16384]))]
    if kafka and rng.random() < 0.3:
        arguments += ["-z", "gzip"]
    sync = rng.choice(["batch", "end", "none"])
    # Some inputs pour in, some come with pauses, in which the producer gives its turn up.
    pause = rng.choice([0, 0, 0.002, 0.01])
    return Settings(create[1], sync, arguments, rng.choice([20, 120, 900]), pause,
                    rng.random() ** 2 * 0.08, rng.choice([None, None, rng.randrange(1, 40)]))


def line(log_round, number, size):
    text = b"%d.%d " % (log_round, number)
    return text + b"x" * (number * 7 % size)


def feed(process, log_round, settings, rng):
    """Writes lines until the pipe breaks."""
    number = 0
    try:
        while number < 200000:
            count = rng.randrange(1, 400)
            process.stdin.write(b"".join(line(log_round, number + i, settings.size) + b"\n" for i in range(count)))
            number += count
            if settings.pause:
                time.sleep(rng.random() * settings.pause)
    except BrokenPipeError:
        pass
    finally:
        process.stdin.close()


def produce_and_kill(directory, log_round, create, settings, rng):
    """The number of the offset below which everything was reported, and when it was killed, in words."""
    command = [TK, "produce", "t", "-d", directory, "--report", "batch", "--sync", settings.sync, *create, *settings.arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    try:
        feeder = threading.Thread(target=feed, args=(process, log_round, settings, rng))
        feeder.start()
        timer = threading.Timer(settings.delay, process.send_signal, [signal.SIGKILL])
        timer.start()
        reported, lines, out = 0, 0, b""
        while chunk := process.stdout.read(65536):
            out += chunk
            whole, _, out = out.rpartition(b"\n")
            for report in whole.splitlines():
                offsets = report.split()[1].split(b"..")
                if int(offsets[0]) < reported:
                    raise Failure(f"reported twice: {report}")
                reported = int(offsets[-1]) + 1
                lines += 1
            if settings.lines and lines >= settings.lines:
                process.kill()
        code = process.wait()
        timer.cancel()
        feeder.join()
        error = process.stderr.read().decode()
        if code not in (-signal.SIGKILL, 0):
            raise Failure(f"produce ended with {code}: {error}")
        return reported
    finally:
        process.kill()
        process.wait()


def run(*arguments, stdin=b""):
    return subprocess.run([TK, *arguments], input=stdin, capture_output=True, timeout=60)


def expect_ok(what, result):
    if result.returncode != 0:
        raise Failure(f"{what} ended with {result.returncode}: {result.stderr.decode()[:600]}")


def check_values(where, values, known, log_round, size):
    """`values` must be `known` and then a prefix of this round's input."""
    if values[:len(known)] != known:
        raise Failure(f"{where}: records of earlier rounds are missing or changed ({len(values)} of {len(known)})")
    for number, value in enumerate(values[len(known):]):
        if value != line(log_round, number, size):
            raise Failure(f"{where}: offset {len(known) + number} holds {value[:60]!r}")


def tear(log, kept, rng):
    """Cuts the last segment at any byte behind the first `kept` records, as a torn write would."""
    if not log.last_ends:
        return False
    least = max([position for offset, position in log.last_ends if offset <= kept], default=0)
    size = os.path.getsize(log.last_path)
    if least == size:
        return False
    # Mostly near the end: whole units before it are more than a tear would leave out.
    os.truncate(log.last_path, max(least, size - 1 - int(rng.random() ** 3 * (size - least))))
    return True


class Log:
    """One log over its rounds: what it must hold."""

    def __init__(self, seed, number, keep):
        self.rng = random.Random(f"{seed}.{number}")
        self.create = settings_of_log(self.rng)
        self.known = []
        self.directory = tempfile.mkdtemp(prefix="tk-kill-") if keep is None else os.path.join(keep, f"log-{number}")

    def round(self, log_round):
        settings = settings_of_round(self.rng, self.create)
        partition = os.path.join(self.directory, "t-0")
        try:
            reported = produce_and_kill(self.directory, log_round, self.create, settings, self.rng)
            log = segments.read_partition(partition, self.rng)
            if len(log.values) < reported:
                raise Failure(f"{reported - len(log.values)} of {reported} reported records are missing")
            if self.rng.random() < 0.4 and tear(log, max(reported, len(self.known)), self.rng):
                log = segments.read_partition(partition, self.rng)
                if len(log.values) < reported:
                    raise Failure("cut too much: the test is wrong")
            check_values("the files", log.values, self.known, log_round, settings.size)
            read = run("consume", "t", "-d", self.directory)
            if log.values or os.path.isdir(partition):
                expect_ok("consume", read)
                if read.stdout != b"".join(value + b"\n" for value in log.values):
                    raise Failure("consume prints something else than the files hold")
            self.known = log.values
            last = [b"after %d" % log_round]
            expect_ok("the next produce", run("produce", "t", "-d", self.directory, "-q", *self.create, stdin=last[0]))
            self.known = self.known + last
            again = segments.read_partition(partition, self.rng)
            if again.values != self.known or again.torn:
                raise Failure("the next producer left a torn or another log")
            verify = run("verify", "-d", self.directory)
            expect_ok("verify", verify)
            return settings, reported, len(log.values), log.torn
        except segments.Damage as damage:
            raise Failure(f"{damage} ({settings})") from damage
        except Failure as failure:
            raise Failure(f"{failure} ({settings})") from failure


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int, help="the log of this round alone, up to this round")
    parser.add_argument("--seconds", type=float, help="end after this time")
    parser.add_argument("--keep", help="make the logs here and leave them")
    options = parser.parse_args()
    began = time.monotonic()
    passed = failed = torn = survivors = reports = 0
    log = None
    for number in range(options.rounds if options.only is None else options.only + 1):
        if options.seconds and time.monotonic() - began > options.seconds:
            break
        if options.only is not None and (number // ROUNDS_PER_LOG != options.only // ROUNDS_PER_LOG or number > options.only):
            continue
        if number % ROUNDS_PER_LOG == 0:
            if log and options.keep is None:
                shutil.rmtree(log.directory, ignore_errors=True)
            log = Log(options.seed, number // ROUNDS_PER_LOG, options.keep)
        if log is None:
            continue
        try:
            _, reported, there, was_torn = log.round(number)
            passed += 1
            torn += was_torn
            survivors += there
            reports += reported
        except Failure as failure:
            failed += 1
            print(f"failed: round {number} of seed {options.seed}, log in {log.directory}: {failure}")
            log = None  # its later rounds would only fail again
    if log and options.keep is None:
        shutil.rmtree(log.directory, ignore_errors=True)
    print(f"{torn} torn tails, {survivors} records found of which {reports} were reported, seed {options.seed}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
