#!/usr/bin/env python3
"""Jobs made by script, one mechanism each, with a healthy twin that must stay silent.

usage: mechanisms.py L4      L4_NODES=N for another size (default 100, 24 under sanitizers)
"""
import os
import pathlib
import random
import sys
import tempfile

import support
from made_job import ALL_REDUCE, MadeJob, rfc3339

NODES = int(os.environ.get("L4_NODES", "24" if support.SANITIZED else "100"))
SEED = int(os.environ.get("L4_SEED", "7"))
LATER_S = 1200.0        # past every deadline that two-second iterations can teach
SILENT = {"hung", "crashed"}


def diagnose(l4, job, *options):
    """Writes the job, reads its report and the flagged lines as (file, number, text)."""
    with tempfile.TemporaryDirectory(prefix="l4-made-") as folder:
        logs = job.write(pathlib.Path(folder, "logs"))
        rows = pathlib.Path(folder, "lines.tsv")
        done, report = l4.report(logs, "--lines", rows, *options)
        flagged = []
        for row in rows.read_text(encoding="utf-8").splitlines() if rows.exists() else []:
            file, number = row.split("\t")[:2]
            texts = (logs / file).read_text(encoding="utf-8").splitlines()
            flagged.append((file, int(number), texts[int(number) - 1]))
        return done, report, flagged


def expect_healthy(l4, expect, job, what):
    """The twin: ended well, and at most two events."""
    done, report, _ = diagnose(l4, job)
    if expect.diagnosed(done, report, what):
        state = report["verdict"]["state"]
        expect.that(state in ("finished", "healthy"), f"{what} is finished or healthy", state)
        expect.that(len(report["events"]) <= 2, f"{what} has at most two events",
                    [event["template"] for event in report["events"]])


def later(job):
    return "--as-of", rfc3339(job.end() + LATER_S)


def rare_error(l4, expect, history=()):
    """One rank prints a line never seen before, and stops; the others wait for it."""
    what = "rare error" + (" with history" if history else "")
    rank, iteration = int(NODES * 0.63), 41
    job = MadeJob(NODES, SEED, loud=bool(history))
    job.stop_all(iteration, ALL_REDUCE, but=[rank])
    job.stop(rank, iteration, 3)
    job.say(rank, job.moment(rank, iteration, 3) + 0.4,
            "ERROR relay: lane 2 refused parity word 0x5f3a, giving up")
    pool = [option for folder in history for option in ("--history", folder)]
    done, report, flagged = diagnose(l4, job, *later(job), *pool)
    if not expect.diagnosed(done, report, what):
        return
    verdict = report["verdict"]
    expect.that(verdict["state"] in SILENT, f"{what}: state hung or crashed", verdict["state"])
    expect.equal(support.first(report["nodes"], "node"), job.node(rank), f"{what}: first node")
    expect.equal(verdict["iteration"], iteration, f"{what}: iteration")
    expect.that(any("refused parity word" in text for _, _, text in flagged),
                f"{what}: --lines flags the line", flagged[:5])
    expect.that("refused parity word" in str(support.first(report["events"], "template")),
                f"{what}: the line's event is first", support.first(report["events"], "template"))
    expect.equal(report["pool"]["used"], bool(history), f"{what}: pool.used")
    expect.equal(report["pool"]["jobs"], len(history), f"{what}: pool.jobs")
    if history:
        noise = [e["template"] for e in report["events"]
                 if "push to" in e["template"] or "out of vocabulary" in e["template"]]
        expect.equal(noise, [], f"{what}: noise that the pool knows")


def lost_tail(l4, expect):
    """One rank lacks the last line of an iteration; the others passed it and then wait."""
    rank, iteration = int(NODES * 0.37), 48
    job = MadeJob(NODES, SEED + 1)
    job.stop_all(iteration + 1, ALL_REDUCE, but=[rank])
    job.stop(rank, iteration, 7)
    done, report, _ = diagnose(l4, job, *later(job))
    if not expect.diagnosed(done, report, "lost tail"):
        return
    expect.that(report["verdict"]["state"] in SILENT, "lost tail: state hung or crashed",
                report["verdict"]["state"])
    expect.equal(report["verdict"]["iteration"], iteration, "lost tail: iteration of the verdict")
    expect.equal(support.first(report["nodes"], "node"), job.node(rank), "lost tail: first node")
    expect.equal(support.first(report["ranks"], "rank"), rank, "lost tail: first rank")
    scored = {entry["iteration"]: entry for entry in report["iterations"]}
    if expect.that(iteration in scored, f"lost tail: iteration {iteration} is in `iterations`",
                   sorted(scored)):
        expect.that(job.node(rank) in scored[iteration]["nodes"],
                    f"lost tail: iteration {iteration} names {job.node(rank)}", scored[iteration])
    reasons = [why for event in report["events"] for why in event["why"]]
    reasons += [why for node in report["nodes"][:1] for why in node["why"]]
    expect.that(any("temporal" in why or "iteration" in why for why in reasons),
                "lost tail: an event or the node says so of the iterations", reasons)


