"""Training jobs made by script: seeded, one file per rank, NODE/rankK.log, times on every line.

A `MadeJob` is a healthy run that ends well. A scenario then takes lines away (`stop`) and adds some
(`say`), and `write` leaves the folder with file times as a live run would. One rank on each node.

Each iteration of a rank is LINES, in that order; only the last one prints the iteration's number.
"""
import datetime
import os
import pathlib
import random

EPOCH = datetime.datetime(2026, 3, 1, 10, 0, 0, tzinfo=datetime.timezone.utc)
STARTUP_S, STEP_S = 12.0, 2.0
LINES = (
    (0.02, "INFO  data: batch of 4 samples ready in {ms:.1f} ms"),
    (0.45, "INFO  trainer: forward pass of 8 microbatches took {ms:.1f} ms"),
    (1.25, "INFO  trainer: backward pass took {ms:.1f} ms"),
    (1.30, "INFO  comm: entering gradient all-reduce of 17 buckets"),
    (1.55, "INFO  comm: gradient all-reduce done in {ms:.1f} ms"),
    (1.60, "INFO  optimizer: gradient norm clipped to {unit:.4f}"),
    (1.65, "INFO  optimizer: parameters updated in {ms:.1f} ms, learning rate 3.0e-04"),
    (1.70, "INFO  trainer: iteration {i}/{n} | loss {loss:.4f} | elapsed_ms {ms:.1f}"),
)
ALL_REDUCE = 4      # the last line that a rank prints when it waits for the others
NOISE = (           # probability per rank and iteration
    (0.010, "WARNING data: slow batch: loading took {big} ms (threshold 100 ms)"),
    (0.008, "INFO  memory: garbage collection freed {big} objects"),
    (0.004, "WARNING comm: bucket {small} arrived late by {small} ms"),
)
LOUD_NOISE = (
    (0.010, "ERROR metrics: push to 127.0.0.1:9091 failed: connection refused (attempt {small})"),
    (0.006, "ERROR data: sample doc-{big} has {small} token ids out of vocabulary, replaced"),
)


def rfc3339(seconds):
    text = (EPOCH + datetime.timedelta(seconds=seconds)).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


class MadeJob:
    """Lines of a rank: (seconds since EPOCH, text, (iteration, number of the line) or None)."""

    def __init__(self, nodes, seed, iterations=60, loud=False):
        self.nodes, self.iterations, self.seed = nodes, iterations, seed
        self.noise = NOISE + (LOUD_NOISE if loud else ())
        self.skew = [random.Random(f"{seed}/skew/{r}").gauss(0, 0.01) for r in range(nodes)]
        self.lines = [self._life(rank) for rank in range(nodes)]

    def node(self, rank):
        return f"node-{rank:03d}"

    def begin(self, iteration):
        """Time at which an iteration begins; evaluations and checkpoints take extra time."""
        done = iteration - 1
        return STARTUP_S + done * STEP_S + (done // 20) * 3.0 + (done // 25) * 4.0

    def _life(self, rank):
        rng = random.Random(f"{self.seed}/{rank}")
        lines = []

        def say(at, text, key=None):
            lines.append((at + self.skew[rank] + rng.uniform(0, 0.02), text, key))

        say(0.0, f"INFO  trainer: started pid {rng.randrange(1000, 60000)} on {self.node(rank)} "
                 f"rank {rank} world_size {self.nodes}")
        say(0.1, "INFO  trainer: initializing torch distributed, backend nccl, master node-000")
        say(3.2, f"INFO  trainer: initializing torch distributed done in {rng.uniform(2, 4):.3f} s")
        say(3.3, "INFO  trainer: building GPT model")
        say(6.0, f"INFO  trainer: building GPT model done in {rng.uniform(2, 3):.3f} s")
        say(6.1, "INFO  trainer: building train, validation, and test datasets from /mnt/corpus")
        say(9.0, f"INFO  data: found {rng.randrange(5, 9)} shards, shuffle seed {self.seed}")
        for i in range(1, self.iterations + 1):
            self._iteration(rank, i, rng, say)
        end = self.begin(self.iterations + 1)
        say(end + 5.0, f"INFO  trainer: training finished at iteration {self.iterations}")
        say(end + 5.5, f"INFO  trainer: exiting program at iteration {self.iterations}")
        return sorted(lines, key=lambda line: line[0])

    def _iteration(self, rank, i, rng, say):
        at = self.begin(i)
        loss = 2.0 + 8.0 / (i + 1) + 0.01 * random.Random(f"{self.seed}/loss/{i}").random()
        for number, (offset, text) in enumerate(LINES, 1):
            say(at + offset, text.format(i=i, n=self.iterations, loss=loss, unit=rng.random(),
                                         ms=1000 * offset + rng.uniform(1, 30)), (i, number))
        for probability, text in self.noise:
            if rng.random() < probability:
                say(at + rng.uniform(0.03, 1.2),
                    text.format(big=rng.randrange(110, 900), small=rng.randrange(1, 17)))
        if i % 20 == 0:
            say(at + 1.80, "INFO  trainer: evaluating on the validation set")
            say(at + 4.70, f"INFO  trainer: validation loss {loss + 0.1:.4f}, evaluating done")
        if i % 25 == 0:
            say(at + 1.85, f"INFO  trainer: saving checkpoint to /mnt/ckpt/iter_{i:07d}")
            say(at + 5.60, f"INFO  trainer: checkpoint shard written in {rng.uniform(3, 4):.2f} s")

    def moment(self, rank, iteration, lines):
        """Time at which the rank prints line number `lines` (from 1) of that iteration."""
        return next(at for at, _, key in self.lines[rank] if key == (iteration, lines))

    def stop(self, rank, iteration, lines):
        """The rank falls silent right after line number `lines` (from 1) of that iteration."""
        last = self.moment(rank, iteration, lines)
        self.lines[rank] = [line for line in self.lines[rank] if line[0] <= last]

    def stop_all(self, iteration, lines, but=()):
        for rank in range(self.nodes):
            if rank not in but:
                self.stop(rank, iteration, lines)

    def say(self, rank, at, text):
        """Adds a line at that time by the rank's own clock."""
        self.lines[rank].append((at, text, None))
        self.lines[rank].sort(key=lambda line: line[0])

    def end(self):
        return max(lines[-1][0] for lines in self.lines if lines)

    def write(self, folder):
        for rank, lines in enumerate(self.lines):
            path = pathlib.Path(folder, self.node(rank), f"rank{rank}.log")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{rfc3339(at)} {text}\n" for at, text, _ in lines),
                            encoding="utf-8")
            if lines:
                when = EPOCH.timestamp() + lines[-1][0]
                os.utime(path, (when, when))
        return pathlib.Path(folder)
