#!/usr/bin/env python3
"""More jobs one after the other than an agent tells apart at a time: each has its own lines.

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


def main(argv):
    l4, expect = support.start(argv, "many_jobs")
    with tempfile.TemporaryDirectory() as folder:
        site = live.Site(folder, pathlib.Path(l4.binary).parent)
        try:
            site.enrol(NODE)
            site.start_server()
            names = [f"run-{i}" for i in range(JOBS)]
            folders = [site.folder / name for name in [*names, "steady"]]
            for one in folders:
                one.mkdir()
            site.config(NODE, BOUNDS, folders)
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
            total = sum(written.values())
            live.wait_for(lambda: site.counts()["lines"] >= total, PATIENCE_S)
            time.sleep(0.5)
            counts = site.counts()
            expect.equal((counts["lines"], counts["events"]), (total, total), "lines, in all")
            expect.equal(counts["jobs"], written, "lines of each job")
            expect.equal(counts["wrong"], [], "what the receiver found wrong")
            anew = agent.said().count("beginning anew without them")
            expect.that(anew >= 2, "the agent made room more than once", agent.said()[-2000:])
            expect.equal(agent.end()[0], 0, "exit status after SIGTERM")
            for writer in writers.values():
                writer.close()
        finally:
            site.end()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv))
