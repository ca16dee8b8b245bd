#!/usr/bin/env python3
"""l4 faults: list, show, match and test, as its help says, on the shipped library and on bad ones.

usage: faults_command.py L4
"""
import gzip
import json
import pathlib
import sys
import tempfile

import support

ENTRY = """[[fault]]
id = "door_open"
title = "A door stands open (Door 7)"
category = "hardware"
subcategory = "node"
scope = "node"
severity = "error"
patterns = ['door of rack {n}, left open', 'Door\\b']
unless = ['closing soon']
parameters = { exit_code = ["7"] }
cause = "Somebody left it open."
fix = "Close it."
action = "Send somebody."
matches = ['door of rack 12, left open: exit code 7', 'Door: exit code 7']
rejects = ['Door: exit code 8']
"""
LOG = """2024-05-03 10:00:00,000 INFO all is well
[rank3]: 2024-05-03 10:00:01,000 ERROR door of rack 12, left open: exit code 7
[rank3]: 2024-05-03 10:00:02,000 ERROR door of rack 12, left open: exit code 8
Door: exit code 7, closing soon
"""


def lines_of(run):
    return run.stdout.decode().splitlines()


def check_list(l4, expect):
    listed = l4.run("faults", "list")
    rows = lines_of(listed)
    expect.equal(listed.status, 0, "list: exit")
    everything = json.loads(l4.run("faults", "list", "--format", "json").stdout)
    expect.equal(everything["schema"], "l4.faults/1", "list: schema")
    count = len(everything["faults"])
    families = {fault["family"] for fault in everything["faults"]}
    expect.equal(rows[-1], f"{count} faults in {len(families)} families", "list: last row")
    expect.equal(len(rows), count + 2, "list: rows")
    expect.that(any("xid_off_the_bus" in row for row in rows), "list: names xid_off_the_bus")
    family = everything["faults"][0]["family"]
    of_family = json.loads(l4.run("faults", "list", "--family", family, "--format", "json").stdout)
    expect.equal({fault["family"] for fault in of_family["faults"]}, {family}, "list: family")
    for category, key in (("hardware", None), ("hardware/network", "network")):
        some = json.loads(l4.run("faults", "list", "--category", category, "--format",
                                 "json").stdout)["faults"]
        expect.that(some and len(some) < count, f"list: {category} are some")
        expect.equal({fault["category"] for fault in some}, {"hardware"}, f"list: {category}")
        expect.that(key is None or {fault["subcategory"] for fault in some} == {key},
                    f"list: only {category}")
    for option, wrong in (("--family", "nosuch"), ("--category", "hardware/netwrk")):
        run = l4.run("faults", "list", option, wrong)
        expect.equal(run.status, 2, f"list {option} {wrong}: exit")
        expect.that(wrong in run.stderr and "There are:" in run.stderr, "list: says what there is",
                    run.stderr)


def check_show(l4, expect):
    shown = l4.run("faults", "show", "xid_off_the_bus")
    expect.equal(shown.status, 0, "show: exit")
    text = shown.stdout.decode()
    for word in ("Xid 79", "hardware/", "fatal", "cause", "fix", "patterns", "matches", "NVRM"):
        expect.that(word in text, f"show: says {word}", text)
    known = json.loads(l4.run("faults", "show", "xid_off_the_bus", "--format", "json").stdout)
    expect.equal([fault["id"] for fault in known["faults"]], ["xid_off_the_bus"], "show: JSON")
    for typo in ("xid_of_the_buss", "XID_OFF", "(Xid 79)"):
        wrong = l4.run("faults", "show", typo)
        expect.equal(wrong.status, 2, f"show {typo}: exit")
        expect.that("xid_off_the_bus" in wrong.stderr, f"show {typo}: what was meant", wrong.stderr)
    expect.equal(l4.run("faults", "show", "zzzzzzzzzz").status, 2, "show: nothing is near")


