#!/usr/bin/env python3
"""`l4 jobs`, `l4 snapshot`, `l4 agents` against a server that plays the aggregator.

Its report is one that `l4 diagnose` makes of the sample; so is what the snapshot must look like.

usage: live_commands.py L4
"""
import http.server
import json
import os
import pathlib
import socket
import sys
import tempfile
import threading
import urllib.parse

import support

NASTY = "job\x1b[2J\u009b\u202e"
JOB = {"id": "job-1005", "attempt": 1, "state": "crashed", "suspect": False, "ended": False,
       "since": "2026-11-20T15:54:39.000Z", "stage": "training", "iteration": 90, "nodes": 4,
       "ranks": 8, "sources": 20, "lines": 1200, "begin": "2026-11-20T15:54:09.220Z",
       "last_seen": "2026-11-20T15:54:39.000Z", "incident": "i-1", "completeness": 1}
AGENT = {"agent": "node-02", "address": "10.0.0.2:40123", "software": "0.1.0", "connected": False,
         "lost": True, "fleet_key": False, "files": 5, "batches_in_flight": 0, "batches_held": 3,
         "bytes_held": 5000, "shedding": "nothing", "heard": "2026-11-20T15:54:39.000Z",
         "offset_ms": 2, "delay_ms": None}


def error(code, message):
    return json.dumps({"error": {"code": code, "message": message}})


