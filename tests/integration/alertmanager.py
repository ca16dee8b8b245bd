#!/usr/bin/env python3
"""Alerts in a real Prometheus Alertmanager: one for each failure, sent again, and its end.

usage: alertmanager.py L4

The sample's logs are played to an aggregator, whose sink is an Alertmanager of this test's own on
loopback. Fifty jobs that fail at once are one notification, with the route of ALERTS.md.
It is skipped where prometheus-alertmanager is not installed (tools/setup brings it).
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import aggregator as programs
import live
import made_job
import support
from live import wait_for

sys.path.insert(0, str(support.ROOT / "tests" / "live"))

import linked_site  # noqa: E402

SLOW = 4 if support.SANITIZED else 1
STORM = 50
AGAIN_S = 1
LABELS = {"alertname", "severity", "source", "incident", "job", "attempt"}
ANNOTATIONS = {"summary", "state", "stage", "iteration", "node", "nodes", "rank", "ranks",
               "confidence", "since"}
CONFIG = """
global: {resolve_timeout: 1m}
route: {receiver: nobody, group_by: [job]}
receivers: [{name: nobody}]
"""


class Alertmanager:
    """The program in a folder; it may be started later than the port is known."""

    def __init__(self, binary, folder, config=CONFIG):
        self.binary, self.folder, self.port = binary, folder, live.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.program = None
        (folder / "alertmanager.yml").write_text(config)

    def start(self):
        self.program = live.Program("alertmanager", self.folder, [
            self.binary, f"--config.file={self.folder / 'alertmanager.yml'}",
            f"--storage.path={self.folder / 'alertmanager'}", "--cluster.listen-address=",
            f"--web.listen-address=127.0.0.1:{self.port}"])
        return wait_for(lambda: self.alerts() is not None, 30 * SLOW)

    def groups(self):
        """Labels and number of alerts of each group; None if there is no answer."""
        try:
            with urllib.request.urlopen(f"{self.url}/api/v2/alerts/groups", timeout=10) as got:
                return [(one["labels"], len(one["alerts"])) for one in json.loads(got.read())]
        except OSError:
            return None

    def alerts(self):
        """Alerts of jobs that are not over; None if there is no answer.

        The player leaves without a word, so the aggregator also reports that it is blind.
        """
        try:
            with urllib.request.urlopen(f"{self.url}/api/v2/alerts", timeout=10) as got:
                alerts = json.loads(got.read())
                return [a for a in alerts if a["labels"]["alertname"] != "L4AggregatorBlind"]
        except OSError:
            return None

    def end(self):
        if self.program:
            self.program.end(signal.SIGTERM)


class Place:
    """An aggregator with an Alertmanager as sink, and the sample's logs."""

    def __init__(self, l4, build, folder, manager):
        l4.run("keys", "init", "--dir", folder / "keys")
        l4.run("keys", "add", "--dir", folder / "keys", *programs.NODES)
        os.makedirs(folder / "state")
        self.folder, self.build, self.player = folder, build, None
        self.aggregator = programs.Aggregator(build / "l4-aggregator", folder)
        with open(self.aggregator.config, "a", encoding="utf-8") as config:
            config.write(f"again_every_s = {AGAIN_S}\nretry_most_s = 2\n" +
                         live.manager_sink(manager.url) + "[detect]\nroutine_s = 1\n")

    def play(self, logs):
        self.player = programs.played(self.build, self.aggregator, self.folder / "keys", logs, 20)

    def figure(self, name):
        """The sink's counts, from the aggregator's metrics."""
        text = self.aggregator.get("/metrics")[1].decode()
        row = f'l4_aggregator_alert_sink_{name}{{sink="manager"}} '
        return next((float(line[len(row):]) for line in text.splitlines() if line.startswith(row)),
                    -1)

    def end(self):
        for process in (self.player, self.aggregator.process):
            if process and process.poll() is None:
                process.kill()
                process.wait()


