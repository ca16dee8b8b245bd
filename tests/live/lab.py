#!/usr/bin/env python3
"""Breaks real training jobs of ../shared/lab while agents and an aggregator watch them.

usage: lab.py --bin FOLDER [--fault KIND]... [--seed N] [--style STYLE] [--out FOLDER] [--list]

Each node of a job is a network namespace with an agent of its own; the aggregator stands in one
more, linked by CURVE. A row for each job says what was found, when, and whether that is what must
hold: the state, the faulty node first, in time; a healthy job raises nothing, not even a suspicion.
Needs root, python3-torch and iproute2; ends with 77 where they or the lab are missing, with 1
where something did not hold. A job takes one to two minutes.
"""
import argparse
import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LAB = ROOT.parent / "shared" / "lab"
SKIPPED = 77
FLOOR_S = 10
SLACK_S = 2         # of polling and of a machine with two cores that runs eight ranks
STATES = {"healthy": {"healthy", "finished", "unknown"}, "slow": {"slow"}, "hang": {"hung"},
          "crash": {"crashed"}, "launch": {"launch_failed"}}
EXTRA = {"link_down": {"node_lost"}}
# Nothing in logs or processes tells one node from the others.
NOT_LOCALISABLE = {"slow_link", "pkt_loss", "world_mismatch", "missing_node", "slow_node"}
BY_SIGNAL = {"kill9", "segv", "abort", "oom_cgroup"}
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


@dataclasses.dataclass
class Outcome:
    fault: str
    problems: list
    text: str


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
[detect]
hang_floor_s = {FLOOR_S}
hang_confirm_s = {2 * FLOOR_S}
[store]
folder = "{folder}/aggregator"
[alerts]
webhook = "http://127.0.0.1:7450/"
""")
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


def rows(file):
    try:
        return [json.loads(line) for line in file.read_text().splitlines()]
    except FileNotFoundError:
        return []


def longest_pause(run, until):
    """Between two iterations of any rank, before it was broken."""
    longest = 0.0
    for file in (run / "progress").glob("rank_*.csv"):
        times = [float(row.split(",")[2]) for row in file.read_text().splitlines()
                 if row.startswith("iter,")]
        times = [at for at in times if at <= until]
        longest = max([longest, *(b - a for a, b in zip(times, times[1:]))])
    return longest


def first_evidence(run, truth):
    """When logs or processes first show it, as near as the lab's own records tell."""
    begun = max(truth["t_inject"] or 0, truth["t_effect"] or 0)
    if truth["fault"] in BY_SIGNAL:
        return begun
    grown = [float(at) for at, name, _ in
             (row.split(",") for row in (run / "arrivals.csv").read_text().splitlines())
             if float(at) >= begun and name.endswith(("stderr.log", "agent.log"))]
    return min(grown, default=begun)


def limit_of(run, truth):
    """Seconds from the first evidence until somebody must have been told."""
    if truth["symptom"] == "crash":
        return 5 + SLACK_S
    if truth["fault"] == "link_down":
        return 15 + SLACK_S
    if truth["symptom"] == "hang":
        return max(3 * longest_pause(run, truth["t_inject"]), FLOOR_S) + SLACK_S
    return None


def judge(run, truth):
    alerts = rows(run / "head" / "alerts.jsonl")
    seen = rows(run / "head" / "jobs.jsonl")
    opened = [row for row in alerts if row["alert"]["alert"] in ("opened", "changed")]
    suspected = [row["seen"] for row in seen for job in row["jobs"]
                 if job["suspect"] or job["incident"]]
    told = min([row["received"] for row in opened] + suspected, default=None)
    problems = []
    allowed = STATES[truth["symptom"]] | EXTRA.get(truth["fault"], set())
    if truth["symptom"] == "healthy":
        if opened or suspected:
            problems.append("a healthy job was not left alone: " +
                            (opened[0]["alert"]["summary"] if opened else "suspected"))
        return problems, "silent" if not problems else "loud"
    last = opened[-1]["alert"] if opened else {}
    state = last.get("state", "nothing")
    if state not in allowed:
        problems.append(f"state {state}, not {'|'.join(sorted(allowed))}")
    nodes = last.get("nodes", [])
    if truth["node"] and truth["fault"] not in NOT_LOCALISABLE and nodes[:1] != [truth["node"]]:
        problems.append(f"first node {nodes[:1] or 'none'}, not {truth['node']}")
    limit = limit_of(run, truth)
    since = told - first_evidence(run, truth) if told else None
    if limit is not None and (since is None or since > limit):
        problems.append(f"told after {since} s, not {limit:.1f}")
    when = "never" if since is None else f"{since:.1f} s"
    return problems, f"{state} {' '.join(nodes[:2])} told after {when}"


def run_one(kind, options, folder):
    job = f"live-{kind.replace('_', '-')}-{options.seed}"
    nodes = [f"node-{k:02}" for k in range(options.nodes)]
    write_settings(folder, options.bin, nodes)
    head = (f"python3 {HERE}/head.py --bin {options.bin} --config {folder}/aggregator.toml "
            "--out {dir}/head")
    agent = f"{options.bin}/l4-agent --config {folder}/" + "{node}.toml"
    command = [str(LAB / "run_job.sh"), "--out", str(folder / "runs"), "--work",
               str(folder / "work"), "--job-id", job, "--fault", kind, "--seed", str(options.seed),
               "--style", options.style, "--nodes", str(options.nodes), "--iters", "120",
               "--head-cmd", head, "--agent-cmd", agent, "--side-grace", "8", *KINDS[kind]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=400)
    run = folder / "runs" / job
    if done.returncode != 0 or not (run / "truth.json").exists():
        return Outcome(kind, ["the lab failed: " + (done.stdout + done.stderr)[-500:]], "")
    truth = json.loads((run / "truth.json").read_text())
    problems, text = judge(run, truth)
    return Outcome(kind, problems, text)


def missing():
    if not LAB.is_dir():
        return f"no lab at {LAB}"
    if shutil.which("ip") is None:
        return "no iproute2"
    torch = subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True,
                           check=False)
    return "no python3-torch" if torch.returncode else None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--fault", action="append", choices=sorted(KINDS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--style", default="megatron")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--out", type=pathlib.Path, help="keep everything here")
    options = parser.parse_args()
    if (reason := missing()) is not None:
        print(f"skipped: {reason}")
        return SKIPPED
    failed = 0
    for kind in options.fault or KINDS:
        with tempfile.TemporaryDirectory(prefix="l4-live-") as made:
            folder = pathlib.Path(made)
            if options.out:
                folder = options.out.resolve() / f"{kind}-{options.seed}"
                folder.mkdir(parents=True)
            began = time.monotonic()
            outcome = run_one(kind, options, folder)
        failed += bool(outcome.problems)
        print(f"{'FAILED' if outcome.problems else 'ok':6} {kind:15} "
              f"{time.monotonic() - began:4.0f} s  {outcome.text}", flush=True)
        for problem in outcome.problems:
            print(f"         {problem}", flush=True)
    print(f"{failed} of {len(options.fault or KINDS)} jobs were not as they must be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
