#!/usr/bin/env python3
"""Writes numbered lines into logs that are rotated meanwhile, and keeps account of them.

    numbered_lines.py --files 8 --lines 2000000 --rate 20000 --out DIR --ledger FILE

Each log (DIR/rank0.log, ...) has lines with numbers of its own, 0 onwards without a gap. Logs are
rotated in turn by renaming (the writer goes on in the renamed file for up to --late-lines lines, as
programs do until they are told) and by copying and truncating (up to --between-lines lines are
written between the two: only they may be missing where everything else works). Rotated files are
kept unless --keep says how many.

The ledger is JSON, replaced as a whole each second and at the end: lines and bytes in all and per
file, those written between copying and truncating with their numbers, those in files that were
deleted, and `done`, false while it runs. SIGTERM and SIGINT end it early with a true ledger. With
--verify the files are read at the end: each line must stand there once, save those that the ledger
excuses; 1 is returned if not. Standard library only.
"""
import argparse
import collections
import errno
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sys
import tempfile
import time

LINE = ("{stamp} [INFO] rank {rank} numbered line {number:010d} loss {loss:.4f} of a log "
        "that grows\n")
NUMBER = re.compile(rb" numbered line (\d{10}) ")
CHUNK = 25  # lines of one write


class Log:
    """One log with its rotated files. `file` is open for appending, like a program's."""

    def __init__(self, folder, rank, options, dice):
        self.path = folder / f"rank{rank}.log"
        self.rank, self.options, self.dice = rank, options, dice
        self.lines = self.bytes = self.deleted = self.renames = self.copies = 0
        self.between = []   # [first, last] numbers, written between copying and truncating
        self.between_bytes = 0
        self.since = 0      # lines since it was rotated
        self.due = self._next_due()
        self.rotated = collections.deque()  # newest first: how many lines each of them has
        self.file = self._open()

    def _open(self):
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def _next_due(self):
        every = self.options.rotate_every
        return self.dice.randint(max(1, every // 2), every + every // 2) if every else 0

    def write(self, count):
        """Appends whole lines with one write."""
        now = time.time()
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now))
        stamp += f",{int(now * 1000) % 1000:03d}"
        text = "".join(
            LINE.format(stamp=stamp, rank=self.rank, number=number, loss=2 + number % 97 / 50)
            for number in range(self.lines, self.lines + count)).encode()
        rest = memoryview(text)
        while rest:
            try:
                rest = rest[os.write(self.file, rest):]
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                time.sleep(0.1)  # waits until there is room: the account stays true
        self.lines += count
        self.bytes += len(text)
        self.since += count
        return len(text)

    def rotate(self):
        """How many lines were written meanwhile."""
        before = self.lines
        for number in range(len(self.rotated), 0, -1):
            os.rename(f"{self.path}.{number}", f"{self.path}.{number + 1}")
        if self.dice.random() < self.options.copy_share:
            self._copy_and_truncate()
        else:
            self._rename()
        keep = self.options.keep
        while keep and len(self.rotated) > keep:
            os.unlink(f"{self.path}.{len(self.rotated)}")
            self.deleted += self.rotated.pop()
        self.due = self._next_due()
        return self.lines - before

    def _rename(self):
        os.rename(self.path, f"{self.path}.1")
        late = self._room(self.options.late_lines)
        if late:
            self.write(late)
        os.close(self.file)
        self.file = self._open()
        self.rotated.appendleft(self.since)
        self.since = 0
        self.renames += 1

    def _copy_and_truncate(self):
        shutil.copyfile(self.path, f"{self.path}.1")
        self.rotated.appendleft(self.since)
        between = self._room(self.options.between_lines)
        if between:
            self.between_bytes += self.write(between)
            self.between.append([self.lines - between, self.lines - 1])
        os.truncate(self.path, 0)
        self.since = 0
        self.copies += 1

    def _room(self, most):
        return min(self.dice.randint(0, most), self.options.lines_per_file - self.lines)

    def account(self):
        return {"lines": self.lines, "bytes": self.bytes,
                "between_lines": sum(last - first + 1 for first, last in self.between),
                "between_bytes": self.between_bytes, "between": self.between,
                "deleted_lines": self.deleted, "renames": self.renames, "copies": self.copies}

    def problems(self):
        """Compares the files' lines with the account."""
        seen = collections.Counter()
        for path in [self.path, *self.path.parent.glob(self.path.name + ".*")]:
            seen.update(int(match) for match in NUMBER.findall(path.read_bytes()))
        excused = {n for first, last in self.between for n in range(first, last + 1)}
        missing = [n for n in range(self.lines) if n not in seen and n not in excused]
        told = []
        if len(missing) != self.deleted:
            told.append(
                f"{self.path}: {len(missing)} lines are missing, {self.deleted} were deleted")
        if any(count > 1 for count in seen.values()):
            told.append(f"{self.path}: lines stand there twice")
        if excused & set(seen):
            told.append(f"{self.path}: lines that were truncated away stand there")
        if seen and max(seen) >= self.lines:
            told.append(f"{self.path}: line {max(seen)} was never written")
        return told


