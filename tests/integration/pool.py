#!/usr/bin/env python3
"""Healthy runs of a job become normal for the next ones, by themselves.

usage: pool.py L4

The real aggregator; nodes of made jobs are played to it over the real wire. Three runs end well
although a node prints an error in each. A fourth prints it, too, and nothing comes of it; a fifth
fails and is explained without it. Then outcomes are reported, and runs are dropped, exported,
imported and added; the aggregator is killed after each answer.
"""
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

import aggregator as programs
import made_job
import support
from api import token_of
from confirm import KILLS_AT, Poster, milliseconds_of, struck
from live import wait_for

SLOW, NODES = programs.SLOW, 4
NOISE = "ERROR ledger: lease of shelf {n} failed with code 3, its deputy renews it"
FATAL = "RuntimeError: CUDA error: uncorrectable ECC error encountered"


class Job(made_job.MadeJob):
    """A job on nodes of its own, so that its agents are new ones."""

    def node(self, rank):
        return f"node-{self.seed}{rank:02d}"


def healthy(seed, iterations=30):
    job = Job(NODES, seed=seed, iterations=iterations)
    for i in (7, 12):
        shelf = random.Random(seed + i).randrange(99)
        job.say(2, job.moment(2, i, 1) + 0.01, NOISE.format(n=shelf))
    return job


def failing(seed):
    job = healthy(seed)
    at = job.moment(1, 15, 3) + 0.01
    job.stop_all(15, made_job.ALL_REDUCE, but=(1,))
    job.stop(1, 15, 3)
    job.say(1, at, "ERROR trainer: " + FATAL)
    return job


class World:
    """An aggregator with tokens, and players."""

    def __init__(self, l4, expect, folder):
        self.l4, self.expect, self.folder = l4, expect, folder
        self.build = pathlib.Path(l4.binary).resolve().parent
        l4.run("keys", "init", "--dir", folder / "keys")
        l4.run("keys", "add", "--dir", folder / "keys", 
               *[f"node-{seed}{n:02d}" for seed in (0, 1, 2, 11, 12) for n in range(NODES)])
        (folder / "state").mkdir()
        self.tokens = {name: token_of(l4, expect, folder, name, role)
                       for name, role in (("reader", "read"), ("ops", "operate"))}
        self.server = programs.Aggregator(self.build / "l4-aggregator", folder)
        text = self.server.config.read_text().replace('[alerts]\nwebhook = ""\n', "")
        self.server.config.write_text(
            text.replace("[http]\n", '[http]\ntokens = "keys/tokens"\n') +
            "[detect]\nroutine_s = 1\nhang_floor_s = 5\nhang_confirm_s = 8\n[pool]\nruns_max = 4\n")
        self.ops = Poster(self.server.http, self.tokens["ops"])

    def start(self):
        self.expect.that(self.server.start(), "the aggregator starts",
                         self.server.log_text()[-800:])

    def kill(self):
        self.server.end(signal.SIGKILL)
        self.start()

    def command(self, *args, token="ops", **options):
        held = self.folder / f"token-{token}"
        held.write_text(self.tokens[token] + "\n")
        return self.l4.run(*args, "--address", self.ops.url, "--token-file", held, **options)

    def play(self, name, job):
        """Plays all lines of the job."""
        logs = job.write(self.folder / "logs" / name)
        run = subprocess.run(
            [str(self.build / "l4_player"), "play", f"tcp://127.0.0.1:{self.server.wire}",
             str(self.folder / "keys"), str(logs), name, "50"], capture_output=True,
            timeout=60 * SLOW, check=False)
        self.expect.equal(run.returncode, 0, f"{name} is played")
        return logs

    def runs(self):
        return [run["run"] for run in self.ops.json("/api/v1/pool").get("runs", [])]

    def report(self, name):
        return self.ops.json(f"/api/v1/jobs/{name}/snapshot")

    def incidents(self, name):
        return self.ops.json(f"/api/v1/incidents?job={name}").get("incidents", [])

    def figure(self, name):
        for line in self.ops.ask("/metrics")[2].decode().splitlines():
            if line.startswith(f"l4_aggregator_{name} "):
                return float(line.split()[1])
        return None


