#!/usr/bin/env python3
"""The speed of `l4 diagnose` on a large job, compared with `wc -l` and `grep -c ERROR`.

usage: throughput.py [--l4 BINARY] [--mb 1024] [--seed 5] [--repeats 3] [--logs FOLDER]

All programs read the same files in the same run, warm from the page cache, in turns; the best of
the repeats counts. Ratios say more than MB/s: they hold on another machine. Without --logs a large
case is made by ../shared/bench/casegen.py and its nodes are copied, times intact, up to the size.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "integration"))
sys.dont_write_bytecode = True

import support  # noqa: E402

OTHERS = {"wc -l": "xargs -0 wc -l", "grep -c ERROR": "xargs -0 grep -c ERROR"}


def size_mb(folder):
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) / 1e6


def make_case(folder, seed):
    """One large case of 128 nodes; its logs, history beside them."""
    real = support.shared("data", "real_logs")
    subprocess.run([sys.executable, support.shared("bench", "casegen.py"), "--normal",
                    real / "normal", "--failures", real / "failures", "--out", folder,
                    "--cases", "1", "--seed", seed, "--scale", "large", "--nodes", "128",
                    "--cri", "0"], check=True)
    return next(pathlib.Path(folder).glob("case_*")) / "logs"


def replicate(logs, megabytes):
    """Copies whole nodes under new names with further ranks; file times are kept."""
    nodes = sorted(p for p in logs.iterdir() if p.is_dir())
    ranks = sum(1 for _ in logs.rglob("rank*.log"))
    size, copy = size_mb(logs), 0
    while size < megabytes:
        copy += 1
        for node in nodes:
            target = logs / f"{node.name}-copy{copy}"
            target.mkdir()
            for file in sorted(node.iterdir()):
                rank = int(re.search(r"\d+", file.name).group())
                shutil.copy2(file, target / f"rank{rank + copy * ranks}.log")
                size += file.stat().st_size / 1e6
            if size >= megabytes:
                return


def timed(command, logs):
    began = time.monotonic()
    subprocess.run(["/bin/sh", "-c", f"find . -type f -print0 | {command} | tail -n 1"], cwd=logs,
                   env={**os.environ, "LC_ALL": "C"}, stdout=subprocess.PIPE, check=False)
    return time.monotonic() - began


def measure(l4, logs, repeats):
    """MB/s of each program and the peak memory of l4."""
    megabytes = size_mb(logs)
    seconds = {name: [] for name in ["l4 diagnose", *OTHERS]}
    rss_mb = 0.0
    timed(OTHERS["wc -l"], logs)
    for _ in range(repeats):
        for name, command in OTHERS.items():
            seconds[name].append(timed(command, logs))
        done = l4.run("diagnose", logs, "--format", "json")
        if done.status != 0:
            sys.exit(f"l4 diagnose ended with {done.status}: {done.stderr[-400:]}")
        seconds["l4 diagnose"].append(done.seconds)
        rss_mb = max(rss_mb, done.rss_mb)
    figures = {name: megabytes / min(times) for name, times in seconds.items()}
    print(f"{megabytes:.0f} MB in {sum(1 for p in logs.rglob('*') if p.is_file())} files, "
          f"{os.cpu_count()} cores, best of {repeats}")
    for name, speed in figures.items():
        print(f"{name:14} {speed:8.0f} MB/s   {speed / figures['l4 diagnose']:8.2f} x l4 diagnose")
    print(f"peak memory of l4 diagnose: {rss_mb:.0f} MB")
    return {**figures, "rss_mb": rss_mb}


def run(l4, megabytes, seed, repeats, logs=None):
    if logs:
        return measure(l4, pathlib.Path(logs), repeats)
    with tempfile.TemporaryDirectory(prefix="l4-throughput-") as folder:
        made = make_case(folder, seed)
        replicate(made, megabytes)
        return measure(l4, made, repeats)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--l4", default=str(ROOT / "build" / "release" / "bin" / "l4"))
    parser.add_argument("--mb", type=int, default=1024)
    parser.add_argument("--seed", default="5")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--logs", help="a folder of logs to use as it is")
    options = parser.parse_args()
    l4, _ = support.start(["throughput", options.l4], "throughput")
    run(l4, options.mb, options.seed, options.repeats, options.logs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
