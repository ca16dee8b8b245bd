#!/usr/bin/env python3
"""Reports that l4-aggregator stores: at an incident, on request, listed, compared, kept.

usage: snapshots.py L4

A job of the sample fails; its report is stored at that moment, others on request. They outlive a
kill, are bounded for each job, and are read anywhere by `l4 show`. Asked for a time, the report is
made again from the journal: at the times of those that are stored it is the stored one.
"""
import contextlib
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.request

import aggregator
import support
from live import wait_for

SLOW = 4 if support.SANITIZED else 1
KEPT = 4
PATH = "/api/v1/jobs/sample/snapshots"


def post(server, path):
    request = urllib.request.Request(f"http://127.0.0.1:{server.http}{path}", method="POST",
                                     data=b"{}", headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=20) as got:
            return got.status, json.loads(got.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def rows_of(server, query=""):
    return server.json(PATH + query)["snapshots"]


def check_stored(expect, server):
    """Snapshots are stored by the incident, then by requests; each listed one can be read."""
    incident = server.json("/api/v1/incidents")["incidents"][0]
    rows = rows_of(server)
    frozen = server.json(f"/api/v1/jobs/sample/snapshot?at={rows[0]['id']}")
    expect.equal([(row["why"], row["who"], row["state"]) for row in rows],
                 [("incident", incident["id"], frozen["verdict"]["state"])],
                 "stored by the incident")
    evidence = server.json(f"/api/v1/incidents/{incident['id']}")["evidence"]
    expect.equal(frozen, evidence["report_at_opening"], "it is the report at the opening")
    expect.equal({(asked["source"], asked["status"]) for asked in frozen["evidence"]},
                 {("files", "answered")}, "it says what was read")
    status, stored = post(server, PATH)
    expect.equal((status, stored["why"], stored["who"]), (200, "asked", "local"), "stored")
    expect.equal([row["id"] for row in rows_of(server)], [stored["id"], rows[0]["id"]],
                 "newest first")
    expect.equal(rows_of(server, "?count=1"), [stored], "so many")
    page = server.json(PATH + "?count=1")
    expect.equal(page["next"], stored["id"], "there are more")
    expect.equal(server.json(f"{PATH}?before={page['next']}"), {"snapshots": rows, "next": None},
                 "the next ones")
    for query, code, said in (("?at=2020-01-01T00:00:00Z", 404, "those that are stored (2) are of"),
                              ("?at=2020-01-01T00:00:00Z", 404, "job sample began at 2"),
                              ("?at=2100-01-01T00:00:00Z", 400, "lies in the future"),
                              ("?at=s17", 404, "those that are stored (2) are of"),
                              ("?at=soon", 400, "at must be"), ("s?count=0", 400, "count must"),
                              ("s?before=x", 400, "before must")):
        status, body = server.get("/api/v1/jobs/sample/snapshot" + query)
        expect.that(status == code and said in json.loads(body)["error"]["message"], query, body)
    expect.equal(server.json("/api/v1/jobs/nobody/snapshots"), {"snapshots": [], "next": None},
                 "of a job that never was")
    expect.equal(post(server, "/api/v1/jobs/nobody/snapshots")[0], 404, "nothing to store")
    return rows[0], frozen


def check_past(expect, server, when):
    """For each stored report, a report computed for its time is equal. (Not in the first
    milliseconds, while the sample arrives: more lines had come than were scored.)"""
    asked = [row for row in rows_of(server) if row["why"] == "asked"]
    expect.that(asked, f"{when}: some are stored", rows_of(server))
    for row in asked:
        stored = server.json(f"/api/v1/jobs/sample/snapshot?at={row['id']}")
        again = server.json(f"/api/v1/jobs/sample/snapshot?at={row['at']}")
        expect.equal(again, stored, f"{when}: as it was at {row['at']}, {row['why']}")


def check_diff(expect, l4, server, first):
    """Comparison with a time, a stored report, a file, another job; and with names that are none of
    these."""
    newest = rows_of(server)[0]
    for more, said in (((), "nothing has changed"), (("--at", newest["at"]), "nothing has changed"),
                       (("--at", newest["id"]), "nothing has changed")):
        run = l4.run("snapshot", "sample", *more, "--diff", f"sample@{newest['at']}")
        expect.that(run.status == 0 and said in run.stdout.decode(), f"--diff {more}", run)
    for before in (first["id"], f"sample@{first['id']}"):
        run = l4.run("snapshot", "sample", "--at", newest["at"], "--diff", before, "-o", "json")
        diff = json.loads(run.stdout)
        expect.equal((diff["schema"], diff["verdict"]["lines"]["before"] != "1200",
                      diff["verdict"]["lines"]["now"]), ("l4.report_diff/1", True, "1200"),
                     f"--diff {before}")
    for other, status, said in (("smple", 2, "--diff: there is no job smple; did you mean sample"),
                                ("nobody@2026-11-20T15:54:42Z", 2, "there is no job nobody"),
                                ("2020-01-01T00:00:00Z", 2, "job sample began at"),
                                ("./none", 3, "none: cannot be read")):
        run = l4.run("snapshot", "sample", "--diff", other)
        expect.that(run.status == status and said in run.stderr, f"--diff {other}", run.stderr)


def check_commands(expect, l4, server, folder, first, frozen):
    os.environ["L4_ADDRESS"] = f"http://127.0.0.1:{server.http}"
    listed = l4.run("snapshot", "sample", "--list")
    expect.that(listed.status == 0 and first["id"] in listed.stdout.decode() and
                b"asked by local" in listed.stdout, "l4 snapshot --list", listed)
    rows = json.loads(l4.run("snapshot", "sample", "--list", "-o", "json").stdout)
    expect.equal(rows["snapshots"], rows_of(server), "l4 snapshot --list -o json")
    time.sleep(0.1)
    stored = l4.run("snapshot", "sample", "--store")
    expect.equal((stored.status, stored.stdout.decode().strip()), (0, rows_of(server)[0]["id"]),
                 "l4 snapshot --store")
    kept = folder / "kept.json"
    run = l4.run("snapshot", "sample", "--at", first["id"], "-o", "json", "--out", kept)
    expect.equal((run.status, json.loads(kept.read_text())), (0, frozen), "l4 snapshot --at")
    shown, there = l4.run("show", kept), l4.run("snapshot", "sample", "--at", first["id"])
    expect.that(shown.status == 0 and shown.stdout == there.stdout, "l4 show reads it", shown)
    expect.equal(l4.run("snapshot", "sample", "--diff", kept).status, 0, "l4 snapshot --diff")
    for more, said in ((("--at", "soon"), "at must be"), (("--at", "s17"), "snapshot s17 of job"),
                       (("--at", "2100-01-01T00:00:00Z"), "lies in the future"),
                       (("--list", "--store"), "--list"), (("--list", "--at", "s1"), "--list")):
        run = l4.run("snapshot", "sample", *more)
        expect.that(run.status == 2 and said in run.stderr, f"snapshot {more}", run.stderr)
    run = l4.run("snapshot", "simple", "--store")
    expect.that(run.status == 2 and "did you mean sample" in run.stderr, "no such job", run.stderr)
    check_diff(expect, l4, server, first)
    del os.environ["L4_ADDRESS"]


def check_kept(expect, server, first):
    """A kill loses no stored snapshot; beyond the bound the oldest is dropped."""
    held = rows_of(server)
    server.end(signal.SIGKILL)
    expect.that(server.start(), "it starts again", server.log_text()[-500:])
    expect.that(all(row in rows_of(server) for row in held), "all are there after a kill",
                rows_of(server))
    check_past(expect, server, "after a kill")
    ids = set()
    for _ in range(KEPT + 2):
        status, row = post(server, PATH)
        expect.equal(status, 200, "stored")
        ids.add(row["id"])
        time.sleep(0.05)
    rows = rows_of(server)
    expect.that(len(rows) <= KEPT and rows[0]["id"] in ids, "so many are kept", rows)
    if len(ids) >= KEPT:
        expect.that(first not in rows, "the oldest has gone", rows)


def main():
    l4, expect = support.start(sys.argv, "snapshots")
    os.environ.pop("L4_ADDRESS", None)
    build = pathlib.Path(l4.binary).resolve().parent
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        l4.run("keys", "init", "--dir", folder / "keys")
        l4.run("keys", "add", "--dir", folder / "keys", *aggregator.NODES)
        server = aggregator.Aggregator(build / "l4-aggregator", folder)
        server.config.write_text(server.config.read_text().replace(
            "[store]\n", f"[store]\nsnapshots_per_job = {KEPT}\n"))
        expect.that(server.start(), "it starts", server.log_text()[-600:])
        stack.callback(lambda: server.process.poll() is None and server.end(signal.SIGKILL))
        player = aggregator.played(build, server, folder / "keys", aggregator.aged_sample(folder),
                                   20)
        try:
            expect.that(wait_for(lambda: server.json("/api/v1/incidents").get("incidents"),
                                 60 * SLOW), "there is an incident")
            player.wait(60 * SLOW)
        finally:
            player.kill()
            player.wait()
        first, frozen = check_stored(expect, server)
        check_past(expect, server, "while it runs")
        check_commands(expect, l4, server, folder, first, frozen)
        check_kept(expect, server, first)
        expect.equal(server.end(signal.SIGTERM)[0], 0, "exit")
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
