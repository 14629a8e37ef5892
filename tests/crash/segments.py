"""Reads a partition's segment files without tk: framing, offsets, checksums of a sample, values."""
import json
import os
import struct
import zlib

BATCH_HEADER = 61
PREFIX = 12


class Damage(Exception):
    pass


class PartitionContent:
    def __init__(self):
        self.values = []  # by offset, from 0
        self.torn = False  # the last segment ends in an incomplete unit
        self.last_path = None
        self.last_ends = []  # of the units in the last segment: offset behind it, position behind it


def _table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value >> 1 ^ -(value & 1), at
        shift += 7


def json_values(unit, check):
    body = unit[PREFIX:]
    record = json.loads(body)
    if check:
        mark = body.rindex(b',"crc":"')
        if crc32c(unit[:PREFIX + mark]) != int(record["crc"], 16):
            raise Damage("a json record with a bad checksum")
    return [record["value"].encode()]


def batch_values(unit, check):
    crc, attributes, last_delta = struct.unpack_from(">IHi", unit, 17)
    count = struct.unpack_from(">i", unit, 57)[0]
    if count != last_delta + 1:
        raise Damage(f"a batch with {count} records and last delta {last_delta}")
    if check and crc32c(unit[21:]) != crc:
        raise Damage("a batch with a bad checksum")
    records = unit[BATCH_HEADER:]
    if attributes & 7 == 1:
        records = zlib.decompress(records, 31)
    elif attributes & 7:
        raise Damage(f"codec {attributes & 7} was not asked for")
    values, at = [], 0
    for delta in range(count):
        length, at = _varint(records, at)
        end = at + length
        at += 1  # attributes
        _, at = _varint(records, at)  # timestamp
        offset_delta, at = _varint(records, at)
        key, at = _varint(records, at)
        if offset_delta != delta or key != -1:
            raise Damage(f"record {delta} of a batch has offset delta {offset_delta}, key length {key}")
        size, at = _varint(records, at)
        values.append(records[at:at + size])
        at = end
    if at != len(records):
        raise Damage("bytes left over behind the records of a batch")
    return values


def _read_segment(path, is_last, content, rng):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        if len(data) - at < PREFIX:
            break
        offset, length = struct.unpack_from(">qi", data, at)
        if offset != len(content.values) or length < 2:
            raise Damage(f"{path} at byte {at}: offset {offset}, length {length}, expected offset {len(content.values)}")
        end = at + PREFIX + length
        if end > len(data):
            break
        unit = data[at:end]
        # Summing in Python is slow: the end of each file, where a crash would show, and a sample of the rest.
        check = len(data) - end < 4000 or rng.random() < 0.02
        try:
            is_batch = length >= 14 and unit[16] <= 2
            content.values += batch_values(unit, check) if is_batch else json_values(unit, check)
        except (ValueError, KeyError, IndexError, struct.error) as error:
            raise Damage(f"{path} at byte {at}: {error}") from error
        except Damage as damage:
            raise Damage(f"{path} at byte {at}: {damage}") from damage
        at = end
        if is_last:
            content.last_ends.append((len(content.values), at))
    if at < len(data):
        if not is_last:
            raise Damage(f"{path} ends in an incomplete unit at byte {at}, and is not the last segment")
        content.torn = True


def read_partition(directory, rng):
    """Everything a partition holds from offset 0 on. `rng` chooses which checksums are looked at."""
    content = PartitionContent()
    names = sorted(name for name in os.listdir(directory) if name.endswith(".log")) if os.path.isdir(directory) else []
    if names:
        content.last_path = os.path.join(directory, names[-1])
    for name in names:
        if int(name[:-4]) != len(content.values):
            raise Damage(f"segment {name} where offset {len(content.values)} was due")
        _read_segment(os.path.join(directory, name), name == names[-1], content, rng)
    extra = [name for name in (os.listdir(directory) if names else []) if ".cut-" in name]
    if extra:
        raise Damage(f"a kill left damage that had to be saved: {extra}")
    return content
