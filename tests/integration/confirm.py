#!/usr/bin/env python3
"""Engineers confirm what an incident was; the next job with that fault is answered with it.

usage: confirm.py L4

The real agent and aggregator, with tokens, on logs made of the sample: a rank fails with an error
that no entry of the fault library knows. Job A fails and is confirmed, the aggregator is killed
right after the answer, and job B fails with other numbers on another node.
"""
import http.client
import json
import pathlib
import shutil
import signal
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import aggregator as programs
import live
import made_job
import support
from api import Asker, token_of
from live import wait_for

NODE, SLOW = "agent-1", programs.SLOW
KILLS_AT = (0.2, 0.6, 0.8, 0.9, 1.0, 1.1, 1.3, 2.0)  # of the time that an answer takes
CAUSE, FIX = "The corpus was copied only in part.", "Copy it again and compare its sums."
ERROR = ("corpus.BrokenShelfFault: shelf {shelf} of corpus {corpus} lost its ledger: seal {seal} "
         "was found (read from /mnt/corpus/{corpus}/{shelf}.led on {node})")
HARMLESS = "WARNING data: shelf 12 of corpus 8 lost its ledger: it is made anew"
WIDE = r"shelf {n} of corpus {n} lost its ledger"


class Poster(Asker):
    """A client that can also send a body."""

    def send(self, method, path, body=None, kind="application/json"):
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, method=method, data=data)
        if data is not None and kind:
            request.add_header("Content-Type", kind)
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=70) as got:
                return got.status, json.loads(got.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())


def write_job(folder, node, pid, **numbers):
    """The sample, in which a rank of `node` ends with ERROR and not by a signal. The launchers'
    lines about it come a second later, as in a real job."""
    unseen = folder.with_name(folder.name + ".made")
    shutil.copytree(support.SAMPLE, unseen)
    log = next((unseen / "node-02").glob("*/attempt_0/0/stderr.log"))
    with open(log, "a", encoding="utf-8") as file:
        file.write('Traceback (most recent call last):\n  File "/mnt/code/train.py", line 311, in '
                   "<module>\n    main()\n" + ERROR.format(node=node, **numbers) + "\n")
    for file in unseen.rglob("*.log"):
        text = file.read_text("utf-8").replace("exitcode: -9", "exitcode: 1")
        text = text.replace("exitcode  : -9", "exitcode  : 1").replace("28995", str(pid))
        text = text.replace("Signal 9 (SIGKILL) received by PID", "See the log of the rank,")
        file.write_text(text.replace("node-02", node).replace("job-1005", folder.name), "utf-8")
    for run in unseen.glob("*/job-1005_*"):
        run.rename(run.with_name(run.name.replace("job-1005", folder.name)))
    (unseen / "node-02").rename(unseen / node)
    launchers = {file: file.read_text("utf-8") for file in unseen.glob("*/agent.log")}
    for file in launchers:
        file.unlink()
    for part in sorted(unseen.iterdir()):
        shutil.copytree(part, folder / part.name)
    time.sleep(1.5)
    for file, text in launchers.items():
        (folder / file.relative_to(unseen)).write_text(text, "utf-8")
    shutil.rmtree(unseen)


def write_healthy(folder):
    job = made_job.MadeJob(4, seed=3, iterations=20)
    job.say(2, job.moment(2, 7, 1) + 0.01, HARMLESS)
    job.write(folder.with_name("well.made"))
    for part in folder.with_name("well.made").iterdir():
        shutil.copytree(part, folder / part.name, copy_function=shutil.copy)
    shutil.rmtree(folder.with_name("well.made"))


