# The scripts of docs/scenarios do what they claim, and notice when they do not.
load common

scenario() {
  mkdir run && cd run || return 1
  unset TK_DIR
  TK=$TK run bash "$project/docs/scenarios/$1.sh"
}

@test "at most once: two records are lost, none is done twice" {
  scenario at-most-once
  equal "$status" 0
  contains "$output" "done: 0 1 2 3 4 5 8 9"
}

@test "at least once: two records are done twice, none is lost" {
  scenario at-least-once
  equal "$status" 0
  contains "$output" "done: 0 1 2 3 4 5 4 5 6 7 8 9"
}

@test "effectively once: twelve attempts, ten effects" {
  scenario effectively-once
  equal "$status" 0
  contains "$output" "effects: 0 1 2 3 4 5 6 7 8 9"
}

@test "read, process, write: fourteen results are written, ten are seen" {
  scenario read-process-write
  equal "$status" 0
  contains "$output" "written: 14"
}

@test "a Kafka for tests: a suite of another language passes, and its log can be looked at" {
  scenario kafka-for-tests
  equal "$status" 0
  contains "$output" "orders in the log: 50"
}

@test "a claim that does not hold ends a scenario with 1" {
  run bash -c '. "$0/docs/scenarios/common.sh"; claim thing 1 2; echo went on' "$project"
  equal "$status" 1
  contains "$output" "but should be: 2"
  ! grep -q "went on" <<<"$output"
}
