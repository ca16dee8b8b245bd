#!/usr/bin/env python3
"""The real agent and aggregator on disks that are full or read-only, in folders that go away.

usage: hard_times.py L4

A disk of 4 MiB under the states is filled, and room is made again; the state folder is read-only;
the folder of the logs is removed and comes back; the agent may open 256 files and has 300 logs, and
so may the aggregator, to which 300 strangers connect.
Each time it goes on, says once what it cannot do, and at the end every line is counted once. A
webhook hears that the aggregator is not well, and when it is again. Needs root and mount(8) for the
disks; ends with 77 where they are missing.
"""
import contextlib
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import support

sys.path.insert(0, str(support.ROOT / "tests" / "live"))

import linked_site  # noqa: E402
import live  # noqa: E402

DISK_MIB = 4
PATIENCE_S = 60


class Disk:
    """A small disk at a folder."""

    def __init__(self, folder, mib=DISK_MIB):
        self.folder, self.filler = folder, folder / "filler"
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "none", folder],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"skipped: no disk can be mounted: {done.stderr.strip()}")
            sys.exit(support.SKIPPED)

    def fill(self):
        with open(self.filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(1 << 14)):
                pass

    def make_room(self):
        self.filler.unlink(missing_ok=True)

    def read_only(self, yes):
        command = ["mount", "-o", f"remount,{'ro' if yes else 'rw'}", self.folder]
        for _ in range(100):  # busy while a file is being written
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return
            time.sleep(0.05)
        raise RuntimeError(done.stderr)

    def end(self):
        subprocess.run(["umount", "-l", self.folder], check=False)


class Lines:
    """Writes numbered lines into the logs of a folder."""

    def __init__(self, folder, logs=4):
        self.folder, self.logs, self.count = folder, logs, 0

    def write_varied(self, each):
        """The lines differ so much that their batches are large."""
        dice = random.Random(self.count)
        with open(self.folder / "rank0.log", "a", encoding="utf-8") as file:
            for _ in range(each):
                self.count += 1
                words = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=dice.randint(3, 9)))
                         for _ in range(dice.randint(20, 60))]
                file.write(f"2026-11-20 10:00:00 INFO {' '.join(words)}\n")

    def write(self, each):
        self.folder.mkdir(parents=True, exist_ok=True)
        for log in range(self.logs):
            with open(self.folder / f"rank{log}.log", "a", encoding="utf-8") as file:
                for _ in range(each):
                    self.count += 1
                    file.write(f"2026-11-20 10:00:00 INFO numbered line {self.count} is well\n")


class Webhook(live.AlertReceiver):
    """Receives alerts."""

    def of(self, kind):
        return [alert for alert in self.alerts if alert["alert"] == kind]


