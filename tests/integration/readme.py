#!/usr/bin/env python3
"""The report in README.md equals the report of l4 on the sample, except for its figures.

usage: readme.py L4 [--update]      --update writes the report of today into README.md
"""
import difflib
import pathlib
import re
import shutil
import sys
import tempfile

import support

README = support.ROOT / "README.md"
BLOCK = re.compile(r"(<!-- report -->\n)(.*?)(<!-- /report -->)", re.S)


def report(l4, folder):
    """The sample as a fresh clone has it: all files of the same time, long after the job."""
    copy = pathlib.Path(folder, "crash-rank4")
    shutil.copytree(support.SAMPLE, copy, copy_function=shutil.copy)
    done = l4.run("diagnose", copy, stdin=b"")
    return done, done.stdout.decode("utf-8")


def without_figures(text):
    """Numbers and line breaks may differ."""
    return [re.sub(r"[0-9]+", "0", line).rstrip() for line in text.splitlines()]


def main():
    update = "--update" in sys.argv[2:]
    l4, expect = support.start(sys.argv, "readme")
    with tempfile.TemporaryDirectory(prefix="l4-readme-") as folder:
        done, text = report(l4, folder)
    expect.equal(done.status, 0, "exit")
    page = README.read_text(encoding="utf-8")
    block = BLOCK.search(page)
    if not expect.that(block, "README.md has a place for the report"):
        return expect.end()
    shown = f"```\n{text.rstrip()}\n```\n"
    if update:
        README.write_text(BLOCK.sub(lambda m: m[1] + shown + m[3], page), encoding="utf-8")
        print("README.md: report written")
        return expect.end()
    old, new = without_figures(block[2]), without_figures(shown)
    expect.that(old == new, "README.md shows today's report (else: readme.py L4 --update)",
                "\n".join(difflib.unified_diff(old, new, "README.md", "l4", lineterm="", n=0)))
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
