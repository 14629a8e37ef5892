# Consumer groups that live in files: tk rebalance, commit, groups (cli.md §6, groups.md).
load common

# topic NAME PARTITIONS RECORDS: records spread evenly, record i of a partition at T + i s.
topic() {
  tk topics create "$1" -p "$2" -q
  [ "${3:-0}" -eq 0 ] || seq "$3" | tk produce "$1" --partitioner round-robin -q
}
# join GROUP MEMBER...: each joins and lives for ever.
join() {
  local group=$1 member
  shift
  for member in "$@"; do tk rebalance "$group" --topic orders --join "$member" --session-timeout 0 --max-poll-interval 0 -q >/dev/null; done
}
# who: "generation member:partitions moved" of each row in $output.
who() { jq -r '"\(.generation) \(.member):\(.partitions | map(ltrimstr("orders-")) | join(",")) \(.moved)"' <<<"$output" | tr '\n' ' ' | sed 's/ $//'; }

@test "the seed's middle part: a group rebalances on join and leave, a new process goes on from its commits" {
  topic orders 4 100
  tk_is 0 rebalance g --topic orders --join c2 --session-timeout 0 --max-poll-interval 0 --json
  equal "$(who)" "1 c2:0,1,2,3 0"
  tk_is 0 rebalance g --join c1 --session-timeout 0 --max-poll-interval 0 --json
  equal "$(who)" "2 c1:0,1 2 2 c2:2,3 0"
  tk_is 0 rebalance g --join c1 --json
  equal "$(who)" "2 c1:0,1 0 2 c2:2,3 0"
  tk_is 0 commit g orders-0=10 orders-1=25 --member c1 --generation 2
  tk_is 4 commit g orders-0=11 --member c1 --generation 1 --json
  error_is ILLEGAL_GENERATION
  tk_is 0 rebalance g --leave c2 --json
  equal "$(who)" "3 c1:0,1,2,3 2"
  tk_is 4 commit g orders-0=11 --member c1 --generation 2
  tk_is 0 groups describe g --json
  equal "$(rows '[.partition,.committed,.end_offset,.lag,.member]')" '[0,10,25,15,"c1"] [1,25,25,0,"c1"] [2,null,25,null,"c1"] [3,null,25,null,"c1"]'
  tk_is 0 rebalance g --leave c1
  contains "$stderr" "no members; generation 4"
  equal "$output" ""
  tk_is 0 groups events g --json
  equal "$(jq -r .ev <<<"$output" | sort | uniq -c | awk '{print $2 $1}' | tr '\n' ' ')" "assign4 commit1 fenced2 generation4 join2 leave2 "
}

@test "several steps in one command: in their order, each its own generation, all or none" {
  topic orders 6
  tk_is 0 rebalance g --topic orders --join b --join a --leave b --json
  equal "$(who)" "3 a:0,1,2,3,4,5 0"
  before=$(cat logs/group-g.json)
  tk_is 4 rebalance g --join c --leave nobody --json
  error_is UNKNOWN_MEMBER_ID
  equal "$(cat logs/group-g.json)" "$before"
}

@test "rows: the documented fields" {
  topic orders 2 10
  tk_is 0 rebalance g --topic orders --join a --json
  equal "$(jq -rc '[keys_unsorted[:7][]] | join(",")' <<<"$output")" "group,generation,assignor,member,partitions,revoking,moved"
  tk_is 0 commit g orders-0=3 --member a --generation 1 --metadata 'm"x' --json
  equal "$(jq -c '[.group,.topic,.partition,.offset,.previous,.went_back]' <<<"$output")" '["g","orders",0,3,null,false]'
  tk_is 0 commit g orders:0=1 --member a --generation 1 --json
  equal "$(jq -c '[.offset,.previous,.went_back]' <<<"$output")" '[1,3,true]'
  tk_is 0 groups describe g --json
  equal "$(head -n 1 <<<"$output" | jq -rc 'keys_unsorted | join(",")')" \
    "group,topic,partition,committed,log_start_offset,log_end_offset,end_offset,lag,member,metadata,leader_epoch,commit_ts,note"
  tk_is 0 groups describe g --members --json
  equal "$(jq -rc 'keys_unsorted[:9] | join(",")' <<<"$output")" \
    "group,member,instance,generation,member_epoch,topics,partitions,revoking,session_deadline"
  for view in "list" "describe g --state"; do
    tk_is 0 groups $view --json
    equal "$(jq -c '[.group,.state,.protocol,.assignor,.generation,.members,.topics]' <<<"$output")" \
      '["g","Stable","immediate","range",1,1,["orders"]]'
  done
}