class World:
    """Keys, tokens, an aggregator with a webhook and an agent on the folders of three jobs."""

    def __init__(self, l4, expect, folder):
        self.l4, self.expect, self.folder = l4, expect, folder
        self.build = pathlib.Path(l4.binary).resolve().parent
        l4.run("keys", "init", "--dir", folder / "keys")
        l4.run("keys", "add", "--dir", folder / "keys", NODE)
        (folder / "state").mkdir()
        self.logs = {name: folder / "logs" / name for name in ("job-a", "job-b", "well")}
        for path in self.logs.values():
            path.mkdir(parents=True)
        self.tokens = {name: token_of(l4, expect, folder, name, role)
                       for name, role in (("reader", "read"), ("ops", "operate"))}
        self.hook = programs.Webhook()
        self.hook.refused = 1
        url = f"http://127.0.0.1:{self.hook.server.server_address[1]}/"
        self.server = programs.Aggregator(self.build / "l4-aggregator", folder, url)
        text = self.server.config.read_text()
        self.server.config.write_text(
            text.replace("[http]\n", '[http]\ntokens = "keys/tokens"\n') +
            '[detect]\nroutine_s = 1\nhang_floor_s = 5\n')
        self.ops = Poster(self.server.http, self.tokens["ops"])
        self.agent = None

    def start(self):
        self.expect.that(self.server.start(), "the aggregator starts",
                         self.server.log_text()[-600:])

    def start_agent(self):
        sources = json.dumps([str(path) for path in self.logs.values()])
        config = self.folder / "agent.toml"
        config.write_text(f"""[link]
aggregator = "tcp://127.0.0.1:{self.server.wire}"
key = "keys/nodes/{NODE}.key"
[logs]
sources = {sources}
[state]
folder = "state-agent"
[limits]
cpu_percent = 0
[host]
kernel_log = false
processes = false
""")
        self.agent = live.Program("agent", self.folder,
                                  [self.build / "l4-agent", "--config", config])

    def faults(self, *args, token="ops", address=True):
        os_token = self.folder / f"token-{token}"
        os_token.write_text(self.tokens.get(token, token) + "\n")
        where = ("--address", self.ops.url, "--token-file", os_token) if address else ()
        return self.l4.run("faults", *args, *where)

    def incident(self, job):
        rows = self.ops.json(f"/api/v1/incidents?job={job}").get("incidents", [])
        return rows[0]["id"] if rows else ""

    def report(self, job):
        return self.ops.json(f"/api/v1/jobs/{job}/snapshot")

    def telling_incident(self, job):
        """The incident's id, once its report holds the line of the fault."""
        found = self.incident(job)
        stored = self.ops.json(f"/api/v1/incidents/{found}") if found else {}
        events = (stored.get("report") or {}).get("events", [])
        return found if any("BrokenShelf" in event["template"] for event in events) else ""

    def end(self):
        for process in (self.agent and self.agent.process, self.server.process):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        self.hook.close()


def fault_ids(report):
    return [fault["id"] for fault in report.get("faults", [])]


def check_refused(world, incident):
    """Requests without permission and invalid requests are refused and leave no trace."""
    expect, path = world.expect, "/api/v1/faults"
    good = {"incident": incident, "cause": CAUSE, "fix": FIX}
    for token, status in (("", 401), (world.tokens["reader"], 403)):
        asker = Poster(world.server.http, token)
        expect.equal(asker.send("POST", path, good)[0], status, f"POST by {token[:9]!r}")
        expect.equal(asker.send("DELETE", path + "/oom_killer")[0], status, "DELETE by the same")
    rows = [
        ({**good, "cause": ""}, 400, "cause: must not be empty"),
        ({**good, "causes": "x"}, 400, "causes: is not known here"),
        ({"incident": incident, "fix": FIX}, 400, "cause: is missing"),
        ({**good, "fix": 7}, 400, "fix: must be no number"),
        ({**good, "fix": [FIX]}, 400, "fix: must be text"),
        ({**good, "fix": {"a": "b"}}, 400, "fix: must be no object"),
        ({**good, "dry_run": "yes"}, 400, "dry_run: must be true or false"),
        ({**good, "fix": "a\x1b[2Jb"}, 400, "U+001B"),
        ({**good, "fix": "a\u202eb"}, 400, "U+202E"),
        ({**good, "title": "x" * 91}, 400, "title: has 91 bytes, at most 90"),
        ({**good, "cause": "x" * 2001}, 400, "cause: has 2001 bytes"),
        ({**good, "patterns": ["x"] * 9}, 400, "patterns: holds 9 texts"),
        ({**good, "patterns": ["shelf ("]}, 400, "shelf ("),
        ({**good, "patterns": ["a"]}, 422, "holds 1 constant characters"),
        ({**good, "patterns": ["nobody ever said that"]}, 422, "matches no event"),
        ({**good, "category": "hardware"}, 400, "hardware/network"),
        ({**good, "id": "Big-Id"}, 400, "must be of a-z"),
        ({**good, "id": "xid_off_the_bus"}, 409, "is the id of another fault"),
        ({**good, "template": "0" * 16}, 400, "is no event of incident"),
        ({**good, "incident": "nothing"}, 404, "there is no incident nothing"),
        ([], 400, "must be an object"),
        (b'{"incident": "x", "incident": "y"}', 400, "incident: stands twice"),
        (b"{", 400, "is no JSON"),
        (b"\xff", 400, "is no JSON"),
    ]
    for body, status, said in rows:
        got, answer = world.ops.send("POST", path, body)
        message = answer.get("error", {}).get("message", "")
        expect.that(got == status and said in message, f"{str(body)[:90]}: {status} {said}",
                    (got, message))
    expect.equal(world.ops.send("POST", path, json.dumps(good).encode(), "text/plain")[0], 415,
                 "another type of content")
    for name, status in (("xid_off_the_bus", 409), ("nothing_like_it", 404)):
        expect.equal(world.ops.send("DELETE", f"{path}/{name}")[0], status, f"DELETE {name}")
    expect.equal(list((world.folder / "state" / "faults").glob("*")), [], "files of refused ones")


