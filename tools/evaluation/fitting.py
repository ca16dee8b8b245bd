"""Fits how sure a report is: the weights of [confidence] in config/scoring.toml.

Place: tools/evaluate --fit collects the claims of its cases (calibration.py); this fits, judges and
writes them. A claim has grounds with values; its confidence is the logistic function of the sum of
value x weight. Weights keep the sign that their row of the table gives, and are drawn towards what
is known without them (L2): a ground that speaks for or against towards 0, one of several that
exclude each other towards the share right of all. A ground that no claim has keeps its weight.

No source of text is judged by a fit that saw it: the sources are dealt into FOLDS parts, and the
claims of each part are judged by a fit on the others. A table is replaced claim by claim, and only
where there are enough claims and the held-out confidences are better than those of the table.
"""
import dataclasses
import math
import random
import re
import tomllib

import calibration

FOLDS = 8
LEAST_CLAIMS, LEAST_WRONG, LEAST_SOURCES = 150, 10, 16
MOST_WEIGHT = 6.0
MOST = 0.99
SWEEPS = 60
ANY, UP, DOWN = "any", "up", "down"
# With and without what words say: the rows by which confidences are fitted, and measured.
ROWS = ("all of it", "neither wording nor library")


@dataclasses.dataclass(frozen=True)
class Claim:
    """One claim of a report: how sure it was, whether it was right, why, and of which text."""
    said: float
    right: bool
    grounds: dict
    source: str


def sigmoid(odds):
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def bounded(rows, claim):
    """The lowest bound that the table sets for the grounds of a claim."""
    return min([MOST] + [rows[kind].get("most", MOST) for kind in claim.grounds])


def confidence(rows, weights, claim):
    odds = sum(weights[kind] * value for kind, value in claim.grounds.items())
    return min(bounded(rows, claim), sigmoid(odds))


def fit(rows, claims, pull):
    """Weights of the grounds that occur, by coordinate-wise Newton steps within the signs."""
    free = [claim for claim in claims if bounded(rows, claim) == MOST]
    if not free:
        return {}
    share = (sum(claim.right for claim in free) + 1) / (len(free) + 2)
    middle = math.log(share / (1 - share))
    kinds = sorted({kind for claim in free for kind in claim.grounds})
    target = {kind: middle if rows[kind]["sign"] == ANY and kind != "base" and "base" not in kinds
              else 0.0 for kind in kinds}
    low = {kind: 0.0 if rows[kind]["sign"] == UP else -MOST_WEIGHT for kind in kinds}
    high = {kind: 0.0 if rows[kind]["sign"] == DOWN else MOST_WEIGHT for kind in kinds}
    having = {kind: [(i, claim.grounds[kind]) for i, claim in enumerate(free)
                     if kind in claim.grounds] for kind in kinds}
    weights = dict(target)
    odds = [sum(weights[k] * v for k, v in claim.grounds.items()) for claim in free]
    right = [float(claim.right) for claim in free]
    for _ in range(SWEEPS):
        moved = 0.0
        for kind in kinds:
            slope, bend = pull * (weights[kind] - target[kind]), pull
            if kind == "base":
                slope, bend = 0.0, 1e-6
            for i, value in having[kind]:
                p = sigmoid(odds[i])
                slope += (p - right[i]) * value
                bend += p * (1 - p) * value * value
            step = max(-1.0, min(1.0, -slope / bend))
            fresh = max(low[kind], min(high[kind], weights[kind] + step))
            step = fresh - weights[kind]
            weights[kind] = fresh
            moved = max(moved, abs(step))
            for i, value in having[kind]:
                odds[i] += step * value
        if moved < 1e-4:
            break
    return weights


def held_out(rows, claims, pull, seed):
    """[confidence, right] of each claim by a fit that saw no claim of its source."""
    sources = sorted({claim.source for claim in claims})
    random.Random(seed).shuffle(sources)
    part = {source: k % FOLDS for k, source in enumerate(sources)}
    kept = {kind: row["weight"] for kind, row in rows.items()}
    judged = []
    for fold in range(FOLDS):
        weights = {**kept, **fit(rows, [c for c in claims if part[c.source] != fold], pull)}
        judged += [[confidence(rows, weights, c), c.right]
                   for c in claims if part[c.source] == fold]
    return judged


def loss(pairs):
    """Mean negative log-likelihood; confidences are kept from 0 and 1."""
    logs = [math.log(max(1e-3, min(1 - 1e-3, c if right else 1 - c))) for c, right in pairs]
    return -sum(logs) / len(logs)


def refusal(claims, before, after):
    """Why the table is not replaced, or None."""
    wrong = sum(not claim.right for claim in claims)
    sources = len({claim.source for claim in claims})
    for have, least, what in ((len(claims), LEAST_CLAIMS, "claims"),
                              (wrong, LEAST_WRONG, "wrong claims"),
                              (sources, LEAST_SOURCES, "sources of text")):
        if have < least:
            return f"{have} {what}, {least} are needed"
    if loss(after) >= loss(before):
        return f"held out not better: log loss {loss(after):.3f}, the table has {loss(before):.3f}"
    if calibration.error(after) > calibration.error(before):
        return (f"held out not better: error {calibration.error(after):.3f}, the table has "
                f"{calibration.error(before):.3f}")
    return None


class Table:
    """config/scoring.toml: read as it is, changed in place."""

    def __init__(self, path):
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.rows = tomllib.loads(self.text)["confidence"]

    def replace(self, claim, weights, origins):
        for kind, weight in weights.items():
            block = re.compile(rf"(\[confidence\.{claim}\.{kind}\]\n)((?:[a-z].*\n)+)")
            self.text = block.sub(
                lambda m, w=weight, o=origins[kind]: m.group(1) + re.sub(
                    r'origin = ".*"', lambda _: f'origin = "{o}"', re.sub(
                        r"weight = .*", f"weight = {w + 0.0:.2f}", m.group(2))), self.text)

    def write(self):
        tomllib.loads(self.text)
        self.path.write_text(self.text, encoding="utf-8")


def run(table, claims, pull, seed, made):
    """Fits each kind of claim, prints it, changes the table -> whether anything was replaced.

    claims: {kind: [Claim]}; made: what they were collected from, for the table's origins.
    """
    replaced = False
    print(f"\nfit: pull {pull}, {FOLDS} parts by source of text, seed {seed}; {made}")
    print(f"{'':14}{'claims':>8}{'right':>8}{'sources':>9}{'error':>8}{'held out':>10}"
          f"{'bound':>8}{'log loss':>10}{'held out':>10}")
    for kind, title in calibration.KINDS.items():
        own = claims.get(kind, [])
        if not own:
            print(f"{title:14}{0:8}")
            continue
        rows = table.rows[kind]
        before = [[c.said, c.right] for c in own]
        after = held_out(rows, own, pull, seed)
        print(f"{title:14}{len(own):8}{sum(c.right for c in own) / len(own):8.3f}"
              f"{len({c.source for c in own}):9}{calibration.error(before):8.3f}"
              f"{calibration.error(after):10.3f}{calibration.bound(after):8.3f}"
              f"{loss(before):10.3f}{loss(after):10.3f}")
        why = refusal(own, before, after)
        if why:
            print(f"{'':14}kept as it is: {why}")
            continue
        weights = fit(rows, own, pull)
        table.replace(kind, weights, {g: origin(own, g, made) for g in weights})
        replaced = True
    return replaced


def origin(claims, ground, made):
    having = [claim for claim in claims if claim.grounds.get(ground)]
    return f"fitted: {len(having)} claims, {sum(c.right for c in having)} right; {made}"
