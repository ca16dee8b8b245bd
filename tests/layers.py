#!/usr/bin/env python3
"""The shape of the tree as a test: which room may include which, heavy headers, sizes.

usage: layers.py [--root FOLDER] [--table]

Prints one row FILE:LINE: REASON for each violation and ends with status 1 if there is any.
Data flows down the tree; an edge that is not in ALLOWED does not exist. A new room is added here;
`--table` then brings the table "The rooms" of docs/ARCHITECTURE.md up to date.
"""
import argparse
import pathlib
import re
import subprocess
import sys

COMMON = ["common/base", "common/config", "common/drain", "common/wire",
          "common/wire/codec", "common/parameters"]
# The detectors: what each may include. aggregator/diagnose may include them all.
DETECTORS = {
    "aggregator/detect/cross_job": ["common/base", "aggregator/numbers", "aggregator/job"],
    "aggregator/detect/spatial": ["common/base", "aggregator/numbers", "aggregator/job",
                                "aggregator/vectors"],
    "aggregator/detect/temporal": COMMON + ["aggregator/numbers", "aggregator/job",
        "aggregator/detect/evidence"],
    "aggregator/detect/stage": COMMON + ["aggregator/numbers", "aggregator/job"],
    "aggregator/detect/hang": COMMON + ["aggregator/numbers", "aggregator/job"],
    "aggregator/detect/evidence": COMMON + ["aggregator/numbers", "aggregator/job"],
    "aggregator/detect/crash": COMMON + ["aggregator/numbers", "aggregator/job",
        "aggregator/detect/evidence"],
    "aggregator/detect/ending": COMMON + ["aggregator/numbers", "aggregator/job",
        "aggregator/detect/evidence"],
    "aggregator/detect/slow": COMMON + ["aggregator/numbers", "aggregator/job",
        "aggregator/detect/evidence"],
    "aggregator/detect/delay": COMMON + ["aggregator/numbers", "aggregator/job"],
    "aggregator/detect/figures": COMMON + ["aggregator/numbers", "aggregator/job"],
    "aggregator/detect/nics": COMMON + ["aggregator/numbers", "aggregator/job", "aggregator/cards"],
    "aggregator/detect/network": COMMON + ["aggregator/numbers", "aggregator/job",
        "aggregator/detect/hang"],
}
# Room -> what it may include. A room may always include itself. "X/file.h" allows one header only.
ALLOWED = {
    "schemas": [],
    "common/base": [],
    "common/config": ["common/base"],
    "common/drain": ["common/base", "common/config"],
    "common/http": ["common/base"],
    "common/metrics": ["common/base"],
    "common/saved": ["common/base"],
    "common/sockets": ["common/base"],
    "common/wire": ["common/base"],
    "common/wire/codec": ["common/base", "common/wire", "schemas"],
    "common/parameters": ["common/base", "common/wire"],
    "common/wire/simulation": ["common/base", "common/wire"],
    "common/wire/zmq": ["common/base", "common/config", "common/wire"],
    "agent/discover": ["common/base", "common/wire", "agent/decode"],
    "agent/text": ["common/base"],
    "agent/stamps": ["common/base", "agent/text"],
    "agent/decode": ["common/base", "common/wire", "agent/text", "agent/stamps"],
    "agent/tail": COMMON + ["agent/discover"],
    "agent/segment": COMMON + ["agent/decode", "agent/text"],
    "agent/recall": COMMON + ["agent/decode"],
    "agent/lines": COMMON + ["agent/discover", "agent/decode", "agent/tail",
                             "agent/pipeline/redaction.h"],
    "agent/host": ["common/base", "common/wire", "agent/discover"],
    "agent/nic": ["common/base", "common/wire"],
    "agent/ship": ["common/base", "common/wire", "common/wire/codec"],
    "agent/pipeline": COMMON + ["agent/discover", "agent/decode", "agent/segment"],
    "agent/daemon": COMMON + ["common/metrics", "common/sockets", "common/wire/zmq",
                              "agent/discover", "agent/segment", "agent/pipeline", "agent/lines",
                              "agent/tail", "agent/host", "agent/nic", "agent/ship"],
    "agent": COMMON + ["common/wire/zmq", "agent/discover", "agent/decode", "agent/segment",
                       "agent/recall", "agent/pipeline", "agent/host", "agent/daemon"],
    "aggregator/numbers": ["common/base", "common/config"],
    "aggregator/vectors": ["common/base", "common/saved"],
    "aggregator/cards": ["common/base", "common/saved", "common/wire"],
    "aggregator/job": COMMON + ["common/saved", "aggregator/vectors", "aggregator/cards"],
    "aggregator/receive": COMMON + ["aggregator/job"],
    "aggregator/store": ["common/base", "common/wire"],
    **DETECTORS,
    "aggregator/flows": ["common/base"],
    "aggregator/flows/decode": ["common/base", "aggregator/flows", "aggregator/serve"],
    "aggregator/collect": ["common/base", "common/sockets", "aggregator/flows",
                           "aggregator/flows/decode", "aggregator/detect/network/network.h"],
    "aggregator/faults": COMMON,
    "aggregator/diagnose/findings": COMMON + ["aggregator/numbers", "aggregator/job",
                                              "aggregator/faults", *DETECTORS],
    "aggregator/diagnose/clues": COMMON + ["aggregator/numbers", "aggregator/job",
                                           "aggregator/cards",
                                           "aggregator/diagnose/findings",
                                           *DETECTORS],
    "aggregator/diagnose": COMMON + ["aggregator/numbers", "aggregator/job", "aggregator/cards",
                                     "aggregator/faults",
                                     "aggregator/diagnose/findings", "aggregator/diagnose/clues",
                                     *DETECTORS],
    "aggregator/fit": ["common/base", "common/config", "aggregator/numbers",
                       "aggregator/diagnose/clues"],
    "aggregator/http": ["common/base", "common/http", "aggregator/serve/shell_pattern.h",
                        "aggregator/serve/utf8.h"],
    "aggregator/serve": COMMON + ["aggregator/diagnose/report.h"],
    "aggregator/watch": COMMON + [
        "common/saved", "aggregator/numbers", "aggregator/job", "aggregator/diagnose",
        "aggregator/diagnose/findings", "aggregator/detect/hang", "aggregator/detect/evidence"],
    "aggregator/alert": ["common/base", "common/config", "common/http/url.h", "aggregator/serve",
                         "aggregator/store"],
    "aggregator/pool": COMMON + ["aggregator/job", "aggregator/store", "aggregator/diagnose",
                                 "aggregator/diagnose/findings", "aggregator/serve"],
    "aggregator/scores": ["common/base", "common/wire", "aggregator/job", "aggregator/vectors",
                          "aggregator/detect/spatial"],
    "aggregator/scoring": COMMON + [
        "common/saved", "aggregator/numbers", "aggregator/job", "aggregator/vectors",
        "aggregator/receive", "aggregator/faults", "aggregator/store", "aggregator/diagnose",
        "aggregator/diagnose/findings", "aggregator/detect/hang", "aggregator/detect/spatial",
        "aggregator/detect/network", "aggregator/serve", "aggregator/watch",
        "aggregator/alert", "aggregator/pool"],
    "aggregator/rows": COMMON + [
        "aggregator/alert", "aggregator/job", "aggregator/receive", "aggregator/faults",
        "aggregator/store", "aggregator/diagnose", "aggregator/serve", "aggregator/scores",
        "aggregator/scoring", "aggregator/flows",
        "aggregator/cards", "aggregator/detect/nics"],
    "aggregator/fetch": COMMON + ["aggregator/job", "aggregator/receive", "aggregator/serve",
                                  "aggregator/scoring"],
    "aggregator/confirm": COMMON + [
        "aggregator/faults", "aggregator/store", "aggregator/diagnose", "aggregator/serve",
        "aggregator/pool", "aggregator/scoring"],
    "aggregator/past": COMMON + ["aggregator/receive", "aggregator/faults", "aggregator/store",
                                 "aggregator/scoring"],
    "aggregator/intake": COMMON + ["aggregator/receive", "aggregator/store", "aggregator/scoring",
                                   "aggregator/fetch", "aggregator/past"],
    "aggregator/live": COMMON + [
        "aggregator/receive", "aggregator/faults", "aggregator/store", "aggregator/serve",
        "aggregator/alert", "aggregator/http", "aggregator/pool", "aggregator/scoring",
        "aggregator/rows", "aggregator/fetch", "aggregator/confirm", "aggregator/past",
        "aggregator/intake", "aggregator/collect", "aggregator/detect/network"],
    "aggregator/api": COMMON + [
        "aggregator/alert", "aggregator/faults", "aggregator/store", "aggregator/serve",
        "aggregator/http", "aggregator/pool", "aggregator/scores", "aggregator/scoring",
        "aggregator/rows", "aggregator/fetch", "aggregator/confirm", "aggregator/past",
        "aggregator/live", "aggregator/collect", "aggregator/flows", "aggregator/detect/nics",
        "aggregator/job", "common/metrics"],
    "aggregator/page": ["common/base", "aggregator/http"],
    "aggregator/handout": ["common/base", "aggregator/page/assets.h", "aggregator/serve"],
    "aggregator": COMMON + [
        "aggregator/alert", "aggregator/diagnose/clues", "aggregator/numbers",
        "aggregator/faults", "aggregator/serve", "aggregator/http",
        "aggregator/page", "aggregator/collect", "aggregator/flows",
        "aggregator/live", "aggregator/api", "common/http", "common/sockets", "common/wire/zmq"],
    "offline": COMMON + ["agent", "agent/discover", "agent/decode", "agent/segment",
                         "aggregator/job", "aggregator/receive", "aggregator/diagnose",
                         "aggregator/detect/hang"],
    "tools": ["*"],
    "tools/process": ["common/base"],
    "tools/l4": ["tools/l4/terminal", "tools/l4/commands"],
    "tools/l4/terminal": ["common/base", "aggregator/serve", "offline/progress.h"],
    "tools/l4/ask": ["common/base", "common/config", "common/http", "aggregator/serve",
                     "aggregator/rows/fields.h", "aggregator/rows/status_fields.h",
                     "tools/l4/terminal"],
    "tools/l4/keyring": ["common/base", "common/wire", "common/wire/zmq", "aggregator/http"],
    "tools/l4/replay": ["common/base", "common/wire", "agent/discover", "agent/decode"],
    "tools/l4/commands/faults": COMMON + [
        "common/http", "agent/decode", "agent/discover", "aggregator/faults", "aggregator/serve",
        "offline", "tools/l4/terminal", "tools/l4/ask"],
    "tools/l4/commands/pool": COMMON + [
        "common/http", "aggregator/job", "aggregator/diagnose", "aggregator/faults",
        "aggregator/pool", "aggregator/serve", "offline", "tools/l4/terminal", "tools/l4/ask"],
    "tools/l4/commands/keys": [
        "common/base", "common/wire", "aggregator/http/job_limit.h", "aggregator/serve",
        "tools/l4/keyring", "tools/l4/terminal",
        "tools/l4/ask"],
    "tools/l4/commands/local": [
        "common/base", "common/http", "common/wire", "agent/daemon", "agent/tail", "aggregator",
        "aggregator/http", "aggregator/serve", "tools/l4/keyring", "tools/l4/terminal",
        "tools/l4/ask"],
    "tools/l4/commands/demo": [
        "common/base", "common/config", "common/http", "common/wire", "agent/discover",
        "aggregator/diagnose/report.h", "aggregator/serve", "tools/process", "tools/l4/terminal",
        "tools/l4/ask", "tools/l4/keyring", "tools/l4/replay"],
    "tools/l4/commands/flows": [
        "common/base", "common/wire", "aggregator/collect", "aggregator/detect/network",
        "aggregator/flows", "aggregator/flows/decode", "aggregator/job", "aggregator/numbers",
        "aggregator/serve", "tools/l4/terminal"],
    "tools/l4/commands/fit": ["common/base", "aggregator/diagnose/clues", "aggregator/fit",
                              "aggregator/serve", "tools/l4/terminal", "tools/l4/ask"],
    "tools/l4/commands/check": ["common/base", "common/config", "common/http", "aggregator/serve",
                                "tools/l4/terminal", "tools/l4/ask"],
    "tools/l4/commands/setup": COMMON + [
        "common/wire/zmq", "agent/daemon", "agent/segment", "agent/tail", "aggregator",
        "aggregator/faults", "aggregator/http", "aggregator/serve", "tools/l4/keyring",
        "tools/l4/terminal", "tools/l4/ask"],
    "tools/l4/commands": COMMON + [
        "common/http", "agent", "agent/daemon", "agent/tail", "agent/discover",
        "agent/pipeline/secrets.h", "aggregator", "aggregator/diagnose",
        "aggregator/diagnose/clues", "aggregator/faults", "aggregator/numbers",
        "aggregator/handout", "aggregator/job", "aggregator/rows", "aggregator/scores",
        "aggregator/serve", "aggregator/detect/network", "offline",
        "tools/l4/terminal", "tools/l4/ask", "tools/l4/commands/faults", "tools/l4/commands/pool",
        "tools/l4/commands/keys", "tools/l4/commands/local", "tools/l4/commands/setup",
        "tools/l4/commands/check", "tools/l4/commands/demo", "tools/l4/commands/flows",
        "tools/l4/commands/fit"],
    "tools/fleet": ["*"],
    "tests": ["*"],
    "bench": ["*"],
}
# Headers that cost seconds a file: none of our headers includes them, and at most this many sources
# do, tests aside.
HEAVY = {
    "boost/asio": 5, "boost/beast": 3, "spdlog/": 2, "nlohmann/json.hpp": 1, "prometheus/": 2,
    "zmq": 6, "toml++/": 2, "CLI/": 2, "sqlite3.h": 1,
}
# A limit is an alarm, not an aim: no class is cut over several files to meet it.
HEADER_LINES, SOURCE_LINES, FUNCTION_LINES, COLUMNS = 250, 600, 70, 100
# Sources that are mainly one table, and the reason why they may be longer than SOURCE_LINES.
TABLES = {}
# A unit is a header with its source. A class has its members in one source, or in two where it is
# saved and loaded apart from the rest; members of nested classes count as its own.
UNITS, CLASS_SOURCES = 25, 2
UNIT_TOPS = ("agent", "aggregator", "common", "tools", "offline")
ROOM_SHARE = {"aggregator": 12}     # percent of the lines of this program that one room may hold
# The rows of the table of rooms: room, what it is for, what it may include.
DOCUMENT = "docs/ARCHITECTURE.md"
ROW = re.compile(r"^\| `((?:schemas|common|agent|aggregator|offline|tools|tests|bench)(?:/\w+)*)` "
                 r"\| *(.*?) *\| *([^|]*?) *\|$")
