#!/usr/bin/env python3
"""The diagnosis of the sample job agrees with samples/README.md, and its report has the right form.

usage: sample.py L4
"""
import subprocess
import sys

import support


def main():
    l4, expect = support.start(sys.argv, "sample")
    done, report = l4.report(support.SAMPLE)
    if expect.diagnosed(done, report, "samples/crash-rank4"):
        expect.equal(report["verdict"]["state"], "crashed", "state")
        expect.equal(report["verdict"]["stage"], "training", "stage")
        expect.equal(report["verdict"]["iteration"], 90, "iteration")
        expect.equal(support.first(report["nodes"], "node"), "node-02", "first node")
        expect.equal(support.first(report["ranks"], "rank"), 4, "first rank")
        expect.equal((report["job"]["nodes"], report["job"]["ranks"]), (4, 8), "nodes and ranks")
        since = report["verdict"]["since"] or ""
        expect.that("2026-11-20T15:54:30" <= since <= "2026-11-20T15:54:45", "since", since)
        checker = support.ROOT / "tools" / "check_report.py"
        checked = subprocess.run([sys.executable, checker, "-"], input=done.stdout,
                                 capture_output=True, check=False)
        expect.that(checked.returncode in (0, support.SKIPPED),
                    "the report follows schemas/report.schema.json",
                    checked.stdout + checked.stderr)
    text = l4.run("diagnose", support.SAMPLE)
    expect.equal(text.status, 0, "text report: exit")
    for word in (b"crashed", b"node-02", b"90"):
        expect.that(word in text.stdout, f"text report says {word.decode()}", text.stdout)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
