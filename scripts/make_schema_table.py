#!/usr/bin/env python3
"""Makes the table of Kafka's schemas that core/format/schema.cpp parses, from a JSON description of them.

    scripts/make_schema_table.py SCHEMAS.json FUNCTION > core/format/schema_table.cpp

SCHEMAS.json maps a class name to {"type_id","lowest","highest","versions":{"0":[FIELD..],"1":"as 0"}}; a FIELD is
{"name","type"} or, last in a flexible version, {"tagged":{"0":{"name","type"}}}. FUNCTION is the name of the C++ function
that gives the table back. The grammar of the table is in core/format/schema.h.
"""
import json
import sys

PREFIXES = (("compact_nullable_", "?c"), ("nullable_", "?"), ("compact_", "c"))


def type_text(t):
    if isinstance(t, str):
        for prefix, mark in PREFIXES:
            if t.startswith(prefix):
                return mark + t[len(prefix):]
        return t
    if isinstance(t, list):
        return "{" + fields_text(t) + "}"
    if "struct" in t:
        return ("?" if t.get("nullable") else "") + "{" + fields_text(t["struct"]) + "}"
    mark = ("?" if t.get("nullable") else "") + ("c" if t["encoding"] == "compact" else "")
    return f"{mark}[{type_text(t['array'])}]"


def fields_text(fields):
    words = []
    for field in fields:
        if "tagged" in field:
            tags = sorted(field["tagged"].items(), key=lambda item: int(item[0]))
            words.append("#{" + " ".join(f"{tag}={f['name']}:{type_text(f['type'])}" for tag, f in tags) + "}")
        else:
            words.append(f"{field['name']}:{type_text(field['type'])}")
    return " ".join(words)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schemas = json.load(file)
    lines = []
    for name, record in schemas.items():
        family = name.split(".")[-2 if name.startswith("common.") else 1]
        lines.append(f"@{family} {name.split('.')[-1]} {record['type_id']} {record['lowest']} {record['highest']}")
        for version, fields in sorted(record["versions"].items(), key=lambda item: int(item[0])):
            lines.append(f"{version} " + (f"as {fields.split()[1]}" if isinstance(fields, str) else fields_text(fields)).strip())
    print("// Made by scripts/make_schema_table.py; do not edit. The grammar is in schema.h.")
    print('#include "core/format/schema.h"\n\n// clang-format off\n')
    print(f"std::string_view tk::{sys.argv[2]}() {{\n  return R\"schema(")
    print("\n".join(lines))
    print(')schema";\n}')


main()
