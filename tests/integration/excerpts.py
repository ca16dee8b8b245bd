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


def bar(done, total, seconds, behind=""):
    """A progress bar as it is drawn, and what another writer prints behind it."""
    return (f"\r{100 * done // total:3d}%|#         | {done}/{total} "
            f"[00:{done * seconds:02d}<09:00, {seconds}.00s/it]{behind}\n")


def at(line, seconds, rank=0):
    """A line of PyTorch's C++ logger."""
    return (f"[rank{rank}]:[E405 03:{seconds // 60:02d}:{seconds % 60:02d}.285624929 "
            f"ProcessGroupNCCL.cpp:688] [Rank {rank}] {line}\n")


TIMEOUT = ("Watchdog caught collective operation timeout: WorkNCCL(SeqNum=40, OpType={}, "
           "NumelIn=8, NumelOut=8, Timeout(ms)=600000) ran for 600053 milliseconds before timing "
           "out.")
STAMPED = "".join(f"2026-04-05 03:00:{second:02d},000 [INFO] main: reading part {second}\n"
                  for second in range(5, 45, 4))
ABORTED = at("To avoid data inconsistency, we are taking the entire process down.", 1260)
STEPS = "".join(f"iteration {i}: loss={9 - i / 10:.3f}\n" for i in range(1, 31))
KEEP_ALIVE = ("W0403 16:15:06.176000 538977 torch/distributed/elastic/rendezvous/"
              "dynamic_rendezvous.py:1331] The node 'gpu-{}_538977_0' has failed to send a "
              "keep-alive heartbeat to the "
              "rendezvous '1365' due to an error of type {}.\n")
NOT_DESTROYED = ("[rank{0}]:[W403 16:14:57.65993062{0} ProcessGroupNCCL.cpp:1250] Warning: "
                 "WARNING: process group has NOT been destroyed before we destruct "
                 "ProcessGroupNCCL.\n")
LEFT = NOT_DESTROYED.format(0) + NOT_DESTROYED.format(1)
FILLER = "".join(f"loading shard part-{i:05d} of the corpus\n" for i in range(40))
CANCELLED = "slurmstepd: error: *** JOB {} ON node-7 CANCELLED AT 2026-11-16T03:47:55 ***\n"
OOM_KILLS = ("slurmstepd: error: Detected {} oom_kill events in StepId={}. Some of the step tasks "
             "have been OOM Killed.\n")

# Kinds that were judged wrongly, each in three wordings.
LAST_WORDS = ("2024-04-12 03:32:54.942117: F client.h:80] Terminating process because the JAX "
              "distributed service detected fatal errors. This most likely indicates that another "
              "task died; see the other task logs for more details.\n")
