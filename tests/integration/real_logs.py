#!/usr/bin/env python3
"""Genuine training logs, each diagnosed alone: healthy ones raise no alarm, failed ones show why.

usage: real_logs.py L4 [--table]      --table prints a row for each file

Logs and labels are ../shared/data/real_logs. A root line counts as flagged where `--lines` lists
it; the first event counts as right where one of its lines is a root line.
"""
import json
import pathlib
import sys
import tempfile

import support

NORMAL_ALARMS = 1                       # files
FLAGGED, FIRST, STATE = 0.80, 0.65, 0.75
QUIET = {"healthy", "finished", "unknown"}
STATES = {
    "launch": {"launch_failed", "crashed"},
    "crash": {"crashed", "node_lost"},
    "hang": {"hung"},
}


def diagnose(l4, log, folder):
    """The run, its report, and the flagged (line, template id) of one log."""
    lines = pathlib.Path(folder, "lines.tsv")
    lines.unlink(missing_ok=True)
    done, report = l4.report(log, "--lines", lines)
    rows = lines.read_text(encoding="utf-8").splitlines() if lines.exists() else []
    fields = [row.split("\t") for row in rows]
    return done, report, [(int(f[1]), f[2]) for f in fields if f[1].isdigit()]


def normal(l4, expect, folder, table):
    alarms = []
    for log in sorted(support.shared("data", "real_logs", "normal").glob("*.log")):
        done, report, _ = diagnose(l4, log, folder)
        if not expect.diagnosed(done, report, log.name):
            continue
        state = report["verdict"]["state"]
        if state not in QUIET:
            alarms.append(f"{log.name}: {state}: {report['verdict']['summary']}")
        if table:
            print(f"{log.name:36} {state:14} {report['verdict']['summary'][:150]}")
    print(f"healthy logs with an alarm: {len(alarms)}, at most {NORMAL_ALARMS}")
    expect.that(len(alarms) <= NORMAL_ALARMS, f"at most {NORMAL_ALARMS} alarms", alarms)


def right_state(label, state):
    return label["symptom"] == "abnormal" or state in STATES[label["symptom"]]


def failures(l4, expect, folder, table):
    flagged = first = state = count = 0
    for path in sorted(support.shared("data", "real_logs", "failures").glob("*.label.json")):
        label = json.loads(path.read_text(encoding="utf-8"))
        log = path.parent / pathlib.Path(label["file"]).name
        done, report, lines = diagnose(l4, log, folder)
        if not expect.diagnosed(done, report, log.name):
            continue
        roots = {n for a, b in label["root_lines"] for n in range(a, b + 1)}
        top = support.first(report["events"], "template_id")
        hit = any(n in roots for n, _ in lines)
        led = any(n in roots for n, template in lines if template == top)
        verdict = report["verdict"]["state"]
        right = right_state(label, verdict)
        count, flagged, first, state = count + 1, flagged + hit, first + led, state + right
        if table:
            marks = "".join("+" if good else "-" for good in (hit, led, right))
            print(f"{marks} {log.stem:34} {label['symptom']:9}{label['stage']:16}{verdict:14}"
                  f"{report['verdict']['summary'][:140]}")
    for what, value, bound in (("root line flagged", flagged, FLAGGED),
                               ("first event is a root line", first, FIRST),
                               ("state right", state, STATE)):
        share = value / count if count else 0.0
        print(f"{what}: {value} of {count} = {share:.3f}, at least {bound}")
        expect.that(share >= bound, f"{what} in {bound}", share)


def main():
    table = "--table" in sys.argv
    l4, expect = support.start([a for a in sys.argv if a != "--table"], "real_logs")
    with tempfile.TemporaryDirectory() as folder:
        normal(l4, expect, folder, table)
        failures(l4, expect, folder, table)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
