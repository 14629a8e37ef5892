# Directories, names and foreign files that people met in the field, one test a case.
load common

topics() { "$TK" topics list --json | jq -rs 'map(select(.state != "deleted" and .state != "stray" and .state != "future" and .state != "delete") | .topic) | sort | join(" ")'; }

@test "R25 lost+found and other foreign entries stop nothing" {
  put $S0 A B
  mkdir logs/lost+found logs/data logs/remote-log-index-cache
  touch logs/README
  tk_is 0 topics list --json
  equal "$(rows .topic)" t
  contains "$stderr" lost+found
  equal "$(values)" "a b"
  tk_is 0 verify
  tk_is 0 produce t -q <<< c
  equal "$(values)" "a b c"
}

@test "R26 names with dashes in every place" {
  put logs/-a-0/$SEGMENT A
  put logs/a-1-0/$SEGMENT B
  put logs/a--1/$SEGMENT C
  equal "$(topics)" "-a a- a-1"
  tk_is 0 consume --topic=-a
  equal "$output" a
  tk_is 0 consume -- -a
  equal "$output" a
  tk_is 0 consume a-1
  equal "$output" b
  tk_is 0 consume a- -p 1
  equal "$output" c
  tk_is 0 consume a--1
  equal "$output" c
}

@test "R27 the longest names, and directories that wait for deletion" {
  local name id=0123456789abcdef0123456789abcdef
  name=$(printf 'x%.0s' {1..249})
  tk_is 0 topics create "$name"
  tk_is 0 produce "$name" -q <<< v
  tk_is 0 consume "$name"
  equal "$output" v
  tk_is 0 topics delete "$name"
  [ -z "$(find logs -mindepth 1 -type d)" ]
  tk_is 2 topics create "x$name"
  local waiting=${name:0:213}-0.$id-delete
  equal ${#waiting} 255
  put "logs/$waiting/$SEGMENT" A B
  put logs/t-0.$id-stray/$SEGMENT A
  put logs/t-1.$id-future/$SEGMENT A
  put logs/u-0/$SEGMENT A
  tk_is 0 topics list --json
  equal "$(jq -r 'select(.topic == "u") | .topic' <<< "$output")" u
  equal "$(jq -s 'length' <<< "$output")" 4
  equal "$(jq -s 'map(.state) | unique | length' <<< "$output")" 4
  tk_is 1 consume t
  tk_is 0 dump-log "./logs/$waiting"
  contains "$output" "baseOffset: 1 "
}

@test "R29 reading needs no identity" {
  put one/t-0/$SEGMENT A
  put two/t-0/$SEGMENT B
  printf 'version=1\nnode.id=1\ncluster.id=aaaaaaaaaaaaaaaaaaaaaa\n' > one/meta.properties
  printf 'version=1\nnode.id=2\ncluster.id=bbbbbbbbbbbbbbbbbbbbbb\n' > two/meta.properties
  local dir before
  before=$(digest one)
  for dir in one two; do
    tk_is 0 topics list --json -d $dir
    equal "$(rows .topic)" t
  done
  tk_is 0 consume t -d one
  equal "$output" a
  equal "$(digest one)" "$before"
  printf 'garbage\0\0' > one/meta.properties
  tk_is 0 consume t -d one
  equal "$output" a
}

@test "R30 without partition.metadata the data are there; stray ones are listed" {
  put $S0 A
  put logs/u-0.0123456789abcdef0123456789abcdef-stray/$SEGMENT A B
  equal "$(values)" a
  tk_is 0 topics list --json
  equal "$(jq -c 'select(.state | tostring | test("stray")) | .records' <<< "$output")" 2
  tk_is 0 dump-log ./logs/u-0.0123456789abcdef0123456789abcdef-stray --json
  equal "$(rows .base_offset)" "0 1"
}

@test "R31 a.b and a_b collide when created, not when read" {
  tk_is 0 topics create a.b
  tk_is 2 topics create a_b --json
  error_is INVALID_TOPIC_EXCEPTION
  [ ! -e logs/a_b-0 ]
  put logs/a_b-0/$SEGMENT A
  tk_is 0 consume a_b
  equal "$output" a
  tk_is 0 consume a.b
}

@test "R32 illegal names are refused and change nothing; an odd directory is readable by path" {
  local name
  mkdir logs
  for name in тема a/b '' .. . "$(printf 'x%.0s' {1..250})" 'a b' $'a\nb'; do
    tk_is 2 topics create "$name"
    tk_is 2 produce "$name" <<< x
  done
  equal "$(find logs -mindepth 1 ! -name '.lock' ! -name '*.lock' | wc -l)" 0
  put 'logs/тема-0/'$SEGMENT A
  tk_is 0 dump-log 'logs/тема-0/'$SEGMENT
  contains "$output" "baseOffset: 0 "
}

@test "R34 a lock that nobody holds blocks nobody" {
  put $S0 A
  : > logs/.lock
  tk_is 0 produce t -q <<< b
  equal "$(values)" "a b"
}
