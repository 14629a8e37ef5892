# tk consume -g (cli.md §4, §6): reading as a member of a consumer group.
load common

# in_group GROUP ARGS...: consumes topic t as a member.
in_group() {
  local group=$1
  shift
  tk consume t -g "$group" "$@"
}
# member NAME ARGS...: a running member of group g that prints to the file NAME; its process is in pid_NAME.
member() {
  local name=$1
  shift
  "$TK" consume t -g g -F "$@" > "$name" 2> "$name.errors" 3>&- &
  printf -v "pid_$name" %s $!
}
# ends NAME SIGNAL: stops a member and leaves its exit code in $ended.
ends() {
  local pid=pid_$1
  kill -s "$2" "${!pid}"
  ended=0
  wait "${!pid}" || ended=$?
}
teardown() {
  local pid
  for pid in $(jobs -p); do kill -KILL "$pid" 2> /dev/null || true; done
}
committed() { tk groups describe "$1" --json | jq -c '[.partition, .committed]' | tr -d '\n'; }
# numbered COUNT PARTITIONS: lines 0, 1, .. in turn over the partitions of a new topic t.
numbered() {
  tk topics create t -p "$2" -q
  seq 0 $(($1 - 1)) | tk produce t -q --partitioner round-robin
}
# eventually SECONDS COMMAND...: true once the command is.
eventually() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.05
  done
}
lines_of() { [ "$(wc -l < "$1")" -ge "$2" ]; }
assigned() { [ "$(tk groups describe g --members --json | jq -c '[.partitions | length]' | tr -d '\n')" = "$1" ]; }

@test "a group reads every record once, whoever comes" {
  numbered 100 4
  in_group g > first
  equal "$(sort -n first)" "$(seq 0 99)"
  equal "$(in_group g)" ""
  seq 100 109 | tk produce t -q
  equal "$(in_group g | sort -n)" "$(seq 100 109)"
  equal "$(in_group other | wc -l)" 110
  tk groups describe g --json | jq -es 'length == 4 and all(.lag == 0 and .member == null)'
}

@test "what was printed is committed, not more" {
  numbered 10 1
  equal "$(in_group g -n 3)" "$(seq 0 2)"
  equal "$(committed g)" "[0,3]"
  equal "$(in_group g -n 0)" ""
  equal "$(committed g)" "[0,3]"
  equal "$(in_group g --grep '^[57]$' -n 1)" 5
  equal "$(committed g)" "[0,6]"
  equal "$(in_group g --grep '^[57]$')" 7
  equal "$(committed g)" "[0,10]"
}

@test "--commit none reads without a trace; every=N commits on the way" {
  numbered 10 1
  equal "$(in_group g --commit none)" "$(seq 0 9)"
  equal "$(committed g)" "" # neither a commit nor a member: nothing to show
  tk_is 2 consume t -g g --commit every=0
  tk_is 2 consume t -g g --commit now
  equal "$(in_group g --commit every=4)" "$(seq 0 9)"
  equal "$(tk groups events g --json | jq -c 'select(.ev == "commit").detail.offsets["t-0"]' | tr '\n' ' ')" "4 8 10 "
}

@test "a pipe that is closed: what it took is committed, the rest is read by the next" {
  tk topics create t -q
  seq -f '%0999.0f' 0 19999 | tk produce t -q
  in_group g | head -n 1 > first
  at=$(tk groups describe g --json | jq .committed)
  [ "$at" -ge 1 ]
  [ "$at" -lt 20000 ]
  in_group g > rest
  equal "$(head -n 1 rest | sed 's/^0*//')" "$at"
  equal "$(wc -l < rest)" $((20000 - at))
}

@test "a full output is exit 1, and what it did not take is not committed" {
  numbered 10 1
  run -1 --separate-stderr sh -c "'$TK' consume t -g g > /dev/full"
  contains "$stderr" "No space left"
  equal "$(committed g)" ""
  equal "$(in_group g)" "$(seq 0 9)"
}

