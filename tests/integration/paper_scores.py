#!/usr/bin/env python3
"""`l4 diagnose --scoring paper` gives the scores of the paper's method: those of reference values.

usage: paper_scores.py L4

The reference values of ../shared/data/reference are written as logs: of the forest one node a row
and one template a column, of DTW one iteration a row and one template a symbol.
"""
import csv
import datetime
import math
import pathlib
import sys
import tempfile

import support

WORDS = ("amber", "birch", "cedar", "dahlia", "elder", "fern", "gorse", "hazel", "iris", "juniper",
         "kale", "laurel", "maple", "nettle", "olive", "poplar", "quince", "rowan", "sage", "thyme",
         "umbel", "violet", "willow", "yarrow")
TREES = (500, 100)      # of the reference, of the paper
BEGIN = 1_700_000_000   # s


def stamp(second):
    time = datetime.datetime.fromtimestamp(BEGIN + second, datetime.timezone.utc)
    return time.strftime("%Y-%m-%d %H:%M:%S")


def say(symbol):
    """A line of its own template for each symbol: no two share two words."""
    word = WORDS[symbol % len(WORDS)]
    return f"{word} {word[::-1]} {word}{word[:2]}"


def reference(name, delimiter="\t"):
    path = support.shared("data", "reference", name)
    with open(path, encoding="utf-8", newline="") as rows:
        return list(csv.reader(rows, delimiter=delimiter))


def forest_logs(folder):
    rows = [[int(float(count)) for count in row] for row in reference("iforest_big_data.csv", ",")]
    for node, counts in enumerate(rows):
        lines = [say(column) for column, count in enumerate(counts) for _ in range(count)]
        text = "".join(f"{stamp(i)} {line}\n" for i, line in enumerate(lines))
        path = folder / f"node-{node:03}" / "rank.log"
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    return len(rows)


def check_forest(l4, expect, folder):
    nodes = forest_logs(folder / "forest")
    done, report = l4.report(folder / "forest", "--scoring", "paper")
    if not expect.diagnosed(done, report, "the forest's logs"):
        return
    score = {int(node["node"].removeprefix("node-")): node["score"] for node in report["nodes"]}
    if not expect.that(len(score) == nodes, f"{nodes} nodes have a score", len(score)):
        return
    # The standard deviation of a score falls with the root of the number of trees.
    wider = math.sqrt(TREES[0] / TREES[1])
    off = [(score[int(row[0])] - float(row[1])) / (wider * float(row[2]))
           for row in reference("iforest_big_scores.tsv")[1:]]
    spread = math.sqrt(sum(z * z for z in off) / nodes)
    print(f"forest: {nodes} nodes, deviations of the reference: {spread:.2f} (root mean square), "
          f"at most {max(map(abs, off)):.2f}")
    expect.that(spread < 1.5 and max(map(abs, off)) < 5, "scores of the forest", off)


def check_iterations(l4, expect, folder):
    rows = reference("dtw_window_scores.tsv")
    field = {name: i for i, name in enumerate(rows[0])}
    lines, second = [], 0
    for row in rows[1:]:
        for symbol in row[field["sequence"]].split():
            lines.append(f"{stamp(second)} {say(int(symbol))}")
        second += 1
        lines.append(f"{stamp(second)} iteration {row[0]}/ 1000 | loss: 2.{row[0]}")
    path = folder / "dtw" / "rank.log"
    path.parent.mkdir()
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done, report = l4.report(path.parent, "--scoring", "paper")
    if not expect.diagnosed(done, report, "the iterations' log"):
        return
    asked = {int(row[0]): float(row[field["mean_dtw_to_previous_10"]])
             for row in rows[1:] if row[field["above_three_sigma"]] == "1"}
    told = {found["iteration"]: found["score"] for found in report["iterations"]}
    print(f"iterations above three deviations: {told}, asked {asked}")
    expect.that(told.keys() == asked.keys(), "the same iterations are above three deviations", told)
    for iteration in told.keys() & asked.keys():
        expect.that(abs(told[iteration] - asked[iteration]) < 1e-9, f"score of {iteration}",
                    (told[iteration], asked[iteration]))


def main():
    l4, expect = support.start(sys.argv, "paper_scores")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_forest(l4, expect, folder)
        check_iterations(l4, expect, folder)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
