#!/usr/bin/env python3
"""`l4 local` follows a job that breaks, is asked by other commands without options, and goes on
where it was after Ctrl-C and after a kill. Nobody else may read what it keeps.

usage: local.py L4
"""
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

SPEED = 8
LINES = 1200  # of the sample
NOBODY = 65534


class Place:
    """A user's home and the logs of a job; commands of l4 run as that user would run them."""

    def __init__(self, folder, l4):
        self.folder, self.l4 = pathlib.Path(folder), l4
        self.logs, self.state = self.folder / "runs", self.folder / "state"
        self.logs.mkdir()
        self.environment = {"XDG_STATE_HOME": str(self.state), "HOME": str(self.folder),
                            "XDG_CONFIG_HOME": str(self.folder / "config"), "NO_COLOR": "1"}
        self.programs = []

    def start(self, *paths, under=()):
        local = live.Program(f"local-{len(self.programs)}", self.folder,
                             # Without processes: lines of this kernel's log would count.
                             [*under, self.l4.binary, "local", "--no-processes", *paths],
                             self.environment)
        self.programs.append(local)
        return local

    def ask(self, *words):
        return subprocess.run([self.l4.binary, *map(str, words)], capture_output=True, text=True,
                              timeout=60, check=False, env={**os.environ, **self.environment})

    def json(self, *words):
        done = self.ask(*words, "-o", "json")
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def jobs(self):
        return {row["id"]: row for row in self.json("jobs").get("jobs", [])}

    def is_ready(self):
        return bool(list(self.state.glob("l4/local/*/client.toml")))

    def end(self):
        for program in self.programs:
            program.end(signal.SIGKILL)


def write_again(logs):
    """Writes the sample as it arrived, faster."""
    rows = [line.split(",") for line in
            (support.SAMPLE.parent / "crash-rank4.arrivals.csv").read_text().splitlines()
            if line and not line.startswith("#")]
    began, first = time.monotonic(), float(rows[0][0])
    for at, path, size in rows:
        time.sleep(max(0.0, (float(at) - first) / SPEED - (time.monotonic() - began)))
        target = logs / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "ab") as out:
            out.write((support.SAMPLE / path).read_bytes()[out.tell():int(size)])


def told(local):
    return local.out.read_text("utf-8", "replace")


def gist(report):
    return {"state": report["verdict"]["state"], "iteration": report["verdict"]["iteration"],
            "node": report["nodes"][0]["node"], "rank": report["ranks"][0]["rank"],
            "events": sorted((event["template_id"], event["role"]) for event in report["events"]),
            "fault": report["faults"][0]["id"]}


def check_findings(expect, place, l4):
    local = place.start(place.logs)
    expect.that(live.wait_for(place.is_ready), "it starts", local.said())
    write_again(place.logs)
    live.wait_for(lambda: "(SIGKILL)" in told(local))
    text = told(local)
    expect.that("job-1005 is watched" in text and "job-1005 crashed" in text
                and "on rank 4 (node-02)" in text, "it says what happened by itself", text)
    live.wait_for(lambda: place.jobs().get("job-1005", {}).get("lines") == LINES)
    row = place.jobs().get("job-1005", {})
    expect.equal((row.get("state"), row.get("lines"), row.get("ranks")), ("crashed", LINES, 8),
                 "the row of `l4 jobs`")
    done, offline = l4.report(place.logs)
    expect.diagnosed(done, offline, "l4 diagnose of the same folder")
    expect.equal(gist(place.json("snapshot", "job-1005")), gist(offline),
                 "the snapshot, compared with l4 diagnose")
    expect.equal(place.ask("watch", "job-1005", "--until-over").returncode, 10, "l4 watch")
    lines = place.json("lines", "job-1005", "--rank", 4)
    expect.that(lines.get("complete") and len(lines["lines"]) > 100, "l4 lines of rank 4",
                lines)
    agents = place.json("agents").get("agents", [])
    expect.that(len(agents) == 1 and agents[0]["connected"], "one agent is connected", agents)
    return local


