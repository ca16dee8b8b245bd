#!/usr/bin/env python3
"""What the page costs a browser with a job of 2,000 nodes, and what it costs the aggregator.

usage: page_load.py --bin FOLDER [--seed N] [--seconds N] [--nodes N]

A simulated fleet (l4-fleet) plays one job of --nodes nodes with 8 ranks each, in which a rank
crashes twice; from the sixth part on headless Chromium shows the job and its map. What must hold:
all rows are there, batches are taken as before, both crashes are found in time and nothing else
(l4-fleet judges that), and at the end the tab has less than 300 MB. Then, with the fleet gone, the
first picture of the incident and of the job is measured, and a pan over a map of 2,000 nodes and
4,000 windows of 10 s, whose scores are made in the browser, at the width that the page asks for:
script, layout and paint of a frame by Chromium's trace. Takes --seconds (600) and a minute.

Whether the page disturbs is told by three windows of time: closed, open, closed again; what the
fleet does changes slowly, so the open one is held against the mean of its neighbours. Batches a
second also fall where the browser takes the processor from the fleet, on a machine of few cores;
the aggregator's own work is told by its processor time for 1,000 batches, and that of the browser
stands beside it. Memory of the tab is the proportional set size (Pss) of the largest renderer among
the browser's processes: what it has alone, and its share of what it has with others.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "integration"))

import live  # noqa: E402
import load  # noqa: E402
import made_map  # noqa: E402
import browsing  # noqa: E402
import support  # noqa: E402
import traced  # noqa: E402

FRAME_MS, FRAME_95_MS, FIRST_S, TAB_MB = 12, 33, 1.5, 300
MOVES = 240
STORY = """
new MutationObserver(() => {
  if (!document.querySelector(".story .role") || window.stood) return;
  requestAnimationFrame(() => setTimeout(() => { window.stood ??= performance.now(); }));
}).observe(document, { childList: true, subtree: true });
"""
BATCHES_SHARE, WORK_SHARE = 0.95, 1.25  # of what is without the page
# Outermost pieces of work of the page's own thread.
WORK = {"EventDispatch", "FireAnimationFrame", "FunctionCall", "TimerFire", "RunMicrotasks",
        "Layout", "UpdateLayoutTree", "PrePaint", "Paint", "Layerize", "Commit", "MinorGC",
        "MajorGC"}


def processes_of(browser):
    """The browser's processes, with their words: those that chromedriver started, and theirs."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            words = (entry / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        except OSError:  # it has ended
            continue
        found[int(entry.name)] = parent, words
    own = {browser.driver.service.process.pid}
    while True:
        more = {pid for pid, (parent, _) in found.items() if parent in own} - own
        if not more:
            return {pid: found[pid][1] for pid in own if pid in found}
        own |= more


def memory_mb(browser):
    """Proportional memory of this tab: of the largest renderer."""
    sizes = []
    for pid, words in processes_of(browser).items():
        # A renderer's words stand in one text where Chromium has renamed the process.
        if "--type=renderer" not in " ".join(words).split():
            continue
        try:
            rows = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            sizes += [int(row.split()[1]) for row in rows if row.startswith("Pss:")]
        except OSError:
            continue
    if not sizes:
        raise RuntimeError("the browser has no renderer whose memory can be read")
    return max(sizes) / 1024


def cpu_s(pids):
    """Seconds of processor time that these processes have taken."""
    ticks = 0
    for pid in pids:
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def frames_of(events, cpu=False):
    """Milliseconds of each frame in which the map was drawn: by the clock, or of processor time."""
    whole = [one for one in events if one.get("ph") == "X" and one["name"] in WORK
             and (not cpu or "tdur" in one)]
    threads = {}
    for one in whole:
        threads.setdefault((one["pid"], one["tid"]), []).append(one)
    if not threads:
        return []
    # The page's thread is the one that fires most animation frames.
    own = max(threads.values(),
              key=lambda them: sum(one["name"] == "FireAnimationFrame" for one in them))
    own.sort(key=lambda one: (one["ts"], -one["dur"]))
    frames, spent, until, drew = [], 0, 0, False
    begin, long = ("tts", "tdur") if cpu else ("ts", "dur")
    for one in own:
        end = one[begin] + one[long]
        if end > until:  # what lies within another piece is counted with it
            spent += end - max(one[begin], until)
            until = end
        drew = drew or one["name"] == "FireAnimationFrame"
        if one["name"] == "Commit":
            if drew:
                frames.append(spent / 1_000)
            spent, drew = 0, False
    return frames


