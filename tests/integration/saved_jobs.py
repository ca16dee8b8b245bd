#!/usr/bin/env python3
"""Jobs that are saved and loaded on the way give the report they would have given.

Over the recorded runs in ../shared/data/lab_runs and cases that ../shared/bench/casegen.py makes.

usage: saved_jobs.py L4        (l4_tests stands beside it)
"""
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import support

CASES = 4
SEED = "31"


def main():
    l4, expect = support.start(sys.argv, "saved jobs")
    runs = sorted(support.shared("data", "lab_runs").glob("*.tar.gz"))
    real = support.shared("data", "real_logs")
    casegen = support.shared("bench", "casegen.py")
    tests = pathlib.Path(l4.binary).with_name("l4_tests")
    with tempfile.TemporaryDirectory(prefix="l4-saved-") as name:
        folder = pathlib.Path(name)
        for run in runs:
            with tarfile.open(run) as archive:
                archive.extractall(folder)
        subprocess.run([sys.executable, casegen, "--normal", real / "normal", "--failures",
                        real / "failures", "--out", folder, "--seed", SEED, "--cases", str(CASES)],
                       check=True, stdout=subprocess.DEVNULL)
        logs = sorted(str(path) for path in folder.glob("*/logs"))
        if not expect.that(len(logs) >= len(runs) + CASES, "folders of logs", len(logs)):
            return expect.end()
        done = subprocess.run([tests, "-tc=saved job: recorded jobs*", "--no-skipped-summary"],
                              env={**os.environ, "L4_SAVED_JOBS": ":".join(logs)}, check=False,
                              capture_output=True, text=True)
        expect.equal(done.returncode, 0, f"reports of {len(logs)} jobs: {done.stdout[-2000:]}")
        expect.that("1 passed" in done.stdout, "one test case ran", done.stdout)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
