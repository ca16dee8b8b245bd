"""Shared by the integration tests: running l4, reading its report, stating what is expected.

Every test is a program `TEST.py L4 [...]` that ends with 0, with 1 and a row for each failed
expectation, or with 77 where its data is not there. A missing l4 fails. Standard library only.
"""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHARED = ROOT.parent / "shared"
SAMPLE = ROOT / "samples" / "crash-rank4"
SANITIZED = os.environ.get("L4_SANITIZED", "") not in ("", "0")
SKIPPED = 77
TIMEOUT_S = 600
FAILED_STATES = {"crashed", "hung", "slow", "node_lost", "launch_failed"}
ROLES = ("root", "direct", "consequence")
TOP_KEYS = {"schema", "generator", "job", "verdict", "nodes", "ranks", "events", "iterations",
            "stages", "faults", "pool", "warnings", "notable", "advice", "clues", "evidence",
            "read"}


@dataclasses.dataclass
class Run:
    """One finished run of l4. `status` is negative where a signal ended it."""
    status: int
    stdout: bytes
    stderr: str
    seconds: float
    rss_mb: float


class L4:
    """The program under test."""

    def __init__(self, binary):
        self.binary = str(binary)

    def run(self, *args, stdin=b"", timeout_s=TIMEOUT_S):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, \
                tempfile.TemporaryFile() as given:
            given.write(stdin)
            given.seek(0)
            began = time.monotonic()
            process = subprocess.Popen([self.binary, *map(str, args)], stdin=given, stdout=out,
                                       stderr=err)
            timer = threading.Timer(timeout_s, process.kill)
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds = time.monotonic() - began
            out.seek(0)
            err.seek(0)
            return Run(process.returncode, out.read(), err.read().decode("utf-8", "replace"),
                       seconds, usage.ru_maxrss / 1024.0)

    def report(self, *args, **options):
        """`l4 diagnose ... --format json`: the run and its report ({} where there is none)."""
        done = self.run("diagnose", *args, "--format", "json", **options)
        try:
            return done, json.loads(done.stdout.decode("utf-8"))
        except ValueError:
            return done, {}


def some_of(rows):
    """All of them; every third under sanitizers, where each run takes five times as long."""
    return rows[::3] if SANITIZED else rows


class Expectations:
    """Counts the expectations that hold, and prints those that fail."""

    def __init__(self, title):
        self.title, self.right, self.wrong = title, 0, 0

    def that(self, condition, what, got=""):
        if condition:
            self.right += 1
        else:
            self.wrong += 1
            print(f"FAILED {what}" + (f": got {str(got)[:600]}" if got != "" else ""), flush=True)
        return bool(condition)

    def equal(self, got, expected, what):
        return self.that(got == expected, f"{what} is {expected!r}", repr(got))

    def diagnosed(self, done, report, what):
        """The run ended well and left a report of the agreed form."""
        if not self.that(done.status == 0 and report, f"{what}: exit 0 and a JSON report",
                         f"exit {done.status}, stderr: {done.stderr[-400:]}"):
            return False
        wrong = list(misshapen(report))
        return self.that(not wrong, f"{what}: the report has its form", wrong[:5])

    def end(self):
        print(f"{self.title}: {self.right} of {self.right + self.wrong} expectations met")
        return 1 if self.wrong else 0


def misshapen(report):
    """Violations of the report's contract that the schema file cannot state."""
    if report.get("schema") != "l4.report/2":
        yield f"schema {report.get('schema')!r}"
    missing = TOP_KEYS - set(report)
    if missing:
        yield f"no {sorted(missing)}"
        return
    for role in ROLES:
        yield from falling([e for e in report["events"] if e["role"] == role], f"{role} events")
    yield from falling(report["nodes"], "nodes")
    for event in report["events"]:
        if not re.fullmatch("[0-9a-f]{16}", event["template_id"]):
            yield f"template id {event['template_id']!r}"
    ids = [event["template_id"] for event in report["events"]]
    if len(ids) != len(set(ids)):
        yield "an event stands twice"
    for where in [report["verdict"], *report["nodes"]]:
        if not 0 <= where["confidence"] <= 1:
            yield f"confidence {where['confidence']}"


def falling(items, what):
    scores = [item["score"] for item in items]
    if any(a < b for a, b in zip(scores, scores[1:])):
        yield f"{what} are not most telling first: {scores[:8]}"


def first(items, key):
    """The named field of the first item, or None."""
    return items[0].get(key) if items else None


def node_confidence(report):
    return max((node["confidence"] for node in report.get("nodes", [])), default=0.0)


def start(argv, title):
    """The program under test and the expectations; ends the test where the program is missing."""
    if len(argv) < 2:
        sys.exit(f"usage: {argv[0]} L4")
    binary = pathlib.Path(argv[1]).resolve()
    if not os.access(binary, os.X_OK) or binary.is_dir():
        print(f"FAILED {title}: there is no program {binary}; build it first")
        sys.exit(1)
    return L4(binary), Expectations(title)


def form_of(schema, document, report):
    """A schema of openapi.yaml (`document`) that stands alone, with that of the report in it."""
    def filled(part):
        if part == {"$ref": "report.schema.json"}:
            return filled({key: child for key, child in report.items() if key[0] != "$"})
        if isinstance(part, dict):
            return {key: filled(child) for key, child in part.items()}
        if isinstance(part, str):
            return part.replace("#/$defs/", "#/components/report/")
        return [filled(child) for child in part] if isinstance(part, list) else part

    return filled({**schema, "components": {**document["components"], "report": report["$defs"]}}
                  if schema != {"$ref": "report.schema.json"} else
                  {**report, "components": {"report": report["$defs"]}, "$defs": {}})


def shared(*parts):
    """A path in ../shared; ends the test as skipped where it is missing."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        print(f"skipped: ../shared/{'/'.join(parts)} is not there")
        sys.exit(SKIPPED)
    return path
