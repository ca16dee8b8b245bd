#!/usr/bin/env python3
"""The backup that docs/INSTALL.md describes is enough to start again elsewhere.

usage: backup.py L4

Keys, database and confirmed faults of an aggregator that was stopped go to another folder: the one
there knows incidents, stored reports and faults, takes the same agents, and counts
their logs from the beginning.
"""
import contextlib
import os
import pathlib
import shutil
import signal
import sys
import tempfile

import aggregator
import support
from live import wait_for

SLOW = 4 if support.SANITIZED else 1


def play(stack, expect, build, server, keys, logs):
    """The sample's job fails on the aggregator; returns its incident."""
    player = aggregator.played(build, server, keys, logs, 20)
    try:
        expect.that(wait_for(lambda: server.json("/api/v1/incidents").get("incidents"), 60 * SLOW),
                    "there is an incident", server.log_text()[-600:])
        player.wait(60 * SLOW)
    finally:
        player.kill()
        player.wait()
    return server.json("/api/v1/incidents")["incidents"][0]["id"]


def started(stack, expect, build, folder):
    server = aggregator.Aggregator(build / "l4-aggregator", folder)
    expect.that(server.start(), "it starts", server.log_text()[-600:])
    stack.callback(lambda: server.process.poll() is None and server.end(signal.SIGKILL))
    return server


def back_up(state, target):
    """The backup of docs/INSTALL.md, taken from a stopped aggregator."""
    target.mkdir()
    for file in state.glob("state.db*"):
        shutil.copy(file, target)
    shutil.copytree(state / "faults", target / "faults")


def known(server):
    """The data that outlives a job; reports of an incident change while its job is scored."""
    faults = [row["id"] for row in server.json("/api/v1/faults?confirmed=true")["faults"]]
    incidents = [{key: row.get(key) for key in ("id", "job", "state", "opened", "node")}
                 for row in server.json("/api/v1/incidents")["incidents"]]
    return {"faults": faults, "incidents": incidents,
            "snapshots": server.json("/api/v1/jobs/sample/snapshots")["snapshots"]}


def main():
    l4, expect = support.start(sys.argv, "backup")
    os.environ.pop("L4_ADDRESS", None)
    build = pathlib.Path(l4.binary).resolve().parent
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        here, there = folder / "here", folder / "there"
        here.mkdir(), there.mkdir()
        l4.run("keys", "init", "--dir", here / "keys")
        l4.run("keys", "add", "--dir", here / "keys", *aggregator.NODES)
        logs = aggregator.aged_sample(folder)
        server = started(stack, expect, build, here)
        incident = play(stack, expect, build, server, here / "keys", logs)
        done = l4.run("faults", "confirm", incident, "--cause", "A shelf broke.", "--fix",
                      "Mend it.", "--id", "broken_shelf", "--address",
                      f"http://127.0.0.1:{server.http}")
        expect.equal((done.status, done.stderr), (0, ""), "a fault is confirmed")
        shutil.copytree(here / "keys", there / "keys")
        lines = server.json("/api/v1/jobs/sample")["lines"]
        before = known(server)
        expect.equal(before["faults"], ["broken_shelf"], "confirmed")
        expect.equal(server.end(signal.SIGTERM)[0], 0, "it is stopped")
        back_up(here / "state", there / "state")

        server = started(stack, expect, build, there)
        expect.equal(known(server), before, "incidents, reports and faults")
        play(stack, expect, build, server, there / "keys", logs)
        expect.that(wait_for(lambda: server.json("/api/v1/jobs/sample").get("lines", 0) >= lines,
                             30 * SLOW), "the logs are counted from the beginning",
                    (server.json("/api/v1/jobs/sample").get("lines"), lines))
        expect.equal(server.end(signal.SIGTERM)[0], 0, "exit")
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
