#!/usr/bin/env python3
"""Runs the command lines of the documentation and compares what they print with what the page shows.

A block fenced as ```console holds commands, lines that begin with `$ ` (`> ` goes on with the line before), and below each what
it prints, stdout and stderr as a terminal has them. A page is run by one bash in a fresh directory, so later commands see what
earlier ones left. A command that fails fails the page, unless `$ echo $?` follows it. An HTML comment whose lines begin with
`$ ` is run as well and shown to nobody; what it prints counts as printed by the command before.

In what the page shows `...` stands for any text in a line, a line of `...` for any lines; MASKS are what differs from run to run.

A block of commands that cannot be run is fenced ```sh not run: REASON.

Also checked: a command line of tk outside of such blocks (in `code` or another fence) names a command and options that exist,
an option in `code` on a command's page is one of some command;
no commands stand in an indented block; links between pages lead somewhere; every command of `tk --help` has its page.

Usage: run_docs.py [--write] [--jobs N] [PAGE]...     (default: README.md and docs/; the executable is $TK, else build/release/tk)
--write puts what the commands print into the pages, where it does not fit; read the difference before you commit it."""
import concurrent.futures, difflib, os, re, shutil, signal, socket, subprocess, sys, tempfile

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS = 120  # a page may take so long

# What differs from run to run and is not shown as `...`: (pattern, what takes its place on both sides).
MASKS = [(re.compile(pattern), text) for pattern, text in [
    (r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"\b1[6-9]\d{11}\b", "MS"),                                        # a time in milliseconds
    (r"(?<![\w-])(?=[\w-]*[A-Z0-9])[\w-]{22}(?![\w-])", "ID"),          # an id of a topic, cluster or directory
    (r"\b0x[0-9a-f]{8}\b", "CRC"),
    (r'"crc":"?[0-9a-f]+"?', "CRC"),
    (r'"hash":"[0-9a-f]+"', "HASH"),                                    # of a simulated state: any change of the code
    (r"(?<=[Cc]rc: )\d+", "CRC"),
    (r"\b127\.0\.0\.1:\d+", "ADDRESS"),
    (r"\b\d+(\.\d+)? (ms|s)\b", "DURATION"),
    (r"\b\d+ steps/s", "STEPS/S"),
]]
# Commands name the ports that servers have by default; a run takes free ones instead.
PORTS = ("9092", "8080")

PRELUDE = r"""
fixture() { # NAME DIR: a copy of the directory of a real broker, from the tests' fixtures
  "$PROJECT/tests/cli/unpack_fixtures.sh" "${TK_FIXTURES_UNPACKED:-$PROJECT/tests/fixtures/unpacked}" "$1" &&
    cp -a "${TK_FIXTURES_UNPACKED:-$PROJECT/tests/fixtures/unpacked}/$1/${3:-data}" "$2"
}
flip() { # FILE POSITION: the byte there is damaged
  printf '\xff' | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
ready() { # URL: waits for a server
  for _ in $(seq 200); do curl -sf -o /dev/null "$1" && return; sleep 0.02; done; return 1
}
"""


class Command:
    def __init__(self, line, text, block):
        self.line, self.text, self.block = line, [text], block
        self.expected, self.hidden, self.first, self.last = [], [], line + 1, line + 1  # lines [first, last) are its output


def parse(lines):
    """The commands of a page, its other fences, indented blocks and text, as (line number from 0, text)."""
    commands, others, prose, fence, comment = [], [], [], None, False
    for number, line in enumerate(lines):
        marker = re.match(r"\s*```\s*(.*)", line)
        if marker:
            fence = None if fence is not None else marker.group(1)
            if fence is not None and re.match(r"(ba)?sh\b(?! not run: \S)", fence):
                others.append((number, None))
            continue
        if fence == "console":
            if line.startswith("$ "):
                commands.append(Command(number, line[2:], True))
            elif line.startswith("> ") and commands and not commands[-1].expected:
                commands[-1].text.append(line[2:])
                commands[-1].first = commands[-1].last = number + 1
            elif commands:
                commands[-1].expected.append(line)
                commands[-1].last = number + 1
        elif fence is not None:
            others.append((number, line))
        elif comment or line.startswith("<!--"):
            comment = "-->" not in line
            text = line.replace("<!--", "").replace("-->", "").strip()
            if text.startswith("$ "):
                if not commands:
                    commands.append(Command(number, ":", False))
                commands[-1].hidden.append(text[2:])
        else:
            prose.append((number, line))
    return commands, others, prose


def masked(line):
    for pattern, text in MASKS:
        line = pattern.sub(text, line)
    return line.rstrip()


