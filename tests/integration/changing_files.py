"""Files that change between being found and being read, and while they are read.

A signal stops l4 once it reads a large file; it continues when the others were changed. So the test
needs neither sleeping nor luck. Part of robustness.py.
"""
import json
import os
import shutil
import signal
import subprocess
import time

import support

BIG_MB = 64
LINE = b"2026-11-20T15:54:00Z INFO service: heartbeat of 8 workers is in order\n"


def lines(number):
    return LINE * number


def position(pid, name):
    """Offset up to which the process has read the file of that name; None before it is opened."""
    try:
        for descriptor in os.listdir(f"/proc/{pid}/fd"):
            if os.readlink(f"/proc/{pid}/fd/{descriptor}").endswith(name):
                with open(f"/proc/{pid}/fdinfo/{descriptor}", encoding="ascii") as info:
                    return int(info.readline().split()[1])
    except OSError:
        pass
    return None


def run_with_change(l4, job, change):
    """The report of a run that was stopped within big.log while `change` did its work."""
    process = subprocess.Popen([l4.binary, "diagnose", str(job), "--format", "json", "--threads",
                                "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while (position(process.pid, "big.log") or 0) < 1 << 20:
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            return None
        time.sleep(0.001)
    process.send_signal(signal.SIGSTOP)
    change()
    process.send_signal(signal.SIGCONT)
    out, _ = process.communicate(timeout=support.TIMEOUT_S)
    return json.loads(out) if process.returncode == 0 else None


def prepare(folder):
    job = folder / "job"
    shutil.copytree(support.SAMPLE, job)
    big = job / "node-00" / "big.log"
    big.write_bytes(lines((BIG_MB << 20) // len(LINE)))
    for name in ("gone", "swapped", "shorter", "longer"):
        (job / "node-01" / f"{name}.log").write_bytes(lines(100))
    return job, big


def expect_warning(expect, report, file, kind, lost, what):
    told = [w for w in report["warnings"] if w["file"].endswith(file)]
    expect.equal([(w["kind"], w["bytes"]) for w in told], [(kind, lost)], what)


def between(l4, expect, folder, same_verdict):
    """Files that change after they were found and before they are read."""
    _, clean = l4.report(support.SAMPLE)
    job, big = prepare(folder)
    node = job / "node-01"

    def change():
        (node / "gone.log").unlink()
        (node / "new").write_bytes(lines(7))
        (node / "new").rename(node / "swapped.log")
        (node / "shorter.log").write_bytes(lines(10))
        with open(node / "longer.log", "ab") as file:
            file.write(lines(5))
        with open(big, "ab") as file:
            file.write(lines(1000))

    report = run_with_change(l4, job, change)
    if not expect.that(report, "files that change: diagnosed"):
        return
    same_verdict(expect, report, clean, "files that change")
    expect_warning(expect, report, "gone.log", "vanished", 100 * len(LINE), "a file that vanishes")
    expect_warning(expect, report, "swapped.log", "replaced", 100 * len(LINE),
                   "a file that is replaced")
    expect_warning(expect, report, "shorter.log", "incomplete", 90 * len(LINE),
                   "a file that was truncated")
    expect_warning(expect, report, "longer.log", "grew", 0, "a file that grew")
    expect_warning(expect, report, "big.log", "grew", 0, "a file that grows while it is read")


def within(l4, expect, folder, same_verdict):
    """Files that are truncated or removed while they are read."""
    _, clean = l4.report(support.SAMPLE)
    job, big = prepare(folder)
    size = big.stat().st_size
    report = run_with_change(l4, job, lambda: os.truncate(big, 1 << 19))
    if expect.that(report, "truncated while it is read: diagnosed"):
        same_verdict(expect, report, clean, "truncated while it is read")
        told = [w for w in report["warnings"] if w["file"].endswith("big.log")]
        expect.that(len(told) == 1 and told[0]["kind"] == "incomplete" and
                    0 < told[0]["bytes"] < size, "truncated while it is read: told", told)
    big.write_bytes(lines((BIG_MB << 20) // len(LINE)))
    report = run_with_change(l4, job, big.unlink)
    if expect.that(report, "removed while it is read: diagnosed"):
        same_verdict(expect, report, clean, "removed while it is read")
        told = [w for w in report["warnings"] if w["file"].endswith("big.log")]
        expect.equal(told, [], "removed while it is read: what was open is read to its end")


def run(l4, expect, folder, same_verdict):
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    between(l4, expect, folder / "a", same_verdict)
    within(l4, expect, folder / "b", same_verdict)
    job = folder / "empty-job" / "node-0"
    job.mkdir(parents=True)
    (job / "rank0.log").write_bytes(b"")
    done, _ = l4.report(job.parent)
    expect.equal(done.status, 3, "empty files alone: exit")
    expect.that("empty" in done.stderr, "empty files alone: stderr says so", done.stderr)
