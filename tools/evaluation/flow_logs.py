#!/usr/bin/env python3
"""Logs of the ranks of a job of ../shared/bench/flowgen.py, and what L4 makes of both together.

usage: flow_logs.py [--l4 L4] [--seeds FROM:TO] [--kinds KIND,...] [--servers N] [--keep FOLDER]

For each seed and kind of fault a trace is made, logs are written for the job that the fault
strikes, and `l4 diagnose LOGS --flows TRACE` is compared with the truth, with and without the flow
records. Kinds: hang, crash, slow_gpu, degraded_link, pause, and buffered, a job that goes on while
its logs stop. --keep keeps traces, and takes those that are there already.

Logs are chatty (six lines an iteration of each rank) or terse (rank 0 prints iterations, the others
a line at the start). A hung job's waiting ranks print a collective's timeout, or nothing. A crash
is a traceback on its server and broken connections on others, a kill that only the launcher tells
of, or a kill that nobody tells of.

Place: a part of parts.py (its table is "flow logs"), and of tests/integration/flow_logs.py.
"""
import argparse
import collections
import datetime
import json
import pathlib
import random
import shlex
import shutil
import subprocess
import sys
import tempfile

from work import BENCH, ROOT, digest

FLOWGEN = BENCH / "flowgen.py"
# Share of the step, and the line; the fifth waits for the others.
CHATTY = (
    (0.05, "INFO  data: batch of {b} samples ready in {ms:.1f} ms"),
    (0.30, "INFO  trainer: forward pass took {ms:.1f} ms"),
    (0.60, "INFO  trainer: backward pass took {ms:.1f} ms"),
    (0.70, "INFO  comm: entering gradient all-reduce of 17 buckets"),
    (0.95, "INFO  comm: gradient all-reduce done in {ms:.1f} ms"),
    (1.00, "INFO  trainer: iteration {i}/{n} | loss {loss:.4f} | elapsed_ms {step:.1f}"),
)
WAITS = 3           # index of the last line of a rank that waits
WATCHDOG = ("ERROR torch.distributed: [Rank {r}] Watchdog caught collective operation timeout: "
            "WorkNCCL(SeqNum={q}, OpType=ALLREDUCE, NumelIn=4194304, Timeout(ms)={t}) ran for "
            "{t} milliseconds before timing out.")
TRACEBACK = ("Traceback (most recent call last):",
             '  File "/app/pretrain.py", line 812, in train_step',
             "    loss.backward()",
             "RuntimeError: CUDA error: an illegal memory access was encountered")
BROKEN = ("ERROR torch.distributed: [Rank {r}] NCCL WARN NET/IB : Got completion from peer "
          "{peer} with status=12 error: connection closed by remote peer")
KILLED = "srun: error: {node}: task {r}: Killed"