def struck(world, path, body, delay_ms):
    """The answer to a POST; None if the aggregator was killed, so long after it, before it
    answered."""
    answers = []

    def ask():
        try:
            answers.append(world.ops.send("POST", path, body))
        except (OSError, http.client.HTTPException):  # it was killed before it answered
            pass

    asker = threading.Thread(target=ask)
    asker.start()
    time.sleep(delay_ms / 1000)
    world.server.end(signal.SIGKILL)
    asker.join()
    world.start()
    return next((body for status, body in answers if status == 200), None)


def milliseconds_of(world, path, body):
    began = time.monotonic()
    world.ops.send("POST", path, body)
    return 1000 * (time.monotonic() - began)


def check_kills(world, incident):
    """The aggregator is killed in the middle: the fault is stored whole or not at all, and is
    stored if the answer came."""
    expect, folder = world.expect, world.folder / "state" / "faults"
    body = {"incident": incident, "cause": CAUSE, "fix": FIX, "id": "killed"}
    world.server.end(signal.SIGKILL)
    world.start()
    takes_ms = milliseconds_of(world, "/api/v1/faults", {**body, "dry_run": True})
    stored = 0
    for part in KILLS_AT:
        delay_ms = round(part * takes_ms)
        answer = struck(world, "/api/v1/faults", body, delay_ms)
        status = world.ops.ask("/api/v1/faults/killed")[0]
        expect.that(status == 200 or answer is None, f"killed after {delay_ms} ms: what was "
                    "answered is there", (answer, status))
        expect.equal([p.name for p in folder.iterdir()], ["killed.toml"] if status == 200 else [],
                     f"killed after {delay_ms} ms: files")
        stored += status == 200
        if status == 200:
            expect.equal(world.ops.send("DELETE", "/api/v1/faults/killed")[0], 200, "withdrawn")
    print(f"{stored} of {len(KILLS_AT)} were stored before the kill")
    expect.that("passed over" not in world.server.log_text(), "no broken file was found")


def check_kills_of_snapshots(world):
    expect, path = world.expect, "/api/v1/jobs/job-a/snapshots"
    takes_ms = milliseconds_of(world, path, {})
    for part in KILLS_AT:
        delay_ms = round(part * takes_ms)
        answer = struck(world, path, {}, delay_ms)
        what = f"a snapshot, killed after {delay_ms} ms"
        rows = world.ops.json(path)["snapshots"]
        expect.that(answer is None or answer["id"] in [row["id"] for row in rows],
                    f"{what}: the answered one is there", (answer, rows))
        for row in rows:
            report = world.ops.json(f"/api/v1/jobs/job-a/snapshot?at={row['id']}")
            expect.equal(report.get("verdict", {}).get("state"), row["state"],
                         f"{what}: {row['id']} is whole")


