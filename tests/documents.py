#!/usr/bin/env python3
"""Names in documents and comments must exist: paths, types, links, sections of documents.

usage: documents.py [--root FOLDER]

Checks README.md, CONTRIBUTING.md and all documents below docs, samples, bench and tests:
- a word in backticks that looks like a path of the tree is one, whole or as its end
  (`job/view.h` is aggregator/job/view.h); words in capitals stand for any name;
- a word in backticks such as `job::JobView` is declared in a source of a room of that name;
- a relative link leads to a file, and to a heading if it names one;
and in code and scripts, that a cited document exists and has the cited section
(docs/DESIGN.md, "Report"); and every thread that a source names stands in docs/ARCHITECTURE.md.
Prints a row FILE:LINE: REASON for each violation, ends with 1 if any.
"""
import argparse
import fnmatch
import pathlib
import re
import sys

from layers import tracked

CODE = (".h", ".cc", ".py", ".toml", ".capnp", ".yaml", ".in", ".conf", ".cmake", ".txt")
PATH = re.compile(r"(?:[\w.*@-]+/)+[\w.*@-]*\w[\w.*@-]*/?|[\w-]+\.(?:h|cc|py|md|capnp)")
ENDINGS = re.compile(r"\.(?:h|cc|py|md|capnp|toml|yaml|json)$")
TYPE = re.compile(r"((?:[a-z_]\w*::)+)(~?\w+(?:::\w+)*)(?:\(\))?")
LINK = re.compile(r"\]\(([^)\s]*)\)")
CITED = re.compile(r'([\w./-]*\b[\w-]+\.md)(?:,?\s+(?:///?|#)?\s*"([^"]+)")?')
THREAD = re.compile(r'\bstart_thread\(\s*"([^"]+)"')
OTHER_NAMESPACES = ("std::", "boost::", "zmq::", "kj::", "capnp::")


def slug(title):
    """The anchor of a heading, as GitHub and GitLab make it."""
    title = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", title.strip())
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


class Documents:
    def __init__(self, root):
        self.root, self.found = root, []
        self.names = tracked(root)
        self.files = set(self.names)
        self.folders = {str(p) for n in self.names for p in pathlib.PurePosixPath(n).parents}
        self.tops = {n.split("/")[0] for n in self.names if "/" in n}
        self.texts, self.headings = {}, {}

    def read(self, name):
        if name not in self.texts:
            self.texts[name] = (self.root / name).read_text(encoding="utf-8", errors="replace")
        return self.texts[name]

    def headings_of(self, name):
        if name not in self.headings:
            self.headings[name] = [m.group(1).strip() for m in
                                   re.finditer(r"^#+ +(.*)$", self.read(name), re.M)]
        return self.headings[name]

    def say(self, name, line, reason):
        self.found.append((name, line, reason))

    def run(self):
        for name in self.names:
            if name.endswith(".md"):
                self.document(name)
            elif name.endswith(CODE) and not name.startswith(("samples/", "tests/layers")):
                self.citations(name)
                if name.endswith(".cc") and not name.startswith("tests/"):
                    self.threads(name)

    def document(self, name):
        fenced = False
        for number, line in enumerate(self.read(name).splitlines(), 1):
            if line.startswith("```"):
                fenced = not fenced
            if fenced:
                continue
            for word in re.findall(r"`([^`]+)`", line):
                self.word(name, number, word)
            for target in LINK.findall(line):
                self.link(name, number, target)

    def word(self, name, number, word):
        if (match := TYPE.fullmatch(word)) and not word.startswith(OTHER_NAMESPACES):
            if not self.declared(match.group(1), match.group(2).lstrip("~")):
                self.say(name, number, f"`{word}` is declared nowhere")
        elif PATH.fullmatch(word) and self.is_ours(word) and not self.exists(name, word):
            self.say(name, number, f"`{word}` is no path of the tree")

    def is_ours(self, word):
        top = word.split("/")[0]
        if top == "..":
            return False
        return (top in self.tops and top != "build") or \
            (ENDINGS.search(word) and top not in ("build", "lib", "usr", "etc", "var"))

    def exists(self, name, word):
        word = re.sub(r"(?<![A-Za-z])[A-Z]{3,}(?![A-Za-z])", "*", word.rstrip("/"))
        beside = str(pathlib.PurePosixPath(name).parent / word)
        for whole in (word, beside, f"*/{word}"):
            if any(fnmatch.fnmatchcase(n, whole) for n in self.files | self.folders):
                return True
        return False

    def declared(self, spaces, rest):
        """Whether the type is declared in a source below a folder with the room's name; l4 itself
        is common/base."""
        folder = spaces.rstrip(":").split("::")[-1]
        words = rest.split("::")
        for file in self.names:
            if not file.endswith((".h", ".cc")) or file.startswith("tests/"):
                continue
            parts = file.split("/")[:-1]
            ours = folder == "l4" and parts[:2] == ["common", "base"]
            if (ours or folder in parts or f"namespace l4::{folder}" in self.read(file)) and \
                    all(re.search(rf"\b{w}\b", self.read(file)) for w in words):
                return True
        return False

    def link(self, name, number, target):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", path):
            return
        file = name if not path else \
            str((self.root / name).parent.joinpath(path).resolve().relative_to(self.root))
        if file not in self.files and file not in self.folders:
            self.say(name, number, f"a link to {target}: no such file")
        elif anchor and file.endswith(".md") and \
                anchor not in [slug(h) for h in self.headings_of(file)]:
            self.say(name, number, f"a link to {target}: no such heading")

    def threads(self, name):
        for match in THREAD.finditer(self.read(name)):
            if f"| `{match.group(1)}" not in self.read("docs/ARCHITECTURE.md"):
                self.say(name, self.read(name).count("\n", 0, match.start()) + 1,
                         f"the thread {match.group(1)} is missing in docs/ARCHITECTURE.md")

    def citations(self, name):
        text = self.read(name)
        for match in CITED.finditer(text):
            file, title = match.group(1).strip("./"), match.group(2)
            title = re.sub(r"\s+(?:///?|#)?\s*", " ", title) if title else None
            number = text.count("\n", 0, match.start()) + 1
            found = [n for n in self.files if n == file or n.endswith("/" + file)]
            if not found:
                self.say(name, number, f"cites {file}, which is not in the tree")
            elif title and file.startswith("docs/") and title not in \
                    [re.sub(r"`", "", h) for h in self.headings_of(found[0])]:
                self.say(name, number, f'{file} has no section "{title}"')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parent.parent,
                        type=pathlib.Path)
    check = Documents(parser.parse_args().root.resolve())
    check.run()
    for name, line, reason in sorted(set(check.found)):
        print(f"{name}:{line}: {reason}")
    count = len(set(check.found))
    print(f"documents: {count} violations" if count else "documents: as they should be")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
