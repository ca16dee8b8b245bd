#!/usr/bin/env python3
"""Self-test of layers.py: each violating tree is found out at the right line, a good one is not."""
import pathlib
import subprocess
import sys
import tempfile

LAYERS = pathlib.Path(__file__).resolve().parent / "layers.py"
GUARD = "#pragma once\n"
LONG_BODY = "int f(int a,\n      int b) {\n" + "  a += b;\n" * 70 + "  return a;\n}\n"
SMALL_ROOMS = {f"aggregator/{room}/a.cc": "int x;\n" * 11 for room in
               ("alert", "diagnose", "faults", "http", "job", "pool", "receive", "watch")}
WORK = "/" + "work/shared/data"

# What is wrong, the files of the tree, a part of the row that must be printed.
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
    ("headers in a circle", {"common/base/a.h": GUARD + '#include "common/base/b.h"\n',
                             "common/base/b.h": GUARD + '#include "common/base/a.h"\n'},
     "common/base/b.h:2: cycle"),
    ("include without its path", {"common/base/a.cc": '#include "b.h"\n', "common/base/b.h": GUARD},
     'common/base/a.cc:1: "b.h": include it by its path from the root'),
    ("heavy header in a header", {"common/base/a.h": GUARD + "#include <spdlog/spdlog.h>\n"},
     "common/base/a.h:2: <spdlog/spdlog.h> is too heavy"),
    ("heavy header in many sources",
     {f"agent/decode/a{i}.cc": "#include <boost/asio.hpp>\n" for i in range(4)},
     "agent/decode/a3.cc:1: <boost/asio...> is in 4 sources, 3 are allowed"),
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
     "agent/tail/c.cc:1: Reader::Log has members in 3 sources, 2 are allowed"),
    ("a room without a row", {"docs/ARCHITECTURE.md": "| `common/base` | ids | nothing |\n"},
     "docs/ARCHITECTURE.md:1: the row of common/drain should be "
     "'| `common/drain` | (what it is for) | `base` |'"),
    ("a row that differs", {"docs/ARCHITECTURE.md": "\n| `common/http` | client | `drain` |\n"},
     "docs/ARCHITECTURE.md:2: the row of common/http should be "
     "'| `common/http` | client | `base` |'"),
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


# A class may be saved and loaded in a second source; calls and types of others do not count.
GOOD.update({
    "agent/tail/a.cc": "void Reader::f() {}\n",
    "agent/tail/b.cc": "Reader::Look Reader::load(int a) {\n  Reader::f();\n}\n",
    "agent/tail/c.cc": "Reader::Look g(const Reader::Log& log) {}\nint x = Reader::f(1);\n",
})


def run(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, str(LAYERS), "--root", folder], capture_output=True,
                              text=True, check=False)
        return done.returncode, done.stdout + done.stderr


def main():
    wrong = 0
    for title, files, row in BAD:
        status, output = run(files)
        if status != 1 or not any(line.startswith(row) for line in output.splitlines()):
            wrong += 1
            print(f"FAILED {title}: expected status 1 and '{row}', got {status}:\n{output}")
    status, output = run(GOOD)
    if status != 0:
        wrong += 1
        print(f"FAILED good tree: status {status}:\n{output}")
    print(f"layers self-test: {len(BAD) + 1 - wrong} of {len(BAD) + 1} right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
