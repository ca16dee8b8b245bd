#!/usr/bin/env python3
"""No text in config/ is borrowed from one recorded failure: it names faults, not excerpts.

usage: borrowed.py [L4] [--all]

Prints each run of 40 characters or more that a line of config/ shares with a line of
../shared/data/real_logs/failures and that was not reviewed, and fails if there is one. Text that
programs print everywhere is allowed: borrowed_reviewed.txt beside this file holds such texts, one a
row, with the public source that has it behind a tab. A run counts as reviewed if what is left
beside reviewed texts is shorter than 40 characters. --all prints the reviewed ones too.
"""
import pathlib
import sys

import support

RUN = 40
REVIEWED = pathlib.Path(__file__).with_name("borrowed_reviewed.txt")


def windows_of(logs):
    """Every text of 40 characters in the logs."""
    found = set()
    for log in logs:
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
            found.update(line[i:i + RUN] for i in range(len(line) - RUN + 1))
    return found


def runs_of(line, windows):
    """The longest texts of the line that are made of such windows."""
    begin = 0
    while begin + RUN <= len(line):
        end = begin
        while end + RUN <= len(line) and line[end:end + RUN] in windows:
            end += 1
        if end > begin:
            run = line[begin:end + RUN - 1]
            if sum(char.isalnum() for char in run) > RUN // 4:  # a ruler is no text
                yield run
        begin = max(end, begin) + 1


def read_reviewed(expect):
    texts = []
    for number, row in enumerate(REVIEWED.read_text(encoding="utf-8").splitlines(), 1):
        if row.startswith("#") or not row.strip():
            continue
        text, _, source = row.partition("\t")
        expect.that(text and source.strip(), f"{REVIEWED.name}:{number}: a text, a tab, its source")
        texts.append(text)
    return sorted(texts, key=len, reverse=True)


def is_reviewed(run, texts):
    rest = [run]
    for text in texts:
        rest = [part for piece in rest for part in piece.split(text)]
    bare = run.strip(" '\"[],.")
    return all(len(part) < RUN for part in rest) or any(bare in text for text in texts)


def main():
    args = [arg for arg in sys.argv[1:] if arg != "--all"]
    if len(args) > 1:
        sys.exit("usage: borrowed.py [L4] [--all]")
    expect = support.Expectations("borrowed")
    windows = windows_of(sorted(support.shared("data", "real_logs", "failures").glob("*.log")))
    texts = read_reviewed(expect)
    seen = set()
    for file in sorted((support.ROOT / "config").rglob("*.toml")):
        lines = file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            for run in runs_of(line, windows):
                name = file.relative_to(support.ROOT)
                if not is_reviewed(run, texts):
                    expect.that(False, f"{name}:{number}: borrowed and not reviewed", run)
                elif run not in seen and "--all" in sys.argv:
                    print(f"reviewed {name}:{number}: {run}")
                seen.add(run)
    print(f"{len(seen)} texts of config/ stand in recorded failures")
    expect.that(windows, "there are recorded failures")
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
