#!/usr/bin/env python3
"""Server-sent events of l4-aggregator, and `l4 incidents --follow`.

usage: events.py L4

A job of the sample is played and fails: clients that follow all jobs, or that one, get its events;
clients of another job do not. Streams resume where they ended, are bounded, and end when the
aggregator stops; the command reconnects by itself after a restart.
"""
import contextlib
import json
import os
import pathlib
import signal
import socket
import sys
import tempfile
import threading
import time

import aggregator
import live
import support
from live import wait_for

SLOW = 4 if support.SANITIZED else 1
STREAMS = 6


class Stream:
    """One client; a thread reads its events until the end or close()."""

    def __init__(self, port, path, last_id=""):
        self.raw, self.ended = b"", False
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        more = f"Last-Event-ID: {last_id}\r\n" if last_id else ""
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode())
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        with contextlib.suppress(OSError):
            while part := self.socket.recv(65536):
                self.raw += part
        self.ended = True

    def body(self):
        """The body without the sizes of its chunks."""
        rest, text = self.raw.partition(b"\r\n\r\n")[2], b""
        while b"\r\n" in rest:
            size, rest = rest.split(b"\r\n", 1)
            text, rest = text + rest[:int(size, 16)], rest[int(size, 16) + 2:]
        return text.decode()

    def events(self, kind=None):
        rows = []
        for block in self.body().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.splitlines()
                          if line and not line.startswith(":"))
            if "data" in fields and kind in (None, fields["event"]):
                rows.append((fields["id"], fields["event"], json.loads(fields["data"])))
        return rows

    def kinds(self):
        return [kind for _, kind, _ in self.events()]

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()


class Follower(live.Program):
    """`l4 incidents --follow`."""

    def __init__(self, l4, folder, name, port, *more):
        super().__init__(name, folder, [l4.binary, "incidents", "--follow", "--address",
                                        f"http://127.0.0.1:{port}", *more])

    def lines(self):
        return self.out.read_text("utf-8", "replace").splitlines()


def check_told(expect, build, folder, server, stack, followers):
    streams = {path: Stream(server.http, path) for path in
               ("/api/v1/events", "/api/v1/events?job=sample", "/api/v1/events?job=other")}
    for stream in streams.values():
        stack.callback(stream.close)
    everything, ours, other = streams.values()
    for stream in streams.values():
        expect.that(wait_for(lambda s=stream: s.kinds() == ["following"], 10 * SLOW),
                    "a stream begins", stream.raw)
    began = everything.events()[0][0]
    player = aggregator.played(build, server, folder / "keys", aggregator.aged_sample(folder), 20)
    try:
        expect.that(wait_for(lambda: everything.events("incident"), 60 * SLOW),
                    "the incident is told", everything.body())
    finally:
        player.kill()
        player.wait()
    expect.that(wait_for(lambda: len(ours.events()) == len(everything.events()), 5 * SLOW),
                "who follows the job is told the same")
    told = everything.events("incident")[0][2]
    expect.equal((told["schema"], told["alert"], told["job"]), ("l4.alert/1", "opened", "sample"),
                 "the incident")
    rows = [row for _, _, row in everything.events("job")]
    expect.that(rows and rows[0]["id"] == "sample", "the job is told", rows)
    expect.that(wait_for(lambda: everything.events("job")[-1][2]["incident"] == told["incident"],
                         5 * SLOW), "with its incident", rows)
    expect.equal(other.kinds(), ["following"], "who follows another job is told nothing")
    numbers = [int(name.split("-")[1]) for name, _, _ in everything.events()]
    expect.equal(numbers, list(range(numbers[0], numbers[0] + len(numbers))), "ids count")
    for follower in followers:
        expect.that(wait_for(follower.lines, 10 * SLOW), "l4 incidents --follow says it",
                    follower.said())
    as_json, as_text = (follower.lines()[0] for follower in followers)
    expect.equal(json.loads(as_json), told, "l4 incidents --follow -o json")
    expect.that(f"opened sample attempt {told['attempt']} {told['state']}: {told['summary']}"
                in as_text and told["incident"] in as_text, "l4 incidents --follow", as_text)
    return began, everything


def check_resumed(expect, server, stack, began, everything):
    def resumed(path, last_id):
        stream = Stream(server.http, path, last_id)
        stack.callback(stream.close)
        wait_for(lambda: "following" in stream.kinds(), 10 * SLOW)
        kinds = stream.events()
        stream.close()
        return kinds

    def told():
        return [row[:2] for row in everything.events() if row[1] != "following"]

    def expect_replay(what, rows, least):
        """`least` comes again, then "following"; a job may change meanwhile: that is told, too."""
        kinds = [kind for _, kind, _ in rows]
        expect.that("following" in kinds, f"{what}: then it goes on", kinds)
        again = [row[:2] for row in rows if row[1] != "following"]
        wait_for(lambda: len(told()) - len(before) >= len(again) - len(least), 5 * SLOW)
        expect.equal(again, (least + told()[len(before):])[:max(len(again), len(least))], what)

    before = told()
    expect_replay("what came since is told again", resumed("/api/v1/jobs/sample/events", began),
                  before)
    middle = before[0][0]
    expect_replay("from the middle", resumed("/api/v1/events", middle), before[1:])
    for strange in ("0123456789abcdef-1", "nonsense", middle.split("-")[0] + "-999999",
                    middle.split("-")[0] + "-x"):
        rows = resumed("/api/v1/events", strange)
        expect.equal(rows[0][1], "lost", f"Last-Event-ID {strange}")
        expect_replay(f"Last-Event-ID {strange}: then all that is there", rows[1:], before)
    other = [kind for _, kind, _ in resumed("/api/v1/events?job=other", began)]
    expect.equal(other, ["following"], "nothing was missed of another job")
    expect.equal(server.get("/api/v1/jobs/nobody/events")[0], 404, "events of no job")


