#!/usr/bin/env python3
"""Small fixed jobs, one mechanism of the comparison each, with what a report has to say of them.

usage: mechanisms.py --out DIR [--seed 7]
       mechanisms.py DIR --cmd 'l4 diagnose {logs} {history_args} {as_of_args} --format json
                                --out {report}'

The first form writes DIR/NAME/logs, history and expect.json, the second runs a diagnoser over them:
a row a case, exit 1 while one is wrong. expect.json: `named`, the nodes that are named and no other
(an empty list: no notice at all); `scope` and `states` of the verdict; `notice`, a row of
`notable[]` with these `iteration`, `rank`, one of the words in its phase, and value (in ms or s).
"""
import argparse
import json
import os
import random
import sys

import made
import named
import styles
import wordless

STYLES = {style.name: style for style in styles.load()[0]}
EPOCH = 1767225600.25
SHARES = {"data": .05, "fwd": .3, "bwd": .5, "comm": .1, "opt": .05}
JITTER = {"data": .15, "fwd": .02, "bwd": .02, "comm": .1, "opt": .05}
ODD = "link flap observed on port {t2}"
STEADY = "lease renewed until {big}"
CLOCKWORK = (
    made.Clockwork("INFO", STEADY, 60.0, True, "lead", 0.0),
    made.Clockwork("INFO", "metrics pushed, {small} series", 20.0, True, "all", 0.0),
    made.Clockwork("INFO", "garbage collection freed {big} objects", 45.0, False, "any", 0.3),
    made.Clockwork("WARNING", "batch {big} came {small} ms later than planned", 150.0, False, "any",
                   0.3))


def kind_of(style, step_s=4.0, loop="all", per_node=1, roles=True):
    """A kind of job with checkpoints and evaluation, which rank 0 and the last rank tell of."""
    rows = STYLES[style].step
    return made.Kind(STYLES[style], list(CLOCKWORK), step_s, SHARES, JITTER, rows, loop, 2.5,
                     20 if roles else 0, 50 if roles else 0, 6.0, 8.0, 1, 100000, "", per_node,
                     123456789)


