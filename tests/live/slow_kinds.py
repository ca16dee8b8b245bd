#!/usr/bin/env python3
"""Slows real training jobs while agents and an aggregator watch, and asks how soon they say so.

usage: slow_kinds.py --bin FOLDER [--kind KIND]... [--seed N] [--style STYLE] [--out FOLDER]
                     [--brief] [--again FOLDER]

The jobs are those of ../shared/lab, copied, with the kinds of faults_own.py beside its own slow
ones. Each has iterations of about 0.2 s on four nodes, and what L4 does by default is judged: a job
that became slower is `slow`, or a notice names the node or rank, within 20 s of the tenth disturbed
iteration; a pause of 3 s is a notice with its iteration and rank; nothing is said before, no other
rank is named, nothing fails, and a healthy job beside them has neither notice nor alert. --brief is
one slow kind; --again judges what --out kept. Needs root, python3-torch and iproute2,
and what faults_own.py names; ends with 77 where they or the lab are missing, with 1 where something
did not hold. A job takes about 80 s.
"""
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import lab  # noqa: E402
import lab_judge  # noqa: E402

FOUND_S, DISTURBED = 20, 10   # seconds after the end of so many disturbed iterations
NOTICED_S = 20                # seconds after a pause ended
NODES = 4                     # so that one of them is few
JOB = ["--nodes", str(NODES), "--ranks", "1", "--sleep-ms", "150", "--side-grace", "6",
       "--gloo-timeout", "120"]
LONG = ["--iters", "130", "--at-iter", "62"]
AFTER_PAUSE = ["--iters", "140", "--at-iter", "75"]
KINDS = {
    "slow_loader": LONG, "slow_disk": LONG, "lossy_link": LONG, "short_of_cpu": LONG,
    "slow_link": LONG, "slow_node": LONG,
    "pause": AFTER_PAUSE, "pause_of_disk": AFTER_PAUSE, "none": ["--iters", "150"],
}
BRIEF = ("short_of_cpu",)
PAUSES = {"pause", "pause_of_disk"}
# All ranks wait alike for a link that is slow, and no line says whose it is; the lines of the style
# hf give one number for what a rank computes and what it waits for in between.
OF_A_LINK = {"slow_link", "lossy_link"}
OF_COMPUTING = {"short_of_cpu", "slow_node", "pause"}
SINKS = """[alerts]
webhook = "http://127.0.0.1:7450/"
[[alerts.sink]]
name = "notices"
kind = "webhook"
url = "http://127.0.0.1:7450/"
match = { kind = "notice" }
"""


@dataclasses.dataclass
class Sign:
    """Something that a person is told of the job."""
    at: float
    what: str                 # noticed, or the state of the alert
    nodes: list
    ranks: list
    summary: str


@dataclasses.dataclass
class Outcome:
    kind: str
    style: str
    seed: int
    problems: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)
    usual_s: float | None = None
    slow_s: float | None = None
    told_s: float | None = None       # after the tenth disturbed iteration, or the end of a pause
    named_s: float | None = None
    sign: str = ""

    def row(self):
        def number(value, digits):
            return "" if value is None else f"{value:.{digits}f}"
        return (f"{'FAILED' if self.problems else 'ok':6} {self.kind:14} {self.style:10}"
                f"{self.seed:5} {number(self.usual_s, 2):>8} {number(self.slow_s, 2):>8}"
                f"{number(self.told_s, 1):>8} {number(self.named_s, 1):>8}  {self.sign}")


HEADER = (f"{'':6} {'kind':14} {'style':10}{'seed':>5} {'usual s':>8} {'slow s':>8}{'told s':>8} "
          f"{'named s':>8}  first sign")


def copy_lab(folder):
    """The lab with the kinds of this folder beside its own."""
    copy = folder / "lab"
    shutil.copytree(lab.LAB, copy, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE / "faults_own.py", copy)
    return copy


