#!/usr/bin/env python3
"""The real l4-aggregator among port scanners, noise, strangers and agents that break the rules.

usage: hostile.py L4

A real agent ships lines all the while. Everything that the others do is refused, counted by reason,
and logged once and not for each packet; the agent keeps its one connection, and every line is
counted.
"""
import pathlib
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import support

sys.path.insert(0, str(support.ROOT / "tests" / "live"))

import linked_site  # noqa: E402

SLOW = 4 if support.SANITIZED else 1
ROGUE_S = 3
TRIES = 4
NEVER_READS_S = 20     # the aggregator bears with it for 10 s
CONNECTS = 5_000
RESIDENT_MB = 400


class Writer(threading.Thread):
    """Appends lines until it is told to stop."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.lines, self.over, self.path = 0, threading.Event(), path
        path.parent.mkdir(parents=True, exist_ok=True)

    def run(self):
        with open(self.path, "a", encoding="utf-8") as file:
            while not self.over.wait(0.1):
                for _ in range(20):
                    self.lines += 1
                    file.write(f"2026-11-20 10:00:00 INFO numbered line {self.lines} is well\n")
                file.flush()


class Case:
    def __init__(self, expect, site, writer):
        self.expect, self.site, self.writer = expect, site, writer
        self.address = ("127.0.0.1", site.wire)

    def refused(self, reason):
        found = re.search(rf'refused_total{{reason="{reason}"}} (\d+)', self.site.metrics())
        return int(found.group(1)) if found else -1

    def log_lines(self, words):
        return sum(words in line for line in self.site.aggregator.said().splitlines())

    def counted(self, what, reason, least, words):
        """At least this many were refused for that reason, and the log does not repeat it."""
        found = linked_site.wait_for(lambda: self.refused(reason) >= least, 30 * SLOW)
        self.expect.that(found, f"{what}: at least {least} refused as {reason}",
                         self.refused(reason))
        told = self.log_lines(words)
        self.expect.that(1 <= told <= 3, f"{what}: told once, by {words!r}",
                         (told, self.site.aggregator.said()[-600:]))
        self.witness(what)

    def witness(self, what):
        """The honest agent's batches up to now are counted."""
        written = self.writer.lines
        self.expect.that(linked_site.wait_for(lambda: self.site.covered() >= written, 30 * SLOW),
                         f"{what}: the honest agent ships on", (self.site.covered(), written))
        agents = {row["agent"]: row for row in self.site.json("/api/v1/agents").get("agents", [])}
        row = agents.get(linked_site.NODE, {})
        self.expect.that(row.get("connected") and not row.get("lost"), f"{what}: it is connected",
                         agents)

    def scanners(self):
        for _ in range(100):
            socket.create_connection(self.address).close()
        self.counted("port scanners", "no_handshake", 90, "does not speak this protocol")

    def noise(self):
        dice = random.Random(4)
        begins = [b"", b"GET / HTTP/1.1\r\n\r\n", b"\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL"]
        before, open_ones = self.refused("no_handshake"), []
        for i in range(100):
            one = socket.create_connection(self.address)
            try:
                one.sendall(begins[i % 3] + dice.randbytes(dice.randint(1, 4096)))
            except OSError:
                pass  # it was closed in the middle
            open_ones.append(one)
        for one in open_ones:
            one.close()
        self.counted("random bytes", "no_handshake", before + 90, "does not speak this protocol")

    def crowd(self):
        """Opens as many connections as this process may have, and more one after another."""
        before, open_ones = self.refused("no_handshake"), []
        most = min(CONNECTS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 100)
        for _ in range(CONNECTS):
            if len(open_ones) >= most:
                for one in open_ones:
                    one.close()
                open_ones.clear()
            one = socket.socket()
            one.settimeout(10)
            one.connect(self.address)
            open_ones.append(one)
        self.witness(f"{len(open_ones)} of {CONNECTS} connections")
        for one in open_ones:
            one.close()
        self.counted("a crowd", "no_handshake", before + CONNECTS * 9 // 10,
                     "does not speak this protocol")

    def rogue(self, what, key, reason, least=1, seconds=ROGUE_S):
        """Acts for some seconds, and again if the busy machine left no time to connect."""
        for _ in range(TRIES):
            done = subprocess.run([self.site.binaries / "l4_rogue",
                                   f"tcp://127.0.0.1:{self.site.wire}", key, what,
                                   str(seconds * SLOW)],
                                  capture_output=True, text=True, check=False, timeout=120 * SLOW)
            self.expect.equal(done.returncode, 0, f"exit of l4_rogue {what}")
            if linked_site.wait_for(lambda: self.refused(reason) >= least, ROGUE_S):
                break
        return done.stdout.strip()

    def rogues(self):
        key = self.site.folder / "keys" / "nodes" / "rogue.key"
        said = self.rogue("old_version", key, "version", 3)
        self.expect.that("protocol version" in said, "it is told which versions would do", said)
        self.counted("an old version", "version", 3, "protocol version")
        said = self.rogue("one_over", key, "too_long", 3)
        self.expect.that("1048577 bytes" in said, "it is told what is too long", said)
        self.counted("one byte too many", "too_long", 3, "longer than 1 MiB")
        self.rogue("noise", key, "malformed", 30)
        self.counted("what is no message", "malformed", 30, "cannot be read")
        self.rogue("never_reads", key, "never_reads", seconds=NEVER_READS_S)
        self.counted("a client that never reads", "never_reads", 1, "takes no answers")
        stranger = self.site.folder / "stranger"
        for words in (["init"], ["add", "rogue"]):
            subprocess.run([self.site.binaries / "l4", "keys", words[0], "--dir", stranger,
                            *words[1:]], check=True, stdout=subprocess.DEVNULL)
        ours = (self.site.folder / "keys" / "aggregator.key").read_text()
        ours = ours.split('public = "')[-1].split('"')[0]
        key = stranger / "nodes" / "rogue.key"
        key.write_text("".join(
            f'aggregator = "{ours}"\n' if line.startswith("aggregator") else line + "\n"
            for line in key.read_text().splitlines()))
        self.rogue("old_version", key, "wrong_key")
        self.counted("a wrong key", "wrong_key", 1, "not in the allow list")

    def namesake(self):
        """A second agent with the same key on the same host: only one of the two gets the name."""
        settings = self.site.folder / "namesake.toml"
        empty = self.site.folder / "nothing"
        empty.mkdir()
        settings.write_text((self.site.folder / "agent.toml").read_text()
                            .replace('folder = "agent"', 'folder = "namesake"')
                            .replace(str(self.site.logs), str(empty)))
        before = self.refused("name_taken")
        connected = self.site.agent.said().count("connected to the aggregator")
        other = linked_site.Program("namesake", self.site.folder, [
            self.site.binaries / "l4-agent", "--config", settings])
        try:
            told = linked_site.wait_for(lambda: self.log_lines("alert name_twice"), 60 * SLOW)
            self.expect.that(told and self.refused("name_taken") >= before + 2,
                             "two agents with one name are told, and counted",
                             self.site.aggregator.said()[-600:])
            asked = self.refused("name_taken")
            self.expect.that(linked_site.wait_for(
                lambda: self.refused("name_taken") >= asked + 2, 60 * SLOW), "it asks again")
            self.expect.equal(self.log_lines("alert name_twice"), 1, "told once, not at each try")
            self.expect.equal([program.said().count("connected to the aggregator")
                               for program in (self.site.agent, other)], [connected, 1],
                              "they do not take the name from each other again and again")
        finally:
            other.end()
        with open(self.writer.path, "a", encoding="utf-8") as file:
            file.write("2026-11-20 10:00:00 INFO numbered line 0 is well\n")
        self.writer.lines += 1
        self.witness("the first one is back once the other is gone")