class Aggregator:
    """Answers what `pages` has, by decoded path; {path: (status, type, body)}."""

    def __init__(self):
        self.pages, self.asked = {}, []
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802
                owner.asked.append(self.path)
                status, kind, body = owner.pages.get(
                    urllib.parse.unquote(self.path),
                    (404, "application/json", error("not_found", "there is no such thing")))
                data = body if isinstance(body, bytes) else body.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def give(self, path, body, status=200, kind="application/json"):
        self.pages[path] = (status, kind, body if isinstance(body, (str, bytes))
                            else json.dumps(body))

    def stop(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def text(run):
    return run.stdout.decode("utf-8")


def harmless(out):
    return not any(ord(c) < 32 and c != "\n" or 0x7f <= ord(c) < 0xa0 or c == "\u202e" for c in out)


def check_jobs(l4, expect, aggregator):
    answer = {"jobs": [dict(JOB, id="fine", state="healthy", since=None), JOB,
                       dict(JOB, id=NASTY, state="hung", suspect=True)], "next": None}
    aggregator.give("/api/v1/jobs", answer)
    run = l4.run("jobs", "--address", aggregator.url)
    lines = text(run).splitlines()
    expect.equal((run.status, run.stderr), (0, ""), "jobs: ends well and quietly")
    expect.equal([line.split()[0] for line in lines[:4]], ["state", "crashed", "hung?", "healthy"],
                 "jobs: order of rows")
    for part in ("job-1005", "training", " 90 ", "1,200", "ago"):
        expect.that(part in lines[1], f"jobs: {part}", lines[1])
    expect.equal(lines[-1], "3 jobs · 1 crashed · 1 hung? · 1 healthy", "jobs: summary")
    expect.that(harmless(text(run)), "jobs: no control characters in text", text(run))
    for option in ("-o", "--output", "--format"):
        run = l4.run("jobs", "--address", aggregator.url + "/", option, "json")
        expect.equal(json.loads(text(run)), answer, f"jobs {option} json: what was answered")
        expect.that(harmless(text(run)), "jobs: no control characters in JSON", text(run))
    aggregator.give("/api/v1/jobs", {"jobs": [], "next": None})
    run = l4.run("jobs", "--address", aggregator.url)
    expect.that(run.status == 0 and "no job is watched" in text(run), "jobs: none", text(run))
    aggregator.give("/api/v1/jobs", answer)


def check_agents(l4, expect, aggregator):
    answer = {"blind": True, "agents": [dict(AGENT, agent="node-01", connected=True, lost=False),
                                        AGENT]}
    aggregator.give("/api/v1/agents", answer)
    run = l4.run("agents", "--address", aggregator.url)
    lines = text(run).splitlines()
    expect.equal(run.status, 0, "agents: exit")
    expect.that(lines[0].startswith("The aggregator is blind"), "agents: blind", lines[0])
    expect.equal([line.split()[:2] for line in lines[3:5]],
                 [["lost", "node-02"], ["connected", "node-01"]], "agents: rows")
    expect.that("3 batches, 5.0 KB" in lines[3] and "+2 ms" in lines[3], "agents: cells", lines[3])
    expect.equal(lines[-1], "2 agents · 1 lost · 1 connected", "agents: summary")
    run = l4.run("agents", "--address", aggregator.url, "-o", "json")
    expect.equal(json.loads(text(run)), answer, "agents: JSON")


def check_snapshot(l4, expect, aggregator, folder):
    recorded = l4.run("diagnose", support.SAMPLE, "--format", "json")
    printed = l4.run("diagnose", support.SAMPLE)
    expect.equal(recorded.status, 0, "the sample is diagnosed")
    for job in ("job-1005", "team/a b"):
        aggregator.give(f"/api/v1/jobs/{job}/snapshot", recorded.stdout)
    run = l4.run("snapshot", "job-1005", "--address", aggregator.url)
    expect.equal((run.status, text(run)), (0, text(printed)), "snapshot: text as l4 diagnose")
    run = l4.run("snapshot", "job-1005", "--address", aggregator.url, "--format", "json")
    expect.equal((run.status, run.stdout), (0, recorded.stdout), "snapshot: JSON as l4 diagnose")
    out = folder / "report.txt"
    run = l4.run("snapshot", "team/a b", "--address", aggregator.url, "--out", out, "--exit-code")
    expect.equal((run.status, run.stdout), (10, b""), "snapshot: --out and --exit-code")
    expect.equal(out.read_text(encoding="utf-8"), text(printed), "snapshot: --out holds the report")
    expect.equal(aggregator.asked[-1], "/api/v1/jobs/team%2Fa%20b/snapshot", "snapshot: path")
    report = json.loads(recorded.stdout)
    report["verdict"]["state"] = "healthy"
    aggregator.give("/api/v1/jobs/fine/snapshot", report)
    run = l4.run("snapshot", "fine", "--address", aggregator.url, "--exit-code")
    expect.equal(run.status, 0, "snapshot: --exit-code of a healthy job")
    run = l4.run("snapshot", "jbo-1005", "--address", aggregator.url)
    expect.equal(run.status, 2, "snapshot: no such job: exit")
    expect.that("there is no job jbo-1005; did you mean job-1005?" in run.stderr,
                "snapshot: no such job: names the nearest", run.stderr)
    run = l4.run("snapshot", "zzz\x1b[2J", "--address", aggregator.url)
    expect.that(run.status == 2 and "'l4 jobs' names" in run.stderr and harmless(run.stderr),
                "snapshot: nothing near", run.stderr)
    run = l4.run("snapshot", "job-1005", "--address", aggregator.url, "--out", folder / "no" / "x")
    expect.that(run.status == 2 and "no" in run.stderr, "snapshot: --out cannot be", run.stderr)
    del report["verdict"]["stage"]
    aggregator.give("/api/v1/jobs/other/snapshot", report)
    run = l4.run("snapshot", "other", "--address", aggregator.url)
    expect.that(run.status == 3 and "$.verdict.stage: is missing" in run.stderr,
                "snapshot: a report of another form", run.stderr)


def check_errors(l4, expect, aggregator):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for command in (("jobs",), ("agents",), ("snapshot", "x")):
        run = l4.run(*command, "--address", f"http://127.0.0.1:{port}")
        expect.equal((run.status, run.stdout), (3, b""), f"{command}: nobody there: exit")
        expect.that(f"127.0.0.1:{port}: connection refused - is l4-aggregator running there?"
                    in run.stderr, f"{command}: nobody there: says so", run.stderr)
    for status, kind, body, said in (
            (200, "text/html", "<html>\x1b[2J", "is not JSON"),
            (200, "application/json", '{"jobs": [{"id": 7}]}', "$.jobs[0].id: must be a string"),
            (200, "application/json", "[" * 100_000, "is not JSON"),
            (502, "text/html", "<html>", "status 502"),
            (503, "application/json", error("busy", "too much\x1b to do"), "to do (status 503)")):
        aggregator.give("/api/v1/jobs", body, status, kind)
        for form in ("text", "json"):
            run = l4.run("jobs", "--address", aggregator.url, "--format", form)
            expect.equal((run.status, run.stdout), (3, b""), f"jobs: {said}: exit")
            expect.that(said in run.stderr and harmless(run.stderr), f"jobs: {said}", run.stderr)
    for address in ("127.0.0.1:1", "ftp://a", "http://a b"):
        run = l4.run("jobs", "--address", address)
        expect.that(run.status == 2 and "--address" in run.stderr, f"{address}: wrong use",
                    run.stderr)


def check_environment(l4, expect, aggregator):
    aggregator.give("/api/v1/jobs", {"jobs": [JOB], "next": None})
    os.environ["L4_ADDRESS"] = aggregator.url
    run = l4.run("jobs")
    expect.that(run.status == 0 and "job-1005" in text(run), "L4_ADDRESS is asked", run.stderr)
    os.environ["L4_ADDRESS"] = "nonsense"
    run = l4.run("jobs")
    expect.that(run.status == 2 and "L4_ADDRESS: nonsense" in run.stderr, "L4_ADDRESS is named",
                run.stderr)
    run = l4.run("jobs", "--address", aggregator.url)
    expect.equal(run.status, 0, "--address comes before L4_ADDRESS")
    del os.environ["L4_ADDRESS"]


def main():
    l4, expect = support.start(sys.argv, "live commands")
    os.environ.pop("L4_ADDRESS", None)
    for command in ("jobs", "snapshot", "agents"):
        run = l4.run(command, "--help")
        expect.that(run.status == 0 and b"--address" in run.stdout, f"{command} --help")
    aggregator = Aggregator()
    try:
        with tempfile.TemporaryDirectory(prefix="l4-live-") as folder:
            check_jobs(l4, expect, aggregator)
            check_agents(l4, expect, aggregator)
            check_snapshot(l4, expect, aggregator, pathlib.Path(folder))
            check_errors(l4, expect, aggregator)
            check_environment(l4, expect, aggregator)
    finally:
        aggregator.stop()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