def run_job(kind, style, seed, options, folder):
    """One job of the lab; the folder of its run, and what went wrong, if anything."""
    copy, job, programs = copy_lab(folder), f"slow-{kind.replace('_', '-')}-{seed}", options.bin
    lab.write_settings(folder, programs, [f"node-{k:02}" for k in range(NODES)])
    settings = folder / "aggregator.toml"
    settings.write_text(settings.read_text().replace(lab.DETECT, SINKS))
    head = (f"python3 {HERE}/head.py --bin {programs} --config {settings} --out {{dir}}/head")
    agent = f"{programs}/l4-agent --config {folder}/{{node}}.toml"
    command = [copy / "run_job.sh", "--out", folder / "runs", "--work", folder / "work",
               "--job-id", job, "--fault", kind, "--seed", str(seed), "--style", style,
               "--head-cmd", head, "--agent-cmd", agent, *JOB, *KINDS[kind]]
    run = folder / "runs" / job
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, timeout=400)
    if done.returncode != 0 or not (run / "truth.json").exists():
        return run, "the lab failed: " + (done.stdout + done.stderr)[-1500:]
    return run, None


def signs_of(run):
    """What the alerts said, in the order of their arrival."""
    signs = []
    for row in lab_judge.rows(run / "head" / "alerts.jsonl"):
        alert = row["alert"]
        if alert["alert"] not in ("opened", "changed", "noticed"):
            continue
        what = "noticed" if alert["alert"] == "noticed" else alert["state"]
        signs.append(Sign(row["received"], what, alert["nodes"], alert["ranks"],
                          alert["summary"]))
    return signs


def ends_of(run, rank):
    """When the rank had done each iteration."""
    done = list(lab_judge.progress(run))[rank]
    return {number: at for what, number, at in done if what == "iter"}


def names_target(sign, truth):
    return sign.ranks[:1] == [truth["rank"]] if truth["rank"] is not None and sign.ranks \
        else sign.nodes[:1] == [truth["node"]]


def can_be_located(truth):
    return truth["fault"] not in OF_A_LINK and \
        not (truth["style"] == "hf" and truth["fault"] in OF_COMPUTING)


def names_nobody(sign):
    return not sign.nodes and not sign.ranks


