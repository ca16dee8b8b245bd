#!/usr/bin/env python3
"""Logs and flow records of the same simulated job, and what `l4 diagnose --flows` makes of them.

usage: flow_logs.py L4      L4_EVALUATE=full: traces enough for the figures that must hold

Skipped where ../shared/bench/flowgen.py is missing. tools/evaluation/flow_logs.py makes the jobs.
"""
import os
import pathlib
import sys
import tempfile

import support

sys.path.insert(0, str(support.ROOT / "tools" / "evaluation"))

import flow_logs as made  # noqa: E402

FULL = os.environ.get("L4_EVALUATE") == "full"
# Kind, seed, servers of the job. Without the records the first looks healthy, the last hung.
BRIEF = (("hang", 907, 3), ("crash", 905, 2), ("buffered", 901, 2))


def check_few(l4, expect, folder):
    for kind, seed, servers in BRIEF:
        one = made.judged(l4.binary, folder / kind, seed, kind, servers)
        own = one["with"]
        expect.that(own["right"], f"state of {kind} with flow records", own["summary"])
        if one["server"]:
            expect.that(own["named"], f"struck server of {kind} in the first two", own["nodes"])
        if kind == "buffered":
            expect.that(not one["without"]["right"], "logs alone take buffered output for a hang",
                        one["without"])


def check_all(l4, expect, folder):
    rows = {kind: [made.judged(l4.binary, folder / f"{kind}-{seed}", seed, kind, 4)
                   for seed in range(1000, 1030)] for kind in ("hang", "crash")}
    every = [one["with"] for of in rows.values() for one in of]
    right, named = (sum(one[what] for one in every) for what in ("right", "named"))
    expect.that(right >= 0.95 * len(every), "95 % of crashes and hangs told apart", right)
    expect.that(named >= 0.9 * len(every), "90 % of struck servers in the first two", named)


def main():
    l4, expect = support.start(sys.argv, "flow logs")
    support.shared("bench", "flowgen.py")
    with tempfile.TemporaryDirectory(prefix="l4-flow-logs-") as folder:
        (check_all if FULL else check_few)(l4, expect, pathlib.Path(folder))
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
