#!/usr/bin/env python3
"""The bytes of a `__consumer_offsets` partition with a record of every version that a key or value can have (field case R93), to stdout.
Layouts: Kafka's schemas OffsetCommitKey, LegacyOffsetCommitKey, OffsetCommitValue (versions 0 to 4)."""
import struct
import sys

from batches import batch


def string(text):
    return struct.pack(">h", len(text)) + text.encode()


def commit_key(version, group, topic, partition):
    return struct.pack(">h", version) + string(group) + string(topic) + struct.pack(">i", partition)


def value(version, offset):
    """A commit at `offset` with metadata "m" and the time 1700000000000, leader epoch 7 where the version has one."""
    time = struct.pack(">q", 1700000000000)
    if version < 3:
        expiry = struct.pack(">q", 1700000600000) if version == 1 else b""
        return struct.pack(">hq", version, offset) + string("m") + time + expiry
    head = struct.pack(">hqi", version, offset, 7)
    return head + (string("m") + time if version == 3 else b"\x02m" + time + b"\0")


records = [
    (commit_key(1, "g", "t", 0), value(0, 10)),
    (commit_key(0, "g", "t", 1), value(0, 11)),
    (commit_key(1, "g", "t", 2), value(1, 12)),
    (commit_key(1, "g", "t", 3), value(2, 13)),
    (commit_key(1, "g", "t", 4), value(3, 14)),
    (commit_key(1, "g", "t", 5), value(4, 15)),
    (commit_key(1, "g", "t", 6), value(3, 1)),
    (commit_key(1, "g", "t", 6), value(3, 16)),
    (commit_key(1, "g", "t", 7), value(3, 17)),
    (commit_key(1, "g", "t", 7), None),
    (struct.pack(">h", 99) + string("g"), b"\0\0anything"),
]
sys.stdout.buffer.write(batch("none", records))
