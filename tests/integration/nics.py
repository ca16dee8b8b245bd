#!/usr/bin/env python3
"""Network cards from sysfs to the answer of the aggregator: real agents over made trees whose
counters this program advances.

usage: nics.py L4

Three nodes step every 0.7 s; one counts errors; then one sends its last burst a step before the
others, and all are silent. The period, who was first, the errors and the cost on the wire must be
right.
"""
import contextlib
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import live
import support

NODES = ["node-00", "node-01", "node-02"]
FIRST, FAULTY = "node-01", "node-02"
PERIOD_S, BURST_S, BYTES = 0.7, 0.25, 40_000_000
STEPS_S = 16.0
# What NCCL prints on the first node: its rank counts within a communicator there.
NCCL = ("NET/IB : Using [0]mlx5_9:1/RoCE [1]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>",
        "Channel 00/0 : 5[0] -> 6[0] [send] via NET/IB/1/GDRDMA")


class Counter:
    """A file of a tree that always holds a whole number."""

    def __init__(self, path, value=0):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file, self.value = os.open(path, os.O_RDWR | os.O_CREAT), 0
        self.set(value)

    def set(self, value):
        self.value = int(value)
        os.pwrite(self.file, b"%020d\n" % self.value, 0)


class Tree:
    """One InfiniBand port beside one GPU, and a device without hardware."""

    def __init__(self, root):
        bridge = root / "devices/pci0000:3a/0000:3a:00.0"
        for address, driver in (("0000:3b:00.0", "mlx5_core"), ("0000:3c:00.0", "nvidia")):
            (bridge / address).mkdir(parents=True)
            drivers = root / "bus/pci/drivers" / driver
            drivers.mkdir(parents=True)
            (drivers / address).symlink_to(bridge / address)
            (bridge / address / "driver").symlink_to(drivers)
        port = root / "class/infiniband/mlx5_0/ports/1"
        port.mkdir(parents=True)
        (port.parent.parent / "device").symlink_to(bridge / "0000:3b:00.0")
        self.sent = Counter(port / "counters/port_xmit_data", 1 << 40)
        self.received = Counter(port / "counters/port_rcv_data", 1 << 41)
        self.symbols = Counter(port / "counters/symbol_error", 7)
        Counter(root / "class/net/lo/statistics/tx_bytes", 5)
        Counter(root / "class/net/lo/statistics/rx_bytes", 5)


class Job(threading.Thread):
    """Advances all trees and writes a line of each rank at the end of each step."""

    def __init__(self, trees, logs):
        super().__init__(daemon=True)
        self.trees, self.logs, self.last_sent, self.over = trees, logs, {}, threading.Event()

    def carried(self, since):
        """Bytes of one direction from the begin on: a burst at the end of each step."""
        steps, within = divmod(since, PERIOD_S)
        part = max(0.0, within - (PERIOD_S - BURST_S)) / BURST_S
        return (steps + part) * BYTES

    def run(self):
        began, step = time.time(), 0
        with open(self.logs / NODES[0] / "rank0.log", "a", encoding="utf-8") as log:
            log.writelines(f"{NODES[0]}:700:701 [0] NCCL INFO {line}\n" for line in NCCL)
        ends = {node: STEPS_S - (PERIOD_S if node == FIRST else 0) for node in NODES}
        ends = {node: (end // PERIOD_S) * PERIOD_S for node, end in ends.items()}
        base = {node: (tree.sent.value, tree.received.value) for node, tree in self.trees.items()}
        while (since := time.time() - began) < STEPS_S + 0.2:
            for node, tree in self.trees.items():
                quads = int(self.carried(min(since, ends[node]))) // 4
                tree.sent.set(base[node][0] + quads)
                tree.received.set(base[node][1] + quads)
                if since >= ends[node]:
                    self.last_sent.setdefault(node, began + ends[node])
            if since > STEPS_S / 2:
                self.trees[FAULTY].symbols.set(7 + 31)
            while step < int(min(since, STEPS_S) / PERIOD_S):
                step += 1
                for rank, node in enumerate(NODES):
                    with open(self.logs / node / f"rank{rank}.log", "a", encoding="utf-8") as log:
                        log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} INFO iteration {step}/9000"
                                  f" loss {1 / step:.4f}\n")
            time.sleep(0.01)
        self.over.set()


