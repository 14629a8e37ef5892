#!/usr/bin/env bats
# Help, usage errors, version, completions: what needs no data. The executable is $TK.

setup() {
  unset TK_DIR TK_NOW TK_FORMAT NO_COLOR
  cd "$BATS_TEST_TMPDIR"
}

# Runs tk with stdout and stderr apart, in $out and $err; the exit code is in $status.
tk() {
  status=0
  "$TK" "$@" >out 2>err </dev/null || status=$?
  out=$(cat out)
  err=$(cat err)
}

commands=("topics create" "topics list" "topics describe" "topics alter" "topics delete" produce consume
  dump-log verify recover rebalance commit "groups list" "groups describe" "groups events" "groups export"
  "groups delete" "groups delete-offsets" "groups reset-offsets" serve completion help)

@test "every command has help with a purpose, options and examples" {
  for command in "${commands[@]}"; do
    tk $command --help
    echo "$command: $status $err"
    [ "$status" -eq 0 ]
    [ -z "$err" ]
    [[ $out == "tk $command - "* ]]
    [[ $out == *"Usage: tk $command"* ]]
    [[ $out == *"--dir DIR"* ]]
    [ "$(sed -n '/^Examples:/,$p' out | grep -c '^  .*tk')" -ge 2 ]
    cp out long
    tk help $command
    cmp out long
  done
}

@test "the examples in the help use options that exist" {
  for command in "${commands[@]}"; do
    tk $command --help
    sed -n '/^Examples:/,$p' out | grep -oE ' --?[a-zA-Z][a-z0-9-]*' | sort -u >used
    while read -r option; do
      grep -q -- "$option" <(sed '/^Examples:/,$d' out; "$TK" consume --help; "$TK" produce --help) || {
        echo "$command: $option"
        false
      }
    done <used
  done
}

@test "tk --help lists the commands in groups" {
  for arguments in --help -h help; do
    tk $arguments
    [ "$status" -eq 0 ]
    for command in "${commands[@]}"; do [[ $out == *"  $command "* ]]; done
    for group in Topics: Records: Files: Groups:; do grep -qx "$group" out; done
  done
  tk topics --help
  [ "$status" -eq 0 ]
  [[ $out == *"topics create"* ]]
}

@test "--version names version and codecs" {
  tk --version
  [ "$status" -eq 0 ]
  [[ ${out%%$'\n'*} =~ ^tk\ [0-9]+\.[0-9]+\.[0-9]+\ \([^\ ]+\)$ ]]
  [[ $out == *"codecs: none gzip snappy lz4 zstd"* ]]
  cp out fast
  tk -d somewhere --version
  cmp out fast
}

