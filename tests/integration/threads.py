#!/usr/bin/env python3
"""The number of threads changes nothing that l4 prints, to the byte.

usage: threads.py L4
"""
import pathlib
import sys
import tempfile

import support
from made_job import ALL_REDUCE, MadeJob, rfc3339


def outputs(l4, expect, threads, logs, folder, options):
    """Text report, JSON report and flagged lines of one run each."""
    rows = pathlib.Path(folder, "lines.tsv")
    common = ["diagnose", logs, "--threads", str(threads), *options]
    text = l4.run(*common)
    report = l4.run(*common, "--format", "json", "--lines", rows)
    expect.equal((text.status, report.status), (0, 0), f"exit with {threads} threads")
    return {"text": text.stdout, "json": report.stdout,
            "lines": rows.read_bytes() if rows.exists() else None}


def main():
    l4, expect = support.start(sys.argv, "threads")
    with tempfile.TemporaryDirectory(prefix="l4-threads-") as folder:
        job = MadeJob(40, 21)
        job.stop_all(30, ALL_REDUCE, but=[17])
        job.stop(17, 30, 2)
        job.say(17, job.moment(17, 30, 2) + 0.2, "ERROR relay: lane 4 lost its token")
        made = job.write(pathlib.Path(folder, "made"))
        as_of = ["--as-of", rfc3339(job.end() + 1200)]
        for what, logs, options in (("sample", support.SAMPLE, []), ("40 nodes", made, as_of)):
            one = outputs(l4, expect, 1, logs, folder, options)
            expect.that(one["json"] and one["lines"] is not None, f"{what}: there is output")
            for threads in (1, 2, 4):
                other = outputs(l4, expect, threads, logs, folder, options)
                for kind, content in one.items():
                    expect.that(other[kind] == content,
                                f"{what}: {kind} is the same with 1 and {threads} threads")
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
