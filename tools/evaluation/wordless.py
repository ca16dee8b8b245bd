#!/usr/bin/env python3
"""Labelled jobs with faults that no line words, in the layout of ../shared/bench/casegen.py.

usage: wordless.py --out DIR [--cases 60] [--first 0] [--seed 1] [--healthy SHARE] [--kind KIND]

Five kinds of fault, one after the other:
  count   a line that all nodes print at some rate comes more often, or less, on one node
  stop    one node no longer prints a line that all print, while it trains on
  phase   a timer that one rank prints grows; all steps take longer, or none where it is hidden
  late    the first lines of one rank come tens of seconds to minutes behind the others'
  order   one rank prints the lines of a step in another order, or saves before it evaluates
Each job ends well, is looked at while it runs, or falls silent. Case N depends on seed and N
alone; the same seed gives the same bytes. `--healthy 1` makes the same jobs without their fault.
Layout and truth.json are those of the benchmark (its README); `wordless` in truth.json says what
was done.
Score with named.py, places alone also with ../shared/bench/score.py.
"""
import argparse
import json
import os
import random
import sys

import made
import styles

KINDS = ("count", "stop", "phase", "late", "order")
ENDS = (("well", 0.35), ("running", 0.35), ("silent", 0.30))
LINES_MAX = 60000           # lines of a job, about
SCOPES = {"count": "single_node", "stop": "single_node", "phase": "single_rank",
          "late": "single_rank", "order": "single_rank"}
QUIET_RANKS = 0.4           # share of the jobs of which most ranks print no line in a step


def write_logs(folder, run, marked=None):
    """One file per rank with the time of its last line -> (lines, bytes)."""
    run.sort()
    lines_of_all, bytes_of_all = 0, 0
    for speaker, lines in zip(run.speakers, run.lines):
        name = os.path.join(speaker.host, f"rank{speaker.rank}.log")
        os.makedirs(os.path.join(folder, speaker.host), exist_ok=True)
        data = "".join(line[2] + "\n" for line in lines).encode()
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
        when = run.epoch + (lines[-1][0] if lines else 0)
        os.utime(os.path.join(folder, name), (when, when))
        lines_of_all, bytes_of_all = lines_of_all + len(lines), bytes_of_all + len(data)
        if marked is not None:
            marked.extend((name, k + 1) for k, line in enumerate(lines) if line[3])
    return lines_of_all, bytes_of_all


