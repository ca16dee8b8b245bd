"""Expectations of a job of ../shared/lab that is watched live, compared with `l4 diagnose`.

judge() compares what the head of the job wrote (tests/live/head.py) with what the lab did:
state, the faulty node first, told in time. compare() diagnoses the same files afterwards and
compares state, first node and flagged lines with the last live report. Standard library only.
"""
import dataclasses
import json
import subprocess

FLOOR_S = 10
CRASH_S, NODE_LOST_S = 5, 15
POLL_S = 0.5        # how exactly a suspicion is seen: head.py asks four times a second
JACCARD = 0.98
STATES = {"healthy": {"healthy", "finished", "unknown"}, "slow": {"slow"}, "hang": {"hung"},
          "crash": {"crashed"}, "launch": {"launch_failed"}}
EXTRA = {"link_down": {"node_lost"}}
# Faults that logs and processes cannot locate on a node.
NOT_LOCALISABLE = {"slow_link", "world_mismatch"}
BY_SIGNAL = {"kill9", "segv", "abort", "oom_cgroup"}
# Faults that only agents can see: no line says that an agent or process is gone or stopped.
TOLD_BY_AGENTS = {"link_down", "sigstop"}
TIMED = {"deepspeed", "hf", "plain"}      # most lines of megatron have no time


@dataclasses.dataclass
class Outcome:
    fault: str
    style: str = ""
    seed: int = 0
    problems: list = dataclasses.field(default_factory=list)
    state: str = ""
    nodes: list = dataclasses.field(default_factory=list)
    told_s: float | None = None
    limit_s: float | None = None
    offline: str = ""
    jaccard: float | None = None
    flagged: tuple = (0, 0)      # lines, live and offline
    notes: list = dataclasses.field(default_factory=list)

    def row(self):
        def seconds(value):
            return "" if value is None else f"{value:.1f}"
        share = "" if self.jaccard is None else f"{self.jaccard:.3f}"
        return (f"{'FAILED' if self.problems else 'ok':6} {self.fault:15} {self.style:10}"
                f"{self.seed:5} {self.state:14} {' '.join(self.nodes[:2]):16}"
                f"{seconds(self.told_s):>6} {seconds(self.limit_s):>6}  {self.offline:26}"
                f"{share:>6} {self.flagged[0]:5}/{self.flagged[1]}")


HEADER = (f"{'':6} {'fault':15} {'style':10}{'seed':>5} {'live':14} {'first nodes':16}"
          f"{'told s':>6} {'most':>6}  {'offline':26}{'same':>6} lines")


def rows(file):
    try:
        return [json.loads(line) for line in file.read_text().splitlines()]
    except FileNotFoundError:
        return []


def progress(run):
    """The actions of each rank: rows of (action, number, time)."""
    for file in sorted((run / "progress").glob("rank_*.csv")):
        parts = [row.split(",") for row in file.read_text().splitlines()]
        yield [(what, int(number), float(at)) for what, number, at in parts]


def longest_pause(run, until):
    """The longest time between two iterations of a rank, before the fault."""
    longest = 0.0
    for done in progress(run):
        times = [at for what, _, at in done if what == "iter" and at <= until]
        longest = max([longest, *(b - a for a, b in zip(times, times[1:]))])
    return longest


def stopped_in_first(run, truth):
    """The job stopped in its first checkpoint or its first evaluation."""
    last = max((number for done in progress(run) for what, number, _ in done if what == "iter"),
               default=0)
    return last in (truth.get("save_interval", 50), truth.get("eval_interval", 60))


def first_traceback(run, since):
    """Time of the first traceback of any rank; not for rotated logs."""
    grown = {}
    for row in (run / "arrivals.csv").read_text().splitlines():
        at, name, size = row.split(",")
        grown.setdefault(name, []).append((float(at), int(size)))
    times = []
    for file in (run / "logs").rglob("stderr.log"):
        text, start = file.read_bytes(), 0
        while (start := text.find(b"Traceback (most recent call last)", start)) >= 0:
            start += 1
            times += [at for at, size in grown[str(file.relative_to(run / "logs"))]
                      if size > start][:1]
    return min((at for at in times if at >= since), default=None)


def first_evidence(run, truth):
    """Time at which logs or processes first show the fault, as well as the lab's records tell."""
    begun = max(truth["t_inject"] or 0, truth["t_effect"] or 0)
    if truth["fault"] in BY_SIGNAL or truth["symptom"] in ("hang", "slow"):
        return begun
    if not (run / "whole").exists() and (traced := first_traceback(run, begun)) is not None:
        return traced
    grown = [float(at) for at, name, _ in
             (row.split(",") for row in (run / "arrivals.csv").read_text().splitlines())
             if float(at) >= begun and name.endswith(("stderr.log", "agent.log"))]
    return min(grown, default=begun)


def limit_of(run, truth):
    """Seconds from the first evidence until an alert must have been sent."""
    if truth["symptom"] == "crash":
        return CRASH_S
    if truth["fault"] == "link_down":
        return NODE_LOST_S
    if truth["symptom"] == "hang":
        if stopped_in_first(run, truth):
            return 4 * FLOOR_S + POLL_S
        return max(3 * longest_pause(run, truth["t_inject"]), FLOOR_S) + POLL_S
    return None