def stamp(ns):
    when = datetime.datetime.fromtimestamp(ns / 1e9, datetime.timezone.utc)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Logs:
    """The logs of one job of a trace."""

    def __init__(self, truth, job, seed, kind):
        self.rng = random.Random(f"{seed}/{kind}/logs")
        self.truth, self.job, self.kind = truth, job, kind
        self.fault = truth["fault"] if kind != "buffered" else {"kind": "none"}
        self.is_chatty = self.rng.random() < 0.6
        self.lines = {}
        self.launcher = []
        address = {n["address"]: s["server"] for s in
                   json.loads((truth["folder"] / "topology.json").read_text())["servers"]
                   for n in s["nics"]}
        self.node_of = {r["rank"]: address[r["nic"]] for r in job["ranks"]}
        self.variant = ""

    def say(self, rank, ns, text):
        self.lines.setdefault(rank, []).append((ns + self.rng.randrange(3_000_000), text))

    def end_of(self, rank):
        """When the rank stops printing by itself."""
        if self.kind == "buffered":
            return self.job["steps"][len(self.job["steps"]) // 2][1]
        return self.fault.get("time_ns") if self.kind in ("hang", "crash") else None

    def steps(self):
        steps = [tuple(step) for step in self.job["steps"]]
        if self.kind in ("hang", "crash"):
            typical = sorted(b - a for a, b in steps)[len(steps) // 2]
            begin = max(steps[-1][1], self.fault["time_ns"] - typical)
            steps.append((begin, begin + 2 * typical))
        return steps

    def write_rank(self, rank):
        begin = self.job["steps"][0][0]
        self.say(rank, begin - 9_000_000_000, f"INFO  trainer: started on {self.node_of[rank]} "
                 f"rank {rank} world_size {len(self.node_of)}")
        self.say(rank, begin - 2_000_000_000, "INFO  trainer: building GPT model done")
        steps, stop = self.steps(), self.end_of(rank)
        is_first = self.node_of[rank] == self.fault.get("server") and self.kind == "hang"
        for i, (a, b) in enumerate(steps):
            for index, (share, text) in enumerate(CHATTY):
                at = a + int(share * (b - a))
                if not self.is_chatty and (index != len(CHATTY) - 1 or rank != 0):
                    continue
                if stop is not None and at > stop and not (
                        self.kind == "hang" and not is_first and i == len(steps) - 1 and
                        index <= WAITS):
                    continue
                if self.kind == "hang" and i == len(steps) - 1 and index > WAITS:
                    continue
                slow = self.fault.get("server") == self.node_of[rank] and self.kind == "slow_gpu" \
                    and i >= self.fault["step"]
                self.say(rank, at, text.format(
                    b=4, i=i + 1, n=10 * len(steps), loss=9 - 0.01 * i, step=(b - a) / 1e6,
                    ms=self.rng.gauss(300, 5) * (1.3 if slow else 1)))

    def add_end(self):
        ranks, rng, struck = sorted(self.node_of), self.rng, self.fault.get("server")
        if self.kind == "hang":
            self.variant = rng.choice(("timeout", "silent"))
            if self.variant == "timeout":
                for rank in ranks:
                    if self.node_of[rank] != struck and rng.random() < 0.8:
                        at = self.fault["time_ns"] + 40_000_000_000 + rng.randrange(2_000_000_000)
                        self.say(rank, at, WATCHDOG.format(r=rank, q=len(self.job["steps"]) * 17,
                                                           t=40000))
        elif self.kind == "crash":
            self.variant = rng.choices(("traceback", "launcher", "untold"), (6, 3, 1))[0]
            own = [r for r in ranks if self.node_of[r] == struck]
            if self.variant == "traceback":
                victim = rng.choice(own)
                for k, text in enumerate(TRACEBACK):
                    self.say(victim, self.fault["time_ns"] + k * 4_000_000, text)
                for rank in ranks:
                    if self.node_of[rank] != struck and rng.random() < 0.7:
                        at = self.fault["time_ns"] + rng.randrange(200_000_000, 3_000_000_000)
                        self.say(rank, at, BROKEN.format(r=rank, peer=victim))
            elif self.variant == "launcher":
                self.launcher.append((self.fault["time_ns"] + 300_000_000,
                                      KILLED.format(node=struck, r=own[0])))

    def write(self, folder):
        for rank in self.node_of:
            self.write_rank(rank)
        self.add_end()
        for rank, lines in self.lines.items():
            path = folder / self.node_of[rank] / f"rank{rank}.log"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{stamp(ns)} {text}\n" for ns, text in sorted(lines)))
        if self.launcher:
            (folder / "slurm-1.out").write_text(
                "".join(f"{stamp(ns)} {text}\n" for ns, text in self.launcher))


def make(folder, seed, kind, servers):
    """The trace and its job's logs in `folder`; a trace that is there is kept."""
    fault, flows = "none" if kind == "buffered" else kind, folder / "flows"
    if not (flows / "truth.json").exists():
        run([sys.executable, FLOWGEN, "--out", flows, "--seed", seed, "--servers", 2 * servers,
             "--jobs", 2, "--job-servers", servers, "--steps", 40, "--counters", 0, "--fault",
             fault, "--silence", 60])
    truth = json.loads((flows / "truth.json").read_text())
    truth["folder"] = flows
    struck = (truth.get("fault") or {}).get("job") or truth["jobs"][0]["job"]
    job = next(j for j in truth["jobs"] if j["job"] == struck)
    logs = Logs(truth, job, seed, kind)
    shutil.rmtree(folder / "logs", ignore_errors=True)
    logs.write(folder / "logs")
    return truth, job, logs


def as_of(truth, job, kind):
    """When the logs are looked at: while the trace goes on, and the job with it."""
    return stamp(truth["end_ns"] if kind in ("hang", "crash") else job["steps"][-1][1])


def run(words):
    done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))} ended with {done.returncode}: "
                 f"{done.stderr.decode()[-600:]}")
    return done.stdout