def save(ledger, logs, began, done):
    files = {log.path.name: log.account() for log in logs}
    total = {key: sum(account[key] for account in files.values())
             for key in ("lines", "bytes", "between_lines", "between_bytes", "deleted_lines",
                         "renames", "copies")}
    account = {**total, "seconds": round(time.monotonic() - began, 3), "done": done, "files": files}
    if ledger:
        fresh = ledger.with_name(ledger.name + ".new")
        fresh.write_text(json.dumps(account, indent=1) + "\n")
        os.replace(fresh, ledger)
    return account


def run(options, folder):
    stopped = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.append(True))
    dice = random.Random(options.seed)
    logs = [Log(folder, rank, options, random.Random(dice.random()))
            for rank in range(options.files)]
    began = saved = time.monotonic()
    written = 0
    open_logs = list(logs)
    while open_logs and not stopped:
        for log in list(open_logs):
            count = min(CHUNK, options.lines_per_file - log.lines)
            if count:
                log.write(count)
                written += count
            if log.due and log.since >= log.due:
                written += log.rotate()
            if log.lines >= options.lines_per_file:
                open_logs.remove(log)
        now = time.monotonic()
        if now - saved >= 1:
            save(options.ledger, logs, began, False)
            saved = now
        if options.rate and written / options.rate > now - began:
            time.sleep(min(1.0, written / options.rate - (now - began)))
    account = save(options.ledger, logs, began, not stopped)
    told = [row for log in logs for row in log.problems()] if options.verify else []
    for row in told:
        print(row, file=sys.stderr)
    print(json.dumps({key: value for key, value in account.items() if key != "files"}))
    return 1 if told else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    add = parser.add_argument
    add("--files", type=int, default=8)
    add("--lines", type=int, default=2_000_000, help="in all; a multiple of --files")
    add("--rate", type=float, default=0, help="lines a second in all; 0: as fast as it goes")
    add("--out", type=pathlib.Path, help="an empty folder; a temporary one if it is not given")
    add("--ledger", type=pathlib.Path)
    add("--rotate-every", type=int, default=20_000, help="lines of a log, about; 0: never")
    add("--copy-share", type=float, default=0.5, help="of rotations that copy and truncate")
    add("--between-lines", type=int, default=0, help="at most, between copying and truncating")
    add("--late-lines", type=int, default=5, help="at most, into a file that was renamed")
    add("--keep", type=int, default=0, help="rotated files of a log; 0: all")
    add("--seed", type=int, default=1)
    add("--verify", action="store_true")
    options = parser.parse_args()
    if options.files < 1 or options.lines % options.files:
        parser.error("--lines must be a multiple of --files")
    options.lines_per_file = options.lines // options.files
    if options.out is None:
        with tempfile.TemporaryDirectory(prefix="l4_numbered_") as folder:
            return run(options, pathlib.Path(folder))
    options.out.mkdir(parents=True, exist_ok=True)
    if any(options.out.iterdir()):
        parser.error(f"{options.out} is not empty")
    return run(options, options.out)


if __name__ == "__main__":
    sys.exit(main())
