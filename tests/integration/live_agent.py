#!/usr/bin/env python3
"""l4-agent on growing logs, against a receiver that counts: every line once, whatever dies.

usage: live_agent.py L4
"""
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import live
import support

NODE = "node-a"
PATIENCE_S = 120 if support.SANITIZED else 40


def settled(site, writer):
    """The receiver has exactly the written lines, and gets no more."""
    live.wait_for(lambda: site.counts()["lines"] >= writer.lines, PATIENCE_S)
    time.sleep(0.5)
    return site.counts()


def everything_once(site, writer, expect, what):
    counts = settled(site, writer)
    expect.equal(counts["lines"], writer.lines, f"{what}: lines covered")
    expect.equal(counts["events"], writer.lines, f"{what}: lines counted")
    expect.equal(counts["wrong"], [], f"{what}: what the receiver found wrong")


def grows_and_rotates(site, writer, expect):
    for turn in range(10):
        writer.write(2000)
        if turn % 3 == 2:
            writer.rotate(writer.paths[turn % len(writer.paths)])
        time.sleep(0.1)
    everything_once(site, writer, expect, "growing and rotated")
    counts = site.counts()
    expect.equal(list(counts["jobs"]), ["job-7"], "the job, by the folder's name")
    ranks = {key.split()[2]: rank for key, rank in counts["sources"].items()}
    expect.equal(ranks.get("node-03/rank3.log"), 3, "the rank, by its path")
    nodes = {key.split()[1] for key in counts["sources"]}
    expect.equal(nodes, {f"node-{i:02d}" for i in range(8)}, "the nodes, by their paths")


def agent_is_killed(site, writer, expect, agent):
    for turn in range(6):
        writer.write(3000)
        time.sleep(0.15 * (turn % 4))
        agent.end(signal.SIGKILL)
        writer.write(500)
        if turn % 2 == 0:
            writer.rotate(writer.paths[turn])
        writer.write(500)
        agent = site.start_agent(NODE)
    everything_once(site, writer, expect, "agent killed six times")
    return agent


def server_is_killed(site, writer, expect):
    for _ in range(4):
        writer.write(4000)
        time.sleep(0.3)
        site.server.end(signal.SIGKILL)
        writer.write(1000)
        site.start_server()
    everything_once(site, writer, expect, "receiver killed four times")


def server_forgets(site, writer, expect):
    """All logs are read again, as far as their beginning still exists."""
    site.server.end(signal.SIGKILL)
    (site.folder / "ledger.json").unlink()
    site.start_server()
    everything_once(site, writer, expect, "receiver lost its ledger")


def is_configured_anew(site, writer, expect, agent):
    config = site.folder / f"{NODE}.toml"
    good = config.read_text()
    config.write_text(good + "\n[mistake]\nx = 1\n")
    agent.send(signal.SIGHUP)
    expect.that(live.wait_for(lambda: "mistake" in agent.said(), 10), "a broken config is refused",
                agent.said()[-300:])
    other = site.folder / "other"
    config.write_text(good.replace('job-7"]', f'job-7", "{other}"]'))
    agent.send(signal.SIGHUP)
    writer.write(1000)
    writer.paths.append(other / "rank9.log")
    writer.write(900)
    everything_once(site, writer, expect, "another folder after SIGHUP")
    expect.that("other" in site.counts()["jobs"], "its job", site.counts()["jobs"])


RANK = """
import os, sys, time
out = open(sys.argv[1], "a")
for i in range(10000):
    out.write(f"INFO rank of its own, step {i}\\n")
    out.flush()
    time.sleep(0.1)
"""


def processes_are_known(site, writer, expect, agent):
    """Job and rank of a log come from the environment of its writer. The writer's end is reported,
    also when no agent ran meanwhile and the log is silent."""
    path = site.logs / "node-00" / "worker.txt"
    environment = {"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1",
                   "TORCHELASTIC_RUN_ID": "run-77"}
    rank = live.Program("rank", site.folder, [sys.executable, "-c", RANK, path], environment)
    site.programs.append(rank)
    source = "run-77 node-00 node-00/worker.txt"
    live.wait_for(lambda: source in site.counts()["sources"], PATIENCE_S)
    expect.equal(site.counts()["sources"].get(source), 5, "job and rank by the environment")
    pid = str(rank.process.pid)
    known = live.wait_for(lambda: site.counts().get("processes", {}).get(pid), PATIENCE_S) or {}
    expect.equal((known.get("job"), known.get("rank")), ("run-77", 5), "the process")
    rank.send(signal.SIGSTOP)
    live.wait_for(lambda: site.counts()["processes"][pid].get("state") == "T", PATIENCE_S)
    expect.equal(agent.end()[0], 0, "exit status after SIGTERM")
    rank.end(signal.SIGKILL)
    agent = site.start_agent(NODE)
    gone = live.wait_for(
        lambda: site.counts().get("processes", {}).get(pid, {}).get("state") == "X", PATIENCE_S)
    expect.that(gone, "its end", site.counts().get("processes", {}).get(pid))
    expect.equal(site.counts()["processes"][pid].get("job"), "run-77", "job of who has ended")
    writer.lines += path.read_text().count("\n")
    return agent