@test "--reset says where a group without a commit begins" {
  numbered 5 1
  tk_is 4 consume t -g strict --reset none --json
  error_is NO_OFFSET_FOR_PARTITION
  equal "$(tk groups describe strict --state --json | jq .members)" 0 # it left, though it failed
  equal "$(in_group late --reset latest)" ""
  seq 5 6 | tk produce t -q
  equal "$(in_group late)" "$(seq 5 6)"
  equal "$(in_group early --reset earliest | wc -l)" 7
  tk_is 2 consume t -g g --reset sometimes
}

@test "-o goes before what is committed" {
  numbered 5 1
  in_group g > /dev/null
  equal "$(in_group g --from-beginning -n 2)" "$(seq 0 1)"
  equal "$(committed g)" "[0,2]"
  equal "$(in_group g -o -1)" 4
  equal "$(in_group g -o stored)" ""
  tk_is 2 consume t -o stored
}

@test "a group shares out whole topics, and its settings need a group" {
  numbered 5 2
  tk_is 2 consume t -g g -p 0
  tk_is 2 consume t-0 -g g
  contains "$stderr" "whole topics"
  tk_is 2 consume t --member m
  tk_is 2 consume t --reset none
  tk_is 2 consume t -g g --order time
  tk_is 2 consume t -g ''
  tk_is 1 consume nothing -g g
  tk_is 1 consume t -g g -d missing
  [ ! -e missing ]
}

@test "a named member stays one; a second process with its id is refused" {
  numbered 10 2
  in_group g --member m > /dev/null
  equal "$(tk groups describe g --members --json | jq -c '[.member, .partitions]')" '["m",["t-0","t-1"]]'
  member one --member m
  eventually 10 sh -c "'$TK' consume t -g g --member m 2>&1 | grep -q 'another process runs'"
  tk_is 4 consume t -g g --member m --json
  error_is LOG_DIR_LOCKED
  ends one TERM
  equal $ended 143
  equal "$(tk groups describe g --members --json | jq -r .member)" m
  tk consume t -g g --member m
}

@test "a second member takes over its share once the first has committed; it leaves on a signal" {
  numbered 1000 4
  member one -f '%p %o\n'
  eventually 10 lines_of one 1000
  member two -f '%p %o\n'
  eventually 10 assigned '[2][2]'
  seq 1 1000 | tk produce t -q --partitioner round-robin
  eventually 10 sh -c '[ $(cat one two | wc -l) -ge 2000 ]'
  equal "$(sort one two | uniq -d)" ""
  ends two TERM
  equal $ended 143
  eventually 10 assigned '[4]'
  ends one INT
  equal $ended 130
  equal "$(tk groups describe g --state --json | jq -r .state)" Empty
  equal "$(tk groups describe g --json | jq -s 'map(.lag) | add')" 0
  equal "$(in_group g)" ""
}

@test "a killed member is expelled when its session ends, and its partitions go on from the last commit" {
  numbered 10 1
  member one --session-timeout 700 --commit none
  eventually 10 lines_of one 10
  ends one KILL
  member two --heartbeat-ms 100
  eventually 10 lines_of two 10
  ends two TERM
  equal "$(cat two)" "$(seq 0 9)"
  tk groups events g --json | jq -es 'any(.ev == "expire" and .detail.deadline == "session")'
}

@test "who exceeds the poll interval is expelled, its late commit refused; a smaller batch fixes it" {
  tk topics create t -q
  seq -f '%0999.0f' 0 999 | tk produce t -q
  # The first takes one line and then nothing for longer than the interval: the pipe is full meanwhile.
  mkfifo slow
  (head -n 1 > /dev/null; sleep 2; cat > /dev/null) < slow 3>&- &
  seq -f '%01999.0f' 0 2999 | tk produce t -q
  (
    set +e
    "$TK" consume t -g g --max-poll-interval 500 > slow 2> late
    echo $? > status
  ) 3>&- &
  sleep 1
  tk rebalance g --expire > /dev/null
  wait
  equal "$(cat status)" 4
  contains "$(cat late)" "read again by others"
  equal "$(in_group g -n 10 --max-poll-interval 500 | wc -l)" 10
  equal "$(committed g)" "[0,10]"
}

