#!/usr/bin/env python3
"""Every operation of schemas/openapi.yaml, asked by curl over TLS with a token.

usage: openapi.py L4

The sample's logs are played to a real aggregator with tokens and a certificate. Each operation is
called as the document says, and its answer compared with the document's for that status: right
calls, calls without a token or with one that may only read, unknown names, unknown parameters, and
broken bodies.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

import jsonschema
import yaml

import aggregator as programs
import support
from api import NEEDED, RUN, names_of, token_of
from live import wait_for
from tls import Site, openssl

SLOW = programs.SLOW
SCHEMAS = support.ROOT / "schemas"
DOCUMENT = yaml.safe_load((SCHEMAS / "openapi.yaml").read_text("utf-8"))
REPORT = json.loads((SCHEMAS / "report.schema.json").read_text("utf-8"))
METHODS = ("get", "post", "delete")
# Values of the parameters of queries; None: the operation is not asked with it.
VALUES = {"after": None, "at": None, "before": None, "template": None, "job": "sample",
          "kind": "none", "node": "node-02", "rank": "4", "around": "2026-11-20T15:54:42Z",
          "context": "1", "limit": "3", "count": "2", "open": "true", "confirmed": "true",
          "whole": "true", "format": "toml", "what": "nodes", "from": None, "to": None,
          "width": "30", "rows": "2", "last": "true", "over": "true", "fault": "sigkill",
          "sink": "webhook", "phase": None}


class Curl:
    def __init__(self, url, authority, folder):
        self.url, self.authority, self.folder = url, authority, folder

    def ask(self, method, path, *more, token=""):
        """Status, headers in lower case, body."""
        head, body = self.folder / "head", self.folder / "body"
        body.write_bytes(b"")
        key = ["-H", f"Authorization: Bearer {token}"] if token else []
        run = subprocess.run(
            ["curl", "--silent", "--show-error", "--cacert", self.authority, "--max-time",
             "3" if path.split("?")[0].endswith("/events") else "60", "--dump-header", head,
             "--output", body, "--write-out", "%{http_code}", "--request", method.upper(), *key,
             *more, self.url + path], capture_output=True, text=True, check=False)
        if run.returncode not in (0, 28):  # 28: of a stream, its time was over
            return 0, {}, run.stderr.encode()
        rows = [row.partition(":") for row in head.read_text().splitlines() if ":" in row]
        headers = {name.lower(): value.strip() for name, _, value in rows}
        return int(run.stdout), headers, body.read_bytes()


def resolved(part):
    if "$ref" in part and part["$ref"].startswith("#/"):
        at = DOCUMENT
        for step in part["$ref"][2:].split("/"):
            at = at[step]
        return at
    return part


def check_answer(expect, what, operation, answer, wanted):
    """The status is the expected one, and the answer has the form that the document gives for
    it."""
    status, headers, body = answer
    if not expect.that(status in wanted, f"{what}: {wanted}", (status, body[:300])):
        return
    described = operation["responses"].get(str(status)) or operation["responses"].get("default")
    if not expect.that(described, f"{what}: {status} is in the document"):
        return
    described = resolved(described)
    for name in described.get("headers", {}):
        expect.that(name.lower() in headers, f"{what}: {status} has {name}", headers)
    if "content" not in described:
        expect.equal(body, b"", f"{what}: {status} has no body")
        return
    kind = headers.get("content-type")
    if not expect.that(kind in described["content"], f"{what}: type of {status}", kind):
        return
    if kind != "application/json":
        return
    schema = described["content"][kind]["schema"]
    schema = support.form_of(schema, DOCUMENT, REPORT)
    wrong = jsonschema.Draft202012Validator(schema).iter_errors(json.loads(body))
    expect.equal([f"{e.json_path}: {e.message[:200]}" for e in wrong], [],
                 f"{what}: form of {status}")


class Walk:
    def __init__(self, expect, curl, read, operate, names):
        self.expect, self.curl, self.read, self.operate = expect, curl, read, operate
        self.names = names
        self.bodies = {
            "test_alerts": {},
            "acknowledge": {"note": "as the walk says"},
            "label_incident": {"state": "crashed", "nodes": ["node-02"], "rank": "4"},
            "begin_maintenance": {"job": "sample", "why": "as the walk says",
                                  "until": time.strftime("%Y-%m-%dT%H:%M:%SZ",
                                                         time.gmtime(time.time() + 3_600))},
            "store_snapshot": {}, "import_pool": {"schema": "l4.pool/1", "runs": [RUN]},
            "outcome": {"outcome": "failure", "note": "as the walk says"},
            "confirm_fault": {"incident": names["incidents"], "cause": "c", "fix": "f",
                              "id": names["drop_fault"], "category": "hardware/accelerator",
                              "patterns": [r"failed \(exitcode: -9\) local_rank: \S+ \(pid"],
                              "example": "ERROR:torch.distributed.elastic.multiprocessing.api:"
                                         "failed (exitcode: -9) local_rank: 0 (pid: 4711) of "
                                         "binary: /usr/bin/python3"}}

    def path(self, path, operation):
        """The path with the id of an existing object; objects that this test made are dropped."""
        name = ""
        query = NEEDED.get(path.rsplit("}", 1)[-1], "")
        if "{id}" in path:
            kind = path.split("/")[3]
            name = self.names.get(operation["operationId"]) or self.names.get(kind)
            self.expect.that(name, f"{path}: an id is in names_of(), of api.py")
        path = path.replace("{id}", urllib.parse.quote(name or "", safe=""))
        return path + query

    def body(self, operation, value=None):
        if "requestBody" not in operation:
            return ()
        text = json.dumps(self.bodies[operation["operationId"]] if value is None else value)
        return "--header", "Content-Type: application/json", "--data-binary", text

    def check(self, method, path, item):
        operation = item[method]
        name = operation["operationId"]
        if not self.expect.that("requestBody" not in operation or name in self.bodies,
                                f"{name}: a right body is in `bodies` of this file"):
            return
        what = f"{method.upper()} {path}"
        asked = self.path(path, operation)

        def ask(wanted, why, target=asked, more=None, token=self.operate):
            more = self.body(operation) if more is None else more
            answer = self.curl.ask(method, target, *more, token=token)
            check_answer(self.expect, f"{what}, {why}", operation, answer, wanted)
            return answer

        is_open = operation.get("security") == []
        well = (200, 503) if is_open else (200,)  # the player's agents fell silent: degraded
        for why, token in (("no token", ""), ("a token that nobody has", "l4_" + "0" * 64)):
            ask(well if is_open else (401,), why, token=token)
        if method != "get":  # who may only read may sign in and out
            ask((403,) if "403" in operation["responses"] else well, "a token that may only read",
                token=self.read)
        # For an operation with effect the wrong calls come first: after a right one the object may
        # be gone.
        self.check_wrong(ask, method, path, operation, asked)
        answer = ask(well, "with a token", token=self.read if method == "get" else self.operate)
        if method == "get" and "etag" in answer[1] and answer[0] == 200:
            tag = ("--header", f"If-None-Match: {answer[1]['etag']}")
            again = ask((200, 304), "its ETag", more=tag)
            if path not in ("/metrics", "/api/v1/agents", "/api/v1/status",  # figures, times
                            "/api/v1/session"):  # who asks, and that is another one here
                self.expect.equal(again[0], 304, f"{what}: nothing has changed")
        for parameter in map(resolved, operation.get("parameters", [])):
            key = parameter["name"]
            if parameter["in"] != "query" or f"{key}=" in asked:
                continue
            self.expect.that(key in VALUES, f"{what}: a value of {key} is in VALUES of this file")
            if value := VALUES.get(key):
                mark = "&" if "?" in asked else "?"
                ask((200,), key, f"{asked}{mark}{key}={value}")

    def check_wrong(self, ask, method, path, operation, asked):
        mark = "&" if "?" in asked else "?"
        ask((400,), "an unknown parameter", f"{asked}{mark}nonsense=1")
        if "requestBody" in operation:
            ask((415,), "no JSON", more=("--header", "Content-Type: text/plain", "--data", "{}"))
            for text in ('{"nonsense": 1}', "{", "[]"):
                ask((400,), f"a body of {text}", more=(
                    "--header", "Content-Type: application/json", "--data-binary", text))
        # Snapshots of a job that does not exist (any more) are an empty list.
        if "{id}" in path and operation["operationId"] != "snapshots":
            nobody = path.replace("{id}", "nobody") + NEEDED.get(path.rsplit("}", 1)[-1], "")
            ask((404,), "what is not there", nobody)


def check_limited(expect, walk, limited, allowed):
    """A token that is limited to other jobs is told nothing of this one, by no operation; a token
    that is limited to this job gets what every token gets."""
    incident = walk.names["incidents"]
    for path in ("/api/v1/pool", "/api/v1/maintenance"):  # there is something to hide
        body = walk.body(DOCUMENT["paths"][path]["post"])
        expect.equal(walk.curl.ask("post", path, *body, token=walk.operate)[0], 200, f"POST {path}")
    secrets = (b'"sample"', incident.encode(), b"node-02", b'"other.0', b'"m1"')
    site = set()
    for path, item in DOCUMENT["paths"].items():
        for method in METHODS:
            if method not in item or item[method].get("security") == []:
                continue
            operation, name = item[method], item[method]["operationId"]
            asked = walk.path(path, operation)
            more = () if method == "get" else walk.body(operation)
            if path == "/api/v1/events":  # also what was published before
                more = ("--header", "Last-Event-ID: none", "--max-time", "1")
            what = f"{method.upper()} {path}, a token of other jobs"
            answer = walk.curl.ask(method, asked, *more, token=limited)
            if answer[0] == 403:
                site.add(name)
                check_answer(expect, what, operation, answer, (403,))
                continue
            if "{id}" not in path:
                check_answer(expect, what, operation, answer,
                             (404,) if name == "begin_maintenance" else (200,))
                found = [one for one in secrets if one in answer[2]]
                expect.that(answer[0] == 404 or not found, f"{what}: nothing of the job", found)
                continue
            asked_name = walk.names.get(name) or walk.names.get(path.split("/")[3])
            if name == "fault":  # a shipped one is known to all
                check_answer(expect, what, operation, answer, (200,))
                continue
            check_answer(expect, what, operation, answer, (404,))
            nobody = asked.replace(urllib.parse.quote(asked_name, safe=""), "no-such", 1)
            other = walk.curl.ask(method, nobody, *more, token=limited)
            expect.equal((answer[0], answer[2].replace(asked_name.encode(), b"no-such")),
                         (other[0], other[2]), f"{what}: as if there were none")
            if method == "get" and path.startswith("/api/v1/jobs/") and "events" not in path:
                mine, all_of = (walk.curl.ask(method, asked, token=token)
                                for token in (allowed, walk.read))
                expect.equal(mine[0], 200, f"{what}: a token of this job")
                if name not in ("lines", "snapshot", "brief"):  # times of asking
                    expect.equal(mine[2], all_of[2], f"{what}: a token of this job gets the same")
    expect.equal(site, {"agents", "status", "alerts", "test_alerts", "confirm_fault", "drop_fault",
                        "import_pool", "drop_pool_run"}, "what is about the whole site")
    for path in ("/api/v1/jobs", "/api/v1/incidents", "/api/v1/maintenance"):
        mine, all_of = (walk.curl.ask("get", path, token=token)[2]
                        for token in (allowed, walk.read))
        rows = next(iter(json.loads(mine).values()))
        expect.that(rows and mine == all_of, f"{path}: a token of this job gets its rows", mine)
    more = ("--header", "Content-Type: application/json", "--data-binary")
    for what, body in (("a node", {"node": "node-02"}), ("all jobs", {"job": "*"}),
                       ("another job", {"job": "x", "unseen": True})):
        asked = {k: v for k, v in walk.bodies["begin_maintenance"].items() if k != "job"}
        text = json.dumps({**asked, **body})
        status = walk.curl.ask("post", "/api/v1/maintenance", *more, text, token=allowed)[0]
        expect.equal(status, 403 if what == "a node" else 404, f"maintenance of {what}")


def check(expect, l4, build, folder):
    read, operate = (token_of(l4, expect, folder, *who) for who in (("reader", "read"),
                                                                   ("ops", "operate")))
    limited, allowed = (token_of(l4, expect, folder, name, "operate", "--jobs", jobs)
                        for name, jobs in (("team-b", "team-b-*"), ("sample", "sam*,x-?")))
    held = (folder / "keys" / "tokens").read_text().splitlines()
    expect.that(held[-1].endswith(" sam*,x-?"), "the row names the jobs", held[-1])
    authority = folder / "own.pem"
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / "own.key", "-out",
            authority, "-days", "1", "-subj", "/CN=l4", "-addext", "subjectAltName=IP:127.0.0.1")
    site = Site(build, folder)
    site.write(http_more='certificate = "own.pem"\nkey = "own.key"\ntokens = "keys/tokens"\n')
    curl = Curl(site.url, authority, folder)
    player = None

    def json_of(path):
        status, _, body = curl.ask("get", path, token=read)
        return json.loads(body) if status == 200 else {}

    try:
        expect.that(site.start(), "the aggregator starts", site.said()[-600:])
        player = programs.played(build, site, folder / "keys", programs.aged_sample(folder), 20)
        expect.equal(player.wait(100 * SLOW), 0, "exit of the player")
        incidents = wait_for(lambda: json_of("/api/v1/incidents").get("incidents"), 20 * SLOW)
        if not expect.that(incidents, "there is an incident"):
            return
        wait_for(lambda: False, 2)  # the newest report is at rest
        fault = json_of("/api/v1/jobs/sample/snapshot")["faults"][0]["id"]
        names = names_of(incidents[0]["id"], fault)
        walk = Walk(expect, curl, read, operate, {**names, "drop_fault": "walked"})
        check_limited(expect, walk, limited, allowed)
        count = 0
        for path, item in DOCUMENT["paths"].items():
            for method in METHODS:
                if method in item:
                    walk.check(method, path, item)
                    count += 1
        expect.that(count >= 25, "operations", count)
    finally:
        if player and player.poll() is None:
            player.kill()
            player.wait()
        site.end()


def main():
    l4, expect = support.start(sys.argv, "openapi")
    if not all(map(shutil.which, ("curl", "openssl"))):
        print("openapi: curl and openssl are needed (tools/setup installs them)")
        return support.SKIPPED
    build = pathlib.Path(l4.binary).resolve().parent
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        l4.run("keys", "init", "--dir", folder / "keys")
        l4.run("keys", "add", "--dir", folder / "keys", *programs.NODES)
        (folder / "state").mkdir()
        check(expect, l4, build, folder)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