@test "deadlines: who passed one is expelled at the next command that writes, and looking shows it before" {
  topic orders 4
  TK_NOW=$T tk rebalance g --topic orders --join a -q
  TK_NOW=$((T + 1000)) tk rebalance g --join b -q
  before=$(digest logs)
  TK_NOW=$((T + 45500)) tk_is 0 groups describe g --members --json
  equal "$(rows '[.member,(.partitions|length)]')" '["b",4]'
  equal "$(digest logs)" "$before"
  TK_NOW=$((T + 45500)) tk_is 0 rebalance g --expire --json
  equal "$(who)" "3 b:0,1,2,3 2"
  tk_is 0 groups events g --json
  equal "$(jq -c 'select(.ev == "expire") | [.ts,.member,.detail]' <<<"$output")" "[$((T + 45000)),\"a\",{\"deadline\":\"session\",\"at\":$((T + 45000))}]"
  # The poll deadline, though heartbeats come.
  for s in 40 80 120 160 200 240 280; do TK_NOW=$((T + s * 1000)) tk rebalance g --heartbeat b -q >/dev/null; done
  TK_NOW=$((T + 301001)) tk_is 0 rebalance g --expire -q
  equal "$output" ""
}

@test "a slow member is expelled, its late commit refused; a smaller batch fixes it" {
  topic orders 1 100
  TK_NOW=$T tk rebalance g --topic orders --join slow --session-timeout 0 --max-poll-interval 10000 -q
  TK_NOW=$((T + 10001)) tk_is 4 commit g orders-0=50 --member slow --generation 1 --json
  error_is UNKNOWN_MEMBER_ID
  TK_NOW=$((T + 10002)) tk_is 0 groups describe g --state --json
  equal "$(jq -c '[.state,.generation]' <<<"$output")" '["Empty",2]'
  TK_NOW=$((T + 20000)) tk rebalance g --topic orders --join slow --session-timeout 0 --max-poll-interval 10000 -q
  TK_NOW=$((T + 24000)) tk_is 0 commit g orders-0=10 --member slow --generation 3
  TK_NOW=$((T + 24001)) tk_is 4 commit g orders-0=12 --member slow --generation 2
  # The history tells who was refused, and why.
  equal "$(tk groups events g --json | jq -c 'select(.ev == "fenced") | [.ts, .member, .detail]' | tr '\n' ' ')" \
    "[$((T + 10001)),\"slow\",{\"refused\":\"commit\",\"error\":\"UNKNOWN_MEMBER_ID\",\"generation\":1}] [$((T + 24001)),\"slow\",{\"refused\":\"commit\",\"error\":\"ILLEGAL_GENERATION\",\"generation\":2}] "
}

@test "consumer protocol: timeline C1, step by step" {
  topic t 3
  step() {
    tk_is 0 rebalance g "$@" --json
    jq -r '"\(.generation) \(.state) \(.member) e\(.member_epoch) \(.status) \(.partitions|map(ltrimstr("t-"))|join(",")) /\(.revoking|map(ltrimstr("t-"))|join(","))"' <<<"$output" | tr '\n' ';'
  }
  equal "$(step --protocol consumer --heartbeat A --epoch 0 --owned none --topic t)" "1 Stable A e1 stable 0,1,2 /;"
  equal "$(step --join B)" "2 Reconciling A e1 stable 0,1,2 /;2 Reconciling B e2 unreleased  /;"
  equal "$(step --heartbeat A --epoch 1)" "2 Reconciling A e1 unrevoked 0,1 /2;2 Reconciling B e2 unreleased  /;"
  equal "$(step --heartbeat A --epoch 1 --owned t:0,t:1)" "2 Reconciling A e2 stable 0,1 /;2 Reconciling B e2 unreleased  /;"
  equal "$(step --heartbeat B --epoch 2)" "2 Stable A e2 stable 0,1 /;2 Stable B e2 stable 2 /;"
  equal "$(step --heartbeat A --epoch -1)" "3 Assigning B e2 stable 2 /;"
  equal "$(step --heartbeat B --epoch 2)" "3 Stable B e3 stable 0,1,2 /;"
  tk_is 4 rebalance g --heartbeat B --epoch 4 --json
  error_is FENCED_MEMBER_EPOCH
  tk_is 4 commit g t-0=0 --member B --generation 2 --json
  error_is STALE_MEMBER_EPOCH
}

