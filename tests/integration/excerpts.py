#!/usr/bin/env python3
"""Ends of logs, as they are pasted into questions: the state, and the first event.

usage: excerpts.py L4
"""
import pathlib
import sys
import tempfile

import support

WATCHDOG = ("[rank3]:[E918 07:11:02.123456789 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught "
            "collective operation timeout: WorkNCCL(SeqNum=40211, OpType=ALLREDUCE, NumelIn=1048576"
            ", NumelOut=1048576, Timeout(ms)=600000) ran for 600029 milliseconds before timing out."
            "\n")
START = ("[2026-09-18 07:00:00,000] [INFO] [engine.py:100:train] loading optimizer state\n"
         "[2026-09-18 07:00:50,000] [INFO] [engine.py:120:train] resuming training at step 1200\n")
CUT = 'Traceback (most recent call last):\n  File "train.py", line 7, in main\n    step()\n'
FULL_DISK = ('Traceback (most recent call last):\n  File "save.py", line 4, in save\n    write()\n'
             "OSError: [Errno 28] No space left on device\n")
CHAINED = (FULL_DISK + "\nDuring handling of the above exception, another exception occurred:\n\n"
           'Traceback (most recent call last):\n  File "save.py", line 9, in close\n    end()\n'
           "RuntimeError: [enforce fail at inline_container.cc:337] . unexpected pos 512 vs 406\n")

# Name, text, state, a part of the first event's text.
EXCERPTS = [
    ("a watchdog alone", WATCHDOG, "hung", "Watchdog caught"),
    ("a watchdog after the start", START + WATCHDOG, "hung", "Watchdog caught"),
    ("a watchdog's exception",
     "terminate called after throwing an instance of 'c10::DistBackendError'\n"
     "  what():  [Rank 12] NCCL watchdog thread terminated with exception: " + WATCHDOG[51:],
     "hung", "terminate called"),
    ("ranks that did not come",
     START + "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. "
     "3/4 clients joined.\n", "launch_failed", "Timed out after"),
    ("an error before the watchdog",
     "RuntimeError: CUDA error: uncorrectable ECC error encountered\n" + WATCHDOG, None,
     "ECC error"),
    ("a chain of exceptions", CHAINED, None, "No space left"),
    ("a traceback that is cut off", FULL_DISK + CUT, None, "No space left"),
]


def main():
    l4, expect = support.start(sys.argv, "excerpts")
    with tempfile.TemporaryDirectory(prefix="l4-excerpts-") as folder:
        for number, (what, text, state, first) in enumerate(EXCERPTS):
            log = pathlib.Path(folder, f"excerpt{number}.log")
            log.write_text(text)
            done, report = l4.report(log)
            if not expect.diagnosed(done, report, what):
                continue
            if state is not None:
                expect.equal(report["verdict"]["state"], state, f"{what}: state")
            shown = support.first(report["events"], "template") or ""
            expect.that(first in shown, f"{what}: first event", shown)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
