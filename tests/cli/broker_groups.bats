# A stopped broker's own groups, changed in its __consumer_offsets. That a broker takes what is written there: tests/interop/broker.py.
load common

# The records of a log from byte AT on, by a reader of its own: "type group rest value" a line.
written() { # FILE AT
  python3 - "$1" "$2" <<'PY'
import struct, sys

def varint(data, at):
    shift = value = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return (value >> 1) ^ -(value & 1), at

data = open(sys.argv[1], "rb").read()
at = int(sys.argv[2])
while at < len(data):
    size = 12 + int.from_bytes(data[at + 8:at + 12], "big")
    pid, count = struct.unpack(">q", data[at + 43:at + 51])[0], struct.unpack(">i", data[at + 57:at + 61])[0]
    assert data[at + 16] == 2 and data[at + 22] == 0 and pid == -1, data[at:at + 61].hex()
    here = at + 61
    for _ in range(count):
        length, here = varint(data, here)
        end, parts = here + length, []
        here += 1
        _, here = varint(data, here)
        _, here = varint(data, here)
        for _ in range(2):
            n, here = varint(data, here)
            parts.append(None if n < 0 else data[here:here + n])
            here += max(n, 0)
        key, value = parts
        kind, n = struct.unpack(">hh", key[:4])
        group, rest = key[4:4 + n].decode(), key[4 + n:]
        if kind == 1:
            n = struct.unpack(">h", rest[:2])[0]
            rest = f"{rest[2:2 + n].decode()}-{struct.unpack('>i', rest[2 + n:])[0]}"
        else:
            rest = "-"
        if value is None:
            shown = "tombstone"
        else:
            version, offset, epoch = struct.unpack(">hqi", value[:14])
            if version == 3:
                n = struct.unpack(">h", value[14:16])[0]
                metadata, time = value[16:16 + n], struct.unpack(">q", value[16 + n:24 + n])[0]
                assert len(value) == 24 + n
            else:  # compact, with the topic's id as a tagged field
                assert version == 4, value.hex()
                n = value[14] - 1
                metadata, time = value[15:15 + n], struct.unpack(">q", value[15 + n:23 + n])[0]
                assert value[23 + n:26 + n].hex() in ("010010", "00"), value.hex()
            shown = f"offset={offset} epoch={epoch} metadata={metadata.decode()!r} time={time}"
        print(kind, group, rest, shown)
        here = end
    at += size
PY
}

