#!/usr/bin/env python3
"""The recorded runs of real jobs in ../shared/data/lab_runs, scored by lab_score.py beside them.

usage: lab.py L4
"""
import json
import shlex
import subprocess
import sys
import tempfile

import support

STATES_RIGHT = 27           # of 28
NODE_FIRST_SHARE = 0.80     # of the runs whose node is known
NODE_TOP3_MISSES = 1
HEALTHY_EVENTS = 2


def main():
    l4, expect = support.start(sys.argv, "lab")
    runs = support.shared("data", "lab_runs")
    scorer = support.shared("bench", "lab_score.py")
    command = f"{shlex.quote(l4.binary)} diagnose {{logs}} --format json --out {{report}}"
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        done = subprocess.run([sys.executable, scorer, runs, "--cmd", command,
                               "--json", result.name], check=False)
        if not expect.equal(done.returncode, 0, "exit of lab_score.py"):
            return expect.end()
        summary = json.load(result)["summary"]
    missed = summary["runs"] - summary["state_right"]
    expect.that(missed <= 28 - STATES_RIGHT, f"states right in {STATES_RIGHT} of 28",
                summary["state_right"])
    expect.that(summary["node_first"] >= NODE_FIRST_SHARE * summary["node_known"],
                f"node first in {NODE_FIRST_SHARE:.0%} of {summary['node_known']}",
                summary["node_first"])
    expect.that(summary["node_top3"] >= summary["node_known"] - NODE_TOP3_MISSES,
                f"node in the top three in all but {NODE_TOP3_MISSES}", summary["node_top3"])
    expect.that(summary["healthy_max_events"] <= HEALTHY_EVENTS,
                f"at most {HEALTHY_EVENTS} events in a healthy run", summary["healthy_max_events"])
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
