#!/usr/bin/env python3
"""Breaks real training jobs of ../shared/lab while agents and an aggregator watch them.

usage: lab.py --bin FOLDER [--fault KIND]... [--seed N] [--style STYLE] [--rotate] [--plan FILE]
              [--jobs N] [--out FOLDER] [--brief] [--again FOLDER] [--local]

Each node of a job is a network namespace with an agent of its own; the aggregator stands in one
more, linked by CURVE. A row for each job says what was found, when, and whether that is what must
hold: the state, the faulty node first, in time; a healthy job raises nothing, not even a suspicion;
`l4 diagnose` over the same files afterwards says the same and points at the same lines
(lab_judge.py). Without --fault and --plan all kinds are run, the styles in turn, healthy ones in
each style; a row of a plan is `KIND STYLE SEED [rotate] [arguments of the lab]`. --brief is one
crash and one healthy job in about a minute, where what `l4 diagnose` says is told and not judged;
--again judges what --out kept. With --local one `l4 local` on the head reads the logs of all nodes
instead, and must find the same.
Needs root, python3-torch and iproute2; ends with 77 where they or the lab are missing, with 1
where something did not hold. A job takes one to two minutes.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import lab_judge  # noqa: E402
import rotate_logs  # noqa: E402

LAB = HERE.parent.parent.parent / "shared" / "lab"
SKIPPED = 77
STYLES = ["megatron", "deepspeed", "hf", "plain"]
# Needs of each kind: time to be detected in, a checkpoint to strike at.
KINDS = {
    "none": ["--gloo-timeout", "40"],
    "kill9": [], "segv": [], "abort": [], "exc_shape": [], "exc_key": ["--num-workers", "1"],
    "nan_loss": [], "oom_rlimit": [], "oom_cgroup": [],
    "sigstop": ["--gloo-timeout", "1800", "--hang-observe", "50"],
    "link_down": ["--gloo-timeout", "1800", "--hang-observe", "40"],
    "slow_link": ["--iters", "130"], "slow_node": ["--iters", "130"],
    "ckpt_full": ["--iters", "140"], "ckpt_readonly": ["--iters", "140"],
    "bad_config": [], "bad_flag": ["--gloo-timeout", "30"], "port_in_use": ["--linger", "15"],
    "missing_node": ["--rdzv-timeout", "30"], "world_mismatch": [],
}
DETECT = f"""[detect]
hang_floor_s = {lab_judge.FLOOR_S}
hang_confirm_s = {2 * lab_judge.FLOOR_S}
[alerts]
webhook = "http://127.0.0.1:7450/"
"""
BRIEF = ["--nodes", "2", "--iters", "65", "--sleep-ms", "100", "--side-grace", "6"]


def write_local_settings(folder):
    (folder / "aggregator.toml").write_text(DETECT)


def write_settings(folder, programs, nodes):
    """Keys and settings of one aggregator and its agents."""
    keys = folder / "keys"
    l4 = [str(programs / "l4"), "keys"]
    subprocess.run([*l4, "init", "--dir", str(keys)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*l4, "add", "--dir", str(keys), *nodes], check=True, stdout=subprocess.DEVNULL)
    (folder / "aggregator.toml").write_text(f"""
[wire]
listen = "tcp://10.77.0.9:7430"
key = "{keys}/aggregator.key"
allow_list = "{keys}/allow-list"
[store]
folder = "{folder}/aggregator"
{DETECT}""")
    for node in nodes:
        (folder / f"{node}.toml").write_text(f"""
