#!/usr/bin/env python3
"""Self-test of layers.py and documents.py: they report each violation at its line, and no other."""
import pathlib
import subprocess
import sys
import tempfile

from layers import HEAVY

LAYERS = pathlib.Path(__file__).resolve().parent / "layers.py"
DOCUMENTS = LAYERS.with_name("documents.py")
GUARD = "#pragma once\n"
LONG_BODY = "int f(int a,\n      int b) {\n" + "  a += b;\n" * 70 + "  return a;\n}\n"
SMALL_ROOMS = {f"aggregator/{room}/a.cc": "int x;\n" * 11 for room in
               ("alert", "diagnose", "faults", "http", "job", "pool", "receive", "watch")}
WORK = "/" + "work/shared/data"

# Name of the case, the files of the tree, a part of the row that must be printed.
BAD = [
    ("lower includes upper", {"common/base/a.cc": '\n#include "common/wire/b.h"\n'},
     "common/base/a.cc:2: common/base may not include common/wire"),
    ("aggregator includes agent", {"aggregator/job/a.cc": '#include "agent/decode/r.h"\n'},
     "aggregator/job/a.cc:1: aggregator/job may not include agent/decode"),
    ("agent includes aggregator", {"agent/pipeline.cc": '#include "aggregator/job/r.h"\n'},
     "agent/pipeline.cc:1: agent may not include aggregator/job"),
    ("serve includes a detector",
     {"aggregator/serve/a.cc": '#include "aggregator/detect/hang/h.h"\n'},
     "aggregator/serve/a.cc:1: aggregator/serve may not include aggregator/detect/hang"),
    ("serve includes more than the report",
     {"aggregator/serve/a.cc": '#include "aggregator/diagnose/fuse.h"\n'},
     "aggregator/serve/a.cc:1: aggregator/serve may not include aggregator/diagnose"),
    ("a detector includes another",
     {"aggregator/detect/hang/a.cc": '#include "aggregator/detect/slow/s.h"\n'},
     "aggregator/detect/hang/a.cc:1: aggregator/detect/hang may not include"),
    ("a room that nobody listed", {"common/util/a.cc": "int x;\n"},
     "common/util/a.cc:1: stands in no room"),
    ("a room that is gone", {"CMakeLists.txt": "", "common/base/a.h": GUARD},
     "tests/layers.py:1: ALLOWED[common/drain]: no such folder"),
    ("headers in a circle", {"common/base/a.h": GUARD + '#include "common/base/b.h"\n',
                             "common/base/b.h": GUARD + '#include "common/base/a.h"\n'},
     "common/base/b.h:2: cycle"),
    ("include without its path", {"common/base/a.cc": '#include "b.h"\n', "common/base/b.h": GUARD},
     'common/base/a.cc:1: "b.h": include it by its path from the root'),
    ("heavy header in a header", {"common/base/a.h": GUARD + "#include <spdlog/spdlog.h>\n"},
     "common/base/a.h:2: <spdlog/spdlog.h> is too heavy"),
    ("heavy header in many sources",
     {f"agent/decode/a{i}.cc": "#include <spdlog/x.h>\n" for i in range(HEAVY["spdlog/"] + 1)},
     f"agent/decode/a{HEAVY['spdlog/']}.cc:1: <spdlog/...> is in {HEAVY['spdlog/'] + 1} sources, "
     f"{HEAVY['spdlog/']} are allowed"),
    ("no guard", {"common/base/a.h": "int f();\n"}, "common/base/a.h:1: no #pragma once"),
    ("long header", {"common/base/a.h": GUARD + "int f();\n" * 250},
     "common/base/a.h:251: 251 lines, 250 are allowed"),
    ("long source", {"common/base/a.cc": "int f();\n" * 601}, "common/base/a.cc:601: 601 lines"),
    ("long test", {"tests/a_test.cc": "int f();\n" * 601}, "tests/a_test.cc:601: 601 lines"),
    ("long line", {"common/base/a.cc": "// " + "x" * 98 + "\n"}, "common/base/a.cc:1: 101 columns"),
    ("long function",
     {"common/base/a.cc": "namespace l4 {\n\n" + LONG_BODY + "\n}  // namespace l4\n"},
     "common/base/a.cc:3: function of 74 lines"),
    ("a full folder", {f"agent/ship/a{i}.{end}": GUARD for i in range(26) for end in ("h", "cc")},
     "agent/ship:1: 26 units, 25 are allowed in a folder"),
    ("a large room", {"aggregator/store/a.cc": "int x;\n" * 14, **SMALL_ROOMS},
     "aggregator/store:1: holds 13.7 % of the lines of aggregator, 12 % are allowed"),
    ("a class in three sources",
     {f"agent/tail/{file}.cc": "void Reader::f(int a) {}\n" for file in "abc"},
     "agent/tail/c.cc:1: Reader has members in 3 sources, 2 are allowed"),
    ("a nested class in three sources",
     {f"agent/tail/{file}.cc": "std::optional<A::B> Reader::Log::~Log(int a,\n  int b) {}\n"
      for file in "abc"},
     "agent/tail/c.cc:1: Reader has members in 3 sources, 2 are allowed"),
    ("a room without a row", {"docs/ARCHITECTURE.md": "| `common/base` | ids | nothing |\n"},
     "docs/ARCHITECTURE.md:1: the row of common/metrics should be "
     "'| `common/metrics` | (what it is for) | `base` |'"),
    ("a row that differs", {"docs/ARCHITECTURE.md": "\n| `common/http` | client | `drain` |\n"},
     "docs/ARCHITECTURE.md:2: the row of common/http should be "
     "'| `common/http` | client | `base` |'"),
    ("a row without a purpose", {"docs/ARCHITECTURE.md": "\n| `common/http` |  | `base` |\n"},
     "docs/ARCHITECTURE.md:2: the row of common/http does not say what it is for"),
    ("a row of no room", {"docs/ARCHITECTURE.md": "| `common/util` | all sorts | nothing |\n"},
     "docs/ARCHITECTURE.md:1: a row of common/util, which is no room"),
    ("a path of one machine", {"README.md": f"see {WORK}\n"},
     "README.md:1: names a path outside the repository"),
]
GOOD = {
    "common/base/a.h": GUARD + '// an example: #include "agent/decode/x.h"\n',
    "common/base/a.cc": '#include "common/base/a.h"\n#include <vector>\n' + "int kTable[] = {\n"
                        + "    (1),\n" * 90 + "};\n" + LONG_BODY.replace("  a += b;\n", "", 10),
    "common/wire/b.cc": 'const char* k = R"x(\n#include "agent/decode/x.h"\n)x";\n',
    "aggregator/serve/json.cc":
        '#include <nlohmann/json.hpp>\n#include "aggregator/diagnose/report.h"\n',
    "tests/serve_test.cc": '#include "aggregator/detect/hang/h.h"\n' + LONG_BODY,
    "docs/a.md": "data is in ../shared, temporary files in /tmp, a home is /workspace\n",
    "samples/run/rank0.log": f"opening {WORK}\n",
}


