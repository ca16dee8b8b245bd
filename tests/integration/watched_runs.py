#!/usr/bin/env python3
"""The recorded runs in ../shared/data/lab_runs, fed to a watch as their files grew.

Floors are 10 s and 60 s; no process is known, so lines, iterations and silence have to do. A
failure must not be seen before it began, a healthy run is healthy throughout.

usage: watched_runs.py L4        (l4_tests stands beside it)
"""
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import support

RIGHT = {"crash": {"crashed"}, "hang": {"hung", "node_lost"}, "slow": {"slow"},
         "launch": {"launch_failed"}, "healthy": {"healthy", "finished"}}
FINE = {"healthy", "finished", "unknown"}
# Seconds from the injected fault to the first right state. A failed launch counts as detected when
# the launcher reports it.
MOST = {"crash": 5, "hang": 41, "slow": 15}
STATES_RIGHT = 27           # of 28


def judge(expect, run, rows):
    truth = json.loads(run.with_suffix("").with_suffix(".truth.json").read_text())
    name, symptom = truth["job_id"], truth["symptom"]
    began = truth["t_effect"] or truth["t_inject"] or truth["t_start"]
    early = [row for row in rows if row[2] not in FINE and
             (symptom == "healthy" or int(row[1]) / 1000 < began)]
    expect.that(not early, f"{name} {symptom}: nothing before it began", early)
    right = [int(row[1]) / 1000 - began for row in rows if row[2] in RIGHT[symptom]]
    if symptom in MOST:
        expect.that(right and right[0] <= MOST[symptom],
                    f"{name} {truth['fault']}: {symptom} within {MOST[symptom]} s", rows)
    return bool(right)


def main():
    l4, expect = support.start(sys.argv, "watched runs")
    runs = sorted(support.shared("data", "lab_runs").glob("*.tar.gz"))
    tests = pathlib.Path(l4.binary).with_name("l4_tests")
    with tempfile.TemporaryDirectory(prefix="l4-watched-") as folder:
        folder = pathlib.Path(folder)
        for run in runs:
            with tarfile.open(run) as archive:
                archive.extractall(folder)
        out = folder / "rows.tsv"
        names = [run.name.removesuffix(".tar.gz") for run in runs]
        done = subprocess.run(
            [tests, "-tc=job watch: recorded jobs*", "--no-skipped-summary"],
            env={**os.environ, "L4_WATCHED_OUT": str(out),
                 "L4_WATCHED_RUNS": ":".join(str(folder / name) for name in names)},
            check=False, capture_output=True, text=True)
        if not expect.equal(done.returncode, 0, f"l4_tests: {done.stdout[-2000:]}"):
            return expect.end()
        rows = [line.split("\t") for line in out.read_text().splitlines()]
    found = sum(judge(expect, run, [row for row in rows if row[0] == name])
                for run, name in zip(runs, names))
    expect.that(found >= STATES_RIGHT, f"the right state in {STATES_RIGHT} of {len(runs)}", found)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