# Folders of one machine; the one neighbour that the repository may name is ../shared.
OUTSIDE = re.compile(r"(?<![\w.])/" + "(?:work|tmp/lab)" + r"(?:/|\b(?=[\s\"'`),;]|$))")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                     r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.S)
MEMBER = re.compile(r"^(?![\s#}])[^=\n]*?(?<![\w:])((?:[A-Z]\w*(?:<[\w, ]*>)?::)+)"
                    r"(?:~?[A-Za-z_]\w*|operator[^\w\s]*)\(", re.M)
TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:class|struct|enum|union|namespace|extern)\b", re.S)


def tracked(root):
    """Files of the repository, new ones too; outside git, all files but the builds."""
    done = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"],
                          capture_output=True, check=False)
    if done.returncode == 0 and (root / ".git").exists():
        names = done.stdout.decode().split("\0")
    else:
        names = [str(p.relative_to(root)) for p in root.rglob("*")]
    return sorted(n for n in names if n and not n.startswith("build/") and (root / n).is_file())


def blank(text, keep_strings):
    """The text without comments and raw strings (and strings); line numbers stay."""
    def one(match):
        part = match.group(0)
        if keep_strings and part[0] in "\"'":
            return part
        return "\n" * part.count("\n") or '""'
    return LITERAL.sub(one, text)