def check_others(expect, place, local):
    """A second start, a second site, other users."""
    again = place.ask("local", place.logs)
    expect.that(again.returncode == 2 and f"pid {local.process.pid}" in again.stderr,
                "the same paths are followed once", again.stderr)
    folder = next(place.state.glob("l4/local/*"))
    address = (folder / "client.toml").read_text().split('"')[1]
    try:
        urllib.request.urlopen(address + "/api/v1/jobs", timeout=10)
        expect.that(False, "HTTP without the token is refused")
    except urllib.error.HTTPError as error:
        expect.equal(error.code, 401, "HTTP without the token")
    for file in ("token", "tokens", "client.toml"):
        expect.equal((folder / file).stat().st_mode & 0o777, 0o600, f"the mode of {file}")
    if os.geteuid() == 0 and shutil.which("setpriv"):
        place.folder.chmod(0o755)
        for file in (folder, folder / "token", folder / "client.toml"):
            read = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
                                   "--clear-groups", "ls", "-l", file], capture_output=True,
                                  check=False)
            expect.that(read.returncode != 0 and b"denied" in read.stderr,
                        f"another user cannot see {file.name}", read)
    other = place.folder / "other"
    other.mkdir()
    second = place.start(other)
    live.wait_for(lambda: len(list(place.state.glob("l4/local/*/client.toml"))) == 2)
    asked = place.ask("jobs")
    expect.that(asked.returncode == 2 and asked.stderr.count("L4_CLIENT=") == 2,
                "with two of them, it is asked which", asked.stderr)
    expect.equal(second.end(signal.SIGTERM)[0], 0, "SIGTERM")
    expect.equal(place.ask("jobs").returncode, 0, "one of them is found again")


def check_restarts(expect, place, local):
    status, seconds = local.end(signal.SIGINT)
    expect.that(status == 0 and seconds < 10, "Ctrl-C ends it", (status, seconds))
    expect.that("All is saved." in told(local), "and it says so", told(local)[-200:])
    expect.that(not place.is_ready(), "what is over is not asked")
    expect.equal(place.ask("jobs").returncode, 3, "l4 jobs without an aggregator")
    for number in (signal.SIGKILL, signal.SIGHUP):
        local = place.start(place.logs)
        live.wait_for(place.is_ready)
        live.wait_for(lambda: place.jobs().get("job-1005", {}).get("lines") == LINES)
        expect.equal(place.jobs().get("job-1005", {}).get("lines"), LINES,
                     "after a restart each line counts once")
        status, _ = local.end(number)
        expect.equal(status, -9 if number == signal.SIGKILL else 0, f"signal {number}")
        expect.equal(place.ask("jobs").returncode, 3, "a killed one is not asked")


def check_wrong_use(expect, place):
    done = place.ask("local", place.logs / "rankO.log")
    expect.that(done.returncode == 2 and "rankO.log: does not exist" in done.stderr,
                "a path that does not exist", done.stderr)
    done = place.ask("local")
    expect.that(done.returncode == 2 and "PATH" in done.stderr, "no path", done.stderr)
    kept = place.folder / "kept"
    kept.write_text("a file")
    done = place.ask("local", place.logs, "--state", kept)
    expect.that(done.returncode == 2 and str(kept) in done.stderr, "a state that is no folder",
                done.stderr)
    reader = subprocess.run(f"'{place.l4.binary}' local '{place.logs}' | head -1", shell=True,
                            capture_output=True, text=True, timeout=60, check=False,
                            env={**os.environ, **place.environment})
    expect.that(reader.stdout.startswith("Follows"), "a reader that goes away ends it",
                reader.stdout)


def main():
    l4 = support.L4(sys.argv[1])
    expect = support.Expectations("local")
    with tempfile.TemporaryDirectory(prefix="l4-local-") as folder:
        place = Place(folder, l4)
        try:
            local = check_findings(expect, place, l4)
            check_others(expect, place, local)
            check_restarts(expect, place, local)
            check_wrong_use(expect, place)
        finally:
            place.end()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
