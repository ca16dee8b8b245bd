"""One case of each kind: a diagnoser is run on it, and its report is scored.

Place: called by parts.py, whose results work.py keeps; a change here or in named.py, mechanisms.py
and the scorers of ../shared/bench makes all of them anew.
"""
import json
import pathlib
import shlex
import subprocess
import sys
import tarfile
import tempfile

import calibration
import mechanisms
import named
from work import BENCH, ROOT

sys.path[:0] = [str(BENCH), str(ROOT / "tests" / "integration")]

import lab_score  # noqa: E402
import real_logs  # noqa: E402
import score  # noqa: E402
import small_score  # noqa: E402
import support  # noqa: E402


def auc(truth, report):
    """Share of pairs (faulty node, other node) in which the faulty one ranks higher; ties half.

    Nodes rank by nodes[] and its scores, then those that only notable[] names, then the others.
    """
    faulty, others = len(truth["nodes"]), truth["n_nodes"] - len(truth["nodes"])
    if not faulty or others <= 0:
        return None
    value = {row["node"]: (2, row["score"]) for row in report.get("nodes") or []}
    for place, node in enumerate(named.notable_nodes(report)):
        value.setdefault(node, (1, -place))
    want, unnamed = set(truth["nodes"]), (0, 0)
    good = [value.get(node, unnamed) for node in want]
    bad = [v for node, v in value.items() if node not in want]
    bad += [unnamed] * max(0, others - len(bad))
    return sum((g > b) + 0.5 * (g == b) for g in good for b in bad) / (len(good) * len(bad))


def benchmark(case, command):
    with tempfile.TemporaryDirectory(prefix="l4-evaluate-") as folder:
        row = score.score_case(str(case), command, folder)
        path = pathlib.Path(folder, case.name + ".json")
        if path.exists():
            report = json.loads(path.read_text(encoding="utf-8"))
            row["auc"] = auc(named.load_truth(case), report)
            row["claims"] = claims(case, report, pathlib.Path(folder, case.name + ".tsv"))
        return row


def claims(case, report, lines):
    """The report's claims, judged by the truth of a case of the benchmark."""
    truth, events = score.load_truth(case)
    rows = [row.split("\t") for row in lines.read_text(encoding="utf-8", errors="replace")
            .splitlines()] if lines.exists() else []
    flagged = [(row[0], int(row[1]), row[2]) for row in rows if row[1].isdigit()]
    roots = [place for place, (_, role) in events.items() if role == "root"]
    return calibration.claims(report, truth, flagged, roots)


def wordless(case, command):
    truth = named.load_truth(case)
    report = named.diagnose(str(case), command, truth["as_of"])
    if report is None:
        return None
    return {**named.score(truth, report), "auc": auc(truth, report),
            "claims": calibration.claims(report, truth)}


def mechanism(case, command):
    expect = json.loads((case / "expect.json").read_text(encoding="utf-8"))
    report = named.diagnose(str(case), command, expect.get("as_of"))
    return mechanisms.check(expect, report) if report else ["no report"]


def single_log(log, command, folder):
    """Report and flagged (line, template) of one log file."""
    report, lines = pathlib.Path(folder, "report.json"), pathlib.Path(folder, "lines.tsv")
    text = command.format(logs=shlex.quote(str(log)), history_args="", as_of_args="", case="",
                          report=report, lines=lines)
    subprocess.run(["/bin/sh", "-c", "exec " + text], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    if not report.exists():
        return None, []
    rows = lines.read_text(encoding="utf-8").splitlines() if lines.exists() else []
    fields = [row.split("\t") for row in rows]
    return json.loads(report.read_text(encoding="utf-8")), \
        [(int(f[1]), f[2]) for f in fields if f[1].isdigit()]


def failure(log, command):
    label = json.loads(log.with_suffix(".label.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="l4-evaluate-") as folder:
        report, lines = single_log(log, command, folder)
    if report is None:
        return None
    roots = {n for a, b in label["root_lines"] for n in range(a, b + 1)}
    first = support.first(report["events"], "template_id")
    right = real_logs.right_state(label, report["verdict"]["state"])
    said = {"state": calibration.of_state(report, right)}

    def leads(first):
        return any(n in roots for n, template in lines if template == first)
    event = calibration.of_event(report, leads)
    if event:
        said["event"] = event
    first = leads(support.first(report["events"], "template_id"))
    return {"flagged": any(n in roots for n, _ in lines), "first": first, "state": right,
            "claims": said}


def other(case, command):
    """A log of another source: logs/ and a truth.json with states, and perhaps texts of lines of
    the root (roots, or one root) and the faulty node."""
    truth = json.loads((case / "truth.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="l4-evaluate-") as folder:
        report, _ = single_log(case / "logs", command, folder)
        path = pathlib.Path(folder, "lines.tsv")
        rows = [row.split("\t") for row in path.read_text(encoding="utf-8", errors="replace")
                .splitlines()] if path.exists() else []
    if report is None:
        return None
    texts = truth.get("roots") or [truth[name] for name in ("root",) if truth.get(name)]
    node = truth.get("node")
    return {"claims": calibration.claims(
        report, {"states": truth["states"], "nodes": [node] if node else [], "n_nodes": 2},
        [(row[0], int(row[1]), row[2]) for row in rows if row[1].isdigit()],
        list(lines_with(case / "logs", texts)))}


def lines_with(logs, texts):
    """(file, line) of all lines that hold one of the texts, whatever their case and blanks."""
    wanted = [" ".join(text.lower().split()) for text in texts]
    for path in sorted(path for path in logs.rglob("*") if path.is_file()):
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            said = " ".join(line.decode("utf-8", "replace").lower().split())
            if any(text in said for text in wanted):
                yield str(path.relative_to(logs)), number


def recorded(truth_file, command):
    """A recorded run of a real job, judged as lab_score.py does."""
    truth = json.loads(truth_file.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="l4-evaluate-") as folder:
        with tarfile.open(truth_file.with_name(f"{truth['job_id']}.tar.gz")) as tar:
            tar.extractall(folder, filter="data")
        report, _ = single_log(pathlib.Path(folder, truth["job_id"], "logs"), command, folder)
    if report is None:
        return None
    allowed = lab_score.STATES[truth["symptom"]] | lab_score.EXTRA.get(truth["fault"], set())
    if truth["fault"] != "none" and truth.get("max_restarts"):
        allowed |= {"finished"}
    known = truth["node"] is not None and truth["fault"] not in lab_score.NOT_LOCALISABLE
    return {"claims": calibration.claims(report, {
        "states": allowed, "nodes": [truth["node"]] if known else [],
        "n_nodes": truth.get("nodes", 0)}), "source": f"lab {truth['fault']}"}


def normal(log, command):
    with tempfile.TemporaryDirectory(prefix="l4-evaluate-") as folder:
        report, _ = single_log(log, command, folder)
    quiet = report and report["verdict"]["state"] in real_logs.QUIET
    return report and {"alarm": not quiet, "claims": {"state": calibration.of_state(report, quiet)}}


def small(case, command):
    truth = json.loads((case / "truth.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="l4-evaluate-") as folder:
        report, _ = single_log(case / "logs", command, folder)
    return {"wrong": small_score.check(truth, report) if report else ["no report"]}