@test "classic protocol: join, sync, rebalance in progress, static members" {
  topic orders 4 20
  at() {
    local now=$1
    shift
    TK_NOW=$((T + now)) run --separate-stderr "$TK" rebalance g "$@" --json
  }
  row() { jq -r --arg m "$1" 'select(.member == $m) | "\(.generation) \(.state) \(.status) \(.partitions|map(ltrimstr("orders-"))|join(","))"' <<<"$output"; }
  at 0 --protocol classic --join A --instance i1 --topic orders
  equal "$(row A)" "0 PreparingRebalance awaiting_join "
  at 3000 --expire
  equal "$(row A)" "1 CompletingRebalance awaiting_sync "
  at 3001 --sync-group A --generation 1
  equal "$(row A)" "1 Stable stable 0,1,2,3"
  at 4000 --join B --instance i2
  at 4001 --heartbeat A
  equal "$status" 4
  error_is REBALANCE_IN_PROGRESS
  TK_NOW=$((T + 4002)) tk_is 0 commit g orders-0=1 --member A --generation 1
  at 4002 --join A
  at 4003 --sync-group B --generation 2
  equal "$(row B)" "2 CompletingRebalance awaiting_leader "
  TK_NOW=$((T + 4003)) tk_is 4 commit g orders-0=1 --member A --generation 2 --json
  error_is REBALANCE_IN_PROGRESS
  at 4004 --sync-group A --generation 2
  at 4005 --join B2 --instance i2
  equal "$(row B2)" "2 Stable stable 2,3"
  TK_NOW=$((T + 4006)) tk_is 4 commit g orders-2=1 --member B --instance i2 --generation 2 --json
  error_is FENCED_INSTANCE_ID
  at 4007 --leave instance:i2
  equal "$status" 0
  equal "$(jq -rc .member <<<"$output")" A
}

@test "commit: what is refused" {
  topic orders 2 20
  tk_is 4 commit g orders-0=11 --json
  error_is OFFSET_OUT_OF_RANGE
  contains "$stderr" "0 to 10"
  [ ! -e logs/group-g.json ]
  tk_is 1 commit g orders-2=1 --json
  error_is UNKNOWN_TOPIC_OR_PARTITION
  tk_is 1 commit g ordes-0=1 --json
  error_is UNKNOWN_TOPIC_OR_PARTITION
  tk_is 2 commit g orders=1
  contains "$stderr" "one of its partitions"
  tk_is 1 commit g orders-0=1 --member a --generation 1 --json
  error_is GROUP_ID_NOT_FOUND
  tk_is 2 commit '' orders-0=1 --json
  error_is INVALID_GROUP_ID
  tk_is 4 commit g orders-0=1 --metadata "$(printf 'x%.0s' {1..4097})" --json
  error_is OFFSET_METADATA_TOO_LARGE
  join g a
  tk_is 4 commit g orders-0=1 --json
  error_is UNKNOWN_MEMBER_ID
  tk_is 4 commit g orders-0=1 --member b --generation 1 --json
  error_is UNKNOWN_MEMBER_ID
  tk_is 4 commit g orders-0=1 orders-1=99 --member a --generation 1
  tk_is 0 groups describe g --json
  equal "$(rows .committed)" "null null"
}

