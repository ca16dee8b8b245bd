#!/usr/bin/env python3
"""`l4 jobs`, `l4 snapshot`, `l4 agents` against a server that plays the aggregator.

`l4 diagnose` makes its report from the sample, and the text that `l4 snapshot` must print.

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
       "ranks": 8, "ranks_mapped": 8, "ranks_expected": 8, "sources": 20, "lines": 1200,
       "begin": "2026-11-20T15:54:09.220Z", "last_seen": "2026-11-20T15:54:39.000Z",
       "incident": "i-1", "completeness": 1}
AGENT = {"agent": "node-02", "address": "10.0.0.2:40123", "software": "0.1.0", "connected": False,
         "lost": True, "fleet_key": False, "files": 5, "batches_in_flight": 0, "batches_held": 3,
         "bytes_held": 5000, "shedding": "nothing", "heard": "2026-11-20T15:54:39.000Z",
         "offset_ms": 2, "delay_ms": None}


def error(code, message):
    return json.dumps({"error": {"code": code, "message": message}})


def key_of(path):
    """The path and its parameters, sorted, since their order has no meaning."""
    path, _, query = urllib.parse.unquote(path).partition("?")
    return path, tuple(sorted(query.split("&")))


class Aggregator:
    """Answers what `pages` has, by decoded path; {path: (status, type, body)}."""

    def __init__(self):
        self.pages, self.asked = {}, []
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.do_GET()

            do_DELETE = do_POST  # noqa: N815

            def do_GET(self):  # noqa: N802
                owner.asked.append(self.path)
                status, kind, body = owner.pages.get(
                    key_of(self.path),
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
        self.pages[key_of(path)] = (status, kind, body if isinstance(body, (str, bytes))
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


def check_typos(l4, expect, aggregator):
    """An unknown name: the answer suggests one, or says where the names are listed."""
    address = ("--address", aggregator.url)
    aggregator.give("/api/v1/jobs", {"jobs": [JOB], "next": None})
    aggregator.give("/api/v1/jobs/job-1005", JOB)
    aggregator.give("/api/v1/incidents?count=1000", {"incidents": [{"id": "job-1005.1.17"}]})
    aggregator.give("/api/v1/pool", {"runs": [{"id": "job-4705.0"}, {"id": "job-4706.0"}]})
    aggregator.give("/api/v1/faults?confirmed=true", {"faults": [{"id": "shelf_lost"}]})
    meant = (
        (("outcome", "jbo-1005", "success"), "no job jbo-1005; did you mean job-1005?"),
        (("pool", "show", "job-475.0"), "no run job-475.0; did you mean job-4705.0 or job-4706.0?"),
        (("pool", "drop", "jb-4705.0"), "no run jb-4705.0; did you mean job-4705.0"),
        (("incidents", "job-1005.1.71"), "no incident job-1005.1.71; did you mean job-1005.1.17?"),
        (("faults", "confirm", "jbo-1005.1.17", "--cause", "c", "--fix", "f"),
         "no incident jbo-1005.1.17; did you mean job-1005.1.17?"),
        (("faults", "drop", "shelf_lots"),
         "no confirmed fault shelf_lots; did you mean shelf_lost?"),
        (("incidents", "--job", "jbo-1005"), "no job jbo-1005; did you mean job-1005?"))
    far = (
        (("outcome", "zzz", "success"), "no job zzz; 'l4 jobs' names those"),
        (("pool", "show", "zzz"), "no run zzz in the pool; 'l4 pool list' names them"),
        (("incidents", "zzz"), "no incident zzz; 'l4 incidents' names them"),
        (("faults", "drop", "zzz"), "no confirmed fault zzz; 'l4 faults list --confirmed' names"))
    none = (
        (("outcome", "zzz", "failure"), "no job zzz; none is watched now"),
        (("pool", "drop", "zzz"), "no run zzz in the pool; it is empty"),
        (("incidents", "zzz"), "no incident zzz; none is known"),
        (("faults", "drop", "zzz"), "no confirmed fault zzz; none was confirmed"))

    def check(rows):
        for words, said in rows:
            run = l4.run(*words, *address)
            expect.that(run.status == 2 and run.stdout == b"" and said in run.stderr,
                        f"{words}: {said}", (run.status, run.stderr))

    aggregator.give("/api/v1/incidents?count=1&job=jbo-1005", {"incidents": []})
    check(meant)
    check(far)
    for path, key in (("jobs", "jobs"), ("incidents?count=1000", "incidents"), ("pool", "runs"),
                      ("faults?confirmed=true", "faults")):
        aggregator.give(f"/api/v1/{path}", {key: []})
    check(none)
    aggregator.give("/api/v1/incidents?count=100&job=job-1005", {"incidents": []})
    run = l4.run("incidents", "--job", "job-1005", *address)
    expect.equal((run.status, text(run)), (0, "no incident\n"), "a job that is there has none")
    past = {"id": "old.0.1", "job": "old", "attempt": 0, "status": "resolved", "state": "crashed",
            "opened": JOB["since"], "updated": JOB["since"], "resolved": JOB["since"]}
    for count in (1, 100):
        aggregator.give(f"/api/v1/incidents?count={count}&job=old", {"incidents": [past]})
    run = l4.run("incidents", "--job", "old", *address)
    expect.that(run.status == 0 and "old.0.1" in text(run), "a job that is gone has one", run)
    aggregator.give("/api/v1/pool/zzz", "<html>", 404, "text/html")
    run = l4.run("pool", "show", "zzz", *address)
    expect.that("is this l4-aggregator?" in run.stderr, "404 of somebody else", run.stderr)


FAULT = {"id": "shelf_lost", "title": "A shelf lost its ledger", "family": "confirmed",
         "category": "hardware", "subcategory": "storage", "scope": "rank", "severity": "error",
         "consequence": False, "timeout": False, "setup": False, "accuses_peer": False,
         "general": False, "stopped_by": "",
         "confirmed": {"by": "ops", "at": "2026-11-20T15:54:39.000Z", "incident": "job-7.0.1"},
         "patterns": ["shelf {n} lost its ledger"], "unless": [],
         "parameters": {"exit_code": ["7"]}, "cause": "It was cut.", "fix": "Copy it again.",
         "action": "Copy it.", "matches": ["shelf 4 lost its ledger: exit code 7"],
         "rejects": ["shelf 4 is read"]}


def check_faults(l4, expect, aggregator):
    """The faults of an aggregator, page by page; `show` finds a confirmed one by itself."""
    address = ("--address", aggregator.url)
    other = dict(FAULT, id="other_one", title="Another matter", confirmed=None, family="rack",
                 patterns=["rack {n} is open"], parameters={}, severity="warning")
    for flag, rows in (("false", [other, FAULT]), ("true", [FAULT])):
        path = f"/api/v1/faults?whole=true&confirmed={flag}"
        aggregator.give(path, {"faults": rows[:1], "next": "here" if rows[1:] else None})
        if rows[1:]:
            aggregator.give(path + "&after=here", {"faults": rows[1:], "next": None})
    run = l4.run("faults", "list", *address)
    expect.that(run.status == 0 and "2 faults in 2 families" in text(run)
                and "shelf_lost" in text(run), "faults list --address", run)
    run = l4.run("faults", "list", "--confirmed", *address, "-o", "json")
    expect.equal(json.loads(text(run))["faults"], [FAULT], "faults list --confirmed: all of it")
    line = ("--line", "shelf 12 lost its ledger: exit code 7")
    run = l4.run("faults", "match", *line, *address, "--exit-code")
    expect.that(run.status == 10 and "shelf_lost" in text(run), "faults match --address", run)
    run = l4.run("faults", "match", *line, "--exit-code")
    expect.equal(run.status, 0, "the installed library does not know it")
    run = l4.run("faults", "match", "--line", "shelf 12 lost its ledger: exit code 8", *address,
                 "--exit-code")
    expect.equal(run.status, 0, "its codes are asked for")
    aggregator.give("/api/v1/faults/shelf_lost", FAULT)
    os.environ["L4_ADDRESS"] = aggregator.url
    for extra in (address, ()):
        run = l4.run("faults", "show", "shelf_lost", *extra)
        for part in ("A shelf lost its ledger", "by ops at 2026-11-20T15:54:39.000Z, from incident "
                     "job-7.0.1", f"the library of {aggregator.url}", "Copy it again."):
            expect.that(run.status == 0 and part in text(run), f"faults show {extra}: {part}", run)
    run = l4.run("faults", "show", "shelf_lost", "-o", "json")
    expect.equal(json.loads(text(run))["faults"], [FAULT], "faults show: JSON")
    run = l4.run("faults", "show", "shelf_lots", *address)
    expect.that(run.status == 2 and "shelf_lost: A shelf lost" in run.stderr, "a typo", run.stderr)
    run = l4.run("faults", "show", "nothing_like_it")
    expect.that(run.status == 2 and f"the aggregator at {aggregator.url} has none, either"
                in run.stderr, "nobody knows it", run.stderr)
    os.environ["L4_ADDRESS"] = "http://127.0.0.1:9"
    run = l4.run("faults", "show", "xid_of_the_bus")
    expect.that(run.status == 2 and "xid_off_the_bus" in run.stderr
                and "could not be looked up" in run.stderr, "no aggregator", run.stderr)
    del os.environ["L4_ADDRESS"]
    run = l4.run("faults", "list", "--address", "http://127.0.0.1:9")
    expect.equal(run.status, 3, "faults list --address: nobody there")
    run = l4.run("faults", "list", *address, "--faults", ".")
    expect.that(run.status == 2 and "--faults" in run.stderr, "both", run.stderr)
    for key, value, said in (("patterns", ["shelf ("], "patterns: shelf ("),
                             ("category", "weather", "category: weather is not known here"),
                             ("cause", 7, "cause: must be a string, not 7")):
        aggregator.give("/api/v1/faults?whole=true&confirmed=false",
                        {"faults": [dict(FAULT, **{key: value})]})
        run = l4.run("faults", "list", *address)
        expect.that(run.status == 3 and said in run.stderr, f"a broken fault: {said}", run.stderr)


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
            check_typos(l4, expect, aggregator)
            check_faults(l4, expect, aggregator)
            check_environment(l4, expect, aggregator)
    finally:
        aggregator.stop()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
