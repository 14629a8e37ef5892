# The experiments of docs/experiments, in small: they end well, and their figures are what arithmetic says.
load common

experiment() {
  unset TK_DIR
  TK=$TK run "$project/scripts/experiments.sh" "$1" --small --keep "$PWD/kept"
  equal "$status" 0
  cd "kept/$1"
}

@test "1: the high watermark is the smallest log end in the ISR, and never goes back; every record is read once" {
  experiment 1
  # step, log end of brokers 1 2 3, high watermark, read; 10 records a send.
  equal "$(tr '\t\n' ' ,' < offsets.tsv)" \
    "0 10 10 10 10 10,1 20 10 10 10 10,2 20 20 20 20 20,3 30 30 20 20 20,4 30 30 20 30 30,5 30 30 20 30 30,6 30 40 20 30 30,7 30 40 40 40 40,8 40 40 40 40 40,9 50 50 50 50 50,"
  equal "$(cat consumed)" "$(seq 50)"
}

@test "2: acks=1 loses the 50 records behind the high watermark, acks=all none, in no history" {
  experiment 2
  equal "$(cat lost-1)" "$(seq 51 100)"
  equal "$(cat lost-all)" ""
  equal "$(jq -s 'map(select(.seed)) | length' seeds.json)" 100
  equal "$(jq -s 'map(.lost.all // 0) | add' seeds.json)" 0
  # The histogram counts each history once a level.
  equal "$(awk -F '\t' '{a += $2; b += $3; c += $4} END {print a, b, c}' histogram.tsv)" "100 100 100"
}

@test "3: codecs, counts and producers as they were written" {
  experiment 3
  for codec in none gzip snappy lz4 zstd; do
    equal "$(awk -F '\t' -v n=tk-$codec '$1 == n {print $3, $5, $6, $9}' inside.tsv)" "1000 $codec 0 0"
    equal "$(awk -F '\t' -v n=broker-codec-$codec '$1 == n {print $3, $5, $6, $9}' inside.tsv)" "300 $codec 0 0"
  done
  equal "$(awk -F '\t' '$1 == "tk-named" {print $3, $6, $7, $8}' inside.tsv)" "1000 1 0 0"
  equal "$(awk -F '\t' '$1 == "tk-txn" {print $3, $6, $8}' inside.tsv)" "1000 1 1"
  # The bytes of all batches are the file.
  equal "$(awk -F '\t' '$1 == "tk-zstd" {print $4}' inside.tsv)" "$(size scenario-data/tk-zstd-0/$SEGMENT)"
}

@test "4: a longer linger makes fewer batches, and compression fewer bytes" {
  experiment 4
  batches() { awk -F '\t' -v l="$1" -v s="$2" -v c="$3" '$1 == l && $2 == s && $3 == c {print $4}' paced.tsv; }
  for codec in none zstd; do
    [ "$(batches 20 65536 $codec)" -lt "$(batches 0 65536 $codec)" ]
    # 600 records of about 94 bytes: what is full at 1024 bytes is at least 50 batches, whatever the linger.
    [ "$(batches 20 1024 $codec)" -ge 50 ]
  done
  equal "$(wc -l < paced.tsv) $(wc -l < unpaced.tsv)" "8 4"
}

@test "5: twenty records are done twice by the slow consumer, none with small batches or pauses" {
  experiment 5
  equal "$(cut -d ' ' -f 1 big.done | sort -n | uniq -c | awk '{print $1}' | sort | uniq -c | tr -s ' \n' ' ')" " 20 1 20 2 "
  equal "$(cut -d ' ' -f 1 small.done)" "$(seq 40)"
  equal "$(cut -d ' ' -f 1 paused.done)" "$(seq 40)"
}

@test "6: keys stay in order while consumers come, and each record is worked on once" {
  experiment 6
  equal "$(awk '{print $5}' processed | sort -n)" "$(seq 600)"
  sort -s -k 4,4 processed | awk '$4 == key && $5 <= last {bad = 1} {key = $4; last = $5} END {exit bad}'
  # A checker that is given a wrong order notices: the file backwards is one.
  ! tac processed | sort -s -k 4,4 | awk '$4 == key && $5 <= last {bad = 1} {key = $4; last = $5} END {exit bad}'
}

@test "7: committed results are seen once; the crash between marker and group file is completed" {
  experiment 7
  equal "$(cat seen)" "$(seq -f 'did %.0f' 40)"
  equal "$("$TK" -d scenario-data consume output --count)" 45
  equal "$("$TK" -d scenario-data groups describe work --json | jq .committed)" 40
  strace -o probe true 2> /dev/null || skip "tracing is not permitted here: no crash"
  contains "$output" "killed between marker and group file: exit: 137"
}

@test "an experiment that does not exist, or fails, is no success" {
  run "$project/scripts/experiments.sh" 8
  equal "$status" 2
  printf '#!/bin/sh\necho no >&2\nexit 1\n' > broken
  chmod +x broken
  TK=$PWD/broken run "$project/scripts/experiments.sh" 1 --small
  equal "$status" 1
}
