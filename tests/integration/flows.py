#!/usr/bin/env python3
"""Flow records of ../shared/bench/flowgen.py: by `l4 flows` from files, by the aggregator over UDP.

usage: flows.py L4

Skipped where the generator is missing.
"""
import json
import os
import pathlib
import re
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import aggregator as programs
from live import free_port, wait_for
from support import L4, ROOT, SHARED, SKIPPED, Expectations

FLOWGEN = SHARED / "bench" / "flowgen.py"
SMALL = ["--servers", "4", "--jobs", "1", "--job-servers", "4", "--style", "ring", "--steps", "30",
         "--counters", "0", "--probes", "60"]


def make(folder, *arguments):
    subprocess.run([sys.executable, FLOWGEN, "--out", folder, *SMALL, *arguments], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads((folder / "truth.json").read_text())


def report(l4, *arguments):
    done = l4.run("flows", *arguments, "--format", "json")
    try:
        return done, json.loads(done.stdout)
    except ValueError:
        return done, {}


def validate(expect, document):
    try:
        import jsonschema
    except ImportError:
        return
    schema = json.loads((ROOT / "schemas" / "flows.schema.json").read_text())
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(document))
    expect.that(not errors, "the report has the form of the schema",
                [f"{e.json_path}: {e.message[:100]}" for e in errors[:3]])


def labels(truth):
    return {(p["src"], p["dst"]): {"DP" if x == "EMB" else x for x in p["labels"]} - {"NORM"}
            for p in truth["jobs"][0]["pairs"] if set(p["labels"]) - {"NORM"}}


def check_whole(l4, expect, folder):
    truth = make(folder, "--seed", "3", "--ipfix")
    done, found = report(l4, folder)
    if not expect.equal(done.status, 0, "exit status"):
        return
    validate(expect, found)
    job = found["jobs"][0] if expect.equal(len(found["jobs"]), 1, "jobs") else {}
    want = labels(truth)
    expect.equal({(p["src"], p["dst"]): set(p["labels"]) for p in job.get("pairs", [])}, want,
                 "labels of pairs")
    for nic, ends in list(truth["jobs"][0]["nic_sync_end"].items())[:8]:
        ends, got = [e for e in ends if e], job.get("steps", {}).get(nic, [])
        if ends:
            expect.that(len(got) == len(ends) and all(abs(a - b) < 5e6 for a, b in zip(got, ends)),
                        f"step ends of {nic}", (len(got), len(ends)))
    expect.equal(job.get("findings"), [], "findings of a healthy job")
    expect.that("flows.ipfix" in l4.run("flows", folder).stdout.decode(),
                "the text names the file that was left out")

    done, ipfix = report(l4, folder / "flows.ipfix", "--topology", folder / "topology.json")
    expect.equal(done.status, 0, "exit status for IPFIX")
    expect.equal(ipfix.get("read", {}).get("records"), found["read"]["records"],
                 "records of the IPFIX file")
    expect.equal([sorted(j["nics"]) for j in ipfix.get("jobs", [])],
                 [sorted(j["nics"]) for j in found["jobs"]],
                 "cards by IPFIX")

    trace = folder / "trace.json"
    expect.equal(l4.run("flows", folder, "--trace", trace).status, 0, "exit status with a trace")
    events = json.loads(trace.read_text())["traceEvents"]
    expect.that(sum(e["ph"] == "X" for e in events) >= 29, "the trace has a slice for each step")
    done, paper = report(l4, folder, "--paper")
    expect.equal(paper.get("method"), "paper", "method")
    validate(expect, paper)


def check_fault(l4, expect, folder):
    truth = make(folder, "--seed", "5", "--fault", "slow_gpu")
    done, found = report(l4, folder, "--exit-code")
    expect.equal(done.status, 10, "exit status where something is found")
    findings = [f for job in found.get("jobs", []) for f in job["findings"]]
    expect.that(findings and findings[0]["kind"] in ("slow_gpu", "imbalance"), "a slow server",
                findings)
    expect.that(all(f["since_ns"] >= truth["fault"]["time_ns"] - 1e9 for f in findings),
                "nothing before the fault", findings)
    text = l4.run("flows", folder).stdout.decode()
    expect.that("SLOW SERVER" in text or "IMBALANCE" in text, "the text says it", text[:300])


