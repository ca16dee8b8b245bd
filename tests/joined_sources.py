#!/usr/bin/env python3
"""Names the sources that a build joined, and those that it compiles alone.

usage: joined_sources.py BUILD [--whole]

Without --whole only those with a source, or with the header of one, that the newest commits
changed. Sources that others wrote (schemas, embedded files) are left out.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMITS = 10
MADE = (".capnp.c++", ".c", "web/assets.cc")


def changed():
    """Paths without their endings, from the root; None where git cannot tell."""
    done = subprocess.run(["git", "log", f"-n{COMMITS}", "--format=", "--name-only"], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    return {str(pathlib.PurePath(line).with_suffix("")) for line in done.stdout.split("\n")
            if line.endswith((".cc", ".h"))}


def members(file):
    """The sources that a joined one includes; of another itself."""
    if "Unity" not in file.parts:
        return [file]
    return [pathlib.Path(name) for name in re.findall(r'#include "(.*\.cc)"', file.read_text())]


def main():
    build = pathlib.Path(sys.argv[1])
    rows = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    wanted = None if "--whole" in sys.argv[2:] else changed()
    for row in rows:
        if row["file"].endswith(MADE):
            continue
        names = [str(path.resolve().relative_to(ROOT).with_suffix(""))
                 for path in members(pathlib.Path(row["file"]))
                 if path.resolve().is_relative_to(ROOT)]
        if wanted is None or wanted.intersection(names):
            print(row["file"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