def ranks_are_configured(site, writer, expect):
    """A host of one rank, where neither environment nor path has a number."""
    site.enrol("node-b")
    folder = site.folder / "alone"
    folder.mkdir()
    path = folder / "train.txt"
    site.config("node-b", '[who]\njob = "solo"\nrank = 6\nlocal_rank = 0\nworld_size = 12\n',
                [folder])
    agent = site.start_agent("node-b")
    rank = live.Program("solo", site.folder, [sys.executable, "-c", RANK, path])
    site.programs.append(rank)
    pid = str(rank.process.pid)
    known = live.wait_for(lambda: site.counts().get("processes", {}).get(pid), PATIENCE_S) or {}
    expect.equal([known.get(key) for key in ("job", "rank", "world_size")], ["solo", 6, 12],
                 "job, rank and world of a process, by the configuration")
    source = "solo node-b train.txt"
    live.wait_for(lambda: source in site.counts()["sources"], PATIENCE_S)
    expect.equal(site.counts()["sources"].get(source), 6, "the rank of its log")
    rank.end(signal.SIGKILL)
    writer.lines += path.read_text().count("\n")
    everything_once(site, writer, expect, "a second agent")
    agent.end()


def second_is_refused(site, writer, expect, agent):
    """Another agent with the same state folder leaves it alone."""
    state = site.folder / f"state-{NODE}"
    (state / "spool" / "witness.spool").touch()
    done = subprocess.run(
        [site.binaries / "l4-agent", "--config", site.folder / f"{NODE}.toml"],
        capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    expect.that(done.returncode == 1 and f"in use by pid {agent.process.pid}," in done.stderr,
                "a second agent with one state folder", (done.returncode, done.stderr))
    expect.that((state / "spool" / "witness.spool").exists(), "it leaves the spool alone")
    writer.write(100)
    everything_once(site, writer, expect, "the first one goes on")


def stops(site, writer, expect, agent):
    writer.write(5000)
    time.sleep(1.0)
    status, seconds = agent.end()
    expect.equal(status, 0, "exit status after SIGTERM")
    expect.that(seconds < 5, "it stops within 5 s", seconds)
    expect.that((site.folder / f"state-{NODE}" / "positions").exists(), "positions are written")
    site.server.end(signal.SIGTERM)
    writer.write(100)
    agent = site.start_agent(NODE)
    time.sleep(1.0)
    status, seconds = agent.end()
    expect.that(status == 0 and seconds < 5, "it stops without a receiver", (status, seconds))


def check_config(site, expect):
    program = site.binaries / "l4-agent"
    rows = [
        ('[logs]\nsources = ["/x"]\nfoo = 1\n', "foo"),
        ('[logs]\nsources = ["x"]\n', "absolute"),
        ("", "logs"),
        ('[logs]\nsources = ["/x"]\n[timing]\nflush_ms = 5\n', "flush_ms"),
        ('[logs]\nsources = ["/x"]\n[redact]\nexpressions = ["("]\n', "expressions"),
        ('[logs]\nsources = ["/x"]\n[link]\naggregator = "nowhere"\n', "aggregator"),
        ('[logs]\nsources = ["/x"]\n[link]\nkey = "no.key"\n', "no.key"),
        ('[logs]\nsources = ["/x"]\n[who]\nworld_size = 4\nrank = 4\n', "rank"),
    ]
    path = site.folder / "bad.toml"
    for text, word in rows:
        path.write_text(text)
        done = subprocess.run([program, "--check-config", "--config", path], capture_output=True,
                              text=True, check=False)
        expect.that(done.returncode == 2 and word in done.stderr, f"refused for {word!r}",
                    (done.returncode, done.stderr))
    shipped = (support.ROOT / "config" / "agent.toml").read_text()
    key = site.keys / "nodes" / f"{NODE}.key"
    path.write_text(shipped.replace('"agent.key"', f'"{key}"'))
    done = subprocess.run([program, "--check-config", "--config", path], capture_output=True,
                          text=True, check=False)
    expect.equal((done.returncode, done.stderr), (0, ""), "the shipped config")


def main(argv):
    l4, expect = support.start(argv, "live_agent")
    with tempfile.TemporaryDirectory() as folder:
        site = live.Site(folder, pathlib.Path(l4.binary).parent)
        try:
            site.enrol(NODE)
            check_config(site, expect)
            site.start_server()
            site.config(NODE)
            writer = live.Writer([site.logs / f"node-{i:02d}" / f"rank{i}.log" for i in range(8)])
            agent = site.start_agent(NODE)
            grows_and_rotates(site, writer, expect)
            agent = agent_is_killed(site, writer, expect, agent)
            server_is_killed(site, writer, expect)
            server_forgets(site, writer, expect)
            is_configured_anew(site, writer, expect, agent)
            agent = processes_are_known(site, writer, expect, agent)
            ranks_are_configured(site, writer, expect)
            second_is_refused(site, writer, expect, agent)
            stops(site, writer, expect, agent)
            writer.close()
        finally:
            site.end()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv))