def pace(ends, first, last):
    """Median seconds of the iterations first to last."""
    took = sorted(ends[i] - ends[i - 1] for i in range(first, last + 1)
                  if i in ends and i - 1 in ends)
    return took[len(took) // 2] if took else None


def judge_before(outcome, signs, truth):
    """Nothing is said of a job before it is disturbed; what fails in it later is nobody's fault."""
    for sign in signs:
        if sign.at < (truth["t_effect"] or truth["t_inject"]):
            outcome.problems.append(f"said before anything was disturbed: {sign.summary}")
        elif sign.what not in ("noticed", "slow"):
            outcome.problems.append(f"state {sign.what}: {sign.summary}")


def judge_names(outcome, signs, truth):
    """What is told first names no other; a busy machine may hold up another rank later."""
    for place, sign in enumerate(signs):
        if names_target(sign, truth) or names_nobody(sign):
            continue
        told = f"names {sign.nodes} {sign.ranks}, not {truth['node']}: {sign.summary}"
        is_wrong = can_be_located(truth) and (place == 0 or sign.what == "slow")
        (outcome.problems if is_wrong else outcome.notes).append(told)


def judge_slow(outcome, signs, truth, ends):
    tenth = ends.get(truth["iteration"] + DISTURBED - 1)
    if tenth is None:
        outcome.problems.append("the job ended before its tenth disturbed iteration")
        return
    told = [sign for sign in signs if sign.what == "slow" or names_target(sign, truth)]
    named = [sign for sign in told if names_target(sign, truth)]
    outcome.slow_s = pace(ends, truth["iteration"], max(ends))
    outcome.told_s = told[0].at - tenth if told else None
    outcome.named_s = named[0].at - tenth if named else None
    outcome.sign = told[0].summary if told else ""
    if outcome.told_s is None or outcome.told_s > FOUND_S:
        outcome.problems.append(f"not found within {FOUND_S} s of the tenth disturbed iteration")
    if not named and can_be_located(truth):
        outcome.problems.append(f"nothing names {truth['node']}")


def judge_pause(outcome, signs, truth, ends):
    """A notice names the rank, and the iteration that took long."""
    # The driver of the lab sees an iteration late, and so the pause may strike the one after.
    longest = max((i for i in range(truth["iteration"] - 1, truth["iteration"] + 3) if i in ends),
                  key=lambda i: ends[i] - ends[i - 1])
    outcome.slow_s = ends[longest] - ends[longest - 1]
    notices = [sign for sign in signs if sign.what == "noticed"]
    named = [sign for sign in notices if names_target(sign, truth)]
    for sign in signs:
        if sign.what == "slow":
            outcome.problems.append(f"one pause is no slowness: {sign.summary}")
    outcome.told_s = notices[0].at - ends[longest] if notices else None
    outcome.named_s = named[0].at - ends[longest] if named else None
    outcome.sign = notices[0].summary if notices else ""
    fitting = named if can_be_located(truth) else notices
    if not fitting or fitting[0].at - ends[longest] > NOTICED_S:
        outcome.problems.append(f"no notice of {truth['node']} within {NOTICED_S} s")
    elif f"iteration {longest} " not in fitting[0].summary.lower():
        outcome.problems.append(f"the notice does not name iteration {longest}")


def judge(run):
    truth = json.loads((run / "truth.json").read_text())
    outcome = Outcome(truth["fault"], truth["style"], truth["seed"])
    signs = signs_of(run)
    if not (run / "head" / "snapshot.json").exists():
        outcome.problems.append("no live report")
        return outcome
    ends = ends_of(run, truth["rank"] if truth["rank"] is not None else
                   (truth["node_index"] or 0) * truth["ranks_per_node"])
    if truth["symptom"] == "healthy":
        outcome.usual_s = pace(ends, 2, max(ends))
        outcome.problems += [f"a healthy job was not left alone: {sign.what}: {sign.summary}"
                             for sign in signs]
        return outcome
    if not truth["injected"]:
        outcome.problems.append("nothing was done to the job")
        return outcome
    outcome.usual_s = pace(ends, 2, truth["iteration"] - 1)
    judge_before(outcome, signs, truth)
    judge_names(outcome, signs, truth)
    (judge_pause if truth["fault"] in PAUSES else judge_slow)(outcome, signs, truth, ends)
    return outcome


def run_one(kind, style, seed, options):
    return lab.played(
        f"{kind}-{style}-{seed}", options,
        lambda folder: run_job(kind, style, seed, options, folder), judge,
        lambda problem: Outcome(kind, style, seed, [problem]))


def missing():
    if (reason := lab.missing()) is not None:
        return reason
    for control in ("cpu", "blkio"):
        if not os.path.isdir(f"/sys/fs/cgroup/{control}"):
            return f"no control group {control} of version 1"
    return next((f"no {tool}" for tool in ("tc", "mkfs.ext4", "blockdev")
                 if shutil.which(tool) is None), None)


def main():
    parser = lab.parser_of(__doc__)
    parser.add_argument("--kind", action="append", choices=sorted(KINDS))
    options = parser.parse_args()
    began = time.monotonic()
    if not options.again and (reason := missing()) is not None:
        print(f"skipped: {reason}")
        return lab.SKIPPED
    print(HEADER, flush=True)
    if options.again:
        outcomes = [lab.tell(judge(run)) for run in lab.runs_in(options.again)]
    else:
        kinds = options.kind or (BRIEF if options.brief else KINDS)
        outcomes = [lab.tell(run_one(kind, options.style or
                                     lab.STYLES[(place + options.seed) % len(lab.STYLES)],
                                     options.seed + place, options))
                    for place, kind in enumerate(kinds)]
    return lab.ended(outcomes, began)


if __name__ == "__main__":
    sys.exit(main())
