"""Full disks, closed pipes, signals, few descriptors, little memory, many files, much garbage, and
files that unpack without end. Part of robustness.py.

L4_GARBAGE_MB, L4_BOMB_MB and L4_MANY_FILES set other sizes.
"""
import gzip
import os
import random
import resource
import signal
import subprocess
import tarfile
import tempfile
import time

import odd_contents
import support

SMALL = support.SANITIZED
GARBAGE_MB = int(os.environ.get("L4_GARBAGE_MB", "10" if SMALL else "40"))
BOMB_MB = int(os.environ.get("L4_BOMB_MB", "50" if SMALL else "200"))
MANY_FILES = int(os.environ.get("L4_MANY_FILES", "1000" if SMALL else "10000"))
RSS_LIMIT_MB = 300
TWO_GB = 2 << 30


def limited(l4, *words, descriptors=None, space=None, stdout=subprocess.PIPE, env=None):
    """A run under `ulimit -n` and `ulimit -v`, with a given standard output."""
    def limit():
        if descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
        if space and not support.SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (space, space))
    began = time.monotonic()
    done = subprocess.run([l4.binary, *map(str, words)], stdout=stdout, stderr=subprocess.PIPE,
                          preexec_fn=limit, timeout=support.TIMEOUT_S, check=False,
                          stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})
    done.seconds = time.monotonic() - began
    return done


def outputs(l4, expect, folder):
    """Output that cannot be written ends with the reason; a reader that closes early is no
    error."""
    log = next(support.SAMPLE.rglob("agent.log"))
    with open("/dev/full", "wb") as full:
        for words in (("diagnose", support.SAMPLE), ("inspect", support.SAMPLE), ("parse", log),
                      ("diagnose", support.SAMPLE, "--format", "json"), ("faults", "list")):
            done = limited(l4, *words, stdout=full)
            expect.equal(done.returncode, 2, f"l4 {words[0]} into a full disk: exit")
            expect.that(b"standard output" in done.stderr and b"No space" in done.stderr,
                        f"l4 {words[0]} into a full disk: told", done.stderr)
    for option in ("--out", "--lines"):
        done = limited(l4, "diagnose", support.SAMPLE, option, "/dev/full")
        expect.that(done.returncode == 2 and b"/dev/full" in done.stderr and
                    b"No space" in done.stderr, f"{option} into a full disk",
                    (done.returncode, done.stderr))
    archive = folder / "job.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(support.SAMPLE, arcname="job")
    temporary = folder / "tmp"
    temporary.mkdir()
    for words in (("diagnose", archive), ("inspect", archive), ("faults", "list")):
        reader, writer = os.pipe()
        os.close(reader)
        done = limited(l4, *words, stdout=writer, env={"TMPDIR": str(temporary)})
        os.close(writer)
        expect.equal((done.returncode, done.stderr), (141, b""),
                     f"l4 {words[0]} into a closed pipe: ends without a word")
    expect.equal(os.listdir(temporary), [], "a closed pipe: temporary files are gone")
    closed = subprocess.run(["sh", "-c", f'"{l4.binary}" diagnose "{support.SAMPLE}" >&- 2>&1'],
                            check=False)
    expect.equal(closed.returncode, 2, "standard output closed: exit")


