"""tk's assignors and Kafka's own on the same random questions.

range, roundrobin and server-range must give the same answers. Where Kafka walks hash maps (sticky, cooperative-sticky,
uniform) an answer must have the same sizes and as many moves; the way in which tk differs on purpose is known
(`KNOWN`) and counted. Run by interop.py; alone, `assignors.py [GROUPS [SEED]]` prints how often each assignor agreed, and
`assignors.py record FILE` writes the questions and Kafka's answers that tests/unit/group goes by."""
import json
import os
import random
import subprocess
import sys

from partners import HERE, TK

EXACT = ("range", "roundrobin", "server-range")
ASSIGNORS = EXACT + ("sticky", "cooperative-sticky", "uniform")
SEED = int(os.environ.get("TK_INTEROP_SEED", "20261129"))
GROUPS = int(os.environ.get("TK_INTEROP_GROUPS", "3000"))
# Kafka does not ask whether an older generation's owner still subscribes before it gives a partition back (groups.md 4.6,
# R3): it fails, hands a topic to a member that does not want it, or comes to other sizes by way of such a move.
GUARD = "Kafka gives back to a member that no longer subscribes"
KNOWN = (GUARD,)


def random_group(rnd):
    """Partition counts and members: some static, with claims of several generations, on topics they gave up, and of two."""
    counts = {f"t{i}": rnd.randrange(1, 9) for i in range(rnd.randrange(1, 5))}
    topics = sorted(counts)
    identical, stale, clean = rnd.random() < .5, rnd.random() < .3, rnd.random() < .5
    members = []
    for name in sorted(rnd.sample([f"m{i}" for i in range(16)], rnd.randrange(1, 7))):
        own = topics if identical else sorted(rnd.sample(topics, rnd.randrange(1, len(topics) + 1)))
        member = {"id": name, "topics": own, "owned": {}}
        if rnd.random() < .25:
            member["instance"] = f"i{rnd.randrange(1000)}-{name}"
        if stale:
            if rnd.random() < .8:
                member["generation"] = rnd.randrange(3, 6)
        elif rnd.random() < .9:
            member["generation"] = 5
        members.append(member)
    wanted = {t for m in members for t in m["topics"]}
    counts = {t: n for t, n in counts.items() if t in wanted}
    if rnd.random() < .8:
        for topic, count in counts.items():
            for partition in range(count):
                able = [m for m in members if topic in m["topics"]] if clean else members
                claims = 1 if clean or rnd.random() < .85 else rnd.randrange(3)
                for m in rnd.sample(able, min(claims, len(able))):
                    m["owned"].setdefault(topic, []).append(partition)
    return counts, members


def random_questions(rnd, groups, assignors=ASSIGNORS):
    for _ in range(groups):
        counts, members = random_group(rnd)
        for assignor in assignors:
            if assignor in ("uniform", "server-range"):  # an old target: nothing is in it twice
                taken, mine = set(), []
                for m in members:
                    owned = {t: [p for p in ps if (t, p) not in taken] for t, ps in m["owned"].items()}
                    taken |= {(t, p) for t, ps in owned.items() for p in ps}
                    mine.append({**m, "owned": {t: ps for t, ps in owned.items() if ps}})
            else:
                mine = members
            if assignor in ("uniform", "cooperative-sticky"):
                # Java's hash maps give single letters back in order: with other ids the sizes, and what the cooperative
                # assignor holds back, depend on theirs.
                mine = [{**m, "id": "ABCDEF"[i]} for i, m in enumerate(mine)]
            yield {"assignor": assignor, "partitions": counts, "members": mine}


def answers(command, questions):
    text = "".join(json.dumps(q) + "\n" for q in questions)
    run = subprocess.run(command, input=text.encode(), capture_output=True, timeout=900)
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    if len(rows) != len(questions):
        raise RuntimeError(f"{command}: {len(rows)} answers to {len(questions)} questions: {run.stderr[:300]}")
    return rows


def of_kafka(questions):
    return answers([os.path.join(HERE, "kafkalog"), "groups"], questions)


def owners(assignment):
    return {(t, p): m for m, topics in assignment.items() for t, ps in topics.items() for p in ps}