def show(expect, what, value, most):
    print(f"  {what}: {value:.1f}, asked at most {most}", flush=True)
    expect.that(value <= most, what, value)


def play_fleet(expect, options, folder, ports, pid, browser):
    """The job lives, and the page shows it; the memory of the tab at the end."""
    http, wire = ports
    script = folder / "script.toml"
    script.write_text(load.script_of([("big", options.nodes)], ("big", "big"), options))
    with open(folder / "judged", "w", encoding="utf-8") as judged:
        fleet = subprocess.Popen(
            [options.bin / "l4-fleet", "--script", script, "--keys", folder / "keys", "--endpoint",
             f"tcp://127.0.0.1:{wire}", "--http", f"http://127.0.0.1:{http}", "--pid",
             str(pid)], stdout=judged, stderr=judged)
    try:
        time.sleep(options.seconds * 0.08)
        windows = []
        for address in ("about:blank", f"http://127.0.0.1:{http}/jobs/big", "about:blank"):
            browser.driver.get(address)
            time.sleep(options.seconds * 0.01)
            windows.append(window(http, pid, browser, options.seconds * 0.07))
        browser.driver.get(f"http://127.0.0.1:{http}/jobs/big")
        rows = browser.soon("canvas.map")
        fleet.wait(options.seconds + 300)
        name = browser.run("return document.querySelector('canvas.map')?.ariaLabel ?? ''")
        expect.that(rows is not None and name.startswith(f"{options.nodes:,} rows"),
                    "all nodes are rows", name)
        print("  " + (folder / "judged").read_text("utf-8").replace("\n", "\n  "))
        expect.equal(fleet.returncode, 0, "what l4-fleet judges")
        judge_windows(expect, windows)
        show(expect, "memory of the tab after live updates, MB", memory_mb(browser), TAB_MB)
    finally:
        if fleet.poll() is None:
            fleet.kill()
        fleet.wait()


def answers(http):
    try:
        load.batches(http)
        return True
    except OSError:
        return False


def window(http, pid, browser, seconds):
    """Batches a second, the aggregator's ms of processor for 1,000 of them, the browser's cores."""
    def now():
        return load.batches(http), cpu_s([pid]), cpu_s(processes_of(browser)), time.monotonic()

    before = now()
    time.sleep(seconds)
    taken, work, spent, took = (b - a for a, b in zip(before, now()))
    return taken / took, work / max(taken, 1) * 1e6, spent / took


def judge_windows(expect, windows):
    """Whether the page, open in the second window only, disturbs the aggregator."""
    for name, (batches, work, cores) in zip(("closed", "open", "closed again"), windows):
        print(f"  page {name}: {batches:.0f} batches a second, {work:.0f} ms of the aggregator's "
              f"processor for 1,000 of them; the browser takes {cores:.2f} cores", flush=True)
    batches, work = (windows[1][i] / statistics.mean((windows[0][i], windows[2][i]))
                     for i in (0, 1))
    print(f"  open to closed: batches {batches:.2f}, asked at least {BATCHES_SHARE}; work for each "
          f"{work:.2f}, asked at most {WORK_SHARE}")
    expect.that(batches >= BATCHES_SHARE, "batches are taken as before", windows)
    expect.that(work <= WORK_SHARE, "work of the aggregator for a batch is as before", windows)


def first_picture(browser, url):
    """Seconds from the begin of the navigation until the map is drawn."""
    browser.driver.get(url)
    live.wait_for(lambda: browser.run("return window.drawn?.first ?? 0") > 0)
    return browser.run("return drawn.first") / 1_000


