#!/usr/bin/env python3
"""Measures the structure of the source (the table in docs/architecture.md): structure.py [--unused]

Without arguments: one line a point. --unused: names of functions that headers declare and nothing else mentions.
"""
import collections
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = sorted(p for layer in ("core", "commands", "cli") for p in (ROOT / layer).rglob("*") if p.suffix in (".cpp", ".h"))
GENERATED = "core/format/schema_table.cpp"
TESTS = sorted(p for p in (ROOT / "tests").rglob("*") if p.suffix in (".cpp", ".h", ".bats", ".bash", ".py", ".sh") and "unpacked" not in p.parts)


def split_code(text):
    """The text without comments and with empty strings, line by line as it was; and how many lines hold comment."""
    out, comments, i, line_has_comment = [], 0, 0, False
    while i < len(text):
        c = text[i]
        if text.startswith("//", i):
            end = text.find("\n", i)
            end = len(text) if end < 0 else end
            line_has_comment = True
            i = end
        elif text.startswith("/*", i):
            end = text.find("*/", i) + 2
            out.append("\n" * text.count("\n", i, end))
            comments += text.count("\n", i, end)
            line_has_comment = True
            i = end
        elif text.startswith('R"', i):
            begin = text.index("(", i)
            end = text.index(")" + text[i + 2:begin] + '"', i)
            out.append('""' + "\n" * text.count("\n", i, end))
            i = end + len(text[i + 2:begin]) + 2
        elif c == '"' or (c == "'" and not (i > 0 and text[i - 1].isalnum())):
            end = i + 1
            while text[end] != c:
                end += 2 if text[end] == "\\" else 1
            out.append(c + c)
            i = end + 1
        else:
            if c == "\n":
                comments += line_has_comment
                line_has_comment = False
            out.append(c)
            i += 1
    return "".join(out), comments


def function_lengths(code):
    """Lines of each function body with its head; what lies inside a function (lambdas) is part of it."""
    lengths, stack, head, line, head_line = [], [], "", 1, 1
    for c in code:
        if c == "\n":
            line += 1
        if c == "{":
            inside = any(kind == "function" for kind, _ in stack)
            is_type = re.search(r"\b(namespace|class|struct|enum|union)\b[^()]*$", head) or re.match(r"\s*extern\b", head)
            kind = "other" if inside or is_type or ")" not in head or re.search(r"=\s*$", head) else "function"
            stack.append((kind, head_line))
            head = ""
        elif c == "}":
            if stack:
                kind, begin = stack.pop()
                if kind == "function":
                    lengths.append(line - begin + 1)
            head = ""
        elif c == ";" and "(" not in head.replace("for", ""):
            head = ""
        elif c == ";":
            head = "" if head.count("(") == head.count(")") else head + c
        else:
            if not head.strip():
                head_line = line
            head += c
    return lengths


def measure():
    lines, lengths, comment_lines, code_lines, width, asserts, largest = {}, [], 0, 0, 0, 0, collections.Counter()
    for path in SOURCE:
        text = path.read_text()
        code, comments = split_code(text)
        name = str(path.relative_to(ROOT))
        lines[name] = text.count("\n")
        comment_lines += comments
        code_lines += sum(1 for row in text.splitlines() if row.strip())
        if name != GENERATED:
            width = max(width, max(map(len, text.splitlines())))
        asserts += len(re.findall(r"\b(?:static_assert|assert)\s*\(", code))
        for length in function_lengths(code) if name != GENERATED else []:
            lengths.append(length)
            largest[name] = max(largest[name], length)
    total = sum(lines.values())
    tests = sum(p.read_text(errors="replace").count("\n") for p in TESTS)
    longest_file, longest_function = max(lines, key=lines.get), largest.most_common(1)[0]
    layers = subprocess.run([ROOT / "scripts" / "check_layers.sh"], capture_output=True, text=True, check=False)
    rows = [
        ("lines in files", f"{total} in {len(lines)}"),
        ("layer direction", "clean" if layers.returncode == 0 else layers.stdout.strip()),
        ("file, median / longest", f"{statistics.median(lines.values()):.0f} / {lines[longest_file]} ({longest_file})"),
        ("files over 500 lines", ", ".join(f"{n} {c}" for n, c in lines.items() if c > 500) or "none"),
        ("function, median; share over 70", f"{statistics.median(lengths):.0f}; {100 * sum(n > 70 for n in lengths) / len(lengths):.1f} % of {len(lengths)}"),
        ("functions over 60 lines", f"{sum(n > 60 for n in lengths)}; the longest {longest_function[1]} ({longest_function[0]})"),
        ("comment share", f"{100 * comment_lines / code_lines:.0f} %"),
        ("line width", str(width)),
        ("assertions a 1000 lines", f"{1000 * asserts / total:.1f}"),
        ("test lines / source lines", f"{tests / total:.2f}"),
        ("fuzz targets", str(sum("fuzz.h" in p.read_text() for p in (ROOT / 'tests' / 'fuzz').glob('*.cpp')))),
    ]
    for name, value in rows:
        print(f"{name:34}{value}")


def unused():
    declared = collections.defaultdict(set)
    mentions = collections.Counter()
    for path in SOURCE + [p for p in TESTS if p.suffix in (".cpp", ".h")]:
        code, _ = split_code(path.read_text())
        mentions.update(re.findall(r"\b[A-Za-z_]\w*\b", code) if path in SOURCE else [])
        if path.suffix == ".h" and path in SOURCE:
            for name in re.findall(r"\b([a-z_][a-z0-9_]*)\([^;{}]*\)[^;{}()]*;", code):
                declared[name].add(str(path.relative_to(ROOT)))
    for name, where in sorted(declared.items()):
        # A declaration and its definition are two; a function that only tests call has no more.
        if mentions[name] <= 2 and not name.startswith("bind_"):
            print(mentions[name], name, *where)


if __name__ == "__main__":
    unused() if sys.argv[1:] == ["--unused"] else measure()
