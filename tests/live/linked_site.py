"""One aggregator, one agent and a link between them that can be cut, for tests that break them.

The real programs, with keys of `l4 keys`, on loopback and free ports; everything ends by its own
process id. Standard library only.
"""
import json
import pathlib
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "integration"))

import live  # noqa: E402

NODE = "node-00"


class Link:
    """Passes connections on. `cut`: sent bytes go nowhere; `refuse`: no connection is accepted."""

    def __init__(self, target):
        self.target, self.mode = target, "open"
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.pairs, self.selector, self.stopping = {}, selectors.DefaultSelector(), False
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _close(self, one):
        if one not in self.pairs:
            return
        for end in (one, self.pairs[one]):
            del self.pairs[end]
            self.selector.unregister(end)
            end.close()

    def _accept(self):
        near, _ = self.listener.accept()
        if self.mode == "refuse":
            near.close()
            return
        try:
            far = socket.create_connection(("127.0.0.1", self.target), timeout=2)
        except OSError:
            near.close()
            return
        far.settimeout(None)
        self.pairs[near], self.pairs[far] = far, near
        self.selector.register(near, selectors.EVENT_READ)
        self.selector.register(far, selectors.EVENT_READ)

    def _run(self):
        while not self.stopping:
            if self.mode == "refuse":
                for one in list(self.pairs):
                    self._close(one)
            for key, _ in self.selector.select(0.1):
                if key.fileobj is self.listener:
                    self._accept()
                elif key.fileobj in self.pairs:
                    self._pass_on(key.fileobj)

    def _pass_on(self, one):
        try:
            some = one.recv(1 << 16)
            if some and self.mode == "open":
                self.pairs[one].sendall(some)
        except OSError:
            some = b""
        if not some:
            self._close(one)

    def end(self):
        self.stopping = True
        self.thread.join()
        for one in list(self.pairs):
            self._close(one)
        self.listener.close()


class Site:
    """`folder`/logs is followed; `folder`/agent and `folder`/aggregator are the states."""

    def __init__(self, folder, binaries, agent_settings=None):
        self.folder, self.binaries = pathlib.Path(folder), pathlib.Path(binaries)
        self.logs = self.folder / "numbered"
        self.wire, self.http = live.free_port(), live.free_port()
        self.link, self.agent, self.aggregator, self.starts = Link(self.wire), None, None, 0
        keys = [str(self.binaries / "l4"), "keys"]
        for words in (["init"], ["add", NODE]):
            subprocess.run([*keys, words[0], "--dir", str(self.folder / "keys"), *words[1:]],
                           check=True, stdout=subprocess.DEVNULL)
        (self.folder / "aggregator.toml").write_text(
            live.aggregator_settings(self.wire, self.http, "aggregator"))
        settings = {"link": {"aggregator": f"tcp://127.0.0.1:{self.link.port}",
                             "key": f"keys/nodes/{NODE}.key"},
                    "logs": {"sources": [str(self.logs)]},
                    "state": {"folder": "agent"},
                    "limits": {"cpu_percent": 0},
                    "host": {"kernel_log": False}}
        for section, values in (agent_settings or {}).items():
            settings.setdefault(section, {}).update(values)
        (self.folder / "agent.toml").write_text("".join(
            f"[{section}]\n" + "".join(f"{key} = {json.dumps(value)}\n"
                                       for key, value in values.items())
            for section, values in settings.items()))

    def start_agent(self, environment=None):
        self.agent = self._start("agent", environment)

    def start_aggregator(self, environment=None, under=()):
        self.aggregator = self._start("aggregator", environment, under)

    def _start(self, name, environment, under=()):
        return live.Program(name, self.folder,
                            [*under, self.binaries / f"l4-{name}", "--config",
                             self.folder / f"{name}.toml"], environment)

    def alive(self, which):
        return getattr(self, which).process.poll() is None

    def json(self, path):
        """The aggregator's answer; {} if there is none."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http}{path}", timeout=10) as got:
                return json.load(got)
        except (OSError, ValueError, urllib.error.URLError):
            return {}

    def metrics(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/metrics", timeout=10) as got:
                return got.read().decode()
        except (OSError, urllib.error.URLError):
            return ""

    def health(self):
        """The body of /healthz, whatever its status."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/healthz", timeout=10) as got:
                return got.read().decode()
        except urllib.error.HTTPError as error:
            return error.read().decode()
        except (OSError, urllib.error.URLError):
            return ""

    def job(self):
        """The row of the one job; {} while there is none."""
        rows = self.json("/api/v1/jobs").get("jobs", [])
        return rows[0] if rows else {}

    def covered(self):
        """Lines that the aggregator has."""
        return self.job().get("lines", 0)

    def settled(self, enough, patience_s, still_s=3.0):
        """Waits until the lines are `enough`, or none arrive for long; then for a short while
        more."""
        last, since = -1, time.monotonic()
        while time.monotonic() - since < patience_s:
            lines = self.covered()
            if lines >= enough:
                break
            if lines != last:
                last, since = lines, time.monotonic()
            time.sleep(0.3)
        time.sleep(still_s)
        return self.covered()

    def counts(self):
        """Counts of the stopped aggregator: see l4_state_counts."""
        done = subprocess.run([self.binaries / "l4_state_counts", self.folder / "aggregator"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"l4_state_counts: {done.stderr}")
        return json.loads(done.stdout)

    def end(self):
        for program in (self.agent, self.aggregator):
            if program is not None:
                program.end(signal.SIGKILL)
        self.link.end()


wait_for = live.wait_for
Program = live.Program
