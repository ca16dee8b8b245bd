#!/usr/bin/env python3
"""Compiles sources one by one, without code generation and without precompiled headers.

usage: compile_alone.py BUILD FILE...

BUILD is a configured build that joins nothing; its compile_commands.json says how each FILE is
compiled. So a source that lives on the includes of a neighbour fails here. Prints what the compiler
says; ends with 1 if a file fails, with 2 if BUILD does not know it.
"""
import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def commands(build):
    """How each source is compiled: path from the root -> (folder, arguments)."""
    rows = json.loads((pathlib.Path(build) / "compile_commands.json").read_text(encoding="utf-8"))
    return {pathlib.Path(row["file"]).resolve().relative_to(ROOT).as_posix():
            (row["directory"], shlex.split(row["command"])) for row in rows
            if pathlib.Path(row["file"]).resolve().is_relative_to(ROOT)}


def syntax_only(arguments):
    """The same command without an output; a compiler cache in front is left out."""
    kept, skip = [], False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in ("-o", "-MF", "-MT", "-MQ"):
            skip = True
        elif argument not in ("-c", "-MD", "-MMD") and not argument.endswith("ccache"):
            kept.append(argument)
    return [*kept, "-fsyntax-only"]


def main():
    known = commands(sys.argv[1])
    failed = 0
    for name in sys.argv[2:]:
        if name not in known:
            print(f"{name}: {sys.argv[1]} does not compile it")
            return 2
        folder, arguments = known[name]
        if subprocess.run(syntax_only(arguments), cwd=folder, check=False).returncode != 0:
            print(f"{name}: does not compile alone")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
