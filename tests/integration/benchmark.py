#!/usr/bin/env python3
"""Labelled failures made from real logs, scored by ../shared/bench/score.py.

usage: benchmark.py L4      L4_SEED (default 5), L4_CASES (default 12), L4_HEALTHY_CASES (default 3)

A few cases may include no healthy one, so healthy ones are added.
"""
import json
import os
import shlex
import subprocess
import sys
import tempfile

import support

EVENT_F1 = 0.70
FALSE_ALARMS = 0.0
SEED = os.environ.get("L4_SEED", "5")
CASES = int(os.environ.get("L4_CASES", "12"))
HEALTHY_CASES = int(os.environ.get("L4_HEALTHY_CASES", "3"))
COMMAND = ("{binary} diagnose {{logs}} {{history_args}} {{as_of_args}} --format json "
           "--out {{report}} --lines {{lines}}")


def make_cases(folder):
    real = support.shared("data", "real_logs")
    base = [sys.executable, support.shared("bench", "casegen.py"), "--normal", real / "normal",
            "--failures", real / "failures", "--out", folder, "--seed", SEED]
    subprocess.run([*base, "--cases", str(CASES)], check=True)
    if HEALTHY_CASES:
        subprocess.run([*base, "--first", "900", "--cases", str(HEALTHY_CASES), "--healthy", "1"],
                       check=True)


def main():
    l4, expect = support.start(sys.argv, "benchmark")
    scorer = support.shared("bench", "score.py")
    with tempfile.TemporaryDirectory(prefix="l4-cases-") as folder:
        make_cases(folder)
        result = os.path.join(folder, "score.json")
        done = subprocess.run([sys.executable, scorer, folder, "--json", result, "--cmd",
                               COMMAND.format(binary=shlex.quote(l4.binary))], check=False)
        if not expect.equal(done.returncode, 0, "exit of score.py"):
            return expect.end()
        with open(result, encoding="utf-8") as file:
            summary = json.load(file)["summary"]
    print(f"seed {SEED}: event F1 {summary['event F1']}, at least {EVENT_F1}; false alarm rate "
          f"{summary['false alarm rate']}, at most {FALSE_ALARMS}")
    expect.equal(summary["did not run"], 0, "cases that did not run")
    expect.that((summary["event F1"] or 0) >= EVENT_F1, f"event F1 of {EVENT_F1}",
                summary["event F1"])
    expect.that((summary["false alarm rate"] or 0) <= FALSE_ALARMS, "no false alarm",
                summary["false alarm rate"])
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