@test "commit --all-read: the member's partitions; without members what has a commit, and the topics named" {
  topic orders 4 40
  topic u 1 7
  join g a b
  tk_is 0 commit g --all-read --member a --generation 2 --json
  equal "$(rows '[.partition,.offset]')" "[0,10] [1,10]"
  tk rebalance g --leave a --leave b -q
  echo x | tk produce orders -p 0 -q
  tk_is 0 commit g --all-read --topic u --json
  equal "$(rows '[.topic,.partition,.offset]')" '["orders",0,11] ["orders",1,10] ["u",0,7]'
}

@test "a topic made anew under the same name: its old commits do not apply, and it is said" {
  topic orders 1 10
  tk commit g orders-0=7 -q
  tk topics delete orders -q
  tk_is 0 groups describe g --json
  equal "$(jq -c '[.committed,.end_offset,.lag,.note]' <<<"$output")" '[7,null,null,"the topic is gone"]'
  topic orders 1 20
  tk_is 0 groups describe g --json
  equal "$(jq -c '[.committed,.end_offset,.lag]' <<<"$output")" '[null,20,null]'
  contains "$output" "made anew"
  tk_is 0 commit g orders-0=3 --json
  equal "$(jq -c '[.offset,.previous]' <<<"$output")" "[3,null]"
}

@test "describe: a topic that is gone, and one nobody reads any more, do not stop the rest (R91, R96)" {
  topic t 1 5
  topic gone 1 5
  tk commit g t-0=2 gone-0=1 -q
  tk topics delete gone -q
  tk_is 0 groups describe g --json
  equal "$(rows '[.topic,.committed,.lag]')" '["gone",1,null] ["t",2,3]'
  tk_is 0 groups delete-offsets g --topic gone --dry-run
  equal "$output" "would delete gone-0"
  tk_is 0 groups delete-offsets g --topic gone
  tk_is 0 groups describe g --json
  equal "$(rows .topic)" t
  tk_is 1 groups delete-offsets g --topic tt --json
  error_is UNKNOWN_TOPIC_OR_PARTITION
  tk rebalance g --topic t --join a -q
  tk_is 4 groups delete-offsets g --topic t --json
  error_is GROUP_SUBSCRIBED_TO_TOPIC
}