class Case:
    def __init__(self, expect, site, lines, hook):
        self.expect, self.site, self.lines, self.hook = expect, site, lines, hook

    def counted(self, what):
        self.site.settled(self.lines.count, PATIENCE_S, still_s=0.5)
        self.expect.equal(self.site.covered(), self.lines.count, f"{what}: lines counted")

    def says(self, program, words, what, most=4):
        said = linked_site.wait_for(lambda: program.said().count(words), 30)
        self.expect.that(1 <= said <= most, f"{what}: told by {words!r}",
                         (said, program.said()[-500:]))

    def agent_disk(self, disk):
        """The disk is full, so positions cannot be written and there is no spool."""
        disk.fill()
        self.site.link.mode = "refuse"
        self.lines.write(3000)
        for _ in range(8):
            self.lines.write_varied(1000)
            time.sleep(1)
        self.says(self.site.agent, "the spool cannot be written", "full disk of the agent")
        self.site.link.mode = "open"
        self.counted("full disk of the agent")
        self.lines.write(1000)
        self.says(self.site.agent, "positions cannot be remembered", "full disk of the agent")
        self.counted("on a full disk")
        disk.make_room()
        self.lines.write(10)
        self.says(self.site.agent, "positions are remembered again", "room again", 4)
        self.site.link.mode = "refuse"
        for _ in range(4):
            self.lines.write_varied(1000)
            time.sleep(1)
        spool = list((disk.folder / "spool").glob("*.spool"))
        self.expect.that(any(file.stat().st_size > 0 for file in spool),
                         "what the aggregator does not take goes to the spool again", spool)
        self.site.link.mode = "open"
        self.counted("room again")
        said = self.site.agent.said().count("positions cannot be remembered")
        disk.read_only(True)
        self.lines.write(1000)
        self.counted("read-only state of the agent")
        again = linked_site.wait_for(
            lambda: self.site.agent.said().count("positions cannot be remembered") > said, 30)
        self.expect.that(again, "read-only state of the agent: it says so",
                         self.site.agent.said()[-500:])
        self.site.agent.end(signal.SIGKILL)
        self.site.start_agent()
        self.lines.write(1000)
        self.counted("agent started on a read-only state")
        disk.read_only(False)

    def aggregator_disk(self, disk):
        """While the journal cannot be written, no batch is accepted; all arrive afterwards."""
        disk.fill()

        def is_degraded():      # what is written at first may fit into the journal's last block
            self.lines.write(2000)
            return "degraded" in self.site.health()
        degraded = linked_site.wait_for(is_degraded, PATIENCE_S)
        self.expect.that(degraded, "full disk of the aggregator: /healthz says so",
                         self.site.health())
        told = linked_site.wait_for(lambda: self.hook.of("degraded"), 30)
        self.expect.that(told and "the journal cannot be written" in told[0]["summary"],
                         "full disk of the aggregator: the webhook is told", self.hook.alerts)
        disk.make_room()
        self.counted("room on the aggregator's disk again")
        self.expect.equal(self.hook.of("well_again"), [], "its end is not told at once")
        linked_site.wait_for(lambda: self.hook.of("well_again"), 60)
        self.expect.equal([len(self.hook.of(kind)) for kind in ("degraded", "well_again")], [1, 1],
                          "the webhook is told of the trouble and of its end, once each")
        healthy = linked_site.wait_for(lambda: '"ok"' in self.site.health(), 30)
        self.expect.that(healthy, "it is well again", self.site.health())
        lines = len(self.site.aggregator.said().splitlines())
        self.expect.that(lines < 80, "lines in its log", lines)
        disk.fill()
        self.lines.write(1000)
        time.sleep(2)
        self.site.aggregator.end(signal.SIGKILL)
        disk.make_room()
        self.site.start_aggregator()
        self.counted("killed on a full disk")
        self.site.aggregator.end(signal.SIGKILL)
        disk.read_only(True)
        self.site.start_aggregator()
        degraded = linked_site.wait_for(lambda: "degraded" in self.site.health(), 30)
        self.expect.that(degraded, "aggregator started on a read-only state: /healthz says so",
                         self.site.health())
        self.lines.write(1000)
        time.sleep(3)
        disk.read_only(False)
        self.counted("state of the aggregator writable again")
        healthy = linked_site.wait_for(lambda: '"ok"' in self.site.health(), 30)
        self.expect.that(healthy, "writable again: it is well", self.site.health())

    def folder_goes(self):
        shutil.rmtree(self.lines.folder)
        time.sleep(2)
        self.lines.write(500)
        self.counted("the folder of the logs was removed and came back")

    def few_descriptors(self):
        """More logs than files that may be open."""
        self.site.agent.end(signal.SIGTERM)
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        try:
            self.site.start_agent()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        self.lines.logs = 300
        for _ in range(5):
            self.lines.write(5)
            time.sleep(0.5)
        self.counted("300 logs and 256 descriptors")
        files = len(os.listdir(f"/proc/{self.site.agent.process.pid}/fd"))
        self.expect.that(files <= 256, "descriptors of the agent", files)

    def crowd_of_strangers(self):
        """Opens more connections than the aggregator may open files."""
        self.site.aggregator.end(signal.SIGTERM)
        self.site.start_aggregator(under=("prlimit", "--nofile=256:256"))
        what = "300 strangers and 256 descriptors"
        self.lines.write(5)
        self.counted("an aggregator that may open 256 files")
        self.says(self.site.aggregator, "only 256 files may be open", what)
        strangers = [socket.create_connection(("127.0.0.1", self.site.wire)) for _ in range(300)]
        pid = self.site.aggregator.process.pid
        linked_site.wait_for(lambda: len(os.listdir(f"/proc/{pid}/fd")) >= 240, 20)
        self.lines.write(20)
        before_s = cpu_seconds(pid)
        time.sleep(5)
        busy = cpu_seconds(pid) - before_s
        self.expect.that(busy < 2.5, f"{what}: its processor time in 5 s", busy)
        for stranger in strangers:
            stranger.close()
        self.counted(what)
        self.says(self.site.aggregator, "no file descriptor is left", what)
        linked_site.wait_for(self.site.metrics, 20)
        refused = re.search(r'refused_total{reason="no_file_descriptor"} (\d+)',
                            self.site.metrics())
        self.expect.that(refused and int(refused.group(1)) > 0, f"{what}: counted", refused)
        healthy = linked_site.wait_for(lambda: '"ok"' in self.site.health(), 30)
        self.expect.that(healthy, f"{what}: it is well", self.site.health())
        lost = [row for row in self.site.json("/api/v1/agents").get("agents", []) if row["lost"]]
        self.expect.equal(lost, [], f"{what}: agents that are lost")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    l4, expect = support.start(sys.argv, "hard_times")
    if os.geteuid() != 0 or shutil.which("mount") is None:
        print("skipped: needs root and mount(8)")
        return support.SKIPPED
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        disks = [Disk(folder / "agent"), Disk(folder / "aggregator", 64)]
        site = linked_site.Site(folder, pathlib.Path(l4.binary).resolve().parent,
                                {"memory": {"queue_mib": 1}})
        hook = Webhook()
        with open(folder / "aggregator.toml", "a", encoding="utf-8") as config:
            config.write(f'[alerts]\nwebhook = "{hook.url}/alerts"\n')
        lines = Lines(site.logs)
        try:
            site.start_aggregator()
            expect.that(linked_site.wait_for(site.metrics, 20), "the aggregator answers",
                        site.aggregator.said()[-300:])
            site.start_agent()
            lines.write(1000)
            case = Case(expect, site, lines, hook)
            case.counted("a good day")
            case.agent_disk(disks[0])
            case.aggregator_disk(disks[1])
            case.folder_goes()
            case.few_descriptors()
            case.crowd_of_strangers()
            expect.equal(site.agent.end(signal.SIGTERM)[0], 0, "exit of the agent")
            expect.equal(site.aggregator.end(signal.SIGTERM)[0], 0, "exit of the aggregator")
        finally:
            site.end()
            hook.close()
            for disk in disks:
                disk.end()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
