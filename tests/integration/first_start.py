#!/usr/bin/env python3
"""Mistakes of a first start: what the real programs say names the file or address, and what to do.

usage: first_start.py L4
"""
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile

import live
import support


class Place:
    """Two sites with keys, an aggregator, and agents with settings that are wrong in one way."""

    def __init__(self, folder, binaries):
        self.folder, self.binaries, self.programs = pathlib.Path(folder), binaries, []
        self.wire, self.http = live.free_port(), live.free_port()
        (self.folder / "logs").mkdir()
        for site, node in (("keys", "node-a"), ("other", "node-a"), ("alien", "node-b")):
            subprocess.run([binaries / "l4", "keys", "init", node, "--dir", self.folder / site],
                           check=True, stdout=subprocess.DEVNULL)

    def run(self, name, program, settings):
        """Starts the program with these settings."""
        file = self.folder / f"{name}.toml"
        file.write_text(settings)
        started = live.Program(name, self.folder, [self.binaries / program, "--config", file])
        self.programs.append(started)
        return started

    def aggregator(self, name, **other):
        settings = live.aggregator_settings(other.get("wire", self.wire),
                                            other.get("http", self.http),
                                            other.get("state", name))
        key = other.get("key", "keys/aggregator.key")
        return self.run(name, "l4-aggregator", settings.replace("keys/aggregator.key", key))

    def agent(self, name, port=None, key="keys/nodes/node-a.key", state=None):
        return self.run(name, "l4-agent", f"""[link]
aggregator = "tcp://127.0.0.1:{port or self.wire}"
key = "{key}"
[logs]
sources = ["{self.folder}/logs"]
[state]
folder = "{state or name}"
[host]
processes = false
kernel_log = false
""")

    def end(self):
        for program in reversed(self.programs):
            program.end(signal.SIGKILL)


def says(expect, program, what, *wanted, ends=None):
    """The program says all of this; with `ends` it also ends, with that status."""
    found = live.wait_for(lambda: all(text in program.said() for text in wanted), 15)
    expect.that(found, f"{what}: says {wanted}", program.said())
    if ends is not None:
        live.wait_for(lambda: program.process.poll() is not None, 15)
        expect.equal(program.process.poll(), ends, f"{what}: exit status")


def check_aggregator(expect, place):
    missing = place.aggregator("no-key", key="keys/nope.key")
    says(expect, missing, "no key", "no-key.toml:4: key: ", "nope.key", "'l4 keys init'", ends=2)
    good = place.aggregator("good")
    says(expect, good, "a start", f"listens for agents at tcp://127.0.0.1:{place.wire}, ")
    config = str(place.folder / "taken.toml")
    says(expect, place.aggregator("taken"), "the agents' port is taken",
         f"127.0.0.1:{place.wire}", "[wire] listen in " + config, ends=2)
    says(expect, place.aggregator("taken-http", wire=live.free_port()), "the HTTP port is taken",
         f"127.0.0.1:{place.http}", "[http] port in ", ends=2)
    says(expect, place.aggregator("held", wire=live.free_port(), http=live.free_port(),
                                  state="good"), "the state is held",
         str(place.folder / "good"), f"pid {good.process.pid}", "[store] folder", ends=1)
    return good


def check_agent(expect, place, aggregator):
    says(expect, place.agent("no-key-agent", key="nope.key"), "no key",
         "no-key-agent.toml:3: key: ", "nope.key", "'l4 keys' makes it", ends=2)
    good = place.agent("agent")
    says(expect, good, "an agent", "connected to the aggregator")
    says(expect, aggregator, "its connection", "agent node-a connected from 127.0.0.1")
    says(expect, place.agent("held-agent", state="agent"), "the state is held",
         str(place.folder / "agent"), f"pid {good.process.pid}", "[state] folder", ends=1)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        says(expect, place.agent("lonely", port=port), "nobody listens",
             f"tcp://127.0.0.1:{port}", "is l4-aggregator started there")
    # The other site's agent knows another aggregator; the alien's file names this one, but the list
    # does not name its key.
    says(expect, place.agent("other-agent", key="other/nodes/node-a.key"), "another site's key",
         "other/nodes/node-a.key", "bring the one made there")
    key = (place.folder / "alien" / "nodes" / "node-b.key").read_text()
    ours = (place.folder / "keys" / "nodes" / "node-a.key").read_text()
    line = next(row for row in ours.splitlines() if row.startswith("aggregator"))
    (place.folder / "alien.key").write_text("\n".join(
        line if row.startswith("aggregator") else row for row in key.splitlines()) + "\n")
    says(expect, place.agent("alien-agent", key="alien.key"), "a key that is not allowed",
         "alien.key is not in its allow list", "'l4 keys add node-b'")
    says(expect, aggregator, "a key that is not allowed, at the aggregator", "'l4 keys add'")


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve().parent
    expect = support.Expectations("first_start")
    with tempfile.TemporaryDirectory(prefix="l4-first-") as folder:
        place = Place(folder, binaries)
        try:
            check_agent(expect, place, check_aggregator(expect, place))
        finally:
            place.end()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
