#!/usr/bin/env python3
"""Compiles sources one by one, without code generation.

usage: compile_alone.py [--bare] BUILD FILE...
  --bare   without the precompiled standard headers, which takes twice as long

BUILD is a configured build that joins nothing; its compile_commands.json says how each FILE is
compiled. So a source that lives on the includes of a neighbour fails here; with --bare also one
that forgets a standard header. Prints what the compiler says; ends with 1 if a file fails, with 2
if BUILD does not know it.
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


def syntax_only(arguments, bare):
    """The same command without an output; a compiler cache in front is left out."""
    kept, skip = [], False
    for place, argument in enumerate(arguments):
        if skip:
            skip = False
        elif argument in ("-o", "-MF", "-MT", "-MQ"):
            skip = True
        elif bare and argument == "-Xclang":
            # "-Xclang -include-pch -Xclang FILE" and "-Xclang -include -Xclang FILE"
            option = arguments[place + 1]
            skip = "cmake_pch" in option or option.startswith("-include")
            if not skip:
                kept.append(argument)
        elif argument not in ("-c", "-MD", "-MMD") and not argument.endswith("ccache"):
            kept.append(argument)
    return [*kept, "-fsyntax-only"]


def main():
    arguments = sys.argv[1:]
    bare = "--bare" in arguments[:1]
    build, *names = arguments[bare:]
    known = commands(build)
    failed = 0
    for name in names:
        if name not in known:
            print(f"{name}: {build} does not compile it")
            return 2
        folder, command = known[name]
        if subprocess.run(syntax_only(command, bare), cwd=folder, check=False).returncode != 0:
            print(f"{name}: does not compile alone")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