def check_growth(world):
    """Each run that ends well enters the pool once; all are of one kind."""
    expect, logs = world.expect, []
    for n in range(3):
        logs.append(world.play(f"well-{n}", healthy(n)))
        expect.that(wait_for(lambda n=n: f"well-{n}.0" in world.runs(), 20 * SLOW),
                    f"well-{n} is in the pool",
                    (world.runs(), world.report(f"well-{n}").get("verdict"),
                     world.server.log_text()[-800:]))
    runs = world.ops.json("/api/v1/pool")["runs"]
    expect.equal(len({run["kind"] for run in runs}), 1, "all are of one kind")
    expect.equal({run["origin"] for run in runs}, {"logs"}, "who called them good")
    expect.equal([world.incidents(f"well-{n}") for n in range(3)], [[]] * 3, "no incident")
    whole = world.ops.json("/api/v1/pool/well-0.0")["runs"][0]
    texts = [event["template"] for event in whole["events"]]
    expect.that(any("lease of shelf" in text for text in texts), "the noise is known", texts)
    expect.that(not any("shelf 4" in text or "node-000" in text for text in texts),
                "templates, no lines", texts)
    expect.equal((world.figure("pool_runs"), world.figure("pool_kinds")), (3, 1), "metrics")
    return logs


def check_use(world, logs):
    """In a fourth run the same error is normal, and a failure beside it is found."""
    expect = world.expect
    quiet = healthy(11)
    quiet.stop_all(29, 8)  # it still runs
    world.play("quiet", quiet)
    report = world.report("quiet")
    expect.equal(report["pool"]["jobs"], 3, "runs that the fourth is held against")
    expect.that(report["pool"]["used"] and report["pool"]["events_dropped"] > 10,
                "what they print is dropped", report["pool"])
    expect.equal(report["verdict"]["state"], "healthy", "the fourth")
    expect.equal(world.incidents("quiet"), [], "no incident of it")
    failed = world.play("bad", failing(12))
    expect.that(wait_for(lambda: world.incidents("bad"), 40 * SLOW), "the fifth fails",
                world.report("bad").get("verdict"))
    report = world.report("bad")
    texts = [event["template"] for event in report["events"]]
    expect.that(any("uncorrectable ECC" in text for text in texts[:1]), "its fault is first", texts)
    expect.that(not any("lease of shelf" in text for text in texts), "the noise is not told", texts)
    expect.equal(report["nodes"][0]["node"], "node-1201", "its node")
    expect.equal(report["pool"]["jobs"], 3, "the pool was used")
    history = [part for path in logs for part in ("--history", path)]
    _, offline = world.l4.report(failed, *history)
    expect.equal({key: report["pool"][key] for key in ("used", "jobs", "events_dropped")},
                 offline["pool"], "the pool, live and offline")
    expect.equal(texts, [event["template"] for event in offline["events"]], "events, both ways")
    expect.that("bad.0" not in world.runs(), "a failure never comes in", world.runs())


