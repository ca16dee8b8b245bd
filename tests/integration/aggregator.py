#!/usr/bin/env python3
"""l4-aggregator as a program: batches over the real wire, SIGKILL between them, incidents, alerts.

usage: aggregator.py L4

The sample's logs are played by l4_player through keys that `l4 keys` made. However often the
aggregator is killed meanwhile, it must count every line once, report what `l4 diagnose` reports,
and open one incident.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import live
import support
from live import free_port, wait_for

KILLS = 2 if support.SANITIZED else 6
NODES = ["node-00", "node-01", "node-02", "node-03"]
SLOW = 4 if support.SANITIZED else 1


class Webhook(live.AlertReceiver):
    """Receives alerts; refuses the first one, so that it must be sent again."""

    def __init__(self):
        self.refused = 0
        super().__init__()

    def take(self, path, body):
        if self.refused == 0:
            self.refused = 1
            return 503
        return super().take(path, body)


class Aggregator:
    """The program with its config in a folder; may be started again."""

    def __init__(self, binary, folder, webhook=""):
        self.binary, self.folder = str(binary), folder
        self.wire, self.http = free_port(), free_port()
        self.config = folder / "aggregator.toml"
        self.config.write_text(live.aggregator_settings(self.wire, self.http, "state") +
                               f'[alerts]\nwebhook = "{webhook}"\n')
        self.log = open(folder / "log", "ab")
        self.process = None

    def start(self):
        self.process = subprocess.Popen([self.binary, "--config", str(self.config)],
                                        stdout=self.log, stderr=self.log)
        return wait_for(lambda: self.get("/healthz")[0] in (200, 503), 20 * SLOW)

    def end(self, how):
        self.process.send_signal(how)
        began = time.monotonic()
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        return status, time.monotonic() - began

    def get(self, path):
        """Status and body; (0, b"") if there is no answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http}{path}", timeout=10) as got:
                return got.status, got.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except OSError:
            return 0, b""

    def json(self, path):
        status, body = self.get(path)
        return json.loads(body) if status == 200 else {}

    def log_text(self):
        return (self.folder / "log").read_text("utf-8", "replace")


def aged_sample(folder):
    """The sample with file times that look like those of a copy, because the times of a fresh
    checkout would be believed."""
    logs = folder / "sample"
    shutil.copytree(support.SAMPLE, logs)
    for file in logs.rglob("*"):
        os.utime(file, (time.time() - 7200,) * 2)
    return logs


def played(build, aggregator, keys, logs, rate):
    return subprocess.Popen(
        [str(build / "l4_player"), "play", f"tcp://127.0.0.1:{aggregator.wire}", str(keys),
         str(logs), "sample", str(rate)], stdout=subprocess.PIPE)