def owners_before(question):
    """Who owns what when the newest claim counts, and nobody where two of one generation claim the same."""
    claims = {}
    for m in question["members"]:
        for tp in ((t, p) for t, ps in m["owned"].items() for p in ps):
            claims.setdefault(tp, []).append((m.get("generation", -1), m["id"]))
    before = {}
    for tp, who in claims.items():
        newest = max(who)[0]
        first = [m for g, m in who if g == newest]
        if len(first) == 1:
            before[tp] = first[0]
    return before


def sizes_and_moves(question, assignment):
    before, after = owners_before(question), owners(assignment)
    kept = sum(after.get(tp) == m for tp, m in before.items())
    return sorted(sum(map(len, topics.values())) for topics in assignment.values()), len(before) - kept


def needs_guard(question):
    """Some member of an older generation claims a topic that it does not subscribe to, while others still may."""
    members = question["members"]
    newest = max(m.get("generation", -1) for m in members)
    mixed = len({tuple(m["topics"]) for m in members}) > 1
    return mixed and any(t not in m["topics"] for m in members if m.get("generation", -1) < newest for t in m["owned"])


def difference(question, mine, kafka):
    """The kind of a difference; "" if there is none that counts."""
    name = question["assignor"]
    if mine["assignment"] == kafka.get("assignment"):
        return ""
    if name in EXACT:
        return "another answer"
    if "error" in kafka:
        return GUARD if needs_guard(question) else "Kafka fails: " + kafka["error"]
    my_sizes, my_moves = sizes_and_moves(question, mine["assignment"])
    their_sizes, their_moves = sizes_and_moves(question, kafka["assignment"])
    if (my_sizes, my_moves) == (their_sizes, their_moves):
        return ""
    if name.endswith("sticky") and needs_guard(question):
        return GUARD
    if my_sizes != their_sizes:
        return f"other sizes ({mine['algorithm']})"
    return f"{'more' if my_moves > their_moves else 'fewer'} moves than Kafka ({mine['algorithm']})"


def compare(groups, seed):
    """For each assignor: questions, answers that are the very same, and for each kind of difference its cases."""
    questions = list(random_questions(random.Random(seed), groups))
    result = {a: [0, 0, {}] for a in ASSIGNORS}
    for q, mine, kafka in zip(questions, answers([TK, "rebalance", "--preview"], questions), of_kafka(questions)):
        row = result[q["assignor"]]
        row[0] += 1
        row[1] += mine["assignment"] == kafka.get("assignment")
        kind = difference(q, mine, kafka)
        if kind:
            row[2].setdefault(kind, []).append((q, mine, kafka))
    return result


def checks():
    """(name, good, detail) for each assignor."""
    for assignor, (asked, same, kinds) in compare(GROUPS, SEED).items():
        unknown = {kind: (len(cases), cases[0]) for kind, cases in kinds.items() if kind not in KNOWN}
        known = "".join(f"; {len(kinds[kind])} {kind}" for kind in KNOWN if kind in kinds)
        print(f"{assignor}: {asked} questions, {same} answers the very same as Kafka's{known}")
        yield f"{assignor} assigns as Kafka does", asked > 0 and not unknown, json.dumps(unknown)


def record(path, groups=60):
    """A line a question with Kafka's answer; those that need the guard of R3 are left out."""
    questions = list(random_questions(random.Random(SEED), groups))
    with open(path, "w", encoding="utf-8") as f:
        for question, kafka in zip(questions, of_kafka(questions)):
            if question["assignor"].endswith("sticky") and needs_guard(question):
                continue
            row = {"question": question, "kafka": kafka["assignment"]}
            f.write(json.dumps(row, separators=(",", ":")) + "\n")


def main(args):
    if args[:1] == ["record"]:
        record(args[1])
        return
    groups, seed = int(args[0]) if args else GROUPS, int(args[1]) if len(args) > 1 else SEED
    for assignor, (asked, same, kinds) in compare(groups, seed).items():
        print(f"{assignor}: {asked} questions, {same} answers the very same")
        for kind, cases in sorted(kinds.items()):
            print(f"  {len(cases)} {kind}, for example {json.dumps(cases[0])[:1500]}")


if __name__ == "__main__":
    main(sys.argv[1:])