def check_outcomes(world):
    expect, path = world.expect, "/api/v1/jobs/{}/outcome"
    for job, body, status, word in (("nobody", {"outcome": "success"}, 404, "nobody"),
                                    ("well-1", {"outcome": "great"}, 400, "great"),
                                    ("well-1", {}, 400, "outcome"),
                                    ("well-1", {"outcome": "failure", "x": "1"}, 400, "x"),
                                    ("well-1", b"{", 400, "body")):
        code, answer = world.ops.send("POST", path.format(job), body)
        expect.that(code == status and word in answer["error"]["message"], f"{job} {body}",
                    (code, answer))
    reader = Poster(world.server.http, world.tokens["reader"])
    expect.equal(reader.send("POST", path.format("well-1"), {"outcome": "failure"})[0], 403,
                 "a reader tells nothing")
    run = world.command("outcome", "well-1", "failure", "--note", "loss was NaN")
    expect.that(run.status == 0 and b"well-1.0 has left the pool" in run.stdout, "a failure", run)
    world.kill()
    expect.equal(sorted(world.runs()), ["well-0.0", "well-2.0"], "it has left for good")
    expect.equal(world.command("outcome", "well-1", "failure").status, 0, "the same word again")
    world.report("well-1")
    expect.equal(len(world.runs()), 2, "its logs do not bring it back")
    run = world.command("outcome", "bad", "success", "-o", "json")
    expect.that(run.status == 0 and json.loads(run.stdout)["run"] == "bad.0",
                "people outweigh logs", run)
    world.kill()
    expect.that("bad.0" in world.runs(), "what they said holds", world.runs())
    world.command("outcome", "bad", "failure")
    expect.equal(sorted(world.runs()), ["well-0.0", "well-2.0"], "and can be taken back")
    expect.that("was told a failure by ops: loss was NaN" in world.server.log_text(),
                "it is in the log", world.server.log_text()[-800:])
    expect.equal(world.command("outcome", "well-0", "good").status, 2, "a wrong word")
    expect.equal(world.command("outcome", "nobody", "success").status, 2, "no such job")


def check_commands(world, logs):
    expect = world.expect
    kept = world.folder / "kept.json"
    run = world.command("pool", "export", "--out", kept)
    expect.that(run.status == 0 and len(json.loads(kept.read_text())["runs"]) == 2, "export", run)
    run = world.command("pool", "list")
    expect.that(b"2 runs of 1 kind of job" in run.stdout and b"well-2.0" in run.stdout, "list", run)
    run = world.command("pool", "show", "well-2.0")
    expect.that(b"template" in run.stdout and b"gradient all-reduce" in run.stdout, "show", run)
    expect.equal(world.command("pool", "drop", "well-2.0").status, 0, "drop")
    expect.equal(world.command("pool", "drop", "well-2.0").status, 2, "there is none any more")
    world.kill()
    world.report("well-2")
    expect.equal(world.runs(), ["well-0.0"], "what was dropped does not come back by itself")
    broken = world.folder / "broken.json"
    text = kept.read_text()
    for wrong, word in ((text[:-40], "no JSON"), (text.replace("l4.pool/1", "l4.pool/2"), "schema"),
                        (text.replace('"nodes": 4', '"nodes": "4"'), "runs[0].nodes"),
                        (text.replace('"lines"', '"Lines"', 1), "runs[0].lines")):
        broken.write_text(wrong)
        run = world.command("pool", "import", broken)
        expect.that(run.status == 2 and word in run.stderr and "broken.json" in run.stderr,
                    f"a file with wrong {word}", run)
    expect.equal(world.runs(), ["well-0.0"], "of broken files nothing is taken")
    run = world.command("pool", "import", kept)
    expect.that(run.status == 0 and b"2 runs were added" in run.stdout, "import", run)
    run = world.command("pool", "add", logs[1], "--name", "copied")
    expect.that(run.status == 0 and b"1 run was added" in run.stdout, "add", run)
    run = world.command("pool", "add", world.folder / "logs" / "bad")
    expect.that(run.status == 1 and "not finished" in run.stderr, "logs of a failure", run)
    world.kill()
    runs = world.ops.json("/api/v1/pool")["runs"]
    expect.equal(sorted(run["run"] for run in runs), ["copied.0", "well-0.0", "well-2.0"], "all")
    expect.equal(len({run["kind"] for run in runs}), 1, "still one kind")


