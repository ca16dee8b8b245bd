#!/usr/bin/env python3
"""Small jobs of several files, in kinds that were judged wrongly: state, and first suspect node.

usage: small_jobs.py L4
"""
import datetime
import pathlib
import sys
import tempfile

import support

BEGIN = datetime.datetime(2026, 5, 11, 1, 0, 0)
CLOCKS = ("%Y-%m-%d %H:%M:%S,000 INFO ", "[%Y-%m-%dT%H:%M:%SZ] ", "%Y/%m/%d %H:%M:%S INFO ")
TRACE = 'Traceback (most recent call last):\n  File "fit.py", line 8, in fit\n    go()\n'
ERRORS = ("RuntimeError: CUDA error: an illegal memory access was encountered",
          "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB.",
          "ValueError: 7 heads do not divide 30 channels")
LIMITS = ("slurmstepd: error: *** JOB 83 ON n0 CANCELLED AT 2026-05-11T01:10:00 DUE TO TIME LIMIT"
          " ***", "slurmstepd: error: *** STEP 9.0 ON n1 CANCELLED AT 2026-05-11T01:10:00 DUE TO "
          "TIME LIMIT ***", "=>> PBS: job killed: walltime 605 exceeded limit 600")
FAULTS = ("RuntimeError: No CUDA GPUs are available",
          "nvidia-smi: Unable to determine the device handle for GPU0000:B8:00.0: Unknown Error",
          "torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered")
WARNINGS = ("[c10d] recvValue failed on SocketImpl(fd=61, addr=[::]:1200, remote=[::]:29500): "
            "Connection reset by peer",
            "[c10d] sendBytes failed on SocketImpl(fd=8, addr=[::]:401, remote=[::]:29400): "
            "Broken pipe",
            "[c10d] recvVector failed on SocketImpl(fd=17, addr=[::]:77, remote=[::]:29501): "
            "Connection was likely closed. Did the remote server shutdown or crash?")
DEATHS = ("Segmentation fault (core dumped)", "Bus error (core dumped)",
          "Fatal Python error: Segmentation fault")


def at(clock, seconds, text):
    return (BEGIN + datetime.timedelta(seconds=seconds)).strftime(clock) + text + "\n"


def steps(clock, numbers, seconds_each=4, begin=20):
    return "".join(at(clock, begin + number * seconds_each,
                      f"iteration {number}/900 | loss {9 - number / 200:.4f}")
                   for number in numbers)


def early_stamp(form, twin):
    """A launcher speaks by a clock that is hours ahead; then one rank fails."""
    clock = CLOCKS[form]
    ahead = (9, 12, 5)[form] * 3600
    head = at(clock, ahead, "launcher: spreading work") + at(clock, ahead + 2, "launcher: ready")
    body = head + at(clock, 10, "model is built") + steps(clock, range(1, 61))
    end = "" if twin else TRACE + ERRORS[form] + "\n"
    return [body + (end if node == 1 else "") for node in range(3)]


