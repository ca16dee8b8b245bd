#!/usr/bin/env python3
"""Jobs come, print, rotate their logs, fail or end well, and go, for as long as one likes.

usage: soak.py --bin FOLDER [--seconds 3600] [--seed N]

One agent, one aggregator. Some jobs run at a time, each in a folder of its own; every job prints
iterations, now and then new lines, and rotates; every fifth crashes; its folder is removed some
time after its end. Checked are: every line counted once; memory, open files and threads of both
programs in the last quarter as in the third; an incident for the jobs that crash and for no other.
Everything runs on loopback and stops by itself.
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "integration"), str(ROOT / "tests" / "live")]
sys.dont_write_bytecode = True

import linked_site  # noqa: E402

JOBS, RANKS = 4, 4
STEP_S = 0.1
ROTATE_EVERY = 60           # steps
STALE_STEPS = 120           # that a folder stays behind its job's end
HELD_S = 60                 # that the agent holds files open that are gone
# Jobs of an agent: fewer than the shortest run has, so the agent must begin anew without the idle
# ones while it holds their files. Lines beyond the bound count for its first job.
AGENT_JOBS = 24
GROWTH, GROWTH_MB = 1.05, 3  # of the medians of two quarters
CRASH_EVERY = 5


def name_of(number):
    return f"job-{number:04}"


class Job:
    def __init__(self, folder, number, dice, life):
        self.folder, self.number, self.dice = folder / name_of(number), number, dice
        self.crashes, self.ends, self.step, self.lines = number % CRASH_EVERY == 2, life, 0, 0
        self.folder.mkdir(parents=True)
        self.files = {}

    @property
    def over(self):
        return self.step >= self.ends

    def say(self, rank, text):
        path = self.folder / f"rank{rank}.log"
        if path not in self.files:
            self.files[path] = open(path, "a", encoding="utf-8")
        now = time.time()
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now)) + f",{int(now % 1 * 1000):03}"
        self.files[path].write(f"{stamp} {text}\n")
        self.lines += 1

    def go_on(self):
        self.step += 1
        for rank in range(RANKS):
            if self.step == 1:
                self.say(rank, "INFO before the start of training step")
            self.say(rank, f"INFO iteration {self.step}/{self.ends} | loss: "
                           f"{self.dice.random() * 3:.4f} | time per iteration (ms): 100.1")
            self.say(rank, f"INFO loader {rank} has batch {self.step} ready")
            if self.dice.random() < 0.05:
                words = ("".join(self.dice.choices("abcdefghijklmnop", k=7)) for _ in range(5))
                self.say(rank, f"INFO {' '.join(words)}")
        if self.over:
            self.end()
        for path, file in self.files.items():
            file.flush()
        if self.step % ROTATE_EVERY == 0 and not self.over:
            for path in list(self.files):
                self.files.pop(path).close()
                path.replace(path.with_name(path.name + ".1"))

    def end(self):
        if self.crashes:
            bad = self.dice.randrange(RANKS)
            self.say(bad, "ERROR RuntimeError: CUDA error: an illegal memory access")
            for rank in range(RANKS):
                if rank != bad:
                    self.say(rank, f"ERROR RuntimeError: [rank{rank}]: Connection closed by peer")
            self.say(bad, "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: "
                          f"1) local_rank: {bad} (pid: {4000 + bad}) of binary: /usr/bin/python3")
        else:
            for rank in range(RANKS):
                self.say(rank, "INFO [after training is done]")
                self.say(rank, "INFO exits successfully")

    def close(self):
        for file in self.files.values():
            file.close()
        shutil.rmtree(self.folder)


def sample(program):
    folder = pathlib.Path("/proc", str(program.process.pid))
    return (program.resident_mb(), len(os.listdir(folder / "fd")),
            len(os.listdir(folder / "task")))


def grown(samples, kind):
    """Medians of the third and of the last quarter."""
    values = [row[kind] for row in samples]
    quarter = max(1, len(values) // 4)
    return (statistics.median(values[2 * quarter:3 * quarter]),
            statistics.median(values[-quarter:]))


class Soak:
    def __init__(self, options, folder):
        self.options, self.wrong = options, []
        self.life = max(80, int(options.seconds / STEP_S / 40))
        most = int(options.seconds / STEP_S / self.life + 2) * JOBS
        settings = {"logs": {"sources": [str(folder / "jobs" / name_of(i)) for i in range(most)]},
                    "memory": {"jobs": AGENT_JOBS, "job_idle_s": max(5, options.seconds // 60)}}
        self.site = linked_site.Site(folder, options.bin, settings)
        with open(folder / "aggregator.toml", "a", encoding="utf-8") as file:
            file.write("[jobs]\ncloses_after_s = 20\nkeeps_for_s = 10\n"
                       "[detect]\nhang_floor_s = 5\n")
        self.folder, self.dice = folder / "jobs", random.Random(options.seed)
        self.folder.mkdir()
        self.jobs, self.ended, self.lines = [], [], 0
        self.crashed, self.made = set(), 0
        self.samples = {"agent": [], "aggregator": []}

    def that(self, good, what):
        if not good:
            self.wrong.append(what)
            print(f"FAILED {what}", flush=True)

    def step(self, make):
        while make and len(self.jobs) < JOBS:
            life = self.life + self.dice.randrange(self.life // 2)
            self.jobs.append(Job(self.folder, self.made, self.dice, life))
            self.made += 1
        for job in self.jobs:
            job.go_on()
        for job in [job for job in self.jobs if job.over]:
            self.jobs.remove(job)
            self.lines += job.lines
            if job.crashes:
                self.crashed.add(job.folder.name)
            self.ended.append([job, STALE_STEPS])
        for entry in self.ended:
            entry[1] -= 1
        for entry in [entry for entry in self.ended if entry[1] <= 0]:
            entry[0].close()
            self.ended.remove(entry)

    def counted(self):
        return sum(int(float(row.split()[1])) for row in self.site.metrics().splitlines()
                   if row.startswith("l4_aggregator_lines_total"))

    def found(self):
        """Jobs that have an incident."""
        jobs, after = set(), ""
        while after is not None:
            page = self.site.json(f"/api/v1/incidents?count=1000{after and '&after=' + after}")
            jobs |= {row["job"] for row in page.get("incidents", [])}
            after = page.get("next")
        return jobs

    def run(self):
        self.site.start_aggregator()
        linked_site.wait_for(self.site.metrics, 20)
        self.site.start_agent()
        began, steps = time.monotonic(), 0
        while (passed := time.monotonic() - began) < self.options.seconds or self.jobs:
            self.step(passed < self.options.seconds)
            steps += 1
            if steps % 10 == 0:
                for name in self.samples:
                    self.samples[name].append(sample(getattr(self.site, name)))
            time.sleep(max(0.0, began + steps * STEP_S - time.monotonic()))
        self.judge()

    def judge(self):
        linked_site.wait_for(lambda: self.counted() >= self.lines, 30)
        self.that(self.counted() == self.lines,
                  f"{self.counted()} lines counted of {self.lines} written")
        linked_site.wait_for(lambda: self.crashed <= set(self.found()), 30)
        found = self.found()
        self.that(self.crashed <= set(found),
                  f"jobs that crashed without an incident: {sorted(self.crashed - set(found))}")
        self.that(set(found) <= self.crashed,
                  f"incidents of jobs that are well: {sorted(set(found) - self.crashed)}")
        for name, samples in self.samples.items():
            for kind, what in enumerate(("MB resident", "open files", "threads")):
                before, after = grown(samples, kind)
                room = GROWTH_MB if kind == 0 else 2
                settled = kind != 1 or self.options.seconds >= 4 * HELD_S
                self.that(not settled or after <= before * GROWTH + room,
                          f"{name}: {what} went from {before:.1f} to {after:.1f}")
                print(f"{name:12} {what:12} {before:8.1f} in the third quarter, {after:.1f} in the "
                      "last", flush=True)
        for name in ("agent", "aggregator"):
            status = getattr(self.site, name).end(signal.SIGTERM)[0]
            self.that(status == 0, f"the {name} ended with {status}")
        print(f"{self.made} jobs, {len(self.crashed)} of them crashed, {self.lines} lines, "
              f"seed {self.options.seed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--bin", type=lambda text: pathlib.Path(text).resolve(), required=True)
    add("--seconds", type=int, default=3600)
    add("--seed", default=str(random.SystemRandom().randrange(1_000_000)))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="l4-soak-") as made:
        soak = Soak(options, pathlib.Path(made))
        try:
            soak.run()
        finally:
            soak.site.end()
    print("soak: FAILED" if soak.wrong else "soak: ok")
    return 1 if soak.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
