# Field cases of consumer groups and of copies: what users of other tools met.
load common

@test "R88: no more is committed than was printed and taken" {
  tk topics create t -q
  printf 'a\nb\nc\n' | tk produce t -q
  equal "$(tk consume t -g g -n 1)" a
  equal "$(tk groups describe g --json | jq .committed)" 1
  seq 1 300000 | tk produce t -q
  # The reader takes one line and goes away.
  equal "$(tk consume t -g h 2> /dev/null | head -n 1)" a
  local committed
  committed=$(tk groups describe h --json | jq '.committed // 0')
  [ "$committed" -lt 300003 ]
  # From there on the group reads everything else, once.
  equal "$(tk consume t -g h | wc -l)" $((300003 - committed))
}

@test "R93: offset records of every version, a tombstone, and a key that nobody knows yet" {
  mkdir -p broker/__consumer_offsets-0
  printf 'version=1\nnode.id=1\ncluster.id=AAAAAAAAQACAAAAAAAAAAA\n' > broker/meta.properties
  python3 "$BATS_TEST_DIRNAME/offsets_topic.py" > broker/__consumer_offsets-0/$SEGMENT
  tk_is 0 -d broker groups describe g --json
  equal "$(jq -c '[.partition, .committed, .leader_epoch]' <<< "$output" | tr '\n' ' ')" \
    "[0,10,null] [1,11,null] [2,12,null] [3,13,null] [4,14,7] [5,15,7] [6,16,7] "
  contains "$stderr" "1 record of an unknown type or version"
  tk_is 0 dump-log --offsets-decoder broker/__consumer_offsets-0/$SEGMENT
  equal "$(grep -c '"offset":1[0-7]' <<< "$output")" 8
}

@test "R95: the latest commit counts, even if it is smaller, and the history shows both" {
  tk topics create t -q
  seq 1 120 | tk produce t -q
  tk commit g t-0=100 -q
  tk commit g t-0=40 -q
  equal "$(tk groups describe g --json | jq .committed)" 40
  equal "$(tk groups events g --json | jq -c 'select(.ev == "commit") | .detail.offsets["t-0"]' | tr '\n' ' ')" "100 40 "
}

@test "R110: a copy keeps its offsets, and a group goes on in it" {
  tk topics create t --format kafka -c segment.bytes=1000 -q
  seq 1 500 | tk produce t -q --batch-size 200
  tk delete-records t-0=400 -q
  tk commit g t-0=450 -q
  tk dump-log --json --print-data-log logs/t-0 > dump
  tk -d copy topics create t --format kafka -q
  tk -d copy produce t-0 -i dump -q < dump
  equal "$(tk -d copy consume t -o 400 -f '%o %v\n')" "$(tk consume t -o 400 -f '%o %v\n')"
  tk groups export g | tk -d copy groups reset-offsets g --from-file - --execute -q
  equal "$(tk -d copy consume t -g g | head -n 1)" 451
}

@test "R90: no zone means UTC, and is said; a reset that goes too far is clamped, and marked" {
  put $S0 O
  # T + 100, T + 50, T + 200 ms, T being 2023-11-14T22:13:20Z.
  reset() { tk groups reset-offsets g --topic t --json "$@" 2> notes | jq -c '[.from, .to, .clamped]'; }
  equal "$(reset --to-datetime 2023-11-15T03:43:20.100+05:30)" "[null,0,false]"
  equal "$(reset --to-datetime 2023-11-15T03:43:20.150+05:30 --execute)" "[null,2,false]"
  equal "$(reset --to-datetime 2023-11-14T22:13:20.150)" "[2,2,false]"
  contains "$(cat notes)" "2023-11-14T22:13:20.150Z"
  equal "$(reset --to-datetime 2023-11-14T22:13:20.201)" "[2,3,false]"
  contains "$(cat notes)" "no record at or after"
  # A preview by default; the plan can be kept, done, and undone.
  equal "$(reset --shift-by -100)" "[2,0,true]"
  contains "$(cat notes)" "nothing was changed"
  tk groups export g > before
  equal "$(reset --shift-by -100 --execute)" "[2,0,true]"
  equal "$(tk groups describe g --json | jq .committed)" 0
  equal "$(reset --from-file before --execute)" "[0,2,false]"
}

@test "R94: what was committed in an epoch that has lost its end since: said, with the safe offset" {
  seq 12 | tk produce t -q
  printf '0\n2\n0 0\n1 5\n' > logs/t-0/leader-epoch-checkpoint
  tk commit g t-0=10 -q
  equal "$(tk groups describe g --json | jq .leader_epoch)" 1
  # A failover: epoch 2 begins at 8.
  printf '0\n3\n0 0\n1 5\n2 8\n' > logs/t-0/leader-epoch-checkpoint
  tk_is 4 consume t -g g --reset none --json
  error_is LOG_TRUNCATION
  contains "$stderr" "8 is the safe offset"
  tk_is 0 consume t -g g
  equal "$output" "$(seq 9 12)"
  contains "$stderr" "lost 2 offsets"
  contains "$stderr" "reading from 8"
}