KINDS = [
    # Nobody knows when the bar was drawn; what stands behind it in the file came later.
    *((f"a time-out behind a bar without a time: {kind}",
       STAMPED + bar(0, 200, 3, "Could not estimate the number of tokens") +
       at("Warning: found no unused parameters in the forward pass.", 60, 1) +
       bar(1, 200, 3, at(TIMEOUT.format(kind), 1200).rstrip()) +
       at(TIMEOUT.format(kind), 1200, 1) + ABORTED, "hung", "Watchdog caught")
      for kind in ("_ALLGATHER_BASE", "ALLREDUCE", "BROADCAST")),
    # A nested bar moves the cursor up before another process speaks.
    *((f"an error behind a nested bar: {error}",
       at("using GPU 1 to perform barrier", 50, 1) + "reading the data set\n" + STAMPED +
       bar(1, 93, 9) + bar(3, 93, 9) + "***** Running Evaluation *****\n" +
       bar(2, 414, 6, "\x1b[A") + bar(3, 414, 6, "\x1b[A") +
       bar(4, 414, 6, "\x1b[A[rank1]: Traceback (most recent call last):") +
       f'[rank1]:   File "train.py", line 7, in step\n[rank1]: {error}\n' +
       at("failed (exitcode: 1) local_rank: 1", 500), "crashed", error.split(":")[0])
      for error in ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 24.00 GiB.",
                    "RuntimeError: CUDA error: device-side assert triggered",
                    "ValueError: batch of 3 rows does not fit 4 ranks")),
    # A line says how long it waited; what failed in a thread before left the program there.
    *((f"a wait by its own words: {error}",
       STEPS + "Exception in thread Thread-7 (Feeder):\nTraceback (most recent call last):\n"
       '  File "feed.py", line 7, in run\nRuntimeError: the page pool is used up\n'
       'Traceback (most recent call last):\n  File "train.py", line 7, in step\n' + error + "\n",
       "hung", "the page pool is used up")
      for error in ("RuntimeError: Time out when the reader waits for a batch at 600 seconds.",
                    "queue.Full: gave up waiting for the writer after 20 minutes",
                    "StoreError: no key of rank 3, timed out after 900000 ms")),
    # Bars tell how much time went by, but not from when on: no pause before the failure is known.
    *((f"bars whose begin nobody knows: {error}",
       STAMPED + "".join(bar(i, 50, 1, "\n") for i in range(1, 41)) +
       f"F0405 03:25:00.285624 538 client.cc:84] {error}\n*** Check failure stack trace: ***\n",
       "crashed", error.split(":")[0])
      for error in ("Non-OK-status: INTERNAL: Core 0 halted unexpectedly",
                    "Check failed: shape.rank() == 2 (3 vs. 2)",
                    "Fatal: the device does not answer")),
    # The report of a communicator names the ranks that are not there, and waits for them.
    *((f"a report of missing ranks: {line}",
       "".join(at(f"iteration {i} loss 2.{i}", i) for i in range(1, 31)) + line + "\n",
       "hung", part)
      for line, part in (
          ("Not all ranks joining collective, sequence number: 77\nmissing ranks: {3}",
           "Not all ranks joining"),
          ("#0-0 MISMATCH\n  Communicator ranks have different collective operation counts\n"
           "  Rank 9 -- GPU 1 managed by process 811 on node 10.9.8.7", "operation counts"),
          ("collective: nccl:all_gather\nmissing ranks: {0, 7}", "missing ranks"))),
    # A controller logs the failure of a pod as a change of its state.
    *((f"a pod that failed, at the level of information: {line}",
       "".join(f"2026-01-27 07:30:{i:02d},259 INFO perf: global step {i} loss 1.{i}\n"
               for i in range(1, 41)) +
       f"2026-01-27 07:30:41,259 INFO manager: {line}\n", "crashed", part)
      for line, part in (("[train-worker-5][status_update][Running to Failed]", "Failed"),
                         ("sync job ml/llm, Event:PodFailed, ExitCode:137", "PodFailed"),
                         ("pod train-worker-2: Running -> Failed", "Failed"))),
    # Systems tell the outcome of what they ran, and a line before it why.
    *((f"an outcome behind its reason: {outcome}",
       "".join(f"Aug 19 23:20:{i:02d} dl04 run.sh[4811]: step {i} loss 2.{i}\n"
               for i in range(1, 41)) +
       f"Aug 19 23:20:42 dl04 {reason}\nAug 19 23:20:43 dl04 {outcome}\n", "crashed", part)
      for reason, outcome, part in (
          ("systemd[1]: tts.service: A process of this unit has been killed by the OOM killer.",
           "systemd[1]: tts.service: Failed with result 'oom-kill'.", "OOM killer"),
          ("am[7]: ERROR Container [pid=12069] is running beyond the 'PHYSICAL' memory limit",
           "am[7]: INFO Application finished with final status: FAILED", "beyond the"),
          ("cobalt[9]: Info: maximum execution time exceeded; initiating job termination",
           "cobalt[9]: Info: task completed normally with an exit code of 143", "maximum exec"))),
    # Of lines about a peer the first leads, not the worst.
    *((f"the first of the lines about a lost peer: {first}",
       STEPS + f"{first}\n" + LAST_WORDS, None, part)
      for first, part in (
          ("2024-04-12 03:32:54.700000: E coordination_service.cc:1325] "
           "/job:jax_worker/replica:0/task:1 has been set to ERROR in coordination service: "
           "UNAVAILABLE: Task /job:jax_worker/replica:0/task:1 heartbeat timeout.", "set to ERROR"),
          ("2024-04-12 03:32:54.700000: E coordination_service_agent.cc:482] Coordination agent is "
           "set to ERROR: UNAVAILABLE", "Coordination agent"),
          ("2024-04-12 03:32:54.700000: E client.cc:7] UNAVAILABLE: The following tasks are "
           "unhealthy (stopped sending heartbeats): task 1", "unhealthy"))),
    # A tracker that closes its run ended with the program, which printed no exception.
    *((f"a tracker's last words: {word}",
       "".join(f"2026-01-27 07:30:{i:02d},259 INFO perf: global step {i} loss 1.{i}\n"
               for i in range(1, 41)) + f"wandb: {word}\n", "finished", None)
      for word in ("Find logs at: ./wandb/run-1/logs", "\U0001f680 View run a at: x\nwandb: Find "
                   "logs at: /data/wandb/run-2/logs", "Synced 5 files\nwandb: Find logs at: w/l")),
    # srun cancels its own step when a task fails.
    *((f"a step that is cancelled behind a failure: {error}",
       STEPS + f'Traceback (most recent call last):\n  File "a.py", line 3, in b\n{error}\n'
       "slurmstepd: error: *** STEP 4711.0 ON node-7 CANCELLED AT 2026-11-16T03:47:55 ***\n",
       "crashed", error.split(":")[0])
      for error in ("OSError: [Errno 5] Input/output error", "ValueError: no such shard",
                    "gzip.BadGzipFile: CRC check failed")),
    # The sentence around an exception tells that it was caught.
    *((f"a heartbeat that failed with a {error} after the end",
       STEPS + f"\n{head}\nStep time: 2.35s\n" + LEFT + KEEP_ALIVE.format(4, error),
       "finished", None)
      for error, head in (("RendezvousTimeoutError", "=== Summary over 20 iterations ==="),
                          ("RendezvousConnectionError", "--- Training summary ---"),
                          ("RendezvousTimeoutError", "*** Summary of 30 steps ***"))),
    # A batch system that ends a job at its memory limit may first say that it was cancelled.
    *((f"a memory limit of job {job}",
       FILLER + CANCELLED.format(job) + OOM_KILLS.format(kills, job),
       None, "oom_kill") for job, kills in (("91762", 1), ("4711", 3), ("88", 12))),
    # How long a first iteration takes nobody knows.
    *((f"a job cancelled before its first iteration: {loader}",
       f"[2026-08-20 18:00:01,000] [INFO] [train.py:7:main] {loader}\n" +
       f"  0%|          | 0/{total} [00:00<?, ?it/s]model.train()\n"
       "[2026-08-20 18:37:19,000] [INFO] [train.py:9:main] compiled\n" +
       CANCELLED.format(5).replace("2026-11-16T03:47:55", "2026-08-20T19:53:05"),
       "crashed", "CANCELLED")
      for loader, total in (("data loader ready", 100005), ("reader started", 500),
                            ("prefetch is on", 9000))),
    # A watch that cannot be set is no full disk.
    *((f"no room for a watch: {line}", FILLER + line + "\n" + FILLER + "training ...\n"
       "[after training is done] datetime: 2024-08-26 14:32:36 \n", "finished", None)
      for line in ("[1724682420.890842] [gpu-3:85732:f] vfs_fuse.c:281  UCX  ERROR "
                   "inotify_add_watch(/tmp) failed: No space left on device",
                   "ERROR tail: inotify_add_watch(/var/log/x) failed: No space left on device",
                   "watcher: inotify_init1(IN_CLOEXEC) failed: No space left on device")),
    # What healthy runs of the same program warn of leads no hang.
    *((f"a warning of healthy runs: {warning[:30]}", START + warning + "\n" + WATCHDOG, "hung",
       "Watchdog caught")
      for warning in ("[WARNING|tokenization_utils_base.py:4093] 2026-09-18 07:00:51,227 >> Token "
                      "indices sequence length is longer than the specified maximum sequence length"
                      " for this model (4100 > 2048). Running this sequence through the model will "
                      "result in indexing errors",
                      "UserWarning: This DataLoader will create 24 worker processes in total. Our "
                      "suggested max number of worker in current system is 8",
                      "PossibleUserWarning: The `srun` command is available on your system but is "
                      "not used. HINT: If your intention is to run Lightning on SLURM")),
]


def main():
    l4, expect = support.start(sys.argv, "excerpts")
    with tempfile.TemporaryDirectory(prefix="l4-excerpts-") as folder:
        for number, (what, text, state, first) in enumerate(EXCERPTS + KINDS):
            log = pathlib.Path(folder, f"excerpt{number}.log")
            log.write_text(text)
            done, report = l4.report(log)
            if not expect.diagnosed(done, report, what):
                continue
            if state is not None:
                expect.equal(report["verdict"]["state"], state, f"{what}: state")
            if first is not None:
                shown = support.first(report["events"], "template") or ""
                expect.that(first in shown, f"{what}: first event", shown)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