def room_of(name, rooms):
    """The deepest room that holds the file; everything under tests and bench is one room."""
    folder = str(pathlib.PurePosixPath(name).parent)
    for top in ("tests", "bench"):
        if folder == top or folder.startswith(top + "/"):
            return top
    return folder if folder in rooms else None


def allowed(room, target, target_room):
    rules = ALLOWED[room]
    return target_room == room or "*" in rules or target_room in rules or target in rules


class Check:
    """Collects violations over one tree."""

    def __init__(self, root):
        self.root, self.found, self.heavy = root, [], {}
        self.tops = {room.split("/")[0] for room in ALLOWED}
        self.graph = {}
        self.units, self.room_lines, self.classes = {}, {}, {}

    def say(self, name, line, reason):
        self.found.append((name, line, reason))

    def run(self):
        self.table()
        for name in tracked(self.root):
            data = (self.root / name).read_bytes()
            if b"\0" in data[:8192]:
                continue
            text = data.decode("utf-8", "replace")
            self.outside(name, text)
            if name.endswith((".h", ".cc")):
                self.code(name, text)
            elif name.endswith(".py") or text.startswith("#!/usr/bin/env python3"):
                self.columns(name, text)
        for prefix, users in sorted(self.heavy.items()):
            for name, line in sorted(users.items())[HEAVY[prefix]:]:
                self.say(name, line, f"<{prefix}...> is in {len(users)} sources, "
                                     f"{HEAVY[prefix]} are allowed")
        self.cycles({name: list(edges.items()) for name, edges in self.graph.items()})
        self.sizes()
        self.document()

    def sizes(self):
        """Folders, rooms and classes that hold too much or are spread too far."""
        for folder, units in sorted(self.units.items()):
            if len(units) > UNITS:
                self.say(folder, 1, f"{len(units)} units, {UNITS} are allowed in a folder")
        for top, share in ROOM_SHARE.items():
            rooms = {r: n for r, n in self.room_lines.items() if r.split("/")[0] == top}
            total = sum(rooms.values())
            for room, lines in sorted(rooms.items()):
                # With fewer rooms the limit cannot be held.
                if lines * 100 > share * total and len(rooms) * share > 100:
                    self.say(room, 1, f"holds {lines * 100 / total:.1f} % of the lines of {top}, "
                                      f"{share} % are allowed")
        for (_, name), files in sorted(self.classes.items()):
            if len(files) > CLASS_SOURCES:
                self.say(sorted(files)[CLASS_SOURCES], 1, f"{name} has members in {len(files)} "
                         f"sources, {CLASS_SOURCES} are allowed: {', '.join(sorted(files))}")

    def document(self):
        """The table of the document has a row for each room, and says the same as ALLOWED."""
        path = self.root / DOCUMENT
        if not path.exists():
            return
        rows = {match.group(1): (number, match.group(2), match.group(3))
                for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
                if (match := ROW.match(line)) and match.group(1) != "room"}
        for room in ALLOWED:
            number, purpose, column = rows.get(room, (1, "", None))
            if column and not purpose:
                self.say(DOCUMENT, number, f"the row of {room} does not say what it is for")
            elif column != may_include(room):
                self.say(DOCUMENT, number, f"the row of {room} should be "
                         f"'{row_of(room, purpose or '(what it is for)')}': layers.py --table")
        for room in sorted(set(rows) - set(ALLOWED)):
            self.say(DOCUMENT, rows[room][0], f"a row of {room}, which is no room")

    def table(self):
        """The table itself must be free of cycles, and name only rooms that have a row."""
        edges = {}
        for room, rules in ALLOWED.items():
            targets = [r for r in rules if r != "*"]
            edges[room] = [(str(pathlib.PurePosixPath(r).parent) if r.endswith(".h") else r, 0)
                           for r in targets]
            for target, _ in edges[room]:
                if target not in ALLOWED:
                    self.say("tests/layers.py", 1, f"ALLOWED[{room}]: no such room: {target}")
            if (self.root / "CMakeLists.txt").exists() and not (self.root / room).is_dir():
                self.say("tests/layers.py", 1, f"ALLOWED[{room}]: no such folder")
        self.cycles(edges)

    def cycles(self, edges):
        """Depth first, without recursion; one report per back edge."""
        state = {}
        for start in sorted(edges):
            if start in state:
                continue
            stack = [(start, iter(edges[start]))]
            state[start] = "open"
            while stack:
                node, rest = stack[-1]
                target, line = next(rest, (None, 0))
                if target is None:
                    state[node] = "done"
                    stack.pop()
                elif state.get(target) == "open":
                    self.say(node, line, f"cycle: {node} -> {target} -> ... -> {node}")
                elif target in edges and target not in state:
                    state[target] = "open"
                    stack.append((target, iter(edges[target])))

    def outside(self, name, text):
        if re.match(r"samples/[^/]+/|config/faults/", name):    # they quote recorded logs
            return
        for number, line in enumerate(text.splitlines(), 1):
            match = OUTSIDE.search(line)
            if match:
                self.say(name, number, f"names a path outside the repository: {line.strip()[:60]}")

    def columns(self, name, text):
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > COLUMNS:
                self.say(name, number, f"{len(line)} columns, {COLUMNS} are allowed")

    def code(self, name, text):
        lines = text.count("\n")
        in_test = name.startswith(("tests/", "bench/"))
        limit = HEADER_LINES if name.endswith(".h") and not in_test else SOURCE_LINES
        if lines > limit and name not in TABLES:
            self.say(name, limit + 1, f"{lines} lines, {limit} are allowed")
        if name.endswith(".h") and not re.search(r"^#pragma once$", text, re.M):
            self.say(name, 1, "no #pragma once")
        self.columns(name, text)
        self.count(name, lines)
        self.includes(name, blank(text, True), in_test)
        if not in_test:
            bare = blank(text, False)
            self.functions(name, bare)
            if name.endswith(".cc"):
                for match in MEMBER.finditer(bare):
                    owner = re.match(r"\w+", match.group(1)).group()
                    folder = str(pathlib.PurePosixPath(name).parent)
                    self.classes.setdefault((folder, owner), set()).add(name)

    def count(self, name, lines):
        folder, _, file = name.rpartition("/")
        if folder.split("/")[0] in UNIT_TOPS:
            self.units.setdefault(folder, set()).add(file.rpartition(".")[0])
        room = room_of(name, ALLOWED)
        if room:
            self.room_lines[room] = self.room_lines.get(room, 0) + lines

    def includes(self, name, text, in_test):
        room = room_of(name, ALLOWED)
        if room is None and name.split("/")[0] in self.tops:
            self.say(name, 1, "stands in no room of the table in tests/layers.py")
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, target = match.groups()
            for prefix in HEAVY:
                if target.startswith(prefix):
                    self.heavy_use(name, number, prefix, target, in_test)
            if target.split("/")[0] in self.tops and "/" in target:
                self.edge(name, number, room, target)
            elif quote == '"' and (self.root / name).parent.joinpath(target).exists():
                self.say(name, number, f'"{target}": include it by its path from the root')

    def heavy_use(self, name, number, prefix, target, in_test):
        if name.endswith(".h"):
            self.say(name, number, f"<{target}> is too heavy for a header")
        elif not in_test:
            self.heavy.setdefault(prefix, {}).setdefault(name, number)

    def edge(self, name, number, room, target):
        target_room = room_of(target, ALLOWED)
        self.graph.setdefault(name, {})[target] = number
        if target_room is None:
            self.say(name, number, f'"{target}" is in no room of the table in tests/layers.py')
        elif room is not None and not allowed(room, target, target_room):
            self.say(name, number, f"{room} may not include {target_room} ({target})")

    def functions(self, name, text):
        """Bodies that open at column 0, as clang-format leaves them inside namespaces."""
        head, opened = None, None
        for number, line in enumerate(text.splitlines(), 1):
            bare = line.rstrip()
            if opened is not None:
                if bare.startswith("}"):
                    length = number - opened + 1
                    if length > FUNCTION_LINES:
                        self.say(name, opened,
                                 f"function of {length} lines, {FUNCTION_LINES} are allowed")
                    head, opened = None, None
                continue
            if not bare or bare[0] in "#}":
                head = None
                continue
            if bare[0] not in " \t":
                head = (number, bare) if head is None else (head[0], head[1] + "\n" + bare)
            elif head is not None:
                head = (head[0], head[1] + "\n" + bare)
            if head is None:
                continue
            if bare.endswith("{"):
                if TYPE.match(head[1]) or "(" not in head[1] or re.search(r"=\s*\{$", head[1]):
                    head = None
                else:
                    opened = head[0]
            elif bare.endswith((";", "}", ":")) and not bare.endswith("::"):
                head = None


