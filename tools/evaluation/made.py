"""Jobs that train: what each rank of a made job prints and when, healthy or with one silent fault.

Place: styles.py gives the words, wordless.py chooses the jobs and writes them. A `Kind` is what the
runs of one job share; a `Run` says one run. Steps are synchronous: ranks load, compute forward and
backward by themselves and wait for the slowest in the exchange of gradients. Times are in seconds
since the start of the run, `Run.epoch` is that start. Seeded: the same seed gives the same lines.
"""
import dataclasses
import math
import random
import time

import styles

PHASES = ("data", "fwd", "bwd", "comm", "opt")
HOSTS = ("node%03d", "gpu-%d", "worker-%d", "dgx%02d", "r7i%dn2", "ip-10-0-14-%d", "h%04d")
PAUSE = 0.0004              # share of the steps of a rank that a pause prolongs, all healthy
HICCUP = 0.01               # share of the steps that take longer on all ranks


@dataclasses.dataclass
class Speaker:
    rank: int
    lrank: int
    node: int
    host: str
    pid: int
    skew: float
    lag: float
    rng: random.Random


@dataclasses.dataclass(frozen=True)
class Clockwork:
    """A line by the clock: every `every` seconds on average, from `who` of each node."""
    level: str
    text: str
    every: float
    regular: bool               # at a beat, else at random
    who: str                    # lead, all, any
    spread: float               # sigma of the logarithm of a node's own rate


@dataclasses.dataclass
class Fault:
    """One thing that differs; `what` is the text, phase or order concerned."""
    kind: str                   # count, stop, phase, late, order
    node: int
    rank: int
    step: int                   # first step concerned
    what: object = None
    factor: float = 1.0
    hidden: bool = False        # a phase that a prefetch hides: no step takes longer
    local: bool = False         # on one rank, not all of the node
    steps: int = 10 ** 9        # how many steps it lasts
    seconds: float = 0.0        # what the phase takes, instead of the factor


@dataclasses.dataclass
class Kind:
    """What all runs of a job have in common."""
    style: styles.Style
    clockwork: list
    step_s: float
    shares: dict                # phase -> share of a step
    jitter: dict                # phase -> sigma of the logarithm
    step_rows: tuple
    loop_role: str
    barrier: float              # place in the start at which all ranks wait for each other
    checkpoint_every: int
    evaluation_every: int
    checkpoint_s: float
    evaluation_s: float
    first_step: int
    total: int
    prefix: str                 # before the head: "", "[rank{rank}]: ", "{rank}: "
    per_node: int
    params: int


class Slots(dict):
    """Values of a line; those that are drawn are drawn when a text asks for them."""

    def __init__(self, rng, values):
        super().__init__(values)
        self.rng = rng

    def __missing__(self, key):
        draw = {"small": lambda: self.rng.randrange(10, 1000), "t2": lambda: self.rng.randrange(8),
                "big": lambda: self.rng.randrange(1000, 10000000), "unit": self.rng.random,
                "secs": lambda: self.rng.uniform(0.2, 4), "mem": lambda: self.rng.uniform(30, 60),
                "mfu": lambda: self.rng.uniform(38, 44), "grad": lambda: self.rng.uniform(.2, 2)}
        return draw[key]()


