#!/usr/bin/env python3
"""Comments of the tree: those that are hard to read by a pattern, or a random sample for a reader.

usage: comments.py [--root FOLDER] [--only FOLDER]... [--sample N --seed S] [--list]

Without --sample: counts sentences of comments that begin with "Who", "Whose", "Of", "What", "That"
or "Which" (a heading such as "Which files a path holds." counts too), are of the form "It is ...
that", use "who" or "nobody" for a part of the program, or deny twice; --list prints them. The
pattern finds candidates: a person decides.
"""
import argparse
import ast
import pathlib
import random
import re
import sys

from layers import tracked

FIRST = re.compile(r"(?:Who|Whoever|Whose|Whom|Of|What|Which|That)\b|It is .* that\b")
WHO = re.compile(r"\b(?:who|whoever|whom|nobody|somebody)\b", re.I)
TWICE = re.compile(r"\b(?:not|no|never|nobody|nothing|none)\b[^.;:]*"
                   r"\b(?:not|no|never|nobody|nothing|none|without)\b", re.I)


def of_code(text):
    """(line, comment) for each block of comment lines and each comment behind code."""
    block, start = [], 0
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        match = re.match(r"///?<?\s?(.*)", bare)
        if match:
            start = start if block else number
            block.append(match.group(1))
            continue
        if block:
            yield start, " ".join(block)
            block = []
        behind = re.search(r"\s///?<?\s(.*)$", line)
        if behind and line[:behind.start()].count('"') % 2 == 0:
            block, start = [behind.group(1)], number
    if block:
        yield start, " ".join(block)


def of_script(text):
    """The same for scripts: docstrings and blocks of # lines."""
    try:
        nodes = ast.walk(ast.parse(text))
    except SyntaxError:     # no Python
        nodes = []
    for node in nodes:
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and \
                (docstring := ast.get_docstring(node)):
            yield node.body[0].lineno, re.sub(r"\s+", " ", docstring)
    block, start = [], 0
    for number, line in enumerate(text.splitlines() + [""], 1):
        match = re.match(r"\s*#(?!!)\s?(.*)", line)
        if match:
            start = start if block else number
            block.append(match.group(1))
        elif block:
            yield start, " ".join(block)
            block = []


def comments(root, only):
    for name in tracked(root):
        if only and not name.startswith(tuple(only)):
            continue
        if name.endswith((".h", ".cc")):
            reader = of_code
        elif name.endswith((".py", ".capnp", ".toml", ".cmake", "CMakeLists.txt")):
            reader = of_script
        else:
            continue
        text = (root / name).read_text(encoding="utf-8", errors="replace")
        for line, comment in reader(text):
            comment = comment.strip()
            if len(comment) > 12 and " " in comment and not comment.startswith("namespace "):
                yield f"{name}:{line}", comment


def hard(comment):
    kinds = set()
    for sentence in re.split(r"(?<=[.:;])\s+(?=[A-Z])", comment):
        if FIRST.match(sentence):
            kinds.add("first word")
        if WHO.search(sentence):
            kinds.add("who")
        if TWICE.search(sentence):
            kinds.add("denied twice")
    return kinds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parent.parent,
                        type=pathlib.Path)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    found = list(comments(arguments.root.resolve(), arguments.only))
    if arguments.sample:
        for place, comment in random.Random(arguments.seed).sample(found, arguments.sample):
            print(f"{place}\n    {comment}")
        return 0
    counts, any_kind = {}, 0
    for place, comment in found:
        kinds = hard(comment)
        any_kind += bool(kinds)
        for kind in kinds:
            counts[kind] = counts.get(kind, 0) + 1
        if kinds and arguments.list:
            print(f"{place}: {', '.join(sorted(kinds))}\n    {comment}")
    print(f"{len(found)} comments, {any_kind} with the pattern: " +
          ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
