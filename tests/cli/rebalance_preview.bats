# tk rebalance --preview: assignment questions on stdin, answers on stdout (groups.md §15).
load common

# preview QUESTION ARGS...: leaves the answer in $output.
preview() {
  local question=$1
  shift
  run --separate-stderr "$TK" rebalance --preview "$@" <<<"$question"
  [ "$status" -eq 0 ] || { printf 'exit %s: %s\n' "$status" "$stderr"; return 1; }
}

# refused QUESTION TEXT...: exit 2, nothing on stdout, and each text in the message.
refused() {
  local question=$1 text
  shift
  run --separate-stderr "$TK" rebalance --preview <<<"$question"
  [ "$status" -eq 2 ] || { printf '%s\nexit %s, expected 2: %s\n' "$question" "$status" "$stderr"; return 1; }
  equal "$output" ""
  for text in "$@"; do contains "$stderr" "$text" || return 1; done
}

three='{"id":"A","topics":["t"]},{"id":"B","topics":["t"]},{"id":"C","topics":["t"]}'
held='{"id":"A","topics":["t"],"owned":{"t":[0,2,4]},"generation":1},{"id":"B","topics":["t"],"owned":{"t":[1,3,5]},"generation":1},{"id":"C","topics":["t"],"generation":1}'

@test "the answer's shape, byte for byte" {
  preview '{"assignor":"sticky","partitions":{"t":6},"members":['"$held"']}'
  equal "$output" '{"assignment":{"A":{"t":[0,2]},"B":{"t":[1,3]},"C":{"t":[4,5]}},"transferring":{"t-4":"C","t-5":"C"},"moved":2,"algorithm":"constrained"}'
  preview '{"assignor":"range","partitions":{"t":2},"members":['"$three"',{"id":"D","topics":["t"]}]}'
  equal "$output" '{"assignment":{"A":{"t":[0]},"B":{"t":[1]},"C":{},"D":{}},"transferring":{},"moved":0,"algorithm":"range"}'
  preview '{"partitions":{},"members":[]}'
  equal "$output" '{"assignment":{},"transferring":{},"moved":0,"algorithm":"range"}'
}

@test "one of each assignor; --assignor goes before what the question names" {
  while IFS='|' read -r assignor wanted; do
    preview '{"assignor":"'"$assignor"'","partitions":{"t":6},"members":['"$held"']}'
    equal "$(jq -c '[.assignment[] | .t // []], .algorithm' <<<"$output" | tr '\n' ' ')" "$wanted "
    local answer=$output
    preview '{"partitions":{"t":6},"members":['"$held"'],"assignor":"range"}' --assignor "$assignor"
    equal "$output" "$answer"
  done <<'ROWS'
range|[[0,1],[2,3],[4,5]] "range"
server-range|[[0,1],[2,3],[4,5]] "server-range"
roundrobin|[[0,3],[1,4],[2,5]] "roundrobin"
sticky|[[0,2],[1,3],[4,5]] "constrained"
cooperative-sticky|[[0,2],[1,3],[]] "constrained"
uniform|[[0,2],[1,3],[4,5]] "homogeneous"
ROWS
}

@test "a listed topic that nobody subscribes to is given to nobody" {
  # As Kafka's assign(Cluster, GroupSubscription) does, which looks only at topics that somebody subscribes to.
  local assignor
  for assignor in range roundrobin sticky cooperative-sticky uniform server-range; do
    preview '{"assignor":"'$assignor'","partitions":{"t":2,"u":3},"members":[{"id":"A","topics":["t"],"owned":{"t":[0],"u":[0,1,2]},"generation":3}]}'
    equal "$(jq -c .assignment <<<"$output")" '{"A":{"t":[0,1]}}'
  done
}

@test "static members come first by their instance (A06)" {
  preview '{"partitions":{"t":4},"members":[{"id":"m9","instance":"i1","topics":["t"]},{"id":"m1","instance":"i2","topics":["t"]},{"id":"m5","instance":null,"topics":["t"],"owned":null,"generation":null}]}'
  equal "$(jq -c .assignment <<<"$output")" '{"m1":{"t":[2]},"m5":{"t":[3]},"m9":{"t":[0,1]}}'
}

@test "a question a line, blank lines between, and one printed wide" {
  {
    echo '{"partitions":{"t":1},"members":[{"id":"A","topics":["t"]}]}'
    echo
    jq . <<<'{"assignor":"sticky","partitions":{"t":6},"members":['"$held"']}'
    printf '  \n{"partitions":{"t":1},"members":[{"id":"{[\\"","topics":["t"]}]}'
  } >questions
  run --separate-stderr "$TK" rebalance --preview <questions
  [ "$status" -eq 0 ]
  equal "$(rows '.assignment | length')" "1 3 1"
  equal "$(rows .moved)" "0 2 0"
}

@test "an answer comes before the next question is asked" {
  coproc "$TK" rebalance --preview
  local first second pid=$COPROC_PID
  echo '{"partitions":{"t":1},"members":[{"id":"A","topics":["t"]}]}' >&"${COPROC[1]}"
  read -r -t 10 first <&"${COPROC[0]}"
  contains "$first" '"A":{"t":[0]}'
  echo '{"partitions":{"t":2},"members":[{"id":"B","topics":["t"]}]}' >&"${COPROC[1]}"
  read -r -t 10 second <&"${COPROC[0]}"
  contains "$second" '"B":{"t":[0,1]}'
  eval "exec ${COPROC[1]}>&-"
  wait "$pid"
}