def first_story(browser, url):
    """Seconds from the begin of the navigation until the story of an incident is painted."""
    browser.driver.get(url)
    live.wait_for(lambda: browser.run("return window.stood ?? 0") > 0)
    return browser.run("return stood") / 1_000


def measure(expect, http, browser):
    url = f"http://127.0.0.1:{http}/jobs/big"
    with urllib.request.urlopen(f"http://127.0.0.1:{http}/api/v1/incidents", timeout=30) as got:
        incident = json.load(got)["incidents"][0]["id"]
    with made_map.Made(browser, STORY):
        seconds = [first_story(browser, f"http://127.0.0.1:{http}/incidents/{incident}")
                   for _ in range(4)][1:]
        expect.that(min(seconds) > 0, "the story of the incident is shown", seconds)
        show(expect, "the story of an incident, s", statistics.median(seconds), FIRST_S)
    with made_map.Made(browser, made_map.COUNTED):
        first_picture(browser, url)
        seconds = [first_picture(browser, url) for _ in range(3)]
        expect.that(min(seconds) > 0, "the real map is drawn", seconds)
        show(expect, "first picture of the real map, s", statistics.median(seconds), FIRST_S)
    made = made_map.answers(nodes=made_map.NODES, windows=made_map.WINDOWS)
    with made_map.Made(browser, made_map.COUNTED, made):
        seconds = [first_picture(browser, url) for _ in range(3)]
        show(expect, "first picture of 4,000 windows, s", statistics.median(seconds), FIRST_S)
        made_map.wheel(browser, 10)
        time.sleep(1.5)
        browser.run("drawn.frames.clear()")
        with traced.Trace(browser) as trace:
            made_map.pan(browser, MOVES)
            time.sleep(0.5)
        calls = browser.run("return [...drawn.frames.values()]")
        show(expect, "memory of the tab with that map, MB", memory_mb(browser), TAB_MB)
    frames, cpu = sorted(frames_of(trace.events)), sorted(frames_of(trace.events, cpu=True))
    expect.that(len(frames) > MOVES / 4, "frames of the pan are in the trace", len(frames))
    if frames:
        print(f"  {len(frames)} frames, at most {max(calls)} draw calls in one; processor time: "
              f"median {statistics.median(cpu):.1f} ms, 95 % {cpu[int(len(cpu) * .95)]:.1f} ms")
        show(expect, "a pan's frame, median, ms", statistics.median(frames), FRAME_MS)
        show(expect, "a pan's frame, 95 %, ms", frames[int(len(frames) * .95)], FRAME_95_MS)
        expect.that(max(calls) <= made_map.DRAWS_MAX, "draw calls of a frame", max(calls))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--nodes", type=int, default=2000)
    options = parser.parse_args()
    webdriver = browsing.need_browser()
    expect = support.Expectations("page_load")
    with tempfile.TemporaryDirectory(prefix="l4-page-load-") as made:
        folder = pathlib.Path(made)
        for words in (("init",), ("add", "--fleet")):
            subprocess.run([options.bin / "l4", "keys", words[0], "--dir", folder / "keys",
                            *words[1:]], check=True, stdout=subprocess.DEVNULL)
        wire, http = live.free_port(), live.free_port()
        (folder / "aggregator.toml").write_text(load.CONFIG.format(wire=wire, http=http))
        browser = browsing.Browser(*webdriver, folder)
        with open(folder / "log", "w", encoding="utf-8") as log:
            aggregator = subprocess.Popen([options.bin / "l4-aggregator", "--config",
                                           folder / "aggregator.toml"], stdout=log, stderr=log)
        try:
            live.wait_for(lambda: answers(http))
            play_fleet(expect, options, folder, (http, wire), aggregator.pid, browser)
            measure(expect, http, browser)
        finally:
            browser.close()
            aggregator.terminate()
            aggregator.wait(60)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
