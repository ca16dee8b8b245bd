#!/usr/bin/env python3
"""All answers of the aggregator over HTTP, compared with schemas/openapi.yaml; and access rights.

usage: api.py L4

The sample's logs are played to a real aggregator that asks for tokens. Every GET path of the
document is asked for and must be answered in its form; then `l4 incidents` and `l4 show` are used
as a person would.
"""
import base64
import contextlib
import json
import pathlib
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.request

import jsonschema
import yaml

import aggregator as programs
import support
from live import wait_for

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SLOW = programs.SLOW


RUN = {"run": "other.0", "job": "other", "attempt": 0, "origin": "logs",
       "ended": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "nodes": 1, "ranks": 1,
       "lines": 10, "left_out": 0, "pauses": [{"stage": "training", "startup": False,
                                               "longest_ms": 900}],
       "events": [{"id": "00000000000000aa", "template": "step <*> was done", "level": "info",
                   "node_count_max": 9, "node_rate_max": 0.9, "node_share": 1}]}


class Asker:
    """Asks with a token; keeps status, headers and body apart."""

    def __init__(self, port, token=""):
        self.url, self.token = f"http://127.0.0.1:{port}", token

    def ask(self, path, method="GET", **headers):
        request = urllib.request.Request(self.url + path, method=method,
                                         data=b"{}" if method == "POST" else None)
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        try:
            with urllib.request.urlopen(request, timeout=20) as got:
                return got.status, got.headers, got.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def begin(self, path):
        """Status, headers and first line of an answer without an end."""
        request = urllib.request.Request(self.url + path)
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        with urllib.request.urlopen(request, timeout=20) as got:
            return got.status, got.headers, got.readline()

    def json(self, path):
        status, _, body = self.ask(path)
        return json.loads(body) if status == 200 else {}


def token_of(l4, expect, folder, name, role, *more):
    run = l4.run("keys", "token", name, "--role", role, *more, "--dir", folder / "keys")
    token = run.stdout.decode().strip()
    expect.that(run.status == 0 and token.startswith("l4_") and len(token) == 67,
                f"keys token {name}", run)
    held = (folder / "keys" / "tokens").read_text()
    expect.that(token not in held and f"{role} {name} " in held, "the file holds a hash", held)
    return token


def check_who_may_ask(expect, port, read, operate):
    def status(token, path="/api/v1/jobs", method="GET"):
        code, headers, body = Asker(port, token).ask(path, method)
        word = json.loads(body)["error"]["code"] if code >= 400 else ""
        if code == 401:
            expect.equal(headers["WWW-Authenticate"], "Bearer", "401 says how to come in")
        return code, word

    expect.equal(status(""), (401, "no_token"), "without a token")
    expect.equal(status(read[:-1] + "x"), (401, "unknown_token"), "with a wrong one")
    expect.equal(status(read.upper()), (401, "unknown_token"), "in other letters")
    expect.equal(status(read), (200, ""), "with one that may read")
    expect.equal(status(operate), (200, ""), "with one that may operate")
    expect.equal(status(read, method="POST"), (403, "not_allowed"), "POST by who may read")
    expect.equal(status(operate, method="POST"), (405, "method_not_allowed"), "POST to a list")
    for path in ("/healthz", "/readyz"):
        expect.equal(Asker(port).ask(path)[0], 200, f"{path} is for all")
    for path in ("/metrics", "/api/v1/agents", "/nothing", "/api/v1/jobs/../jobs"):
        expect.that(Asker(port).ask(path)[0] in (400, 401), f"{path} is not for all")
    for header in ("Basic eDp5", "Bearer", "Bearer ", "Bearer\t" + read):
        code = Asker(port).ask("/api/v1/jobs", Authorization=header)[0]
        expect.equal(code, 401, f"Authorization: {header[:12]!r}")


def check_stream(expect, asker, path, described):
    status, headers, first = asker.begin(path)
    expect.equal((status, headers["Content-Type"]), (200, *described["content"]), f"GET {path}")
    expect.that(first.startswith(b"retry: "), f"GET {path}: its beginning", first)
    status, headers, body = asker.ask(path, "HEAD")
    expect.equal((status, headers["Content-Type"], body), (200, "text/event-stream", b""),
                 f"HEAD {path}")


