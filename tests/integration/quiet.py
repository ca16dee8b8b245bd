#!/usr/bin/env python3
"""Acknowledged incidents and maintenance, over HTTP and with `l4`, through kills of the aggregator.

usage: quiet.py L4

The sample fails while its job is in maintenance: the incident is recorded and marked, and no sink
is told. What two people say of it holds after SIGKILL; bad input is refused in words and changes
nothing. When all is taken back, the sink gets the alert, with a link to the page.
"""
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import aggregator as programs
import live
import support
from api import token_of
from live import wait_for

SLOW = programs.SLOW
PAGE = "https://ops.example/l4"
HOUR_S = 3_600


class Hook(live.AlertReceiver):
    def of_incident(self):
        return [alert for alert in self.alerts if alert.get("job") == "sample"]


def utc(seconds_on):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds_on))


class Site:
    def __init__(self, l4, expect, build, folder, hook):
        self.l4, self.expect, self.build, self.folder = l4, expect, build, folder
        self.program = programs.Aggregator(build / "l4-aggregator", folder, hook.url)
        config = self.program.config.read_text()
        self.program.config.write_text(config.replace(
            "[http]\n", f'[http]\npublic_url = "{PAGE}/"\ntokens = "keys/tokens"\n'))
        self.tokens = {name: token_of(l4, expect, folder, name, role) for name, role in (
            ("reader", "read"), ("ann", "operate"), ("bob", "operate"))}

    def ask(self, who, method, path, body=None):
        """Status and answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.program.http}/api/v1/{path}",
                                         data=data, method=method)
        request.add_header("Authorization", f"Bearer {self.tokens[who]}")
        if data is not None:
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=20) as got:
                return got.status, json.load(got)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def get(self, path):
        return self.ask("reader", "GET", path)[1]

    def run(self, who, *words):
        """Status, standard output and error of an `l4` that asks with this token."""
        environment = {**os.environ, "L4_ADDRESS": f"http://127.0.0.1:{self.program.http}",
                       "L4_TOKEN": self.tokens[who], "NO_COLOR": "1"}
        done = subprocess.run([self.l4.binary, *words], capture_output=True, text=True, timeout=60,
                              check=False, env=environment)
        return done.returncode, done.stdout, done.stderr

    def kill(self):
        self.program.end(signal.SIGKILL)
        self.expect.that(self.program.start(), "it starts again after SIGKILL",
                         self.program.log_text()[-600:])

    def refused(self, what, answer, status, part):
        code, body = answer
        said = body.get("error", {}).get("message", "")
        self.expect.that(code == status and part in said, f"{what}: {status}, {part}", answer)


def check_bad_maintenance(site):
    """Each is refused with a reason, and none begins."""
    good = {"job": "sample", "until": utc(HOUR_S), "why": "new image"}
    for what, change, part in (
            ("a time of the past", {"until": utc(-60)}, "until: is past"),
            ("a time without a zone", {"until": utc(HOUR_S)[:-1]}, "until: must be a time with"),
            ("no time", {"until": "tomorrow"}, "until: must be a time with its zone"),
            ("a time too far away", {"until": utc(400 * 24 * HOUR_S)}, "is more than a year"),
            ("an empty reason", {"why": " "}, "why"),
            ("no reason", {"why": None}, "why"),
            ("a reason that is too long", {"why": "x" * 501}, "why"),
            ("a pattern that is too long", {"job": "x" * 201}, "job"),
            ("a reason of two lines", {"why": "a\nb"}, "why"),
            ("job and node", {"node": "n"}, "either job or node"),
            ("neither", {"job": None}, "either job or node"),
            ("an unknown member", {"who": "me"}, "who")):
        body = {key: value for key, value in {**good, **change}.items() if value is not None}
        site.refused(what, site.ask("ann", "POST", "maintenance", body), 400, part)
    for kind in ("job", "node"):
        body = {kind: "nothing-*", "until": utc(HOUR_S), "why": "x"}
        site.refused(f"a pattern without a {kind}", site.ask("ann", "POST", "maintenance", body),
                     404, f"no {kind} is called nothing-* now")
    site.expect.equal(site.ask("reader", "POST", "maintenance", good)[0], 403, "who may only read")
    for name in ("m9", "9", "m0", "nobody"):
        site.expect.equal(site.ask("ann", "DELETE", f"maintenance/{name}")[0], 404,
                          f"end of {name}")
    site.expect.equal(site.get("maintenance?over=true")["maintenance"], [], "none has begun")


def check_silent(site, hook, logs):
    """The sample fails in maintenance; gives the id of its incident."""
    expect = site.expect
    status, said, error = site.run("ann", "maintenance", "add", "--job", "samp*", "--for", "1h",
                                   "--why", "new image", "--unseen")
    expect.that(status == 0 and "m1" in said and "by ann: new image" in said,
                "l4 maintenance add", (status, said, error))
    player = programs.played(site.build, site.program, site.folder / "keys", logs, 40)
    found = wait_for(lambda: site.get("incidents").get("incidents"), 60 * SLOW)
    player.communicate(timeout=100 * SLOW)
    if not expect.that(found, "the incident is recorded"):
        return None
    incident = site.get("incidents")["incidents"][0]
    expect.equal((incident["maintenance"], incident["acknowledged_by"]), ("m1", None),
                 "it is marked with the maintenance")
    expect.that(site.get("jobs/sample")["silent_until"], "the job's row says that it is silent")
    site.kill()
    time.sleep(2)
    expect.equal(hook.of_incident(), [], "no sink is told, also after SIGKILL")
    rows = site.get("maintenance")["maintenance"]
    expect.equal([(row["id"], row["pattern"], row["who"], row["incidents"]) for row in rows],
                 [("m1", "samp*", "ann", 1)], "the maintenance is still known")
    expect.equal(site.get("incidents")["incidents"][0]["maintenance"], "m1", "and so is the mark")
    metrics = site.program.get("/metrics")
    expect.equal(metrics[0], 401, "metrics ask for a token")
    status, said, _ = site.run("reader", "maintenance", "list")
    expect.that(status == 0 and "silent until" in said and "1 held back" in said,
                "l4 maintenance list", said)
    return incident["id"]


def check_acknowledged(site, incident):
    expect, path = site.expect, f"incidents/{incident}/acknowledgement"
    site.refused("an unknown incident", site.ask("ann", "POST", "incidents/x/acknowledgement", {}),
                 404, "there is no incident x")
    site.refused("a note that is too long", site.ask("ann", "POST", path, {"note": "x" * 501}), 400,
                 "note")
    expect.equal(site.ask("reader", "POST", path, {})[0], 403, "who may only read may not")
    site.refused("taking back what nobody has", site.ask("ann", "DELETE", path), 404,
                 "nobody has acknowledged")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        both = list(pool.map(lambda who: site.ask(who, "POST", path, {}), ("ann", "bob")))
    expect.equal(sorted(status for status, _ in both), [200, 409], "of two at once one has it")
    winner = ("ann", "bob")[[status for status, _ in both].index(200)]
    other = "bob" if winner == "ann" else "ann"
    site.refused("the other one", site.ask(other, "POST", path, {}), 409,
                 f"{winner} has acknowledged incident {incident}")
    status, said, error = site.run(winner, "ack", incident, "--note", "the switch")
    expect.that(status == 0 and f"{winner} has incident" in said and "the switch" in said,
                "l4 ack with a note", (status, said, error))
    site.kill()
    row = site.get(f"incidents/{incident}")
    expect.equal((row["acknowledged_by"], row["acknowledged_note"]), (winner, "the switch"),
                 "who has it is known after SIGKILL")
    expect.equal(site.get("jobs/sample")["acknowledged_by"], winner, "the job's row has it, too")
    status, _, error = site.run(other, "ack", incident)
    expect.that(status == 2 and "take that back first" in error, "l4 ack of another", error)
    status, said, error = site.run(other, "ack", incident, "--undo")
    expect.that(status == 0 and "nobody has incident" in said, "l4 ack --undo", (said, error))
    status, _, error = site.run("ann", "ack", "sample.9")
    expect.that(status == 2 and "there is no incident sample.9" in error, "l4 ack of none", error)


def check_end(site, hook, incident):
    """The end of the maintenance tells what is open, with a link to the page."""
    expect = site.expect
    status, said, error = site.run("bob", "maintenance", "end", "m1")
    expect.that(status == 0 and "ended by bob" in said, "l4 maintenance end", (said, error))
    expect.that(wait_for(hook.of_incident, 20 * SLOW), "the sink is told now")
    alert = hook.of_incident()[0]
    expect.equal((alert["alert"], alert["incident"], alert["link"]),
                 ("opened", incident, f"{PAGE}/incidents/{incident}"), "the alert has the link")
    status, _, error = site.run("bob", "maintenance", "end", "m1")
    expect.that(status == 2 and "was over at" in error, "it ends once", error)
    row = site.get("maintenance?over=true")["maintenance"][0]
    expect.equal((row["active"], row["ended_by"]), (False, "bob"), "who ended it is kept")
    log = site.program.log_text()
    for part in ("in maintenance m1 until", "acknowledged by", "no longer held back: alert opened"):
        expect.that(part in log, f"the log says: {part}")


def main():
    l4, expect = support.start(sys.argv, "quiet")
    build = pathlib.Path(l4.binary).resolve().parent
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        l4.run("keys", "init", "--dir", folder / "keys")
        l4.run("keys", "add", "--dir", folder / "keys", *programs.NODES)
        os.makedirs(folder / "state")
        hook = Hook()
        site = Site(l4, expect, build, folder, hook)
        try:
            if expect.that(site.program.start(), "it starts", site.program.log_text()[-600:]):
                check_bad_maintenance(site)
                incident = check_silent(site, hook, programs.aged_sample(folder))
                if incident:
                    check_acknowledged(site, incident)
                    check_end(site, hook, incident)
        finally:
            site.program.end(signal.SIGTERM)
            hook.close()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
