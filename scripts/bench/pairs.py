"""Paired measurements: reference and subject back to back, the order swapped every round, ratios per pair."""
import os
import statistics
import subprocess
import time


class Row:
    """One line of the table.

    reference, subject: shell commands, or functions that return seconds; prepare: what is done, untimed, before each of them.
    must, aim: least and hoped-for ratio reference / subject (higher is better); None where nothing is asked.
    check: called once after the rounds; returns what is wrong with the answer, or "".
    """

    def __init__(self, name, what, reference, subject, must, aim, prepare=None, check=None, repeat=1):
        self.name, self.what = name, what
        self.reference, self.subject = reference, subject
        self.must, self.aim = must, aim
        self.prepare, self.check = prepare or (lambda: None), check or (lambda: "")
        self.repeat = repeat

    def measure(self, pairs):
        ratios = []
        self._time(self.reference), self._time(self.subject)
        for i in range(pairs):
            if i % 2 == 0:
                reference, subject = self._time(self.reference), self._time(self.subject)
            else:
                subject, reference = self._time(self.subject), self._time(self.reference)
            ratios.append((reference / subject, reference, subject))
        return Result(self, ratios, self.check())

    def _time(self, command):
        self.prepare()
        if callable(command):
            return command()
        if self.repeat > 1:
            return spawn_time(command, self.repeat)
        begin = time.perf_counter()
        done = subprocess.run(["bash", "-c", command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        taken = time.perf_counter() - begin
        if done.returncode != 0:
            raise SystemExit(f"bench: '{command}' failed ({done.returncode}): {done.stderr.decode()}")
        return taken


def spawn_time(command, times):
    """Mean wall time of starting `command` (words, no shell) and waiting for its end."""
    words = command.split()
    null = os.open(os.devnull, os.O_RDWR)
    files = [(os.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)]
    begin = time.perf_counter()
    for _ in range(times):
        pid = os.posix_spawn(words[0], words, os.environ, file_actions=files)
        if os.waitpid(pid, 0)[1] != 0:
            raise SystemExit(f"bench: '{command}' failed")
    taken = (time.perf_counter() - begin) / times
    os.close(null)
    return taken


class Result:
    def __init__(self, row, pairs, wrong):
        self.row, self.wrong = row, wrong
        self.ratios = sorted(ratio for ratio, _, _ in pairs)
        self.reference_s = statistics.median(reference for _, reference, _ in pairs)
        self.subject_s = statistics.median(subject for _, _, subject in pairs)
        self.median = statistics.median(self.ratios)
        self.low, _, self.high = (
            statistics.quantiles(self.ratios, n=4) if len(self.ratios) > 1 else [self.median] * 3
        )

    @property
    def verdict(self):
        if self.wrong:
            return "FAIL: " + self.wrong
        if self.row.must is None:
            return ""
        if self.row.aim is not None and self.median >= self.row.aim:
            return "reaches the aim"
        return "holds" if self.median >= self.row.must else "short"

    def line(self):
        if self.wrong:
            return f"{self.row.name:5} {self.row.what:48} {self.verdict}"
        bounds = "".join(f"  {name} {bound:<5.2f}" for name, bound in (("must", self.row.must), ("aim", self.row.aim)) if bound is not None)
        return (
            f"{self.row.name:5} {self.row.what:48} {self.median:7.2f} [{self.low:.2f} {self.high:.2f}] {len(self.ratios):3} pairs"
            f"{bounds} {self.verdict}"
        )

    def as_json(self):
        return {
            "row": self.row.name, "what": self.row.what, "reference": name_of(self.row.reference),
            "command": name_of(self.row.subject), "ratio": round(self.median, 4), "quartiles": [round(self.low, 4), round(self.high, 4)],
            "pairs": len(self.ratios), "reference_s": round(self.reference_s, 6), "tk_s": round(self.subject_s, 6),
            "must": self.row.must, "aim": self.row.aim, "verdict": self.verdict,
        }


def name_of(command):
    return command.__doc__ if callable(command) else command


def peak_memory_kib(command):
    """The largest resident set of one run of `command` (words, no shell), as the kernel counts it while it runs."""
    running = subprocess.Popen(command.split(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    peak = 0
    while running.poll() is None:
        try:
            with open(f"/proc/{running.pid}/status") as status:
                peak = max([peak] + [int(line.split()[1]) for line in status if line.startswith("VmHWM")])
        except OSError:
            pass
        time.sleep(0.002)
    if running.returncode != 0:
        raise SystemExit(f"bench: '{command}' failed")
    return peak
