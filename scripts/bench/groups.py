"""The rows of consumer groups: what a commit and a description cost."""
import json
import os
import subprocess

from pairs import Row

COMMITTED = 100


class Groups:
    def __init__(self, bench):
        self.bench, self.tk = bench, bench.tk
        self.small, self.large, self.wide = bench.path("group"), bench.path("groups"), bench.path("described")

    def make(self, directory, partitions):
        """A topic of so many partitions with a record each, all committed by the group g; True if it is new."""
        if os.path.exists(directory):
            return False
        self.bench.sh(f"{self.tk} -d {directory} topics create t -p {partitions} -q")
        self.bench.sh(f"seq {partitions} | {self.tk} -d {directory} produce t --partitioner round-robin --sync none -q")
        self.bench.sh(f"{self.tk} -d {directory} commit g --all-read --topic t -q")
        os.sync()
        return True

    def make_small(self):
        self.make(self.small, COMMITTED)

    def make_large(self):
        """Beside 1,000 other groups, and with a long log in the partition that is committed."""
        self.make_small()
        if not self.make(self.large, COMMITTED):
            return
        self.bench.sh(f"for i in $(seq 1000); do cp {self.large}/group-g.json {self.large}/group-other-$i.json; done")
        self.bench.sh(f"{self.tk} -d {self.large} produce t -p 3 -q {self.bench.lines}")
        os.sync()

    def wrong_commits(self, directory):
        rows = subprocess.run([self.tk, "-d", directory, "groups", "export", "g"], capture_output=True, text=True).stdout.split()
        return "" if len(rows) == COMMITTED and "t,3,0" in rows else "not the commits that were made"

    def wrong_description(self, command):
        rows = subprocess.run(command.split(), capture_output=True, text=True).stdout.splitlines()
        return "" if len(rows) == 10_000 and all(json.loads(row)["lag"] == 0 for row in rows) else "not the group's offsets"

    def rows(self):
        copy, describe = self.bench.path("copy"), f"{self.tk} -d {self.wide} groups describe g --json"

        def commit(directory):
            return f"{self.tk} -d {directory} commit g t-3=0 -q"

        # A state file of 16 KiB is replaced durably: two forced writes, its bytes and its name. dd forces one.
        yield Row(
            "G1", "one commit, 100 partitions (dd, one fsync)", f"/bin/dd if={self.small}/group-g.json of={copy} bs=64K conv=fsync status=none",
            commit(self.small), 0.25, 0.50, self.make_small, lambda: self.wrong_commits(self.small), repeat=50)
        yield Row(
            "G1g", "one commit beside 1,000 groups (alone)", commit(self.small), commit(self.large), 0.75, 0.95,
            self.make_large, lambda: self.wrong_commits(self.large), repeat=50)
        # Well under a second: the reference is that second.
        yield Row(
            "G2", "describe on 10,000 partitions (a second)", "sleep 1", describe, 2.0, 5.0,
            lambda: self.make(self.wide, 10_000), lambda: self.wrong_description(describe))
