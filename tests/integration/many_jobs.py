#!/usr/bin/env python3
"""More jobs, one after the other, than an agent can track at a time: each keeps its own lines.

usage: many_jobs.py L4
"""
import pathlib
import sys
import tempfile
import time

import live
import support

NODE = "node-a"
JOBS, AT_A_TIME, IDLE_S = 9, 4, 2
EVERY_S = 3.0  # a job; the agent begins anew every five seconds at most
BOUNDS = f"[memory]\njobs = {AT_A_TIME}\njob_idle_s = {IDLE_S}\n"
PATIENCE_S = 120 if support.SANITIZED else 40


def broken(config):
    """A file as an editor leaves it in the middle of the work."""
    return config.replace("sources = [", 'sources = ["/a/**/b/**/c/**/d/**/e/**", ')


def makes_room(l4, expect, jobs, processes):
    """Jobs run one after the other beside a job that goes on. Without processes, the config is also
    broken for a while."""
    what = f"processes {'on' if processes else 'off'}"
    with tempfile.TemporaryDirectory() as folder:
        site = live.Site(folder, pathlib.Path(l4.binary).parent)
        try:
            site.enrol(NODE)
            site.start_server()
            names = [f"run-{i}" for i in range(jobs)]
            folders = [site.folder / name for name in [*names, "steady"]]
            for one in folders:
                one.mkdir()
            config = site.config(NODE, f"processes = {str(processes).lower()}\n{BOUNDS}", folders)
            agent = site.start_agent(NODE)
            written = dict.fromkeys([*names, "steady"], 0)
            writers = {name: live.Writer([site.folder / name / "rank0.log"]) for name in written}

            def write(name, lines):
                writers[name].write(lines)
                written[name] += lines

            for name in [*names, names[0]]:
                write(name, 300)
                for _ in range(int(EVERY_S / 0.5)):
                    write("steady", 20)
                    time.sleep(0.5)
                # At least one deleted log is always held open.
                writers["steady"].rotate(site.folder / "steady" / "rank0.log", keep=1)
            total = sum(written.values())
            live.wait_for(lambda: site.counts()["lines"] >= total, PATIENCE_S)
            time.sleep(0.5)
            counts = site.counts()
            expect.equal((counts["lines"], counts["events"]), (total, total), f"{what}: lines")
            expect.equal(counts["jobs"], written, f"{what}: lines of each job")
            expect.equal(counts["wrong"], [], f"{what}: what the receiver found wrong")
            anew = agent.said().count("beginning anew without them")
            expect.that(anew >= min(2, jobs // 4), f"{what}: the agent made room", agent.said())
            if not processes:
                stays_as_it_was(site, config, agent, write, expect)
            expect.equal(agent.end()[0], 0, f"{what}: exit status after SIGTERM")
            for writer in writers.values():
                writer.close()
        finally:
            site.end()


def stays_as_it_was(site, config, agent, write, expect):
    """If a new agent could not start, the running one continues."""
    good = config.read_text()
    config.write_text(broken(good))
    for name in ("run-0", "run-1"):
        write(name, 10)
    said = live.wait_for(lambda: "cannot begin anew without idle jobs" in agent.said(), PATIENCE_S)
    expect.that(said, "a broken config is told", agent.said())
    write("run-0", 10)
    time.sleep(6)  # it is tried again
    expect.equal(agent.process.poll(), None, "the agent goes on")
    total = site.counts()["lines"] + 10
    write("run-1", 10)
    expect.that(live.wait_for(lambda: site.counts()["lines"] >= total, PATIENCE_S),
                "and reads on", agent.said())
    config.write_text(good)


def main(argv):
    l4, expect = support.start(argv, "many_jobs")
    makes_room(l4, expect, JOBS, processes=True)
    makes_room(l4, expect, 4, processes=False)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv))
