#!/usr/bin/env python3
"""`l4 lines` and GET .../lines: real agents read their own logs again for a real aggregator.

usage: raw_lines.py L4

Two agents, one rank each. Asked for are ends, times and templates, before and after the logs are
rotated, packed, copied and truncated, and one agent is killed. Every line that comes back must
stand in the logs as it is, secrets apart; whatever is missing must be said.
"""
import contextlib
import datetime
import gzip
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import urllib.parse

import aggregator as programs
import live
import support
from api import Asker, token_of
from live import wait_for

PATIENCE_S = 120 if support.SANITIZED else 40
BEGIN = datetime.datetime(2026, 11, 20, 10, 0, 0)
STEPS = 6000
SECRETS = ["hf_abcdefghijklmnopqrstuvwxyz", "correct-horse", "AKIAABCDEFGHIJKLMNOP",
           "0123456789abcdef0123456789abcdef01234567", "badge-4711"]
NASTY = "ERROR terminal \x1b[2J\x1b]0;title\x07 \u202e says \u009b things"


def time_of(step):
    return BEGIN + datetime.timedelta(seconds=step)


def stamp(step):
    return time_of(step).strftime("%Y-%m-%d %H:%M:%S,000")


def zulu(step):
    return time_of(step).strftime("%Y-%m-%dT%H:%M:%SZ")


def lines_of(rank):
    """(step, line): steps of training, with what stands out among them."""
    for step in range(STEPS):
        yield f"{stamp(step)} INFO step {step} of {STEPS} loss 2.5 took 12.5 ms"
        if step % 1000 == 500:
            yield f"{stamp(step)} WARNING checkpoint shard {step} is slow on disk {rank}"
        if step == 5000:
            yield f"{stamp(step)} {NASTY}"
            yield f"{stamp(step)} INFO login with {SECRETS[0]} and " \
                  f"https://me:{SECRETS[1]}@hub.example/x"
            yield f"{stamp(step)} INFO AWS key {SECRETS[2]}, WANDB_API_KEY={SECRETS[3]}"
            yield f"{stamp(step)} INFO entered by {SECRETS[4]} at the door"


class World:
    """Aggregator, two agents and their logs; answers are compared with the written lines."""

    def __init__(self, stack, l4, expect):
        self.l4, self.expect = l4, expect
        self.build = pathlib.Path(l4.binary).resolve().parent
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.l4.run("keys", "init", "--dir", self.folder / "keys")
        self.l4.run("keys", "add", "--dir", self.folder / "keys", "node-a", "node-b")
        (self.folder / "state").mkdir()
        self.token = token_of(l4, expect, self.folder, "reader", "read")
        self.secret = self.folder / "token"
        self.secret.write_text(self.token + "\n")
        self.server = programs.Aggregator(self.build / "l4-aggregator", self.folder)
        config = self.server.config.read_text()
        self.server.config.write_text(
            config.replace("[http]\n", '[http]\ntokens = "keys/tokens"\n')
            + "[lines]\nquestions_max = 4\ntimeout_s = 10\n")
        self.agents, self.logs = {}, {}
        self.written = {}
        for rank, node in enumerate(("node-a", "node-b")):
            log = self.folder / node / "logs" / f"rank{rank}.log"
            log.parent.mkdir(parents=True)
            self.written[node] = list(lines_of(rank))
            log.write_text("\n".join(self.written[node]) + "\n")
            self.logs[node] = log
        stack.callback(self.end)

    def start_agent(self, node, more=""):
        path = self.folder / f"{node}.toml"
        path.write_text(f"""[link]
aggregator = "tcp://127.0.0.1:{self.server.wire}"
key = "keys/nodes/{node}.key"
[who]
job = "train"
[logs]
sources = ["{self.logs[node].parent}"]
excludes = ["{self.logs[node].parent}/*.bak"]
[state]
folder = "state-{node}"
[host]
kernel_log = false
processes = false
[limits]
resident_mib = {1024 if support.SANITIZED else 96}
[redact]
expressions = ["^(?:INFO )?entered by badge-[0-9]+"]
{more}""")
        self.agents[node] = live.Program(f"agent-{node}", self.folder,
                                         [self.build / "l4-agent", "--config", path])

    def end(self):
        for agent in self.agents.values():
            agent.end(signal.SIGKILL)
        if self.server.process and self.server.process.poll() is None:
            self.server.process.kill()
            self.server.process.wait()

    def ask(self, **query):
        path = "/api/v1/jobs/train/lines?" + urllib.parse.urlencode(query)
        status, _, body = Asker(self.server.http, self.token).ask(path)
        answer = json.loads(body)
        if status == 200:
            self.holds(answer, query)
        return status, answer

    def holds(self, answer, query):
        """Every returned line is in the log that the answer names."""
        self.expect.equal(answer["complete"], not answer["missing"], f"{query}: complete")
        text = json.dumps(answer)
        for secret in SECRETS:
            self.expect.that(secret not in text, f"{query}: {secret} stays on the node")
        for line in answer["lines"]:
            if "[redacted]" in line["text"]:
                continue
            self.expect.that(line["text"] in self.written[line["node"]],
                             f"{query}: stands in the log", line)

    def command(self, *options):
        return self.l4.run("lines", "train", "--address", f"http://127.0.0.1:{self.server.http}",
                           "--token-file", self.secret, *options)