class Site:
    def __init__(self, folder, binaries):
        self.folder, self.binaries = folder, binaries
        self.wire, self.http = live.free_port(), live.free_port()
        keys = [binaries / "l4", "keys"]
        for words in (["init"], ["add", *NODES]):
            subprocess.run([*keys, words[0], "--dir", folder / "keys", *words[1:]], check=True,
                           stdout=subprocess.DEVNULL)
        (folder / "aggregator.toml").write_text(
            live.aggregator_settings(self.wire, self.http, "aggregator"))
        self.logs, self.trees, self.programs = folder / "job-7", {}, []
        for node in NODES:
            (self.logs / node).mkdir(parents=True)
            self.trees[node] = Tree(folder / f"sys-{node}")
            self.metrics = live.free_port()
            (folder / f"{node}.toml").write_text(f"""[link]
aggregator = "tcp://127.0.0.1:{self.wire}"
key = "keys/nodes/{node}.key"
[logs]
sources = ["{self.logs}/{node}"]
[state]
folder = "state-{node}"
[metrics]
listen = "127.0.0.1:{self.metrics}"
[limits]
cpu_percent = 0
[host]
processes = false
kernel_log = false
[nic]
root = "sys-{node}"
""")

    def start(self, name, program):
        self.programs.append(live.Program(name, self.folder, [
            self.binaries / program, "--config", self.folder / f"{name}.toml"]))
        return self.programs[-1]

    def text(self, port, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as got:
                return got.read().decode()
        except OSError:
            return ""

    def json(self, path):
        text = self.text(self.http, path)
        return json.loads(text) if text else {}

    def figure(self, name):
        """A figure of the last agent's page."""
        for line in self.text(self.metrics, "/metrics").splitlines():
            if line.split(" ")[0] == f"l4_agent_{name}":
                return float(line.split(" ")[1])
        return -1.0

    def end(self):
        for program in reversed(self.programs):
            program.end()


def epoch(text):
    """Seconds of a time of an answer, 2026-11-20T15:54:42.120Z."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() if text else 0.0


def check_running(expect, site):
    cards = site.json("/api/v1/jobs/job-7/nics")
    rows = cards.get("nics", [])
    expect.equal([row["node"] for row in rows], NODES, "a card of each node")
    expect.equal({row["nic"] for row in rows}, {"mlx5_0/1"}, "virtual devices are left out")
    expect.equal({row["activity"] for row in rows}, {"active"}, "cards that work are active")
    expect.equal({row["pci"] for row in rows}, {"0000:3b:00.0"}, "address")
    expect.equal([(row["ranks"], row["ranks_by"] == "nccl_lines") for row in rows],
                 [([0], True), ([1], False), ([2], False)], "ranks by lines of NCCL, or by PCI")
    expect.that(not cards.get("silent"), "a job that steps on is not silent", cards)


def check_ended(expect, site, job):
    cards = live.wait_for(lambda: (found := site.json("/api/v1/jobs/job-7/nics"))
                          and found.get("silent") and found, 25)
    expect.that(cards, "silence is told of", site.json("/api/v1/jobs/job-7/nics"))
    if not cards:
        return
    period = cards["period_s"] or 0
    expect.that(abs(period / PERIOD_S - 1) < 0.01, f"period within 1 % of {PERIOD_S}", period)
    expect.equal([row["node"] for row in cards["first"]], [FIRST], "who sent no more first")
    expect.that(abs((cards["lead_s"] or 0) - PERIOD_S) < 0.15, "by a step", cards["lead_s"])
    for row in cards["nics"]:
        off = epoch(row["last_sent"]) - job.last_sent[row["node"]]
        expect.that(abs(off) < 0.15, f"end of {row['node']} to a tenth of a second", off)
        rises = [(rise["counter"], rise["fault"], rise["rise"]) for rise in row["rises"]]
        expect.equal(rises, [("symbol_error", True, 31)] if row["node"] == FAULTY else [],
                     f"errors of {row['node']}")
    report = site.json("/api/v1/jobs/job-7/snapshot")
    notices = [one for one in report.get("notable", []) if one["kind"] == "nic_errors"]
    expect.equal([one["node"] for one in notices], [FAULTY], "errors alone are a notice")


def check_cost(expect, site):
    """Rows of the last agent and what their batches took; nothing else is sent by now."""
    sent, seconds = site.figure("sent_bytes_total"), site.figure("nic_seconds_total")
    time.sleep(4.1)
    sent = site.figure("sent_bytes_total") - sent
    seconds = site.figure("nic_seconds_total") - seconds
    each_us = site.figure("nic_read_seconds_total") / max(site.figure("nic_reads_total"), 1) * 1e6
    expect.that(seconds >= 3, "a row a second", seconds)
    print(f"one card, batches of nothing else: {sent / max(seconds, 1):.0f} bytes a second; "
          f"{each_us:.1f} us a read")
    expect.that(sent <= 400 * max(seconds, 1), "bytes of rows", (sent, seconds))
    expect.equal(site.figure("nics"), 1, "cards that are read")


def main():
    l4, expect = support.start(sys.argv, "nics")
    binaries = pathlib.Path(l4.binary).resolve().parent
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        site = Site(folder, binaries)
        stack.callback(site.end)
        site.start("aggregator", "l4-aggregator")
        live.wait_for(lambda: site.text(site.http, "/readyz"))
        job = Job(site.trees, site.logs)
        for node in NODES:
            site.start(node, "l4-agent")
        job.start()
        time.sleep(STEPS_S - 2)
        check_running(expect, site)
        job.over.wait(60)
        check_ended(expect, site, job)
        check_cost(expect, site)
        for node, program in zip(NODES, site.programs[1:]):
            expect.equal(program.end()[0], 0, f"exit of {node}")
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