def check_bad_input(l4, expect, folder):
    folder.mkdir()
    file = folder / "flows.csv"
    for text, status, words in (
            ("", 3, "neither CSV"), ("a,b\n1,2\n", 3, "neither CSV"),
            ("start_ns,end_ns,src,bytes\n", 3, "flows.csv:1: the header has no column dst"),
            ("start_ns,end_ns,src,dst,bytes\n1,2,10.0.0.1,nowhere,5\n", 3,
             "flows.csv:2, column dst: 'nowhere' cannot be read")):
        file.write_text(text)
        done = l4.run("flows", file)
        expect.equal(done.status, status, f"exit status for {text!r}")
        expect.that(words in done.stderr, f"the message for {text!r}", done.stderr)
    file.write_text("start_ns,end_ns,src,dst,bytes\n1,2,10.0.0.1,10.0.0.2,5\nx\n")
    done, found = report(l4, file)
    expect.equal(found.get("read", {}).get("records"), 1, "records beside a bad row")
    expect.that("flows.csv:3" in done.stderr, "the bad row is told", done.stderr)
    topology = folder / "topology.json"
    topology.write_text('{"servers": [{"server": "a", "nics": [{"address": "x"}]}]}')
    done = l4.run("flows", file, "--topology", topology)
    expect.equal(done.status, 2, "exit status for a bad topology")
    expect.that("$.servers[0].nics[0].address: 'x' is no address" in done.stderr,
                "the value in the topology is named", done.stderr)
    expect.equal(l4.run("flows", file, "--sampled", "0").status, 2, "exit status for --sampled 0")
    expect.equal(l4.run("flows", folder / "nowhere").status, 3, "exit status for no file")
    capture = folder / "nfcapd.1"
    capture.write_bytes(b"\x0c\xa5\x01\x00" + b"x" * 100)
    expect.equal(l4.run("flows", capture).status, 3, "exit status for a broken file of nfcapd")