@test "describe: a commit outside of the log is flagged, and lag counts what is there" {
  topic t 1 10
  tk commit g t-0=8 -q
  file=logs/t-0/$SEGMENT
  truncate -s 0 "$file"
  rm -f logs/t-0/*.index logs/t-0/*.timeindex
  tk_is 0 groups describe g --json
  equal "$(jq -c '[.committed,.log_end_offset,.lag]' <<<"$output")" "[8,0,0]"
  contains "$output" "beyond the log's end"
}

@test "describe --lag-records counts records, not offsets" {
  topic t 1 10
  tk commit g t-0=4 -q
  tk_is 0 groups describe g --lag-records --json
  equal "$(jq -c '[.lag,.lag_records]' <<<"$output")" "[6,6]"
}

# The example of groups.md §9: p0 10..95 committed 40, p1 empty, p2 5..50 committed 3; timestamps 1000 * offset.
reset_example() {
  tk topics create p -p 3 -q
  for pair in 0:95 2:50; do
    for ((i = 0; i < ${pair#*:}; i++)); do printf '{"value":"%s","ts":%s,"partition":%s}\n' $i $((i * 1000)) "${pair%:*}"; done
  done | tk produce p -i json -q
  printf '0\n2\np 0 10\np 2 5\n' > logs/log-start-offset-checkpoint
  tk commit g p-0=40 p-2=5 -q
}
plan() {
  TK_NOW=96000 tk_is 0 groups reset-offsets g "$@" --json
  jq -r '"\(.to)\(if .clamped then "*" else "" end)"' <<<"$output" | tr '\n' ' ' | sed 's/ $//'
}

@test "reset-offsets: every scenario, from the log's own edges" {
  reset_example
  equal "$(plan --to-earliest --topic p)" "10 0 5"
  equal "$(plan --to-latest --topic p)" "95 0 50"
  equal "$(plan --to-offset 30 --topic p)" "30 0* 30"
  equal "$(plan --to-offset 3 --topic p)" "10* 0* 5*"
  equal "$(plan --shift-by -50 --all-topics)" "10* 5*"
  equal "$(plan --shift-by 100 --topic p:0,2)" "95* 50*"
  equal "$(plan --to-current --topic p)" "40 0 5"
  equal "$(plan --to-datetime 1970-01-01T00:00:20.500 --topic p)" "21 0 21"
  equal "$(plan --to-datetime 1970-01-01T05:30:20.500+05:30 --topic p-0)" "21"
  equal "$(plan --by-duration PT10S --topic p)" "86 0 50"
  equal "$(plan --by-duration 10s --topic p-0)" "86"
  TK_NOW=96000 tk_is 0 groups reset-offsets g --to-datetime 1970-01-01T05:30:20.500+05:30 --topic p-1
  contains "$stderr" "1970-01-01T00:00:20.500Z" # the zone is settled, and no match is said
  contains "$stderr" "no record at or after"
  TK_NOW=96000 tk_is 4 groups reset-offsets g --shift-by 1 --topic p --json
  error_is NO_OFFSET_FOR_PARTITION
  TK_NOW=96000 tk_is 0 groups describe g --json
  equal "$(rows .committed)" "40 5" # all that was a preview
}

@test "reset-offsets: previews by default and says so once, --execute does it, members forbid it (R90)" {
  reset_example
  TK_NOW=96000 tk_is 0 groups reset-offsets g --to-earliest --all-topics
  contains "$stderr" "nothing was changed"
  TK_NOW=96000 tk_is 0 groups reset-offsets g --to-earliest --all-topics --dry-run
  equal "$stderr" ""
  TK_NOW=96000 tk_is 0 groups reset-offsets g --shift-by -100 --topic p-0 --execute --json
  equal "$(jq -c '[.from,.to,.clamped]' <<<"$output")" "[40,10,true]"
  contains "$stderr" "outside of the log"
  TK_NOW=96000 tk_is 0 groups describe g --json
  equal "$(rows .committed)" "10 5"
  TK_NOW=96000 tk_is 0 groups reset-offsets new --to-latest --topic p-0 --execute
  TK_NOW=96000 tk_is 1 groups reset-offsets other --to-latest --all-topics --json
  error_is GROUP_ID_NOT_FOUND
  TK_NOW=96000 tk rebalance g --topic p --join a -q
  TK_NOW=96000 tk_is 4 groups reset-offsets g --to-earliest --all-topics --json
  error_is NON_EMPTY_GROUP
}

@test "export, delete, import: the same offsets (R97)" {
  topic t 2 20
  topic u 1 20
  tk commit g t-0=2 t-1=9 u-0=5 -q
  tk_is 0 groups export g
  equal "$output" $'t,0,2\nt,1,9\nu,0,5'
  printf '%s\n' "$output" > plan.csv
  tk groups delete g -q
  tk_is 1 groups describe g
  tk_is 0 groups reset-offsets g --from-file plan.csv --execute -q
  tk_is 0 groups export g
  equal "$output" "$(cat plan.csv)"
  sed 's/^/g,/; s/$//' plan.csv > both.csv
  echo 'other,t,0,1' >> both.csv
  tk_is 0 groups reset-offsets g --from-file both.csv --json
  contains "$stderr" "'other'"
  equal "$(rows '[.from,.to]')" "[2,2] [9,9] [5,5]"
  tk_is 0 groups reset-offsets g --from-file - --topic u --json < plan.csv
  tk_is 2 groups reset-offsets g --from-file <(echo 't,0') --json
  echo 't,0,x' > bad.csv
  tk_is 2 groups reset-offsets g --from-file bad.csv
  contains "$stderr" "line 1"
  echo 't,7,1' > bad.csv
  tk_is 1 groups reset-offsets g --from-file bad.csv --json
  error_is UNKNOWN_TOPIC_OR_PARTITION
}

@test "a damaged file: named with its place, left alone, set aside by delete; other groups work" {
  topic orders 2 10
  tk commit g orders-0=3 -q
  tk commit h orders-0=4 -q
  printf X | dd of=logs/group-g.json bs=1 seek=40 conv=notrunc status=none
  before=$(sha256sum logs/group-g.json)
  for command in "groups describe g" "groups export g" "commit g orders-0=1" "rebalance g --topic orders --join a"; do
    tk_is 3 $command --json
    error_is CORRUPT_STATE
    equal "$(tail -n 1 <<<"$stderr" | jq -r '.path, (.position | type)' | tr '\n' ' ')" "$PWD/logs/group-g.json number "
    equal "$(sha256sum logs/group-g.json)" "$before"
  done
  tk_is 3 groups list --json
  equal "$(rows '[.group,.state]')" '["g","Damaged"] ["h","Empty"]'
  tk_is 0 groups describe h
  tk_is 0 groups delete g --dry-run
  contains "$output" "would set aside"
  TK_NOW=$T tk_is 0 groups delete g
  equal "$(sha256sum < logs/group-g.json.damaged-$T)" "$(sed 's/ .*/  -/' <<<"$before")"
  tk_is 0 commit g orders-0=1
  # Half a file, and one of a later version.
  head -c 200 logs/group-h.json > half
  cp half logs/group-h.json
  tk_is 3 groups describe h
  echo '{"format":2,"group":"h"}' > logs/group-h.json
  tk_is 1 groups describe h --json
  error_is UNSUPPORTED_VERSION
  tk_is 1 groups delete h
  equal "$(cat logs/group-h.json)" '{"format":2,"group":"h"}'
}

