#!/usr/bin/env python3
"""Healthy logs that were cut, joined, glued, interleaved, recoded or renamed raise no alarm.

usage: healthy.py L4 [--keep DIR]     L4_HEALTHY_LOGS=N for more of them (12), L4_SEED=N for others;
--keep keeps those in DIR that raise an alarm or list an event
"""
import concurrent.futures
import os
import pathlib
import shutil
import sys
import tempfile

import healthy_logs
import support

COUNT = int(os.environ.get("L4_HEALTHY_LOGS", "12"))
SEED = int(os.environ.get("L4_SEED", "27"))
WITHOUT_EVENTS = 0.95       # share of the logs


def judge(l4, maker, number, parent):
    """What is wrong with the report of one made log, and whether it lists events."""
    folder = pathlib.Path(parent, str(number))
    folder.mkdir()
    made = maker.make(number, folder)
    done, report = l4.report(folder, timeout_s=120)
    wrong = []
    if done.status != 0 or not report:
        return folder, made, [f"exit {done.status}: {done.stderr[-300:]}"], False
    verdict, events = report["verdict"], report["events"]
    if verdict["state"] in support.FAILED_STATES:
        wrong.append(f"{verdict['state']} {verdict['confidence']:.2f}: {verdict['summary']}")
    wrong += [f"fault {fault['id']}" for fault in report["faults"]]
    if events and not wrong:
        print(f"seed {SEED} log {number} ({made}): {len(events)} events: {events[0]['template']}")
    return folder, made, wrong, bool(events)


def main():
    keep = sys.argv[sys.argv.index("--keep") + 1] if "--keep" in sys.argv else None
    l4, expect = support.start(sys.argv, "healthy")
    maker = healthy_logs.Maker(SEED)
    quiet = 0
    with tempfile.TemporaryDirectory() as parent, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for folder, made, wrong, events in pool.map(
                lambda number: judge(l4, maker, number, parent), range(COUNT)):
            quiet += not events
            expect.that(not wrong, f"seed {SEED} log {folder.name} ({made}): no alarm", wrong)
            if keep and (wrong or events):
                shutil.copytree(folder, pathlib.Path(keep, folder.name), dirs_exist_ok=True)
            shutil.rmtree(folder)
    print(f"healthy logs without an event: {quiet} of {COUNT}, at least {WITHOUT_EVENTS:.0%}")
    expect.that(quiet >= WITHOUT_EVENTS * COUNT, "logs without an event", quiet)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