def leaves_no_gap(truth):
    """The last node never came: the names of the others are whole without it."""
    return truth["fault"] == "missing_node" and truth["node"] == f"node-{truth['nodes'] - 1:02}"


def judge(run, truth):
    outcome = Outcome(truth["fault"], truth["style"], truth["seed"])
    alerts = rows(run / "head" / "alerts.jsonl")
    seen = rows(run / "head" / "jobs.jsonl")
    opened = [row for row in alerts if row["alert"]["alert"] in ("opened", "changed")]
    suspected = [row["seen"] for row in seen for job in row["jobs"]
                 if job["suspect"] or job["incident"]]
    if truth["symptom"] == "healthy":
        outcome.state = "loud" if opened or suspected else "silent"
        if opened or suspected:
            what = opened[0]["alert"]["summary"] if opened else "suspected"
            outcome.problems.append("a healthy job was not left alone: " + what)
        return outcome
    allowed = STATES[truth["symptom"]] | EXTRA.get(truth["fault"], set())
    last = opened[-1]["alert"] if opened else {}
    outcome.state, outcome.nodes = last.get("state", "nothing"), last.get("nodes", [])
    if outcome.state not in allowed:
        outcome.problems.append(f"state {outcome.state}, not {'|'.join(sorted(allowed))}")
    if truth["node"] and truth["fault"] not in NOT_LOCALISABLE and not leaves_no_gap(truth) and \
            outcome.nodes[:1] != [truth["node"]]:
        outcome.problems.append(f"first node {outcome.nodes[:1] or 'none'}, not {truth['node']}")
    wrong = [row["alert"]["state"] for row in opened if row["alert"]["state"] not in allowed]
    if wrong and outcome.state in allowed:
        outcome.notes.append(f"was first told as {wrong[0]}")
    if len({row["alert"]["incident"] for row in opened}) > truth["max_restarts"] + 1:
        outcome.problems.append("more incidents than attempts")
    early = [at for at in suspected if at < (truth["t_inject"] or 0) - POLL_S]
    if early:
        outcome.problems.append(f"suspected {truth['t_inject'] - early[0]:.1f} s before it began")
    times = [row["received"] for row in opened if row["alert"]["state"] in allowed]
    if truth["symptom"] == "hang":
        times += [at for at in suspected if at >= truth["t_inject"]]
    told = min(times, default=None)
    outcome.limit_s = limit_of(run, truth)
    outcome.told_s = told - first_evidence(run, truth) if told else None
    if outcome.limit_s is not None and \
            (outcome.told_s is None or outcome.told_s > outcome.limit_s):
        outcome.problems.append(f"told after {outcome.told_s} s, not {outcome.limit_s:.1f}")
    return outcome


def flagged(file):
    """(file, line) of rows of --lines."""
    cells = [row.split("\t") for row in file.read_text().splitlines()]
    return {(row[0], int(row[1])) for row in cells}


def compare(programs, run, truth, logs, outcome):
    """The same files diagnosed afterwards; `logs`: unrotated."""
    snapshot = run / "head" / "snapshot.json"
    if not snapshot.exists() or snapshot.read_text() in ("", "null"):
        outcome.problems.append("no live report at the end")
        return
    live = json.loads(snapshot.read_text())
    report, lines, mine = (run / name for name in ("offline.json", "offline.tsv", "live.tsv"))
    as_of = live_time(run, truth)
    settings = run / "diagnose.toml"
    settings.write_text(f"[detect]\nhang_floor_s = {FLOOR_S}\n")
    subprocess.run([programs / "l4", "diagnose", logs, "--as-of", as_of, "--config", settings,
                    "--format", "json", "--out", report, "--lines", lines], check=True,
                   stderr=subprocess.DEVNULL)
    said = subprocess.run([programs / "l4_flagged", snapshot, logs, mine], check=True,
                          capture_output=True, text=True)
    (run / "flagged.txt").write_text(said.stdout)
    after = json.loads(report.read_text())
    states = live["verdict"]["state"], after["verdict"]["state"]
    firsts = [next((node["node"] for node in one["nodes"]), "") for one in (live, after)]
    ours, theirs = flagged(mine), flagged(lines)
    both = ours | theirs
    outcome.jaccard = len(ours & theirs) / len(both) if both else 1.0
    outcome.flagged = len(ours), len(theirs)
    outcome.offline = f"{states[1]} {firsts[1]}"
    problems = []
    if states[0] != states[1]:
        problems.append(f"state live {states[0]}, offline {states[1]}")
    if firsts[0] != firsts[1]:
        problems.append(f"first node live {firsts[0] or 'none'}, offline {firsts[1] or 'none'}")
    if outcome.jaccard < JACCARD:
        problems.append(f"flagged lines: {len(ours - theirs)} live only, "
                        f"{len(theirs - ours)} offline only, {len(ours & theirs)} both")
    lines_tell = truth["style"] in TIMED and truth["fault"] not in TOLD_BY_AGENTS
    (outcome.problems if lines_tell else outcome.notes).extend(problems)


def live_time(run, truth):
    """When the live report was made, RFC 3339: just before the head ended."""
    import datetime
    at = (run / "head" / "snapshot.json").stat().st_mtime
    return datetime.datetime.fromtimestamp(max(at, truth["t_end"]), datetime.UTC).strftime(
        "%Y-%m-%dT%H:%M:%SZ")