def check_one(expect, manager, what):
    """Exactly one alert; its constant fields are labels, the others annotations.

    The first report may cover half the logs; its change is sent some seconds later.
    """
    wait_for(lambda: any(alert["annotations"].get("state") == "crashed"
                         for alert in manager.alerts() or []), 90 * SLOW)
    alerts = manager.alerts() or []
    if not expect.that(len(alerts) == 1, f"{what}: one alert",
                       [(alert["labels"], alert["startsAt"], alert["endsAt"])
                        for alert in alerts]):
        return {}
    alert = alerts[0]
    expect.equal(set(alert["labels"]), LABELS, f"{what}: its labels")
    expect.equal([alert["labels"].get(key) for key in ("alertname", "job", "attempt", "severity")],
                 ["L4JobFailure", "sample", "0", "critical"], f"{what}: what the labels say")
    missing = ANNOTATIONS - set(alert["annotations"])
    expect.equal(missing, set(), f"{what}: annotations that are missing")
    expect.equal(alert["annotations"].get("state"), "crashed", f"{what}: the state")
    expect.equal(alert["annotations"].get("rank"), "4", f"{what}: the rank")
    expect.equal(alert["annotations"].get("node"), "node-02", f"{what}: the node")
    expect.that(alert["annotations"].get("summary"), f"{what}: the summary", alert)
    return alert


def check_again(expect, place, manager, alert, what):
    """The alert is sent again; no second one arises."""
    posts, until = place.figure("posts_total"), alert.get("endsAt", "")
    expect.that(wait_for(lambda: place.figure("posts_total") >= posts + 2, 20 * SLOW),
                f"{what}: it is sent again", place.figure("posts_total"))
    again = check_one(expect, manager, f"{what}, again")
    expect.equal(again.get("fingerprint"), alert.get("fingerprint"), f"{what}: the same alert")
    expect.that(again.get("endsAt", "") > until, f"{what}: it would end later", again)
    expect.equal(again.get("startsAt"), alert.get("startsAt"), f"{what}: since when")


def first_attempt(folder):
    """The sample without its launchers' lines, because their end may be played before the ranks
    begin."""
    logs = programs.aged_sample(folder)
    for file in logs.rglob("agent.log"):
        file.unlink()
    return logs


def second_attempt(folder):
    """Logs of the job's next attempt, which goes well and ends."""
    job = made_job.MadeJob(8, seed=3, iterations=20)
    shift = time.time() - 600 - made_job.EPOCH.timestamp()
    for rank, lines in enumerate(job.lines):
        node = support.SAMPLE / f"node-{rank // 2:02d}"
        run = next(path.name for path in node.iterdir() if path.is_dir())
        path = folder / "again" / node.name / run / "attempt_1" / str(rank % 2) / "stdout.log"
        path.parent.mkdir(parents=True)
        path.write_text("".join(f"{made_job.rfc3339(at + shift)} {text}\n"
                                for at, text, _ in lines), encoding="utf-8")
    return folder / "again"


def check_end(expect, place, manager, what):
    """A restart changes nothing; another attempt of the job goes well, and the same alert ends."""
    place.player.wait(100 * SLOW)
    expect.equal(place.aggregator.end(signal.SIGTERM)[0], 0, f"{what}: exit of the aggregator")
    expect.that(place.aggregator.start(), f"{what}: it starts again",
                place.aggregator.log_text()[-600:])
    posts = place.figure("posts_total")
    expect.that(wait_for(lambda: place.figure("posts_total") >= posts + 2, 20 * SLOW),
                f"{what}: it is sent again after the restart", place.figure("posts_total"))
    check_one(expect, manager, f"{what}, after a restart")
    place.play(second_attempt(place.folder))
    place.player.wait(100 * SLOW)
    expect.that(wait_for(lambda: manager.alerts() == [], 30 * SLOW), f"{what}: it is resolved",
                manager.alerts())
    incidents = place.aggregator.json("/api/v1/incidents").get("incidents", [])
    expect.equal([incident["status"] for incident in incidents], ["resolved"],
                 f"{what}: the incident")
    time.sleep(2.5 * AGAIN_S)
    expect.equal(manager.alerts(), [], f"{what}: alerts afterwards")


def check_there(expect, l4, build, folder, binary):
    """The alertmanager is up all the time."""
    manager = Alertmanager(binary, folder)
    place = Place(l4, build, folder, manager)
    try:
        if not expect.that(manager.start(), "alertmanager starts", manager.program.said()[-600:]):
            return
        expect.that(place.aggregator.start(), "the aggregator starts", place.aggregator.log_text())
        place.play(first_attempt(folder))
        alert = check_one(expect, manager, "there")
        check_again(expect, place, manager, alert, "there")
        check_end(expect, place, manager, "there")
    finally:
        place.end()
        manager.end()


