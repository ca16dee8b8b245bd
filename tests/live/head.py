#!/usr/bin/env python3
"""Runs an aggregator and records its alerts as they come, and its jobs as they change.

usage: head.py --bin FOLDER --config FILE --out FOLDER [--http PORT] [--webhook PORT] [--local LOGS]

OUT/alerts.jsonl has a row {"received": unix time, "alert": {...}} for each alert, OUT/jobs.jsonl
one {"seen": unix time, "jobs": [...]} whenever state, suspicion or incident of a job changed;
OUT/snapshot.json is the report of the newest job at the end, OUT/nics.json its network cards. Ends
the aggregator with SIGTERM when
it gets one itself, and ends with its status. With --local the program is `l4 local LOGS`, which
also reads the logs, and FILE is its --config. Standard library only.
"""
import argparse
import http.server
import json
import pathlib
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

WATCHED = ("id", "attempt", "state", "suspect", "incident", "notices")


def receive_alerts(port, file):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            file.write(json.dumps({"received": time.time(), "alert": json.loads(body)}) + "\n")
            file.flush()
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def get(options, path):
    """What the aggregator answers; None without an answer."""
    request = urllib.request.Request(f"http://127.0.0.1:{options.http}{path}")
    try:
        if options.local:
            token = (options.out / "state" / "token").read_text().strip()
            request.add_header("Authorization", f"Bearer {token}")
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.load(answer)
    except (OSError, ValueError, urllib.error.URLError):
        return None


def command(options):
    if not options.local:
        return [f"{options.bin}/l4-aggregator", "--config", options.config]
    return [f"{options.bin}/l4", "local", options.local, "--config", options.config, "--state",
            options.out / "state", "--port", str(options.http)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--config", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--http", type=int, default=7440)
    parser.add_argument("--webhook", type=int, default=7450)
    parser.add_argument("--local", type=pathlib.Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    signal.signal(signal.SIGINT, lambda *_: stopping.set())
    with open(options.out / "alerts.jsonl", "w", encoding="utf-8") as alerts, \
            open(options.out / "jobs.jsonl", "w", encoding="utf-8") as jobs:
        receive_alerts(options.webhook, alerts)
        aggregator = subprocess.Popen(command(options))
        before, rows = None, []
        while not stopping.is_set() and aggregator.poll() is None:
            rows = (get(options, "/api/v1/jobs") or {}).get("jobs", rows)
            now = [[row.get(key) for key in WATCHED] for row in rows]
            if now != before:
                jobs.write(json.dumps({"seen": time.time(), "jobs": rows}) + "\n")
                jobs.flush()
                before = now
            stopping.wait(0.25)
        if rows:
            newest = max(rows, key=lambda row: row.get("last_seen") or "")
            report = get(options, f"/api/v1/jobs/{newest['id']}/snapshot")
            (options.out / "snapshot.json").write_text(json.dumps(report, indent=1))
            cards = get(options, f"/api/v1/jobs/{newest['id']}/nics")
            (options.out / "nics.json").write_text(json.dumps(cards, indent=1))
        if aggregator.poll() is None:
            aggregator.terminate()
        return aggregator.wait(timeout=30)


if __name__ == "__main__":
    sys.exit(main())
