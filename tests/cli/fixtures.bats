# Directories that real brokers of six releases left, against what the brokers' own tools said of them.
load common

whole() { # NAME: every aspect of one folder; all are run, so that one failure does not hide the next
  local dir aspect bad=0
  dir=$(fixture "$1")
  for aspect in records offsets dump unchanged; do
    python3 "$here/compare_fixture.py" "$TK" "$dir" "$aspect" || bad=1
  done
  return $bad
}

@test "broker 0.8.2: magic 0" { whole kafka-0.8; }
@test "broker 0.10.2: magic 1" { whole kafka-0.10; }
@test "broker 2.8: magic 0, 1 and 2, transactions" { whole kafka-2.8; }
@test "broker 3.9 with KRaft" { whole kafka-3.9; }
@test "broker 3.9 with ZooKeeper" { whole kafka-3.9-zk; }
@test "broker 4.4, stopped cleanly" { whole kafka-4.4-clean; }
@test "broker 4.4, killed while writing" { whole kafka-4.4-killed; }
@test "broker 4.4, written by eleven client libraries" { whole kafka-4.4-clients; }
@test "cluster of three 4.4 brokers" { whole kafka-4.4-cluster; }
@test "cluster of three 4.4 brokers, another election rule" { whole kafka-4.4-cluster-elr-off; }
@test "one directory through three releases" { whole kafka-upgraded; }

@test "healthy directories verify without damage" {
  for name in kafka-2.8 kafka-3.9 kafka-4.4-clean kafka-4.4-clients kafka-upgraded; do
    run --separate-stderr "$TK" verify "$(fixture $name)/data" --json
    equal "$name: $(rows 'select(.type == "problem" and .severity == "damage") | .partition + " " + .kind')" "$name: "
  done
}

# 159 partitions with one damage each; what is expected, and each exception with its reason, is in damaged_cases.tsv.
damaged() { python3 "$here/compare_damaged.py" "$TK" "$(fixture kafka-4.4-damaged)" "$1"; }

@test "damaged partitions: verify names every damage, its file, place and kind, and only those" { damaged verify; }
@test "damaged partitions: dump-log prints what the dump tool printed, but for what is listed" { damaged dump; }
@test "damaged partitions: recover --truncate ends where the broker's recovery ended" { damaged truncate; }
@test "damaged partitions: plain recover cuts no readable record" { damaged plain; }
@test "damaged partitions: recover --salvage loses no readable record, and none that the broker kept" { damaged salvage; }

@test "a broker's own topics: groups, members, offsets, ids, configs, transactions as its AdminClient had them" {
  local name bad=0
  for name in kafka-4.4-clean kafka-4.4-killed; do
    python3 "$here/compare_state.py" "$TK" "$(fixture $name)" || bad=1
  done
  return $bad
}

@test "recover --as-broker says what a broker's start did, with and without the clean-shutdown marker" {
  python3 "$here/compare_starts.py" "$TK" "$(fixture kafka-4.4-damaged)" "$(fixture kafka-4.4-damaged-alone)"
}

@test "replicas side by side: end offsets, high watermarks, and what a follower drops" {
  local dir
  dir=$(fixture kafka-4.4-cluster)
  tk_is 0 verify "$dir"/data-broker{1,2,3} --json
  grep '"type":"compare"' <<< "$output" > compared
  # Every partition of replicas.json that lies in two of the three directories, with the broker's own numbers.
  python3 - "$dir/replicas.json" compared <<'PY'
import json, sys
replicas, n = json.load(open(sys.argv[1])), 0
for row in map(json.loads, open(sys.argv[2])):
    if row["partition"] not in replicas:
        continue
    for path, end, hw in zip(row["paths"], row["log_end_offsets"], row["high_watermarks"]):
        want = replicas[row["partition"]][path.split("/")[-2]]
        assert want["leo"] in (None, end) and want["hw"] == hw, (row, want)
        n += 1
    assert row["first_difference"] is None and not any(row["truncate"]), row
assert n > 40, n
PY
  # A killed leader's tail that nobody else has, never committed: a note. One that was committed: damage.
  tk_is 0 verify "$dir"/data-broker1-before "$dir"/data-broker2 --json
  equal "$(rows 'select(.type == "compare" and .partition == "acks1-loss-0") | [.log_end_offsets, .common_end, .first_difference, .common_epoch, .truncate]')" \
    '[[8,6],4,4,0,[4,0]]'
  tk_is 3 verify "$dir"/data-broker1 "$dir"/data-broker2-before-unclean --json
  equal "$(rows 'select(.type == "compare" and .partition == "unclean-0") | [.log_end_offsets, .common_end, .truncate, .high_watermarks]')" \
    '[[6,8],4,[0,4],[6,8]]'
  equal "$(rows 'select(.severity == "damage") | [.kind, .partition, .offset]')" '["replica","unclean-0",4]'
}

@test "directories that keep a broker from starting are still read" {
  local case code
  for case in "$(fixture kafka-4.4-damaged-alone)"/*/; do
    case=${case%/}
    local topic
    topic=$(basename "$case")
    code=0
    "$TK" verify "$case/data" > out 2> err || code=$?
    [[ $code == [03] ]] || { echo "verify $topic: exit $code"; head -3 err; return 1; }
    code=0
    "$TK" topics list -d "$case/data" > out 2> err || code=$?
    [[ $code == [03] ]] || { echo "topics list $topic: exit $code"; head -3 err; return 1; }
    [ -d "$case/data/$topic-0" ] || continue
    code=0
    "$TK" consume "$topic-0" -d "$case/data" --count > out 2> err || code=$?
    [[ $code == [03] ]] || { echo "consume $topic: exit $code"; head -3 err; return 1; }
  done
}

# Alone such a batch is as a producer could have written it: a key with another letter, an earlier time. To compress the
# records anew tells nothing either: of what the client libraries wrote, healthy batches come out otherwise, too.
@test "a value altered under a good checksum: nothing in the partition tells, another replica does" {
  local dir
  dir=$(fixture kafka-4.4-damaged)
  mkdir a b
  cp -a "$dir"/data/{comp-snappy-fixed-0,comp-zstd-fixed-0,meta.properties} a
  cp -a a/* b
  chmod -R u+w b
  # The other replica is as the broker wrote it: the damage is undone.
  python3 - "$dir/cases.json" <<'PY'
import json, sys
for case in ("comp-snappy-fixed-0", "comp-zstd-fixed-0"):
    for edit in json.load(open(sys.argv[1]))[case]["edits"]:
        if edit.get("op") == "overwrite":
            with open("b/" + edit["file"], "r+b") as f:
                f.seek(edit["position"])
                f.write(bytes.fromhex(edit["old"]))
PY
  tk_is 0 verify ./a
  tk_is 0 verify ./b
  tk_is 3 verify ./a ./b --json
  equal "$(rows 'select(.severity == "damage") | [.kind, .partition, .offset]')" \
    '["replica","comp-snappy-fixed-0",68] ["replica","comp-zstd-fixed-0",51]'
}

# Longer, and with sanitizers: docs/testing.md.
@test "random damage to every kind of file: every command ends with the right exit code, nothing false is called good" {
  python3 "$here/random_damage.py" "$TK" 8 "${TK_DAMAGE_SEED:-7}" "$(fixture kafka-4.4-clean)" "$(fixture kafka-4.4-killed)" "$(fixture kafka-2.8)" "$(fixture kafka-upgraded)"
}