def check_match(l4, expect, folder):
    library = ("--faults", folder / "own")
    log = folder / "a.log"
    log.write_text(LOG)
    with gzip.open(folder / "b.log.gz", "wt") as packed:
        packed.write(LOG)
    run = l4.run("faults", "match", log, *library)
    row = "2\tdoor_open\tA door stands open (Door 7)\tdoor of rack 12, left open: exit code 7"
    expect.equal(run.status, 0, "match: exit")
    expect.that(lines_of(run)[0].startswith("2\tdoor_open\t"), "match: the row", run.stdout)
    expect.that(lines_of(run)[0].endswith("door of rack 12, left open: exit code 7"), "match: line",
                lines_of(run)[0])
    expect.equal(len(row.split("\t")), len(lines_of(run)[0].split("\t")), "match: columns")
    expect.that("1 of 4 lines show a fault" in lines_of(run), "match: counts", run.stdout)
    both = lines_of(l4.run("faults", "match", log, folder / "b.log.gz", "-", *library,
                           stdin=LOG.encode()))
    for name in (f"{log}:2\t", f"{folder}/b.log.gz:2\t", "-:2\t"):
        expect.that(any(line.startswith(name) for line in both), f"match: {name}", both)
    found = json.loads(l4.run("faults", "match", log, "--format", "json", *library).stdout)
    expect.equal([(m["line"], m["fault"], m["severity"]) for m in found["matches"]],
                 [(2, "door_open", "error")], "match: JSON")
    expect.equal((found["schema"], found["lines"], found["counts"][0]["count"]),
                 ("l4.fault_matches/1", 4, 1), "match: JSON counts")
    none = json.loads(l4.run("faults", "match", "-", "--format", "json", *library,
                             stdin=b"\xff\x00\n").stdout)
    expect.equal((none["matches"], none["counts"]), ([], []), "match: nothing, as JSON")
    text = "--line=2024-05-03 10:00:01 RuntimeError: CUDA error: out of memory"
    one = l4.run("faults", "match", text)
    every = l4.run("faults", "match", text, "--all")
    expect.that("cuda_out_of_memory" in one.stdout.decode(), "match: --line", one.stdout)
    expect.that(len(lines_of(every)) >= len(lines_of(one)), "match: --all")
    for args, status in ((("--exit-code", log, *library), 10), (("--exit-code", "-", *library), 0),
                         ((folder / "none",), 3), ((log, folder / "none"), 0), ((), 2)):
        run = l4.run("faults", "match", *args)
        expect.equal(run.status, status, f"match {args}: exit")
        expect.that(folder / "none" not in args or "none" in run.stderr, "match: names the file")


def check_test(l4, expect, folder):
    expect.that(l4.run("faults", "test").status in (0, 1), "test: of the shipped library")
    good = l4.run("faults", "test", folder / "own")
    expect.equal((good.status, good.stderr), (0, ""), "test: a good library")
    expect.equal(lines_of(good), [f"{folder}/own: 1 entries, 0 findings"], "test: what it says")
    bad = folder / "bad"
    bad.mkdir()
    (bad / "rack.toml").write_text(ENTRY.replace("'Door: exit code 8'", "'Door: exit code 7'"))
    found = l4.run("faults", "test", bad)
    expect.equal(found.status, 1, "test: exit with findings")
    expect.equal(lines_of(found)[0], f"{bad}/rack.toml:15: door_open: rejects: Door: exit code 7: "
                 "is matched", "test: the finding")
    as_json = json.loads(l4.run("faults", "test", "--faults", bad, "--format", "json").stdout)
    expect.equal([(f["line"], f["entry"], f["key"]) for f in as_json["findings"]],
                 [(15, "door_open", "rejects")], "test: JSON")
    for broken, said in ((("Door\\\\b'", "Door('"), "rack.toml:8: patterns: Door(:"),
                         (('"node"\nscope', '"weather"\nscope'), "rack.toml:5: subcategory: must"),
                         (("cause =", "kause ="), "rack.toml:1: cause: missing")):
        (bad / "rack.toml").write_text(ENTRY.replace("\\b", "\\\\b").replace(*broken)
                                       .replace("\\\\b", "\\b"))
        run = l4.run("faults", "test", bad)
        expect.equal(run.status, 2, f"test {said}: exit")
        expect.that(said in run.stderr, f"test: {said}", run.stderr)
    missing = l4.run("faults", "test", folder / "nowhere")
    expect.that(missing.status == 2 and "nowhere" in missing.stderr, "test: no such folder",
                missing.stderr)


def main():
    l4, expect = support.start(sys.argv, "faults")
    for args in ((), ("lst",), ("show",), ("list", "--famly", "x"), ("match", "--all")):
        run = l4.run("faults", *args)
        expect.that(run.status == 2 and "--help" in run.stderr, f"faults {args}: wrong use",
                    run.stderr)
    for command in ("list", "show", "match", "test"):
        run = l4.run("faults", command, "--help")
        expect.that(run.status == 0 and b"--faults" in run.stdout, f"{command} --help")
    check_list(l4, expect)
    check_show(l4, expect)
    with tempfile.TemporaryDirectory(prefix="l4-faults-") as name:
        folder = pathlib.Path(name)
        (folder / "own").mkdir()
        (folder / "own" / "rack.toml").write_text(ENTRY)
        check_match(l4, expect, folder)
        check_test(l4, expect, folder)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
