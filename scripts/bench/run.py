"""Measures the rows of limits.py and, with --peers, of peers.py; prints a table and writes what was asked for."""
import argparse
import json
import os
import shutil
import sys
import tempfile

import limits
import peers
import report


def parsed():
    options = argparse.ArgumentParser(prog="scripts/bench.sh", description="paired measurements against the limits of this machine, and against other programs")
    options.add_argument("--rows", help="only these, as P1,C4,R1 (P1/1: on one processor)", default="")
    options.add_argument("--pairs", type=int, default=9, help="pairs a row (default 9)")
    options.add_argument("--lines", type=int, default=4_000_000, help="lines of 100 bytes (default 4000000)")
    options.add_argument("--one-thread", action="store_true", help="rows that have a bound for one processor with it, too")
    options.add_argument("--peers", action="store_true", help="other programs, too, all rows with one processor, and docs/performance.md is written (not with --rows)")
    options.add_argument("--peer-lines", type=int, default=1_000_000, help="lines for the other programs (default 1000000)")
    options.add_argument("--peer-pairs", type=int, default=5, help="pairs with the other programs (default 5)")
    options.add_argument("--write", metavar="FILE", help="put the tables into this page, between its marks")
    options.add_argument("--json", metavar="FILE", help="the results as JSON, too")
    options.add_argument("--dir", help="where the data go (default: build/bench); removed afterwards")
    return options.parse_args()


class Run:
    def __init__(self, options):
        self.options = options
        self.only = set(options.rows.split(",")) - {""}
        self.rows, self.peers, self.memory = [], [], []
        self.wrong = 0

    def wants(self, name):
        return not self.only or name in self.only

    def measure(self, row, pairs, results):
        result = row.measure(pairs)
        print(result.line(), flush=True)
        results.append(result.as_json())
        self.wrong += bool(result.wrong)

    def limits(self, directory):
        bench = limits.Bench(os.environ["TK"], directory, self.options.lines)
        one_thread = self.options.one_thread or self.options.peers or any("/" in name for name in self.only)
        for row in bench.rows():
            # What a row prepared, its check removes: the one with one processor goes first.
            if one_thread and row.name in limits.ONE_THREAD and self.wants(row.name + "/1"):
                self.measure(bench.one_thread(row), self.options.pairs, self.rows)
            if self.wants(row.name):
                self.measure(row, self.options.pairs, self.rows)
        if self.wants("R1"):
            self.peak(bench, "R1", "", 48)
        if one_thread and self.wants("R1/1"):
            self.peak(bench, "R1/1", f"taskset -c {min(os.sched_getaffinity(0))} ", 24)

    def peak(self, bench, name, prefix, must):
        for what, mebibytes in bench.memory(prefix).items():
            verdict = "reaches the aim" if mebibytes <= 16 else "holds" if mebibytes <= must else "short"
            print(f"{name:5} peak memory of {what:26} {mebibytes:6.1f} MiB  must {must} aim 16 {verdict}", flush=True)
            self.memory.append({"row": name, "what": what, "mib": round(mebibytes, 1), "must": must, "aim": 16, "verdict": verdict})

    def others(self, directory):
        with peers.Peers(os.environ["TK"], directory, self.options.peer_lines) as bench:
            for row in bench.rows():
                if self.wants(row.name):
                    self.measure(row, self.options.peer_pairs, self.peers)
            for name in bench.skipped:
                print(f"skipped: {name}", flush=True)


def main():
    options = parsed()
    parent = options.dir or "build/bench"
    os.makedirs(parent, exist_ok=True)
    directory = tempfile.mkdtemp(dir=os.path.abspath(parent))
    run = Run(options)
    try:
        run.limits(directory)
        if options.peers:
            run.others(tempfile.mkdtemp(dir=directory))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    results = {
        "machine": report.machine(), "lines": options.lines, "peer_lines": options.peer_lines,
        "rows": run.rows, "peak_memory": run.memory, "peers": run.peers,
    }
    if options.json:
        with open(options.json, "w") as out:
            json.dump(results, out, indent=1)
            out.write("\n")
    page = options.write or ("docs/performance.md" if options.peers and not run.only else "")
    if page:
        report.write(page, results)
    sys.exit(1 if run.wrong else 0)


if __name__ == "__main__":
    main()