def thirty_percent(l4, expect):
    """30 % of the nodes print the same; no single node is to blame."""
    iteration = 33
    bad = sorted(random.Random(SEED).sample(range(NODES), int(NODES * 0.3)))
    job = MadeJob(NODES, SEED + 2)
    job.stop_all(iteration, ALL_REDUCE, but=bad)
    for rank in bad:
        job.stop(rank, iteration, 1)
        job.say(rank, job.moment(rank, iteration, 1) + random.Random(rank).uniform(0.1, 2.5),
                f"ERROR storage: read of shard {rank * 7 + 100:05d} failed: Input/output error")
    done, report, _ = diagnose(l4, job, *later(job))
    if not expect.diagnosed(done, report, "30 % of the nodes"):
        return
    named = {node["node"] for node in report["nodes"]}
    expect.that(report["verdict"]["state"] in SILENT, "30 %: state hung or crashed",
                report["verdict"]["state"])
    expect.equal(report["verdict"]["scope"], "several", "30 %: scope")
    expect.equal(sorted({job.node(r) for r in bad} - named), [], "30 %: faulty nodes not named")
    expect.that(support.node_confidence(report) <= 0.5, "30 %: no node is blamed alone",
                support.node_confidence(report))
    same = [e for e in report["events"] if "read of shard" in e["template"]]
    if expect.equal(len(same), 1, "30 %: events for the one message"):
        expect.equal(len(same[0]["nodes"]), len(bad), "30 %: nodes of the event")


def silence(l4, expect):
    """All ranks fall silent in the same step and print no error."""
    job = MadeJob(NODES, SEED + 3)
    job.stop_all(52, ALL_REDUCE)
    done, report, _ = diagnose(l4, job, *later(job))
    if expect.diagnosed(done, report, "silence, looked at later"):
        expect.equal(report["verdict"]["state"], "hung", "silence, looked at later: state")
        expect.equal(report["verdict"]["iteration"], 52, "silence, looked at later: iteration")
        expect.that(support.node_confidence(report) <= 0.5, "silence: no node is blamed",
                    support.node_confidence(report))
    done, report, _ = diagnose(l4, job)
    if expect.diagnosed(done, report, "silence, no later time known"):
        expect.equal(report["verdict"]["state"], "unknown", "silence, no later time: state")
        expect.that(report["verdict"]["confidence"] <= 0.5, "silence, no later time: confidence",
                    report["verdict"]["confidence"])
        expect.that(support.node_confidence(report) <= 0.5, "silence, no later time: nodes",
                    support.node_confidence(report))


def running(l4, expect):
    """A healthy job, diagnosed in the middle of an iteration."""
    job = MadeJob(NODES, SEED + 4)
    job.stop_all(44, ALL_REDUCE)
    done, report, _ = diagnose(l4, job, "--as-of", rfc3339(job.end() + 0.5))
    if expect.diagnosed(done, report, "still running"):
        expect.equal(report["verdict"]["state"], "healthy", "still running: state")
        expect.that(len(report["events"]) <= 2, "still running: at most two events",
                    [event["template"] for event in report["events"]])


def main():
    l4, expect = support.start(sys.argv, "mechanisms")
    print(f"{NODES} nodes, seed {SEED}")
    rare_error(l4, expect)
    lost_tail(l4, expect)
    thirty_percent(l4, expect)
    silence(l4, expect)
    running(l4, expect)
    for twin in range(4):
        expect_healthy(l4, expect, MadeJob(NODES, SEED + twin), f"healthy twin {twin}")
    with tempfile.TemporaryDirectory(prefix="l4-made-") as folder:
        history = [MadeJob(max(NODES // 4, 4), 100 + run, loud=True).write(f"{folder}/{run}")
                   for run in range(2)]
        rare_error(l4, expect, history)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