def put_run(expect, port, operate):
    """A job of another kind, so that the pool has a run to list."""
    body = json.dumps({"schema": "l4.pool/1", "runs": [RUN]}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/v1/pool", data=body, headers={
        "Authorization": f"Bearer {operate}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as got:
        expect.equal([row["run"] for row in json.loads(got.read())["added"]], [RUN["run"]], "a run")


# What a request must ask for besides, by the end of its path.
NEEDED = {"/lines": "?rank=4", "/scores/terms": "?what=ranks&node=node-02&at=80"}


def names_of(incident, fault):
    """An id for {id} of a path, by the word before it."""
    return {"jobs": "sample", "incidents": incident, "faults": fault, "pool": RUN["run"],
            "maintenance": "m1"}


def check_document(expect, asker, incident, fault):
    """Every GET path answers 200 in the form that the document gives."""
    document = yaml.safe_load((ROOT / "schemas" / "openapi.yaml").read_text("utf-8"))
    report = json.loads((ROOT / "schemas" / "report.schema.json").read_text("utf-8"))
    names = names_of(incident, fault)
    for path, item in document["paths"].items():
        if "get" not in item:
            continue
        filled = path
        if "{id}" in path:
            filled = path.replace("{id}", names.get(path.split("/")[3], ""))
        if path.endswith("/events"):  # without an end; tests/integration/events.py reads them
            check_stream(expect, asker, filled, document["components"]["responses"]["Events"])
            continue
        filled += NEEDED.get(path.rsplit("}", 1)[-1], "")
        if path.endswith("/lines"):
            filled += "&around=2026-11-20T15:54:42Z"
        status, headers, body = asker.ask(filled)
        expect.equal(status, 200, f"GET {filled}")
        answer = item["get"]["responses"]["200"]
        if "$ref" in answer:
            answer = document["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
        kind, content = next(iter(answer["content"].items()))
        expect.equal(headers["Content-Type"], kind, f"type of {filled}")
        if kind == "application/json":
            schema = support.form_of(content["schema"], document, report)
            wrong = jsonschema.Draft202012Validator(schema).iter_errors(json.loads(body))
            expect.equal([e.message[:200] for e in wrong], [], f"form of {filled}")
        tag = headers["ETag"]
        again, _, nothing = asker.ask(filled, If_None_Match=f'"other", {tag}')
        if path not in ("/metrics", "/api/v1/agents", "/api/v1/status"):  # figures, times
            expect.equal((again, nothing), (304, b""), f"{filled} again with its ETag")
        expect.equal(asker.ask(filled, If_None_Match='"other"')[0], 200, f"{filled}, other ETag")
        status, headers, body = asker.ask(filled, "HEAD")
        expect.that(status == 200 and not body and int(headers["Content-Length"]) > 0,
                    f"HEAD {filled}")
    for path in ("/api/v1/jobs/nobody", "/api/v1/jobs/nobody/nodes", "/api/v1/incidents/none",
                 "/api/v1/jobs/nobody/iterations", "/api/v1/faults/none",
                 "/api/v1/jobs/nobody/lines?rank=0", "/api/v1/pool/none"):
        status, _, body = asker.ask(path)
        expect.that(status == 404 and "there is no" in json.loads(body)["error"]["message"],
                    f"GET {path}", body)
    for query in ("count=x", "count=-1", "count=0", "count=1001"):
        expect.equal(asker.ask(f"/api/v1/jobs?{query}")[0], 400, f"jobs?{query}")


def check_contents(expect, asker, report):
    nodes = asker.json("/api/v1/jobs/sample/nodes")["nodes"]
    suspects = [n["node"] for n in report["nodes"]]
    expect.equal([n["node"] for n in nodes][:len(suspects)], suspects, "suspected nodes first")
    expect.equal(sorted(n["node"] for n in nodes), programs.NODES, "all nodes")
    records = sum(n["records"] for n in nodes)
    expect.that(0.5 * report["job"]["lines"] < records <= report["job"]["lines"],
                "records of the nodes", records)
    expect.equal(sorted(r for n in nodes for r in n["ranks"]), list(range(8)), "ranks of the nodes")
    expect.equal(nodes[0]["why"], report["nodes"][0]["why"], "why a node is suspected")
    expect.equal(asker.json("/api/v1/jobs/sample/iterations")["iterations"], report["iterations"],
                 "iterations are the report's")
    row = asker.json("/api/v1/jobs/sample")
    expect.equal(row["state"], report["verdict"]["state"], "state of the job's row")
    expect.equal(row["ranks_mapped"], 8, "ranks that are known")
    for path, key, name, count in (("jobs/sample/nodes", "nodes", "node", 3),
                                   ("agents", "agents", "agent", 3),
                                   ("faults", "faults", "id", 300)):
        whole, pages, after = asker.json(f"/api/v1/{path}"), [], ""
        while after is not None and len(pages) < 100:
            pages.append(asker.json(f"/api/v1/{path}?count={count}{after and '&after=' + after}"))
            after = pages[-1]["next"]
        expect.that([row[name] for page in pages for row in page[key]] ==
                    [row[name] for row in whole[key]], f"pages of {path}")
        expect.that(whole["next"] is None and len(pages) > 1, f"{path} in pages", len(pages))
    status, _, body = asker.ask("/api/v1/jobs/sample/nodes?after=nobody")
    expect.that(status == 400 and b"'nobody'" in body, "a place that is none", body)
    text = asker.ask("/api/v1/faults?format=toml&count=2")[2].decode()
    second = asker.json("/api/v1/faults?count=2")["faults"][1]["id"]
    expect.that(text.endswith(f"\n# more faults follow behind {second}\n"), "a part in TOML",
                text[-100:])
    expect.equal(asker.json("/api/v1/jobs?after=sample"), {"jobs": [], "next": None}, "all seen")


def check_brief(expect, asker, report):
    """The head of a report has the first rows of its lists, and says how long they are."""
    for path in ("brief?rows=2", "brief?rows=2&last=true"):
        brief = asker.json(f"/api/v1/jobs/sample/{path}")
        head, whole = brief["report"], brief["whole"]
        expect.equal({**head["verdict"], "confidence": 0}, {**report["verdict"], "confidence": 0},
                     f"{path}: the verdict")
        names = [node["node"] for node in report["nodes"]]
        expect.equal([node["node"] for node in head["nodes"]], names[:2], f"{path}: its nodes")
        expect.equal({rank["node"] for rank in head["ranks"]}, set(names[:2]), "and their ranks")
        expect.equal((whole["nodes"], whole["ranks"]), (len(names), len(report["ranks"])),
                     f"{path}: how many there are")
        expect.equal(whole["event_nodes"], [len(one["nodes"]) for one in report["events"]],
                     f"{path}: on how many nodes each event is")
        expect.that(all(len(one["nodes"]) <= 2 for one in head["events"]), f"{path}: the first two")
    last = asker.json("/api/v1/jobs/sample/nodes?last=true")["nodes"]
    expect.equal([node["node"] for node in last], [node["node"] for node in asker.json(
        "/api/v1/jobs/sample/nodes")["nodes"]], "nodes by the last report")


def check_incident_brief(expect, asker, incident):
    """What a page shows of an incident: the head of its report, and what led to it."""
    brief, whole = (asker.json(f"/api/v1/incidents/{incident}{more}") for more in ("/brief", ""))
    report, evidence = whole.pop("report"), whole.pop("evidence")
    expect.equal(brief["incident"], whole, "the brief of an incident: its row")
    expect.equal(brief["brief"]["report"], report, "the report, whose lists are short")
    expect.equal(brief["brief"]["whole"]["nodes"], len(report["nodes"]), "how many nodes it has")
    del evidence["report_at_opening"]
    expect.equal(brief["evidence"], evidence, "what led to it, without the report of then")


def worst_of(row):
    known = [score for score in base64.b64decode(row["cells"]) if score != 255]
    return (max(known, default=0), sum(known))


def check_scores(expect, asker):
    """Matrices of scores: worst rows first, columns folded by maximum, rows and bounds as asked."""
    path = "/api/v1/jobs/sample/scores?what="
    for what, rows in (("nodes", len(programs.NODES)), ("ranks", 8)):
        whole = asker.json(path + what)
        expect.equal((len(whole["rows"]), whole["left_out"]), (rows, 0), f"{what}: all rows")
        expect.that(all(len(base64.b64decode(row["cells"])) == len(whole["columns"])
                        for row in whole["rows"]), f"{what}: a byte a column")
        worst = [worst_of(row) for row in whole["rows"]]
        expect.equal(worst, sorted(worst, reverse=True), f"{what}: worst first")
        few = asker.json(f"{path}{what}&width=4&rows=2")
        expect.that(len(few["columns"]) <= 4 and few["left_out"] == rows - 2,
                    f"{what}: folded", few)
    ranks = asker.json(path + "ranks")
    expect.that(sum(base64.b64decode(row["cells"]).count(255) for row in ranks["rows"])
                < 0.5 * len(ranks["columns"]) * len(ranks["rows"]), "durations are known")
    folded = asker.json(path + "ranks&width=1")
    expect.equal([worst_of(row)[0] for row in folded["rows"]],
                 [worst_of(row)[0] for row in ranks["rows"]], "folding keeps the largest score")
    first, last = ranks["columns"][1], ranks["columns"][3]
    part = asker.json(f"{path}ranks&from={first}&to={last}")
    expect.equal(part["columns"], ranks["columns"][1:4], "from and to")
    for query in ("what=rank", "what=ranks&from=soon", "what=nodes&to=soon",
                  "what=ranks&width=0", "what=ranks&rows=4097", "what=ranks&wdth=3"):
        expect.equal(asker.ask(f"/api/v1/jobs/sample/scores?{query}")[0], 400, f"scores?{query}")
    expect.equal(asker.ask("/api/v1/jobs/nobody/scores?what=ranks")[0], 404, "scores of no job")
    worst = ranks["rows"][0]
    at = ranks["columns"][max(range(len(ranks["columns"])), key=lambda column: (
        base64.b64decode(worst["cells"])[column] + 1) % 256)]
    terms = asker.json(f"{path.replace('?', '/terms?')}ranks&node={worst['node']}&at={at}")
    expect.that(terms["begin"] == at and terms["laps"]
                and abs(terms["score"] - ranks["step"] * worst_of(worst)[0]) <= ranks["step"],
                "the terms have the score of the cell", terms)
    for query, status in (("", 400), (f"node={worst['node']}", 400), ("node=none&at=5", 404),
                          (f"node={worst['node']}&at=soon", 400)):
        expect.equal(asker.ask(f"/api/v1/jobs/sample/scores/terms?{query}")[0], status,
                     f"scores/terms?{query}")


def check_commands(expect, l4, port, token, folder, incident):
    """`l4 incidents` and `l4 show`."""
    secret = folder / "token"
    secret.write_text(token + "\n")
    address = ("--address", f"http://127.0.0.1:{port}", "--token-file", secret)
    run = l4.run("incidents", *address)
    lines = run.stdout.decode().splitlines()
    expect.that(run.status == 0 and lines[0].split()[:2] == ["status", "state"]
                and lines[1].split()[0] == "open" and incident in lines[1]
                and lines[-1] == "1 incident · 1 open", "l4 incidents", run)
    run = l4.run("incidents", "--open", "--job", "another", *address)
    expect.that(run.status == 2 and "there is no job another" in run.stderr,
                "incidents of a job that is none", run)
    whole = l4.run("incidents", incident, *address)
    expect.that(whole.status == 0 and b"sample" in whole.stdout, "l4 incidents ID", whole)
    kept = folder / "kept.json"
    run = l4.run("incidents", incident, "--opening", "-o", "json", "--out", kept, *address)
    expect.that(run.status == 0 and json.loads(kept.read_text())["schema"] == "l4.report/2",
                "the report at the opening", run)
    run = l4.run("incidents", incident, "-o", "json", "--out", kept, *address)
    shown = l4.run("show", kept)
    expect.equal((run.status, shown.status, shown.stdout), (0, 0, whole.stdout),
                 "l4 show gives what l4 incidents showed")
    expect.equal(l4.run("show", kept, "--exit-code").status, 10, "show --exit-code")
    same = l4.run("show", kept, "--diff", kept)
    expect.that(same.status == 0 and b"nothing has changed" in same.stdout, "show --diff", same)
    healthy = folder / "healthy.json"
    before = dict(json.loads(kept.read_text()), nodes=[], events=[], faults=[])
    before["verdict"] = dict(before["verdict"], state="healthy", iteration=7)
    healthy.write_text(json.dumps(before))
    text = l4.run("show", kept, "--diff", healthy).stdout.decode()
    now = json.loads(kept.read_text())
    for part in ("HEALTHY → ", f"+ {now['nodes'][0]['node']}", f"+ {now['faults'][0]['title']}",
                 f"7 → {now['verdict']['iteration']}"):
        expect.that(part in text, f"show --diff: {part}", text)
    both = json.loads(l4.run("show", healthy, "--diff", kept, "-o", "json").stdout)
    expect.equal(sorted(e["id"] for e in both["events"]["gone"]),
                 sorted(e["template_id"] for e in now["events"]), "events that are gone")
    expect.equal(both["verdict"]["state"], {"before": now["verdict"]["state"], "now": "healthy"},
                 "state in the JSON of a diff")
    run = l4.run("incidents", "nothing-like-it", *address)
    expect.that(run.status == 2 and "there is no incident nothing-like-it" in run.stderr,
                "an incident that is none", run)
    kept.write_text(kept.read_text().replace('"l4.report/2"', '"l4.report/9"'))
    for file, said in ((kept, "schema"), (folder / "none.json", "cannot be read"),
                       (folder, "cannot be read")):
        run = l4.run("show", file)
        expect.that(run.status == 3 and said in run.stderr and file.name in run.stderr,
                    f"show {file.name}", run)
    run = l4.run("jobs", "--address", f"http://127.0.0.1:{port}")
    expect.that(run.status == 3 and "needs a token" in run.stderr, "l4 jobs without a token", run)
    run = l4.run("jobs", "--token-file", folder / "none", "--address", f"http://127.0.0.1:{port}")
    expect.that(run.status == 2 and "none" in run.stderr, "a token file that is not there", run)


def check_tokens_file(expect, l4, folder, port, token):
    """Tokens are added and removed while it runs; an unreadable file changes nothing."""
    run = l4.run("keys", "token", "reader", "--dir", folder / "keys")
    expect.that(run.status == 2 and "reader" in run.stderr, "a second token of a name", run)
    file = folder / "keys" / "tokens"
    rows = file.read_text()
    file.write_text(rows + "read broken\n")
    wait_for(lambda: False, 1.5)
    expect.equal(Asker(port, token).ask("/api/v1/jobs")[0], 200, "a broken file changes nothing")
    file.write_text("".join(r for r in rows.splitlines(True) if " reader " not in r))
    expect.that(wait_for(lambda: Asker(port, token).ask("/api/v1/jobs")[0] == 401, 5 * SLOW),
                "a token whose row is gone")


def check(expect, l4, build, folder):
    read = token_of(l4, expect, folder, "reader", "read")
    operate = token_of(l4, expect, folder, "ops", "operate")
    server = programs.Aggregator(build / "l4-aggregator", folder)
    config = server.config.read_text()
    server.config.write_text(config.replace("[http]\n", '[http]\ntokens = "keys/tokens"\n'))
    asker = Asker(server.http, read)
    player = None
    try:
        expect.that(server.start(), "the aggregator starts", server.log_text()[-600:])
        check_who_may_ask(expect, server.http, read, operate)
        logs = programs.aged_sample(folder)
        player = programs.played(build, server, folder / "keys", logs, 20)
        expect.equal(player.wait(100 * SLOW), 0, "exit of the player")
        wait_for(lambda: asker.json("/api/v1/incidents").get("incidents"), 20 * SLOW)
        incidents = asker.json("/api/v1/incidents").get("incidents")
        expect.that(incidents, "there is an incident")
        if incidents:
            wait_for(lambda: False, 2)  # the newest report is at rest
            report = asker.json("/api/v1/jobs/sample/snapshot")
            put_run(expect, server.http, operate)
            check_document(expect, asker, incidents[0]["id"], report["faults"][0]["id"])
            check_contents(expect, asker, report)
            check_brief(expect, asker, report)
            check_incident_brief(expect, asker, incidents[0]["id"])
            check_scores(expect, asker)
            check_commands(expect, l4, server.http, read, folder, incidents[0]["id"])
        check_tokens_file(expect, l4, folder, server.http, read)
        expect.equal(server.end(signal.SIGTERM)[0], 0, "exit")
        expect.that("tokens:3" in server.log_text() or "tokens:4" in server.log_text(),
                    "the broken row is told", server.log_text()[-600:])
    finally:
        for process in (player, server.process):
            if process and process.poll() is None:
                process.kill()
                process.wait()


def main():
    l4, expect = support.start(sys.argv, "api")
    build = pathlib.Path(l4.binary).resolve().parent
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        l4.run("keys", "init", "--dir", folder / "keys")
        l4.run("keys", "add", "--dir", folder / "keys", *programs.NODES)
        (folder / "state").mkdir()
        check(expect, l4, build, folder)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
