#!/usr/bin/env python3
"""Kills the real agent and the real aggregator while lines are written, and counts what is left.

usage: kills.py --bin FOLDER [--seed N] [--lines N] [--agent-kills N] [--aggregator-kills N]
                [--cut S] [--away S] [--keep FOLDER] [--only PART]...

numbered_lines.py writes into 8 files that are rotated by renaming and by copying and truncating.

  kills   l4-agent is killed (SIGKILL) at random moments, then l4-aggregator, then the link between
          them is cut for --cut seconds. The aggregator must have counted each line of each file
          once, in the one template that it is.
  copies  lines are also written between copying and truncating: only they may be missing, what is
          known of them is counted as lost, and it is said that more may be.
  alone   both are killed at once, and the agent reads on from what it remembers before the
          aggregator is back and says what is counted.
  away    the link is cut for --away seconds, the agent has no room, and rotated files are deleted:
          what is not counted is lost, byte for byte, and the report's completeness says so.

Each part prints its seed and what was found; 1 is returned if anything was wrong. Standard library
only.
"""
import argparse
import collections
import json
import pathlib
import random
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import linked_site  # noqa: E402

FILES = 8
# The longest life between two kills. An agent needs three seconds until it ships: it looks for an
# aggregator, and for the processes behind the logs.
AGENT_LIFE_S, AGGREGATOR_LIFE_S = 7.0, 3.0
MEAN_LIFE = 0.4
AGENT_AWAY_S = 22       # until it tries to connect again
PATIENCE_S = 60                                 # without any line more
STILL_S = 12                                    # the same, where enough is there
AWAY_STILL_S = 25                               # and where what is gone never comes
ALONE_S = 5                                     # an agent waits so long for an aggregator


