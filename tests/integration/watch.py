#!/usr/bin/env python3
"""`l4 watch` and `l4 top`, with a terminal and without, against a server that plays the aggregator.

usage: watch.py L4
"""
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import live_commands
import support

ROWS, COLUMNS = 30, 100
ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"


class Terminal:
    """A command of l4 on a terminal of ROWS x COLUMNS."""

    def __init__(self, binary, *args):
        self.text = ""
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.execv(binary, [str(binary), *args])
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def read_until(self, wanted, seconds=20):
        until = time.monotonic() + seconds
        while wanted not in self.text and time.monotonic() < until:
            if select.select([self.end], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.end, 65536).decode(errors="replace")
                except OSError:  # the other end is closed
                    break
        return wanted in self.text

    def frames(self):
        return [frame for frame in self.text.split("\x1b[H")[1:]]

    def type(self, keys):
        os.write(self.end, keys)

    def status(self):
        self.read_until("\0never", 5)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.end)
        return os.waitstatus_to_exitcode(status)


def plain(frame):
    """The lines of a screen without control sequences."""
    out, skip = "", False
    for c in frame:
        if c == "\x1b":
            skip = True
        elif skip:
            skip = not c.isalpha()
        else:
            out += c
    return out.replace("\r", "").split("\n")


def give_jobs(aggregator, jobs, incidents=()):
    aggregator.give("/api/v1/jobs", {"jobs": jobs, "next": None})
    aggregator.give("/api/v1/incidents?open=true&count=1000", {"incidents": list(incidents)})
    aggregator.give("/api/v1/agents", {"blind": False, "agents": [live_commands.AGENT]})


def check_watch_on_terminal(expect, l4, aggregator, report):
    path = "/api/v1/jobs/job-1005/snapshot"
    report["verdict"].update(state="healthy", summary="All goes well\x1b[2J.")
    aggregator.give(path, report)
    screen = Terminal(l4.binary, "watch", "job-1005", "--every", "1", "--address", aggregator.url)
    expect.that(screen.read_until("q ends"), "watch: a screen", screen.text[-300:])
    expect.that(screen.text.startswith(ENTER), "watch: on a page of its own")
    report["verdict"].update(state="crashed", summary="A rank was killed.")
    aggregator.give(path, report)
    expect.that(screen.read_until("A rank was killed."), "watch: what is new appears")
    aggregator.give(path, live_commands.error("busy", "too much to do"), 503)
    expect.that(screen.read_until("no answer since"), "watch: no answer is said")
    expect.that(screen.read_until("too much to do"), "watch: and why")
    aggregator.give(path, report)
    screen.type(b"q")
    expect.equal(screen.status(), 0, "watch: q ends it")
    expect.that(LEAVE in screen.text, "watch: the page from before comes back")
    expect.that("\x1b[2J" not in screen.text, "watch: logs cannot clear the screen")
    for frame in screen.frames():
        lines = plain(frame)
        expect.that(len(lines) <= ROWS, "watch: fits the terminal", len(lines))
        expect.that(all(len(line) <= COLUMNS for line in lines), "watch: no line is too wide")
    screen = Terminal(l4.binary, "watch", "job-1005", "--until-over", "--address", aggregator.url)
    expect.equal(screen.status(), 10, "watch --until-over: a failure ends it")
    screen = Terminal(l4.binary, "watch", "job-1005", "--address", aggregator.url)
    screen.read_until("q ends")
    os.kill(screen.pid, signal.SIGTERM)
    expect.equal(screen.status(), 0, "watch: SIGTERM ends it")
    expect.that(LEAVE in screen.text, "watch: with the terminal as it was")


def check_watch_by_lines(expect, l4, aggregator, report):
    path = "/api/v1/jobs/job-1005/snapshot"
    aggregator.give(path, report)
    run = l4.run("watch", "job-1005", "--until-over", "--address", aggregator.url)
    expect.equal(run.status, 10, "watch by lines: exit")
    lines = live_commands.text(run).splitlines()
    expect.that(len(lines) == 1 and lines[0].endswith("job-1005 crashed: A rank was killed."),
                "watch by lines: one a verdict", lines)
    run = l4.run("watch", "job-1005", "--until-over", "--address", aggregator.url, "-o", "json")
    lines = live_commands.text(run).splitlines()
    expect.equal([json.loads(line)["verdict"]["state"] for line in lines], ["crashed"],
                 "watch -o json: a report a line")
    report["verdict"]["state"] = "finished"
    aggregator.give(path, report)
    run = l4.run("watch", "job-1005", "--until-over", "--address", aggregator.url)
    expect.equal(run.status, 0, "watch --until-over: a job that ended well")
    aggregator.give("/api/v1/jobs", {"jobs": [live_commands.JOB], "next": None})
    run = l4.run("watch", "jbo-1005", "--address", aggregator.url)
    expect.that(run.status == 2 and "did you mean job-1005?" in run.stderr, "watch: no such job",
                run.stderr)


