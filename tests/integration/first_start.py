#!/usr/bin/env python3
"""Mistakes of a first start: what the real programs say names the file or address, and what to do.

usage: first_start.py L4
"""
import os
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

    def run(self, name, program, settings, unprivileged=False):
        """Starts the program with these settings, on demand as a user with no rights here."""
        file = self.folder / f"{name}.toml"
        file.write_text(settings)
        command = [self.binaries / program, "--config", file]
        if unprivileged:
            command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
        started = live.Program(name, self.folder, command)
        self.programs.append(started)
        return started

    def aggregator(self, name, **other):
        settings = live.aggregator_settings(other.get("wire", self.wire),
                                            other.get("http", self.http),
                                            other.get("state", name))
        key = other.get("key", "keys/aggregator.key")
        return self.run(name, "l4-aggregator", settings.replace("keys/aggregator.key", key),
                        other.get("unprivileged", False))

    def agent(self, name, port=None, key="keys/nodes/node-a.key", state=None, unprivileged=False):
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
""", unprivileged)

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
    says(expect, place.aggregator("agents-key", key="keys/nodes/node-a.key"), "an agent's key",
         "node-a.key", "is the key of the agent 'node-a'", "aggregator.key", ends=2)
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
    says(expect, place.agent("aggregators-key", key="keys/aggregator.key"), "an aggregator's key",
         "aggregators-key.toml:3: key: ", "is the key of an aggregator", "'l4 keys add NAME'",
         ends=2)
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


def check_ports_and_packs(expect, place):
    says(expect, place.agent("http-agent", port=place.http), "the port of HTTP",
         f"tcp://127.0.0.1:{place.http} ended the connection before a handshake",
         "[link] aggregator takes the port of [wire] listen", "not that of [http]")
    os.environ["L4_CONFIG_DIR"] = str(place.folder)
    try:
        says(expect, place.agent("packless"), "no rule packs", str(place.folder / "frameworks"),
             f"L4_CONFIG_DIR is {place.folder}: it must hold frameworks/", ends=1)
        says(expect, place.aggregator("faultless", wire=live.free_port(), http=live.free_port()),
             "no fault library", f"L4_CONFIG_DIR is {place.folder}: it must hold faults/", ends=2)
    finally:
        del os.environ["L4_CONFIG_DIR"]


def check_rights(expect, place):
    """Users who may not write the state folder; only root can become one."""
    if os.geteuid() != 0:
        print("first_start: rights are skipped: only root can start programs as another user")
        return
    reach = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                            place.binaries / "l4-agent", "--version"],
                           check=False, capture_output=True)
    if reach.returncode != 0:
        print("first_start: rights are skipped: other users cannot reach the programs")
        return
    for path in [place.folder, *place.folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    for key in [*place.folder.rglob("*.key")]:
        key.chmod(0o600)
        os.chown(key, 65534, 65534)
    says(expect, place.aggregator("denied", wire=live.free_port(), http=live.free_port(),
                                  state="denied", unprivileged=True),
         "a state folder without rights", "denied", "runs as user 65534: give that user",
         "[store] folder in ", ends=1)
    says(expect, place.aggregator("homeless", wire=live.free_port(), http=live.free_port(),
                                  state="nowhere/state"),
         "a state folder without a folder above it", f"make {place.folder}/nowhere, or set",
         "[store] folder in ", ends=1)
    says(expect, place.agent("denied-agent", state=place.folder / "denied-agent",
                             unprivileged=True),
         "an agent's state folder without rights", "positions are not kept",
         "runs as user 65534: give that user", "[state] folder")


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve().parent
    expect = support.Expectations("first_start")
    with tempfile.TemporaryDirectory(prefix="l4-first-") as folder:
        place = Place(folder, binaries)
        try:
            check_agent(expect, place, check_aggregator(expect, place))
            check_ports_and_packs(expect, place)
            check_rights(expect, place)
        finally:
            place.end()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
