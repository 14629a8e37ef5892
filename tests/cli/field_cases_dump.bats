# Inspection output, one test a case from the field.
load common

@test "R35 one object a line, whatever is in the record" {
  put $S0 P
  tk_is 0 dump-log $S0 --json --print-data-log
  equal "$(wc -l <<< "$output")" 2
  equal "$(jq -r 'select(.type == "record") | .value' <<< "$output")" $'x\n| offset: 99 payload: fake'
  put $S0 H
  tk_is 0 dump-log $S0 --json --print-data-log
  equal "$(jq -c 'select(.type == "record") | .headers' <<< "$output")" '[["a","1"],["a","2"],["n",null],["e",""]]'
}

@test "R36 damage found is in the exit status, and the other files are still dumped" {
  put logs/a-0/$SEGMENT A
  put logs/b-0/$SEGMENT A B C
  put logs/c-0/$SEGMENT A
  poke logs/b-0/$SEGMENT 136 63
  tk_is 3 dump-log logs/a-0/$SEGMENT logs/b-0/$SEGMENT logs/c-0/$SEGMENT
  equal "$(grep -c ^Dumping <<< "$output")" 3
  equal "$(grep -c '^baseOffset: 0 ' <<< "$output")" 3
  tk_is 1 dump-log logs/a-0/$SEGMENT logs/nosuch-0/$SEGMENT
  tk_is 3 dump-log logs/b-0/$SEGMENT logs/nosuch-0/$SEGMENT
}

@test "R37 null, empty and absent are three things" {
  put $S0 N
  tk_is 0 dump-log $S0 --json --print-data-log
  equal "$(jq -c 'select(.type == "record") | [.key, .value]' <<< "$output" | tr '\n' ' ')" '["",""] [null,null] ["k",""] ["k",null] '
}

@test "R38 asking for data looks inside compressed batches" {
  put $S0 S2
  tk_is 0 dump-log $S0 --print-data-log
  contains "$output" "payload: hello"
  tk_is 0 verify --json
  equal "$(jq -c 'select(.type == "summary") | [.batches, .records]' <<< "$output")" '[1,1]'
}

@test "R39 control records by name, unknown ones by number" {
  put $S0 G2
  tk_is 0 dump-log $S0 --print-data-log
  contains "$output" 'SnapshotHeader {"version":0,"lastContainedLogTimestamp":10000}'
  contains "$output" "size: 83 "
  contains "$output" "crc: 3406426388 isvalid: true"
  equal "$(values)" ""
  put_hex $S0 00000000000000020000004200000000029690ca440030000000000000018bcfe568010000018bcfe568010000000000000fa50012ffffffff000000012000000008000000630c00000000000700
  run --separate-stderr "$TK" dump-log $S0 --print-data-log
  [[ $status == [03] ]]
  contains "$output" "controlType: UNKNOWN(99)"
  equal "$(values)" ""
}

@test "R41 a gap is information" {
  put $S0 A C
  tk_is 0 dump-log $S0
  tk_is 0 verify --json
  equal "$(jq -rc 'select(.type == "problem") | "\(.severity) \(.kind)"' <<< "$output")" "note gap"
  equal "$(records)" "0:a 2:c"
}

@test "R42 text as of the named release" {
  put $S0 TX CM
  tk_is 0 dump-log $S0 --deep-iteration
  equal "$output" "Dumping $S0
Log starting offset: 0
baseOffset: 0 lastOffset: 1 count: 2 baseSequence: 0 lastSequence: 1 producerId: 4005 producerEpoch: 18 partitionLeaderEpoch: 0 isTransactional: true isControl: false deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: $T size: 79 magic: 2 compresscodec: none crc: 822284912 isvalid: true
| offset: 0 CreateTime: $T keySize: 1 valueSize: 1 sequence: 0 headerKeys: []
| offset: 1 CreateTime: $T keySize: 1 valueSize: 1 sequence: 1 headerKeys: []
baseOffset: 2 lastOffset: 2 count: 1 baseSequence: -1 lastSequence: -1 producerId: 4005 producerEpoch: 18 partitionLeaderEpoch: 0 isTransactional: true isControl: true deleteHorizonMs: OptionalLong.empty position: 79 CreateTime: $((T + 1)) size: 78 magic: 2 compresscodec: none crc: 1087639062 isvalid: true
| offset: 2 CreateTime: $((T + 1)) keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] endTxnMarker: COMMIT coordinatorEpoch: 7"
}
