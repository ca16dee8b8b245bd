#!/usr/bin/env python3
"""The alert and the report in README.md are those of l4 on the sample, except for their figures.

usage: readme.py L4 [--update]      --update writes those of today into README.md
"""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import support

README = support.ROOT / "README.md"
NAMES = ("demo", "report")


def report(l4, folder):
    """The sample as a fresh clone has it: all files of the same time, long after the job."""
    copy = pathlib.Path(folder, "crash-rank4")
    shutil.copytree(support.SAMPLE, copy, copy_function=shutil.copy)
    done = l4.run("diagnose", copy, stdin=b"")
    return done, done.stdout.decode("utf-8")


def alert(l4, folder):
    """What the demo prints of its alert, at the speed of the recording."""
    done = subprocess.run([l4.binary, "demo"], stdin=subprocess.DEVNULL, capture_output=True,
                          env={**os.environ, "TMPDIR": str(folder)}, text=True, timeout=100,
                          check=False)
    found = re.search(r"^ALERT .*?(?=\n\n)", done.stdout, re.S | re.M)
    return done.returncode, found.group(0) if found else ""


def without_figures(text):
    """Numbers and line breaks may differ."""
    return [re.sub(r"[0-9]+", "0", line).rstrip() for line in text.splitlines()]


def block(name):
    return re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- /{name} -->)", re.S)


def main():
    update = "--update" in sys.argv[2:]
    l4, expect = support.start(sys.argv, "readme")
    with tempfile.TemporaryDirectory(prefix="l4-readme-") as folder:
        done, text = report(l4, folder)
        status, told = alert(l4, folder)
    expect.equal((done.status, status), (0, 0), "exit")
    page = README.read_text(encoding="utf-8")
    for name, printed in zip(NAMES, (told, text)):
        found = block(name).search(page)
        if not expect.that(found, f"README.md has a place for the {name}"):
            continue
        shown = f"```\n{printed.rstrip()}\n```\n"
        if update:
            page = block(name).sub(lambda m, text=shown: m[1] + text + m[3], page)
            continue
        old, new = without_figures(found[2]), without_figures(shown)
        expect.that(old == new, f"README.md shows today's {name} (else: readme.py L4 --update)",
                    "\n".join(difflib.unified_diff(old, new, "README.md", "l4", lineterm="", n=0)))
    if update:
        README.write_text(page, encoding="utf-8")
        print("README.md: written")
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