def messages_of(path):
    """The messages of an IPFIX file."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        length = int.from_bytes(data[at + 2:at + 4], "big")
        yield data[at:at + length]
        at += length


FIELDS_V9 = ((8, 4), (12, 4), (7, 2), (11, 2), (4, 1), (1, 8), (2, 8), (22, 4), (21, 4))


def to_v9(message, sequence):
    """The same records as NetFlow v9: times count from the start of the sender, an hour before."""
    when, domain = struct.unpack("!I4xI", message[4:16])
    body = message[16 + int.from_bytes(message[18:20], "big") + 4:]
    boot = when // 3600 * 3600 - 3600
    rows = []
    for at in range(0, len(body) - 44, 45):
        start, end = struct.unpack("!QQ", body[at + 29:at + 45])
        rows.append(body[at:at + 29] + struct.pack("!II", start - boot * 1000, end - boot * 1000))
    template = struct.pack("!HHHH", 0, 8 + 4 * len(FIELDS_V9), 400, len(FIELDS_V9))
    template += b"".join(struct.pack("!HH", *field) for field in FIELDS_V9)
    data = b"".join(rows)
    data += b"\0" * (-len(data) % 4)
    return struct.pack("!HHIIII", 9, 1 + len(rows), (when - boot) * 1000, when, sequence,
                       domain + 100) + template + struct.pack("!HH", 400, 4 + len(data)) + data


def send(port, messages, seconds, source="127.0.0.1"):
    """Sends them at an even pace."""
    messages = list(messages)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.bind((source, 0))
        began = time.monotonic()
        for i, message in enumerate(messages):
            out.sendto(message, ("127.0.0.1", port))
            ahead = seconds * i / len(messages) - (time.monotonic() - began)
            if ahead > 0.01:
                time.sleep(ahead)


def figure(aggregator, name):
    text = aggregator.get("/metrics")[1].decode()
    found = re.search(rf"^l4_aggregator_{name} ([0-9.e+]+)$", text, re.M)
    return float(found.group(1)) if found else None


def check_hostile(expect, aggregator, port):
    """Whatever is sent is counted, and nothing else happens."""
    noise = [b"", b"\0", b"\x00\x0a", b"\x00\x09" + b"\xff" * 30, os.urandom(500),
             b"\x00\x0a\xff\xff" + b"\0" * 12, b"\x00\x0a\x00\x20" + b"\xff" * 28,
             b"\xff" * 9000]
    send(port, noise * 20, 0)
    send(port, noise, 0, "127.0.0.9")
    expect.that(wait_for(lambda: figure(aggregator, "flow_strangers_total") == len(noise), 10),
                "senders that are not listed are counted",
                figure(aggregator, "flow_strangers_total"))
    expect.that(figure(aggregator, "flow_unreadable_total") >= 20 * (len(noise) - 1),
                "datagrams that cannot be read are counted",
                figure(aggregator, "flow_unreadable_total"))
    expect.equal(aggregator.get("/healthz")[0], 200, "health after noise")


def check_live_job(expect, found, truth):
    job = truth["jobs"][0]
    expect.equal(sorted(found["servers"]), sorted(job["servers"]), "servers by UDP")
    expect.equal({(p["src"], p["dst"]): set(p["labels"]) for p in found["pairs"]}, labels(truth),
                 "labels of pairs by UDP")
    period = statistics.median(b - a for a, b in job["steps"]) / 1e9
    expect.that(abs((found["period_s"] or 0) - period) < 0.01 * period, "length of a step by UDP",
                (found["period_s"], period))
    whole = [s for s in found["steps"] if all(s["lanes"])]
    expect.that(len(whole) > 10 and all(len(s["lanes"]) == len(found["groups"]) and
                                        all(a <= b <= s["end_us"] + 500_000 for a, b in s["lanes"])
                                        for s in whole), "a lane of each group in each step",
                found["steps"][-2:])


def check_incident(expect, aggregator, truth):
    """A job without an agent has an incident and an alert all the same."""
    expect.that(wait_for(lambda: aggregator.json("/api/v1/incidents").get("incidents"), 20),
                "an incident of a job that flows alone know", aggregator.log_text()[-500:])
    incidents = aggregator.json("/api/v1/incidents").get("incidents", [])
    if not expect.equal([i["job"] for i in incidents], ["flows-1"], "one incident, of the job"):
        return
    expect.that(incidents[0]["state"] in ("hung", "crashed"), "its state", incidents[0])
    whole = aggregator.json("/api/v1/incidents/" + incidents[0]["id"])
    nodes = [n["node"] for n in whole.get("report", {}).get("nodes", [])]
    expect.that(not nodes or truth["fault"]["server"] in nodes, "its nodes", nodes)
    expect.that("alert opened: job flows-1" in aggregator.log_text(), "the alert is logged",
                aggregator.log_text()[-500:])


def check_live(l4, expect, folder):
    """The aggregator receives the same over UDP, among noise and with a loss."""
    truth = make(folder, "--seed", "5", "--fault", "hang", "--silence", "60", "--ipfix")
    binary = pathlib.Path(l4.binary).resolve().parent / "l4-aggregator"
    l4.run("keys", "init", "--dir", folder / "keys")
    aggregator, port = programs.Aggregator(binary, folder), free_port()
    with open(aggregator.config, "a", encoding="utf-8") as config:
        config.write(f'[flows]\nlisten = "127.0.0.1:{port}"\nexporters = ["127.0.0.1"]\n'
                     'topology = "topology.json"\nlearn_s = 1\n')
    try:
        if not expect.that(aggregator.start(), "the aggregator starts", aggregator.log_text()):
            return
        expect.equal(aggregator.json("/api/v1/flows"), {"on": True, "flows": [], "next": None},
                     "flows before any record")
        check_hostile(expect, aggregator, port)
        messages = list(messages_of(folder / "flows.ipfix"))
        lost = len(messages) * 3 // 4
        half = [to_v9(message, i) for i, message in enumerate(messages[lost + 1:])]
        records = sum((len(m) - 20 - int.from_bytes(m[18:20], "big")) // 45
                      for m in messages[:lost] + messages[lost + 1:])
        send(port, messages[:lost] + half, 6)
        expect.that(wait_for(lambda: any(
            j["silent"] for j in aggregator.json("/api/v1/flows").get("flows", [])), 40),
            "a job that flows alone know, and that fell silent", aggregator.json("/api/v1/flows"))
        jobs = aggregator.json("/api/v1/flows").get("flows", [])
        if expect.equal([j["id"] for j in jobs], ["flows-1"], "names of jobs"):
            found = aggregator.json("/api/v1/jobs/flows-1/flows?count=1000")["flows"][0]
            check_live_job(expect, found, truth)
            last = found["findings"][-1] if found["findings"] else {}
            expect.that(last.get("kind") in ("hang", "crash", "stopped"), "silence is found", last)
        expect.equal(figure(aggregator, "flow_records_total"), records,
                     "records by IPFIX and NetFlow v9")
        check_incident(expect, aggregator, truth)
        expect.equal(figure(aggregator, "flow_datagrams_dropped_total"), 0, "dropped datagrams")
        expect.that((figure(aggregator, "flow_records_lost_total") or 0) > 0, "the loss is known")
        expect.equal(aggregator.get("/api/v1/jobs/nothing/flows")[0], 404, "a job nobody knows")
    finally:
        aggregator.end(signal.SIGTERM)


def main():
    if not FLOWGEN.exists():
        print("skipped: no ../shared/bench/flowgen.py")
        return SKIPPED
    l4, expect = L4(sys.argv[1]), Expectations("flows")
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        check_whole(l4, expect, root / "whole")
        check_fault(l4, expect, root / "fault")
        check_bad_input(l4, expect, root / "bad")
        check_live(l4, expect, root / "live")
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