@test "it touches no file and needs no directory" {
  mkdir empty && cd empty
  preview '{"partitions":{"t":2},"members":['"$three"']}' -d nowhere
  equal "$(find . -mindepth 1 | wc -l)" 0
  tk_is 0 rebalance --preview </dev/null
  equal "$output" ""
}

@test "bad questions: exit 2, the line, what is wrong, and what a question looks like" {
  refused '{"partitions":{"t":1}' "line 2" "hint: a question is {"
  refused 'hello' "line 1" "the question is no JSON"
  refused '["t"]' "the question is a list, not an object"
  refused '{"members":[]}' "no 'partitions'"
  refused '{"partitions":{}}' "no 'members'"
  refused '{"partitions":{"t":-1},"members":[]}' "partitions of 't'" "-1"
  refused '{"partitions":{"t":1.5},"members":[]}' "line 1"
  refused '{"partitions":{"t":"3"},"members":[]}' "partitions of 't' is a string, not a whole number"
  refused '{"partitions":{"t":600000,"u":600000},"members":[]}' "more than 1000000 partitions"
  refused '{"partitions":{"t":1,"t":2},"members":[]}' "'t' twice"
  refused '{"partitions":{"t":1},"members":{}}' "'members' is an object, not a list"
  refused '{"partitions":{"t":1},"members":[{"topics":["t"]}]}' "without 'id'"
  refused '{"partitions":{"t":1},"members":[{"id":"","topics":["t"]}]}' "'id' is empty"
  refused '{"partitions":{"t":1},"members":[{"id":7,"topics":["t"]}]}' "'id' is a number, not a string"
  refused '{"partitions":{"t":1},"members":[{"id":"A"}]}' "member 'A' has no 'topics'"
  refused '{"partitions":{"t":1},"members":[{"id":"A","topics":"t"}]}' "'topics' is a string, not a list"
  refused '{"partitions":{"t":1},"members":['"$three"',{"id":"B","topics":[]}]}' "two members with the id 'B'"
  refused '{"partitions":{"t":1},"members":[{"id":"A","instance":"i","topics":[]},{"id":"B","instance":"i","topics":[]}]}' "two members with the instance 'i'"
  refused '{"partitions":{"t":1},"members":[{"id":"A","topics":["t"],"owned":[0]}]}' "'owned' is a list, not an object"
  refused '{"partitions":{"t":1},"members":[{"id":"A","topics":["t"],"owned":{"t":["0"]}}]}' "a partition is a string"
  refused '{"partitions":{"t":1},"members":[{"id":"A","topics":["t"],"generation":-2}]}' "'generation' is -2"
  refused '{"partitions":{"t":1},"members":[{"id":"A","topics":["t"],"genration":1}]}' "did you mean 'generation'"
  refused '{"assigner":"range","partitions":{"t":1},"members":[]}' "did you mean 'assignor'"
  refused '{"assignor":"stiky","partitions":{"t":1},"members":[]}' "did you mean 'sticky'"
  refused '{"assignor":"server-range","partitions":{"t":1},"members":[{"id":"A","topics":["u"]}]}' "member 'A' subscribes to topic 'u', which does not exist"
  refused '{"partitions":{"t":1},"members":[]} {"partitions":{"t":1},"members":[]}' "more text behind the value"
  refused $'{"partitions":{"t\xff":1},"members":[]}' "line 1"
  refused '{"partitions":{"t
":1},"members":[]}' "line 1"
}

@test "the line is that of the mistake, and what came before it is answered" {
  run --separate-stderr "$TK" rebalance --preview --json <<'QUESTIONS'
{"partitions":{"t":1},"members":[{"id":"A","topics":["t"]}]}

{
  "partitions": {"t": 1},
  "members": [
    {"id": "A", "topics": ["t"], "owned": {"t": [0, -1]}}
  ]
}
{"partitions":{"t":1},"members":[]}
QUESTIONS
  [ "$status" -eq 2 ]
  equal "$(rows .algorithm)" range
  error_is INVALID_REQUEST
  contains "$stderr" "line 6"
}

@test "usage: no --preview, a stray argument, an assignor nobody knows" {
  tk_is 2 rebalance
  contains "$stderr" "--preview"
  tk_is 2 rebalance --preview group
  contains "$stderr" "unexpected argument 'group'"
  tk_is 2 rebalance --preview --assignor roundrobbin
  contains "$stderr" "did you mean 'roundrobin'"
}

@test "ten thousand partitions and a hundred members, every assignor" {
  python3 - >questions <<'PY'
import json
topics = [f"topic-{i}" for i in range(100)]
members = [{"id": f"m{i}", "topics": topics if i % 2 else topics[i // 2:], "generation": 1,
            "owned": {topics[-1 - i]: list(range(100))}} for i in range(100)]
for assignor in ("range", "roundrobin", "sticky", "uniform", "server-range", "cooperative-sticky"):
    print(json.dumps({"assignor": assignor, "partitions": {t: 100 for t in topics}, "members": members}))
PY
  run --separate-stderr timeout 20 "$TK" rebalance --preview <questions
  [ "$status" -eq 0 ]
  equal "$(head -n 5 <<<"$output" | jq '[.assignment[][] | length] | add' | tr '\n' ' ')" "10000 10000 10000 10000 10000 "
  equal "$(tail -n 1 <<<"$output" | jq '([.assignment[][] | length] | add) + (.transferring | length)')" 10000
}

@test "a reader that goes away ends it quietly" {
  for _ in $(seq 2000); do echo '{"partitions":{"t":9},"members":['"$three"']}'; done >questions
  run bash -c 'set -o pipefail; "$TK" rebalance --preview <questions | head -n 1 | wc -l'
  equal "$output" 1
  [ "$status" -eq 0 ]
}