class Part:
    """One generator, one agent, one aggregator; `wrong` lists their failures."""

    def __init__(self, name, options, folder, agent_settings=None):
        self.name, self.options = name, options
        self.dice = random.Random(f"{options.seed} {name}")
        self.site = linked_site.Site(folder, options.bin, agent_settings)
        self.ledger_file = folder / "ledger.json"
        self.generator, self.wrong, self.began = None, [], time.monotonic()

    def say(self, text):
        print(f"{self.name:7} {time.monotonic() - self.began:5.0f} s  {text}", flush=True)

    def that(self, holds, text):
        if not holds:
            self.wrong.append(text)
            self.say("FAILED " + text)

    def write(self, lines, rate, **more):
        words = [f"--{key.replace('_', '-')}={value}" for key, value in more.items()]
        self.generator = linked_site.Program("generator", self.site.folder, [
            sys.executable, HERE / "numbered_lines.py", f"--files={FILES}", f"--lines={lines}",
            f"--rate={rate}", "--out", self.site.logs, "--ledger", self.ledger_file,
            f"--seed={self.dice.randrange(1 << 30)}", *words])

    def writes(self):
        return self.generator.process.poll() is None

    def kill(self, times, which, life_s):
        """SIGKILL at random moments, also during the start; the program is restarted at once or a
        bit later."""
        start = getattr(self.site, f"start_{which}")
        alive = counted = before = 0
        for _ in range(times):
            if which == "aggregator" and self.dice.random() < 0.7:  # agents come back after a while
                linked_site.wait_for(lambda: self.site.covered() > before, AGENT_AWAY_S)
            time.sleep(self.dice.random() ** 1.5 * life_s)
            alive += self.writes()
            lines = self.site.covered()
            counted += lines > before
            before = max(lines, before)
            self.that(self.site.alive(which), f"the {which} lived until it was killed")
            getattr(self.site, which).end(signal.SIGKILL)
            if self.dice.random() < 0.2:
                time.sleep(self.dice.random())
            start()
        self.say(f"{which} killed {times} times, {alive} of them while lines were written, "
                 f"{counted} after new ones were counted; {before} counted so far")
        self.that(alive >= times * 0.9, f"the {which} was killed while lines were written")
        self.that(counted >= min(20, times // 5), f"the {which} was killed between batches")

    def kill_both(self, times):
        """The agent returns first, and runs for longer than an agent waits for an aggregator."""
        alive, said = 0, []
        for _ in range(times):
            before = self.site.covered()
            linked_site.wait_for(lambda: self.site.covered() > before, AGENT_AWAY_S)
            time.sleep(self.dice.random() * AGENT_LIFE_S)
            alive += self.writes()
            said.append(self.site.agent.said().count("no aggregator yet"))
            for which in ("agent", "aggregator"):
                self.that(self.site.alive(which), f"the {which} lived until it was killed")
                getattr(self.site, which).end(signal.SIGKILL)
            self.site.start_agent()
            time.sleep(ALONE_S + 1 + 3 * self.dice.random())
            self.site.start_aggregator()
        said.append(self.site.agent.said().count("no aggregator yet"))
        alone = sum(one < other for one, other in zip(said, said[1:]))
        self.say(f"both killed {times} times, {alive} of them while lines were written; the agent "
                 f"read on alone {alone} times")
        self.that(alive >= times * 0.6, "both were killed while lines were written")
        self.that(alone == times, "the agent read on alone each time")

    def cut(self, seconds):
        """The link is silent for half of the time and refuses connections for the other half."""
        for mode in ("cut", "refuse"):
            self.site.link.mode = mode
            time.sleep(seconds / 2)
        self.site.link.mode = "open"
        self.say(f"the link was cut for {seconds} s; {'' if self.writes() else 'not '}writing")

    def finish(self, patience_s=PATIENCE_S):
        """Checks ledger, report and counts, once all lines are written and shipped."""
        self.generator.process.wait()
        ledger = json.loads(self.ledger_file.read_text())
        self.that(ledger["done"], "the generator ended well: " + self.generator.said()[-300:])
        self.site.settled(ledger["lines"] - ledger["between_lines"], patience_s)
        if ledger["between_lines"]:
            self.site.settled(ledger["lines"], STILL_S)
        job = self.site.logs.name
        linked_site.wait_for(lambda: self.site.json(f"/api/v1/jobs/{job}/snapshot"), 20)
        time.sleep(1.5)
        report = self.site.json(f"/api/v1/jobs/{job}/snapshot")
        status, _ = self.site.agent.end(signal.SIGTERM)
        self.that(status == 0, f"the agent ends with {status}")
        status, _ = self.site.aggregator.end(signal.SIGTERM)
        self.that(status == 0, f"the aggregator ends with {status}")
        counts = self.site.counts()
        self.that(counts["unreadable"] == 0, f"{counts['unreadable']} batches cannot be read")
        self.that(list(counts["jobs"]) == [job], f"jobs are {list(counts['jobs'])}")
        return ledger, report, counts["jobs"].get(job, {})

    def end(self):
        if self.generator:
            self.generator.end(signal.SIGKILL)
        self.site.end()


def lines_by_file(counted):
    """Lines of each log, by its name; those of its rotated files belong to it."""
    lines = collections.Counter()
    for source in counted.get("sources", []):
        lines[pathlib.PurePosixPath(source["path"]).name] += source["lines"]
    return lines


def lost_bytes(counted):
    return sum(file["lost"] for file in counted.get("files", []))


def same_everywhere(part, counted, report):
    """Parts that must agree even if lines are missing: sources, templates, files, warnings, the
    report."""
    lines = sum(lines_by_file(counted).values())
    by_template = collections.Counter()
    for source in counted.get("sources", []):
        by_template.update(source["events"])
    other = {text: n for text, n in by_template.items() if "numbered line" not in text}
    part.that(not other, f"templates of no line that was written: {other}")
    part.that(sum(by_template.values()) == lines,
              f"templates count {sum(by_template.values())} of {lines} lines")
    covered = sum(file["lines"] for file in counted.get("files", []))
    part.that(covered == lines, f"files cover {covered} of {lines} lines")
    part.that(not counted.get("refused") and not counted.get("left_out"),
              f"{counted.get('refused')} batches refused, {counted.get('left_out')} left out")
    told = sum(row["bytes"] for text, row in counted.get("warnings", {}).items()
               if text.startswith("lost: "))
    part.that(told == lost_bytes(counted),
              f"warnings tell of {told} lost bytes, files of {lost_bytes(counted)}")
    part.that(report.get("job", {}).get("lines") == lines,
              f"the report has {report.get('job', {}).get('lines')} of {lines} lines")
    known = sum(file["known"] for file in counted.get("files", []))
    complete = 1 - lost_bytes(counted) / known if known else 0
    part.that(abs(report.get("job", {}).get("completeness", -1) - complete) < 1e-4,
              f"completeness is {report.get('job', {}).get('completeness')}, not {complete:.6f}")
    return lines


def each_line_once(part, ledger, counted):
    counts = lines_by_file(counted)
    for name, account in ledger["files"].items():
        part.that(counts[name] == account["lines"],
                  f"{name}: {counts[name]} lines counted, {account['lines']} written")
    part.that(lost_bytes(counted) == 0, f"{lost_bytes(counted)} bytes are lost")
    part.say(f"{ledger['lines']} lines written, {sum(counts.values())} counted; "
             f"{ledger['renames']} files renamed, {ledger['copies']} copied and truncated")


def kills(part, options):
    lines = options.lines
    seconds = (options.agent_kills * (AGENT_LIFE_S * MEAN_LIFE + 0.2) +
               options.aggregator_kills * (AGGREGATOR_LIFE_S * MEAN_LIFE + AGENT_AWAY_S / 3) +
               options.cut + 10)
    part.write(lines, lines / (seconds * 1.25), rotate_every=max(200, lines // FILES // 14))
    part.kill(options.agent_kills, "agent", AGENT_LIFE_S)
    part.kill(options.aggregator_kills, "aggregator", AGGREGATOR_LIFE_S)
    part.cut(options.cut)
    ledger, report, counted = part.finish()
    same_everywhere(part, counted, report)
    each_line_once(part, ledger, counted)


def alone(part, options):
    lines = options.lines // 10 // FILES * FILES
    times = max(2, options.agent_kills // 20)
    seconds = times * (AGENT_LIFE_S + ALONE_S + 10) + 5
    part.write(lines, lines / (seconds * 1.25), rotate_every=max(200, lines // FILES // 40))
    part.kill_both(times)
    ledger, report, counted = part.finish()
    same_everywhere(part, counted, report)
    each_line_once(part, ledger, counted)


def copies(part, options):
    lines = options.lines // 10 // FILES * FILES
    agent_kills = options.agent_kills // 5
    seconds = agent_kills * (AGENT_LIFE_S * MEAN_LIFE + 0.2) + 10
    part.write(lines, lines / (seconds * 1.25), rotate_every=max(200, lines // FILES // 25),
               copy_share=1, between_lines=7)
    part.kill(agent_kills, "agent", AGENT_LIFE_S)
    ledger, report, counted = part.finish()
    same_everywhere(part, counted, report)
    counts = lines_by_file(counted)
    for name, account in ledger["files"].items():
        least = account["lines"] - account["between_lines"]
        part.that(least <= counts[name] <= account["lines"],
                  f"{name}: {counts[name]} lines counted, not {least} to {account['lines']}")
    missing = ledger["bytes"] - ledger["bytes"] // ledger["lines"] * sum(counts.values())
    part.that(lost_bytes(counted) <= missing,
              f"{lost_bytes(counted)} bytes are counted as lost, {missing} are missing")
    said = [text for text in counted["warnings"] if "more may be missing" in text]
    part.that(said or missing == 0, f"it is not said that lines are missing: {counted['warnings']}")
    part.say(f"{ledger['lines']} lines written, {ledger['between_lines']} between copying and "
             f"truncating {ledger['copies']} times; {sum(counts.values())} counted, "
             f"{lost_bytes(counted)} of {missing} missing bytes known")


def away(part, options):
    lines = options.lines // 10 // FILES * FILES
    seconds = options.away + 20
    part.write(lines, lines / seconds, rotate_every=max(100, lines // FILES // 40), keep=2,
               copy_share=0)
    time.sleep(8)
    part.cut(options.away)
    ledger, report, counted = part.finish(AWAY_STILL_S)
    found = same_everywhere(part, counted, report)
    lost = lost_bytes(counted)
    line_bytes = ledger["bytes"] // ledger["lines"]
    part.that(lost > 0, "something was lost: else this shows nothing")
    part.that(found * line_bytes + lost == ledger["bytes"],
              f"{found} lines counted and {lost / line_bytes:.2f} lost of {ledger['lines']}")
    part.say(f"{ledger['lines']} lines written, {ledger['deleted_lines']} in files that were "
             f"deleted; {found} counted, {lost / line_bytes:.2f} lost, completeness "
             f"{report.get('job', {}).get('completeness')}")


PARTS = {"kills": (kills, None), "copies": (copies, None), "alone": (alone, None),
         "away": (away, {"memory": {"queue_mib": 1, "batches": 16}, "state": {"spool_mib": 0}})}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--bin", type=lambda text: pathlib.Path(text).resolve(), required=True)
    add("--seed", default=str(random.SystemRandom().randrange(1_000_000)))
    add("--lines", type=int, default=2_000_000)
    add("--agent-kills", type=int, default=200)
    add("--aggregator-kills", type=int, default=50)
    add("--cut", type=float, default=150)
    add("--away", type=float, default=120)
    add("--keep", type=pathlib.Path, help="an empty folder in which everything stays")
    add("--only", action="append", choices=sorted(PARTS))
    options = parser.parse_args()
    failed = 0
    for name in options.only or PARTS:
        print(f"{name}: seed {options.seed}", flush=True)
        run, settings = PARTS[name]
        with tempfile.TemporaryDirectory(prefix="l4-kills-") as made:
            folder = options.keep.resolve() / name if options.keep else pathlib.Path(made)
            folder.mkdir(parents=True, exist_ok=True)
            part = Part(name, options, folder, settings)
            try:
                part.site.start_aggregator()
                part.site.start_agent()
                run(part, options)
            finally:
                part.end()
            failed += bool(part.wrong)
            print(f"{name}: {'FAILED' if part.wrong else 'ok'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
