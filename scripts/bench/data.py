"""What the measurements run on: generated, never committed, the same every time."""
import os
import random
import struct

CHUNK = 100_000


def write_lines(path, count):
    """Lines of exactly 100 bytes (99 and the line feed) as a web server logs them; nothing to escape in JSON."""
    rng = random.Random(20261129)
    lines = []
    for i in range(CHUNK):
        line = (
            f"{1700000000 + i} GET /api/v1/orders/{rng.randrange(10**7):07d} status=200 "
            f"bytes={rng.randrange(10**5):05d} us={rng.randrange(10**6):06d} id={rng.getrandbits(64):016x}"
        )
        lines.append(line.ljust(99, ".")[:99] + "\n")
    block = "".join(lines).encode()
    with open(path, "wb") as out:
        for _ in range(count // CHUNK):
            out.write(block)


def write_keyed_lines(path, count, keys):
    """Lines of key, tab and value, 80 bytes: the keys at random among `keys`, or each its own if that is None."""
    draw = random.Random(7)
    with open(path, "w", buffering=1 << 20) as out:
        for i in range(count):
            key = i if keys is None else draw.randrange(keys)
            out.write(f"key-{key:09d}\tvalue {i:09d} {'x' * 50}\n")


def write_json_lines(path, count):
    """Lines of 127 bytes that are JSON themselves: twelve quotes in each."""
    rng = random.Random(20261130)
    lines = []
    for i in range(CHUNK):
        line = f'{{"id":{i:08d},"user":"u{rng.randrange(10**6):06d}","path":"/a/{rng.randrange(10**6):06d}","ip":"10.0.0.1","note":"'
        lines.append(line + "x" * (124 - len(line)) + '"}\n')
    block = "".join(lines).encode()
    with open(path, "wb") as out:
        for _ in range(count // CHUNK):
            out.write(block)


def write_foreign_json_segment(directory, bodies, count):
    """A json partition whose bodies have another order of members, with blanks, and no checksum: a general parser's work.

    The bodies go to the text file `bodies` besides, a line each, for jq.
    """
    os.makedirs(os.path.join(directory, "t-0"))
    with open(os.path.join(directory, "t-0", f"{0:020d}.log"), "wb") as log, open(
        bodies, "wb"
    ) as text:
        for i in range(count):
            body = b'{"ts": %d, "value": "GET /api/v1/orders/%07d status=200 bytes=%05d us=%06d id=%016x", "key": null}' % (
                1700000000000 + i, i * 7919 % 10**7, i % 10**5, i * 17 % 10**6, i * 2654435761 % 2**64)
            log.write(struct.pack(">qi", i, len(body)) + body)
            text.write(body + b"\n")


CRC_TABLE = []


def crc32c(data):
    """By a plain table: slow, and no code of tk's."""
    if not CRC_TABLE:
        for byte in range(256):
            for _ in range(8):
                byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
            CRC_TABLE.append(byte)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def check_batches(path, sample=100):
    """Walks the batches of a segment and sums every n-th by a plain table; returns (records, what is wrong)."""
    records, batches = 0, []
    with open(path, "rb") as log:
        position, size = 0, os.fstat(log.fileno()).st_size
        while position < size:
            log.seek(position)
            head = log.read(61)
            base, length = struct.unpack(">qi", head[:12])
            if base != records:
                return records, f"batch at byte {position} begins at {base}, not {records}"
            records += struct.unpack(">i", head[57:61])[0]
            batches.append((position, length + 12))
            position += length + 12
        for position, length in batches[:: max(1, len(batches) // sample)]:
            log.seek(position)
            batch = log.read(length)
            if crc32c(batch[21:]) != struct.unpack(">I", batch[17:21])[0]:
                return records, f"checksum of the batch at byte {position}"
    return records, ""