def signals(l4, expect, folder):
    """A signal in the middle ends the program as usual; no temporary file stays."""
    spooled = odd_contents.write(folder / "job") / "node-00" / "rank0.log"
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        temporary = folder / f"tmp{int(number)}"
        temporary.mkdir()
        process = subprocess.Popen([l4.binary, "diagnose", "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**os.environ, "TMPDIR": str(temporary)})
        process.stdin.write(spooled.read_bytes())
        process.stdin.flush()
        deadline = time.monotonic() + 30
        while not list(temporary.rglob("stdin")) and time.monotonic() < deadline:
            time.sleep(0.002)
        expect.that(list(temporary.rglob("stdin")), f"{number.name}: input was being kept")
        process.send_signal(number)
        expect.equal(process.wait(30), -number, f"{number.name}: ends by it")
        process.stdin.close()
        expect.equal(os.listdir(temporary), [], f"{number.name}: temporary files are gone")


def many_files(l4, expect, folder):
    """Few descriptors, little address space; four times the files take about four times as long."""
    seconds = []
    for count in (MANY_FILES // 4, MANY_FILES):
        job = folder / f"many{count}"
        for rank in range(count):
            node = job / f"node-{rank // 8:04d}"
            node.mkdir(parents=True, exist_ok=True)
            (node / f"rank{rank}.log").write_text("".join(
                f"2026-11-20T15:54:{step:02d}Z INFO trainer: iteration {step}/9000 | loss 2.31\n"
                for step in range(20)))
        done = limited(l4, "diagnose", job, "--format", "json", "--threads", "64", descriptors=64,
                       space=TWO_GB)
        expect.equal((done.returncode, done.stderr), (0, b""), f"{count} files, little of all")
        expect.that(f'"files": {count}'.encode() in done.stdout or
                    f'"sources": {count}'.encode() in done.stdout, f"{count} files: all read",
                    done.stdout[:300])
        seconds.append(done.seconds)
    print(f"{MANY_FILES // 4} and {MANY_FILES} files: {seconds[0]:.2f} s and {seconds[1]:.2f} s")
    expect.that(seconds[1] < 12 * seconds[0] + 1, "time grows with the number of files", seconds)


def garbage(l4, expect, folder):
    """Garbage takes about the time of text, whether a head of text stands before it or not."""
    piece = random.Random(1).randbytes(1 << 20)
    head = "".join(odd_contents.life(0, lambda step: odd_contents.NONE)).encode()
    table = bytes(i * i // 7 % 251 for i in range(1 << 20))
    seconds = {}
    for name, first, rest in (("text", head, head * ((1 << 20) // len(head))),
                              ("garbage", b"", piece), ("behind", head, piece),
                              ("tables", head, table)):
        job = odd_contents.write(folder / name)
        with open(job / "node-00" / "odd.log", "wb") as file:
            file.write(first)
            for _ in range(GARBAGE_MB):  # never all at once: a child's peak begins with ours
                file.write(rest)
        done, report = l4.report(job, timeout_s=support.TIMEOUT_S)
        seconds[name] = done.seconds
        odd_contents.crash_found(expect, done, report, f"{name} beside good logs")
        told = [w for w in report.get("warnings", []) if w["file"].endswith("odd.log")
                and w["kind"] == "binary"]
        expect.equal(len(told), int(name != "text"), f"{name} beside good logs: told")
        if told:
            expect.that(told[0]["bytes"] > GARBAGE_MB << 19, f"{name}: how much", told)
        if not support.SANITIZED:
            expect.that(done.rss_mb < RSS_LIMIT_MB, f"{name}: peak", done.rss_mb)
    print(f"{GARBAGE_MB} MB:", ", ".join(f"{name} {s:.2f} s" for name, s in seconds.items()))
    if not support.SANITIZED:
        for name in ("garbage", "behind", "tables"):
            expect.that(seconds[name] < 4 * seconds["text"] + 1, f"{name}: time", seconds)
    alone = folder / "alone.bin"
    alone.write_bytes(piece)
    done, _ = l4.report(alone)
    expect.that(done.status == 3 and "alone.bin" in done.stderr, "garbage alone", done.stderr)


def bombs(l4, expect, folder):
    """A small file that unpacks to a large one: memory is bounded; for zstd, growth beyond a
    thousandfold is a warning."""
    for ending, pack in (("gz", gzip.compress), ("zst", odd_contents.zstd())):
        if pack is None:
            continue
        text = b"2026-11-20T15:54:00Z INFO service: beat " + b"x" * 4055 + b"\n"
        job = odd_contents.write(folder / ending)
        member = pack(text * (16 << 20 >> 12))
        (job / "node-00" / f"bomb.log.{ending}").write_bytes(member * (BOMB_MB // 16))
        done, report = l4.report(job, timeout_s=support.TIMEOUT_S)
        odd_contents.crash_found(expect, done, report, f".{ending} bomb")
        size = report.get("job", {}).get("bytes", 0)
        told = [w for w in report.get("warnings", []) if w["file"].endswith(ending)]
        expect.that(size >= BOMB_MB // 16 * 16 << 20 or told, f".{ending} bomb: read or told",
                    (size, told))
        print(f".{ending} bomb of {BOMB_MB} MB: {done.seconds:.1f} s, peak {done.rss_mb:.0f} MB")
        if not support.SANITIZED:
            expect.that(done.rss_mb < RSS_LIMIT_MB, f".{ending} bomb: peak", done.rss_mb)


def memory(l4, expect, folder):
    """Too little memory ends the program with a message and SIGTERM (143 where a second thread has
    none, either) or 3, never with an abort."""
    if support.SANITIZED:
        return
    job = odd_contents.write(folder / "job")
    short = dead = 0
    for space in range(48 << 20, 1 << 30, 4 << 20):
        if limited(l4, "--version", space=space).returncode != 0:
            continue  # the libraries alone need more
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            done = limited(l4, "diagnose", job, space=space, env={"TMPDIR": temporary})
            expect.equal(os.listdir(temporary), [], f"{space >> 20} MB: temporary files left")
        if done.returncode == 0:
            break
        short += 1
        told = {-signal.SIGTERM: b"out of memory", 128 + signal.SIGTERM: b"out of memory",
                3: b"cannot start a thread"}
        ended = done.returncode
        if ended == -signal.SIGSEGV:  # jemalloc, where a new thread gets no arena: 2 MB wide
            dead += 1
            continue
        if expect.that(ended in told, f"{space >> 20} MB: how it ends", ended):
            expect.that(told[ended] in done.stderr, f"{space >> 20} MB: told", done.stderr)
    expect.that(dead <= 1, "little memory: sizes at which the allocator itself dies", dead)
    expect.that(short > 0, "little memory: at least one size was too little", short)


def run(l4, expect, folder):
    for part in (outputs, signals, many_files, garbage, bombs, memory):
        (folder / part.__name__).mkdir()
        part(l4, expect, folder / part.__name__)