def check_kills_of_outcomes(world):
    """A run is in the pool exactly if the last stored outcome is success."""
    expect, path = world.expect, "/api/v1/jobs/well/outcome"
    milliseconds_of(world, path, {"outcome": "success"})
    takes_ms = milliseconds_of(world, path, {"outcome": "failure"})
    for i, part in enumerate(KILLS_AT):
        word, delay_ms = ("success", "failure")[i % 2], round(part * takes_ms)
        answer = struck(world, path, {"outcome": word}, delay_ms)
        what = f"{word}, killed after {delay_ms} ms"
        runs = len(world.ops.json("/api/v1/pool")["runs"])
        told = world.ops.send("POST", path, {"outcome": word})[1]
        expect.that(answer is None or told["before"] == word, f"{what}: what was answered is kept",
                    (answer, told))
        expect.that(answer is None or (runs > 0) == (word == "success"),
                    f"{what}: runs in the pool", (answer, runs))
        runs = len(world.ops.json("/api/v1/pool")["runs"])
        expect.equal(runs > 0, word == "success", f"{what} and said again: runs in the pool")
    told = world.ops.send("POST", path, {"outcome": "success"})[1]
    expect.that(told["run"], "a success in the end", told)


def check_confirmed(world, incident):
    """Dry run, too wide, then stored; the aggregator is killed right after the answer."""
    expect = world.expect
    said = ("confirm", incident, "--cause", CAUSE, "--fix", FIX)
    run = world.faults(*said, "--dry-run")
    expect.that(run.status == 0 and b"would be" in run.stdout and b"nothing was stored"
                in run.stdout and b"BrokenShelfFault: shelf .* of corpus" in run.stdout,
                "faults confirm --dry-run", run)
    run = world.faults(*said, "--pattern", WIDE)
    expect.that(run.status == 1 and "job well" in run.stderr and "made anew" in run.stderr,
                "a pattern that a healthy job shows is refused with its line", run)
    run = world.faults(*said, "--category", "hardware/storage", "-o", "json", token="reader")
    expect.that(run.status == 3 and "may read" in run.stderr, "confirm by who may read", run)
    began = time.monotonic()
    run = world.faults(*said, "--category", "hardware/storage", "-o", "json")
    world.server.end(signal.SIGKILL)
    print(f"confirmed in {time.monotonic() - began:.2f} s")
    if not expect.that(run.status == 0, "faults confirm", run):
        return ""
    answer = json.loads(run.stdout)
    fault = answer["fault"]
    expect.that(answer["stored"] and not answer["known"], "it is stored", answer)
    expect.equal((fault["cause"], fault["fix"], fault["category"], fault["subcategory"]),
                 (CAUSE, FIX, "hardware", "storage"), "what was said")
    expect.equal((fault["confirmed"]["by"], fault["confirmed"]["incident"]), ("ops", incident),
                 "who confirmed what")
    expect.that(answer["looked_at"]["jobs"] >= 2 and fault["rejects"], "what was looked at", answer)
    world.start()
    kept = world.ops.json(f"/api/v1/faults/{fault['id']}")
    expect.equal(kept, fault, "after a kill -9 it is as it was answered")
    figures = world.ops.ask("/metrics")[2].decode()
    expect.that("\nl4_aggregator_faults_confirmed 1\n" in figures, "the metrics count it",
                [row for row in figures.splitlines() if "faults" in row])
    expect.that("was confirmed by ops from incident" in world.server.log_text(), "the log says who")
    again = json.loads(world.faults(*said, "--category", "hardware/storage", "-o", "json").stdout)
    expect.equal((again["known"], again["fault"]["id"]), (True, fault["id"]), "the same again")
    expect.that(wait_for(lambda: fault["id"] in fault_ids(world.report("job-a")), 20 * SLOW),
                "the job that had failed is answered anew", fault_ids(world.report("job-a")))
    return fault["id"]