def main():
    l4, expect = support.start(sys.argv, "hostile")
    with tempfile.TemporaryDirectory() as folder:
        site = linked_site.Site(folder, pathlib.Path(l4.binary).resolve().parent)
        writer = Writer(site.logs / "rank0.log")
        try:
            l4.run("keys", "add", "--dir", site.folder / "keys", "rogue")
            site.start_aggregator()
            expect.that(linked_site.wait_for(site.metrics, 20 * SLOW), "the aggregator answers")
            site.start_agent()
            writer.start()
            case = Case(expect, site, writer)
            expect.that(linked_site.wait_for(lambda: site.covered() > 0, 30 * SLOW),
                        "the honest agent ships", site.agent.said()[-300:])
            case.scanners()
            case.noise()
            case.rogues()
            case.crowd()
            expect.that(site.aggregator.resident_mb() < RESIDENT_MB * SLOW, "its memory",
                        site.aggregator.resident_mb())
            writer.over.set()
            writer.join()
            expect.that(linked_site.wait_for(lambda: site.covered() >= writer.lines, 30 * SLOW),
                        "every line is counted", (site.covered(), writer.lines))
            time.sleep(1)
            expect.equal(site.covered(), writer.lines, "lines counted")
            expect.equal(site.agent.said().count("connected to the aggregator"), 1,
                         "connections of the honest agent")
            lines = len(site.aggregator.said().splitlines())
            expect.that(lines < 60, "lines in the log of the aggregator", lines)
            case.namesake()
            expect.equal(site.aggregator.end(signal.SIGTERM, 20 * SLOW)[0], 0, "its exit")
        finally:
            writer.over.set()
            site.end()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