def check_kills(expect, l4, build, folder):
    """Counts and report equal those of `l4 diagnose`, whichever program was killed."""
    logs = aged_sample(folder)
    hook = Webhook()
    url = f"{hook.url}/alerts"
    aggregator = Aggregator(build / "l4-aggregator", folder, url)
    player = None
    try:
        expect.that(aggregator.start(), "the aggregator starts", aggregator.log_text()[-600:])
        player = played(build, aggregator, folder / "keys", logs, 8)
        agents = set()
        for _ in range(KILLS):
            time.sleep(0.8 * SLOW)
            agents.update(a["agent"] for a in aggregator.json("/api/v1/agents")["agents"])
            aggregator.end(signal.SIGKILL)
            expect.that(aggregator.start(), "it starts again", aggregator.log_text()[-600:])
        expect.that(agents and agents <= set(NODES), "agents while they play", agents)
        said, _ = player.communicate(timeout=100 * SLOW)
        expect.equal(player.returncode, 0, "exit of the player")
        expect.that(json.loads(said)["batches"] > 40, "there were batches", said)
        _, offline = l4.report(logs, "--as-of",
                               time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        expect.that(wait_for(lambda: aggregator.json("/api/v1/incidents").get("incidents"),
                             15 * SLOW), "there is an incident")
        check_answers(expect, aggregator, offline)
        expect.that(wait_for(lambda: any(a["alert"] == "opened" for a in hook.alerts), 10 * SLOW),
                    "the webhook was told, after it had refused", hook.alerts)
        for alert in hook.alerts:
            expect.equal((alert["schema"], alert["job"]), ("l4.alert/1", "sample"), "an alert")
        status, seconds = aggregator.end(signal.SIGTERM)
        expect.that(status == 0 and seconds < 5 * SLOW, "SIGTERM ends it well within 5 s",
                    (status, seconds))
        before = len(hook.alerts)
        aggregator.start()
        expect.equal(aggregator.json("/api/v1/jobs")["jobs"][0]["lines"], offline["job"]["lines"],
                     "lines after a clean stop")
        time.sleep(2)
        expect.equal(len(hook.alerts), before, "alerts after a start")
        aggregator.end(signal.SIGTERM)
    finally:
        for process in (player, aggregator.process):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        hook.close()


def check_answers(expect, aggregator, offline):
    jobs = aggregator.json("/api/v1/jobs")["jobs"]
    expect.equal([job["id"] for job in jobs], ["sample"], "the jobs")
    expect.equal(jobs[0]["lines"], offline["job"]["lines"], "lines of the job")
    path = "/api/v1/jobs/sample/snapshot"
    expect.that(wait_for(lambda: aggregator.json(path)["job"]["lines"] == offline["job"]["lines"],
                         10 * SLOW), "the snapshot catches up")
    report = aggregator.json(path)
    for key in ("state", "since", "stage", "iteration"):
        expect.equal(report["verdict"][key], offline["verdict"][key], f"verdict.{key}")
    expect.equal([n["node"] for n in report["nodes"]], [n["node"] for n in offline["nodes"]],
                 "suspected nodes")
    expect.equal([(e["template_id"], e["count"]) for e in report["events"]],
                 [(e["template_id"], e["count"]) for e in offline["events"]], "events")
    expect.equal([f["id"] for f in report["faults"]], [f["id"] for f in offline["faults"]],
                 "faults")
    incidents = aggregator.json("/api/v1/incidents")["incidents"]
    expect.equal([(i["job"], i["state"], i["status"]) for i in incidents],
                 [("sample", offline["verdict"]["state"], "open")], "the incidents")
    whole = aggregator.json(f"/api/v1/incidents/{incidents[0]['id']}")
    expect.equal(whole["report"]["schema"], "l4.report/2", "an incident holds its report")
    figures = aggregator.get("/metrics")[1].decode()
    expect.that("l4_aggregator_jobs 1" in figures, "metrics name the job", figures[:300])
    expect.equal(aggregator.get("/api/v1/jobs/nobody/snapshot")[0], 404, "a job that is none")


def check_refusals(expect, l4, build, folder):
    """A config that is wrong, a key that is not allowed."""
    binary = build / "l4-aggregator"
    aggregator = Aggregator(binary, folder)
    good = aggregator.config.read_text()
    rows = [("[jobs]\nthreads = 1000\n", "threads"), ("[jobs]\nthraeds = 1\n", "thraeds"),
            ("[http]\naddress = \"0.0.0.0\"\n", "address"), ("[wire\n", ":1")]
    for text, said in rows:
        bad = folder / "bad.toml"
        bad.write_text(text if "http" in text or "[wire" in text else good + text)
        done = subprocess.run([binary, "--config", bad, "--check-config"], capture_output=True,
                              check=False, timeout=60)
        expect.that(done.returncode == 2 and said in done.stderr.decode()
                    and "bad.toml" in done.stderr.decode(), f"{text!r} is refused", done)
    done = subprocess.run([binary, "--config", aggregator.config, "--check-config"],
                          capture_output=True, check=False, timeout=60)
    expect.equal(done.returncode, 0, "exit of --check-config")
    stranger = folder / "stranger"
    l4.run("keys", "init", "--dir", stranger)
    l4.run("keys", "add", "--dir", stranger, *NODES)
    ours = (folder / "keys" / "aggregator.key").read_text().split('public = "')[-1].split('"')[0]
    aggregator.start()
    player = None
    try:
        for node in NODES:
            key = stranger / "nodes" / f"{node}.key"
            lines = [f'aggregator = "{ours}"' if line.startswith("aggregator") else line
                     for line in key.read_text().splitlines()]
            key.write_text("\n".join(lines) + "\n")
        player = played(build, aggregator, stranger, support.SAMPLE, 20)
        expect.that(wait_for(lambda: 'reason="wrong_key"} 0' not in
                             aggregator.get("/metrics")[1].decode(), 15 * SLOW),
                    "a wrong key is counted")
        expect.equal(aggregator.json("/api/v1/jobs")["jobs"], [], "jobs of a stranger")
        aggregator.config.write_text("[detect]\nnonsense = 1\n")
        aggregator.process.send_signal(signal.SIGHUP)
        expect.that(wait_for(lambda: "nonsense" in aggregator.log_text(), 5 * SLOW),
                    "a broken config is told at SIGHUP and not taken")
        expect.equal(aggregator.end(signal.SIGTERM)[0], 0, "exit")
    finally:
        for process in (player, aggregator.process):
            if process and process.poll() is None:
                process.kill()
                process.wait()


def main():
    l4, expect = support.start(sys.argv, "aggregator")
    build = pathlib.Path(l4.binary).resolve().parent
    with contextlib.ExitStack() as stack:
        for check in (check_kills, check_refusals):
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
            l4.run("keys", "init", "--dir", folder / "keys")
            l4.run("keys", "add", "--dir", folder / "keys", *NODES)
            os.makedirs(folder / "state", exist_ok=True)
            check(expect, l4, build, folder)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
