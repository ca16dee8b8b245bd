"""Clocks that jump, ranks that two files claim, unexpected names. Part of robustness.py.

Each job is one and the same crash: rank 5 of 8 reports a memory error behind iteration 300. It has
to be found whatever the clocks, ranks and names around it do.
"""
import datetime
import gzip
import os
import shutil
import subprocess

import support

BEGIN = datetime.datetime(2026, 12, 31, 23, 57, 0)
HOUR = datetime.timedelta(hours=1)
NONE = datetime.timedelta(0)
STEPS, FAILING = 300, 5


def life(rank, shift, stamp="%Y-%m-%d %H:%M:%S,000"):
    """Lines of a rank; `shift(step)` is the offset of its clock."""
    def line(step, text):
        time = BEGIN + datetime.timedelta(seconds=step) + shift(step)
        return f"{time.strftime(stamp)} {text}\n"
    for step in range(1, STEPS + 1):
        yield line(step, f"INFO trainer: iteration {step}/100000 | loss 2.31 | elapsed 1.0")
    if rank == FAILING:
        yield line(STEPS, "ERROR RuntimeError: CUDA error: uncorrectable ECC error encountered")


def write(job, shifts=None, node=lambda rank: f"node-{rank // 2:02d}",
          name=lambda rank: f"rank{rank}.log", stamp="%Y-%m-%d %H:%M:%S,000"):
    for rank in range(8):
        folder = job / node(rank)
        folder.mkdir(parents=True, exist_ok=True)
        shift = shifts(rank) if shifts else lambda step: NONE
        (folder / name(rank)).write_text("".join(life(rank, shift, stamp)))
    return job


