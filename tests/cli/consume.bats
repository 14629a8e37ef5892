# tk consume: where reading starts and stops, and what is printed.
load common

ten() { # topic t: ten records at T, T+10, ...
  for i in 0 1 2 3 4 5 6 7 8 9; do echo "{\"ts\":$((T + 10 * i)),\"key\":\"k$((i % 3))\",\"value\":\"v$i\"}"; done |
    tk produce t -i json -q "$@"
}

@test "offsets: beginning, end, N, -N, @TIME, nearest end with a note" {
  ten
  equal "$(values)" "v0 v1 v2 v3 v4 v5 v6 v7 v8 v9"
  equal "$(values -o 7)" "v7 v8 v9"
  equal "$(values -o beginning -n 2)" "v0 v1"
  equal "$(values --from-beginning -n 1)" v0
  equal "$(values -o end)" ""
  equal "$(values -o latest)" ""
  equal "$(values -o -3)" "v7 v8 v9"
  equal "$(values -o -30 -n 1)" v0
  equal "$(values -o @$((T + 35)) -n 1)" v4
  equal "$(values -o @$((T + 40)) -n 1)" v4
  equal "$(values -o @2023-11-14T22:13:20.071Z)" "v8 v9"
  tk_is 0 consume t -o 99
  equal "$output" ""
  contains "$stderr" 99
  tk_is 2 consume t -o sometimes
}

@test "--until stops before an offset or a time" {
  ten
  equal "$(values --until 2)" "v0 v1"
  equal "$(values -o 5 --until 7)" "v5 v6"
  equal "$(values --until @$((T + 20)))" "v0 v1"
  equal "$(values --until end -o 8)" "v8 v9"
}

@test "by time with timestamps out of order: the first in offset order, and nothing past the end" {
  put $S0 O # offsets 0-2 at T+100, T+50, T+200
  equal "$(values -o @$((T + 60)) -n 1)" x
  equal "$(values -o @$((T + 150)))" z
  equal "$(values -o @$((T + 200)))" z
  equal "$(values -o @$((T + 201)))" ""
}

@test "output: key and value, format tokens, delimiters, JSON" {
  printf 'k:v\n' | tk produce t -K : -H a=1 -H b= --timestamp $T -q
  tk_is 0 consume t -K '=>'
  equal "$output" "k=>v"
  tk_is 0 consume t -f '%t/%p/%o/%k/%K/%s/%S/%T/%h/%%\n'
  equal "$output" "t/0/0/k/1/v/1/$T/a=1,b=/%"
  equal "$(tk consume t -f '%s\x41\t%k' | xxd -p)" 7641096b
  equal "$(tk consume t -D '' | xxd -p)" 76
  equal "$(tk consume t -D ', ' | xxd -p)" 762c20
  equal "$(tk consume t -0 | xxd -p)" 7600
  tk_is 0 consume t -J
  equal "$(jq -S -c . <<< "$output")" "{\"headers\":[[\"a\",\"1\"],[\"b\",\"\"]],\"key\":\"k\",\"offset\":0,\"partition\":0,\"topic\":\"t\",\"ts\":$T,\"tstype\":\"CreateTime\",\"value\":\"v\"}"
}

@test "null, and the marker for it" {
  put $S0 N # (empty,empty) (null,null) (k,empty) (k,null)
  equal "$(tk consume t -K : --null-marker NIL | tr '\n' ' ')" ": NIL:NIL k: k:NIL "
  equal "$(tk consume t -K : | tr '\n' ' ')" ": : k: k: "
  tk_is 0 consume t -J
  equal "$(rows '[.key, .value] | @json')" '["",""] [null,null] ["k",""] ["k",null]'
}

@test "partitions: all, some, one; merged by time" {
  tk_is 0 topics create t -p 3
  for p in 0 1 2; do
    for i in 0 1; do echo "{\"partition\":$p,\"ts\":$((T + 10 * i + p)),\"value\":\"p$p-$i\"}"; done
  done | tk produce t -i json -q
  equal "$(values)" "p0-0 p0-1 p1-0 p1-1 p2-0 p2-1"
  equal "$(values -p 2 -p 0)" "$(values -p 0 -p 2)"
  tk_is 0 consume t-1
  equal "$output" p1-0$'\n'p1-1
  equal "$(values --order time)" "p0-0 p1-0 p2-0 p0-1 p1-1 p2-1"
  equal "$(values -o -1)" "p0-1 p1-1 p2-1"
  tk_is 1 consume t -p 3
}

@test "several topics" {
  echo a | tk produce t1 -q
  echo b | tk produce t2 -q
  tk_is 0 consume t1 t2
  equal "$output" a$'\n'b
  tk_is 0 consume -t t2 -t t1 -f '%t '
  equal "$(tr ' ' '\n' <<< "$output" | sort | tr '\n' ' ' | xargs)" "t1 t2"
}

@test "filters: --grep, --key, --count" {
  ten
  equal "$(values --grep '[57]$')" "v5 v7"
  equal "$(values --key k2)" "v2 v5 v8"
  tk_is 0 consume t --count
  equal "$output" 10
  tk_is 0 consume t --count --key k0
  equal "$output" 4
  tk_is 2 consume t --grep '('
}

@test "follow: what is appended later comes at once, and a quiet time ends it" {
  ten
  timeout 10 "$TK" consume t -F --idle-timeout 1500 -o 9 > followed 3>&- &
  local follower=$!
  sleep 0.3
  echo late | tk produce t -q
  wait $follower
  equal "$(tr '\n' ' ' < followed)" "v9 late "
}

@test "follow sees new segments, too" {
  tk_is 0 topics create t -c segment.bytes=256
  timeout 10 "$TK" consume t -F --idle-timeout 1500 > followed 3>&- &
  local follower=$! i
  for i in {1..20}; do echo "line $i of twenty" | tk produce t -q; done
  wait $follower
  [ "$(segment_files logs/t-0 | wc -l)" -gt 3 ]
  cmp followed <(for i in {1..20}; do echo "line $i of twenty"; done)
}

@test "a damaged batch is named and stepped over, or stopped at; nothing of it is printed" {
  put $S0 A B C
  poke $S0 136 63
  tk_is 3 consume t
  equal "$output" a$'\n'c
  contains "$stderr" 69
  tk_is 3 consume t --on-damage stop
  equal "$output" a
}

@test "missing directory, topic, partition" {
  tk_is 1 consume t
  contains "$stderr" logs
  [ ! -e logs ]
  tk_is 0 topics create orders
  tk_is 1 consume order
  contains "$stderr" orders
  tk_is 1 consume orders-7
}

@test "options work before and after the command, and -d beats TK_DIR" {
  echo x | tk -d other produce t -q
  tk_is 0 -d other consume t
  equal "$output" x
  tk_is 0 consume t -d other
  equal "$output" x
  tk_is 0 consume t --dir=other
  equal "$output" x
}
