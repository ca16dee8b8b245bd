#!/usr/bin/env python3
"""`l4 demo` finds what happened in the sample, and leaves nothing behind, however it ends.

usage: demo.py L4

Demos are played fast, each with a folder for temporary files of its own, and are killed in every
way: their process, their programs, their terminal. As root also: another user reads nothing.
"""
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import live
import made_job
import support

SLOW = 3 if support.SANITIZED else 1
GONE = "Everything is gone: the programs have ended, and their folder is removed."
STRANGER = 65534


def processes(folder):
    """Ids and names of the programs whose command line names the folder."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:     # it has just ended
            continue
        if any(os.fsencode(folder) in word for word in words):
            found[int(entry.name)] = pathlib.Path(os.fsdecode(words[0])).name
    return found


class Demo:
    """A running demo; its standard output and error go to files beside its TMPDIR."""

    def __init__(self, l4, folder, name, *options, temporary=None):
        self.folder = pathlib.Path(folder) / name
        self.temporary = temporary or self.folder / "tmp"
        self.folder.mkdir()
        self.temporary.mkdir(exist_ok=True)
        self.program = live.Program("demo", self.folder, [l4.binary, "demo", *options],
                                    {"TMPDIR": str(self.temporary)})

    def out(self):
        return self.program.out.read_text("utf-8", "replace")

    def said(self):
        return self.program.said()

    def folders(self):
        return sorted(path for path in self.temporary.iterdir())

    def wait_for(self, text, seconds=60 * SLOW):
        return live.wait_for(lambda: text in self.out() or self.program.process.poll() is not None,
                             seconds) and text in self.out()

    def runs(self):
        """It writes its recording, all programs are there."""
        return self.wait_for("running") and len(processes(self.temporary)) == 5

    def ends(self, seconds=60 * SLOW):
        try:
            return self.program.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def nothing_left(self, expect, what):
        left = live.wait_for(lambda: not processes(self.temporary), 10 * SLOW)
        expect.that(left, f"{what}: no process is left", processes(self.temporary))
        expect.that(not self.folders(), f"{what}: no folder is left", self.folders())

    def end(self):
        self.program.end(signal.SIGKILL)


def check_found(expect, demo, left):
    """A fast demo, which also finds what another one has left."""
    expect.equal(demo.ends(), 0, "exit of a demo")
    demo.nothing_left(expect, "a demo that has ended")
    try:
        told = json.loads(demo.out())
    except ValueError:
        return expect.that(False, "a demo gives JSON", demo.out()[-300:] + demo.said()[-600:])
    alert, report = told["alert"] or {}, told["report"]
    expect.equal(told["schema"], "l4.demo/1", "schema")
    expect.equal((alert.get("state"), alert.get("job")), ("crashed", "job-1005"), "the alert")
    expect.equal((report["verdict"]["state"], support.first(report["nodes"], "node"),
                  support.first(report["ranks"], "rank")), ("crashed", "node-02", 4), "the report")
    expect.that(any("SIGKILL" in delay["since"] for delay in told["delays"]),
                "the moment of the kill is known", told["delays"])
    expect.that(f"had left {left}; it is removed" in demo.said(),
                "what a killed demo left is removed, and said", demo.said()[:300])
    for text in ("l4-aggregator", "node-00, node-01, node-02, node-03", "ALERT", "CRASHED",
                 "l4 lines job-1005 --rank 4", GONE):
        expect.that(text in demo.said(), f"a demo says: {text}", demo.said()[-3000:])


def check_strangers(expect, demo):
    """Nobody else reads the folder; questions need the token."""
    folder = demo.folders()[0]
    for path in (folder, *folder.rglob("*")):
        mode = path.stat().st_mode
        expect.that(not mode & 0o077, f"{path.name} is for its user alone", oct(mode))
    client = (folder / "client.toml").read_text()
    address = client.split('address = "')[1].split('"')[0]

    def status(token=None):
        request = urllib.request.Request(address + "/api/v1/jobs")
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    expect.equal((status(), status("l4_wrong")), (401, 401), "questions without the token")
    expect.equal(status((folder / "token").read_text().strip()), 200, "a question with it")
    if os.geteuid() == 0 and shutil.which("setpriv"):
        stranger = ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups"]
        for command in (["ls", folder], ["cat", folder / "token"], ["cat", folder / "client.toml"],
                        ["cat", folder / "keys" / "aggregator.key"]):
            done = subprocess.run([*stranger, *map(str, command)], capture_output=True, text=True,
                                  check=False)
            expect.that(done.returncode != 0 and not done.stdout and "denied" in done.stderr,
                        f"another user: {command[0]} {command[1].name}", done.stdout + done.stderr)
    done = subprocess.run([demo.program.process.args[0], "jobs", "-o", "json"], check=False,
                          capture_output=True,
                          env={**os.environ, "L4_CLIENT": str(folder / "client.toml")})
    expect.equal(done.returncode, 0, "client.toml leads to the demo")


def check_program_dies(expect, demo, name):
    """A program of the demo is killed: the demo says which, and ends."""
    victims = [pid for pid, called in processes(demo.temporary).items() if called == name]
    os.kill(victims[-1], signal.SIGKILL)
    expect.equal(demo.ends(), 3, f"exit where {name} is killed")
    expect.that(f"l4 demo: {name}" in demo.said() and "by signal 9 (Killed)" in demo.said(),
                f"that {name} was killed is said", demo.said())
    demo.nothing_left(expect, f"{name} is killed")


def check_ends(expect, l4, folder):
    """Demos at the same time, each ended in its own way."""
    ways = ("killed", "l4-agent", "l4-aggregator", "signal")
    demos = {way: Demo(l4, folder, way, "--keep") for way in ways}
    try:
        for way, demo in demos.items():
            expect.that(demo.runs(), f"{way}: the demo runs", demo.out() + demo.said())
        check_strangers(expect, demos["signal"])
        killed = demos["killed"]
        killed.program.process.kill()
        check_program_dies(expect, demos["l4-agent"], "l4-agent")
        check_program_dies(expect, demos["l4-aggregator"], "l4-aggregator")
        status, _ = demos["signal"].program.end(signal.SIGTERM)
        expect.equal(status, 128 + signal.SIGTERM, "exit at SIGTERM")
        expect.that(GONE in demos["signal"].out(), "SIGTERM: it says that all is gone")
        demos["signal"].nothing_left(expect, "SIGTERM")
        killed.program.process.wait()
        expect.that(live.wait_for(lambda: not processes(killed.temporary), 10 * SLOW),
                    "kill -9: no process is left", processes(killed.temporary))
        left = killed.folders()
        expect.equal(len(left), 1, "kill -9: its folder is left")
        fast = Demo(l4, folder, "fast", "--speed", "12", "-o", "json",
                    temporary=killed.temporary)
        demos["fast"] = fast
        check_found(expect, fast, left[0] if left else "")
    finally:
        for demo in demos.values():
            demo.end()


def check_terminal(expect, l4, folder):
    """The terminal of a demo goes away."""
    temporary = pathlib.Path(folder) / "terminal"
    temporary.mkdir()
    pid, end = pty.fork()
    if pid == 0:
        os.environ.update(TMPDIR=str(temporary), TERM="xterm")
        os.execv(l4.binary, [l4.binary, "demo"])
    text, until = "", time.monotonic() + 30 * SLOW
    while "\x1b[J" not in text and time.monotonic() < until:
        if select.select([end], [], [], 0.2)[0]:
            try:
                text += os.read(end, 65536).decode("utf-8", "replace")
            except OSError:  # it has ended
                break
    expect.that("node-03\x1b" in text, "a terminal shows each node", text[-2000:])
    expect.that("\x1b[J" in text, "a block is rewritten on a terminal", text[-400:])
    os.close(end)
    _, status = os.waitpid(pid, 0)
    expect.equal(os.waitstatus_to_exitcode(status), 128 + signal.SIGHUP,
                 "exit where the terminal is closed")
    expect.that(not processes(temporary), "closed terminal: no process is left")
    expect.that(not any(temporary.iterdir()), "closed terminal: no folder is left")


class Reader:
    """A demo whose reader goes away after a line."""

    def __init__(self, l4, folder):
        self.temporary = pathlib.Path(folder) / "pipe"
        self.temporary.mkdir()
        command = f"'{l4.binary}' demo --speed 12 | head -n 1; exit ${{PIPESTATUS[0]}}"
        self.process = subprocess.Popen(["bash", "-c", command], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, "TMPDIR": str(self.temporary)})

    def check(self, expect):
        out, err = self.process.communicate(timeout=60 * SLOW)
        expect.equal((self.process.returncode, out.count("\n"), err), (141, 1, ""),
                     "a reader that goes away")
        expect.that(not any(self.temporary.iterdir()), "pipe: no folder is left")


def check_wrong(expect, l4, folder):
    """What cannot be played, and where nothing can be written."""
    empty, temporary = pathlib.Path(folder) / "empty", pathlib.Path(folder) / "wrong"
    empty.mkdir()
    temporary.mkdir()
    alone = pathlib.Path(folder) / "alone" / "l4"
    alone.parent.mkdir()
    shutil.copy(l4.binary, alone)
    rows = (
        (("--logs", "/no/such"), {}, 2, "--logs: /no/such: is no folder"),
        (("--logs", l4.binary), {}, 2, "is no folder"),
        (("--logs", empty), {}, 2, f"{empty}: "),
        (("--logs", folder), {}, 2, "holds the folder for temporary files"),
        (("--speed", "0"), {}, 2, "--speed: 0 is not from 0.1 to 1000"),
        (("--speed", "nan"), {}, 2, "--speed: nan is not from"),
        (("--keep", "-o", "json"), {}, 2, "--keep: does not go with -o json"),
        ((), {"TMPDIR": "/no/such"}, 3, "TMPDIR"),
        ((), {"TMPDIR": "/proc"}, 3, "/proc: cannot make a folder"),
    )
    for options, environment, status, text in rows:
        done = subprocess.run([l4.binary, "demo", *options], capture_output=True, text=True,
                              check=False, env={**os.environ, "TMPDIR": str(temporary),
                                               **environment}, timeout=60 * SLOW)
        expect.that(done.returncode == status and text in done.stderr,
                    f"{options} {environment}: {status}, {text}",
                    f"{done.returncode}: {done.stderr}")
    done = subprocess.run([alone, "demo", "--logs", support.SAMPLE], capture_output=True, text=True,
                          check=False, env={"PATH": "/usr/bin", "TMPDIR": str(temporary)},
                          timeout=60 * SLOW)
    expect.that(done.returncode == 3 and "l4-aggregator: is neither beside this l4 nor in PATH" in
                done.stderr, "programs that are not there", f"{done.returncode}: {done.stderr}")
    expect.that(not any(temporary.iterdir()), "errors leave no folder", list(temporary.iterdir()))


def check_healthy(expect, demo):
    """A healthy job of one's own raises nothing."""
    expect.equal(demo.ends(90 * SLOW), 0, "exit where the job is healthy")
    expect.that("No failure was found, so no alert was sent." in demo.out() and
                "ALERT" not in demo.out(), "a healthy job raises nothing", demo.out()[-2500:])
    demo.nothing_left(expect, "a healthy job")


def main():
    l4, expect = support.start(sys.argv, "demo")
    with tempfile.TemporaryDirectory(prefix="l4-demo-test-") as folder:
        logs = made_job.MadeJob(3, 30, iterations=40).write(pathlib.Path(folder) / "made-7")
        healthy = Demo(l4, folder, "healthy", "--logs", str(logs), "--speed", "12")
        try:
            reader = Reader(l4, folder)
            check_wrong(expect, l4, folder)
            reader.check(expect)
            check_ends(expect, l4, folder)
            check_terminal(expect, l4, folder)
            check_healthy(expect, healthy)
        finally:
            healthy.end()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
