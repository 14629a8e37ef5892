#!/usr/bin/env python3
"""Builds record batches for the shell tests: batches.py CODEC [OPTION=VALUE]... RECORD... prints the bytes as hex.

A RECORD is KEY=VALUE (empty KEY: null key). Options: offset=, ts=, pid=, pepoch=, seq=, txn=1.
`batches.py legacy-mixed` prints a magic-1 gzip wrapper around two magic-0 messages.
lz4 and zstd come from the programs of that name, snappy is one literal."""
import gzip
import struct
import subprocess
import sys
import zlib


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(n):
    n = (n << 1) ^ (n >> 63)
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def record(delta, key, value):
    body = b"\0" + varint(0) + varint(delta)
    body += varint(-1) if key is None else varint(len(key)) + key
    body += (varint(-1) if value is None else varint(len(value)) + value) + varint(0)
    return varint(len(body)) + body


def snappy_literal(data):
    size, length = b"", len(data)
    while length > 127:
        size += bytes([length & 127 | 128])
        length >>= 7
    size += bytes([length])
    return size + (bytes([len(data) - 1 << 2]) if len(data) <= 60 else bytes([60 << 2, len(data) - 1])) + data


def program(*command):
    return lambda data: subprocess.run(command, input=data, capture_output=True, check=True).stdout


CODECS = {"none": (0, bytes), "gzip": (1, gzip.compress), "snappy": (2, snappy_literal),
          "lz4": (3, program("lz4", "-c", "--no-frame-crc", "-q")), "zstd": (4, program("zstd", "-c", "-q"))}


def batch(codec, records, offset=0, ts=1700000000000, pid=-1, pepoch=-1, seq=-1, txn=0):
    number, compress = CODECS[codec]
    body = compress(b"".join(record(i, k, v) for i, (k, v) in enumerate(records)))
    covered = struct.pack(">hiqqqhii", number | (16 if txn else 0), len(records) - 1, ts, ts, pid, pepoch, seq, len(records)) + body
    return struct.pack(">qiibI", offset, 9 + len(covered), 0, 2, crc32c(covered)) + covered


def legacy(magic, offset, attributes, value, ts=1700000000000):
    body = bytes([magic, attributes]) + (struct.pack(">q", ts) if magic else b"") + struct.pack(">ii", -1, len(value)) + value
    return struct.pack(">qiI", offset, 4 + len(body), zlib.crc32(body)) + body


def main(words):
    if words[0] == "legacy-mixed":
        inner = legacy(0, 0, 0, b"one") + legacy(0, 1, 0, b"two")
        return legacy(1, 1, 1, gzip.compress(inner))
    options, records = {}, []
    for word in words[1:]:
        name, _, value = word.partition("=")
        if name in ("offset", "ts", "pid", "pepoch", "seq", "txn"):
            options[name] = int(value)
        else:
            records.append((name.encode() or None, value.encode()))
    return batch(words[0], records, **options)


if __name__ == "__main__":
    print(main(sys.argv[1:]).hex())
