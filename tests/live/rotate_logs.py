"""Rotates the logs of a job of ../shared/lab while it runs, and joins each log's texts afterwards.

The lab's writers keep what they opened: after a rename they go on in the renamed file, after
copying and truncating, in the truncated one; those that do not append leave a hole before it.
Standard library only.
"""
import os
import pathlib
import random
import threading


class Rotator(threading.Thread):
    """Every `every_s` one log of the folder is renamed (once) or copied and truncated."""

    def __init__(self, folder, seed, every_s=1.5):
        super().__init__(daemon=True)
        self.folder, self.every_s = pathlib.Path(folder), every_s
        self.random = random.Random(seed)
        self.done = threading.Event()
        self.renamed, self.count = set(), 0

    def run(self):
        while not self.done.wait(self.every_s):
            logs = sorted(file for file in self.folder.rglob("*.log")
                          if file.stat().st_size > 4096 and file not in self.renamed)
            if logs:
                self.rotate(self.random.choice(logs))

    def rotate(self, file):
        """file.2 becomes file.3, file.1 becomes file.2, file becomes file.1."""
        pieces = sorted(file.parent.glob(file.name + ".*"),
                        key=lambda piece: -int(piece.name.rsplit(".", 1)[1]))
        for piece in pieces:
            number = int(piece.name.rsplit(".", 1)[1])
            piece.rename(file.with_name(f"{file.name}.{number + 1}"))
        first = file.with_name(file.name + ".1")
        if self.random.random() < 0.3:
            file.rename(first)
            self.renamed.add(file)
        else:
            with open(file, "r+b") as log, open(first, "wb") as copy:
                while piece := log.read():      # what comes after the last look may be lost
                    copy.write(piece)
                    copy.flush()
                log.truncate(0)
        self.count += 1

    def end(self):
        self.done.set()
        self.join()


def join_pieces(rotated, whole):
    """The texts of the logs of a folder as if they had not been rotated."""
    for file in sorted(rotated.rglob("*.log*")):
        if not file.is_file():
            continue
        name = file.name[:file.name.index(".log") + 4]
        target = whole / file.relative_to(rotated).with_name(name)
        if target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        pieces = sorted(file.parent.glob(name + "*"),
                        key=lambda piece: -int(piece.name[len(name) + 1:] or "0"))
        with open(target, "wb") as out:
            for piece in pieces:
                out.write(piece.read_bytes().lstrip(b"\0"))
        newest = max(piece.stat().st_mtime for piece in pieces)
        os.utime(target, (newest, newest))