# A class may be saved and loaded in a second source. Uses of its members and types elsewhere are
# not a third one.
GOOD.update({
    "agent/tail/a.cc": "void Reader::f() {}\n",
    "agent/tail/b.cc": "Reader::Look Reader::load(int a) {\n  Reader::f();\n}\n",
    "agent/tail/c.cc": "Reader::Look g(const Reader::Log& log) {}\nint x = Reader::f(1);\n",
})

DOCUMENTED = {
    "docs/ARCHITECTURE.md": "# How\n## The rooms\n| `tail-reader` | reads |\n",
    "common/wire/batch.h": GUARD + 'namespace l4::wire {\nstruct Batch;  // docs/DESIGN.md, "A\n'
                           '// b"\n}\n',
    "docs/DESIGN.md": "## A `b`\nsee `wire::Batch`, `wire/batch.h`, `tests/ROOM/x.py`, "
                      "`std::map`, `/etc/l4/a.toml`, "
                      "[rooms](ARCHITECTURE.md#the-rooms) and [code](../common)\n",
    "tests/wire/x.py": "",
    "agent/tail/reader.cc": 'start_thread("tail-reader", run);\n',
}
BAD_DOCUMENTS = [
    ("a path that is gone", {"docs/a.md": "in `wire/gone.h`\n"},
     "docs/a.md:1: `wire/gone.h` is no path of the tree"),
    ("a type that is gone", {"docs/a.md": "\n`wire::Gone` holds it\n"},
     "docs/a.md:2: `wire::Gone` is declared nowhere"),
    ("a link to no file", {"docs/a.md": "[a](b.md)\n"},
     "docs/a.md:1: a link to b.md: no such file"),
    ("a link to no heading", {"docs/a.md": "[a](DESIGN.md#c)\n"},
     "docs/a.md:1: a link to DESIGN.md#c: no such heading"),
    ("a document that is not there", {"agent/a.cc": "// see design.md 3\n"},
     "agent/a.cc:1: cites design.md, which is not in the tree"),
    ("a section that is not there", {"agent/a.cc": '\n/// (docs/DESIGN.md, "C\n/// d")\n'},
     'agent/a.cc:2: docs/DESIGN.md has no section "C d"'),
    ("a thread that the table lacks", {"agent/a.cc": 'start_thread(\n  "other", run);\n'},
     "agent/a.cc:1: the thread other is missing in docs/ARCHITECTURE.md"),
]


def run(files, script=LAYERS):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, str(script), "--root", folder], capture_output=True,
                              text=True, check=False)
        return done.returncode, done.stdout + done.stderr


def main():
    wrong = 0
    rows = [(LAYERS, *row) for row in BAD]
    rows += [(DOCUMENTS, title, {**DOCUMENTED, **files}, row)
             for title, files, row in BAD_DOCUMENTS]
    for script, title, files, row in rows:
        status, output = run(files, script)
        if status != 1 or not any(line.startswith(row) for line in output.splitlines()):
            wrong += 1
            print(f"FAILED {title}: expected status 1 and '{row}', got {status}:\n{output}")
    for script, files in ((LAYERS, GOOD), (DOCUMENTS, DOCUMENTED)):
        status, output = run(files, script)
        if status != 0:
            wrong += 1
            print(f"FAILED good tree: status {status}:\n{output}")
    print(f"layers self-test: {len(rows) + 2 - wrong} of {len(rows) + 2} right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
