"""Kafka's messages by Kafka's own definitions (tests/fixtures/wire/protocol-4.4.json.zst), as dicts: independent of tk's code."""
import json, pathlib, struct, subprocess

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "wire"


def unpacked(name): return subprocess.run(["zstd", "-dcq", str(FIXTURES / name)], capture_output=True, check=True).stdout


DEFINITIONS = json.loads(unpacked("protocol-4.4.json.zst"))
NAMES = {d["key"]: name[:-7] for name, d in DEFINITIONS.items() if name.endswith("Request")}
SIZES = {"int8": ">b", "int16": ">h", "int32": ">i", "int64": ">q", "uint16": ">H", "uint32": ">I", "float64": ">d"}


class Reader:
    def __init__(self, raw): self.raw, self.at = raw, 0

    def take(self, size):
        if size < 0 or self.at + size > len(self.raw): raise ValueError("cut")
        self.at += size
        return self.raw[self.at - size:self.at]

    def number(self, kind): return struct.unpack(SIZES[kind], self.take(struct.calcsize(SIZES[kind])))[0]

    def uvarint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            if byte < 128: return value
            shift += 7

    def value(self, kind):
        if isinstance(kind, list): return self.struct(kind)
        if isinstance(kind, dict):
            if "struct" in kind: return self.struct(kind["struct"]) if not kind.get("nullable") or self.number("int8") >= 0 else None
            count = self.uvarint() - 1 if kind["encoding"] == "compact" else self.number("int32")
            return None if count < 0 else [self.value(kind["array"]) for _ in range(count)]
        if kind in SIZES: return self.number(kind)
        if kind == "boolean": return self.take(1) != b"\0"
        if kind == "uuid": return self.take(16)
        if kind.startswith("compact"): size = self.uvarint() - 1
        else: size = self.number("int16" if kind.endswith("string") else "int32")
        if size < 0: return None
        raw = self.take(size)
        return raw.decode("utf-8", "surrogateescape") if kind.endswith("string") else raw

    def struct(self, fields):
        out = {}
        for field in fields:
            if "tagged" not in field:
                out[field["name"]] = self.value(field["type"])
                continue
            for tag in field["tagged"].values(): out[tag["name"]] = None
            for _ in range(self.uvarint()):
                number, size = self.uvarint(), self.uvarint()
                part = Reader(self.take(size))
                tag = field["tagged"].get(str(number))
                if tag: out[tag["name"]] = part.value(tag["type"])
        return out


def uvarint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def write(kind, value):
    if isinstance(kind, list): return write_struct(kind, value)
    if isinstance(kind, dict):
        if "struct" in kind:
            if not kind.get("nullable"): return write_struct(kind["struct"], value)
            return b"\xff" if value is None else b"\x01" + write_struct(kind["struct"], value)
        count = -1 if value is None else len(value)
        head = uvarint(count + 1) if kind["encoding"] == "compact" else struct.pack(">i", count)
        return head + b"".join(write(kind["array"], element) for element in value or [])
    if kind in SIZES: return struct.pack(SIZES[kind], value)
    if kind == "boolean": return b"\1" if value else b"\0"
    if kind == "uuid": return value
    raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    size = -1 if raw is None else len(raw)
    if kind.startswith("compact"): return uvarint(size + 1) + (raw or b"")
    return struct.pack(">h" if kind.endswith("string") else ">i", size) + (raw or b"")


def write_struct(fields, value):
    out = b""
    for field in fields:
        if "tagged" not in field:
            out += write(field["type"], value[field["name"]])
            continue
        tags = [(int(n), t) for n, t in field["tagged"].items() if value.get(t["name"]) is not None]
        out += uvarint(len(tags))
        for number, tag in sorted(tags, key=lambda t: t[0]):
            part = write(tag["type"], value[tag["name"]])
            out += uvarint(number) + uvarint(len(part)) + part
    return out


def fields_of(api, kind, version):
    versions = DEFINITIONS[NAMES[api] + kind]["versions"] if api in NAMES else {}
    return versions.get(str(version))


def is_flexible(fields): return any("tagged" in field for field in fields)


def read_answer(api, version, frame):
    """The body of an answer (its frame without the length) as a dict."""
    fields = fields_of(api, "Response", version)
    reader = Reader(frame)
    reader.number("int32")
    if is_flexible(fields) and api != 18: reader.uvarint()
    return reader.struct(fields)


def read_request(api, version, frame):
    """(the bytes of the header, the body as a dict); None where the body is none."""
    fields = fields_of(api, "Request", version)
    if fields is None: return None
    try:
        reader = Reader(frame)
        reader.take(8)
        reader.value("nullable_string")
        if is_flexible(fields): assert reader.uvarint() == 0
        head = frame[:reader.at]
        body = reader.struct(fields)
        # (Only what says the same when it is written again may be changed on its way.)
        return (head, body) if head + write_struct(fields, body) == frame else None
    except (ValueError, AssertionError, struct.error):
        return None