def diagnose(l4, folder, at, with_flows):
    flows = ["--flows", folder / "flows"] if with_flows else []
    return json.loads(run([l4, "diagnose", folder / "logs", "--as-of", at, "--format", "json",
                           *flows]))


# Kind -> states of a right report.
WANTED = {"hang": {"hung"}, "crash": {"crashed"}, "slow_gpu": {"slow"}, "degraded_link": {"slow"},
          "pause": {"healthy", "unknown", "finished", "slow"},
          "buffered": {"healthy", "unknown", "finished"}}


def judged(l4, folder, seed, kind, servers):
    """One trace: what the report says with the records and without, beside the truth."""
    truth, job, logs = make(folder, seed, kind, servers)
    server = (truth.get("fault") or {}).get("server")
    one = {"style": "chatty" if logs.is_chatty else "terse", "variant": logs.variant,
           "server": server}
    for name, with_flows in (("with", True), ("without", False)):
        report = diagnose(l4, folder, as_of(truth, job, kind), with_flows)
        nodes = [node["node"] for node in report["nodes"]]
        one[name] = {"state": report["verdict"]["state"], "nodes": nodes[:3],
                     "right": report["verdict"]["state"] in WANTED[kind],
                     "named": server in nodes[:2], "first": nodes[:1] == [server],
                     "summary": report["verdict"]["summary"]}
    return one


def figures(rows, kinds):
    """A row of the table: kinds whose server is asked for are counted by it too."""
    placed = [one for kind in kinds for one in rows[kind] if one["server"]]
    every = [one for kind in kinds for one in rows[kind]]

    def of(name, what, among):
        return f"{sum(one[name][what] for one in among)} of {len(among)}" if among else None
    return {"jobs": len(every), "right": of("with", "right", every),
            "without records": of("without", "right", every),
            "named first": of("with", "first", placed),
            "in the first two": of("with", "named", placed),
            "first two without": of("without", "named", placed)}


class FlowLogs:
    """The table of one program; traces from `seed` on, `traces` of each kind."""

    def __init__(self, work, program, seed, traces):
        self.work, self.l4 = work, shlex.split(program.words)[0]
        self.seeds = range(seed, seed + traces)
        self.key = f"flow-logs-{program.key}-{digest(FLOWGEN, __file__)[:8]}"

    def tables(self, servers=4):
        rows = {}
        for kind in WANTED:
            rows[kind] = [self.work.result(self.key, f"{kind} {seed} {servers}",
                                           lambda kind=kind, seed=seed: self._one(
                                               seed, kind, servers)) for seed in self.seeds]
            yield "flow logs", kind, figures(rows, [kind])
        yield "flow logs", "crash against hang", figures(rows, ["hang", "crash"])

    def _one(self, seed, kind, servers):
        self.work.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="l4-flow-logs-", dir=self.work.folder) as folder:
            return judged(self.l4, pathlib.Path(folder), seed, kind, servers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--l4", default=str(ROOT / "build" / "release" / "bin" / "l4"))
    parser.add_argument("--seeds", default="900:904")
    parser.add_argument("--kinds", default=",".join(WANTED))
    parser.add_argument("--servers", type=int, default=4)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    first, last = map(int, options.seeds.split(":"))
    rows = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        root = options.keep or pathlib.Path(name)
        for kind in options.kinds.split(","):
            for seed in range(first, last):
                one = judged(options.l4, root / f"{kind}-{seed}", seed, kind, options.servers)
                rows[kind].append(one)
                for name in ("with", "without"):
                    print(kind, seed, name, one["style"], one["variant"], one[name]["state"],
                          one[name]["nodes"], one["server"],
                          "" if one[name]["right"] else one[name]["summary"], sep="\t", flush=True)
    for kinds in [[kind] for kind in rows] + [[k for k in ("hang", "crash") if k in rows]]:
        print(" ".join(kinds), *(f"{k} {v}" for k, v in figures(rows, kinds).items()), sep=" | ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