# Name, offset of a rank's clock at a step, words that the warning must hold.
CLOCKS = [
    ("true clocks", lambda rank: lambda step: NONE, None),
    ("clocks set back", lambda rank: lambda step: -2 * HOUR if step > 150 else NONE,
     "times step back by"),
    ("clocks set ahead", lambda rank: lambda step: 50 * HOUR if step > 150 else NONE, None),
    ("a clock that bounces", lambda rank: lambda step: (step % 3 - 1) * HOUR if rank == 2 else NONE,
     "times step back by"),
    ("nodes hours apart", lambda rank: lambda step: rank // 2 * 3 * HOUR, "the clock of node-00"),
    ("daylight saving on one node",
     lambda rank: lambda step: HOUR if step > 150 and rank // 2 == 3 else NONE,
     "the clock of node-03"),
    ("a year wrong until the clock is set",
     lambda rank: lambda step: -9 * 8766 * HOUR if step < 50 else NONE, "times step ahead by"),
]


def crash_found(expect, done, report, what, node="node-02", rank=FAILING):
    if not expect.diagnosed(done, report, what):
        return False
    expect.equal(report["verdict"]["state"], "crashed", f"{what}: state")
    first = report["nodes"][0]["node"] if report["nodes"] else None
    expect.equal(first, node, f"{what}: first node")
    if rank is not None:
        expect.that(any(r["rank"] == rank for r in report["ranks"][:1]), f"{what}: first rank",
                    report["ranks"][:2])
    return True


def clocks(l4, expect, folder):
    for number, (what, shifts, words) in enumerate(CLOCKS):
        done, report = l4.report(write(folder / f"clock{number}", shifts))
        if not crash_found(expect, done, report, what):
            continue
        told = [w["reason"] for w in report["warnings"] if w["kind"] == "clock"]
        expect.that(any(words in t for t in told) if words else not told, f"{what}: told", told)
    for rank, what in ((0, "syslog"), (1, "glog")):
        stamp = ("%b %d %H:%M:%S host trainer[7]:", "I%m%d %H:%M:%S.000000  4711 train.cc:7]")[rank]
        done, report = l4.report(write(folder / f"year{rank}", stamp=stamp))
        what = f"new year in {what}'s times without one"
        if crash_found(expect, done, report, what):
            expect.equal([w for w in report["warnings"] if w["kind"] == "clock"], [], what)


def ranks(l4, expect, folder):
    job = write(folder / "twice", name=lambda rank: f"rank{rank % 4}.log")
    done, report = l4.report(job)
    if crash_found(expect, done, report, "ranks claimed twice", rank=FAILING % 4):
        told = [w for w in report["warnings"] if w["kind"] == "rank"]
        expect.equal(len(told), 4, "ranks claimed twice: told")
        expect.that(all("claimed by 2 nodes" in w["reason"] for w in told),
                    "ranks claimed twice: how", told)
    odd = ("-1", "99999999999", "2147483648", "-2147483648", "1e3", "18446744073709551616", "")
    job = write(folder / "odd")
    for number, text in enumerate(odd):
        (job / f"node-1{number}").mkdir()
        (job / f"node-1{number}" / f"rank{text}.log").write_text(
            "".join(life(99, lambda step: NONE)).replace("trainer:", f"[Rank {text}] trainer:"))
    done, report = l4.report(job)
    if crash_found(expect, done, report, "ranks out of range"):
        wrong = [r["rank"] for r in report["ranks"] if r["rank"] is not None and
                 not 0 <= r["rank"] < 1 << 24]
        expect.equal(wrong, [], "ranks out of range: none is believed")


NAMES = ["node with spaces", "n\u00f6de-\u4e2d\u6587", "n\x1b[31mred", "n\nl", "\x1b]0;t\x07n",
         "n\u202ee", "-rf", "\"quo,te'", "n" * 250, "\u00e9" * 120]


def names(l4, expect, folder):
    for number, name in enumerate(support.some_of(NAMES)):
        job = folder / f"names{number}"
        write(job, node=lambda rank, name=name: name if rank == FAILING else f"node-{rank:02d}")
        (job / name / f"{name[:120]}.log").write_text("INFO hello\n")
        (job / name / f"gone {name[:100]}.log").symlink_to("nowhere")
        done, report = l4.report(job)
        crash_found(expect, done, report, f"node called {name!r:.30}", node=name)
        for words in (("diagnose", job), ("inspect", job), ("diagnose", job / name / "nowhere"),
                      ("diagnose", job, "--format", "json", "--out", job / "report.json"),
                      ("diagnose", job, "--config", job / name)):
            run = l4.run(*words)
            shown = (run.stdout.decode("utf-8", "replace") + run.stderr)
            acting = [c for c in shown if c in "\x1b\x07\u202e" or (c < " " and c != "\n")]
            expect.equal(acting, [], f"l4 {words[0]} on {name!r:.30}: nothing acts on the terminal")
    done, report = l4.report(write(folder / "bytes").rename(folder / "b"))
    bad = bytes(folder / "b" / "node-00") + b"/bad\xff\xfe.log"
    with open(bad, "wb") as file:
        file.write(b"INFO hello\n")
    crash_found(expect, *l4.report(folder / "b"), "a file name that is no UTF-8")
    write(folder / "job")
    deep = str(folder / "deep")
    for _ in range(1000):  # pathlib and shutil would call themselves as often
        os.mkdir(deep)
        deep += "/d"
    os.rename(folder / "job", deep)
    crash_found(expect, *l4.report(folder / "deep"), "a thousand folders deep")
    subprocess.run(["rm", "-rf", str(folder / "deep")], check=True)


def packed(l4, expect, folder):
    """Packed files that are cut short, damaged, followed by other bytes, or unpack without end."""
    text = "".join(life(FAILING, lambda step: NONE)).encode()
    filler = b"".join(b"INFO service: beat %d of %d\n" % (i, i * i) for i in range(20000))
    for ending, pack in (("gz", gzip.compress), ("zst", zstd())):
        if pack is None:
            print("no program zstd: .zst is not tested")
            continue
        whole = pack(filler)
        damaged = bytearray(whole)
        damaged[len(whole) // 2] ^= 0xFF
        wrong_sum = bytearray(whole)
        wrong_sum[-6 if ending == "gz" else -2] ^= 0xFF
        rows = [("whole", whole, None), ("cut short", whole[:len(whole) // 2], "ends before"),
                ("damaged", bytes(damaged), "damaged"), ("wrong sum", bytes(wrong_sum), "damaged"),
                ("garbage behind", whole + b"and more", "behind the packed"),
                ("padding behind", whole + bytes(512), None),
                ("many members", b"".join(pack(b"INFO member\n") for _ in range(300)), None),
                ("a head alone", whole[:6], "ends before")]
        for what, data, words in rows:
            job = write(folder / f"{ending} {what}")
            (job / "node-00" / f"odd.log.{ending}").write_bytes(data)
            done, report = l4.report(job)
            if not crash_found(expect, done, report, f".{ending} {what}"):
                continue
            told = [w["reason"] for w in report["warnings"] if w["file"].endswith(ending)]
            expect.that(len(told) == 1 and words in told[0] if words else not told,
                        f".{ending} {what}: told", told)
            shutil.rmtree(job)
        job = folder / f"only-{ending}"
        for rank in range(2):
            (job / f"node-{rank}").mkdir(parents=True)
            (job / f"node-{rank}" / f"rank{rank}.log.{ending}").write_bytes(
                pack(text if rank == 1 else b"".join(pack_lines())))
        crash_found(expect, *l4.report(job), f".{ending} alone", node="node-1", rank=1)


def pack_lines():
    return (line.encode() for line in life(0, lambda step: NONE))


def zstd():
    """Packs with the program zstd, since Python has no module for it; None if it is missing."""
    if shutil.which("zstd") is None:
        return None
    return lambda data: subprocess.run(["zstd", "-qc", "--check"], input=data, check=True,
                                       capture_output=True).stdout


def run(l4, expect, folder):
    for part in (clocks, ranks, names, packed):
        (folder / part.__name__).mkdir()
        part(l4, expect, folder / part.__name__)
