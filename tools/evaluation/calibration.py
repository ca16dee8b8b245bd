"""Whether confidences are kept: of all verdicts given with confidence c, a share c is right.

Place: cases.py notes the claims of each report here, parts.py makes the table, fitting.py fits
them. A claim is [confidence, right, grounds]. The expected calibration error (Guo et al., "On
Calibration of Modern Neural Networks", ICML 2017) is the mean distance of confidence and share
right, here over five bins of equal mass. Few claims make an error of their own: the bound is what
95 of 100 perfectly calibrated reporters of the same confidences would keep.
"""
import random

BINS = 5
DRAWS = 2000
KINDS = {"state": "state", "node": "first node", "event": "first event"}


def claim(report, kind, said, right):
    """[confidence, right, {ground: value}]; grounds where the report tells them."""
    row = next((row for row in report.get("certainty", ()) if row["of"] == kind), {})
    return [said, bool(right), {g["kind"]: g["value"] for g in row.get("grounds", ())}]


def of_state(report, right):
    return claim(report, "state", report["verdict"]["confidence"], right)


def of_event(report, leads):
    """The claim that a line of the first event is one of the root; leads(template) judges it.

    Before events had a confidence, the score of the first root stood for it.
    """
    events = report["events"]
    if events and events[0].get("confidence") is not None:
        return claim(report, "event", events[0]["confidence"], leads(events[0]["template_id"]))
    first = next((event for event in events if event["role"] == "root"), None)
    return first and claim(report, "event", first["score"], leads(first["template_id"]))


def claims(report, truth, lines=(), roots=()):
    """What a report claims of a case -> {kind: claim()}.

    lines: (file, line, template) of the flagged lines; roots: (file, line) of the root's lines. A
    claim that the truth cannot judge is left out; a reporter without confidences claims nothing.
    """
    if "confidence" not in report["verdict"]:
        return {}
    found = {"state": of_state(report, report["verdict"]["state"] in truth["states"])}
    nodes = report.get("nodes") or []
    claimed = {row["of"] for row in report.get("certainty", ())}
    if claimed and "node" not in claimed:
        nodes = []  # of a job that goes on and tells of no fault: they only differ
    if truth["nodes"] and truth.get("n_nodes", 0) > 1 and nodes:
        found["node"] = claim(report, "node", nodes[0]["confidence"],
                              nodes[0]["node"] in truth["nodes"])
    wanted = set(roots)
    event = roots and of_event(report, lambda first: any(
        template == first and (name, number) in wanted for name, number, template in lines))
    return {**found, "event": event} if event else found


def bins_of(pairs):
    """The pairs in five parts of equal size, by confidence; equal ones in the order given, as an
    order by what was right would make errors of parts out of nothing."""
    ordered = sorted(pairs, key=lambda pair: pair[0])
    edges = [round(k * len(ordered) / BINS) for k in range(BINS + 1)]
    return [part for a, b in zip(edges, edges[1:]) if (part := ordered[a:b])]


def error(pairs):
    """Expected calibration error of [confidence, right]."""
    return sum(abs(sum(c for c, *_ in part) - sum(pair[1] for pair in part))
               for part in bins_of(pairs)) / len(pairs)


def bound(pairs, seed=1):
    """What 95 of 100 reporters keep whose claims of these confidences are right so often."""
    rng = random.Random(seed)
    errors = sorted(error([[c, rng.random() < c] for c, *_ in pairs]) for _ in range(DRAWS))
    return errors[int(0.95 * DRAWS)]


def summary(pairs):
    """Columns of the table: said and right by fifths, and the error."""
    out = {"claims": len(pairs), "said": sum(c for c, *_ in pairs) / len(pairs),
           "right": sum(bool(pair[1]) for pair in pairs) / len(pairs)}
    for k, part in enumerate(bins_of(pairs)):
        said, right = (sum(p[i] for p in part) / len(part) for i in (0, 1))
        out[f"fifth {k + 1}"] = f"{said:.2f} > {right:.2f}"
    return {**out, "error": error(pairs), "bound": bound(pairs)}
