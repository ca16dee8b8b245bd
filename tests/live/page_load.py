#!/usr/bin/env python3
"""What the page costs a browser with a job of 2,000 nodes, and what it costs the aggregator.

usage: page_load.py --bin FOLDER [--seed N] [--seconds N] [--nodes N]

A simulated fleet (l4-fleet) plays one job of --nodes nodes with 8 ranks each, in which a rank
crashes twice; from the first fifth on headless Chromium shows the job and its map. What must hold:
all rows are there, batches are taken as before, both crashes are found in time and nothing else
(l4-fleet judges that), and at the end the tab has less than 300 MB. Then, with the fleet gone, the
first picture is measured, and a pan over a map of 2,000 nodes and 4,000 windows of 10 s, whose
scores are made in the browser, at the width that the page asks for: script, layout and paint of a
frame by Chromium's trace. Takes --seconds (600) and a minute.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "integration"))

import live  # noqa: E402
import load  # noqa: E402
import made_map  # noqa: E402
import page  # noqa: E402
import support  # noqa: E402

FRAME_MS, FRAME_95_MS, FIRST_S, TAB_MB = 12, 33, 1.5, 300
MOVES = 240
# Outermost pieces of work of the page's own thread.
WORK = {"EventDispatch", "FireAnimationFrame", "FunctionCall", "TimerFire", "RunMicrotasks",
        "Layout", "UpdateLayoutTree", "PrePaint", "Paint", "Layerize", "Commit", "MinorGC",
        "MajorGC"}
TRACED = "devtools.timeline,disabled-by-default-devtools.timeline,v8"


def memory_mb(browser):
    """Proportional memory of the renderer of this tab."""
    profile = browser.driver.capabilities["chrome"]["userDataDir"]
    most = 0
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            if "--type=renderer" not in words or not any(profile in word for word in words):
                continue
            rows = (entry / "smaps_rollup").read_text().splitlines()
            most = max(most, next(int(row.split()[1]) for row in rows if row.startswith("Pss:")))
        except (OSError, StopIteration):
            continue
    return most / 1024


def frames_of(rows):
    """Milliseconds of work of each frame in which the map was drawn."""
    events = []
    for row in rows:
        message = json.loads(row["message"])["message"]
        if message["method"] == "Tracing.dataCollected":
            events.append(message["params"])
    whole = [one for one in events if one.get("ph") == "X" and one["name"] in WORK]
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
    for one in own:
        end = one["ts"] + one["dur"]
        if end > until:  # what lies within another piece is counted with it
            spent += end - max(one["ts"], until)
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
        time.sleep(options.seconds * 0.1)
        rates = [rate(http, options.seconds * 0.1)]
        browser.driver.get(f"http://127.0.0.1:{http}/jobs/big")
        rows = browser.soon("canvas.map")
        time.sleep(options.seconds * 0.1)
        rates.append(rate(http, options.seconds * 0.1))
        fleet.wait(options.seconds + 300)
        name = browser.run("return document.querySelector('canvas.map')?.ariaLabel ?? ''")
        expect.that(rows is not None and name.startswith(f"{options.nodes:,} rows"),
                    "all nodes are rows", name)
        print("  " + (folder / "judged").read_text("utf-8").replace("\n", "\n  "))
        expect.equal(fleet.returncode, 0, "what l4-fleet judges")
        print(f"  batches a second: {rates[0]:.0f} before, {rates[1]:.0f} while the page is open")
        expect.that(rates[1] > 0.95 * rates[0], "batches are taken as before", rates)
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


def rate(http, seconds):
    before, began = load.batches(http), time.monotonic()
    time.sleep(seconds)
    return (load.batches(http) - before) / (time.monotonic() - began)


def first_picture(browser, url):
    """Seconds from the begin of the navigation until the map is drawn."""
    browser.driver.get(url)
    live.wait_for(lambda: browser.run("return window.drawn?.first ?? 0") > 0)
    return browser.run("return drawn.first") / 1_000


def measure(expect, http, browser):
    url = f"http://127.0.0.1:{http}/jobs/big"
    with made_map.Made(browser, made_map.COUNTED):
        first_picture(browser, url)
        seconds = [first_picture(browser, url) for _ in range(3)]
        show(expect, "first picture of the real map, s", statistics.median(seconds), FIRST_S)
    made = made_map.answers(nodes=made_map.NODES, windows=made_map.WINDOWS)
    with made_map.Made(browser, made_map.COUNTED, made):
        seconds = [first_picture(browser, url) for _ in range(3)]
        show(expect, "first picture of 4,000 windows, s", statistics.median(seconds), FIRST_S)
        made_map.wheel(browser, 10)
        time.sleep(1.5)
        browser.driver.get_log("performance")
        browser.run("drawn.frames.clear()")
        made_map.pan(browser, MOVES)
        time.sleep(0.5)
        calls = browser.run("return [...drawn.frames.values()]")
        frames = sorted(frames_of(browser.driver.get_log("performance")))
        show(expect, "memory of the tab with that map, MB", memory_mb(browser), TAB_MB)
    expect.that(len(frames) > MOVES / 4, "frames of the pan are in the trace", len(frames))
    if frames:
        print(f"  {len(frames)} frames, at most {max(calls)} draw calls in one")
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
    webdriver = page.need_browser()
    expect = support.Expectations("page_load")
    with tempfile.TemporaryDirectory(prefix="l4-page-load-") as made:
        folder = pathlib.Path(made)
        for words in (("init",), ("add", "--fleet")):
            subprocess.run([options.bin / "l4", "keys", words[0], "--dir", folder / "keys",
                            *words[1:]], check=True, stdout=subprocess.DEVNULL)
        wire, http = live.free_port(), live.free_port()
        (folder / "aggregator.toml").write_text(load.CONFIG.format(wire=wire, http=http))
        browser = page.Browser(*webdriver, folder, traced=TRACED)
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
