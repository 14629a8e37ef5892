#!/usr/bin/env python3
"""Makes scenarios of what three real brokers did: make_story_scenarios.py CLUSTER_DIR... OUT_DIR

A directory holds the stories of a real cluster (story.json, stories/*.json): one state a step. Here stands which steps of the scenario
language do the same; what is expected after each is the real cluster's: leader, leader epoch, partition epoch, ISR, ELR, the records, log
end and leader epochs of every replica, the leader's high watermark, and what a consumer sees. Not compared: a follower's high watermark
while there is a leader (it is a fetch behind, or not, as time has it), checkpoints, and log directories."""
import glob
import json
import os
import sys

A = lambda *brokers: "\n".join("fetch %d p=P" % b for _ in range(3) for b in brokers)
BEGIN = ["append a b c p=P\n" + A(2, 3), "append w acks=1 p=P\n" + A(2, 3)]
ALL_DOWN = ["append a b c\n" + A(2, 3), "stop 3", "append d\n" + A(2), "stop 1", "append e", "stop 2", "start 1", "start 3",
            "start 2\n" + A(1, 3), "stop 3\nstop 1", "append f", "kill 2\nfence 2", "start 3", "start 2\n" + A(3), "start 1\n" + A(1, 3)]
MINISR = ["append a b c\n" + A(2, 3), "stop 3", "append d\n" + A(2), "stop 2", "append x\nexpect reply NOT_ENOUGH_REPLICAS",
          "append e f acks=1", "start 2\n" + A(2), "append g\n" + A(2), "append w\n" + A(2), "append y\ntick 4001", A(2), "start 3\n" + A(2, 3)]
