#!/usr/bin/env python3
"""Plays the steps of an engineer after an alert and times them: runs an aggregator with an
Alertmanager, waits for a job's alert, asks for the report and for the raw lines, and confirms the
fault if told so.

usage: head_answered.py --bin FOLDER --config FILE --alertmanager PROGRAM --out FOLDER
                        [--confirm CAUSE FIX]

Alertmanager listens on 127.0.0.1:9093. OUT/alerts.jsonl has a row {"seen": unix time, "alerts"}
whenever they changed; OUT/answers.json what was asked and answered, with seconds. Ends both
programs with SIGTERM when it gets one itself, and ends with the aggregator's status.
"""
import argparse
import json
import pathlib
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

ALERTS = "http://127.0.0.1:9093/api/v2/alerts"


def alerts_now():
    try:
        with urllib.request.urlopen(ALERTS, timeout=5) as answer:
            return [alert for alert in json.load(answer)
                    if alert["labels"].get("alertname") == "L4JobFailure"]
    except (OSError, ValueError, urllib.error.URLError):
        return []


class Engineer:
    """Asks with the command line, as a person would."""

    def __init__(self, folder, out):
        self.l4, self.out, self.answers = f"{folder}/l4", out, []

    def ask(self, name, *words):
        began = time.monotonic()
        done = subprocess.run([self.l4, *words], capture_output=True, text=True, timeout=60,
                              check=False)
        self.answers.append({"name": name, "words": words, "exit": done.returncode,
                             "seconds": round(time.monotonic() - began, 3),
                             "stdout": done.stdout, "stderr": done.stderr})
        (self.out / "answers.json").write_text(json.dumps(self.answers, indent=1))
        return done

    def answer(self, alert, confirm):
        labels, said = alert["labels"], alert["annotations"]
        self.ask("snapshot", "snapshot", labels["job"])
        report = json.loads(self.ask("report", "snapshot", labels["job"], "-o", "json").stdout)
        around = ["--around", report["verdict"]["since"]] if report["verdict"]["since"] else []
        self.ask("lines", "lines", labels["job"], "--rank", said["rank"], *around,
                 "--context", "5", "-o", "json")
        self.ask("lines of the node", "lines", labels["job"], "--node", said["node"], *around)
        if report["events"]:
            self.ask("lines of the event", "lines", labels["job"], "--template",
                     report["events"][0]["template_id"], "--context", "3")
        if confirm:
            self.ask("confirm", "faults", "confirm", labels["incident"], "--cause", confirm[0],
                     "--fix", confirm[1])


def is_whole(alert):
    return alert["annotations"].get("rank") and alert["annotations"].get("node")


def watch(options, stopping, file):
    """Writes alerts as they change, until it is stopped. Asks one round of questions once the first
    alert names node and rank and is some seconds old, as when a person asks."""
    engineer, before, first, answered = Engineer(options.bin, options.out), None, None, False
    while not stopping.is_set():
        alerts = alerts_now()
        if alerts != before:
            file.write(json.dumps({"seen": time.time(), "alerts": alerts}) + "\n")
            file.flush()
            before = alerts
        if alerts and first is None:
            first = time.monotonic()
        if first is not None and not answered and time.monotonic() - first > options.wait:
            whole = [alert for alert in alerts if is_whole(alert)]
            if whole:
                answered = True
                engineer.answer(whole[0], options.confirm)
        stopping.wait(0.1)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--config", required=True)
    parser.add_argument("--alertmanager", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--wait", type=float, default=4, help="seconds until the questions")
    parser.add_argument("--confirm", nargs=2, metavar=("CAUSE", "FIX"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    signal.signal(signal.SIGINT, lambda *_: stopping.set())
    settings = options.out / "alertmanager.yml"
    settings.write_text("route: {receiver: nobody, group_by: [job]}\nreceivers: [{name: nobody}]\n")
    manager = subprocess.Popen([options.alertmanager, f"--config.file={settings}",
                                f"--storage.path={options.out / 'alertmanager'}",
                                "--cluster.listen-address=",
                                "--web.listen-address=127.0.0.1:9093"])
    aggregator = subprocess.Popen([f"{options.bin}/l4-aggregator", "--config", options.config])
    try:
        with open(options.out / "alerts.jsonl", "w", encoding="utf-8") as file:
            watch(options, stopping, file)
    finally:
        for program in (aggregator, manager):
            if program.poll() is None:
                program.terminate()
        manager.wait(timeout=30)
    return aggregator.wait(timeout=30)


if __name__ == "__main__":
    sys.exit(main())