def fits(expected, actual):
    pattern = "".join(r"(?:.*\n)*" if line.strip() == "..." else
                      ".*".join(re.escape(masked(part) if part.strip() else part) for part in masked(line).split("...")) + "\n"
                      for line in expected)
    return re.fullmatch(pattern, "".join(masked(line) + "\n" for line in actual)) is not None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def run(tk, commands):
    """What each command printed, and its exit code (None: it did not come to an end)."""
    work = tempfile.mkdtemp(prefix="tk-docs-")
    place, tools = os.path.join(work, "page"), os.path.join(work, "bin")
    os.mkdir(place)
    os.mkdir(tools)
    os.symlink(tk, os.path.join(tools, "tk"))
    if os.access("/usr/bin/python3", os.X_OK):
        os.symlink("/usr/bin/python3", os.path.join(tools, "python3"))
    ports = {port: free_port() for port in PORTS}
    with open(os.path.join(work, "script"), "w") as script:
        script.write(PRELUDE + "__status=0\n")
        for i, command in enumerate(commands):
            for kind, text in [("shown", "\n".join(command.text)), *(("hidden", hidden) for hidden in command.hidden)]:
                for port, free in ports.items():
                    text = re.sub(r"(127\.0\.0\.1|localhost):%s\b" % port, r"\1:" + free, text)
                name = os.path.join(work, "command")
                script.write("cat > '%s' <<'__END_OF_COMMAND'\n%s\n__END_OF_COMMAND\n" % (name, text))
                script.write("(exit $__status); . '%s'; __code=$?\n" % name)
                script.write("__status=$__code\n" if kind == "shown" else
                             "[ $__code -eq 0 ] || echo \"(a hidden line failed with $__code: $(head -n 1 '%s'))\"\n" % name)
            script.write("printf '\\036%d %%d\\n' $__status\n" % i)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TK_") or key == "TK_FIXTURES_UNPACKED"}
    environment.update(PATH=tools + ":" + environment["PATH"], HOME=work, TZ="UTC", LC_ALL="C.UTF-8", NO_COLOR="1", PROJECT=PROJECT,
                       TK=tk, TMPDIR=work)
    try:
        with open(os.path.join(work, "output"), "w+b") as output:
            process = subprocess.Popen(["bash", "--noprofile", "--norc", os.path.join(work, "script")], cwd=place, env=environment,
                                       stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                pass
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            output.seek(0)
            text = output.read().decode("utf-8", "replace")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for port, free in ports.items():
        text = text.replace(":" + free, ":" + port)
    text = re.sub(r"^%s/script: line \d+: " % re.escape(work), "bash: ", text, flags=re.M).replace(work + "/page", ".")
    results, rest = [], text
    for i in range(len(commands)):
        found = re.search("\036%d (\\d+)\n" % i, rest)
        if not found:
            results.append((rest.splitlines(), None))
            rest = ""
            continue
        results.append((rest[:found.start()].splitlines(), int(found.group(1))))
        rest = rest[found.end():]
    return results


def judge(page, commands, results):
    """One message for each command whose output or exit code is not what the page shows."""
    problems = []
    for i, (command, (actual, code)) in enumerate(zip(commands, results)):
        where = "%s:%d: $ %s" % (os.path.relpath(page, PROJECT), command.line + 1, command.text[0])
        told = i + 1 < len(commands) and commands[i + 1].text[0].startswith("echo $?")
        if code is None:
            problems.append(where + "\n  did not come to an end")
            if actual:
                problems[-1] += ":\n" + "\n".join("  " + line for line in actual[-5:])
        elif code and not told:
            problems.append("%s\n  exit %d, and no `$ echo $?` follows\n%s" % (where, code, "\n".join("  " + line for line in actual[:10])))
        elif not fits(command.expected, actual):
            problems.append(where + "\n" + "\n".join(difflib.unified_diff(
                [masked(line) for line in command.expected], [masked(line) for line in actual], "the page", "the run", lineterm="")))
    return problems


def rewrite(page, lines, commands, results):
    for command, (actual, code) in reversed(list(zip(commands, results))):
        if command.block and code is not None and not fits(command.expected, actual):
            lines[command.first:command.last] = [line.rstrip() for line in actual]
    with open(page, "w") as out:
        out.write("\n".join(lines) + "\n")


class Help:
    """What `tk --help` and `tk COMMAND --help` say exists."""
    def __init__(self, tk):
        self.tk = tk
        top = self.text()
        self.options = {"": set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", top))}
        self.commands = re.findall(r"^  ([a-z][a-z-]*(?: [a-z][a-z-]*)?) {2,}\S", top, re.M)
        for command in self.commands:
            self.options[command] = set(re.findall(r"(?<![\w-])--?[a-zA-Z0-9][\w-]*", self.text(*command.split())))
        self.all_options = set().union(*self.options.values())
        self.families = {command.split()[0] for command in self.commands if " " in command}

    def text(self, *words):
        return subprocess.run([self.tk, *words, "--help"], capture_output=True, text=True, check=True).stdout

    def wrong(self, text):
        """What is wrong with a command line that begins with `tk`; None if nothing is."""
        words = re.split(r"\s+", re.split(r"[|;<>#]|&&", text)[0].strip())[1:]
        words = [w for i, w in enumerate(words) if w not in ("-d", "--dir", "-q") and (i == 0 or words[i - 1] not in ("-d", "--dir"))]
        if not words or not re.match(r"[a-z]", words[0]) or words[0] == "help":
            return None
        two = " ".join(words[:2])
        if words[0] in self.families and len(words) > 1 and re.fullmatch(r"[a-z][a-z-]*", words[1]):
            if two not in self.commands:
                return "no command `tk %s`" % two
            name = two
        elif words[0] in self.commands:
            name = words[0]
        elif words[0] in self.families:
            return None
        else:
            return "no command `tk %s`" % words[0]
        for word in words:
            option = re.match(r"(--[a-z][\w-]*)", word)
            if option and option.group(1) not in self.options.get(name, set()):
                return "`tk %s` has no option %s" % (name, option.group(1))
        return None


def look_over(page, others, prose, help_):
    """What is wrong with command lines that are not run, and with links."""
    problems = []
    name = os.path.relpath(page, PROJECT)
    for number, line in prose:
        if re.match(r"(    |\t)(\$ )?((TK\w*=\S+ )*(tk|scripts/|tests/|build/|kcat|curl|cmake|python3)\b|(seq|printf|echo) .*\|)", line):
            problems.append("%s:%d: a command in an indented block, which nothing runs" % (name, number + 1))
        for code in re.findall(r"`(tk [^`]*)`", line):
            wrong = help_.wrong(code)
            if wrong:
                problems.append("%s:%d: %s" % (name, number + 1, wrong))
        if "/commands/" in page:
            for option in re.findall(r"`(?:-\w/)?(--[a-z][\w-]*)", line):
                if option not in help_.all_options:
                    problems.append("%s:%d: no command has an option %s" % (name, number + 1, option))
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", re.sub(r"`[^`]*`", "", line)):
            if not os.path.exists(os.path.join(os.path.dirname(page), link)):
                problems.append("%s:%d: %s leads nowhere" % (name, number + 1, link))
    for number, line in others:
        if line is None:
            problems.append("%s:%d: a block of commands that is neither `console` nor `sh not run: REASON`" % (name, number + 1))
            continue
        wrong = help_.wrong(line) if re.match(r"tk ", line) else None
        if wrong:
            problems.append("%s:%d: %s" % (name, number + 1, wrong))
    return problems


def pages_for(help_):
    """Every command has docs/commands/NAME.md, and every such page a command."""
    wanted = {command.replace(" ", "-") + ".md" for command in help_.commands}
    have = set(os.listdir(os.path.join(PROJECT, "docs/commands")))
    return (["docs/commands: no page %s" % name for name in sorted(wanted - have)] +
            ["docs/commands/%s: no such command" % name for name in sorted(have - wanted - {"README.md"})])


def all_pages():
    found = [os.path.join(PROJECT, name) for name in ("README.md", "CHANGELOG.md")]
    for place, _, names in sorted(os.walk(os.path.join(PROJECT, "docs"))):
        found += [os.path.join(place, name) for name in sorted(names) if name.endswith(".md")]
    return found


def main(arguments):
    write = "--write" in arguments
    arguments = [a for a in arguments if a != "--write"]
    jobs = os.cpu_count() or 2
    if "--jobs" in arguments:
        at = arguments.index("--jobs")
        jobs = int(arguments[at + 1])
        del arguments[at:at + 2]
    if any(a.startswith("-") for a in arguments):
        print(__doc__)
        return 2
    tk = os.path.abspath(os.environ.get("TK", os.path.join(PROJECT, "build/release/tk")))
    help_ = Help(tk)
    pages = [os.path.abspath(page) for page in arguments] or all_pages()
    problems = [] if arguments else pages_for(help_)

    def one(page):
        with open(page) as f:
            lines = f.read().rstrip("\n").split("\n")
        commands, others, prose = parse(lines)
        results = run(tk, commands) if commands else []
        if write and commands:
            rewrite(page, lines, commands, results)
        return len(commands), judge(page, commands, results) + look_over(page, others, prose, help_)

    passed, failed = 0, len(problems)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for count, found in pool.map(one, pages):
            problems += found
            failed += len(found)
            passed += max(count - len(found), 0)
    for problem in problems:
        print(problem + "\n")
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
