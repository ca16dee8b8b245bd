#!/usr/bin/env python3
"""Hostile questions over HTTP, and a job with hostile lines and names.

usage: hostile_http.py L4

A real agent ships the logs of a job to an aggregator that asks for tokens. Names and lines hold
SQL, HTML, sequences for terminals and characters that turn the writing round. Each question is
refused with a sentence; the names and lines do no harm as JSON, in the log, in an alert or in the
output of `l4`.
"""
import contextlib
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

import aggregator as programs
import live
import support
from api import token_of
from confirm import Poster
from live import wait_for

SLOW = programs.SLOW
JOB = "x'; DROP TABLE incidents; --<b>"
NODE = "node-a"
# Terminal sequences: clear, name the window, set the clipboard, a C1 sequence, reversed writing.
ACTS = ["\x1b[2J", "\x1b]0;owned\x07", "\x1b]52;c;b3duZWQ=\x07", "\u009b31m", "\u202edesrever"]
SQL = "Robert'); DELETE FROM snapshots; --"
HTML = "<script>alert(1)</script><img src=x onerror=alert(2)>"
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# Sequences that l4 itself sends to a terminal: colours and the screen of `l4 top`.
OWN = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?(?:1049|25|7)[hl]|\x1b\[(?:[0-9;]*)[HJK]")


def stamp(seconds):
    return time.strftime("%Y-%m-%d %H:%M:%S,000", time.gmtime(time.time() - 7200 + seconds))


def write_job(folder):
    """The job trains, and ends with an error that no output may render as it is."""
    rank = folder / JOB / NODE / "rank0.log"
    rank.parent.mkdir(parents=True)
    lines = [f"{stamp(step)} INFO trainer: iteration {step}/9000 | loss 2.31 | took 1.0"
             for step in range(60)]
    lines += [f"{stamp(60)} ERROR failed to store {act} {SQL} {HTML} now" for act in ACTS]
    lines += [f"{stamp(61)} ERROR RuntimeError: CUDA error: out of memory {ACTS[0]}{HTML}",
              f"{stamp(61)} ERROR torch.distributed.elastic.multiprocessing.api:failed "
              "(exitcode: -9) local_rank: 0 (pid: 4711) of binary: /usr/bin/python3"]
    rank.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return rank


class Hook(live.PostReceiver):
    """Keeps the bytes of posted bodies."""

    def __init__(self):
        self.bodies = []
        super().__init__()

    def take(self, _, body):
        self.bodies.append(body)
        return 200


class World:
    def __init__(self, l4, expect, folder):
        self.l4, self.expect, self.folder = l4, expect, folder
        self.build = pathlib.Path(l4.binary).resolve().parent
        l4.run("keys", "init", "--dir", folder / "keys")
        l4.run("keys", "add", "--dir", folder / "keys", NODE)
        (folder / "state").mkdir()
        self.read = token_of(l4, expect, folder, "reader", "read")
        self.operate = token_of(l4, expect, folder, "ops", "operate")
        self.hook = Hook()
        self.server = programs.Aggregator(self.build / "l4-aggregator", folder, f"{self.hook.url}/")
        config = self.server.config.read_text()
        self.server.config.write_text(
            config.replace("[http]\n", '[http]\ntokens = "keys/tokens"\n'))
        self.ops = Poster(self.server.http, self.operate)
        write_job(folder / "logs")
        (folder / "agent.toml").write_text(f"""[link]
aggregator = "tcp://127.0.0.1:{self.server.wire}"
key = "keys/nodes/{NODE}.key"
[who]
job = {json.dumps(JOB)}
[logs]
sources = [{json.dumps(str(folder / "logs" / JOB))}]
[state]
folder = "agent"
[host]
kernel_log = false
""")
        self.agent = None

    def start_agent(self):
        self.agent = live.Program("agent", self.folder, [
            self.build / "l4-agent", "--config", self.folder / "agent.toml"])

    def raw(self, request, wait_s=30.0):
        """The whole answer to a request of raw bytes."""
        answer = b""
        with socket.create_connection(("127.0.0.1", self.server.http), timeout=wait_s) as one:
            with contextlib.suppress(OSError):  # it may be refused before all of it was sent
                one.sendall(request)
            with contextlib.suppress(OSError):
                while part := one.recv(65536):
                    answer += part
        return answer

    def request(self, path, token="", more=""):
        key = f"Authorization: Bearer {token}\r\n" if token else ""
        return self.raw(f"GET {path} HTTP/1.1\r\nHost: a\r\n{key}{more}Connection: close\r\n\r\n"
                        .encode())

    def end(self):
        for process in (self.agent.process if self.agent else None, self.server.process):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        self.hook.close()


def refused(expect, answer, status, code, what):
    """The answer has that status, and JSON with the reason only."""
    head, _, body = answer.partition(b"\r\n\r\n")
    try:
        error = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        error = {}
    expect.that(head.startswith(b"HTTP/1.1 %d" % status) and error.get("code") == code
                and error.get("message"), f"{what}: {status} {code}", answer[:300])
    expect.that(b"X-Content-Type-Options: nosniff" in head and b"application/json" in head,
                f"{what}: it is said to be JSON", head)
    return error.get("message", "")


def check_paths(world):
    """Asks with a token that may read; without a token no answer shows which paths exist."""
    expect = world.expect
    for path in ("/api/v1/../../etc/passwd", "/api/v1/jobs/../../../etc/passwd",
                 "/%2e%2e/%2e%2e/etc/passwd", "/api/v1/jobs/%00", "/api/v1/jobs/a%1b[2J",
                 "/api/v1/jobs/%ff", "/api/v1/jobs?after=%0a"):
        answer = world.request(path, world.read)
        refused(expect, answer, 400, "bad_request", path)
        expect.that(b"root:" not in answer and b"\x1b" not in answer, f"{path}: nothing of a file")
    for path in ("/etc/passwd", "/api/v1/jobs/..%2f..%2fetc%2fpasswd"):  # the name of a job
        refused(expect, world.request(path, world.read), 404, "not_found", path)
    for path in ("/api/v1/jobs", "/etc/passwd", "/api/v1/nothing"):
        refused(expect, world.request(path), 401, "no_token", f"{path} without a token")
        refused(expect, world.request(path, "l4_" + "0" * 64), 401, "unknown_token",
                f"{path} with a wrong token")
    row = world.raw(f"POST /api/v1/faults HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {world.read}"
                    "\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close"
                    "\r\n\r\n{}".encode())
    refused(expect, row, 403, "not_allowed", "a change by who may read")


def check_sizes(world):
    """Long headers, bodies that are long, slow or no JSON."""
    expect, key = world.expect, f"Authorization: Bearer {world.operate}\r\n"
    began = world.server.process.pid
    answer = world.raw(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 10_000_000)
    refused(expect, answer, 431, "header_too_large", "a header of 10 MB")
    post = (f"POST /api/v1/faults HTTP/1.1\r\nHost: a\r\n{key}Content-Type: application/json\r\n"
            "Connection: close\r\nContent-Length: ")
    refused(expect, world.raw((post + "9000000000\r\n\r\n").encode()), 413, "body_too_large",
            "a body of 9 GB")
    with socket.create_connection(("127.0.0.1", world.server.http), timeout=60 * SLOW) as slow:
        slow.sendall((post + "1000\r\n\r\n").encode())
        start = time.monotonic()
        ended = False
        while not ended and time.monotonic() - start < 40 * SLOW:
            with contextlib.suppress(OSError):
                slow.sendall(b"{")
            ready, _, _ = select.select([slow], [], [], 0.5)
            with contextlib.suppress(ConnectionResetError):
                ended = bool(ready) and slow.recv(65536) is not None
            ended = ended or bool(ready)
        took = time.monotonic() - start
    expect.that(ended and 8 < took < 30 * SLOW, "a body that drips is given up after 10 s", took)
    deep = b"[" * 500_000
    pool = b'"schema": "l4.pool/1", "runs": [], '
    for path, begin in (("/api/v1/faults", b""), ("/api/v1/pool", pool),
                        (f"/api/v1/jobs/{urllib.parse.quote(JOB)}/outcome", b"")):
        for body, said in ((b"{", "JSON"), (deep, ""),
                           (b"{" + begin + b'"nonsense": 1}', "nonsense"),
                           (b"{" + begin + b'"\\u001b[2J": 1}', "[2J")):
            status, answer = world.ops.send("POST", path, body)
            message = answer.get("error", {}).get("message", "")
            expect.that(status == 400 and message and said in message and not BAD.search(message),
                        f"POST {path} {body[:20]}: {said!r} in the message", (status, message))
    expect.equal(world.server.process.pid, began, "it is the same program")


def check_parameters(world):
    """The answer names an unknown parameter or value; no default is used in its place."""
    job = f"/api/v1/jobs/{urllib.parse.quote(JOB, safe='')}"
    for path, said in (("/api/v1/incidents?opne=true", "did you mean open?"),
                       ("/api/v1/incidents?open=yes", "open must be true or false"),
                       ("/api/v1/incidents?open=true&open=false", "open is there twice"),
                       ("/api/v1/incidents?after=1", "after must be"),
                       ("/api/v1/jobs?limit=3", "it has count, after"),
                       ("/api/v1/jobs?count=", "count must be a number"),
                       (f"{job}/snapshot?att=now", "did you mean at?"),
                       (f"{job}/snapshots?after=x", "it has count, before"),
                       (f"{job}/lines?nodes=a", "did you mean node?"),
                       ("/api/v1/faults?format=yaml", "format must be json or toml"),
                       ("/api/v1/pool?kinds=a", "did you mean kind?"),
                       ("/api/v1/events?jobs=a", "did you mean job?"),
                       ("/api/v1/agents?%1b=a", "control characters"),
                       ("/metrics?x=1", "which has none")):
        message = refused(world.expect, world.request(path, world.read), 400, "bad_request", path)
        world.expect.that(said in message, f"{path}: {said}", message)
    for body, kind, status, said in ((b"", "application/json", 400, "JSON"),
                                     (b'{"why": 1}', "application/json", 400, "why"),
                                     (b"{}", "text/plain", 415, "application/json"),
                                     (b"{}", "", 415, "application/json")):
        got, answer = world.ops.send("POST", f"{job}/snapshots", body, kind or "a/b")
        world.expect.that(got == status and said in answer["error"]["message"],
                          f"POST snapshots {body} {kind}", (got, answer))
    world.expect.that(all(row["why"] == "incident" for row in
                          world.ops.json(f"{job}/snapshots")["snapshots"]), "none was stored")


def check_without_tokens(world):
    """Pages of other sites, which a browser on this machine has open."""
    folder = world.folder / "open"
    (folder / "state").mkdir(parents=True)
    (folder / "keys").symlink_to(world.folder / "keys")
    server = programs.Aggregator(world.build / "l4-aggregator", folder)
    config = server.config.read_text()
    server.config.write_text(config.replace("[http]\n", '[http]\nnames = ["head-node"]\n'))

    def status_of(method, host, more="", path="/api/v1/pool/none"):
        with socket.create_connection(("127.0.0.1", server.http), timeout=30) as one:
            one.sendall(f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n"
                        "\r\n".encode())
            answer = b""
            while part := one.recv(65536):
                answer += part
        return int(answer.split()[1]), json.loads(answer.partition(b"\r\n\r\n")[2])

    try:
        world.expect.that(server.start(), "one without tokens starts", server.log_text()[-600:])
        own = f"127.0.0.1:{server.http}"
        for method, host, origin, status, code in (
                ("GET", own, "", 404, "not_found"),
                ("GET", "localhost", "", 404, "not_found"),
                ("GET", "head-node:7440", "", 404, "not_found"),
                ("GET", "evil.example", "", 421, "wrong_host"),
                ("GET", f"evil.example:{server.http}", "http://evil.example", 421, "wrong_host"),
                ("DELETE", "evil.example", "", 421, "wrong_host"),
                ("DELETE", own, f"http://{own}", 404, "not_found"),
                ("DELETE", own, "http://evil.example", 403, "cross_site"),
                ("DELETE", own, "null", 403, "cross_site")):
            got, answer = status_of(method, host, f"Origin: {origin}\r\n" if origin else "")
            world.expect.equal((got, answer["error"]["code"]), (status, code),
                               f"{method} to {host} from {origin!r}")
        world.expect.equal(status_of("GET", "any-probe", path="/healthz")[0], 200, "a probe")
        page = server.get("/metrics")[1].decode()
        for reason, count in (("wrong_host", 3), ("cross_site", 2)):
            world.expect.that(f'http_refused_total{{reason="{reason}"}} {count}\n' in page,
                              f"{reason} is counted", page[-1500:])
    finally:
        if server.process and server.process.poll() is None:
            server.end(signal.SIGTERM)


def check_sql(world):
    """Words of SQL are unknown names."""
    expect = world.expect
    before = world.ops.json("/api/v1/incidents")["incidents"]
    expect.that(before, "there is an incident to lose")
    for word in ("x' OR '1'='1", "'; DROP TABLE incidents; --", '" OR 1=1 --', "%", "_", SQL):
        quoted = urllib.parse.quote(word, safe="")
        expect.equal(world.ops.json(f"/api/v1/incidents?job={quoted}"),
                     {"incidents": [], "next": None}, f"incidents of job {word}")
        for path in (f"/api/v1/jobs/{quoted}", f"/api/v1/incidents/{quoted}",
                     f"/api/v1/jobs/{quoted}/snapshot?at=2026-01-01T00:00:00Z",
                     f"/api/v1/pool/{quoted}", f"/api/v1/faults/{quoted}"):
            status, _, body = world.ops.ask(path)
            error = json.loads(body)["error"]
            expect.equal((status, error["code"]), (404, "not_found"), f"GET {path}")
            expect.that(word in error["message"], f"GET {path}: the name is told", error)
        expect.equal(world.ops.json(f"/api/v1/jobs/{quoted}/snapshots").get("snapshots"), [],
                     f"snapshots of {word}")
    expect.equal(world.ops.json("/api/v1/incidents")["incidents"], before, "incidents afterwards")


def harmless(expect, data, what, own=False):
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    if own:
        text = OWN.sub("", text).replace("\r\n", "\n").replace("\r", "")
    found = BAD.search(text.replace("\n", "").replace("\t", ""))
    expect.that(found is None, f"{what}: nothing that acts on a terminal",
                found and text[max(0, found.start() - 60):found.end() + 20])


def check_answers(world, incident):
    """JSON escapes control characters, is labelled as JSON, and keeps the text."""
    job = urllib.parse.quote(JOB, safe="")
    for path in ("/api/v1/jobs", f"/api/v1/jobs/{job}", f"/api/v1/jobs/{job}/snapshot",
                 f"/api/v1/jobs/{job}/nodes", f"/api/v1/jobs/{job}/lines?rank=0", "/api/v1/agents",
                 f"/api/v1/jobs/{job}/snapshots", "/api/v1/incidents",
                 f"/api/v1/incidents/{urllib.parse.quote(incident, safe='')}"):
        status, headers, body = world.ops.ask(path)
        world.expect.equal((status, headers["Content-Type"], headers["X-Content-Type-Options"]),
                           (200, "application/json", "nosniff"), f"GET {path}")
        world.expect.that(not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", body),
                          f"{path}: no control character in its bytes")
        json.loads(body)
    lines = world.ops.json(f"/api/v1/jobs/{job}/lines?rank=0")["lines"]
    texts = " ".join(row["text"] for row in lines)
    for part in (*ACTS, SQL, HTML):
        world.expect.that(part in texts, f"{part!r} is in the JSON of lines as it was")


def on_terminal(world, words):
    """Output of a command on a terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(world.l4.binary, [world.l4.binary, *map(str, words)])
    seen, until = b"", time.monotonic() + 30 * SLOW
    with contextlib.suppress(OSError):
        while time.monotonic() < until and select.select([terminal], [], [], 10 * SLOW)[0]:
            seen += os.read(terminal, 65536)
            if words[0] == "top" and seen.count(JOB.encode()[:12]) > 0:
                os.write(terminal, b"q")
    os.close(terminal)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return seen


def check_commands(world, incident):
    """Output of `l4` into a file and on a terminal."""
    secret = world.folder / "token"
    secret.write_text(world.operate + "\n")
    rest = ("--address", f"http://127.0.0.1:{world.server.http}", "--token-file", secret)
    shown = {}
    for words in (("jobs",), ("snapshot", JOB), ("snapshot", JOB, "--list"), ("incidents",),
                  ("incidents", incident), ("lines", JOB, "--rank", "0"), ("agents",),
                  ("snapshot", "\x1b[2Jnobody"), ("outcome", JOB, "maybe\x1b[2J")):
        run = world.l4.run(*words, *rest)
        shown[words] = run.stdout.decode()
        world.expect.that(run.stdout or run.stderr, f"l4 {words[:1]} says something")
        harmless(world.expect, run.stdout + run.stderr.encode(), f"l4 {words}")
        harmless(world.expect, on_terminal(world, (*words, *rest)), f"l4 {words} on a terminal",
                 own=True)
    screen = on_terminal(world, ("top", *rest))
    harmless(world.expect, screen, "l4 top", own=True)
    world.expect.that(b"DROP TABLE" in screen, "l4 top shows the job", screen)
    world.expect.that("\u241b[2J" in shown[("lines", JOB, "--rank", "0")],
                      "ESC is shown as a sign", shown)
    world.expect.that("DROP TABLE" in shown[("jobs",)], "the job's name is shown", shown[("jobs",)])


def check(world):
    expect = world.expect
    expect.that(world.server.start(), "the aggregator starts", world.server.log_text()[-600:])
    check_paths(world)
    world.start_agent()
    rows = wait_for(lambda: world.ops.json("/api/v1/incidents").get("incidents"), 60 * SLOW)
    if not expect.that(rows, "there is an incident", world.server.log_text()[-600:]):
        return
    expect.equal(rows[0]["job"], JOB, "of the job with that name")
    expect.that(wait_for(lambda: world.hook.bodies, 20 * SLOW), "an alert is posted")
    check_answers(world, rows[0]["id"])
    check_commands(world, rows[0]["id"])
    check_sql(world)
    check_parameters(world)
    check_sizes(world)
    check_without_tokens(world)
    for body in world.hook.bodies:
        json.loads(body)
        expect.that(not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", body), "bytes of an alert", body)
    expect.equal(world.server.end(signal.SIGTERM)[0], 0, "exit")
    log = re.sub("\x1b\\[[0-9;]*m", "", world.server.log_text())
    expect.that("DROP TABLE" in log, "the log names the job", log[-600:])
    harmless(expect, log, "the log of the aggregator")
    harmless(expect, world.agent.said(), "the log of the agent")


def main():
    l4, expect = support.start(sys.argv, "hostile_http")
    os.environ.pop("L4_ADDRESS", None)
    os.environ["TERM"] = "xterm-256color"
    with tempfile.TemporaryDirectory() as folder:
        world = World(l4, expect, pathlib.Path(folder))
        try:
            check(world)
        finally:
            world.end()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
