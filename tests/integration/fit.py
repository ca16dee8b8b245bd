#!/usr/bin/env python3
"""l4 fit on labels that were kept: too few, no better, better; and the tables that it writes.

usage: fit.py L4
"""
import json
import math
import pathlib
import random
import sys
import tempfile

import support

BROKEN = """[confidence.node.margin]
sign = "up"
weight = -1.0
origin = "by hand"
"""
OWN = """# what our site needs
[number.hang]
floor = {value = 90000, origin = "slow file systems"}
"""


def labels(count, right_share, sources=30, seed=1):
    """Labels of incidents whose first node was right as often as `right_share(margin)` says."""
    rng, rows = random.Random(seed), []
    for k in range(count):
        margin = rng.random()
        grounds = {"base": 1, "by_line": 1, "score": 0.8, "margin": margin, "many": math.log(8)}
        rows.append({
            "subject": f"job-{k}.0.1", "job": f"job-{k}", "source": f"fault f{k % sources}",
            "who": "ops", "told": "2026-11-20T15:54:42.000Z", "truth": {"nodes": ["node-1"]},
            "claims": [{"of": "node", "name": "node-1", "confidence": 0.9,
                        "right": rng.random() < right_share(margin),
                        "grounds": [{"kind": kind, "value": value}
                                    for kind, value in grounds.items()] +
                        [{"kind": "of_another_version", "value": 1}]}]})
    return {"schema": "l4.labels/1", "labels": rows, "next": None}


class Fit:
    def __init__(self, l4, folder):
        self.l4, self.folder, self.table = l4, folder, folder / "site.toml"

    def file(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def run(self, file, *options):
        return self.l4.run("fit", "--labels", file, *options)


def check_refused(expect, fit):
    few = fit.file("few.json", labels(40, lambda margin: 0.3))
    run = fit.run(few, "--table", fit.table)
    expect.equal(run.status, 1, "few labels: exit")
    expect.that(b"40 claims, 60 are needed" in run.stdout, "few labels: why", run.stdout)
    one = fit.file("one.json", labels(200, lambda margin: 0.3, sources=4))
    expect.that(b"4 faults and jobs, 12 are needed" in fit.run(one).stdout, "few sources: why")
    none = fit.file("none.json", {"labels": [], "next": None})
    expect.equal(fit.run(none, "--table", fit.table).status, 1, "no labels: exit")
    expect.that(not fit.table.exists(), "nothing is written")
    for name, text, said in (("broken", "{", "broken.json"),
                             ("other", {"labels": [{"subject": 7}]}, "$.labels[0].subject"),
                             ("kind", {"labels": [{**labels(1, lambda m: 1)["labels"][0],
                                                   "claims": [{"of": "rank"}]}]}, "state, node")):
        run = fit.run(fit.file(f"{name}.json", text))
        expect.that(run.status == 2 and said in run.stderr, f"labels that are {name}", run)
    expect.equal(fit.run(fit.folder / "nowhere.json").status, 2, "no such file")


def check_better(expect, fit):
    """A site where first nodes are right far more rarely than the shipped table says."""
    seen = fit.file("seen.json", labels(300, lambda margin: 0.15 + 0.4 * margin))
    fit.file("site.toml", OWN)
    run = fit.run(seen, "--table", fit.table, "--dry-run", "-o", "json")
    expect.equal((run.status, fit.table.read_text()), (0, OWN), "a dry run writes nothing")
    answer = json.loads(run.stdout)
    expect.equal((answer["schema"], answer["written"], answer["incidents"]),
                 ("l4.fit/1", False, 300), "what it says")
    node = next(row for row in answer["claims"] if row["of"] == "node")
    expect.that(node["kept"] == "" and node["held_out"]["error"] < 0.1 < node["table"]["error"]
                and node["held_out"]["log_loss"] < node["table"]["log_loss"], "it is better", node)
    expect.equal(sorted(row["ground"] for row in node["weights"]),
                 ["base", "by_line", "many", "margin", "score"], "grounds that are fitted")
    run = fit.run(seen, "--table", fit.table)
    text = fit.table.read_text()
    expect.equal(run.status, 0, "better: exit")
    expect.that(text.startswith(OWN) and "[confidence.node.margin]" in text
                and "labels up to 2026-11-20" in text, "its own rows stay", text)
    expect.that("[confidence.state" not in text, "claims without labels keep their weights", text)
    run = fit.run(seen, "--table", fit.table)
    expect.that(run.status == 1 and b"not better where it was not fitted" in run.stdout,
                "the same labels again: no better than the table", run.stdout)
    expect.equal(fit.table.read_text(), text, "and the table stays")
    same = fit.run(seen).stdout
    expect.equal(fit.run(seen, "--labels", fit.file("none.json", {"labels": []})).stdout, same,
                 "several files, the same answer")


def check_used(expect, fit):
    """The table is what reports go by, and one that is wrong is told with file, line and key."""
    shipped = fit.l4.report(support.SAMPLE)[1]
    own = fit.l4.report(support.SAMPLE, "--table", fit.table)[1]
    before, after = (report["nodes"][0]["confidence"] for report in (shipped, own))
    expect.that(after < before - 0.1, "the first node is surer by the shipped table",
                (before, after))
    wrong = fit.file("wrong.toml", BROKEN)
    run = fit.run(fit.folder / "seen.json", "--table", wrong)
    expect.that(run.status == 2 and "wrong.toml:3: weight" in run.stderr, "a broken table", run)
    config = fit.file("aggregator.toml", '[wire]\nkey = "a.key"\nallow_list = "allow"\n'
                      '[detect]\nscoring_table = "wrong.toml"\n')
    run = fit.l4.run("check-config", config)
    expect.that(run.status == 2 and "aggregator.toml:5: scoring_table: " in run.stderr
                and "wrong.toml:3: weight" in run.stderr, "and in the aggregator's config", run)


def main():
    l4, expect = support.start(sys.argv, "fit")
    with tempfile.TemporaryDirectory(prefix="l4-fit-") as folder:
        fit = Fit(l4, pathlib.Path(folder))
        check_refused(expect, fit)
        check_better(expect, fit)
        check_used(expect, fit)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