def kinds(answer):
    return sorted({row["kind"] for row in answer["missing"]})


def texts(answer, hits=True):
    return [line["text"] for line in answer["lines"] if line["hit"] or not hits]


def counted(world):
    row = Asker(world.server.http, world.token).json("/api/v1/jobs/train")
    return row.get("lines", 0) >= sum(map(len, world.written.values()))


def template_of(world, words):
    """The template's id depends on its message alone: `l4 parse` gives the same one."""
    found = [line for line in world.written["node-a"] if words in line]
    file = world.folder / "templates"
    for front in (2, 3):  # behind the time, behind the level
        messages = world.folder / "messages"
        messages.write_text("".join(line.split(" ", front)[front] + "\n" for line in found))
        world.l4.run("parse", messages, "--out", os.devnull, "--templates", file)
        template = file.read_text().split("\t")[0]
        if world.ask(template=template)[0] == 200:
            return template
    return ""


def check_ends_and_times(world, expect):
    status, answer = world.ask(rank=1, limit=20)
    expect.equal((status, texts(answer)), (200, world.written["node-b"][-20:]), "end of a rank")
    expect.equal({(line["node"], line["rank"]) for line in answer["lines"]}, {("node-b", 1)},
                 "whose they are")
    expect.equal(answer["lines"][-1]["line"], len(world.written["node-b"]), "number of the line")
    expect.equal(kinds(answer), ["limit_lines"], "a log has more: that is said")
    status, answer = world.ask(node="node-a", around=zulu(3000), context=3)
    at = world.written["node-a"].index(next(t for t in world.written["node-a"]
                                            if f"step 3000 of" in t))
    expect.equal(texts(answer, False), world.written["node-a"][at - 3:at + 4], "around a time")
    expect.equal(texts(answer), [world.written["node-a"][at]], "the line at that time")
    expect.equal([line["time"] for line in answer["lines"] if line["hit"]],
                 [time_of(3000).strftime("%Y-%m-%dT%H:%M:%S.000Z")], "its time")
    data = world.logs["node-a"].read_bytes()
    for line in answer["lines"]:
        there = data[line["offset"]:].split(b"\n", 1)[0].decode()
        expect.equal(there, line["text"], "offset of the line")
    expect.that(answer["complete"], "nothing is missing", answer["missing"])
    _, answer = world.ask(node="node-a", around=zulu(-9000), context=0)
    expect.equal((texts(answer), kinds(answer)), (world.written["node-a"][:1], ["older"]),
                 "a time before all of it")
    _, answer = world.ask(node="node-a", around=zulu(99999), context=0)
    expect.equal(texts(answer), world.written["node-a"][-1:], "a time behind all of it")