@test "edited by hand: a file without its checksum is read" {
  topic orders 1 10
  tk commit g orders-0=3 -q
  sed -i 's/"offset":3/"offset":5/; s/,"crc32c":"[0-9a-f]*"//' logs/group-g.json
  tk_is 0 groups describe g --json
  equal "$(jq .committed <<<"$output")" 5
}

@test "two rebalances at once: one after the other, none lost" {
  topic orders 8
  for i in 1 2 3 4 5 6; do tk rebalance g --topic orders --join "m$i" --session-timeout 0 -q >/dev/null & done
  wait
  tk_is 0 groups describe g --members --json
  equal "$(jq -s -c '[length, .[0].generation, ([.[].partitions[]] | unique | length)]' <<<"$output")" "[6,6,8]"
  run ls logs
  [[ $output != *.tmp* ]]
}

@test "a lock that is held: exit 4 with the path; readers do not wait" {
  topic orders 1 5
  tk commit g orders-0=1 -q
  python3 - <<'PY' &
import fcntl, struct, time, os
f = open("logs/group-g.lock", "r+b")
fcntl.fcntl(f, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0))
open("held", "w").close()
while not os.path.exists("done"): time.sleep(.02)
PY
  while [ ! -e held ]; do sleep 0.02; done
  tk_is 4 commit g orders-0=2 --lock-timeout 50 --json
  error_is LOG_DIR_LOCKED
  contains "$stderr" "group-g.lock"
  tk_is 0 groups describe g
  touch done
  wait
  tk_is 0 commit g orders-0=2
}

@test "who waits for a group's lock gets it in turn, whoever takes it again and again" {
  topic orders 1 100
  python3 - <<'PY' 3>&- &
import fcntl, struct, time, os
f = open("logs/group-g.lock", "a+b")
fcntl.fcntl(f, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0))
open("held", "w").close()
while not os.path.exists("done"): time.sleep(.02)
PY
  until [ -e held ]; do sleep 0.02; done
  inode=$(stat -c %i logs/group-g.lock)
  # Ten commits, each begun when the one before it stands in its place of the line (bytes from 2^62 on).
  for i in {0..9}; do
    tk commit g "orders-0=$i" -q --lock-timeout 120000 3>&- &
    local end=$((SECONDS + 60)) place=$(((1 << 62) + i))
    until grep -q ":$inode $place $place\$" /proc/locks; do
      [ $SECONDS -lt $end ] || { touch done; return 1; }
      sleep 0.02
    done
  done
  touch done
  # Meanwhile others come all the time.
  for i in {50..69}; do tk commit g "orders-0=$i" -q --lock-timeout 120000; done
  wait
  tk_is 0 groups events g --json
  equal "$(jq -c '.detail.offsets["orders-0"]' <<<"$output" | head -n 10 | tr '\n' ' ')" "0 1 2 3 4 5 6 7 8 9 "
  equal "$(jq -c '.detail.offsets["orders-0"]' <<<"$output" | wc -l)" 30
}

