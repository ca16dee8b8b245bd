#!/usr/bin/env python3
"""The clock of a host is set back or on by an hour while a job is watched.

usage: odd_clocks.py L4

l4-aggregator, l4-agent and the ranks' log lines follow a clock of their own
(tests/tools/host_clock); it is set back, or on, for the agent's host, for the aggregator's, and for
both. That must not look like a failure, each line is counted once, and when the ranks fall silent
afterwards the job is found hung as quickly as with a steady clock.
"""
import concurrent.futures
import datetime
import pathlib
import signal
import struct
import sys
import tempfile
import threading
import time

import support

sys.path.insert(0, str(support.ROOT / "tests" / "live"))

import linked_site  # noqa: E402

HOUR = 3600
FLOOR_S = 4
PACE_S = 0.2
BEFORE_S, AFTER_S = 12, 10
TOLD_S = 12
RANKS = 4


class HostClock:
    """The wall clock of programs that run under it; their monotonic clock stays."""

    def __init__(self, file, library):
        self.file, self.library, self.offset = file, library, 0
        self.file.write_bytes(bytes(8))

    def set(self, offset):
        self.offset = offset
        with open(self.file, "r+b", buffering=0) as file:
            file.write(struct.pack("=q", offset))

    def environment(self):
        return {"LD_PRELOAD": str(self.library), "L4_HOST_CLOCK": str(self.file)}

    def stamp(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        now += datetime.timedelta(seconds=self.offset)
        return now.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


class Ranks(threading.Thread):
    """Iteration lines of a synchronous job, until it is told to fall silent."""

    def __init__(self, folder, clock):
        super().__init__(daemon=True)
        self.clock, self.over, self.lines = clock, threading.Event(), 0
        folder.mkdir(parents=True, exist_ok=True)
        self.paths = [folder / f"rank{rank}.log" for rank in range(RANKS)]

    def run(self):
        files = [open(path, "a", encoding="utf-8") for path in self.paths]
        iteration = 0
        while not self.over.wait(PACE_S):
            iteration += 1
            for file in files:
                file.write(f"[{self.clock.stamp()}] iteration {iteration}/ 100000 | elapsed time "
                           f"per iteration (ms): {PACE_S * 1000:.1f} | lm loss: 2.31E+00 |\n")
                file.flush()
                self.lines += 1
        for file in files:
            file.close()

    def fall_silent(self):
        self.over.set()
        self.join()


def watch(expect, binaries, agent_jumps, aggregator_jumps, offset):
    who = ["the agent's clock"] * agent_jumps + ["the aggregator's clock"] * aggregator_jumps
    what = f"{' and '.join(who)} by {offset:+d} s"
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        library = binaries / "libl4_host_clock.so"
        clocks = [HostClock(folder / name, library) for name in ("agent.clock", "aggregator.clock")]
        site = linked_site.Site(folder, binaries)
        with open(folder / "aggregator.toml", "a", encoding="utf-8") as file:
            file.write(f"[detect]\nhang_floor_s = {FLOOR_S}\nhang_confirm_s = {2 * FLOOR_S}\n")
        ranks = Ranks(site.logs, clocks[0])
        try:
            site.start_aggregator(clocks[1].environment())
            expect.that(linked_site.wait_for(site.metrics, 20), "the aggregator answers",
                        site.aggregator.said()[-300:])
            site.start_agent(clocks[0].environment())
            ranks.start()
            expect.that(linked_site.wait_for(site.covered, 20), f"{what}: lines are counted", 0)
            time.sleep(BEFORE_S)
            for clock, jumps in zip(clocks, (agent_jumps, aggregator_jumps)):
                clock.set(offset if jumps else 0)
            for _ in range(AFTER_S):
                time.sleep(1)
                row = site.job()
                if row.get("incident") or row.get("suspect"):
                    break
            expect.that(row.get("id") and not row.get("incident") and not row.get("suspect"),
                        f"{what}: the job goes on", row)
            waiting = ranks.lines - site.covered()
            expect.that(waiting <= 5 * RANKS / PACE_S, f"{what}: lines are shipped", waiting)
            ranks.fall_silent()
            began = time.monotonic()
            hung = linked_site.wait_for(lambda: site.job().get("state") == "hung", 4 * FLOOR_S)
            print(f"{what}: hung {time.monotonic() - began:.1f} s after the last line")
            expect.that(hung, f"{what}: then silence is a hang", site.job())
            expect.equal(site.settled(ranks.lines, 10), ranks.lines, f"{what}: lines counted")
            said = "was set back by 1 h" if offset < 0 else "was set on by 1 h"
            told = linked_site.wait_for(lambda: site.aggregator.said().count(said),
                                        TOLD_S * aggregator_jumps)
            expect.equal(told, aggregator_jumps, f"{what}: told")
            for program in (site.agent, site.aggregator):
                expect.equal(program.end(signal.SIGTERM)[0], 0, f"{what}: exit")
        finally:
            ranks.over.set()
            site.end()


def main():
    l4, expect = support.start(sys.argv, "odd_clocks")
    binaries = pathlib.Path(l4.binary).resolve().parent
    with concurrent.futures.ThreadPoolExecutor(3) as several:
        runs = [several.submit(watch, expect, binaries, *jumps, offset)
                for offset in (-HOUR, HOUR) for jumps in ((1, 1), (1, 0), (0, 1))]
        for run in runs:
            run.result()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
