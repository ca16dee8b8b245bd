"""Shared by tests of the live system: keys, the counting receiver, the agent, growing logs.

Each program listens on loopback with a free port, writes its output to files of the test's folder,
and is ended by its own process id, at the latest when the test ends.
"""
import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

# At SIGTERM the test unwinds first, and so ends the programs that it started.
signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


class Program:
    """One running program; standard output and error go to files."""

    def __init__(self, name, folder, command, environment=None, stdin=subprocess.DEVNULL):
        self.out = pathlib.Path(folder) / f"{name}.out"
        self.err = pathlib.Path(folder) / f"{name}.err"
        with open(self.out, "ab") as out, open(self.err, "ab") as err:
            self.process = subprocess.Popen([str(part) for part in command], stdin=stdin,
                                            stdout=out, stderr=err,
                                            env={**os.environ, **(environment or {})})

    def said(self):
        return self.err.read_text("utf-8", "replace")

    def send(self, number):
        self.process.send_signal(number)

    def end(self, number=signal.SIGTERM, timeout_s=20.0):
        """Exit status and the seconds it took."""
        began = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return self.process.returncode, time.monotonic() - began

    def cpu_s(self):
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = stat.rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_mb(self):
        pages = int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class Site:
    """A folder with keys, a receiver and agents."""

    def __init__(self, folder, binaries):
        self.folder, self.binaries = pathlib.Path(folder), pathlib.Path(binaries)
        self.keys, self.logs = self.folder / "keys", self.folder / "job-7"
        self.logs.mkdir()
        self.endpoint, self.server, self.programs = "tcp://127.0.0.1:*", None, []
        self.l4("keys", "init", "--dir", self.keys)

    def l4(self, *command):
        subprocess.run([str(self.binaries / "l4"), *map(str, command)], check=True,
                       stdout=subprocess.DEVNULL)

    def enrol(self, *names):
        self.l4("keys", "add", "--dir", self.keys, *names)

    def start_server(self, *more):
        """Starts the receiver, after the first time on the same port."""
        name = f"server-{len(self.programs)}"
        self.server = Program(name, self.folder, [
            self.binaries / "l4_count_server", "--keys", self.keys, "--endpoint", self.endpoint,
            "--ledger", self.folder / "ledger.json", *more], stdin=subprocess.PIPE)
        self.programs.append(self.server)
        self.endpoint = wait_for(lambda: next(
            (row["endpoint"] for row in self.rows() if "endpoint" in row), None))

    def rows(self):
        rows = []
        for line in self.server.out.read_text("utf-8", "replace").splitlines():
            try:
                rows.append(json.loads(line))
            except ValueError:  # being written
                pass
        return rows

    def counts(self):
        """The receiver's last row."""
        rows = [row for row in self.rows() if "lines" in row]
        return rows[-1] if rows else {"lines": 0, "events": 0, "bytes": 0, "jobs": {}, "wrong": [],
                                      "lost": 0, "sources": {}}

    def config(self, name, more="", sources=None):
        sources = json.dumps([str(source) for source in sources or [self.logs]])
        path = self.folder / f"{name}.toml"
        path.write_text(f"""[link]
aggregator = "{self.endpoint}"
key = "keys/nodes/{name}.key"
[logs]
sources = {sources}
[state]
folder = "state-{name}"
[limits]
cpu_percent = 0
[host]
kernel_log = false
{more}""")
        return path

    def start_agent(self, name):
        agent = Program(f"agent-{name}", self.folder, [
            self.binaries / "l4-agent", "--config", self.folder / f"{name}.toml"])
        self.programs.append(agent)
        return agent

    def end(self):
        for program in reversed(self.programs):
            program.end(signal.SIGKILL)


class Writer:
    """A counted generator: numbered lines into files, with rotation by renaming."""

    def __init__(self, paths):
        self.paths, self.lines, self.bytes, self.number = list(paths), 0, 0, 0
        self.files = {}

    def write(self, count):
        """Writes so many lines, file after file."""
        text = {path: [] for path in self.paths}
        for _ in range(count):
            self.number += 1
            path = self.paths[self.number % len(self.paths)]
            text[path].append(f"2026-11-20 10:00:00,{self.number % 1000:03d} INFO step "
                              f"{self.number} of file took 12.5 ms on rank 3\n")
        for path, lines in text.items():
            if path not in self.files:
                path.parent.mkdir(parents=True, exist_ok=True)
                self.files[path] = open(path, "a", encoding="utf-8")
            self.files[path].write("".join(lines))
            self.files[path].flush()
            self.bytes += sum(map(len, lines))
        self.lines += count

    def rotate(self, path, keep=5):
        self.files.pop(path).close()
        for old in range(keep - 1, 0, -1):
            before = path.with_name(f"{path.name}.{old}")
            if before.exists():
                before.rename(path.with_name(f"{path.name}.{old + 1}"))
        path.rename(path.with_name(f"{path.name}.1"))

    def close(self):
        for file in self.files.values():
            file.close()


class PostReceiver:
    """Receives posts; a subclass's `take(path, body)` returns the status of the answer."""

    def __init__(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(receiver.take(self.path, body))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class AlertReceiver(PostReceiver):
    """Keeps the alerts that are posted."""

    def __init__(self):
        self.alerts = []
        super().__init__()

    def take(self, _, body):
        self.alerts.append(json.loads(body))
        return 200


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def manager_sink(url):
    """Settings of an aggregator whose alerts go to an Alertmanager, called manager."""
    return f"""[[alerts.sink]]
name = "manager"
kind = "alertmanager"
url = "{url}"
"""


def aggregator_settings(wire, http, folder):
    """Settings of an aggregator on loopback, with the keys of `keys` beside its file; more may
    follow."""
    return f"""
[wire]
listen = "tcp://127.0.0.1:{wire}"
key = "keys/aggregator.key"
allow_list = "keys/allow-list"
[http]
port = {http}
[store]
folder = "{folder}"
"""


def wait_for(holds, timeout_s=30.0):
    """The first true result of `holds`, else its last result."""
    end = time.monotonic() + timeout_s
    while True:
        value = holds()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.05)