@test "an immediate group: a commit in an old generation is refused, what is kept is committed" {
  numbered 100 4
  tk rebalance g --topic t --join a --assignor range > /dev/null
  member one --member a -f '%p %o\n'
  eventually 10 lines_of one 100
  tk rebalance g --topic t --join b > /dev/null
  ends one TERM
  equal $ended 143
  equal "$(tk groups describe g --json | jq -c '[.partition, .committed]' | tr -d '\n')" '[0,25][1,25][2,null][3,null]'
  equal "$(in_group g --member b | wc -l)" 50
}

@test "damage ends a group's reading before it, unless it is to be skipped" {
  tk topics create t --format kafka -q
  for i in 1 2 3; do echo $i | tk produce t -q; done
  size=$(stat -c %s "$S0")
  printf X | dd of="$S0" bs=1 seek=$((size / 3 * 2 - 2)) conv=notrunc status=none
  tk_is 3 consume t -g g
  equal "$output" 1
  equal "$(committed g)" "[0,1]"
  tk_is 3 consume t -g g
  equal "$output" ""
  tk_is 3 consume t -g g --on-damage skip
  equal "$output" 3
  equal "$(committed g)" "[0,3]"
}

@test "a topic made anew under the same name is read from its beginning" {
  numbered 5 1
  in_group g > /dev/null
  tk topics delete t > /dev/null 2>&1
  numbered 3 1
  equal "$(in_group g)" "$(seq 0 2)"
}

@test "a broken group file: its path, exit 3, left as it is; other groups work" {
  numbered 5 1
  in_group g > /dev/null
  printf '{"format":1' > logs/group-g.json
  cp logs/group-g.json before
  tk_is 3 consume t -g g --json
  error_is CORRUPT_STATE
  contains "$stderr" group-g.json
  cmp before logs/group-g.json
  equal "$(in_group h | wc -l)" 5
}

@test "per key nothing is reordered and nothing is missing while members come and go" {
  tk topics create t -p 6 -q
  (for i in $(seq 1 300); do
    seq -f "k$((i % 17)):%.0f" $((i * 10)) $((i * 10 + 9))
    [ $((i % 60)) -ne 0 ] || sleep 0.3
  done) | "$TK" produce t -K : -q 3>&- &
  local producer=$!
  member out1 -J --heartbeat-ms 100
  sleep 0.4
  for n in 2 3; do member out$n -J --heartbeat-ms 100; done
  sleep 0.5
  for n in 4 5 6; do member out$n -J --heartbeat-ms 100; done
  wait $producer
  eventually 20 sh -c '[ $(cat out? | wc -l) -ge 3000 ]'
  for n in 1 2 3 4 5 6; do ends out$n TERM; done
  # Each partition's records over all members by the order of their offsets: values rise within each key.
  jq -rs 'group_by(.partition)[] | sort_by(.offset) | (map(.offset) == [range(length)]),
          (group_by(.key)[] | map(.value | tonumber) | . == sort)' out? > verdict
  equal "$(sort -u verdict)" true
  for n in 1 2 3 4 5 6; do
    jq -es 'group_by(.partition) | all(map(.offset) | . == sort)' out$n > /dev/null
  done
}

@test "a member that waits for a reader who does not read keeps its session, as long as the poll interval allows" {
  tk topics create t -q
  seq 1 400000 | tk produce t -q
  mkfifo pipe
  "$TK" consume t -g g --session-timeout 1000 --heartbeat-ms 200 > pipe 2> errors 3>&- &
  exec 4< pipe
  # Nobody reads for three sessions; then whose session has ended is expelled.
  sleep 3
  tk rebalance g --expire > /dev/null
  equal "$(tk groups events g --json | jq -c 'select(.ev == "expire")')" ""
  equal "$(cat <&4 | tail -n 1)" 400000
  exec 4<&-
  wait $!
  equal "$(cat errors)" ""
}
