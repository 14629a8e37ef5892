#!/usr/bin/env python3
"""Reads json-format segments with nothing but the description of the format (docs/formats.md): json_segment.py FILE...

Prints each value on a line. Checks that offsets rise by one, that lengths chain, and every 50th CRC-32C; exit 1 if not."""
import json
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


expected = 0
for name in sys.argv[1:]:
    with open(name, "rb") as f:
        data = f.read()
    at = 0
    while at < len(data):
        offset, length = struct.unpack(">qi", data[at:at + 12])
        body = data[at + 12:at + 12 + length]
        assert offset == expected and len(body) == length, f"{name} at {at}: offset {offset}, length {length}"
        record = json.loads(body)
        if offset % 50 == 0:
            protected = data[at:at + 12] + body[:body.rindex(b',"crc"')]
            assert record["crc"] == f"{crc32c(protected):08x}", f"{name} at {at}: checksum"
        print(record["value"])
        expected += 1
        at += 12 + length