@test "usage errors: exit 2, one line, a pointer to the help" {
  while IFS='|' read -r arguments pattern; do
    eval "tk $arguments"
    echo "$arguments: $status $err"
    [ "$status" -eq 2 ]
    [ -z "$out" ]
    [[ ${err%%$'\n'*} == "tk: error: "*"$pattern"* ]]
    [[ $err == *"--help'"* ]]
    [ ! -e tk-data ]
  done <<'CASES'
|no command
prodce t|did you mean 'produce'
topic list|did you mean 'topics'
topics lst|did you mean 'topics list'
topics|create list describe
help consme|did you mean 'consume'
consume t --ofset 5|did you mean '--offset'
consume t -offset 5|-o: 'ffset'
consume t --off 5|unknown option '--off'
consume t -Q|unknown option '-Q'
consume|no topic
consume t -n|-n wants a value
consume t -n x|-n: 'x'
consume t -n 1 -n 2|given twice
consume t --max-messages=-1|--max-messages: '-1'
consume t -p -1|-p: '-1'
consume t --follow=yes|takes no value
consume t --isolation serializable|none of read_uncommitted, read_committed
consume t -o 5 --from-beginning|exclude each other
consume t -J -f %s|exclude each other
consume t --grep '('|no regular expression
consume t --member m|--member is for members: give -g GROUP, too
consume t -o stored|only a group has a stored offset
consume t -g g -p 0|-p with -g
consume t -g g --commit every=0|at least one record
consume t -g g --reset sometimes|'sometimes'
produce t --ack all|unknown option '--ack'
produce t -D ''|at least one byte
produce t -H noequals|NAME=VALUE
produce t -z brotli|'brotli'
produce t --sync sometimes|none of end, batch, none
produce t -i json -K :|means nothing
produce t --allow-no-key|needs --key-separator
topics create|no topic
topics create a b|unexpected argument 'b'
topics create a -p 0|-p: '0'
topics create a --replica 3|unknown option '--replica'
topics create a -c novalue|KEY=VALUE
topics alter a|nothing to change
topics list x|unexpected argument 'x'
dump-log --offsets 9:3|ends before
recover --salvage --truncate|exclude each other
recover --sync batch|none of end, none
rebalance|no group given
rebalance g|nothing to do
rebalance g --join =t|MEMBER=TOPIC
rebalance g --join a=t,|a topic's name is empty
rebalance g --leave instance:|empty
rebalance g --join a --assignor server-range|range
rebalance g --join a --protocol eager|none of immediate, consumer, classic
rebalance g --join a --epoch 3|--epoch goes with
rebalance g --sync-group a|wants --generation
rebalance g --join a --join b --instance i|--instance goes with
rebalance --preview g|unexpected argument 'g'
rebalance --preview --join a|exclude each other
commit|no group given
commit g|nothing to commit
commit g t-0|TOPIC-P=OFFSET
commit g t-0=x|TOPIC-P=OFFSET
commit g t-0=1 --member a|go together
commit g t-0=1 --topic t|--topic goes with
groups|list describe
groups descibe g|did you mean 'groups describe'
groups describe|no group given
groups describe g --members --state|exclude each other
groups delete a b|unexpected argument 'b'
groups delete-offsets g|of what
groups reset-offsets g --topic t|where to
groups reset-offsets g --to-latest|of what
groups reset-offsets g --to-latest --to-earliest --topic t|exclude each other
groups reset-offsets g --to-latest --topic t --all-topics|exclude each other
groups reset-offsets g --to-latest --topic t --dry-run --execute|exclude each other
groups reset-offsets g --by-duration -5s --topic t|length of time
rebalance --preview --assignor stiky|did you mean 'sticky'
completion tcsh|'tcsh'
--color pink topics list|none of auto, always, never
-x topics list|unknown option '-x'
--bootstrap-server b:9092 topics list|--dir
topics list --lock-timeout -1|--lock-timeout
topics list --at yesterday|--at: 'yesterday'
CASES
}

@test "a mistake in the environment is a usage error" {
  TK_NOW=soon tk topics list
  [ "$status" -eq 2 ]
  [[ $err == *TK_NOW* ]]
  TK_FORMAT=avro tk topics list
  [ "$status" -eq 2 ]
  [[ $err == *TK_FORMAT* ]]
}

@test "with --json the last line on stderr is an object" {
  tk topics create t --partitons 3 --json
  [ "$status" -eq 2 ]
  last=$(tail -n 1 err)
  [[ $last == '{"error":"INVALID_REQUEST","message":"unknown option '"'--partitons'"*'"path":null,"position":null}' ]]
  tk topics create t -p 0 --json
  [[ $(tail -n 1 err) == '{"error":"INVALID_PARTITIONS",'* ]]
}

@test "help and version notice a full disk, and not a reader that has gone" {
  [ -c /dev/full ] || skip
  for arguments in --version --help "consume --help" "completion bash"; do
    run bash -c '"$TK" '"$arguments"' > /dev/full'
    [ "$status" -eq 1 ]
    run bash -c 'set -o pipefail; "$TK" '"$arguments"' | true'
    [ "$status" -eq 0 ]
    [ -z "$output" ]
  done
}

@test "the shells take the completion scripts" {
  for shell in bash zsh fish; do
    tk completion $shell
    [ "$status" -eq 0 ]
    cp out script
    if command -v $shell >/dev/null; then $shell -n script; fi
  done
}

@test "bash completes commands, options and choices" {
  "$TK" completion bash >script
  complete_words() {
    bash -c 'source ./script; compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tk; echo "${COMPREPLY[*]}"' bash "$@"
  }
  [ "$(complete_words tk pro)" = "produce producers" ]
  [ "$(complete_words tk -d x topics cre)" = create ]
  [ "$(complete_words tk consume --isol)" = --isolation ]
  [ "$(complete_words tk consume --isolation '')" = "read_uncommitted read_committed" ]
  [ "$(complete_words tk produce t --sync = b)" = batch ]
  [ "$(complete_words tk completion z)" = zsh ]
  [ "$(complete_words tk topics list --k)" = "" ]
}