@test "a clock that goes backwards: the group's own time counts, and it is said" {
  topic orders 2
  TK_NOW=$T tk rebalance g --topic orders --join a -q
  TK_NOW=$((T - 3600000)) tk_is 0 rebalance g --join b --json
  equal "$(jq -s -c '[.[0].generation, .[0].clock_regressed]' <<<"$output")" "[2,true]"
  contains "$stderr" "clock is behind"
  TK_NOW=$((T + 44999)) tk_is 0 groups describe g --members --json
  equal "$(rows .member)" "a b"
}

@test "a directory that cannot be written: exit 1, looking works" {
  [ "$(id -u)" -ne 0 ] || skip "root may write anywhere"
  topic orders 1 5
  tk commit g orders-0=1 -q
  chmod a-w logs
  tk_is 1 commit h orders-0=1 --json
  error_is STORAGE_ERROR
  tk_is 0 groups describe g
  chmod u+w logs
}

@test "looking at groups changes nothing, and needs no group to be there" {
  topic orders 2 10
  tk_is 0 groups list
  equal "$output" ""
  tk commit g orders-0=3 -q
  before=$(digest logs)
  for command in list "describe g" "describe g --members" "describe g --state" "events g" "export g" "delete g --dry-run" \
    "reset-offsets g --to-latest --all-topics"; do
    tk_is 0 groups $command
  done
  equal "$(digest logs)" "$before"
  tk_is 1 groups describe gg --json
  error_is GROUP_ID_NOT_FOUND
  tk_is 1 -d nowhere groups list
}

@test "odd names: safe as files, and found again" {
  topic orders 1 5
  for name in 'a/b' '../up' 'with space' '100%' 'ü' "$(printf 'x%.0s' {1..300})"; do
    tk_is 0 commit "$name" orders-0=1
    tk_is 0 groups describe "$name" --json
    equal "$(jq -r .group <<<"$output")" "$name"
  done
  equal "$(find . -name '*.json' -path '*group-*' | wc -l)" 6
  equal "$(tk groups list --json | wc -l)" 6
  [ ! -e logs/../up ]
  tk_is 2 commit "$(printf '\377')" orders-0=1 --json
  error_is INVALID_GROUP_ID
  tk_is 0 topics list
  equal "$stderr" "" # a group's files are nothing foreign
}

@test "delete: not with members; what is left of it is its lock file" {
  topic orders 1 5
  join g a
  tk_is 4 groups delete g --json
  error_is NON_EMPTY_GROUP
  tk_is 4 groups delete g --dry-run
  tk rebalance g --leave a -q
  tk_is 0 groups delete g --json
  equal "$(jq -r .action <<<"$output")" deleted
  equal "$(cd logs && ls group-*)" group-g.lock
  tk_is 1 groups delete g
}

@test "retention: offsets of an empty group go after seven days, and the group with them" {
  topic orders 1 5
  TK_NOW=500000 tk rebalance g --topic orders --join a -q
  TK_NOW=500000 tk commit g orders-0=2 --member a --generation 1 -q
  TK_NOW=500001 tk rebalance g --leave a -q
  TK_NOW=$((500000 + 604800000)) tk_is 0 groups describe g --json
  equal "$(jq .committed <<<"$output")" 2
  TK_NOW=$((500001 + 604800000)) tk_is 1 groups describe g --json
  error_is GROUP_ID_NOT_FOUND
  [ -e logs/group-g.json ]
}

@test "a subscription to a topic that is not there yet is said, and served once it is" {
  topic orders 1
  tk_is 0 rebalance g --join a=ordes --session-timeout 0 --json
  contains "$stderr" "did you mean 'orders'"
  equal "$(jq -c .partitions <<<"$output")" "[]"
  tk topics create ordes -p 2 -q
  tk_is 0 rebalance g --heartbeat a --json
  equal "$(jq -c '[.generation,.partitions]' <<<"$output")" '[2,["ordes-0","ordes-1"]]'
  tk topics alter ordes -p 3 -q
  tk_is 0 rebalance g --expire --json
  equal "$(jq -c '[.generation,(.partitions|length)]' <<<"$output")" '[3,3]'
}
