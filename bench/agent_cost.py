#!/usr/bin/env python3
"""Cost of l4-agent: share of a core, memory and bytes on the wire while 8 files grow, and idle.

usage: agent_cost.py [--bin FOLDER] [--mb-per-s 10] [--seconds 60] [--files 8] [--idle 60]
                     [--logs FOLDER] [--rotate S] [--check] [--brief]

Writes lines of real logs at a steady rate into files that l4-agent follows, with l4_count_server as
its aggregator, then nothing. Processor time is counted by the kernel, without the first 10 s, so
other load on the machine matters little; "x grep" is its ratio to the time of `grep -c ERROR` on
the same lines. Without --logs the lines are those of ../shared/bench/mixed_lines.py: many
templates, hardly a line that repeats. --logs takes the lines of a folder instead, files in turn,
again and again. --check ends with 1 beyond the bounds that must hold (3 % and 32 MB at 10 MB/s, 1 %
of the bytes on the wire, idle .1 %). --brief takes a minute and checks what does not depend on the
build and on how busy the machine is: memory, bytes on the wire, every byte counted.
"""
import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "integration"))
sys.dont_write_bytecode = True

import live  # noqa: E402
import support  # noqa: E402

WARM_S = 10
STEP_S = 0.02           # each file is written to so often
HEARTBEAT_MS = 3000     # as the aggregator ships
POOL_MB = 160           # lines to write; then from the beginning
BOUNDS = {"busy %": 3.0, "resident MB": 32.0, "wire %": 1.0, "idle %": 0.1}
BRIEF = ("resident MB", "wire %")


def mixed_lines(folder, files):
    pool = POOL_MB // files
    subprocess.run([sys.executable, support.shared("bench", "mixed_lines.py"), folder / "mixed",
                    str(pool * files), "--files", str(files)], check=True,
                   stdout=subprocess.DEVNULL)
    return [(folder / f"mixed.{i}").read_bytes() for i in range(files)]


def lines_of(logs, files):
    """The files of a folder, divided into so many pools."""
    pools = [bytearray() for _ in range(files)]
    for i, path in enumerate(sorted(p for p in logs.rglob("*") if p.is_file())):
        text = path.read_bytes()
        pool = pools[i % files]
        if len(pool) + len(text) <= POOL_MB * 1_000_000 // files:
            pool += text if text.endswith(b"\n") else text + b"\n"
    if not all(pools):
        sys.exit(f"{logs}: fewer files than {files}")
    return [bytes(pool) for pool in pools]


def grep_ns(folder, pools):
    """Time of `grep -c ERROR` for a byte of the same lines, in one pass."""
    text = folder / "text"
    text.write_bytes(b"".join(pools))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["grep", "-c", "ERROR", text], env={**os.environ, "LC_ALL": "C"},
                   stdout=subprocess.PIPE, check=False)  # into /dev/null it stops at the first
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    size = text.stat().st_size
    text.unlink()
    return 1e9 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / size


class Feed:
    """Writes whole lines at a steady rate, each file in turn."""

    def __init__(self, folder, pools, rate, rotate_s):
        self.paths = [folder / f"rank{i}.log" for i in range(len(pools))]
        folder.mkdir(exist_ok=True)
        self.files = [open(path, "ab", buffering=0) for path in self.paths]
        self.pools, self.at, self.rate = pools, [0] * len(pools), rate
        self.rotate_s, self.rotated, self.written = rotate_s, time.monotonic(), 0

    def write(self, seconds):
        began, before = time.monotonic(), self.written
        while (passed := time.monotonic() - began) < seconds:
            due = before + passed * self.rate
            while self.written < due:
                for i in range(len(self.files)):
                    self.some(i, max(1, int(self.rate * STEP_S / len(self.files))))
            if self.rotate_s and time.monotonic() - self.rotated > self.rotate_s:
                self.rotate()
            time.sleep(STEP_S)

    def some(self, i, size):
        pool, at = self.pools[i], self.at[i]
        end = pool.find(b"\n", min(at + size, len(pool) - 1)) + 1 or len(pool)
        self.files[i].write(pool[at:end])
        self.written += end - at
        self.at[i] = 0 if end >= len(pool) else end

    def rotate(self):
        self.rotated = time.monotonic()
        for i, path in enumerate(self.paths):
            path.rename(f"{path}.1")
            self.files[i].close()
            self.files[i] = open(path, "ab", buffering=0)


def measure(options, folder):
    pools = lines_of(options.logs, options.files) if options.logs else mixed_lines(folder,
                                                                                   options.files)
    site = live.Site(folder, options.bin)
    try:
        site.enrol("node-a")
        site.start_server("--heartbeat-ms", HEARTBEAT_MS)
        site.config("node-a")
        feed = Feed(site.logs, pools, options.mb_per_s * 1e6, options.rotate)
        agent = site.start_agent("node-a")
        feed.write(WARM_S)
        if agent.process.poll() is not None:
            sys.exit(f"the agent has ended: {agent.said().strip()}")
        before, cpu, began = feed.written, agent.cpu_s(), time.monotonic()
        wire = site.counts().get("wire_bytes", 0)
        feed.write(options.seconds)
        seconds, used = time.monotonic() - began, agent.cpu_s() - cpu
        wrote, resident = feed.written - before, agent.resident_mb()
        live.wait_for(lambda: site.counts()["bytes"] >= feed.written, 60)
        wire = site.counts()["wire_bytes"] - wire
        figures = {"MB/s": wrote / seconds / 1e6, "busy %": 100 * used / seconds,
                   "ns a byte": 1e9 * used / wrote,
                   "x grep": 1e9 * used / wrote / grep_ns(folder, pools), "resident MB": resident,
                   "wire %": 100 * wire / wrote,
                   "bytes missing": feed.written - site.counts()["bytes"]}
        time.sleep(5)
        cpu, began = agent.cpu_s(), time.monotonic()
        time.sleep(options.idle)
        figures["idle %"] = 100 * (agent.cpu_s() - cpu) / (time.monotonic() - began)
        return figures
    finally:
        site.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--bin", type=lambda text: pathlib.Path(text).resolve(),
        default=ROOT / "build" / "release" / "bin")
    add("--mb-per-s", type=float, default=10)
    add("--seconds", type=float, default=60)
    add("--files", type=int, default=8)
    add("--idle", type=float, default=60)
    add("--logs", type=pathlib.Path)
    add("--rotate", type=float, default=0, help="seconds between rotations by renaming")
    add("--check", action="store_true")
    add("--brief", action="store_true")
    options = parser.parse_args()
    if options.brief:
        options.seconds, options.idle, options.check = 15, 3, True
    with tempfile.TemporaryDirectory(prefix="l4-cost-") as folder:
        figures = measure(options, pathlib.Path(folder))
    bounds = {name: most for name, most in BOUNDS.items() if not options.brief or name in BRIEF}
    beyond = [name for name, most in bounds.items() if figures[name] > most]
    for name, value in figures.items():
        bound = f"   asked: <= {bounds[name]}" if name in bounds else ""
        print(f"{name:14} {value:12.3f}{bound}{'   MISSED' if name in beyond else ''}")
    if figures["bytes missing"] != 0:
        print("not every byte was counted")
        return 1
    return 1 if options.check and beyond else 0


if __name__ == "__main__":
    sys.exit(main())
