#!/usr/bin/env python3
"""After a failure, end to end: a real job breaks, Alertmanager has the alert, an engineer asks for
the report and the raw lines and confirms the fault; the same fault strikes another node of the next
job, and its alert names what was confirmed.

usage: answered.py --bin FOLDER [--fault KIND] [--style STYLE] [--seed N] [--out FOLDER] [--brief]

The lab's jobs run in network namespaces with an agent on each node (see lab.py); Alertmanager and
the aggregator stand in one more (head_answered.py). What must hold: one alert within 10 s of the
injection, with job, attempt, node, rank, stage, iteration and summary; the report within 1 s; the
lines that tell of the failure, read from the node, with what stands around them.
Needs root, python3-torch, iproute2 and prometheus-alertmanager; ends with 77 where they or the lab
are missing, with 1 where something did not hold. Takes about two minutes; --brief is the first job.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.append(str(HERE.parent / "integration"))

import lab  # noqa: E402
import live  # noqa: E402
import support  # noqa: E402

CAUSE = "A maintenance script killed a rank."
FIX = "Drain the node before the script runs."
ALERT_S, SNAPSHOT_S = 10, 1
EVALUATED_EVERY = 60  # iterations of the lab's jobs
ALERTMANAGER = "/usr/bin/prometheus-alertmanager"
# The first event of each fault; of kill9 only if the launcher has named the signal by then: it
# checks its processes in turn, and may first see one that ended because its peer was gone.
FIRST_EVENT = {"abort": "Fatal Python error: Aborted", "kill9": "failed (exitcode: -9)"}
ANNOTATIONS = {"summary", "state", "stage", "iteration", "node", "rank"}


def write_settings(folder, programs):
    """Keys and settings of lab.py, with an Alertmanager as sink instead of the webhook."""
    lab.write_settings(folder, programs, [f"node-{k:02}" for k in range(4)])
    path = folder / "aggregator.toml"
    text = path.read_text().split("[alerts]")[0]
    path.write_text(text + live.manager_sink("http://127.0.0.1:9093"))


def run_job(options, folder, seed, confirm, node=-1):
    """Runs a job; returns truth, rows of alerts and answers. `node` -1: the seed chooses it."""
    job = f"answered-{options.fault.replace('_', '-')}-{seed}"
    more = "--confirm '" + "' '".join(confirm) + "'" if confirm else ""
    head = (f"python3 {HERE}/head_answered.py --bin {options.bin} --alertmanager {ALERTMANAGER} "
            f"--config {folder}/aggregator.toml --out {{dir}}/head {more}")
    agent = f"{options.bin}/l4-agent --config {folder}/" + "{node}.toml"
    command = [lab.LAB / "run_job.sh", "--out", folder / "runs", "--work", folder / "work",
               "--job-id", job, "--fault", options.fault, "--seed", seed, "--style",
               options.style, "--iters", "120", "--side-grace", "25", "--node", node,
               "--head-cmd", head, "--agent-cmd", agent, *lab.KINDS[options.fault]]
    with open(folder / f"{job}.log", "w", encoding="utf-8") as said:
        subprocess.run([str(word) for word in command], stdout=said, stderr=said, check=True,
                       timeout=400)
    run = folder / "runs" / job
    rows = [json.loads(row) for row in (run / "head/alerts.jsonl").read_text().splitlines()]
    answers = run / "head/answers.json"
    truth = {**json.loads((run / "truth.json").read_text()), "job": job}
    return (truth, rows,
            json.loads(answers.read_text()) if answers.exists() else [])


def check_alert(expect, truth, rows, what):
    """This job's alert at the end; an earlier job's alert may still be listed beside it."""
    seen = []
    for row in rows:
        alerts = [one for one in row["alerts"] if one["labels"].get("job") == truth["job"]]
        if alerts:
            seen.append({"seen": row["seen"], "alerts": alerts})
    if not expect.that(seen, f"{what}: an alert"):
        return {}
    after = seen[0]["seen"] - truth["t_inject"]
    print(f"{what}: the alert came {after:.1f} s after the injection")
    expect.that(after <= ALERT_S, f"{what}: in time", after)
    expect.that(all(len(row["alerts"]) == 1 for row in seen), f"{what}: one alert", seen)
    alert = seen[-1]["alerts"][0]
    said = alert["annotations"]
    expect.equal(ANNOTATIONS - set(said), set(), f"{what}: annotations that are missing")
    expect.equal(alert["labels"].get("job"), truth["job"], f"{what}: the job")
    expect.equal(alert["labels"].get("attempt"), "0", f"{what}: the attempt")
    expect.equal(said.get("node"), truth["node"], f"{what}: the node")
    expect.equal(said.get("rank"), str(truth["rank"]), f"{what}: the rank")
    evaluated = truth["inject_after_iter"] % EVALUATED_EVERY == 0
    expect.equal(said.get("stage"), "evaluation" if evaluated else "training", f"{what}: the stage")
    expect.that(abs(int(said.get("iteration") or -9) - truth["iteration"]) <= 1,
                f"{what}: the iteration", (said.get("iteration"), truth["iteration"]))
    print(f"{what}: {said.get('summary')}")
    return alert


def first_event_of(fault, events):
    """Text that the lines of the first event must hold."""
    words = FIRST_EVENT.get(fault, "")
    is_told = any(words in event["template"] for event in events)
    return words if fault != "kill9" or is_told else ""


def check_killed(expect, truth, report, words):
    """The agent saw the process end, whatever the launcher and the peers say, and however soon."""
    first = report["ranks"][0] if report["ranks"] else {}
    expect.equal((first.get("node"), first.get("rank")), (truth["node"], truth["rank"]),
                 "the first rank of the report")
    expect.that(any("SIGKILL" in why for why in first.get("why", [])), "why it is the first", first)
    expect.that("SIGKILL" in report["verdict"]["summary"], "the summary tells of the signal",
                report["verdict"]["summary"])
    roots = [event["template"] for event in report["events"] if event["role"] == "root"]
    expect.that(all(words and words in text for text in roots), "no word of a peer leads", roots)


def check_answers(expect, truth, answers):
    by_name = {answer["name"]: answer for answer in answers}
    for answer in answers:
        expect.equal(answer["exit"], 0, f"l4 {' '.join(answer['words'])}: exit; "
                     + answer["stderr"][-300:])
    if not expect.that("snapshot" in by_name, "the engineer was answered", list(by_name)):
        return
    print(f"l4 snapshot: {by_name['snapshot']['seconds']} s")
    expect.that(by_name["snapshot"]["seconds"] <= SNAPSHOT_S, "the report in time",
                by_name["snapshot"]["seconds"])
    lines = json.loads(by_name["lines"]["stdout"])
    rows = lines["lines"]
    print(f"l4 lines: {len(rows)} lines of rank {truth['rank']}, "
          f"{by_name['lines']['seconds']} s")
    expect.that(rows, "lines of the rank", by_name["lines"]["stdout"][:400])
    expect.equal({row.get("node") for row in rows}, {truth["node"]}, "read from its node")
    hits = [row["line"] for row in rows if row["hit"]]
    expect.that(hits and len(rows) > len(hits), "what was asked for, and lines around it", rows)
    print(by_name["lines of the node"]["stdout"][-1500:])
    report = json.loads(by_name["report"]["stdout"])
    events = report["events"]
    if expect.that(events, "an event"):
        first = first_event_of(truth["fault"], events)
        if truth["fault"] == "kill9":
            check_killed(expect, truth, report, first)
        words = {max(events[0]["template"].split("<*>"), key=len).strip(), first}
        told = [row for row in by_name["lines of the event"]["stdout"].splitlines()
                if row.startswith(">") and all(word in row for word in words)]
        expect.that(told, f"the line of the first event, with {words}",
                    by_name["lines of the event"]["stdout"])
    if "confirm" in by_name:
        print(by_name["confirm"]["stdout"])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--fault", default="kill9", choices=sorted(lab.KINDS))
    parser.add_argument("--style", default="plain", choices=lab.STYLES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, help="keep everything here")
    parser.add_argument("--brief", action="store_true")
    options = parser.parse_args()
    reason = lab.missing() or (None if shutil.which(ALERTMANAGER) else "no Alertmanager")
    if reason:
        print(f"skipped: {reason}")
        return lab.SKIPPED
    expect = support.Expectations("answered")
    with tempfile.TemporaryDirectory(prefix="l4-answered-") as made:
        folder = (options.out or pathlib.Path(made)).resolve()
        os.makedirs(folder, exist_ok=True)
        write_settings(folder, options.bin)
        truth, rows, answers = run_job(options, folder, options.seed, (CAUSE, FIX))
        check_alert(expect, truth, rows, "first job")
        check_answers(expect, truth, answers)
        if options.brief:
            return expect.end()
        confirmed = "".join(one["stdout"] for one in answers if one["name"] == "confirm")
        other, rows, answers = run_job(options, folder, options.seed + 1, None,
                                       (truth["node_index"] + 1) % 4)
        alert = check_alert(expect, other, rows, "second job")
        expect.that(other["node"] != truth["node"], "it strikes another node", other["node"])
        said = alert.get("annotations", {})
        expect.equal((said.get("cause"), said.get("fix")), (CAUSE, FIX), "what was confirmed")
        expect.that(said.get("fault") and said["fault"] in confirmed, "its title", said)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