class Maker:
    """Writes cases: the jobs are said once, and what they must lead to stands beside."""

    def __init__(self, out, seed):
        self.out, self.seed = out, seed

    def run(self, name, kind, nodes, count, fault=None, plant=None, runs=0, silent=False, **expect):
        run = made.Run(kind, nodes, count, f"{self.seed}/{name}", EPOCH, fault)
        finish = run.play()
        if plant:
            plant(run)
        if not silent:
            run.finish(finish)
        run.sort()
        folder = os.path.join(self.out, name)
        wordless.write_logs(os.path.join(folder, "logs"), run)
        for index in range(runs):
            past = made.Run(kind, nodes, max(20, count // 3), f"{self.seed}/{name}/{index}",
                            EPOCH - 90000 * (index + 1))
            past.finish(past.play())
            wordless.write_logs(os.path.join(folder, "history", f"run_{index}"), past)
        later = 900 if silent else 5
        expect["as_of"] = styles.iso(EPOCH + run.last() + later)
        if "named" in expect:
            expect["named"] = [run.speakers[node * kind.per_node].host for node in expect["named"]]
        with open(os.path.join(folder, "expect.json"), "w", encoding="utf-8") as file:
            json.dump(expect, file, indent=1)

    def all(self):
        well = ["finished", "healthy"]
        for runs, style in ((0, "plain"), (2, "megatron"), (2, "torchtitan")):
            self.run(f"odd_line_{style}", kind_of(style), 100, 50, plant=_odd_line(37), runs=runs,
                     named=[37], states=well)
        for runs, style in ((0, "logfmt"), (2, "deepspeed")):
            self.run(f"rises_{style}", kind_of(style), 32, 300,
                     made.Fault("count", 11, 11, 150, STEADY, 9.0), runs=runs, named=[11],
                     states=well)
        for runs, style, what in ((0, "plain", "metrics pushed, {small} series"),
                                  (2, "hf", "training_step: forward {fwd_s:.3f} s")):
            self.run(f"stops_{style}", kind_of(style), 32, 100,
                     made.Fault("stop", 20, 20, 50, what), runs=runs, named=[20], states=well)
        for style, loop in (("deepspeed", "r0"), ("megatron", "last"), ("mindformers", "lead")):
            self.run(f"roles_{style}", kind_of(style, loop=loop, per_node=4), 16, 60, named=[],
                     states=well)
        for runs, style in ((0, "plain"), (2, "glog")):
            self.run(f"thirty_{style}", kind_of(style), 100, 40, plant=_thirty, runs=runs,
                     silent=True, scope="several")
        for style, words in (("plain", ["loader", "batch"]), ("megatron", ["batch-generator"]),
                             ("json", ["data_time", "batch"])):
            fault = made.Fault("phase", 5, 5, 30, "data", local=True, steps=1, seconds=8.012)
            self.run(f"stall_{style}", kind_of(style, step_s=0.4), 16, 60, fault, states=well,
                     named=[5], notice={"iteration": 31, "rank": 5, "phase": words,
                                        "value": 8012})
        for style in ("plain", "megatron", "json"):
            self.run(f"healthy_{style}", kind_of(style, roles=style != "json"), 100, 50, named=[],
                     states=well)


def _odd_line(node):
    def plant(run):
        run.say(node, run.steps[len(run.steps) // 2][1] + 0.3, ODD)
    return plant


def _thirty(run):
    """30 of 100 nodes say something odd and stop; the others wait for them."""
    number = len(run.steps) - 1
    at = run.steps[number][1]
    chosen = set(random.Random(3).sample(range(run.nodes), 30))
    for rank in range(run.n_ranks):
        run.cut(rank, at + 0.1 if rank in chosen else run.waits[number][rank])
    for rank in sorted(chosen):
        run.say(rank, at + 0.12, "lane {t2} rearmed after drain")


def check(expect, report):
    """-> what is wrong, in words."""
    verdict, notable, wrong = report.get("verdict", {}), report.get("notable") or [], []
    if "states" in expect and verdict.get("state") not in expect["states"]:
        wrong.append(f"state {verdict.get('state')}")
    if "scope" in expect and verdict.get("scope") != expect["scope"]:
        wrong.append(f"scope {verdict.get('scope')}, not {expect['scope']}")
    if "named" in expect:
        said = sorted(set(named.nodes_of(report)))
        if said != sorted(expect["named"]):
            wrong.append(f"named {said[:4]}{'...' if len(said) > 4 else ''}, not "
                         f"{expect['named'] or 'none'}")
        if not expect["named"] and notable:
            wrong.append(f"notable: {notable[0].get('text', '')[:80]}")
    if "notice" in expect and not any(_tells(row, expect["notice"]) for row in notable):
        wrong.append("no notice with iteration, rank and timer")
    return wrong


def _tells(row, want):
    value = row.get("value")
    near = isinstance(value, (int, float)) and any(
        abs(value - v) <= 0.02 * v for v in (want["value"], want["value"] / 1000))
    phase = (row.get("phase") or "").lower()
    return near and row.get("iteration") == want["iteration"] and \
        row.get("rank") == want["rank"] and any(word in phase for word in want["phase"])


def cases_of(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if os.path.exists(os.path.join(folder, name, "expect.json")))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--out")
    parser.add_argument("--seed", default="7")
    parser.add_argument("--cmd")
    options = parser.parse_args()
    if options.out:
        Maker(options.out, options.seed).all()
    if not options.cmd:
        return 0
    cases, right = cases_of(options.folder or options.out), 0
    for case in cases:
        with open(os.path.join(case, "expect.json"), encoding="utf-8") as file:
            expect = json.load(file)
        report = named.diagnose(case, options.cmd, expect.get("as_of"))
        wrong = check(expect, report) if report else ["no report"]
        right += not wrong
        print(f"{os.path.basename(case):20} {'; '.join(wrong) or 'ok'}", flush=True)
    print(f"{right} of {len(cases)} mechanisms right")
    return int(right < len(cases))


if __name__ == "__main__":
    sys.exit(main())
