# tk dump-log: the text is the real tool's (vectors_dump.txt and the fixtures hold what that printed), JSON is the contract.
load common

real() { awk -v name="== $1" '$0 == name {on = 1; next} /^== / {on = 0} on' "$here/vectors_dump.txt"; }

@test "text of single batches as the real tool prints it" {
  local v
  for v in A N H TX CM AB E TH S1 S4 L2 L3 W1 W0 O P G1 G2; do
    put $v-0/$SEGMENT $v
    tk_is 0 dump-log --print-data-log $v-0/$SEGMENT
    equal "$output" "$(real $v)"
  done
}

@test "topic, partition, directory and --files name the same file" {
  put $S0 A B C
  put logs/u-0/$SEGMENT A
  local text
  text=$(tk dump-log $S0 | tail -n +2)
  contains "$text" "baseOffset: 2 "
  equal "$(tk dump-log t | grep -v ^Dumping)" "$text"
  equal "$(tk dump-log t-0 | grep -v ^Dumping)" "$text"
  equal "$(tk dump-log ./logs/t-0 | grep -v ^Dumping)" "$text"
  equal "$(tk dump-log --files $S0 | tail -n +2)" "$text"
  tk_is 0 dump-log --files $S0,logs/u-0/$SEGMENT
  equal "$(grep -c ^Dumping <<< "$output")" 2
  tk_is 0 dump-log ./logs
  equal "$(grep -c '^baseOffset' <<< "$output")" 4
}

@test "--offsets keeps A <= offset < B" {
  put $S0 A B C A@3
  equal "$(tk dump-log t --offsets 1:3 --json | jq -r .base_offset | tr '\n' ' ')" "1 2 "
  equal "$(tk dump-log t --offsets 2: --json | jq -r .base_offset | tr '\n' ' ')" "2 3 "
  equal "$(tk dump-log t --offsets :1 --json | jq -r .base_offset | tr '\n' ' ')" "0 "
  tk_is 2 dump-log t --offsets three
}

@test "JSON of a batch, its records, damage" {
  put $S0 TX H@2
  tk_is 0 dump-log $S0 --json
  equal "$(head -n 1 <<< "$output" | jq -c '[.type, .position, .size, .magic, .base_offset, .last_offset, .count, .codec, .crc, .valid, .leader_epoch, .producer_id, .producer_epoch, .base_sequence, .transactional, .control, .max_ts]')" \
    "[\"batch\",0,79,2,0,1,2,\"none\",822284912,true,0,4005,18,0,true,false,$T]"
  equal "$(tail -n 1 <<< "$output" | jq -c '[.position, .size, .crc, .base_offset]')" "[79,84,1997707300,2]"
  tk_is 0 dump-log $S0 --json --deep-iteration
  equal "$(rows .type)" "batch record record batch record"
  tk_is 0 dump-log $S0 --json --print-data-log
  equal "$(jq -c 'select(.type == "record") | [.offset, .ts, .key, .value, .sequence]' <<< "$output" | tr '\n' ' ')" \
    "[0,$T,\"k\",\"a\",0] [1,$T,\"k\",\"b\",1] [2,$T,\"k\",\"v\",-1] "
  put $S0 A B C
  poke $S0 136 63
  tk_is 3 dump-log $S0 --json
  equal "$(jq -c 'select(.type == "damage") | [.position, .size]' <<< "$output")" "[69,69]"
  contains "$(jq -r 'select(.type == "damage") | .reason' <<< "$output")" bad_crc
}

@test "index files, text and JSON" {
  put logs/t-0/$SEGMENT A B C
  printf '0000000100000045000000020000008a' | xxd -r -p > logs/t-0/00000000000000000000.index
  printf '0000018bcfe5680100000001''0000018bcfe5680200000002' | xxd -r -p > logs/t-0/00000000000000000000.timeindex
  tk_is 0 dump-log logs/t-0/00000000000000000000.index
  equal "$output" "Dumping logs/t-0/00000000000000000000.index"$'\n'"offset: 1 position: 69"$'\n'"offset: 2 position: 138"
  tk_is 0 dump-log logs/t-0/00000000000000000000.timeindex
  equal "$output" "Dumping logs/t-0/00000000000000000000.timeindex"$'\n'"timestamp: $((T + 1)) offset: 1"$'\n'"timestamp: $((T + 2)) offset: 2"
  tk_is 0 dump-log logs/t-0/00000000000000000000.index --json
  equal "$(rows '[.type, .offset, .position] | @csv')" '"index",1,69 "index",2,138'
  tk_is 0 dump-log logs/t-0/00000000000000000000.timeindex --json
  equal "$(rows '[.type, .ts, .offset] | @csv')" "\"timeindex\",$((T + 1)),1 \"timeindex\",$((T + 2)),2"
  tk_is 0 dump-log --index-sanity-check logs/t-0/00000000000000000000.index
  equal "$(tail -n 1 <<< "$output")" "logs/t-0/00000000000000000000.index passed sanity check."
}

