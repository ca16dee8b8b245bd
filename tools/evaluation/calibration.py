"""Whether confidences are kept: of all verdicts given with confidence c, a share c is right.

Place: cases.py notes the claims of each report here, parts.py makes the table. A claim is
[confidence, right]. The expected calibration error (Guo et al., "On Calibration of Modern Neural
Networks", ICML 2017) is the mean distance of confidence and share right, here over five bins of
equal mass. Few claims make an error of their own: the bound is what 95 of 100 perfectly calibrated
reporters of the same confidences would keep.
"""
import random

BINS = 5
DRAWS = 2000
KINDS = {"state": "state", "node": "first node", "event": "first event"}


def claims(report, truth, lines=(), roots=()):
    """What a report claims of a failed case -> {kind: [confidence, right]}.

    lines: (file, line, template) of the flagged lines; roots: (file, line) of the root's lines. A
    claim that the truth cannot judge is left out; a reporter without confidences claims nothing.
    """
    verdict = report["verdict"]
    if "confidence" not in verdict:
        return {}
    found = {"state": [verdict["confidence"], verdict["state"] in truth["states"]]}
    nodes = report.get("nodes") or []
    if truth["nodes"] and truth.get("n_nodes", 0) > 1 and nodes:
        found["node"] = [nodes[0]["confidence"], nodes[0]["node"] in truth["nodes"]]
    first = next((event for event in report["events"] if event["role"] == "root"), None)
    if first and roots:
        of_first = {(name, number) for name, number, template in lines
                    if template == first["template_id"]}
        found["event"] = [first["score"], bool(of_first & set(roots))]
    return found


def bins_of(pairs):
    """The pairs in five parts of equal size, by confidence."""
    ordered = sorted(pairs)
    edges = [round(k * len(ordered) / BINS) for k in range(BINS + 1)]
    return [part for a, b in zip(edges, edges[1:]) if (part := ordered[a:b])]


def error(pairs):
    """Expected calibration error of [confidence, right]."""
    return sum(abs(sum(c for c, _ in part) - sum(right for _, right in part))
               for part in bins_of(pairs)) / len(pairs)


def bound(pairs, seed=1):
    """What 95 of 100 reporters keep whose claims of these confidences are right so often."""
    rng = random.Random(seed)
    errors = sorted(error([[c, rng.random() < c] for c, _ in pairs]) for _ in range(DRAWS))
    return errors[int(0.95 * DRAWS)]


def summary(pairs):
    """Columns of the table: said and right by fifths, and the error."""
    out = {"claims": len(pairs), "said": sum(c for c, _ in pairs) / len(pairs),
           "right": sum(bool(r) for _, r in pairs) / len(pairs)}
    for k, part in enumerate(bins_of(pairs)):
        said, right = (sum(p[i] for p in part) / len(part) for i in (0, 1))
        out[f"fifth {k + 1}"] = f"{said:.2f} > {right:.2f}"
    return {**out, "error": error(pairs), "bound": bound(pairs)}