def may_include(room):
    """The last column of a room's row: names without the folder that they share with the room."""
    rules = list(ALLOWED[room])
    words = []
    if "*" in rules:
        return "everything"
    top = room.split("/")[0] + "/"
    if all(name in rules for name in COMMON):
        words.append("*common*")
        rules = [name for name in rules if name not in COMMON]
    words += [f"`{name.removeprefix(top)}`" for name in rules]
    return ", ".join(words) or "nothing"


def row_of(room, purpose):
    return f"| `{room}` | {purpose} | {may_include(room)} |"


def write_table(root):
    """Rows of the document in the order of ALLOWED, each with the purpose that it has there."""
    path = root / DOCUMENT
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = {match.group(1): (number, match.group(2))
            for number, line in enumerate(lines) if (match := ROW.match(line))}
    first = min(number for number, _ in rows.values())
    table = [row_of(room, rows[room][1] if room in rows else "") for room in ALLOWED]
    rest = [line for number, line in enumerate(lines)
            if number >= first and number not in {n for n, _ in rows.values()}]
    path.write_text("\n".join(lines[:first] + table + rest) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parent.parent,
                        type=pathlib.Path)
    parser.add_argument("--table", action="store_true",
                        help=f"write the table of rooms in {DOCUMENT}")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    if arguments.table:
        write_table(root)
    check = Check(root)
    check.run()
    for name, line, reason in sorted(set(check.found)):
        print(f"{name}:{line}: {reason}")
    count = len(set(check.found))
    print(f"layers: {count} violations" if count else "layers: as it should be")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