def check_labelled(world, incident, fault):
    """What was true is told, with and without a fault; it survives a kill -9; l4 fit reads it."""
    expect = world.expect
    path = f"/api/v1/incidents/{incident}/label"
    reader = Poster(world.server.http, world.tokens["reader"])
    expect.equal(reader.send("POST", path, {"state": "hung"})[0], 403, "a label by who may read")
    for body, said in (({}, "must be given"),
                       ({"state": "broken"}, "state: must be one of healthy"),
                       ({"rank": "x"}, "rank: must be a whole number"),
                       ({"stat": "hung"}, "stat: is not known here")):
        status, answer = world.ops.send("POST", path, body)
        expect.that(status == 400 and said in answer["error"]["message"], f"label {body}", answer)
    expect.equal(world.ops.send("POST", "/api/v1/incidents/nothing/label", {"state": "hung"})[0],
                 404, "label of no incident")
    run = world.faults("confirm", incident, "--node", "node-02")
    expect.that(run.status == 0 and b"node node-02: right" in run.stdout, "a node alone", run)
    run = world.faults("confirm", incident, "--cause", CAUSE)
    expect.that(run.status == 2 and "--fix" in run.stderr, "a cause without a fix", run)
    run = world.faults("confirm", incident, "--cause", CAUSE, "--fix", FIX, "--category",
                       "hardware/storage", "--state", "hung", "--node", "node-02", "--rank", "4")
    expect.that(run.status == 0 and b"state crashed: wrong" in run.stdout, "with a fault", run)
    world.server.end(signal.SIGKILL)
    world.start()
    rows = [row for row in world.ops.json("/api/v1/labels")["labels"] if row["subject"] == incident]
    expect.that(len(rows) == 1 and rows[0]["source"] == f"fault {fault}"
                and rows[0]["truth"]["rank"] == 4 and rows[0]["who"] == "ops"
                and {claim["of"]: claim["right"] for claim in rows[0]["claims"]}
                == {"state": False, "node": True, "event": True}, "the label survives", rows)
    run = world.l4.run("fit", "--address", world.ops.url, "--token-file",
                       world.folder / "token-ops")
    expect.that(run.status == 1 and b"are needed" in run.stdout, "l4 fit: too few labels", run)
    live.wait_for(lambda: world.ops.json("/api/v1/jobs/well/report"))
    told = world.ops.send("POST", "/api/v1/jobs/well/outcome", {"outcome": "success"})[1]
    expect.that(told["labelled"], "an outcome is a label, too", told)
    run = world.faults("confirm", incident, "--state", "crashed")
    expect.that(run.status == 0 and b"state crashed: right" in run.stdout, "a label replaced", run)


def check_next_job(world, fault):
    expect = world.expect
    began = time.monotonic()
    write_job(world.logs["job-b"], "gpu-b-31", 4711, shelf="0022", corpus=3, seal="0xbeef")
    expect.that(wait_for(lambda: world.telling_incident("job-b"), 40 * SLOW),
                "job B has an incident")
    print(f"job B: incident after {time.monotonic() - began:.1f} s")
    row = world.ops.json(f"/api/v1/incidents/{world.incident('job-b')}")
    for report, what in ((row["report"], "incident"), (world.report("job-b"), "snapshot")):
        first = (report["faults"] or [{}])[0]
        expect.equal((first.get("id"), first.get("cause"), first.get("fix")), (fault, CAUSE, FIX),
                     f"fault of the {what} of job B")
    expect.equal(row["report"]["nodes"][0]["node"], "gpu-b-31", "node of job B")
    told = wait_for(lambda: [a for a in world.hook.alerts
                             if a["job"] == "job-b" and a["alert"] == "opened"], 10 * SLOW)
    expect.equal([(f["id"], f["cause"], f["fix"]) for f in (told or [{"faults": []}])[0]["faults"]]
                 [:1], [(fault, CAUSE, FIX)], "fault of the alert of job B")


def check_export(world, fault):
    expect, folder = world.expect, world.folder / "site"
    folder.mkdir()
    run = world.faults("export", "--confirmed", "--out", folder / "confirmed.toml")
    expect.equal(run.status, 0, "exit of faults export")
    expect.equal((folder / "confirmed.toml").read_text().count("[[fault]]"), 1, "exported faults")
    run = world.faults("export", "--confirmed", "-o", "json")
    expect.equal([f["id"] for f in json.loads(run.stdout)["faults"]], [fault], "faults export json")
    whole = world.faults("export").stdout.count(b"[[fault]]")
    shipped = len(world.ops.json("/api/v1/faults")["faults"])
    expect.equal(whole, shipped, "all exported")
    for library in (folder, world.folder / "state" / "faults"):
        run = world.faults("test", library, address=False)
        expect.that(run.status == 0, f"faults test {library.name}", run.stdout.decode())
        _, report = world.l4.report(world.logs["job-b"], "--faults", library)
        expect.equal(fault_ids(report), [fault], f"diagnose --faults {library.name}")


