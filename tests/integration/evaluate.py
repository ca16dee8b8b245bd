#!/usr/bin/env python3
"""tools/evaluate: its short form scores what it can, twice the same, and finds what it must.

usage: evaluate.py L4      L4_EVALUATE=full: the whole of it, with the figures that are asked for
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import support

FULL = os.environ.get("L4_EVALUATE") == "full"
WORDS_OFF = "neither wording nor library"
# (table, row, column, bound, at least): of the short form, and of the whole.
SHORT = (("switches", "all of it", "event F1", 0.80, True),
         ("switches", "all of it", "false alarms", 0.0, False),
         ("switches", WORDS_OFF, "recall", 0.60, True),
         ("sets", "small cases", "all right", 1.0, True),
         ("wordless", "all of it", "alone", 0.80, True),
         ("failures", "all of it", "alarms", 0, False))
WHOLE = (("switches", "all of it", "event F1", 0.94, True),
         ("switches", "all of it", "recall", 0.95, True),
         ("switches", "all of it", "root recall", 0.97, True),
         ("switches", "all of it", "node top-1", 0.92, True),
         ("switches", "all of it", "top-5", 0.98, True),
         ("switches", "all of it", "top-8", 0.99, True),
         ("switches", "all of it", "false alarms", 0.0, False),
         ("switches", WORDS_OFF, "event F1", 0.85, True),
         ("switches", WORDS_OFF, "recall", 0.92, True),
         ("switches", WORDS_OFF, "root recall", 0.92, True),
         ("switches", WORDS_OFF, "node top-1", 0.72, True),
         ("switches", WORDS_OFF, "top-5", 0.95, True),
         ("switches", WORDS_OFF, "top-8", 0.98, True),
         ("switches", WORDS_OFF, "false alarms", 0.0, False),
         ("switches", WORDS_OFF, "quiet", 0.95, True),
         ("failures", WORDS_OFF, "root flagged", 30, True),
         ("wordless", "all of it", "top-1", 0.85, True),
         ("wordless", "no forest, no dtw", "top-1", 0.60, False),
         ("sets", "small cases", "all right", 1.0, True))


def run(l4, *more):
    """The tables, and the last line printed."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        done = subprocess.run([sys.executable, support.ROOT / "tools" / "evaluate", "--l4",
                               l4.binary, "--json", out.name, *more], capture_output=True,
                              text=True, check=False)
        if done.returncode == support.SKIPPED:
            print(done.stdout)
            sys.exit(support.SKIPPED)
        text = pathlib.Path(out.name).read_text(encoding="utf-8")
    print(done.stdout, done.stderr[-2000:])
    return done, json.loads(text) if text else {}


def bounds(expect, tables, asked):
    for table, row, column, bound, at_least in asked:
        text = tables.get(table, {}).get(row, {}).get(column, "-")
        value = float(text) if re.fullmatch(r"[\d.]+", text) else None
        good = value is not None and (value >= bound if at_least else value <= bound)
        what = f"{table}, {row}: {column} {'>=' if at_least else '<='} {bound}"
        print(f"{what:66} {text:>8}   {'ok' if good else 'MISSED'}")
        expect.that(good, what, text)


def all_mechanisms(expect, tables):
    wrong = {name: row["what"] for name, row in tables.get("mechanisms", {}).items()
             if name != "all" and row["right"] != "1"}
    expect.equal(wrong, {}, "mechanisms that are wrong")


def main():
    l4, expect = support.start(sys.argv, "evaluate")
    with tempfile.TemporaryDirectory(prefix="l4-evaluate-") as folder:
        if FULL:
            done, tables = run(l4)
            bounds(expect, tables, WHOLE)
            all_mechanisms(expect, tables)
        else:
            given = ("--brief", "--jobs", "2", "--work", folder)
            done, tables = run(l4, *given)
            bounds(expect, tables, SHORT)
            again, same = run(l4, *given)
            expect.equal(same, tables, "tables of a second run")
            expect.that(re.search(r"^0 runs, \d+ kept", again.stdout, re.M), "nothing runs twice",
                        again.stdout[-200:])
    expect.equal(done.returncode, 0, "exit of tools/evaluate")
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