# By story: what each of its steps is, in the scenario language. 'checkpoint' stands where a real broker had written its high watermark.
STEPS = {
    "acks1-loss": BEGIN + ["append d e f g acks=1", "kill 1", "", "fence 1\n" + A(3), "append h i\n" + A(3), A(3),
                           "start 1\n" + A(1, 3) + "\nexpect lost acks=1 = d e f g"],
    "elr": ["append a b c\n" + A(2, 3), "stop 3", "append d e\n" + A(2), "stop 2", "append f acks=1", "kill 1\nfence 1", "start 1", "start 3",
            "start 2\n" + A(1, 3)],
    "minisr": MINISR,
    "minisr-elr-off": MINISR,
    "unclean": ["append a b c\n" + A(1, 3), "append w\n" + A(1, 3), "append x acks=1", "tick 4001", "append d e f", "kill 2",
                "fence 1\nfence 3\nfence 2", "unfence 3", "unfence 1\nappend u v\n" + A(1), A(1),
                "start 2\n" + A(1, 2) + "\nexpect lost acks=all = d e f\nexpect lost acks=1 = x"],
    "all-down-last-returns": ALL_DOWN,
    "all-down-last-returns-elr-off": ALL_DOWN,
    "behind-log-start": ["append a b c\n" + A(2, 3), "stop 3", "append d e f g h i j\n" + A(2), "retain 8", "start 3\n" + A(2, 3)],
    "controlled-shutdown-preferred": [
        "append a b c\n" + A(2, 3), "elect preferred\nexpect reply ELECTION_NOT_NEEDED", "stop 1", "append d\n" + A(3),
        "elect preferred\nexpect reply PREFERRED_LEADER_NOT_AVAILABLE", "start 1\n" + A(1, 3), "elect preferred",
        "append e\n" + A(2, 3), A(2, 3), "stop 1", "start 1\n" + A(1, 3), "elect preferred", "stop 1", "start 1\n" + A(1, 3), "elect preferred",
        "append f\n" + A(2, 3), A(2, 3)],
    "isr-lag": BEGIN + ["append d e acks=1\n" + A(2), A(2), "tick 4001\n" + A(2), "append f acks=1\n" + A(2), A(2, 3)],
    "kip101-restart-above-hw": ["append m1\n" + A(2), "checkpoint\nappend m2\nfetch 2\nfetch 2\nkill 2", "fence 2", "start 2",
                                "kill 1\nfence 1", "append m3", "start 1\n" + A(1)],
    "lag-in-isr": BEGIN + ["append d e acks=1", A(2), A(2, 3)],
    "lagging-isr-elected": BEGIN + ["append d e f acks=1\n" + A(2), "kill 1\nkill 2", "fence 2\nfence 1", "append g h", "start 2\n" + A(2),
                                    "start 1\n" + A(1, 2)],
    "new-leader-hw-behind": BEGIN + ["append d e acks=1", "fetch 2\nkill 1", "fence 1", A(3), "start 1\n" + A(1, 3)],
    "return-catches-up": ["append a b c\n" + A(2, 3), "stop 3", "append %s\n" % " ".join("v%d" % i for i in range(3, 23)) + A(2),
                          "start 3\nfetch 3 max=9", "fetch 3 max=9", A(3)],
    "zombie-leader": BEGIN + ["partition 1\nfence 1\n" + A(3), "append d e\n" + A(3), "append z1 z2 acks=1 to=1\nexpect reply 4 5",
                              "heal\nunfence 1\n" + A(1, 3) + "\nexpect lost acks=1 = z1 z2"],
    "last-standing-elr-off": ["append a b c\n" + A(2, 3), "stop 3", "append d\nfetch 2\nappend e\nfetch 2\nfetch 2 lose=reply", "stop 2", "append x\nexpect reply NOT_ENOUGH_REPLICAS",
                              "append f acks=1\ncheckpoint", "kill 1\nfence 1", "start 2", "start 1\nfetch 2", "start 3\n" + A(2, 3)],
    # Two partitions: a step is done once, and looked at for each.
    "epochs": ["append {6} p=0\n" + A(2, 3), "append {6} p=1\n" + A(1, 3), "stop 1\nappend {4} p=0\n" + A(3), "append {4} p=1\n" + A(3),
               "start 1\nappend {3} p=0\n" + A(1, 3), "append {3} p=1\n" + A(1, 3), "elect preferred p=0\nappend {4} p=0\n" + A(2, 3),
               "elect preferred p=1\nappend {4} p=1\n" + A(1, 3), "kill 2\nfence 2\nappend {5} p=0\n" + A(3), "append {5} p=1\n" + A(1),
               "start 2\n" + A(2, 3) + "\nappend {3} p=0\n" + A(2, 3), A(1, 2) + "\nelect preferred p=1\nappend {3} p=1\n" + A(1, 3),
               "stop 1\nstop 3\nappend {4} p=0", "append {4} p=1", "start 3\n" + A(3).replace("p=P", "p=1") + "\nstart 1\nappend {3} acks=1 p=0\n" + A(1, 3),
               "append {3} acks=1 p=1\n" + A(1, 3), "stop 2\nappend {4} p=0\n" + A(3), "append {4} p=1\n" + A(1),
               "start 2\n" + A(2, 3) + "\nappend {6} p=0\n" + A(2, 3), A(1, 2) + "\nelect preferred p=1\nappend {6} p=1\n" + A(1, 3)],
}


def ids(values):
    return ",".join(map(str, values)) or "-"