def check_broken_and_drop(world, fault):
    expect, state = world.expect, world.folder / "state" / "faults"
    good = (state / f"{fault}.toml").read_text()
    (state / "bad.toml").write_text(good.replace("scope = ", "scoop = "))
    (state / "half.toml.unfinished").write_text(good[:100])
    world.server.end(signal.SIGTERM)
    world.start()
    expect.that("bad.toml:1: scope: missing" in world.server.log_text(),
                "a broken file is told with file, line and key", world.server.log_text()[-600:])
    expect.equal(sorted(p.name for p in state.iterdir()), ["bad.toml", f"{fault}.toml"],
                 "files after the start")
    expect.equal(world.ops.json(f"/api/v1/faults/{fault}").get("id"), fault, "the rest is loaded")
    expect.equal(world.faults("drop", fault, token="reader").status, 3, "drop by who may read")
    run = world.faults("drop", fault)
    expect.that(run.status == 0 and fault.encode() in run.stdout, "faults drop", run)
    expect.equal(world.faults("drop", fault).status, 2, "faults drop, again")
    run = world.faults("drop", "xid_off_the_bus")
    expect.that(run.status == 2 and "ships" in run.stderr, "drop of one that ships", run)
    world.server.end(signal.SIGKILL)
    world.start()
    expect.equal(world.ops.ask(f"/api/v1/faults/{fault}")[0], 404, "it stays withdrawn")
    expect.that("was withdrawn by ops" in world.server.log_text(), "the log says who withdrew it")
    expect.that(wait_for(lambda: fault not in fault_ids(world.report("job-b")), 20 * SLOW),
                "jobs are answered without it", fault_ids(world.report("job-b")))


def check_past(world):
    """Two past incidents had one fault: confirming either marks the other as well. The healthy
    job's run in the pool is checked, too."""
    expect = world.expect
    incidents = [world.incident("job-a"), world.incident("job-b")]
    for incident, other, job in zip(incidents, incidents[::-1], ("job-b", "job-a")):
        said = ("confirm", incident, "--cause", CAUSE, "--fix", FIX, "--dry-run")
        run = world.faults(*said, "-o", "json")
        if not expect.that(run.status == 0, f"faults confirm {incident}", run):
            continue
        answer = json.loads(run.stdout)
        expect.equal([(past["incident"], past["job"], past["state"]) for past in
                      answer["also_matches"]], [(other, job, "crashed")], "what it matches, too")
        looked_at = answer["looked_at"]
        expect.equal((looked_at["incidents"], looked_at["runs"], looked_at["complete"]),
                     (1, len(world.ops.json("/api/v1/pool")["runs"]), True), "what was looked at")
        expect.that(looked_at["runs"] > 0, "the healthy job is in the pool")
        shown = world.faults(*said).stdout.decode()
        expect.that("1 of 1 other incidents" in shown and f"{other} of job {job}" in shown
                    and "of the pool" in shown, "the same as text", shown)


def check(world):
    expect = world.expect
    world.start()
    world.start_agent()
    write_healthy(world.logs["well"])
    write_job(world.logs["job-a"], "node-02", 28995, shelf="0417", corpus=17, seal="0x3fa2")
    expect.that(wait_for(lambda: world.telling_incident("job-a"), 40 * SLOW),
                "job A has an incident", world.server.log_text()[-600:])
    expect.that(wait_for(lambda: world.ops.json("/api/v1/jobs/well").get("state") == "finished",
                         30 * SLOW), "the healthy job is well", world.ops.json("/api/v1/jobs/well"))
    incident = world.incident("job-a")
    unknown = [f for f in world.report("job-a")["faults"] if f["category"] != "user/program"
               and f["confidence"] > 0.5 and f["id"] != "unknown"]
    expect.equal(unknown, [], "no fault is known to be the cause before")
    check_refused(world, incident)
    check_kills(world, incident)
    check_kills_of_snapshots(world)
    check_kills_of_outcomes(world)
    fault = check_confirmed(world, incident)
    if fault:
        check_labelled(world, incident, fault)
        check_next_job(world, fault)
        check_export(world, fault)
        check_broken_and_drop(world, fault)
        check_past(world)
    expect.equal(world.agent.end()[0], 0, "exit of the agent")
    expect.equal(world.server.end(signal.SIGTERM)[0], 0, "exit of the aggregator")


def main():
    l4, expect = support.start(sys.argv, "confirm")
    for command in ("confirm", "drop", "export"):
        run = l4.run("faults", command, "--help")
        expect.that(run.status == 0 and b"Exit status" in run.stdout, f"faults {command} --help")
    with tempfile.TemporaryDirectory(prefix="l4-confirm-") as folder:
        world = World(l4, expect, pathlib.Path(folder))
        try:
            check(world)
        finally:
            world.end()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
