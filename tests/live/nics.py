#!/usr/bin/env python3
"""Network cards of real training jobs: agents read the counters of the lab's veth devices.

usage: nics.py --bin FOLDER [--fault KIND]... [--seed N] [--style STYLE] [--out FOLDER] [--brief]
               [--again FOLDER]

Jobs of ../shared/lab with a larger model and slower iterations, an agent in the namespace of each
node. What `GET /api/v1/jobs/{id}/nics` says at the end is compared with what the trainers wrote
down themselves: the period of the steps within 1 % (of a short job half a step over all of them),
silence of a job that stopped and none of one that goes on, and which node sent no more first. A
rank that is killed between two exchanges takes the others with it before anybody sends again: then
nobody is first, which is told and is no failure; naming another node is one. Without --fault:
sigstop, kill9, link_down, none. --brief is one sigstop in about a minute, and a second one if the
first does not hold. --again judges what --out kept. Needs what lab.py needs; ends with 77 where
that is missing, with 1 where something did not hold. A job takes two minutes.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import lab  # noqa: E402
import lab_judge  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PERIOD_OFF_MAX = 0.01
BORDER_MAX = 0.5  # steps by which the first and the last of a short job may be cut
WINDOW_S = 120.0  # the period is taken from so much, see aggregator/detect/nics/course.cc
FAULTS = {
    "none": ["--gloo-timeout", "60"],
    "sigstop": ["--gloo-timeout", "1800", "--hang-observe", "30"],
    "kill9": ["--linger", "5"],
    "link_down": ["--gloo-timeout", "1800", "--hang-observe", "30"],
}
# Many bytes of gradients, and little work for them.
MODEL = "--hidden 256 --layers 4 --jitter 0.03 --batch 1"


def arguments(kind, brief):
    if brief:
        return ["--nodes", "3", "--ranks", "1", "--iters", "60", "--sleep-ms", "350", "--at-iter",
                "24", "--node", "1", "--extra", MODEL, *FAULTS[kind], "--hang-observe", "14"]
    # No checkpoint or evaluation: their pauses are not steps.
    return ["--nodes", "4", "--ranks", "1", "--iters", "70", "--sleep-ms", "1200", "--at-iter",
            "50", "--extra", MODEL, "--save-interval", "1000", "--eval-interval", "1000",
            "--side-grace", "16", *FAULTS[kind]]


def write_settings(folder, programs, nodes):
    lab.write_settings(folder, programs, nodes)
    for node in nodes:
        with open(folder / f"{node}.toml", "a", encoding="utf-8") as settings:
            settings.write('[nic]\ninclude = ["eth0"]\n')


def run_lab(kind, style, seed, options, folder):
    job = f"nics-{kind.replace('_', '-')}-{seed}"
    more = arguments(kind, options.brief)
    nodes = int(more[more.index("--nodes") + 1])
    write_settings(folder, options.bin, [f"node-{k:02}" for k in range(nodes)])
    command = [str(lab.LAB / "run_job.sh"), "--out", str(folder / "runs"), "--work",
               str(folder / "work"), "--job-id", job, "--fault", kind, "--seed", str(seed),
               "--style", style,
               "--head-cmd", f"python3 {HERE}/head.py --bin {options.bin} --config "
                             f"{folder}/aggregator.toml --out {{dir}}/head",
               "--agent-cmd", f"{options.bin}/l4-agent --config {folder}/" + "{node}.toml", *more]
    with tempfile.TemporaryFile("w+") as said:
        done = subprocess.run(command, stdout=said, stderr=said, check=False, timeout=400)
        said.seek(0)
        text = said.read()
    run = folder / "runs" / job
    failed = done.returncode != 0 or not (run / "truth.json").exists()
    return run, "the lab failed: " + text[-500:] if failed else None


def step_ends(run):
    """Times at which iterations ended on all ranks, as the trainers wrote them down."""
    ends = {}
    for file in sorted((run / "progress").iterdir()):
        for line in file.read_text().splitlines():
            event, iteration, when = line.split(",")[:3]
            if event == "iter":
                ends.setdefault(int(iteration), []).append(float(when))
    ranks = max((len(times) for times in ends.values()), default=0)
    return sorted(max(times) for times in ends.values() if len(times) == ranks)


def true_period(run):
    """The period, and by which share another may differ from it."""
    ends = step_ends(run)
    ends = [end for end in ends if end >= ends[-1] - WINDOW_S]
    steps = len(ends) - 1
    return (ends[-1] - ends[0]) / steps, max(PERIOD_OFF_MAX, BORDER_MAX / steps)


def judge(run):
    truth = json.loads((run / "truth.json").read_text())
    kind, problems, notes = truth["fault"], [], []
    cards = json.loads((run / "head" / "nics.json").read_text())
    period, (wanted, off_max) = cards["period_s"] or 0.0, true_period(run)
    notes.append(f"period {period:.4f} s, {wanted:.4f} s by the trainers: "
                 f"{100 * (period / wanted - 1):+.2f} %")
    if abs(period / wanted - 1) > off_max:
        problems.append(f"period {period:.4f} s, not {wanted:.4f} s")
    first = [one["node"] for one in cards["first"]]
    if kind != "none":
        # A list of nodes or one: the lab names a node by its number.
        node = truth["node"] if isinstance(truth["node"], str) else f"node-{truth['node']:02}"
        notes.append(f"first {first}, lead {cards['lead_s']} s")
        if not cards["silent"]:
            problems.append("no silence was seen")
        if first != [node] and (kind != "kill9" or first):
            problems.append(f"first to stop {first}, not {node}")
    outcome = lab_judge.Outcome(kind, truth.get("style", ""), truth.get("seed", 0), problems)
    outcome.notes += notes
    return outcome


def run_one(kind, style, seed, options):
    return lab.tell(lab.played(
        f"{kind}-{seed}", options, lambda folder: run_lab(kind, style, seed, options, folder),
        judge, lambda problem: lab_judge.Outcome(kind, style, seed, [problem])))


def main():
    parser = lab.parser_of(__doc__)
    parser.add_argument("--fault", action="append", choices=sorted(FAULTS))
    options = parser.parse_args()
    began = time.monotonic()
    print(lab_judge.HEADER, flush=True)
    if options.again:
        outcomes = [lab.tell(judge(run)) for run in lab.runs_in(options.again)]
    else:
        if (reason := lab.missing()) is not None:
            print(f"skipped: {reason}")
            return lab.SKIPPED
        kinds = ["sigstop"] if options.brief else options.fault or list(FAULTS)
        outcomes = [run_one(kind, options.style or "plain", options.seed + place, options)
                    for place, kind in enumerate(kinds)]
        if options.brief and outcomes[0].problems:
            print("on a busy machine a short job may not tell: another one decides", flush=True)
            outcomes = [run_one(kinds[0], options.style or "plain", options.seed + 1, options)]
    return lab.ended(outcomes, began)


if __name__ == "__main__":
    sys.exit(main())
