#!/usr/bin/env python3
"""Answer times of an aggregator under load, and whether questions disturb the diagnosis.

usage: load.py --bin FOLDER [--seed N] [--seconds N] [--nodes N] [--jobs N] [--clients N]

A simulated fleet (l4-fleet) plays one job of all nodes, then as many jobs as are asked for on the
same number of nodes; a rank crashes in the first and in the second half of each run. In the second
half the clients ask for the report of the big job, or for the list of jobs, once a second each.
What must hold: the report within 2 s and the list within 50 ms (the median of one person who asks
once a second); each crash found in time and nothing else (l4-fleet judges that); all batches of
the second half taken like those of the first. Takes about twice --seconds and a minute.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "integration"))

import live  # noqa: E402
import support  # noqa: E402

SNAPSHOT_S, JOBS_S = 2.0, 0.05
CONFIG = """
[wire]
listen = "tcp://127.0.0.1:{wire}"
key = "keys/aggregator.key"
allow_list = "keys/allow-list"
[http]
port = {http}
[detect]
hang_floor_s = 10
hang_confirm_s = 60
[store]
folder = "state"
[jobs]
jobs_max = 2000
"""


class Asker(threading.Thread):
    """One client that asks once a second until it is ended; seconds of each answer."""

    def __init__(self, url, number=0):
        super().__init__(daemon=True)
        self.url, self.number, self.seconds, self.failed = url, number, [], 0
        self.ended = threading.Event()

    def run(self):
        self.ended.wait(self.number % 100 / 100)
        while not self.ended.is_set():
            began = time.monotonic()
            try:
                with urllib.request.urlopen(self.url, timeout=30) as answer:
                    answer.read()
                self.seconds.append(time.monotonic() - began)
            except OSError:
                self.failed += 1
            self.ended.wait(max(0, began + 1 - time.monotonic()))

    def end(self):
        self.ended.set()
        self.join(35)


def told(what, askers):
    """Median and maximum, in seconds, and how many questions failed."""
    seconds = sorted(one for asker in askers for one in asker.seconds)
    failed = sum(asker.failed for asker in askers)
    if not seconds:
        return float("inf"), failed
    print(f"  {what}: {len(seconds)} answers, median {statistics.median(seconds) * 1e3:.1f} ms, "
          f"95 % {seconds[int(len(seconds) * .95)] * 1e3:.1f} ms, most {seconds[-1] * 1e3:.1f} ms, "
          f"{failed} failed", flush=True)
    return statistics.median(seconds), failed


def batches(http):
    with urllib.request.urlopen(f"http://127.0.0.1:{http}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    return sum(float(row.split()[-1]) for row in text.splitlines()
               if row.startswith("l4_aggregator_batches_applied_total"))


def script_of(jobs, struck, options):
    rows = [f"seed = {options.seed}", f"seconds = {options.seconds}"]
    rows += [f'[[job]]\nname = "{name}"\nnodes = {nodes}\nranks = 8' for name, nodes in jobs]
    for job, share in zip(struck, (0.35, 0.75)):
        rows.append(f'[[fault]]\nkind = "crash"\njob = "{job}"\nnode = 1\nrank = 3\n'
                    f"at_s = {int(share * options.seconds)}\nlasts_s = {options.seconds // 10}")
    rows.append("[link]\nloss_per_mille = 0")
    rows.append("[limits]\ncrash_s = 15\ncpu_percent = 120\ngrowth_percent = 60")
    return "\n".join(rows) + "\n"


def play(expect, options, folder, what, jobs, struck, path, limit_s):
    """One run, in which the clients ask for `path`."""
    print(f"{what}: {len(jobs)} jobs on {sum(nodes for _, nodes in jobs)} nodes", flush=True)
    l4 = options.bin / "l4"
    folder.mkdir()
    for words in (("init",), ("add", "--fleet")):
        subprocess.run([l4, "keys", words[0], "--dir", folder / "keys", *words[1:]], check=True,
                       stdout=subprocess.DEVNULL)
    wire, http = live.free_port(), live.free_port()
    config, script = folder / "aggregator.toml", folder / "script.toml"
    config.write_text(CONFIG.format(wire=wire, http=http))
    script.write_text(script_of(jobs, struck, options))
    url = f"http://127.0.0.1:{http}{path}"
    with open(folder / "judged", "w", encoding="utf-8") as judged:
        fleet = subprocess.Popen(
            [options.bin / "l4-fleet", "--script", script, "--keys", folder / "keys", "--endpoint",
             f"tcp://127.0.0.1:{wire}", "--http", f"http://127.0.0.1:{http}", "--aggregator",
             options.bin / "l4-aggregator", "--config", config, "--log", folder / "log"],
            stdout=judged, stderr=judged)
        try:
            taken, alone, many = halves(fleet, http, url, options)
        finally:
            if fleet.poll() is None:
                fleet.kill()
            fleet.wait()
    print("  " + (folder / "judged").read_text("utf-8").replace("\n", "\n  "))
    expect.equal(fleet.returncode, 0, f"{what}: what l4-fleet judges")
    median, failed = told("one client", alone)
    expect.that(median <= limit_s, f"{what}: seconds of an answer", median)
    together, failed_too = told(f"{options.clients} clients", many)
    expect.that(together <= limit_s, f"{what}: seconds of an answer of all clients", together)
    expect.equal(failed + failed_too, 0, f"{what}: questions without an answer")
    print(f"  batches a second: {taken[0]:.0f} before, {taken[1]:.0f} with all clients")
    expect.that(taken[1] > 0.95 * taken[0], f"{what}: batches are taken as before", taken)


def halves(fleet, http, url, options):
    """Batches a second without and with the clients, and the clients of both halves."""
    time.sleep(options.seconds * 0.2)
    alone, rates, many = [Asker(url)], [], []
    for askers in (alone, many):
        if askers is many:
            many += [Asker(url, number) for number in range(options.clients)]
        for asker in askers:
            asker.start()
        time.sleep(2)
        before, began = batches(http), time.monotonic()
        time.sleep(options.seconds * 0.3)
        rates.append((batches(http) - before) / (time.monotonic() - began))
        for asker in askers:
            asker.ended.set()
        for asker in askers:
            asker.end()
    fleet.wait(options.seconds + 300)
    return rates, alone, many


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=100)
    options = parser.parse_args()
    expect = support.Expectations("load")
    with tempfile.TemporaryDirectory(prefix="l4-load-") as made:
        folder = pathlib.Path(made)
        play(expect, options, folder / "one", "one job", [("big", options.nodes)], ("big", "big"),
             "/api/v1/jobs/big/snapshot", SNAPSHOT_S)
        each = max(2, options.nodes // options.jobs)
        names = [(f"job-{number:04}", each) for number in range(options.jobs)]
        play(expect, options, folder / "many", "many jobs", names, ("job-0003", "job-0007"),
             "/api/v1/jobs", JOBS_S)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