def runs_of_kinds(world, count, parts, size):
    """Made runs, each of its own kind, because only four runs of a kind are kept here."""
    kept = json.loads((world.folder / "kept.json").read_text())["runs"][0]
    for i in range(count):
        events = [{"id": f"{0xaa0000 + 1000 * i + part:016x}", "level": "info",
                   "template": f"part {part} of large pool {i} " + "x" * size,
                   "node_count_max": 9, "node_rate_max": 0.5, "node_share": 1}
                  for part in range(parts)]
        yield dict(kept, run=f"large-{i}.0", job=f"large-{i}", events=events)


def check_kills_of_imports(world):
    """The aggregator is killed in the middle: each run is stored whole or not at all, and is stored
    if the answer came."""
    expect, path, stored = world.expect, "/api/v1/pool", []
    runs = list(runs_of_kinds(world, 8, 60, 20))
    body = {"schema": "l4.pool/1", "runs": runs}
    texts = {run["run"]: sorted(e["template"] for e in run["events"]) for run in runs}

    def drop_all():
        for run in runs:
            world.ops.send("DELETE", f"{path}/{run['run']}")

    takes_ms = milliseconds_of(world, path, body)
    for part in KILLS_AT:
        drop_all()
        delay_ms = round(part * takes_ms)
        answer = struck(world, path, body, delay_ms)
        what = f"an import, killed after {delay_ms} ms"
        held = [run for run in world.ops.json(path + "?whole=true")["runs"]
                if run["run"].startswith("large-")]
        stored.append(len(held))
        expect.that(answer is None or len(held) == len(runs), f"{what}: what was answered is there",
                    (answer, len(held)))
        for run in held:
            expect.equal(sorted(e["template"] for e in run["events"]), texts[run["run"]],
                         f"{what}: {run['run']} is whole")
    print(f"of {len(runs)} runs were stored before each kill: {stored}")
    drop_all()
    expect.that("passed over" not in world.server.log_text(), "no broken run was found")


def check_large(world):
    """A pool larger than one answer comes in pages, and is still exported as one file."""
    expect, many = world.expect, 30
    for i, run in enumerate(runs_of_kinds(world, many, 600, 960)):
        status, answer = world.ops.send("POST", "/api/v1/pool",
                                        {"schema": "l4.pool/1", "runs": [run]})
        expect.equal(status, 200, f"run {i} is taken: {answer}")
    everybody = sorted(world.runs())
    page = world.ops.json("/api/v1/pool?whole=true")
    expect.that(page["next"] and 10 < len(page["runs"]) < len(everybody), "one page of them",
                (page["next"], len(page["runs"])))
    file = world.folder / "large.json"
    run = world.command("pool", "export", "--out", file)
    runs = json.loads(file.read_text())["runs"]
    expect.equal((run.status, sorted(run["run"] for run in runs)), (0, everybody), "export of all")
    expect.that(not file.with_name("large.json.part").exists(), "nothing else is left")
    run = world.command("pool", "list")
    expect.that(f"{len(everybody)} runs of".encode() in run.stdout, "list of all", run)
    run = world.command("pool", "import", file)
    expect.that(run.status == 0 and f"{len(everybody)} runs were added".encode() in run.stdout,
                "import of all", run)
    text = file.read_text()
    file.write_text(text.replace('"large-9"', '"large-x"'))
    run = world.command("pool", "import", file)
    expect.that(run.status == 2 and ".run: must be JOB.ATTEMPT" in run.stderr, "one that is wrong",
                run)


def main():
    l4, expect = support.start(sys.argv, "pool")
    with tempfile.TemporaryDirectory(prefix="l4-pool-") as folder:
        world = World(l4, expect, pathlib.Path(folder))
        try:
            world.start()
            logs = check_growth(world)
            check_use(world, logs)
            check_outcomes(world)
            check_commands(world, logs)
            check_kills_of_imports(world)
            check_large(world)
        finally:
            if world.server.process and world.server.process.poll() is None:
                world.server.end(signal.SIGTERM)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