def check_templates(world, expect, slow):
    status, answer = world.ask(template=slow, context=1, limit=50)
    expect.equal(status, 200, "a template")
    expect.equal(len(texts(answer)), 2 * STEPS // 1000, "all lines of it, of both nodes")
    expect.that(all("checkpoint shard" in text for text in texts(answer)), "they are of it")
    expect.equal(len(texts(answer, False)), 3 * 2 * STEPS // 1000, "with context")
    expect.that(answer["complete"], "all of them", answer["missing"])
    status, answer = world.ask(template=slow, rank=0, around=zulu(2500), context=0, limit=2)
    expect.equal(texts(answer), [t for t in world.written["node-a"]
                                 if "shard 1500" in t or "shard 2500" in t],
                 "a template of a rank around a time")


def check_wrong_use(world, expect):
    for query, code in (({"rank": "x"}, 400), ({"rank": -1}, 400), ({}, 400),
                        ({"node": "node-a", "context": 101}, 400),
                        ({"node": "node-a", "limit": 0}, 400),
                        ({"node": "node-a", "colour": "red"}, 400),
                        ({"node": "node-a", "around": "noon"}, 400), ({"template": "12"}, 400),
                        ({"template": "0123456789abcdef"}, 404), ({"rank": 7}, 404),
                        ({"node": "node-c"}, 404), ({"rank": 0, "node": "node-b"}, 404)):
        status, answer = world.ask(**query)
        expect.equal(status, code, f"{query}: status")
        key, value = next(iter(reversed(query.items())), ("", "template, node or rank"))
        value = key if key == "colour" else str(value)
        if code == 400:
            expect.that(value in answer["error"]["message"], f"{query}: names it", answer)
    status, _, body = Asker(world.server.http).ask("/api/v1/jobs/train/lines?rank=0")
    expect.equal((status, json.loads(body)["error"]["code"]), (401, "no_token"), "without a token")
    run = world.command("--rank", "7")
    expect.that(run.status == 2 and "no line of rank 7" in run.stderr, "l4 lines: which rank", run)
    run = world.command()
    expect.that(run.status == 2 and "--rank" in run.stderr, "l4 lines without a choice", run)
    run = world.l4.run("lines", "tarin", "--rank", "0", "--token-file", world.secret,
                       "--address", f"http://127.0.0.1:{world.server.http}")
    expect.that(run.status == 2 and "did you mean train" in run.stderr, "l4 lines: which job", run)


def check_secrets_and_terminals(world, expect):
    _, answer = world.ask(rank=0, around=zulu(5000), context=6)
    expect.that(NASTY in " ".join(texts(answer, False)), "escape sequences are exact in JSON")
    blotted = [t for t in texts(answer, False) if "[redacted]" in t]
    expect.equal((len(blotted), answer["redacted"]), (3, 3), "lines with secrets")
    run = world.command("--rank", "0", "--around", zulu(5000), "--context", "6")
    text = run.stdout.decode()
    expect.equal(run.status, 0, "l4 lines: exit")
    expect.that("\x1b" not in text and "\u202e" not in text and "\u009b" not in text
                and "ERROR terminal" in text, "nothing acts on a terminal", text)
    expect.that("node-a · rank 0" in text and "3 redacted" in text and "\n> " in text,
                "l4 lines: what it shows", text)
    run = world.command("--rank", "0", "--around", zulu(5000), "--context", "6", "-o", "json")
    expect.equal(json.loads(run.stdout)["lines"], answer["lines"], "l4 lines -o json")
    run = world.command("--rank", "0", "--limit", "3", "--exit-code")
    expect.that(run.status == 10 and b"missing: " in run.stdout and b"limit_lines" in run.stdout,
                "l4 lines --exit-code", run)


def check_rotation(world, expect, slow):
    """Logs are renamed and packed, then copied and truncated: lines on the disk are still found."""
    log = world.logs["node-a"]
    rotated = log.with_name(log.name + ".1")
    log.rename(rotated)
    later = [f"{stamp(STEPS + i)} INFO step {STEPS + i} of {STEPS} loss 2.5 took 12.5 ms"
             for i in range(100)]
    log.write_text("\n".join(later) + "\n")
    world.written["node-a"] += later
    packed = log.with_name(log.name + ".2.gz")
    with open(rotated, "rb") as plain, gzip.open(packed, "wb") as out:
        shutil.copyfileobj(plain, out)
    rotated.unlink()
    wait_for(lambda: counted(world), PATIENCE_S)
    _, answer = world.ask(rank=0, around=zulu(3000), context=2)
    expect.that(len(texts(answer, False)) == 5 and "step 3000 of" in texts(answer)[0],
                "around a time in a packed file", answer)
    expect.that(all(line["file"].endswith(".gz") and line["line"] for line in answer["lines"]),
                "file and number", answer)
    _, answer = world.ask(rank=0, limit=150)
    expect.equal(texts(answer), world.written["node-a"][-150:], "an end over two files")
    _, answer = world.ask(template=slow, rank=0, context=0)
    expect.equal(len(texts(answer)), STEPS // 1000, "a template in a packed file")
    expect.that(answer["complete"], "all of it is there", answer["missing"])
    log = world.logs["node-b"]
    shutil.copyfile(log, log.with_name(log.name + ".1"))
    os.truncate(log, 0)
    _, answer = world.ask(template=slow, rank=1, context=0)
    expect.equal(len(texts(answer)), STEPS // 1000, "a template in a copy")
    (log.with_name(log.name + ".1.bak")).write_text("2026-11-20 10:00:00,000 INFO not for us\n")
    target = world.folder / "elsewhere"
    target.write_text(f"{stamp(0)} INFO not for us\n" * 9)
    (log.with_name(log.name + ".9")).symlink_to(target)
    _, answer = world.ask(rank=1, around=zulu(0), context=5)
    expect.that(answer["lines"] and "not for us" not in json.dumps(answer),
                "no link and nothing excluded is read", answer)
    (log.with_name(log.name + ".9")).unlink()


def check_gone(world, expect, slow):
    world.logs["node-a"].with_name("rank0.log.2.gz").unlink()
    _, answer = world.ask(template=slow, context=0)
    expect.equal(kinds(answer), ["fewer"], "what is no longer there is said")
    said = f"{STEPS // 1000} lines of it were counted"
    expect.that(any(said in m["text"] and m["node"] == "node-a" for m in answer["missing"]),
                "how many, and where", answer["missing"])
    _, answer = world.ask(rank=0, around=zulu(3000), context=0)
    expect.equal(kinds(answer), ["older"], "the time is no longer there")
    world.agents["node-b"].end(signal.SIGKILL)
    _, answer = world.ask(template=slow, context=0)
    expect.that(set(kinds(answer)) & {"not_connected", "no_answer", "left"}
                and {m["agent"] for m in answer["missing"]} == {"node-a", "node-b"},
                "an agent that is gone", answer["missing"])
    expect.equal(answer["agents_asked"], 2, "both were asked")


def check_restarted(world, expect, slow):
    """The agent restarts with nothing but its positions; the rank is gone, its log remains."""
    world.start_agent("node-b", '[lines]\nread_mib = 1\nanswer_kib = 16\n')
    wait_for(lambda: world.ask(rank=1, limit=1)[1].get("agents_answered") == 1, PATIENCE_S)
    _, answer = world.ask(rank=1, template=slow, context=0)
    expect.equal(len(texts(answer)), STEPS // 1000, "a template that the agent never met")
    _, answer = world.ask(rank=1, limit=10000)
    size = sum(len(text) for text in texts(answer))
    expect.that("limit_bytes" in kinds(answer) and 0 < size <= 17 * 1024, "the agent's bound",
                (size, answer["missing"]))
    world.agents["node-b"].end()
    world.start_agent("node-b", "[lines]\nenabled = false\n")
    wait_for(lambda: "off" in kinds(world.ask(rank=1)[1]), PATIENCE_S)
    expect.equal(kinds(world.ask(rank=1)[1]), ["off"], "an agent that does not answer")


def check_audit(world, expect):
    log = world.server.log_text()
    expect.that("raw lines: reader at 127.0.0.1:" in log and "job=train rank=1" in log,
                "who asked what stands in the log", log[-1500:])
    expect.that(" 20 lines, " in log, "and how many lines were given")
    metrics = Asker(world.server.http, world.token).ask("/metrics")[2].decode()
    figures = dict(row.rsplit(" ", 1) for row in metrics.splitlines() if not row.startswith("#"))
    for name in ("questions", "questions_refused", "questions_incomplete", "given", "given_bytes"):
        expect.that(float(figures.get(f"l4_aggregator_lines_{name}_total", 0)) > 0, name)
    for secret in SECRETS[:4]:
        snapshot = Asker(world.server.http, world.token).ask("/api/v1/jobs/train/snapshot")[2]
        expect.that(secret.encode() not in snapshot, f"{secret} is in no template")


def main():
    l4, expect = support.start(sys.argv, "raw lines")
    run = l4.run("lines", "--help")
    expect.that(run.status == 0 and b"--around" in run.stdout and b"Exit status" in run.stdout,
                "l4 lines --help")
    with contextlib.ExitStack() as stack:
        world = World(stack, l4, expect)
        expect.that(world.server.start(), "the aggregator starts", world.server.log_text()[-600:])
        for node in world.logs:
            world.start_agent(node)
        expect.that(wait_for(lambda: counted(world), PATIENCE_S), "all lines are counted")
        slow = template_of(world, "checkpoint shard")
        check_ends_and_times(world, expect)
        check_wrong_use(world, expect)
        check_secrets_and_terminals(world, expect)
        check_templates(world, expect, slow)
        check_rotation(world, expect, slow)
        check_gone(world, expect, slow)
        check_restarted(world, expect, slow)
        check_audit(world, expect)
        expect.equal(world.server.end(signal.SIGTERM)[0], 0, "exit")
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
