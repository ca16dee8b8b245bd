"""Flow records: traces of ../shared/bench/flowgen.py, read by l4 flows and scored with their truth.

Place: a part of parts.py. A case is a row of one table and a seed: its trace is made, read by the
product and, where the row asks for it, by the published rules (--paper), scored and removed again,
since traces are large. What is kept are the sums that rows are added up from.
"""
import collections
import json
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

import flow_score
from work import BENCH, digest

LISTS = ("boundary", "duration", "delay in steps", "size of the answer set")
TWO_JOBS = "--servers 16 --jobs 2 --steps 60"
# Row -> options of flowgen, options of l4 flows.
RECORDS = {
    "every transfer": ("", ""),
    "two jobs on the same servers": ("--shared --servers 12", ""),
    "inactive 50 ms": ("--inactive .05", "--inactive .05"),
    "inactive 1 s, active 60 s": ("--inactive 1 --active 60", "--inactive 1 --active 60"),
    "active 1 s, inactive 15 s": ("--active 1 --inactive 15", "--active 1 --inactive 15"),
    "active 5 s, inactive 15 s": ("--active 5 --inactive 15", "--active 5 --inactive 15"),
    "active 60 s, inactive 15 s": ("--active 60 --inactive 15", "--active 60 --inactive 15"),
    "1 of 256 packets": ("--sample 256", "--sampled 256"),
    "1 of 1,024 packets": ("--sample 1024", "--sampled 1024"),
    "1 of 4,096 packets": ("--sample 4096", "--sampled 4096"),
    "1 % of datagrams lost": ("--loss .01", ""),
    "5 % of datagrams lost": ("--loss .05", ""),
    "20 % of datagrams lost": ("--loss .2", ""),
    "clocks 5 ms apart": ("--clock-ms 5", ""),
}
STYLES = ("ring", "tree", "hier", "zero1", "fsdp", "moe", "cp")
FAULTS = ("slow_gpu", "degraded_link", "congested_switch", "pause", "data_stall", "imbalance",
          "hang", "crash")
LARGE_JOBS = "--servers 16 --jobs 2 --job-servers 8"
SIZES = {"8 servers": f"{LARGE_JOBS} --steps 60",
         "2 to 4 servers": "--servers 8 --jobs 2 --steps 60"}


class Flows:
    """Scores of one program; traces from `seed` on, `traces` of them for each row."""

    def __init__(self, work, program, seed, traces):
        self.work, self.l4 = work, shlex.split(program.words)[0]
        self.seeds = range(seed, seed + traces)
        own = digest(BENCH / "flowgen.py", BENCH / "flow_score.py", __file__)
        self.key = f"flows-{program.key}-{own[:8]}"

    def tables(self):
        for row, (generate, read) in RECORDS.items():
            made = self._sums(f"{TWO_JOBS} {generate}", read)
            yield "flow records", row, quality(made)
        for row, generate in (("every transfer", ""), ("without probes", "--probes 0")):
            paper = self._sums(f"{TWO_JOBS} {generate}", "--paper")
            yield "flow records", f"{row}, --paper", quality(paper)
        for style in STYLES:
            generate = f"{LARGE_JOBS} --steps 40 --probes 0 --style {style}"
            yield "flow styles", style, by_style(self._sums(generate, ""),
                                                 self._sums(generate, "--paper"))
        for size, generate in SIZES.items():
            every = []
            for fault in FAULTS:
                every.append(self._sums(f"{generate} --fault {fault}", ""))
                yield "flow faults", f"{fault}, {size}", found(every[-1])
            yield "flow faults", f"all, {size}", found(added(every))

    def _sums(self, generate, read):
        return added([self.work.result(self.key, f"{generate} {seed} {read}",
                                       lambda seed=seed: self._one(generate, read, seed))
                      for seed in self.seeds])

    def _one(self, generate, read, seed):
        self.work.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="l4-flows-", dir=self.work.folder) as folder:
            run([sys.executable, BENCH / "flowgen.py", "--counters", "0", "--out", folder,
                 "--seed", str(seed), *generate.split()])
            folder, report = pathlib.Path(folder), pathlib.Path(folder, "report.json")
            run([self.l4, "flows", folder / "flows.csv", "--topology",
                 folder / "topology.json", "--format", "json", "--out", report, *read.split()])
            total = collections.defaultdict(int, {name: [] for name in LISTS})
            flow_score.score(json.loads((folder / "truth.json").read_text()),
                             json.loads(report.read_text()), total)
            return dict(total, traces=1)


def run(words):
    done = subprocess.run(list(map(str, words)), stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"{words[1]} ended with {done.returncode}: {done.stderr.decode()[-600:]}")


def added(sums):
    total = collections.defaultdict(int, {name: [] for name in LISTS})
    for one in sums:
        for name, value in one.items():
            total[name] += value
    return total


def of(total, what, every, scale=100.0):
    return f"{scale * total[what] / total[every]:.1f}" if total[every] else None


def percent(value):
    """A share in percent, with the figures that count."""
    return None if value is None else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def quality(total):
    boundary, duration = total["boundary"], total["duration"]
    return {"traces": total["traces"], "jobs right": f"{total['jobs right']} of {total['jobs']}",
            "labels right, %": of(total, "pairs right", "pairs"),
            "step ends off, median %": percent(flow_score.quantile(boundary, .5)),
            "p95 %": percent(flow_score.quantile(boundary, .95)),
            "lengths off, mean %": percent(statistics.fmean(duration) if duration else None),
            "no clock, of 1,000": of(total, "steps of NICs without a clock", "steps", 1000),
            "missed": of(total, "steps missed", "steps", 1000),
            "extra": of(total, "steps extra", "steps", 1000),
            "false alarms": of(total, "false alarms", "job steps", 1000)}


def by_style(ours, paper):
    return {"jobs": ours["jobs"], "labels right, %": of(ours, "pairs right", "pairs"),
            "--paper": of(paper, "pairs right", "pairs"),
            "missed, of 1,000": of(ours, "steps missed", "steps", 1000),
            "missed, --paper": of(paper, "steps missed", "steps", 1000),
            "lengths off, mean %": quality(ours)["lengths off, mean %"],
            "lengths, --paper": quality(paper)["lengths off, mean %"]}


def found(total):
    return {"faults": total["faults"], "found": total["faults found"],
            "right family": total["faults right family"], "right kind": total["faults right kind"],
            "placed": f"{total['faults placed']} of {total['faults with a place']}",
            "set, median": flow_score.quantile(total["size of the answer set"], .5),
            "delay, steps": percent(flow_score.quantile(total["delay in steps"], .5)),
            "false alarms, of 1,000 steps": of(total, "false alarms", "job steps", 1000)}
