#!/usr/bin/env python3
"""The aggregator is killed while it delivers an alert and while it answers: no alert is lost, no
webhook gets one more than twice, and each answer is whole.

usage: deliveries.py L4

The sample is played to an aggregator with a webhook that kills it: when the alert arrives, in the
middle of the answer, right after it, or some milliseconds later; it is started again each time. The
same is done with a sink of kind alertmanager, to which alerts are sent again anyway. Meanwhile a
client asks for the report as fast as answers come.
"""
import contextlib
import http.client
import http.server
import json
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time

import aggregator as programs
import live
import support
from live import wait_for

SLOW = programs.SLOW
# Moments of the kill: at the request, within the answer, or so many milliseconds after it.
MOMENTS = ["request", "answer", 0, 3, 20] if not support.SANITIZED else ["request", "answer", 0]
TROUBLE = ("corrupt", "cannot be read", "malformed", "half")


class Hook:
    """Receives alerts, and kills the sender of the first one."""

    def __init__(self, moment):
        self.arrived, self.moment, self.victim = [], moment, None
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                alerts = [body] if isinstance(body, dict) else [
                    {**alert["labels"], "alert": "opened"} for alert in body]
                ours = [alert for alert in alerts if alert.get("job") == "sample"]
                hook.arrived += ours
                first = hook.victim is not None and ours
                if first and hook.moment == "request":
                    hook.kill()
                    return
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Le")
                if first and hook.moment == "answer":
                    hook.kill()
                    return
                with contextlib.suppress(OSError):
                    self.wfile.write(b"ngth: 0\r\n\r\n")
                if first:
                    time.sleep(hook.moment / 1000)
                    hook.kill()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def kill(self):
        victim, self.victim = self.victim, None
        victim.send_signal(signal.SIGKILL)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Reader(threading.Thread):
    """Asks again and again; each answer of 200 is a whole report, unless the connection broke."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.whole, self.broken, self.wrong = port, 0, 0, []
        self.ended = threading.Event()

    def run(self):
        while not self.ended.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            try:
                while not self.ended.is_set():
                    connection.request("GET", "/api/v1/jobs/sample/snapshot")
                    answer = connection.getresponse()
                    body = answer.read()
                    if answer.status == 200:
                        self.check(body)
            except (OSError, http.client.HTTPException):
                self.broken += 1
                self.ended.wait(0.02)
            finally:
                connection.close()

    def check(self, body):
        try:
            if json.loads(body)["schema"] == "l4.report/2":
                self.whole += 1
                return
        except (ValueError, KeyError):
            pass
        self.wrong.append(body[:200])


def check_kill(expect, build, folder, logs, moment, manager):
    what = f"killed {moment} ms behind the answer" if isinstance(moment, int) else \
        f"killed within the {moment}"
    what += " to an Alertmanager" if manager else ""
    hook = Hook(moment)
    aggregator = programs.Aggregator(build / "l4-aggregator", folder, "" if manager else hook.url)
    if manager:
        with open(aggregator.config, "a", encoding="utf-8") as config:
            config.write("again_every_s = 2\n" + live.manager_sink(hook.url.rstrip("/")))
    reader, player = Reader(aggregator.http), None
    try:
        expect.that(aggregator.start(), f"{what}: it starts", aggregator.log_text()[-600:])
        hook.victim = aggregator.process
        reader.start()
        player = programs.played(build, aggregator, folder / "keys", logs, 40)
        if not expect.that(wait_for(lambda: hook.victim is None, 60 * SLOW), f"{what}: an alert"):
            return
        aggregator.process.wait(20)
        expect.that(aggregator.start(), f"{what}: it starts again", aggregator.log_text()[-600:])
        player.wait(100 * SLOW)
        opened = [alert for alert in hook.arrived if alert["alert"] == "opened"]
        wait_for(lambda: len([a for a in hook.arrived if a["alert"] == "opened"]) > 1, 4 * SLOW)
        opened = [alert for alert in hook.arrived if alert["alert"] == "opened"]
        if manager:
            expect.that(len(opened) >= 2, f"{what}: it comes again", len(opened))
        else:
            expect.that(1 <= len(opened) <= 2, f"{what}: times the alert came", len(opened))
            if moment in ("request", "answer"):
                expect.equal(len(opened), 2, f"{what}: what was not confirmed comes again")
        incidents = aggregator.json("/api/v1/incidents").get("incidents", [])
        expect.equal([i["id"] for i in incidents], sorted({a["incident"] for a in opened}),
                     f"{what}: one incident, which the alert named")
        if moment in ("request", "answer"):
            expect.that(wait_for(lambda: any(
                row["status"] == "taken" and row["event"] == "opened"
                and [row["incident"]] == [one["id"] for one in incidents]
                for row in aggregator.json("/api/v1/alerts").get("alerts", [])), 4 * SLOW),
                f"{what}: the API tells that it was taken", aggregator.json("/api/v1/alerts"))
        told = [row for row in aggregator.log_text().splitlines()
                if any(word in row for word in TROUBLE)]
        expect.equal(told, [], f"{what}: nothing is found half-written")
        expect.equal(aggregator.end(signal.SIGTERM)[0], 0, f"{what}: exit")
    finally:
        reader.ended.set()
        for process in (player, aggregator.process):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        hook.close()
    reader.join(25)
    expect.equal(reader.wrong, [], f"{what}: answers that are none")
    expect.that(reader.whole > 0, f"{what}: somebody was answered", reader.broken)


def main():
    l4, expect = support.start(sys.argv, "deliveries")
    build = pathlib.Path(l4.binary).resolve().parent
    for moment, manager in [*((moment, False) for moment in MOMENTS), ("request", True),
                            ("answer", True)]:
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            l4.run("keys", "init", "--dir", folder / "keys")
            l4.run("keys", "add", "--dir", folder / "keys", *programs.NODES)
            os.makedirs(folder / "state")
            check_kill(expect, build, folder, programs.aged_sample(folder), moment, manager)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
