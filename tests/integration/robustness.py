#!/usr/bin/env python3
"""Bad input and wrong use: exit codes, messages, memory, and the good input beside them.

usage: robustness.py L4      L4_HUGE_LINE_MB=N for another length of the huge line (default 200);
limits.py has more such sizes. The parts that are long have files of their own.
"""
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile

import broken_config
import changing_files
import limits
import odd_contents
import support
from made_job import MadeJob

HUGE_LINE_MB = int(os.environ.get("L4_HUGE_LINE_MB", "12" if support.SANITIZED else "200"))
RSS_LIMIT_MB = 600
TIMEOUT_S = 300 if support.SANITIZED or HUGE_LINE_MB > 400 else 120
BAD_NAME = "badfile"        # part of every bad file's name, to be found in messages


def garbage(path, size):
    path.write_bytes(random.Random(1).randbytes(size))


def huge_line(path, megabytes):
    piece = (b"loss 2.31 and no end to it, " * 40000)[:1 << 20]
    with open(path, "wb") as file:
        for _ in range(megabytes):
            file.write(piece)


def gz_cut_short(path):
    import gzip
    data = gzip.compress(b"2026-11-20T15:54:00Z INFO trainer: step\n" * 20000)
    path.write_bytes(data[:len(data) // 2])


def mutual_links(folder):
    (folder / f"{BAD_NAME}-a").symlink_to(f"{BAD_NAME}-b")
    (folder / f"{BAD_NAME}-b").symlink_to(f"{BAD_NAME}-a")


def unix_socket(path):
    before = os.getcwd()
    os.chdir(path.parent)  # the address of a socket is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path.name)
    os.chdir(before)


# Name, how to make it in a folder, whether the program must name it (input without a log may pass).
BAD_FILES = [
    ("link to its parent", lambda d: (d / BAD_NAME).symlink_to("../node-01"), True),
    ("links to each other", lambda d: mutual_links(d), True),
    ("link out of the folder", lambda d: (d / f"{BAD_NAME}.log").symlink_to("/etc/passwd"), True),
    ("socket", lambda d: unix_socket(d / f"{BAD_NAME}.log"), True),
    ("link to a device", lambda d: (d / f"{BAD_NAME}.log").symlink_to("/dev/zero"), True),
    ("line without an end", lambda d: (d / f"{BAD_NAME}.log").write_bytes(b"INFO hello"), False),
    ("CR alone", lambda d: (d / f"{BAD_NAME}.log").write_bytes(b"INFO beat 7\r" * 100_000), False),
    ("two million tiny lines",
     lambda d: (d / f"{BAD_NAME}.log").write_bytes(b"a\n" * 2_000_000), False),
    ("lines of 90 KB", lambda d: (d / f"{BAD_NAME}.log").write_bytes(
        (b"INFO value 7 " * 7000 + b"\n") * 50), True),
    ("dangling symlink", lambda d: (d / f"{BAD_NAME}.log").symlink_to("nowhere.log"), True),
    ("link to itself", lambda d: (d / f"{BAD_NAME}.log").symlink_to(f"{BAD_NAME}.log"), True),
    ("folder that holds itself", lambda d: (d / BAD_NAME).symlink_to(".."), False),
    ("FIFO", lambda d: os.mkfifo(d / f"{BAD_NAME}.log"), True),
    ("empty file", lambda d: (d / f"{BAD_NAME}.log").touch(), False),
    ("10 MB of garbage", lambda d: garbage(d / f"{BAD_NAME}.bin", 10_000_000), False),
    ("10 MB of garbage as .log", lambda d: garbage(d / f"{BAD_NAME}.log", 10_000_000), False),
    ("NUL bytes alone", lambda d: (d / f"{BAD_NAME}.log").write_bytes(bytes(1 << 20)), False),
    ("gz cut short", lambda d: gz_cut_short(d / f"{BAD_NAME}.log.gz"), True),
    ("gz that is none", lambda d: garbage(d / f"{BAD_NAME}.log.gz", 5000), True),
]
WRONG_USE = [
    [], ["frobnicate"], ["diagnose"], ["diagnose", "--no-such-option", "SAMPLE"],
    ["diagnose", "SAMPLE", "--format", "xml"], ["diagnose", "SAMPLE", "--threads", "many"],
    ["diagnose", "SAMPLE", "--top", "-1"], ["diagnose", "SAMPLE", "--as-of", "yesterday"],
    ["diagnose", "SAMPLE", "--scoring", "best"], ["diagnose", "SAMPLE", "--tz", "Moon/Dark"],
    ["diagnose", "SAMPLE", "--config", "/nowhere/l4.toml"], ["parse"], ["inspect"],
]


def alone(l4, expect, folder):
    """Input with nothing to read in it: exit 3 and a message that names it."""
    empty = folder / "empty"
    empty.mkdir()
    binaries = folder / "binaries"
    binaries.mkdir()
    garbage(binaries / "weights.bin", 300_000)
    (binaries / "model.pt").write_bytes(b"PK\3\4" + bytes(100_000))
    (binaries / "core").write_bytes(b"\x7fELF\2\1\1" + bytes(200_000))
    dangling = folder / "dangling.log"
    dangling.symlink_to("nowhere.log")
    for path in (empty, binaries, folder / "vanished", folder / "vanished.log", dangling):
        done, _ = l4.report(path, timeout_s=TIMEOUT_S)
        expect.equal(done.status, 3, f"{path.name} alone: exit")
        expect.that(path.name in done.stderr, f"{path.name} alone: stderr names it", done.stderr)
    fifo = folder / "fifo.log"
    os.mkfifo(fifo)
    done, _ = l4.report(fifo, timeout_s=TIMEOUT_S)
    expect.that(done.status in (2, 3), "FIFO alone: exit 2 or 3, and no waiting", done.status)


def beside(l4, expect, folder):
    """A bad file beside good logs: the verdict stays, and nothing is dropped in silence."""
    _, clean = l4.report(support.SAMPLE, timeout_s=TIMEOUT_S)
    for number, (what, make, must_name) in enumerate(BAD_FILES):
        job = folder / f"beside{number}"
        shutil.copytree(support.SAMPLE, job)
        make(job / "node-01")
        done, report = l4.report(job, timeout_s=TIMEOUT_S)
        if not expect.diagnosed(done, report, f"{what} beside good logs"):
            continue
        same_verdict(expect, report, clean, f"{what} beside good logs")
        if what == "folder that holds itself":
            expect.equal(report["job"]["lines"], clean["job"]["lines"], f"{what}: lines read")
        if must_name:
            told = done.stderr + str(report["warnings"])
            expect.that(BAD_NAME in told, f"{what} beside good logs: named", told)
    done, report = l4.report(support.SAMPLE, folder / "vanished", timeout_s=TIMEOUT_S)
    if expect.diagnosed(done, report, "vanished path beside good logs"):
        expect.that("vanished" in done.stderr, "vanished path beside good logs: named", done.stderr)


def same_verdict(expect, report, clean, what):
    for key in ("state", "iteration"):
        expect.equal(report["verdict"][key], clean["verdict"][key], f"{what}: {key}")
    expect.equal(support.first(report["nodes"], "node"), support.first(clean["nodes"], "node"),
                 f"{what}: first node")


def hostile_lines(l4, expect, folder):
    """Broken text inside the logs themselves, and a line without an end."""
    _, clean = l4.report(support.SAMPLE, timeout_s=TIMEOUT_S)
    for what, piece in (("invalid UTF-8", b"loss \xff\xfe\xc3( nan \xed\xa0\x80\n"),
                        ("NUL bytes", b"\0" * 4096 + b"\n" + b"a\0b\0c\n"),
                        ("terminal codes", b"\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b[2J\n")):
        job = folder / what.replace(" ", "-")
        shutil.copytree(support.SAMPLE, job)
        for path in sorted(job.rglob("stdout.log")):
            lines = path.read_bytes().splitlines(keepends=True)
            lines[len(lines) // 2:len(lines) // 2] = [piece]
            path.write_bytes(b"".join(lines))
        done, report = l4.report(job, timeout_s=TIMEOUT_S)
        if expect.diagnosed(done, report, what):
            same_verdict(expect, report, clean, what)
        text = l4.run("diagnose", job, timeout_s=TIMEOUT_S)
        expect.that(b"\0" not in text.stdout and b"\x1b" not in text.stdout,
                    f"{what}: the text report has no control codes of the logs", text.stdout[:200])
    job = folder / "huge"
    shutil.copytree(support.SAMPLE, job)
    huge_line(job / "node-01" / "huge.log", HUGE_LINE_MB)
    done, report = l4.report(job, timeout_s=TIMEOUT_S)
    print(f"line of {HUGE_LINE_MB} MB: {done.seconds:.1f} s, peak {done.rss_mb:.0f} MB")
    if expect.diagnosed(done, report, "huge line"):
        same_verdict(expect, report, clean, "huge line")
        told = done.stderr + str(report["warnings"])
        expect.that("huge.log" in told or report["job"]["bytes"] > HUGE_LINE_MB << 20,
                    "huge line: read or named", (report["job"]["bytes"], told))
    if not support.SANITIZED:
        expect.that(done.rss_mb < RSS_LIMIT_MB, f"huge line: peak below {RSS_LIMIT_MB} MB",
                    done.rss_mb)


def wrong_use(l4, expect, folder):
    for words in WRONG_USE:
        args = [str(support.SAMPLE) if word == "SAMPLE" else word for word in words]
        done = l4.run(*args, timeout_s=TIMEOUT_S)
        what = "l4 " + " ".join(words)
        expect.equal(done.status, 2, f"{what}: exit")
        expect.that(done.stderr.strip(), f"{what}: says why on stderr")
    done = l4.run("diagnose", support.SAMPLE, "--out", folder / "no" / "such" / "report.json")
    expect.that(done.status > 0 and "report.json" in done.stderr,
                "--out into no folder: fails and names the file", (done.status, done.stderr))
    done = l4.run("--help")
    expect.that(done.status == 0 and b"diagnose" in done.stdout, "--help", done.stdout[:200])


def ways_in(l4, expect, folder):
    """A folder, a file, an archive and stdin; and the exit code that scripts ask for."""
    _, clean = l4.report(support.SAMPLE, timeout_s=TIMEOUT_S)
    archive = folder / "job.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(support.SAMPLE, arcname="job")
    done, report = l4.report(archive, timeout_s=TIMEOUT_S)
    if expect.diagnosed(done, report, ".tar.gz"):
        same_verdict(expect, report, clean, ".tar.gz")
    one = next(support.SAMPLE.rglob("node-02/*/attempt_0/0/stderr.log"))
    expect.diagnosed(*l4.report(one, timeout_s=TIMEOUT_S), "a file")
    expect.diagnosed(*l4.report("-", stdin=one.read_bytes(), timeout_s=TIMEOUT_S), "stdin")
    done = l4.run("diagnose", support.SAMPLE, "--exit-code")
    expect.equal(done.status, 10, "--exit-code of a failed job")
    healthy = MadeJob(6, 11).write(folder / "healthy")
    done = l4.run("diagnose", healthy, "--exit-code")
    expect.equal(done.status, 0, "--exit-code of a healthy job")


def forbidden(l4, expect, folder):
    """Files without permission become warnings, the rest is diagnosed. Root may read all, so the
    test gives up root."""
    nobody = 65534
    who = {"user": nobody, "group": nobody, "extra_groups": []} if os.geteuid() == 0 else {}
    folder.chmod(0o755)
    job = folder / "job"
    shutil.copytree(support.SAMPLE, job)
    (job / "node-01" / "locked").mkdir()
    (job / "node-01" / "locked" / "a.log").write_text("INFO hello\n")
    (job / "node-01" / "secret.log").write_text("INFO hello\n")
    (job / "node-01" / "locked").chmod(0)
    (job / "node-01" / "secret.log").chmod(0)
    try:
        if subprocess.run([l4.binary, "--version"], check=False, capture_output=True,
                          **who).returncode:
            raise PermissionError
    except PermissionError:
        print("the program is in nobody's reach: files without permission are not tested")
        return
    _, clean = l4.report(support.SAMPLE)
    done = subprocess.run([l4.binary, "diagnose", str(job), "--format", "json"], check=False,
                          capture_output=True, timeout=TIMEOUT_S, **who)
    if expect.equal(done.returncode, 0, "files without permission: exit"):
        report = json.loads(done.stdout)
        same_verdict(expect, report, clean, "files without permission")
        told = {w["file"] for w in report["warnings"] if "denied" in w["reason"]}
        expect.equal(told, {"node-01/locked", "node-01/secret.log"}, "files without permission")
    for path in ("secret.log", "locked", "locked/a.log"):
        done = subprocess.run([l4.binary, "diagnose", str(job / "node-01" / path)], check=False,
                              capture_output=True, timeout=TIMEOUT_S, **who)
        expect.that(done.returncode == 3 and b"denied" in done.stderr and
                    path.encode() in done.stderr, f"{path} without permission alone: exit 3, told",
                    (done.returncode, done.stderr))
    (job / "node-01" / "locked").chmod(0o700)


def changing(l4, expect, folder):
    changing_files.run(l4, expect, folder, same_verdict)


def main():
    l4, expect = support.start(sys.argv, "robustness")
    for part in (wrong_use, ways_in, alone, beside, forbidden, hostile_lines, changing,
                 broken_config.run, odd_contents.run, limits.run):
        with tempfile.TemporaryDirectory(prefix="l4-robust-") as folder:
            part(l4, expect, pathlib.Path(folder))
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