class Case:
    """Chooses one job and its fault, says it, writes it with its truth."""

    def __init__(self, number, seed, healthy, only_kind=None):
        self.rng = random.Random(f"wordless/{seed}/{number}")
        self.number, self.seed, self.fault_kind = number, seed, only_kind or KINDS[number % 5]
        self.healthy = self.rng.random() < healthy

    # ---- choices ------------------------------------------------------------------------------
    def choose(self):
        rng = self.rng
        self.nodes = rng.choice((4, 6, 8, 12, 16, 24, 32, 48, 64))
        self.per_node = rng.choice((1, 2, 4, 8))
        while self.nodes * self.per_node > 192:
            self.per_node //= 2
        self.epoch = 1700000000 + rng.randrange(0, 60000000) + rng.random()
        self.ends = rng.choices([e[0] for e in ENDS], [e[1] for e in ENDS])[0]
        self.runs = rng.choice((0, 1, 2, 2, 3, 3))
        every_style, clockwork = styles.load()
        usable = [s for s in every_style if s.stamped or self.fault_kind != "late"]
        style = rng.choice(usable)
        rows = self._step_rows(style)
        n_ranks = self.nodes * self.per_node
        self.count = rng.randrange(40, 141)
        self.count = max(30, min(self.count, LINES_MAX // max(1, n_ranks * len(rows))))
        self.kind = self._kind(style, rows, clockwork)
        self.fault = self._fault()

    def _step_rows(self, style):
        """All lines of a step, or its timers are left out where the fault does not need them."""
        quiet = self.fault_kind in ("count", "stop", "late") and self.rng.random() < QUIET_RANKS
        if quiet:
            return tuple(row for row in style.step if row[1] != "all")
        return style.step

    def _kind(self, style, rows, clockwork):
        rng = self.rng
        step_s = round(10 ** rng.uniform(-0.1, 0.9), 2)
        data, comm, opt = rng.uniform(.02, .1), rng.uniform(.05, .2), rng.uniform(.02, .08)
        fwd = (1 - data - comm - opt) * rng.uniform(.28, .36)
        shares = {"data": data, "comm": comm, "opt": opt, "fwd": fwd,
                  "bwd": 1 - data - comm - opt - fwd}
        jitter = {"data": rng.uniform(.05, .35), "comm": .1, "opt": rng.uniform(.02, .1),
                  "fwd": rng.uniform(.01, .04), "bwd": rng.uniform(.01, .04)}
        span = step_s * self.count
        picked = rng.sample(clockwork, rng.randrange(4, 9))
        lines = [made.Clockwork(level, text, span / rng.uniform(3, 80), rng.random() < 0.6,
                                rng.choice(("lead", "lead", "all", "any")),
                                rng.choice((0.0, 0.0, 0.2, 0.6)))
                 for level, text in picked]
        every = rng.choice((0, 5, 10, 20, 25))
        swap = self.fault_kind == "order" and rng.random() < 0.35
        if swap:
            every = max(3, self.count // rng.randrange(10, 16))
        return made.Kind(
            style, lines, step_s, shares, jitter, rows,
            rng.choices(("r0", "last", "lead", "all"), (3, 2, 2, 3))[0],
            rng.choice((0.3, 1.2, 2.5, 6.0, 9.5)), every, every if swap else
            rng.choice((0, 10, 20, 30)), rng.uniform(1, 12), rng.uniform(2, 20),
            rng.choice((1, 1, 1, rng.randrange(200, 60000) // 100 * 100 + 1)),
            rng.randrange(1, 60) * 1000 + 100000, self._prefix(style), self.per_node,
            rng.randrange(10 ** 8, 10 ** 9))

    def _prefix(self, style):
        if style.name in ("json", "logfmt", "composer", "worker"):
            return ""
        return self.rng.choice(("", "", "[rank{rank}]: ", "{rank}: ", "[default0]:"))

    # ---- faults -------------------------------------------------------------------------------
    def _fault(self):
        rng = self.rng
        # Ranks with a role of their own may be the faulty ones, like all others.
        rank = rng.randrange(self.nodes * self.per_node)
        fault = made.Fault(self.fault_kind, rank // self.per_node, rank,
                           int(self.count * rng.uniform(0.3, 0.6)))
        getattr(self, "_fault_" + self.fault_kind)(fault)
        if self.per_node == 1 or SCOPES[self.fault_kind] == "single_rank":
            fault.local = True
        return fault

    def _aim(self, low, high):
        """Makes one line by the clock steady: low to high of them on each node behind the onset."""
        rng, kind = self.rng, self.kind
        index = rng.randrange(len(kind.clockwork))
        line, left = kind.clockwork[index], kind.step_s * self.count * 0.4
        kind.clockwork[index] = made.Clockwork(
            line.level, line.text, left / rng.uniform(low, high), line.regular,
            rng.choice(("lead", "lead", "any")), rng.choice((0.0, 0.1)))
        return line.text

    def _fault_count(self, fault):
        rising = self.rng.random() < 0.6
        fault.what = self._aim(10, 30) if rising else self._aim(40, 80)
        fault.factor = self.rng.uniform(4, 9) if rising else 1 / self.rng.uniform(5, 9)

    def _fault_stop(self, fault):
        rows = [text for _, role, text in self.kind.step_rows if role == "all"]
        fault.what = self.rng.choice(rows) if rows and self.rng.random() < 0.5 else \
            self._aim(25, 70)

    def _fault_phase(self, fault):
        fault.what = self.rng.choice(self.kind.style.phases + ("data",))
        fault.hidden = fault.what == "data" and self.rng.random() < 0.35
        fault.factor = self.rng.uniform(6, 25) if fault.what == "data" else self.rng.uniform(1.6, 5)

    def _fault_late(self, fault):
        fault.factor = 10 ** self.rng.uniform(1.5, 2.4)

    def _fault_order(self, fault):
        swap = self.kind.checkpoint_every and \
            self.kind.checkpoint_every == self.kind.evaluation_every
        fault.what = "swap" if swap else self.rng.choice(("reverse", "rotate"))
        if not swap and sum(role == "all" for _, role, _ in self.kind.step_rows) < 4:
            fault.what = "reverse"

    # ---- making -------------------------------------------------------------------------------
    def make(self, out):
        self.choose()
        rng, fault = self.rng, None if self.healthy else self.fault
        if self.healthy and self.ends == "silent":
            self.ends = "well"
        run = made.Run(self.kind, self.nodes, self.count, f"{self.seed}/{self.number}",
                       self.epoch, fault)
        finish = run.play()
        self.iteration = None
        self._end(run, finish)
        folder, marked = os.path.join(out, f"case_{self.number:03d}"), []
        size = write_logs(os.path.join(folder, "logs"), run, marked)
        for index in range(self.runs):
            self._history(os.path.join(folder, "history", f"run_{index}"), index)
        if rng.random() < 0.5 and self.ends != "silent":
            self.as_of += rng.uniform(0, 0.2) * self.kind.step_s
        truth = self._truth(run, size)
        self._write_truth(folder, truth, marked)
        return truth

    def _history(self, folder, index):
        rng = self.rng
        nodes = max(4, rng.choice((self.nodes // 2, self.nodes, self.nodes)))
        run = made.Run(self.kind, nodes, min(self.count, rng.randrange(25, 70)),
                       f"{self.seed}/{self.number}/{index}", self.epoch - rng.uniform(9e4, 9e5))
        run.finish(run.play())
        write_logs(folder, run)

    def _end(self, run, finish):
        """Lets the job end as was drawn; sets when somebody looks."""
        rng, step = self.rng, self.kind.step_s
        if self.ends == "well":
            run.finish(finish)
            run.sort()
            self.as_of = run.last() + 5
            return
        if self.ends == "running":
            at = finish - rng.uniform(0.1, 0.9) * step
            for rank in range(run.n_ranks):
                run.cut(rank, at)
            run.sort()
            self.as_of = at + 0.1 * step
            return
        self._fall_silent(run)

    def _fall_silent(self, run):
        """All ranks are killed at once, or one stops and the others wait for it."""
        rng = self.rng
        number, begin, end = run.steps[-1]
        self.iteration, at = number, begin + rng.uniform(0.2, 0.8) * (end - begin)
        together = self.healthy or rng.random() < 0.5
        for rank, arrived in enumerate(run.waits[-1]):
            mine = together or rank == self.fault.rank
            run.cut(rank, min(at, arrived) if mine else arrived)
        run.sort()
        self.as_of = at + rng.uniform(200, 900)

    # ---- truth --------------------------------------------------------------------------------
    def _states(self):
        if self.ends == "silent":
            return ["crashed", "hung", "unknown", "node_lost"]
        slow = self.fault_kind == "phase" and not self.fault.hidden and not self.healthy
        return ["healthy", "finished"] + ["slow"] * slow

    def _truth(self, run, size):
        fault, failed = self.fault, not self.healthy
        injected = run.epoch + (0 if fault.kind == "late" else run.steps[fault.step][1])
        local = fault.local or self.per_node == 1
        ranks = [fault.rank] if local else [fault.node * self.per_node + k
                                            for k in range(self.per_node)]
        return {
            "id": f"case_{self.number:03d}", "seed": self.seed,
            "kind": "failure" if failed else "healthy",
            "symptom": fault.kind if failed else "healthy",
            "category": f"wordless/{fault.kind}" if failed else None,
            "scope": SCOPES[fault.kind] if failed else "none", "states": self._states(),
            "nodes": [run.speakers[fault.rank].host] if failed else [],
            "ranks": ranks if failed else [],
            "stage": None, "stage_shown": False, "iteration": self.iteration,
            "iteration_last_printed": None, "iteration_printed": True, "iteration_stride": 1,
            "injected": styles.iso(injected) if failed else None,
            "injected_ms": int(1000 * (injected - run.epoch)) if failed else None,
            "end_ms": int(1000 * run.last()), "as_of": styles.iso(run.epoch + self.as_of),
            "text": {"background": self.kind.style.name, "chorus": None, "failure": None},
            "history": self.runs > 0, "cri": False, "n_nodes": self.nodes,
            "n_ranks": run.n_ranks, "lines": size[0], "bytes": size[1],
            "wordless": {"what": fault.what, "factor": round(fault.factor, 3),
                         "hidden": fault.hidden, "step": run.steps[fault.step][0],
                         "ends": self.ends, "runs": self.runs, "style": self.kind.style.name}}

    def _write_truth(self, folder, truth, marked):
        truth["truth_lines"] = {"root": len(marked), "direct": 0, "secondary": 0}
        with open(os.path.join(folder, "truth.json"), "w", encoding="utf-8") as file:
            json.dump(truth, file, indent=1)
        with open(os.path.join(folder, "truth_lines.tsv"), "w", encoding="utf-8") as file:
            file.write("file\tline\tevent\trole\n")
            file.writelines(f"{name}\t{number}\twordless:{self.fault_kind}\troot\n"
                            for name, number in marked)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--healthy", type=float, default=0.0, help="share without a fault")
    parser.add_argument("--kind", choices=KINDS, help="this kind of fault only")
    options = parser.parse_args()
    for number in range(options.first, options.first + options.cases):
        truth = Case(number, options.seed, options.healthy, options.kind).make(options.out)
        print("%s %-8s %-12s nodes %d ranks %d lines %d MB %.1f %s" % (
            truth["id"], truth["symptom"], truth["wordless"]["style"], truth["n_nodes"],
            truth["n_ranks"], truth["lines"], truth["bytes"] / 1e6, truth["wordless"]["ends"]),
            file=sys.stderr)


if __name__ == "__main__":
    main()