def notice(node, times):
    return {"kind": "node", "node": node, "rank": None, "iteration": None, "phase": None,
            "value": times, "usual": 0, "count": times,
            "text": f"Node {node} prints \"link flap\" {times} times."}


def check_notices(expect, l4, aggregator, report):
    """Each notice is a line once, whatever its text becomes, and stands on the screen."""
    path = "/api/v1/jobs/job-1005/snapshot"
    calm = dict(report, nodes=[], ranks=[], events=[], notable=[notice("n-1", 1)])
    calm["verdict"] = dict(report["verdict"], state="healthy", summary="It trains.")
    aggregator.give(path, calm)
    screen = Terminal(l4.binary, "watch", "job-1005", "--address", aggregator.url)
    expect.that(screen.read_until("Node n-1 prints"), "watch: a notice on the screen", screen.text)
    screen.type(b"q")
    screen.status()
    with subprocess.Popen([l4.binary, "watch", "job-1005", "--every", "1", "--until-over",
                           "--address", aggregator.url], stdout=subprocess.PIPE, text=True) as run:
        lines = [run.stdout.readline(), run.stdout.readline()]
        calm["notable"] = [notice("n-1", 5), notice("n-2", 2)]
        aggregator.give(path, calm)
        lines += [run.stdout.readline(), run.stdout.readline()]
        calm["verdict"]["state"] = "finished"
        aggregator.give(path, calm)
        lines += run.stdout.readlines()
        expect.equal(run.wait(20), 0, "watch: exit after notices")
    told = [line.split(" job-1005 ", 1)[1].strip() for line in lines]
    expect.equal(told, ["healthy: It trains.", 'notable: Node n-1 prints "link flap" 1 times.',
                        "healthy: It trains.", 'notable: Node n-2 prints "link flap" 2 times.',
                        "finished: It trains."], "watch by lines: each notice once")


def check_top(expect, l4, aggregator):
    incident = {"id": "i-1", "job": "job-1005", "attempt": 1, "state": "crashed", "status": "open",
                "opened": "2026-11-20T15:54:39.000Z", "resolved": None}
    many = [dict(live_commands.JOB, id=f"job-{i:03}", state="healthy") for i in range(100)]
    give_jobs(aggregator, [live_commands.JOB, *many], [incident])
    run = l4.run("top", "--address", aggregator.url)
    out = live_commands.text(run)
    expect.equal((run.status, run.stderr), (0, ""), "top without a terminal: once")
    expect.that("1 agent · 0 connected · 1 lost" in out and "i-1" in out and "job-099" in out,
                "top: agents, incidents, jobs", out[:400])
    run = l4.run("top", "--address", aggregator.url, "-o", "json")
    expect.equal(sorted(json.loads(live_commands.text(run))), ["agents", "incidents", "jobs"],
                 "top -o json")
    screen = Terminal(l4.binary, "top", "--address", aggregator.url)
    expect.that(screen.read_until("more lines"), "top: what does not fit is counted")
    expect.that(len(plain(screen.frames()[-1])) <= ROWS, "top: fits the terminal")
    screen.type(b"\x03")
    expect.equal(screen.status(), 0, "top: Ctrl-C ends it")


def main():
    l4, expect = support.start(sys.argv, "watch and top")
    os.environ.pop("L4_ADDRESS", None)
    os.environ["TERM"] = "xterm-256color"
    report = json.loads(l4.run("diagnose", support.SAMPLE, "--format", "json").stdout)
    aggregator = live_commands.Aggregator()
    try:
        check_watch_on_terminal(expect, l4, aggregator, report)
        check_watch_by_lines(expect, l4, aggregator, report)
        check_notices(expect, l4, aggregator, report)
        check_top(expect, l4, aggregator)
    finally:
        aggregator.stop()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