# The partition of __consumer_offsets that holds a group; its only segment.
offsets_log() { echo "logs/__consumer_offsets-$(tk groups list --json 2> /dev/null | jq -r "select(.group == \"$1\") | .offsets_partition")/$SEGMENT"; }

broker() { cp -a --sparse=always "$(fixture kafka-4.4-clean)/data" logs; }

@test "reset-offsets: a preview changes nothing, --execute commits as a coordinator does" {
  broker
  local log size
  log=$(offsets_log g-classic) size=
  [ -s "$log" ]
  size=$(stat -c %s "$log")
  tk_is 0 groups reset-offsets g-classic --all-topics --to-earliest --json
  equal "$(rows '[.topic, .partition, .from, .to]')" '["plain",0,102,0] ["plain",1,5,0] ["plain",2,94,0]'
  contains "$stderr" "--execute does it"
  equal "$(stat -c %s "$log")" "$size"
  [ -e logs/.kafka_cleanshutdown ]
  TK_NOW=$T tk_is 0 groups reset-offsets g-classic --topic plain:0,2 --to-offset 7 --execute --json
  equal "$(rows '[.partition, .from, .to]')" '[0,102,7] [2,94,7]'
  equal "$(written "$log" "$size")" "1 g-classic plain-0 offset=7 epoch=-1 metadata='' time=$T
1 g-classic plain-2 offset=7 epoch=-1 metadata='' time=$T"
  # It is the broker's group still, and the only one of that name.
  equal "$(tk groups describe g-classic --json | jq -c '[.partition, .committed]' | tr '\n' ' ')" "[0,7] [1,5] [2,7] "
  equal "$(tk groups list --json | jq -r .group | grep -c '^g-classic$')" 1
  [ -z "$(find logs -name 'group-*')" ]
  [ ! -e logs/.kafka_cleanshutdown ]
  tk_is 0 verify
}

@test "delete-offsets and delete: tombstones, the group's own record last" {
  broker
  local log size
  log=$(offsets_log g-classic) size=
  size=$(stat -c %s "$log")
  tk_is 0 groups delete-offsets g-classic --topic plain-1 --dry-run
  equal "$output" "would delete plain-1"
  equal "$(stat -c %s "$log")" "$size"
  tk_is 0 groups delete-offsets g-classic --topic plain-1
  equal "$(written "$log" "$size")" "1 g-classic plain-1 tombstone"
  equal "$(tk groups export g-classic)" $'plain,0,102\nplain,2,94'
  size=$(stat -c %s "$log")
  tk_is 0 groups delete g-classic --dry-run
  contains "$output" "would delete group 'g-classic' in $PWD/${log%/*}"
  equal "$(stat -c %s "$log")" "$size"
  tk_is 0 groups delete g-classic --json
  equal "$(rows '[.group, .action]')" '["g-classic","deleted"]'
  equal "$(written "$log" "$size")" "1 g-classic plain-0 tombstone
1 g-classic plain-2 tombstone
2 g-classic - tombstone"
  tk_is 1 groups describe g-classic --json
  error_is GROUP_ID_NOT_FOUND
  # A group of KIP-848: its commits, then what it is made of, the group's epoch (type 3) last.
  log=$(offsets_log g-consumer)
  size=$(stat -c %s "$log")
  tk_is 0 groups delete g-consumer
  equal "$(written "$log" "$size" | cut -d ' ' -f 1 | uniq | tail -n 1)" 3
  equal "$(written "$log" "$size" | grep -vc tombstone)" 0
  equal "$(tk groups list --json | jq -r .group | grep -c '^g-consumer$')" 0
  equal "$(tk groups list --json | jq -r .group | grep -c '^g-consumer-live$')" 1
  tk_is 0 verify
}

@test "what is not for a tool: groups with members, share groups, a broker that lives" {
  broker
  tk_is 4 groups reset-offsets g-classic-live --all-topics --to-earliest --execute --json
  error_is NON_EMPTY_GROUP
  contains "$stderr" "session timeout"
  tk_is 4 groups delete g-consumer-live --json
  error_is NON_EMPTY_GROUP
  tk_is 2 groups delete g-share --json
  error_is INVALID_REQUEST
  tk_is 2 groups reset-offsets g-share --topic plain --to-earliest --json
  error_is INVALID_REQUEST
  tk_is 1 groups delete nobody --json
  error_is GROUP_ID_NOT_FOUND
  python3 -c 'import fcntl, sys, time
lock = open("logs/.lock", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(30)' > held &
  local holder=$!
  until [ -s held ]; do sleep 0.05; done
  tk_is 4 groups reset-offsets g-classic --all-topics --to-earliest --execute --json
  error_is LOG_DIR_LOCKED
  tk_is 4 groups delete g-classic --json
  error_is LOG_DIR_LOCKED
  tk_is 0 groups reset-offsets g-classic --all-topics --to-earliest --json
  kill $holder
}

@test "no group of tk's takes the name of a broker's, whose commits it would hide" {
  broker
  for line in "commit g-classic plain-0=1" "rebalance g-classic --topic plain --join c1" "consume plain -g g-consumer -n 1" "commit g-share plain-0=1"; do
    run --separate-stderr tk -d logs $line
    [ "$status" -eq 4 ]
    [ -z "$output" ]
    [[ "$stderr" == *"is the broker's own"* ]]
  done
  run --separate-stderr tk -d logs commit g-classic plain-0=1 --json
  [ "$(tail -n 1 <<<"$stderr" | jq -r .error)" = INCONSISTENT_GROUP_PROTOCOL ]
  [ -z "$(find logs -name '*g-classic*' -o -name '*g-consumer*' -o -name '*g-share*')" ]
  # As the hint says: another group starts where the broker's stands.
  tk -d logs groups export g-classic > offsets.csv
  tk -d logs groups reset-offsets mine --from-file offsets.csv --execute -q
  diff <(tk -d logs groups describe g-classic --json | jq -c '[.topic, .partition, .committed]') \
    <(tk -d logs groups describe mine --json | jq -c '[.topic, .partition, .committed]')
  tk -d logs commit mine plain-0=1
  [ "$(tk -d logs groups describe mine --json | jq 'select(.partition == 0 and .topic == "plain").committed')" = 1 ]
}
