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
@test "damaged partitions: recover --truncate ends where the broker's recovery ended" { damaged truncate; }
@test "damaged partitions: plain recover cuts no readable record" { damaged plain; }
@test "damaged partitions: recover --salvage loses no readable record, and none that the broker kept" { damaged salvage; }

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
