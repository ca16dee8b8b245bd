#!/usr/bin/env python3
"""SIGHUP while an incident is open: sinks of alerts change, and a broken file changes nothing.

usage: reload.py L4

The sample is played to an aggregator with a sink that answers and one that does not. Then the
config names other sinks, is broken, and names another port, each time with a SIGHUP.
"""
import collections
import json
import os
import pathlib
import re
import signal
import sys
import tempfile
import time

import aggregator as programs
import live
import support
from live import wait_for

SLOW = programs.SLOW


class Receiver(live.PostReceiver):
    """Receives alerts, sorted by path."""

    def __init__(self):
        self.alerts = collections.defaultdict(list)
        super().__init__()

    def take(self, path, body):
        alert = json.loads(body)
        if alert["job"] == "sample":
            self.alerts[path[1:]].append(alert)
        return 200

    def opened(self, path):
        return [alert["incident"] for alert in self.alerts[path] if alert["alert"] == "opened"]


def sink(name, url, kind="webhook"):
    return f'[[alerts.sink]]\nname = "{name}"\nkind = "{kind}"\nurl = "{url}"\n'


class Case:
    def __init__(self, expect, aggregator):
        self.expect, self.aggregator = expect, aggregator
        self.base = aggregator.config.read_text()

    def sinks(self):
        text = self.aggregator.get("/metrics")[1].decode()
        return sorted(re.findall(r'alert_sink_posts_total\{sink="([^"]+)"\}', text))

    def reload(self, config, said, what):
        """The log's lines since then; they must hold `said`."""
        before = len(self.aggregator.log_text())
        self.aggregator.config.write_text(config)
        self.aggregator.process.send_signal(signal.SIGHUP)
        found = wait_for(lambda: said in self.aggregator.log_text()[before:], 20 * SLOW)
        log = self.aggregator.log_text()[before:]
        self.expect.that(found, f"{what}: the log says {said!r}", log)
        return log

    def others_take_over(self, receiver, dead):
        log = self.reload(self.base + sink("stays", receiver.url + "/stays") +
                          sink("new", receiver.url + "/new"),
                          "the config was read again", "other sinks")
        self.expect.that(re.search(r"alerts to stuck \(webhook\): taken out; alerts that waited "
                                   r"for it and are dropped: [12]\b", log),
                         "what waited is counted", log)
        self.expect.that("alerts to new (webhook): is told what stands open: 1" in log,
                         "a new sink is told what stands open", log)
        self.expect.that("a restart on" not in log, "nothing else has changed", log)
        self.expect.that(wait_for(lambda: receiver.opened("new"), 10 * SLOW), "it arrives")
        self.expect.equal(receiver.opened("new"), receiver.opened("stays"), "the same incident")
        self.expect.equal(self.sinks(), ["new", "stays"], "sinks in the metrics")
        self.expect.that(dead not in self.aggregator.log_text().rsplit("read again", 1)[-1],
                         "nobody tries the old one")

    def broken_ones(self, folder):
        """A broken file changes nothing; the log names file, line and key."""
        good = self.aggregator.config.read_text()
        line = len(good.splitlines())
        file = re.escape(str(self.aggregator.config))
        rows = [(sink("x", "http://127.0.0.1:1", "mail"), rf"{file}:{line + 3}: kind: must be one"),
                (sink("new", "http://127.0.0.1:1"), rf"{file}:{line + 2}: name: is that of"),
                ('[[alerts.silence]]\njob = "a"\nuntil = "soon"\n', rf"{file}:{line + 3}: until"),
                ("[alerts\n", rf"{file}:{line + 1}: no valid TOML"),
                (sink("x", "https://127.0.0.1:1") + "ca = \"no.pem\"\n",
                 re.escape(str(folder / "no.pem")))]
        for more, said in rows:
            log = self.reload(good + more, "the config was not taken", repr(more))
            self.expect.that(re.search(said, log), f"{more!r}: said", log)
        self.expect.equal(self.sinks(), ["new", "stays"], "sinks after broken configs")
        self.reload(good, "the config was read again", "whole again")

    def needs_restart(self):
        good = self.aggregator.config.read_text()
        port, free = f"port = {self.aggregator.http}", live.free_port()
        log = self.reload(good.replace(port, f"port = {free}"), "from a restart on: [http] port",
                          "another port")
        self.expect.that("[http] port\n" in log, "it alone is named", log)
        self.expect.equal(self.aggregator.get("/healthz")[0], 200, "the old port answers")
        self.reload(good, "the config was read again", "the old port again")


def check(expect, build, folder):
    receiver, player = Receiver(), None
    dead = f"http://127.0.0.1:{live.free_port()}"
    aggregator = programs.Aggregator(build / "l4-aggregator", folder)
    case = Case(expect, aggregator)
    aggregator.config.write_text(case.base + sink("stays", receiver.url + "/stays") +
                                 sink("stuck", dead))
    try:
        expect.that(aggregator.start(), "the aggregator starts", aggregator.log_text()[-600:])
        player = programs.played(build, aggregator, folder / "keys", programs.aged_sample(folder),
                                 40)
        expect.that(wait_for(lambda: receiver.opened("stays"), 60 * SLOW), "an alert")
        expect.that(wait_for(lambda: "alerts to stuck (webhook): " in aggregator.log_text(),
                             20 * SLOW), "the other sink is in trouble")
        player.wait(100 * SLOW)
        case.others_take_over(receiver, dead)
        case.broken_ones(folder)
        case.needs_restart()
        expect.equal(aggregator.end(signal.SIGTERM)[0], 0, "exit before another start")
        aggregator.config.write_text(aggregator.config.read_text() +
                                     sink("later", receiver.url + "/later"))
        expect.that(aggregator.start(), "it starts with one sink more", aggregator.log_text())
        expect.that(wait_for(lambda: receiver.opened("later"), 10 * SLOW), "that one is told, too")
        expect.equal(receiver.opened("later"), receiver.opened("stays"), "of the same incident")
        time.sleep(1)
        expect.equal(len(receiver.opened("new")), 1, "times it was told")
        expect.equal(len(receiver.opened("stays")), 1, "times the other one was told")
        expect.equal(aggregator.end(signal.SIGTERM)[0], 0, "exit")
    finally:
        for process in (player, aggregator.process):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        receiver.close()


def main():
    l4, expect = support.start(sys.argv, "reload")
    build = pathlib.Path(l4.binary).resolve().parent
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        l4.run("keys", "init", "--dir", folder / "keys")
        l4.run("keys", "add", "--dir", folder / "keys", *programs.NODES)
        os.makedirs(folder / "state")
        check(expect, build, folder)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