[link]
aggregator = "tcp://10.77.0.9:7430"
key = "{keys}/nodes/{node}.key"
[logs]
sources = ["{folder}/runs/*/logs/{node}"]
[state]
folder = "{folder}/agent-{node}"
[host]
kernel_log = false
""")


def run_lab(kind, style, seed, more, rotate, options, folder):
    """One job of the lab; the folder of its run, and what went wrong, if anything."""
    job = f"live-{kind.replace('_', '-')}-{seed}"
    nodes = int(more[more.index("--nodes") + 1]) if "--nodes" in more else 4
    programs = options.bin
    head = (f"python3 {HERE}/head.py --bin {programs} --config {folder}/aggregator.toml "
            "--out {dir}/head")
    if options.local:
        write_local_settings(folder)
        watch = ["--head-cmd", head + " --local {dir}/logs"]
    else:
        write_settings(folder, programs, [f"node-{k:02}" for k in range(nodes)])
        watch = ["--head-cmd", head, "--agent-cmd",
                 f"{programs}/l4-agent --config {folder}/" + "{node}.toml"]
    command = [str(LAB / "run_job.sh"), "--out", str(folder / "runs"), "--work",
               str(folder / "work"), "--job-id", job, "--fault", kind, "--seed", str(seed),
               "--style", style, "--iters", "120", "--side-grace", "8",
               *watch, *KINDS[kind], *more]
    run = folder / "runs" / job
    rotator = rotate_logs.Rotator(run / "logs", seed) if rotate else None
    if rotator:
        rotator.start()
    with tempfile.TemporaryFile("w+") as said:
        done = subprocess.run(command, stdout=said, stderr=said, check=False, timeout=400)
        said.seek(0)
        text = said.read()
    if rotator:
        rotator.end()
        rotate_logs.join_pieces(run / "logs", run / "whole")
    if done.returncode != 0 or not (run / "truth.json").exists():
        return run, "the lab failed: " + text[-500:]
    return run, None


def judge(programs, run, brief):
    truth = json.loads((run / "truth.json").read_text())
    outcome = lab_judge.judge(run, truth)
    whole, live = run / "whole", len(outcome.problems)
    lab_judge.compare(programs, run, truth, whole if whole.exists() else run / "logs", outcome)
    if brief:  # what is watched is judged; what the files say afterwards is told
        outcome.notes += outcome.problems[live:]
        del outcome.problems[live:]
    if whole.exists():
        outcome.notes.append("rotated")
    return outcome


def played(name, options, run_in, judged, failed):
    """The outcome of one job: in the folder `name` of --out, or in one that goes again.

    run_in(folder) gives the folder of the run and None, or why there is none; judged(run) and
    failed(problem) give the outcome.
    """
    with tempfile.TemporaryDirectory(prefix="l4-live-") as made:
        folder = pathlib.Path(made)
        if options.out:
            folder = options.out.resolve() / name
            folder.mkdir(parents=True)
        try:
            run, problem = run_in(folder)
            return judged(run) if problem is None else failed(problem)
        except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
            return failed(f"could not be run: {error!r}")


def run_one(row, options):
    kind, style, seed, rotate, more = row
    return tell(played(
        f"{kind}-{style}-{seed}" + ("-rotated" if rotate else ""), options,
        lambda folder: run_lab(kind, style, seed, more, rotate, options, folder),
        lambda run: judge(options.bin, run, options.brief),
        lambda problem: lab_judge.Outcome(kind, style, seed, [problem])))


def tell(outcome):
    text = [outcome.row()] + [f"         {problem}" for problem in outcome.problems]
    print("\n".join(text + [f"         ({note})" for note in outcome.notes]), flush=True)
    return outcome


def plan_of(options):
    """Rows of kind, style, seed, whether rotated, more arguments of the lab."""
    if options.brief:
        return [("kill9", "plain", options.seed, False, BRIEF),
                ("none", "deepspeed", options.seed + 1, False, BRIEF)]
    if options.plan:
        plan = []
        for line in options.plan.read_text().splitlines():
            words = line.split("#")[0].split()
            if words:
                rotate = words[3:4] == ["rotate"]
                plan.append((words[0], words[1], int(words[2]), rotate, words[3 + rotate:]))
        return plan
    kinds = options.fault or [kind for kind in KINDS if kind != "none"]
    plan = [(kind, options.style or STYLES[(place + options.seed) % len(STYLES)],
             options.seed + place, options.rotate, []) for place, kind in enumerate(kinds)]
    if not options.fault:
        plan += [("none", style, options.seed + 100 + place, place % 2 == 1, [])
                 for place, style in enumerate(STYLES)]
    return plan


def missing():
    if os.geteuid() != 0:
        return "not root"
    if not LAB.is_dir():
        return f"no lab at {LAB}"
    if shutil.which("ip") is None:
        return "no iproute2"
    torch = subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True,
                           check=False)
    return "no python3-torch" if torch.returncode else None


def parser_of(text):
    """The options that tests with jobs of the lab have in common."""
    parser = argparse.ArgumentParser(description=text,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--style", choices=STYLES)
    parser.add_argument("--out", type=pathlib.Path, help="keep everything here")
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--again", type=pathlib.Path, help="judge what --out kept")
    return parser


def runs_in(folder):
    """The runs that --out kept."""
    return sorted(truth.parent for truth in folder.glob("**/truth.json"))


def ended(outcomes, began):
    """Tells how many jobs were wrong; the status of the program."""
    failed = [outcome for outcome in outcomes if outcome.problems]
    print(f"{len(failed)} of {len(outcomes)} jobs were not as they must be; "
          f"{time.monotonic() - began:.0f} s")
    return 1 if failed or not outcomes else 0


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--fault", action="append", choices=sorted(KINDS))
    parser.add_argument("--rotate", action="store_true", help="rotate the logs meanwhile")
    parser.add_argument("--plan", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=1, help="so many at a time")
    parser.add_argument("--local", action="store_true", help="one l4 local instead of agents")
    options = parser.parse_args()
    began = time.monotonic()
    print(lab_judge.HEADER, flush=True)
    if options.again:
        outcomes = [tell(judge(options.bin, run, options.brief)) for run in runs_in(options.again)]
    else:
        if (reason := missing()) is not None:
            print(f"skipped: {reason}")
            return SKIPPED
        with concurrent.futures.ThreadPoolExecutor(2 if options.brief else options.jobs) as pool:
            outcomes = list(pool.map(lambda row: run_one(row, options), plan_of(options)))
    status = ended(outcomes, began)
    if not options.brief and len(outcomes) > 1:
        print("\n".join(["", lab_judge.HEADER, *(outcome.row() for outcome in outcomes)]))
    return status


if __name__ == "__main__":
    sys.exit(main())
