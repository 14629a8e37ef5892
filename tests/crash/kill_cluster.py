"""kill -9 of any command of a cluster at any moment: the next command goes on by itself, and what was acknowledged to
acks=all is there. The last line is `N passed, N failed`: a round each."""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TK = os.environ.get("TK", os.path.join(HERE, "..", "..", "build", "release", "tk"))


class Cluster:
    def __init__(self, directory, rnd, controllers):
        self.dir, self.rnd, self.controllers = directory, rnd, controllers
        self.acknowledged, self.written, self.wrong = [], 0, ""
        self.expect(0, "cluster", "init", "--brokers", "3", "--controllers", str(controllers), "-q")
        self.expect(0, "topics", "create", "t", "-p", "1", "--format", rnd.choice(["json", "kafka"]), "-c", "min.insync.replicas=2", "-q")

    def run(self, *args, stdin=b"", killed_after=None):
        """The exit code, or None if it was killed."""
        process = subprocess.Popen([TK, "-d", self.dir, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if killed_after is not None:
            try:
                process.stdin.write(stdin)
                process.stdin.close()
            except BrokenPipeError:
                pass
            time.sleep(killed_after)
            process.kill()
            process.wait()
            return None, b""
        out, err = process.communicate(stdin, timeout=60)
        if process.returncode not in (0, 1, 4) and not self.wrong:
            self.wrong = f"tk {' '.join(args)}: exit {process.returncode}: {err[-300:]}"
        return process.returncode, out

    def expect(self, code, *args, **kw):
        got, out = self.run(*args, **kw)
        if got != code and not self.wrong:
            self.wrong = f"tk {' '.join(args)}: exit {got}"
        return out

    def step(self):
        rnd = self.rnd
        kind = rnd.choice(["produce"] * 6 + ["stop"] + ["start"] * 3 + ["failover", "rounds"] + (["stop controller"] + ["start controller"] * 3 if self.controllers > 1 else []))
        killed_after = rnd.random() * 0.02 if rnd.random() < 0.5 else None
        broker = str(rnd.randrange(1, 4))
        if kind == "produce":
            values = [f"v{self.written + i}" for i in range(rnd.randrange(1, 6))]
            self.written += len(values)
            lines = "".join(v + "\n" for v in values).encode()
            code, _ = self.run("produce", "t", "--acks", "all", "-q", stdin=lines, killed_after=killed_after)
            if code == 0:
                self.acknowledged += values
        elif kind == "stop":
            self.run("cluster", "stop", broker, *rnd.choice([[], [], ["--controlled"]]), killed_after=killed_after)
        elif kind == "start":
            self.run("cluster", "start", broker, killed_after=killed_after)
        elif kind.endswith("controller"):
            controller = str(rnd.randrange(1, self.controllers + 1))
            self.run("cluster", kind.split()[0], "--controller", controller, killed_after=killed_after)
        elif kind == "failover":
            self.run("failover", "t-0", killed_after=killed_after)
        else:
            self.run("replicate-sim", "t-0", "--rounds", "2", killed_after=killed_after)

    def settle(self):
        """What is wrong when all brokers are up again; empty if nothing is."""
        for controller in range(1, self.controllers + 1):
            self.run("cluster", "start", "--controller", str(controller))
        for broker in "123":
            self.run("cluster", "start", broker)
        self.run("failover", "t-0")
        for _ in range(3):
            self.run("replicate-sim", "t-0", "--rounds", "5", "--tick", "1000")
        shown = set(self.expect(0, "consume", "t").decode().split())
        missing = [v for v in self.acknowledged if v not in shown]
        if missing:
            return f"{len(missing)} of {len(self.acknowledged)} acknowledged records are missing: {missing[:5]}"
        self.expect(0, "produce", "t", "--acks", "all", "-q", stdin=b"end\n")
        for broker in "123":
            self.expect(0, "verify", os.path.join(self.dir, f"broker-{broker}"))
        # The voters of the metadata log hold the same.
        if self.controllers > 1:
            self.expect(0, "replicate-sim", "t-0", "--tick", "1000")
            logs = [os.path.join(self.dir, f"metadata{n}", "__cluster_metadata-0", "0" * 20 + ".log")
                    for n in [""] + [f"-{n}" for n in range(2, self.controllers + 1)]]
            if len({open(log, "rb").read() for log in logs}) > 1:
                return "the controllers' logs differ"
        return self.wrong


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=10, help="clusters, each with so many --steps (default 10)")
    options.add_argument("--steps", type=int, default=60, help="commands a round, about half of them killed (default 60)")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--controllers", type=int, default=1, help="controllers of each cluster, stopped and started, too (default 1)")
    wanted = options.parse_args()
    passed = failed = acknowledged = 0
    for seed in range(wanted.seed, wanted.seed + wanted.rounds):
        directory = tempfile.mkdtemp(prefix="tk-kill-cluster-")
        try:
            cluster = Cluster(os.path.join(directory, "c"), random.Random(seed), wanted.controllers)
            for _ in range(wanted.steps):
                cluster.step()
            wrong = cluster.settle()
            acknowledged += len(cluster.acknowledged)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"--seed {seed} --rounds 1 --controllers {wanted.controllers}: {wrong}")
    print(f"{acknowledged} records acknowledged")
    if acknowledged == 0:
        failed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