class Run:
    """One run. `lines` of a rank: [seconds, order, text, marked]; the fault has the marked ones."""

    def __init__(self, kind, nodes, count, seed, epoch, fault=None):
        self.kind, self.nodes, self.count, self.epoch = kind, nodes, count, epoch
        self.rng, self.fault = random.Random(f"{seed}/run"), fault
        self.n_ranks, self.order = nodes * kind.per_node, 0
        self.lines = [[] for _ in range(self.n_ranks)]
        self.speakers = self._speakers(seed)
        self.steps = []                                     # (number, begin, end)
        self.waits = []                                     # per step: when each rank began to wait

    def _speakers(self, seed):
        rng, speakers = self.rng, []
        style, base = HOSTS[int(rng.random() * len(HOSTS))], rng.randrange(1, 60)
        self.subnet = rng.randrange(4, 250)
        for node in range(self.nodes):
            skew, pid = rng.gauss(0, 0.03), rng.randrange(2000, 90000)
            for local in range(self.kind.per_node):
                rank = node * self.kind.per_node + local
                speakers.append(Speaker(rank, local, node, style % (base + node), pid + 3 * local,
                                        skew, abs(rng.gauss(0, 0.8)),
                                        random.Random(f"{seed}/rank/{rank}")))
        return speakers

    # ---- saying -------------------------------------------------------------------------------
    def say(self, rank, at, text, level="INFO", values=(), marked=False):
        speaker, kind = self.speakers[rank], self.kind
        when = self.epoch + at + speaker.skew
        slots = Slots(speaker.rng, {
            "rank": rank, "lrank": speaker.lrank, "host": speaker.host, "pid": speaker.pid,
            "world": self.n_ranks, "per_node": kind.per_node, "total": kind.total,
            "addr": f"10.{self.subnet}.{speaker.node // 250}.{speaker.node % 250 + 2}",
            "params": kind.params, "allparams": kind.params * self.n_ranks,
            "iso": styles.iso(when),
            "datetime": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(int(when)))})
        slots.update(values)
        bare = text.startswith("!") or text.startswith("{{\"time\"")
        if not bare and kind.style.form != "%s":
            text, bare = kind.style.form % text, True
        body = text.removeprefix("!").format_map(slots)
        head = "" if bare else kind.style.head(when, level, speaker)
        self.order += 1
        self.lines[rank].append([at, self.order, kind.prefix.format(rank=rank) + head + body,
                                 marked])

    def ranks_of(self, role):
        role = self.kind.loop_role if role == "loop" else role
        if role == "all":
            return range(self.n_ranks)
        if role == "lead":
            return range(0, self.n_ranks, self.kind.per_node)
        return (0,) if role == "r0" else (self.n_ranks - 1,)

    def _is(self, kind, rank):
        """Whether the fault is of this kind and concerns the rank."""
        fault = self.fault
        if fault is None or fault.kind != kind:
            return False
        return rank == fault.rank if fault.local else self.speakers[rank].node == fault.node

    # ---- the parts of a run -------------------------------------------------------------------
    def play(self):
        """Says everything but the end -> when the last step ended."""
        ready = self._start()
        self.training_at = max(ready)
        now = self._train(ready)
        self._tick(self.training_at, now)
        return now

    def _start(self):
        rng, kind = self.rng, self.kind
        scale, begin = rng.uniform(0.8, 1.2), [s.lag for s in self.speakers]
        for rank in range(self.n_ranks):
            if self._is("late", rank):
                begin[rank] += self.fault.factor
        waited = False
        for place, role, text in kind.style.start:
            if not waited and place >= kind.barrier:
                waited = True
                begin = self._wait(begin)
            for rank in self.ranks_of(role):
                at = begin[rank] + place * scale + self.speakers[rank].rng.uniform(0, 0.1)
                self.say(rank, at, text, marked=self._is("late", rank) and not waited)
        last = kind.style.start[-1][0] * scale
        return self._wait([at + last for at in begin])

    def _wait(self, begin):
        latest = max(begin)
        return [latest + 0.02 + self.speakers[r].rng.uniform(0, 0.02) for r in range(self.n_ranks)]

    def _durations(self, rank, k, pace):
        """Phase -> seconds that this rank takes, and its sum of what it does by itself."""
        kind, speaker, own = self.kind, self.speakers[rank], {}
        pause = speaker.rng.uniform(2, 4) if speaker.rng.random() < PAUSE else 1.0
        for phase in PHASES:
            usual = kind.step_s * kind.shares[phase]
            own[phase] = usual * math.exp(speaker.rng.gauss(0, kind.jitter[phase])) * pace
        own["bwd"] *= pause
        hidden = 0.0
        if self._slowed(rank, k):
            usual = own[self.fault.what]
            more = (self.fault.seconds or usual * self.fault.factor) - usual
            own[self.fault.what] += more
            hidden = more if self.fault.hidden else 0.0
        return own, own["data"] + own["fwd"] + own["bwd"] - hidden, hidden

    def _slowed(self, rank, k):
        return self._is("phase", rank) and 0 <= k - self.fault.step < self.fault.steps

    def _train(self, ready):
        rng, kind = self.rng, self.kind
        begin, now = list(ready), max(ready)
        for k in range(self.count):
            number = kind.first_step + k
            pace = max(0.5, rng.gauss(1.0, 0.02))
            pace *= rng.uniform(1.3, 4.0) if k < 2 else 1.0
            pace *= rng.uniform(1.3, 2.0) if rng.random() < HICCUP else 1.0
            took = [self._durations(rank, k, pace) for rank in range(self.n_ranks)]
            arrived = [begin[r] + took[r][1] for r in range(self.n_ranks)]
            free = max(arrived) + kind.step_s * kind.shares["comm"] * pace
            loss = 2.0 + 8.0 / math.sqrt(number + 1) + rng.gauss(0, 0.02)
            for rank, (own, _, hidden) in enumerate(took):
                own["comm"] = free - arrived[rank]
                self._step(rank, k, number, begin[rank], own, hidden, loss)
            self.waits.append(arrived)
            start = max(begin)
            begin = [free + took[r][0]["opt"] + 0.002 for r in range(self.n_ranks)]
            now = max(begin)
            self.steps.append((number, start, now))
            begin = self._between(number, begin)
        return max(begin)

    def _step(self, rank, k, number, begin, own, hidden, loss):
        """The lines of one step of one rank, in the places of its order."""
        kind, speaker = self.kind, self.speakers[rank]
        at, places = begin, {"begin": begin}
        for phase in PHASES:
            at += own[phase] - (hidden if self.fault and phase == self.fault.what else 0.0)
            places[phase] = at
        places["end"] = at + 0.001
        iter_s = sum(own.values()) - hidden
        values = {"it": number, "loss": loss, "ppl": math.exp(min(loss, 9)), "lr": 3e-4, "epoch": 0,
                  "samples": number * 512, "tput": 512 / iter_s, "tps": int(4e5 / iter_s),
                  "ups": 1 / iter_s, "iter_s": iter_s, "iter_ms": iter_s * 1e3}
        for phase in PHASES:
            values[phase + "_s"], values[phase + "_ms"] = own[phase], own[phase] * 1e3
        rows = [(places[place] + 0.0004 * i, role, text) for i, (place, role, text)
                in enumerate(kind.step_rows) if rank in self.ranks_of(role)]
        rows.sort(key=lambda row: row[0])
        odd = self._is("order", rank) and k >= self.fault.step and self.fault.what != "swap"
        if odd:
            rows = [(row[0], *other[1:]) for row, other in zip(rows, self._reorder(rows))]
        slow = self._slowed(rank, k)
        for when, _, text in rows:
            if self._is("stop", rank) and k >= self.fault.step and text == self.fault.what:
                continue
            marked = odd or slow and "{%s_" % self.fault.what in text
            self.say(rank, when + speaker.rng.uniform(0, 0.001), text, values=values, marked=marked)

    def _reorder(self, rows):
        """The same lines otherwise: turned round, or the first behind the others."""
        fixed = [i for i, row in enumerate(rows) if row[1] in ("loop", "r0", "last")]
        free = [row for i, row in enumerate(rows) if i not in fixed]
        free = free[::-1] if self.fault.what == "reverse" else free[1:] + free[:1]
        for i in fixed:
            free.insert(i, rows[i])
        return free

    def _between(self, number, begin):
        """Evaluation and checkpoint behind a step, where one is due."""
        kind, parts = self.kind, []
        if kind.evaluation_every and number % kind.evaluation_every == 0:
            parts.append((kind.style.evaluation, kind.evaluation_s))
        if kind.checkpoint_every and number % kind.checkpoint_every == 0:
            parts.append((kind.style.checkpoint, kind.checkpoint_s))
        if not parts:
            return begin
        loss = 2.0 + 8.0 / math.sqrt(number + 1)
        late = number - kind.first_step >= self.fault.step if self.fault else False
        ends = []
        for rank in range(self.n_ranks):
            swap = late and self._is("order", rank) and self.fault.what == "swap"
            at = begin[rank]
            for rows, usual in parts[::-1] if swap else parts:
                took = usual * math.exp(self.speakers[rank].rng.gauss(0, 0.15))
                values = {"it": number, "loss": loss, "ppl": math.exp(loss), "io_s": took * 0.9}
                for place, role, text in rows:
                    if rank in self.ranks_of(role):
                        self.say(rank, at + place * took, text, values=values, marked=swap)
                at += took
            ends.append(at)
        return self._wait(ends)

    def _tick(self, begin, end):
        """Lines by the clock, over the whole of training."""
        for index, line in enumerate(self.kind.clockwork):
            for node in range(self.nodes):
                local = {"lead": (0,), "all": range(self.kind.per_node), "any": (None,)}[line.who]
                rate = math.exp(self.rng.gauss(0, line.spread)) if line.spread else 1.0
                for who in local:
                    for at in self._beats(line, node, index, who, begin, end, line.every / rate):
                        chosen = self.rng.randrange(self.kind.per_node) if who is None else who
                        rank = node * self.kind.per_node + chosen
                        self.say(rank, at[0], line.text, line.level, marked=at[1])

    def _beats(self, line, node, index, who, begin, end, every):
        """Times at which the line comes, with the fault in them: (time, marked)."""
        rng = random.Random(f"{self.epoch}/{index}/{node}/{who}")
        fault = self.fault
        hit = fault and node == fault.node and fault.what == line.text and \
            fault.kind in ("count", "stop")
        from_at = self.steps[min(fault.step, self.count - 1)][1] if hit else end
        at = begin + rng.uniform(0, every)
        while at < end:
            if not (hit and fault.kind == "stop" and at >= from_at):
                yield at, bool(hit and at >= from_at)
            faster = fault.factor if hit and fault.kind == "count" and at >= from_at else 1.0
            gap = rng.uniform(0.9, 1.1) if line.regular else rng.expovariate(1.0)
            at += gap * every / faster

    # ---- the end ------------------------------------------------------------------------------
    def finish(self, at):
        for place, role, text in self.kind.style.end:
            for rank in self.ranks_of(role):
                self.say(rank, at + 1 + place * 4 + self.speakers[rank].rng.uniform(0, 0.5), text)

    def cut(self, rank, at):
        self.lines[rank] = [line for line in self.lines[rank] if line[0] < at]

    def last(self):
        return max((lines[-1][0] for lines in self.lines if lines), default=0.0)

    def sort(self):
        for lines in self.lines:
            lines.sort(key=lambda line: (line[0], line[1]))