def check_bounds(expect, server, stack):
    def figure(name):
        text = server.get("/metrics")[1].decode()
        return next(float(line.split()[-1]) for line in text.splitlines()
                    if line.startswith(f"l4_aggregator_{name} "))

    expect.that(wait_for(lambda: figure("event_streams") == 5, 10 * SLOW),
                "streams that were closed are gone", figure("event_streams"))
    last = Stream(server.http, "/api/v1/events")
    stack.callback(last.close)
    expect.that(wait_for(lambda: last.kinds()[:1] == ["following"], 10 * SLOW), "one more fits",
                last.body())
    status, body = server.get("/api/v1/events")
    expect.that(status == 503 and b'"busy"' in body, "one beyond the bound", (status, body))
    last.close()
    expect.that(wait_for(lambda: opens(server), 10 * SLOW), "one that leaves makes room")
    expect.equal(server.get("/api/v1/jobs")[0], 200, "lists are answered beside them")
    expect.that(figure("events_published_total") >= 2, "events are counted")
    idle = Stream(server.http, "/api/v1/events?job=other")
    stack.callback(idle.close)
    expect.that(wait_for(lambda: "\n:\n\n" in idle.body(), 20 * SLOW), "a heartbeat comes",
                idle.body())
    idle.close()


def opens(server):
    stream = Stream(server.http, "/api/v1/events")
    wait_for(lambda: stream.raw, 5 * SLOW)
    stream.close()
    return b" 200 " in stream.raw[:20]


def check_end(expect, build, folder, server, everything, followers):
    """A stop of the aggregator ends streams properly; the command reconnects."""
    status, seconds = server.end(signal.SIGTERM)
    expect.that(status == 0 and seconds < 10 * SLOW, "a stop with streams open", (status, seconds))
    expect.that(wait_for(lambda: everything.ended, 5), "the stream ends")
    expect.that(everything.raw.endswith(b"0\r\n\r\n"), "as an answer does", everything.raw[-80:])
    for follower in followers:
        expect.that(wait_for(lambda f=follower: "asked again until" in f.said(), 10 * SLOW),
                    "the command says that it waits", follower.said())
        expect.equal(follower.process.poll(), None, "and goes on")
    expect.that(server.start(), "the aggregator is back", server.log_text()[-500:])
    for follower in followers:
        expect.that(wait_for(lambda f=follower: "answers again" in f.said() and
                             "no longer there" in f.said(), 20 * SLOW),
                    "the command is back, and says that it may have missed something",
                    follower.said())
        status, _ = follower.end(signal.SIGTERM)
        expect.equal(status, -signal.SIGTERM, "a signal ends it")


def check_wrong_use(expect, l4, server):
    run = l4.run("incidents", "--follow", "--open")
    expect.that(run.status == 2 and "--follow" in run.stderr, "--follow --open", run.stderr)
    run = l4.run("incidents", "--follow", "--address", f"http://127.0.0.1:{live.free_port()}")
    expect.that(run.status == 3 and "connection refused" in run.stderr, "nobody there", run.stderr)


def main():
    l4, expect = support.start(sys.argv, "events")
    os.environ.pop("L4_ADDRESS", None)
    build = pathlib.Path(l4.binary).resolve().parent
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        l4.run("keys", "init", "--dir", folder / "keys")
        l4.run("keys", "add", "--dir", folder / "keys", *aggregator.NODES)
        server = aggregator.Aggregator(build / "l4-aggregator", folder)
        server.config.write_text(server.config.read_text().replace(
            "[http]\n", f"[http]\nstreams_max = {STREAMS}\n"))
        expect.that(server.start(), "it starts", server.log_text()[-600:])
        stack.callback(lambda: server.process.poll() is None and server.end(signal.SIGTERM))
        check_wrong_use(expect, l4, server)
        followers = [Follower(l4, folder, "json", server.http, "-o", "json", "--job", "sample"),
                     Follower(l4, folder, "text", server.http)]
        for follower in followers:
            stack.callback(follower.end, signal.SIGKILL)
        time.sleep(SLOW)
        began, everything = check_told(expect, build, folder, server, stack, followers)
        check_resumed(expect, server, stack, began, everything)
        check_bounds(expect, server, stack)
        check_end(expect, build, folder, server, everything, followers)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