def rare(form, twin):
    """Numbers at odd distances; iterations take three times as long from the middle on."""
    numbers = [3, 9, 26, 31, 50, 57, 72, 90, 96, 110, 127, 133, 150, 158][:(12, 13, 14)[form]]
    middle = numbers[len(numbers) // 2]
    slow = 4 if twin else 12
    return [at(CLOCKS[form], 0, "model is built") + "".join(
        at(CLOCKS[form], 20 + 4 * min(number, middle) + slow * max(0, number - middle),
           f"iteration {number}/900 | loss {9 - number / 200:.4f}")
        for number in numbers) for _ in range(3)]


def limit(form, twin):
    """The batch system ends all nodes but one, which fell silent before."""
    clock = CLOCKS[form]
    return [at(clock, 0, "model is built") +
            (steps(clock, range(1, 90)) if node == 2 and not twin else
             steps(clock, range(1, 91)) + at(clock, 600, LIMITS[form])) for node in range(5)]


def last_line(form, _):
    """The last line of a rank has no time, and tells how it died."""
    clock = CLOCKS[form]
    full = at(clock, 0, "model is built") + steps(clock, range(1, 91))
    cut = at(clock, 0, "model is built") + steps(clock, range(1, 88))
    lost = at(clock, 384, "NCCL WARN: connection closed by remote peer")
    return [cut + DEATHS[form] + "\n" if node == 1 else full + lost for node in range(4)]


def nothing_else(form, twin):
    """The logs of all nodes hold nothing but the failure: the job never began."""
    clock = CLOCKS[form]
    end = 384 if twin else 10
    echo = at(clock, end + 2, "torch.distributed.DistBackendError: NCCL error: remote process "
              "exited or there was a network error") + \
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
    before = steps(clock, range(1, 91)) if twin else ""
    return [before + (at(clock, end, FAULTS[form]) if node == 2 else "") + echo
            for node in range(4)]


def warned(form, twin):
    """One node falls silent; all others end with a warning that also comes at a good end."""
    clock = CLOCKS[form]
    last = 901 if twin else 91
    full = at(clock, 0, "model is built") + steps(clock, range(1, last))
    end = full + (at(clock, 3630, "training finished successfully") if twin else "") + \
        at("[W511 %H:%M:%S.000000000 TCPStore.cpp:106] ", 3640 if twin else 400, WARNINGS[form])
    quiet = full if twin else at(clock, 0, "model is built") + steps(clock, range(1, 89))
    return [quiet if node == 3 else end for node in range(6)]


SHARES = (0.7, 1.3, 0.6, 1.0, 1.4, 0.75, 1.2)
RATES = ("tokens/s: {:.1f}", "tps: {:.0f}  tflops: 131.5", "samples/sec: {:.2f}")


def rated(form, twin):
    """Times between the lines scatter; the rate that they print falls in the middle for good."""
    texts = []
    for _ in range(3):
        now, text = 20.0, at(CLOCKS[form], 0, "model is built")
        for number in range(1, 31):
            slow = 1.7 if number > 17 and not twin else 1
            now += 40 * slow * SHARES[number % 7]
            rate = RATES[form].format(7663.5 / slow + number % 3)
            text += at(CLOCKS[form], int(now), f"step: {5 * number}  loss: {9 - number / 200:.4f}  "
                       f"memory: 30.91GiB  {rate}")
        texts.append(text)
    return texts


# Kind, its job, states, first suspect node, states of its twin.
KINDS = (
    ("a stamp of another clock", early_stamp, {"crashed"}, "n1",
     {"healthy", "unknown"}),
    ("numbers printed rarely", rare, {"slow"}, None, {"healthy", "unknown"}),
    ("a limit behind a lost node", limit, {"node_lost"}, "n2", {"crashed"}),
    ("a last line without a time", last_line, {"crashed", "node_lost"}, "n1", set()),
    ("nothing but the failure", nothing_else, {"launch_failed"}, "n2", {"crashed"}),
    ("rates where times scatter", rated, {"slow"}, None, {"healthy", "unknown"}),
    ("a lost peer that is only warned of", warned, {"node_lost"}, "n3", {"finished"}),
)


def write(folder, texts):
    for node, text in enumerate(texts):
        log = pathlib.Path(folder, f"n{node}", f"rank{node}.log")
        log.parent.mkdir(parents=True)
        log.write_text(text)


def judge(l4, expect, what, texts, states, node):
    with tempfile.TemporaryDirectory(prefix="l4-small-jobs-") as folder:
        write(folder, texts)
        done, report = l4.report(folder)
    if not expect.diagnosed(done, report, what):
        return
    expect.that(report["verdict"]["state"] in states, f"{what}: state", report["verdict"]["state"])
    if states == {"slow"}:
        begun = report["verdict"]["iteration"]
        expect.that(begun is not None and 72 <= begun <= 110, f"{what}: first slow one", begun)
    if node is not None:
        expect.equal(support.first(report["nodes"], "node"), node, f"{what}: first node")


def main():
    l4, expect = support.start(sys.argv, "small jobs")
    for kind, make, states, node, twin_states in KINDS:
        for form in range(3):
            judge(l4, expect, f"{kind}, form {form}", make(form, False), states, node)
            if twin_states:
                judge(l4, expect, f"{kind}, twin {form}", make(form, True), twin_states, None)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