class Scenario:
    def __init__(self, story):
        self.story, self.given, self.logs, self.lines = story, 0, {}, []

    def do(self, text, partition):
        for line in filter(None, text.replace("p=P", "p=%d" % partition).split("\n")):
            while "{" in line:  # {4}: so many new values
                start, end = line.index("{"), line.index("}")
                count = int(line[start + 1:end])
                words = ["r%d" % (self.given + i) for i in range(count)]
                self.given += count
                line = line[:start] + " ".join(words) + line[end + 1:]
            words = line.split()
            if words[0] == "append" and "to=1" not in words:
                values = [w for w in words[1:] if "=" not in w]
                self.last = (partition, values)
            self.lines.append(line.replace(" p=0", ""))

    def look(self, state, partition):
        p = " p=%d" % partition if partition else ""
        leader = state["leader"] if state["leader"] > 0 else None
        self.lines.append("expect leader %s epoch=%d pe=%d isr=%s elr=%s%s" % (
            leader or "none", state["epoch"], state["partition_epoch"], ids(state["isr"]), ids(state["elr"]), p))
        for broker, end in sorted(state["leo"].items()):
            if end is None:
                continue
            values = self.values(state, broker, partition)
            start = state.get("log_start", {}).get(broker)
            if values is None:
                continue
            line = "expect log %s = %s epochs=%s leo=%d" % (
                broker, " ".join(values[start or 0:]) if start is None or len(values) >= end else " ".join(values),
                ",".join("%d@%d" % tuple(e) for e in state["epochs"][broker]) or "-", end)
            held = state["hw_replica"][broker]
            if held is not None and (str(leader) == broker or leader is None):
                line += " hw=%d" % held
            if start is not None:
                line += " start=%d" % start
            self.lines.append(line + p)
        seen = state["visible_to_consumer"]
        values = self.values(state, str(leader), partition) if leader else None
        if seen is not None and values is not None:
            self.lines += ["read%s" % p, "expect reply %s" % " ".join(values[(state.get("log_start") or {}).get(str(leader), 0):seen])]

    def values(self, state, broker, partition):
        """What the replica holds: as the real one, or, where values were not noted (large or rich ones), what stands at its offsets."""
        if state.get("log", {}).get(broker) is not None:
            return state["log"][broker]
        if self.story not in ("epochs", "return-catches-up"):
            return None
        return (self.all(partition) if self.story == "epochs" else ["a", "b", "c"] + ["v%d" % i for i in range(3, 23)])[:state["leo"][broker]]

    def all(self, partition):
        values = []
        for line in self.lines:
            words = line.split()
            if words[0] == "append" and ("p=1" in words) == (partition == 1):
                values += [w for w in words[1:] if "=" not in w]
        return values


def scenario_of(story, source):
    steps = STEPS[story["story"]]
    if len(steps) != len(story["steps"]):
        sys.exit("%s: %d steps, %d known" % (story["story"], len(story["steps"]), len(steps)))
    config = story["config"]
    made = Scenario(story["story"])
    assign = [line["data"]["replicas"] for line in story.get("controller_records", []) if line["type"] == "PARTITION_RECORD"]
    made.lines = ["# " + story["title"], "# As three real brokers did it (%s, story %s)." % (source, story["story"])]
    line = "config rf=%d min.isr=%d elr=%s lag.ms=%d" % (config["rf"], config["min.isr"], config["elr"], config.get("replica.lag.time.max.ms", 4000))
    if config.get("unclean"):
        line += " unclean=on"
    if story["story"] == "epochs":
        line += " partitions=2"
    elif assign and assign[0] != sorted(assign[0]):
        line += " assign=" + ids(assign[0])
    made.lines.append(line)
    for text, state in zip(steps, story["steps"]):
        made.lines.append("# " + state["step"])
        partition = state.get("partition", 0) if story["story"] == "epochs" else 0
        made.do(text, partition)
        made.look(state, partition)
    return "\n".join(made.lines) + "\n"


def main():
    *sources, out = sys.argv[1:]
    for source in sources:
        name = os.path.basename(source.rstrip("/"))
        stories = json.load(open(os.path.join(source, "story.json")))
        found = list(stories.values()) if "steps" not in stories else [stories]
        found += [json.load(open(path)) for path in sorted(glob.glob(os.path.join(source, "stories", "*.json")))]
        for story in found:
            if not isinstance(story, dict) or "steps" not in story:
                continue
            if story["story"] not in STEPS:
                print("not made: %s of %s" % (story["story"], name))
                continue
            with open(os.path.join(out, "real-%s.scenario" % story["story"]), "w") as file:
                file.write(scenario_of(story, name))


if __name__ == "__main__":
    main()
