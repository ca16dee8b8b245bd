#!/usr/bin/env python3
"""Scores a diagnoser on the cases of wordless.py: is the node named on which something differs?

usage: named.py CASES --cmd 'l4 diagnose {logs} {history_args} {as_of_args} --format json
                             --out {report}' [--jobs N] [--each]

Named: the first node of `nodes[]`, and the nodes of `notable[]`. A case is found (top-1) where the
faulty node is the first of either list; `alone`: `notable[]` names no other node; `rank`: the first
rank of `ranks[]` or of `notable[]` is a faulty one; `silent`: nothing is named at all. Of cases
without a fault, `silent` shows how many get neither a name nor an event; `state` is the verdict's.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys
import tempfile

COLUMNS = ("top1", "top5", "alone", "rank", "silent", "state")


def diagnose(case, command, as_of=None):
    """Runs the command for one case -> its report, or None."""
    history = os.path.join(case, "history")
    runs = sorted(os.listdir(history)) if os.path.isdir(history) else []
    with tempfile.TemporaryDirectory(prefix="l4-named-") as folder:
        report, lines = os.path.join(folder, "report.json"), os.path.join(folder, "lines.tsv")
        text = command.format(
            logs=shlex.quote(os.path.join(case, "logs")), report=report, lines=lines,
            history_args=" ".join("--history " + shlex.quote(os.path.join(history, run))
                                  for run in runs),
            as_of_args=f"--as-of {as_of}" if as_of else "", case=shlex.quote(case))
        done = subprocess.run(["/bin/sh", "-c", "exec " + text], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False)
        try:
            with open(report, encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            print(f"{case}: exit {done.returncode} {done.stderr[-200:]!r}", file=sys.stderr)
            return None


def notable_nodes(report):
    """Nodes of notable[], each once, in its order."""
    return list(dict.fromkeys(row["node"] for row in report.get("notable") or []
                              if row.get("node")))


def nodes_of(report):
    """All that is named: the first of nodes[] and those of notable[]."""
    first = [row["node"] for row in (report.get("nodes") or [])[:1]]
    return list(dict.fromkeys(first + notable_nodes(report)))


def score(truth, report):
    """-> metric: value of one case."""
    nodes = [row.get("node") for row in report.get("nodes") or []]
    ranks = [row.get("rank") for row in (report.get("ranks") or [])[:1]]
    noticed, want = notable_nodes(report), set(truth["nodes"])
    ranks += [row["rank"] for row in report.get("notable") or [] if row.get("rank") is not None][:1]
    said = bool(nodes_of(report) or report.get("events"))
    row = {"silent": float(not said),
           "state": float(report.get("verdict", {}).get("state") in truth["states"])}
    if want:
        row["top1"] = float(bool(want & set(nodes[:1] + noticed[:1])))
        row["top5"] = float(bool(want & set(nodes[:5] + noticed[:5])))
        row["alone"] = float(not set(noticed) - want)
        row["rank"] = float(bool(set(ranks) & set(truth["ranks"])))
    return row


def cases_of(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if os.path.exists(os.path.join(folder, name, "truth.json")))


def load_truth(case):
    with open(os.path.join(case, "truth.json"), encoding="utf-8") as file:
        return json.load(file)


def groups_of(truth):
    """Names of the groups that a case is counted in."""
    made = truth["wordless"]
    return ["all", truth["symptom"], "history" if truth["history"] else "no history",
            f"ends {made['ends']}", "to 14 nodes" if truth["n_nodes"] <= 14 else "to 64 nodes"]


def table(rows):
    """rows: (truth, score) -> group: {metric: mean, "cases": n}."""
    groups = collections.OrderedDict()
    for truth, row in rows:
        for name in groups_of(truth):
            groups.setdefault(name, []).append(row)
    out = {}
    for name, members in groups.items():
        out[name] = {"cases": len(members)}
        for key in COLUMNS:
            values = [member[key] for member in members if key in member]
            out[name][key] = sum(values) / len(values) if values else None
    return out


def show(truth, report, row):
    print(f"{truth['id']} {truth['symptom']:8} {str(report.get('verdict', {}).get('state')):9}",
          "truth", ",".join(truth["nodes"]), "named", ",".join(nodes_of(report)[:4]) or "-",
          *(f"{key} {value:g}" for key, value in row.items()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases")
    parser.add_argument("--cmd", required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--each", action="store_true", help="a row for each case")
    options = parser.parse_args()
    cases, rows = cases_of(options.cases), []
    truths = [load_truth(case) for case in cases]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        reports = pool.map(lambda case, truth: diagnose(case, options.cmd, truth["as_of"]) or {},
                           cases, truths)
        for truth, report in zip(truths, reports):
            rows.append((truth, score(truth, report)))
            if options.each:
                show(truth, report, rows[-1][1])
    print(f"{'':14}{'cases':>7}" + "".join(f"{key:>8}" for key in COLUMNS))
    for name, row in table(rows).items():
        print(f"{name:14}{row['cases']:7}" + "".join(
            f"{'-' if row[key] is None else format(row[key], '.3f'):>8}" for key in COLUMNS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
