"""The tables of docs/performance.md, between its two marks."""
import os
import platform
import re
import subprocess

BEGIN, END = "<!-- measured by scripts/bench.sh --peers: begin -->", "<!-- measured by scripts/bench.sh --peers: end -->"


def first_match(path, pattern):
    try:
        with open(path) as file:
            found = re.search(pattern, file.read(), re.MULTILINE)
            return found.group(1).strip() if found else ""
    except OSError:
        return ""


def version(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True)
        return (done.stdout + done.stderr).strip().splitlines()[0]
    except (OSError, IndexError):
        return ""


def machine():
    """What a figure depends on, in one line each; nothing that names the machine."""
    memory = first_match("/proc/meminfo", r"^MemTotal:\s+(\d+)")
    where = version("findmnt", "-n", "-o", "FSTYPE", "-T", ".")
    return {
        "processor": first_match("/proc/cpuinfo", r"^model name\s*:\s*(.*)") or platform.machine(),
        "processors": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(memory) / 2**20) if memory else 0,
        "kernel": platform.release().split("-")[0], "file_system": where,
        "java": version("java", "-version"), "python": version("/usr/bin/python3", "--version"), "node": version("node", "--version"),
        "load_at_the_end": round(os.getloadavg()[0], 2),
    }


def number(value):
    """Three digits that mean something."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def duration(seconds):
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def bound(value):
    return "" if value is None else number(value)


def table(rows, reference):
    lines = [f"| row | {reference} | tk | ratio, quartiles | must | aim | |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        low, high = row["quartiles"]
        ratio = f"**{number(row['ratio'])}**, {number(low)} to {number(high)}"
        if row["verdict"].startswith("FAIL"):
            ratio = "none"
        what = row["what"].replace("|", "\\|")  # a bar would end the cell
        lines.append(f"| {row['row']} {what} | {duration(row['reference_s'])} | {duration(row['tk_s'])} | {ratio} | {bound(row['must'])} | {bound(row['aim'])} | {row['verdict']} |")
    return lines


def text(results):
    m = results["machine"]
    lines = [
        f"One run of `scripts/bench.sh --peers`: {m['processors']} processors ({m['processor']}), {m['memory_gib']} GiB, Linux {m['kernel']}, {m['file_system']}; "
        f"{results['lines']:,} lines of 100 bytes, for other programs {results['peer_lines']:,}.",
    ]
    if results["rows"]:
        pairs = sorted({row["pairs"] for row in results["rows"]})
        lines += ["", f"Against limits of the machine (medians of {' or '.join(map(str, pairs))} pairs; `/1`: tk on one processor):", ""]
        lines += table(results["rows"], "limit")
    if results["peak_memory"]:
        lines += ["", "| peak memory | MiB | must | aim | |", "| --- | --- | --- | --- | --- |"]
        lines += [f"| {row['row']} {row['what']} | {row['mib']} | {row['must']} | {row['aim']} | {row['verdict']} |" for row in results["peak_memory"]]
    if results["peers"]:
        tools = ", ".join(f"{name}: {m[name]}" for name in ("java", "python", "node") if m[name])
        lines += ["", f"Beside other programs, as multiples of tk's speed (medians of {results['peers'][0]['pairs']} pairs; {tools}). Clients of a broker do more than tk: sockets, requests, acknowledgements.", ""]
        lines += table(results["peers"], "the other program")
    return "\n".join(lines)


def write(page, results):
    """Puts the tables between the marks of `page`; a page without marks gets both at its end."""
    try:
        with open(page) as file:
            old = file.read()
    except FileNotFoundError:
        old = ""
    if BEGIN not in old:
        old = f"{old.rstrip()}\n\n{BEGIN}\n{END}\n".lstrip()
    before, rest = old.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    with open(page, "w") as file:
        file.write(f"{before}{BEGIN}\n{text(results)}\n{END}{after}")
