#!/usr/bin/env python3
"""Logs of the ranks of a job of ../shared/bench/flowgen.py, and what L4 makes of both together.

usage: flow_logs.py L4 [--seeds FROM:TO] [--kinds KIND,...] [--servers N] [--keep FOLDER]

For each seed and kind of fault a trace is made, logs are written for the job that the fault
strikes, and `l4 diagnose LOGS --flows TRACE` is compared with the truth, with and without the flow
records. Kinds: hang, crash, slow_gpu, degraded_link, pause, and buffered, a job that goes on while
its logs stop.

Logs are chatty (six lines an iteration of each rank) or terse (rank 0 prints iterations, the others
a line at the start). A hung job's waiting ranks print a collective's timeout, or nothing. A crash
is a traceback on its server and broken connections on others, a kill that only the launcher tells
of, or a kill that nobody tells of.
"""
import argparse
import collections
import datetime
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from support import L4, SHARED

FLOWGEN = SHARED / "bench" / "flowgen.py"
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
    fault = "none" if kind == "buffered" else kind
    subprocess.run([sys.executable, FLOWGEN, "--out", folder / "flows", "--seed", str(seed),
                    "--servers", str(2 * servers), "--jobs", "2", "--job-servers", str(servers),
                    "--steps", "40", "--counters", "0", "--fault", fault, "--silence", "60"],
                   check=True, stdout=subprocess.DEVNULL)
    truth = json.loads((folder / "flows" / "truth.json").read_text())
    truth["folder"] = folder / "flows"
    struck = (truth.get("fault") or {}).get("job") or truth["jobs"][0]["job"]
    job = next(j for j in truth["jobs"] if j["job"] == struck)
    logs = Logs(truth, job, seed, kind)
    logs.write(folder / "logs")
    return truth, job, logs


def as_of(truth, job, kind):
    """When the logs are looked at: while the trace goes on, and the job with it."""
    return stamp(truth["end_ns"] if kind in ("hang", "crash") else job["steps"][-1][1])


def diagnose(l4, folder, truth, job, kind, with_flows):
    flows = ["--flows", folder / "flows"] if with_flows else []
    done = l4.run("diagnose", folder / "logs", "--as-of", as_of(truth, job, kind), "--format",
                  "json", *flows)
    return json.loads(done.stdout) if done.status == 0 else {"verdict": {"state": "?"}, "nodes": []}


WANTED = {"hang": {"hung"}, "crash": {"crashed"}, "slow_gpu": {"slow"}, "degraded_link": {"slow"},
          "pause": {"healthy", "unknown", "finished", "slow"},
          "buffered": {"healthy", "unknown", "finished"}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("l4")
    parser.add_argument("--seeds", default="900:904")
    parser.add_argument("--kinds", default=",".join(WANTED))
    parser.add_argument("--servers", type=int, default=4)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    first, last = map(int, options.seeds.split(":"))
    l4, rows = L4(options.l4), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        root = options.keep or pathlib.Path(name)
        for kind in options.kinds.split(","):
            for seed in range(first, last):
                folder = root / f"{kind}-{seed}"
                truth, job, logs = make(folder, seed, kind, options.servers)
                server = (truth.get("fault") or {}).get("server")
                for with_flows in (True, False):
                    report = diagnose(l4, folder, truth, job, kind, with_flows)
                    state = report["verdict"]["state"]
                    nodes = [n["node"] for n in report["nodes"]]
                    rows[kind, with_flows].append((state in WANTED[kind], server in nodes[:2]))
                    print(kind, seed, "with" if with_flows else "without", logs.variant,
                          "chatty" if logs.is_chatty else "terse", state, nodes[:3], server,
                          sep="\t", flush=True)
    for (kind, with_flows), found in rows.items():
        print(f"{kind}, {'with' if with_flows else 'without'} flows: state right "
              f"{sum(s for s, _ in found)} of {len(found)}, struck server in the first two "
              f"{sum(n for _, n in found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