@test "the json format: one line a record" {
  echo 'k:hello' | tk produce t -K : --timestamp $T -q
  echo 'x' | tk produce t --timestamp $T -q
  local crc length
  length=$((16#$(head -c 12 $S0 | tail -c 4 | xxd -p)))
  crc=$(tail -c +13 $S0 | head -c $length | jq -r .crc)
  tk_is 0 dump-log t
  contains "$output" "offset: 0 position: 0 size: $((length + 12)) CreateTime: $T keySize: 1 valueSize: 5 crc: 0x$crc isvalid: true"
  contains "$output" "offset: 1 position: $((length + 12)) size: "
  contains "$output" "keySize: -1 valueSize: 1 "
  tk_is 0 dump-log t --print-data-log
  contains "$output" "isvalid: true key: k payload: hello"
  tk_is 0 dump-log t --json --print-data-log
  equal "$(jq -c 'select(.type == "record") | [.offset, .ts, .key, .value]' <<< "$output" | tr '\n' ' ')" "[0,$T,\"k\",\"hello\"] [1,$T,null,\"x\"] "
}

@test "unknown files are named and do not stop the rest; a missing one is exit 1" {
  put $S0 A
  echo x > logs/t-0/notes.txt
  tk_is 0 dump-log logs/t-0/notes.txt $S0
  contains "$stderr" "Ignoring unknown file logs/t-0/notes.txt"
  contains "$output" "baseOffset: 0 "
  run --separate-stderr "$TK" dump-log logs/t-0/00000000000000000007.log $S0
  equal "$status" 1
  contains "$output" "baseOffset: 0 "
}

@test "a torn tail is the end, with the bytes left over named" {
  put $S0 A B
  truncate -s 100 $S0
  tk_is 0 dump-log $S0
  equal "$(grep -c ^baseOffset <<< "$output")" 1
  equal "$(tail -n 1 <<< "$output")" "Found 31 invalid bytes at the end of $SEGMENT"
}

@test "producer snapshots, transaction indexes, checkpoints: the worked examples of the format" {
  mkdir -p x
  put_hex x/00000000000000000102.snapshot "0001b7d0444700000001$(printf %016x 4000)000200000031$(printf %016x 101)000000010000018bcfe5680500000003ffffffffffffffff"
  tk_is 0 dump-log x/00000000000000000102.snapshot
  equal "$output" "Dumping x/00000000000000000102.snapshot
producerId: 4000 producerEpoch: 2 coordinatorEpoch: 3 currentTxnFirstOffset: OptionalLong.empty lastTimestamp: 1700000000005 firstSequence: 48 lastSequence: 49 lastOffset: 101 offsetDelta: 1 timestamp: 1700000000005"
  tk_is 0 dump-log x/00000000000000000102.snapshot --json
  equal "$(rows 'select(.type == "producer") | [.producer_id, .producer_epoch, .last_sequence, .last_offset, .current_txn_first_offset]')" '[4000,2,49,101,null]'
  poke x/00000000000000000102.snapshot 20 ff
  tk_is 3 dump-log x/00000000000000000102.snapshot
  contains "$stderr" "CRC is no longer valid"
  put_hex x/00000000000000000000.txnindex "0000$(printf '%016x%016x%016x%016x' 4000 50 80 81)"
  tk_is 0 dump-log x/00000000000000000000.txnindex
  equal "$output" "Dumping x/00000000000000000000.txnindex
version: 0 producerId: 4000 firstOffset: 50 lastOffset: 80 lastStableOffset: 81"
  poke x/00000000000000000000.txnindex 1 01
  tk_is 3 dump-log x/00000000000000000000.txnindex --json
  error_is CORRUPT_MESSAGE
}

@test "text files: nothing but the tool's words on stdout, their lines on stderr, objects with --json" {
  mkdir -p x
  printf '0\n2\norders 0 1042\norders 1 977\n' > x/replication-offset-checkpoint
  printf '0\n2\n0 0\n5 1042\n' > x/leader-epoch-checkpoint
  printf 'version: 0\ntopic_id: Zk3TgNzYQ1qwQXZ0yVnZ0g' > x/partition.metadata
  printf '#\nnode.id=1\nversion=1\ncluster.id=abc\n' > x/meta.properties
  printf '{"leaderId":1,"data_version":1}' > x/quorum-state
  tk_is 0 dump-log x/replication-offset-checkpoint
  equal "$output" "Dumping x/replication-offset-checkpoint"
  contains "$stderr" "orders 0 1042"
  tk_is 0 dump-log x/replication-offset-checkpoint x/leader-epoch-checkpoint x/partition.metadata x/meta.properties x/quorum-state --json
  equal "$(rows '[.type, .topic // .epoch // .topic_id // .cluster_id // .text]')" \
    '["offset_checkpoint","orders"] ["offset_checkpoint","orders"] ["leader_epoch",0] ["leader_epoch",5] ["partition_metadata","Zk3TgNzYQ1qwQXZ0yVnZ0g"] ["meta_properties","abc"] ["state","{\"leaderId\":1,\"data_version\":1}"]'
  printf '0\n3\norders 0 1042\n' > x/replication-offset-checkpoint
  tk_is 3 dump-log x/replication-offset-checkpoint --json
}

@test "leftovers, renamed copies and pipes are read as what they hold" {
  put $S0 A B
  local name want
  want=$(tk dump-log $S0 --json | jq -c 'del(.file)')
  for name in $SEGMENT.deleted $SEGMENT.swap $SEGMENT.cleaned copy.bak; do
    cp $S0 $name
    equal "$(tk dump-log ./$name --json | jq -c 'del(.file)')" "$want"
    tk_is 0 dump-log ./$name
    equal "$output" "Dumping ./$name"
    contains "$stderr" "Ignoring unknown file"
    contains "$(tk dump-log ./$name --as log)" "baseOffset: 1 "
  done
  equal "$(tk dump-log - --json < $S0 | jq -c 'del(.file)')" "$want"
  equal "$(cat $S0 | tk dump-log - --json | jq -c 'del(.file)')" "$want"
  equal "$(tk dump-log <(cat $S0) --as log --json | jq -c 'del(.file)')" "$want"
  tk_is 2 dump-log $S0 --as sausage
}

@test "records of internal topics: by the topic's name, with what is not known as hex" {
  # A commit (kafka-on-disk.md §17.7), a key of an unknown type, a known one whose value is of an unknown version, a tombstone.
  local batch='{"type":"batch","magic":2,"base_offset":0,"last_offset":3,"codec":"none","max_ts":1}'
  b64() { xxd -r -p <<< "$1" | base64 -w 0; }
  local k
  k=$(b64 00010002673100066f726465727300000003)
  {
    echo "$batch"
    echo '{"type":"record","offset":0,"ts":1,"key_b64":"'"$k"'","value_b64":"'"$(b64 0003000000000000002a0000000700000000018bcfe56800)"'"}'
    echo '{"type":"record","offset":1,"ts":1,"key_b64":"'"$(b64 7fff00)"'","value_b64":"AAA="}'
    echo '{"type":"record","offset":2,"ts":1,"key_b64":"'"$k"'","value_b64":"'"$(b64 00630102)"'"}'
    echo '{"type":"record","offset":3,"ts":1,"key_b64":"'"$k"'","value":null}'
  } | tk produce __consumer_offsets-0 -i dump -q
  tk_is 0 dump-log __consumer_offsets --json --print-data-log
  equal "$(rows 'select(.type == "record") | [.key_decoded, .value_decoded]')" \
    '[{"type":"1","data":{"group":"g1","topic":"orders","partition":3}},{"version":"3","data":{"offset":42,"leaderEpoch":7,"metadata":"","commitTimestamp":1700000000000}}] [{"type":32767,"hex":"7fff00"},{"hex":"0000"}] [{"type":"1","data":{"group":"g1","topic":"orders","partition":3}},{"version":99,"error":"unknown version (99)","hex":"00630102"}] [{"type":"1","data":{"group":"g1","topic":"orders","partition":3}},null]'
  tk_is 0 dump-log __consumer_offsets --print-data-log
  contains "$output" 'payload: {"version":"3","data":{"offset":42,'
  contains "$output" "key: Unknown record type 32767 at offset 1, skipping."
  contains "$output" "payload: <DELETE>"
  # A file by its path is shown as the tool shows it, unless the decoder is asked for.
  run --separate-stderr "$TK" dump-log logs/__consumer_offsets-0/$SEGMENT --print-data-log
  [[ $output != *'"version"'* ]]
  contains "$(tk dump-log logs/__consumer_offsets-0/$SEGMENT --offsets-decoder)" '"version":"3"'
}

# framed-records: values of the classes that Kafka writes there, and spoilt ones, with what the tool's decoders made of each.
# The one exception is a version that Kafka 4.4 does not know: the tool tries to read it all the same.
@test "records of the metadata log and of __remote_log_metadata, good and spoilt, in the tool's words" {
  local topic decoder tried='s/unknown version .7.$/Failed to deserialize record with type 0/;s/unknown version .1.$/Failed to deserialize record with type 2/'
  for topic in __cluster_metadata:--cluster-metadata-decoder __remote_log_metadata:--remote-log-metadata-decoder; do
    decoder=${topic#*:} topic=${topic%:*}
    cp -r "$project/tests/fixtures/framed-records/$topic-0" .
    equal "$("$TK" dump-log $topic-0/$SEGMENT "$decoder" | sed "$tried" | diff - $topic-0/decoded.txt)" ""
    # As a directory it is decoded by its name.
    equal "$("$TK" dump-log ./$topic-0 --print-data-log | sed "1s,\./,,;$tried" | diff - $topic-0/decoded.txt)" ""
  done
  # Of several decoders the one counts that the tool prefers.
  tk_is 0 dump-log __remote_log_metadata-0/$SEGMENT --share-group-state-decoder --remote-log-metadata-decoder
  contains "$output" "payload: RemoteLogSegmentMetadata{"
  tk_is 0 dump-log ./__remote_log_metadata-0 --json --print-data-log
  equal "$(rows 'select(.type == "record" and (.offset == 0 or .offset == 5 or .offset == 14)) | .value_decoded')" \
    '{"type":"REMOTE_LOG_SEGMENT_METADATA_RECORD","version":0,"data":{"remoteLogSegmentId":{"topicIdPartition":{"name":"orders","id":"C71RA698T22aNfV_Mjx4eA","partition":3},"id":"YWJjZGVmZ2hpamtsbW5vcA"},"startOffset":0,"endOffset":100,"brokerId":1,"maxTimestampMs":1700000000100,"eventTimestampMs":1700000000200,"segmentLeaderEpochs":[{"leaderEpoch":0,"offset":0},{"leaderEpoch":2,"offset":50},{"leaderEpoch":7,"offset":99}],"segmentSizeInBytes":1048576,"customMetadata":null,"remoteLogSegmentState":0}} {"type":"REMOTE_LOG_SEGMENT_METADATA_UPDATE_RECORD","version":0,"data":{"remoteLogSegmentId":{"topicIdPartition":{"name":"orders","id":"C71RA698T22aNfV_Mjx4eA","partition":3},"id":"YWJjZGVmZ2hpamtsbW5vcA"},"brokerId":2,"eventTimestampMs":1700000000300,"customMetadata":null,"remoteLogSegmentState":1}} {"type":"REMOTE_PARTITION_DELETE_METADATA_RECORD","version":0,"data":{"topicIdPartition":{"name":"orders","id":"C71RA698T22aNfV_Mjx4eA","partition":3},"brokerId":4,"eventTimestampMs":1700000000400,"remotePartitionDeleteState":0}}'
  # An unknown record by its number, an unknown version by its number and bytes.
  equal "$(rows 'select(.type == "record" and (.offset == 25 or .offset == 26)) | .value_decoded | del(.hex)')" \
    '{"type":9} {"type":0,"error":"unknown version (7)"}'
}