def check_later(expect, l4, build, folder, binary):
    """No server answers when the alert comes."""
    manager = Alertmanager(binary, folder)
    place = Place(l4, build, folder, manager)
    try:
        expect.that(place.aggregator.start(), "the aggregator starts", place.aggregator.log_text())
        place.play(first_attempt(folder))
        expect.that(wait_for(lambda: place.figure("failures_total") >= 2, 60 * SLOW),
                    "posts fail and are tried again", place.figure("failures_total"))
        expect.equal(place.figure("waiting"), 1, "alerts that wait")
        expect.that(manager.start(), "alertmanager starts", manager.program.said()[-600:])
        alert = check_one(expect, manager, "later")
        check_again(expect, place, manager, alert, "later")
        check_end(expect, place, manager, "later")
        expect.that(wait_for(lambda: place.figure("waiting") == 0, 10 * SLOW), "nothing waits",
                    place.figure("waiting"))
        expect.that("works again" in place.aggregator.log_text(), "the end of the trouble is said")
    finally:
        place.end()
        manager.end()


class Receiver(live.PostReceiver):
    """Alertmanager's receiver of notifications."""

    def __init__(self):
        self.told = []
        super().__init__()

    def take(self, path, body):
        self.told.append((path, json.loads(body)))
        return 200


def route_of_manual(hook):
    """The example of ALERTS.md, its receivers at an address to which this test listens."""
    book = (support.ROOT / "docs" / "ALERTS.md").read_text()
    route = re.search(r"<!-- alertmanager -->\n```yaml\n(.*?)```", book, re.S).group(1)
    return route.replace("http://127.0.0.1:9099", hook.url)


def fail(folder):
    """The logs of the sample's node whose rank was killed, with its launcher's."""
    node = support.SAMPLE / "node-02"
    shutil.copyfile(node / "agent.log", folder / "agent.log")
    for file in node.glob("*/attempt_0/*/stdout.log"):
        shutil.copyfile(file, folder / f"rank{4 + int(file.parent.name)}.log")


def check_storm(expect, l4, build, folder, binary):
    """Fifty jobs fail at once: one group, one notification."""
    hook = Receiver()
    manager = Alertmanager(binary, folder, route_of_manual(hook))
    jobs = [folder / "logs" / f"job-{number:02d}" for number in range(STORM)]
    for job in jobs:
        job.mkdir(parents=True)
    site = linked_site.Site(folder, build, {"logs": {"sources": [str(job) for job in jobs]},
                                            "memory": {"jobs": STORM + 4}})
    with open(folder / "aggregator.toml", "a", encoding="utf-8") as config:
        config.write(live.manager_sink(manager.url))
    try:
        checked = subprocess.run(["amtool", "check-config", folder / "alertmanager.yml"],
                                 capture_output=True, text=True, check=False)
        expect.equal(checked.returncode, 0, f"amtool: {checked.stdout}{checked.stderr}")
        expect.that(manager.start(), "alertmanager starts", manager.program.said()[-600:])
        site.start_aggregator()
        expect.that(wait_for(site.metrics, 20 * SLOW), "the aggregator answers",
                    site.aggregator.said()[-600:])
        site.start_agent()
        for job in jobs:
            fail(job)
        wait_for(lambda: len(manager.alerts() or []) >= STORM, 120 * SLOW)
        expect.equal(manager.groups(),
                     [({"alertname": "L4JobFailure", "source": "l4-aggregator"}, STORM)],
                     "fifty incidents are one group")
        wait_for(lambda: hook.told, 60 * SLOW)
        time.sleep(5)
        expect.equal([path for path, _ in hook.told], ["/oncall"], "one notification")
        told = hook.told[0][1]["alerts"] if hook.told else []
        expect.that(len(told) > STORM / 2, "it tells of most", len(told))
        expect.equal({alert["annotations"].get("runbook") for alert in told},
                     {f"{support.ROOT}/docs/ALERTS.md#l4jobfailure"}, "where it is explained")
    finally:
        site.end()
        manager.end()
        hook.close()


def main():
    l4, expect = support.start(sys.argv, "alertmanager")
    binary = shutil.which("prometheus-alertmanager")
    if not binary:
        print("skipped: prometheus-alertmanager is not installed; tools/setup brings it")
        return support.SKIPPED
    build = pathlib.Path(l4.binary).resolve().parent
    for check in (check_there, check_later, check_storm):
        with tempfile.TemporaryDirectory() as folder:
            check(expect, l4, build, pathlib.Path(folder), binary)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
