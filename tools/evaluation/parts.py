"""The parts of the evaluation: each runs its cases by the rows that are asked for.

Place: between work.py (runs and keeps) and tables.py (prints and writes). A part yields
(table, row, {column: value}) as soon as a row is known. Columns are those of docs/ACCURACY.md.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import calibration as kept
import cases as scored
import fitting
import flow_logs
import flow_traces
import named
from work import ALONE, BENCH, DATA, FORMER, ROOT, SWITCHES

sys.path[:0] = [str(ROOT / "bench")]

import score  # noqa: E402
import support  # noqa: E402
import throughput  # noqa: E402

SCORES = (("event F1", "event F1"), ("recall", "event recall"),
          ("root recall", "root-event recall"), ("node top-1", "node top-1"),
          ("top-5", "node top-5"), ("top-8", "node top-8"),
          ("rank top-1", "rank top-1"), ("state", "state"), ("iteration", "iteration +-1"))
GROUPS = ("symptom", "category", "scope", "history", "size")


def mean(rows, key):
    values = [row[key] for row in rows if row and row.get(key) is not None]
    return sum(values) / len(values) if values else None


def summary(rows, healthy=()):
    """Columns of the benchmark's tables."""
    table = score.summary(rows)
    out = {"cases": len(rows), **{name: table[key] for name, key in SCORES}}
    if healthy:
        quiet = score.summary(healthy)
        out["false alarms"] = quiet["false alarm rate"]
        out["quiet"] = mean([{"quiet": float(not row.get("flagged_events"))} for row in healthy],
                            "quiet")
    return out


class Parts:
    """All parts over one set of options; `rows` tells whether a row is asked for."""

    def __init__(self, work, program, plain, beside, options):
        self.work, self.program, self.plain, self.beside = work, program, plain, beside
        self.options = options

    def _variants(self):
        """(row, program, options) in the order of the tables."""
        for row, options in SWITCHES.items():
            if self._asked(row):
                yield row, self.program, options
        for other in self.beside:
            for row, options in (SWITCHES if other.has_switches() else FORMER).items():
                if self._asked(row):
                    yield f"{other.label}: {row}", other, options
        if self.plain and self._asked(self.plain.label):
            yield self.plain.label, self.plain, ""

    def _asked(self, row):
        return not self.options.rows or row in self.options.rows

    def _benchmark(self, program, options, cases):
        return self.work.each("bench", program, options, cases, scored.benchmark)

    def _failed_cases(self):
        options, cases = self.options, []
        for seed in options.seeds:
            cases += self.work.benchmark_cases(seed, options.cases)
            if options.medium:
                cases += self.work.benchmark_cases(seed, options.medium, 500, scale="medium")
            if options.large:
                cases += self.work.benchmark_cases(seed, options.large, 700, scale="large")
        return cases

    def _healthy_cases(self):
        if not self.options.healthy:
            return []
        return self.work.benchmark_cases(self.options.seeds[0], self.options.healthy, 900, 1.0)

    # ---- parts --------------------------------------------------------------------------------
    def benchmark(self):
        cases, healthy = self._failed_cases(), self._healthy_cases()
        for row, program, options in self._variants():
            done = self._benchmark(program, options, cases)
            quiet = self._benchmark(program, options, healthy)
            yield "switches", row, summary(done, quiet)
            if row == "all of it":
                whole = done
        if self._asked("all of it"):
            yield from self._groups(whole)
            yield "cost", "benchmark", cost(whole)

    @staticmethod
    def _groups(done):
        for key in GROUPS:
            groups = collections.defaultdict(list)
            for row in done:
                groups[str(row["t_" + key])].append(row)
            for name in sorted(groups):
                yield "groups", f"{key} {name}", summary(groups[name])

    def corpus(self):
        """Cases of the benchmark's form in a folder that is given."""
        folder = pathlib.Path(self.options.corpus).resolve()
        cases = sorted(path.parent for path in folder.glob("*/truth.json"))
        for row, program, options in self._variants():
            yield "corpus", row, summary(self._benchmark(program, options, cases))

    def failures(self):
        logs = sorted((DATA / "real_logs" / "failures").glob("*.log"))
        normal = sorted((DATA / "real_logs" / "normal").glob("*.log"))
        if self.options.brief:
            logs, normal = logs[::5], normal[::6]
        for row, program, options in self._variants():
            if not program.switches:
                continue
            done = [r or {} for r in self.work.each("fail", program, options, logs, scored.failure)]
            calm = self.work.each("norm", program, options, normal, scored.normal)
            count = {key: sum(bool(r.get(key)) for r in done) for key in ("flagged", "first",
                                                                          "state")}
            yield "failures", row, {"logs": len(logs), "root flagged": count["flagged"],
                                    "root first": count["first"], "state": count["state"],
                                    "healthy logs": len(normal),
                                    "alarms": sum(bool(r and r["alarm"]) for r in calm)}

    def cold_start(self):
        """The same cases with none, one, all of their runs, and with those of another kind."""
        own = [(case, named.load_truth(case)) for case in self._failed_cases() +
               self._healthy_cases()]
        own = [(case, truth) for case, truth in own if truth["history"]]
        for row, runs_of in (("no history", lambda k: []),
                             ("one run", lambda k: runs(own[k][0])[:1]),
                             ("runs of another kind", lambda k: other_kind(own, k)),
                             ("one run, and another kind",
                              lambda k: runs(own[k][0])[:1] + other_kind(own, k)),
                             ("all its runs", lambda k: runs(own[k][0]))):
            shadows = [self.work.shadow(case, row.replace(" ", "-").replace(",", ""), runs_of(k))
                       for k, (case, _) in enumerate(own)]
            done = self._benchmark(self.program, "", shadows)
            yield "cold start", row, summary(
                [r for r in done if r["t_kind"] == "failure"],
                [r for r in done if r["t_kind"] == "healthy"])

    def wordless(self):
        options = self.options
        cases = self.work.wordless_cases(options.wordless_seed, options.wordless)
        twins = self.work.wordless_cases(options.wordless_seed, options.twins, 1)
        truths = [named.load_truth(case) for case in cases]
        for row, program, switches in self._variants():
            if row in ("no processes", "no accusations", "no library", "no wording"):
                continue
            done = self.work.each("word", program, switches, cases, scored.wordless)
            calm = self.work.each("word", program, switches, twins, scored.wordless)
            table = named.table([(t, r or {}) for t, r in zip(truths, done)])
            yield "wordless", row, {
                "cases": len(cases), "top-1": table["all"]["top1"],
                **{kind: table[kind]["top1"] for kind in ("count", "stop", "phase", "late",
                                                          "order") if kind in table},
                "no history": table.get("no history", {}).get("top1"),
                "rank": table["all"]["rank"], "alone": table["all"]["alone"],
                "state": table["all"]["state"], "twins": len(twins),
                "quiet twins": mean(calm, "silent"), "twins' state": mean(calm, "state")}

    def mechanisms(self):
        cases = self.work.mechanism_cases()
        if self.options.brief:
            cases = [case for case in cases if case.name.endswith(("_plain", "_logfmt"))]
        done = self.work.each("mech", self.program, "", cases, scored.mechanism)
        for case, wrong in zip(cases, done):
            yield "mechanisms", case.name, {"right": int(not wrong), "what": "; ".join(wrong or [])}
        yield "mechanisms", "all", {"right": sum(not wrong for wrong in done),
                                    "what": f"of {len(done)}"}

    def detectors(self):
        """Each part alone: how well it tells faulty nodes from others."""
        failed = [case for case in self._failed_cases() if named.load_truth(case)["nodes"]]
        quiet = self.work.wordless_cases(self.options.wordless_seed, self.options.wordless)
        for row, options in {"all of it": "", **ALONE}.items():
            told = self._benchmark(self.program, options, failed)
            wordless = self.work.each("word", self.program, options, quiet, scored.wordless)
            yield "detectors", row, {
                "AUC, benchmark": mean(told, "auc"), "AUC, wordless": mean(wordless, "auc"),
                "top-1, benchmark": mean(told, "top1"), "top-1, wordless": mean(wordless, "top1")}

    def calibration(self):
        """How often claims are right, beside how sure the report was of them."""
        for row, program, options in self._variants():
            if row not in fitting.ROWS:
                continue
            note = "" if row == fitting.ROWS[0] else ", no words"
            for name, done in self._claimed(program, options):
                for kind, title in kept.KINDS.items():
                    pairs = [one["claims"][kind] for one in done
                             if one and kind in one.get("claims", {})]
                    if pairs:
                        yield "calibration", f"{title}, {name}{note}", kept.summary(pairs)

    def _claimed(self, program, options):
        """(name, results with their claims) of the sets of cases."""
        yield "benchmark", self._benchmark(program, options,
                                           self._failed_cases() + self._healthy_cases())
        logs = sorted((DATA / "real_logs" / "failures").glob("*.log"))
        yield "real failures", self.work.each("fail", program, options, logs, scored.failure)
        runs_of = sorted((DATA / "lab_runs").glob("*.truth.json"))
        yield "recorded runs", self.work.each("rec", program, options, runs_of, scored.recorded)
        yield "wordless", self.work.each("word", program, options, self.work.wordless_cases(
            self.options.wordless_seed, self.options.wordless), scored.wordless)
        others = [path.parent for folder in self.options.others
                  for path in sorted(pathlib.Path(folder).resolve().glob("*/truth.json"))]
        if others:
            yield "other logs", self.work.each("other", program, options, others, scored.other)

    def claims(self):
        """{kind: claims} of all cases by the rows that are asked for, each with its source."""
        failed = self._failed_cases() + self._healthy_cases()
        wordless = self.work.wordless_cases(self.options.wordless_seed, self.options.wordless)
        logs = sorted((DATA / "real_logs" / "failures").glob("*.log"))
        normal = sorted((DATA / "real_logs" / "normal").glob("*.log"))
        small = sorted(path.parent for path in (DATA / "small").glob("*/truth.json"))
        runs_of = sorted((DATA / "lab_runs").glob("*.truth.json"))
        found = collections.defaultdict(list)
        for _, program, options in self._variants():
            if not program.switches:
                continue
            for part, cases, run, source in (
                    ("bench", failed, scored.benchmark, text_of),
                    ("word", wordless, scored.wordless, text_of),
                    ("fail", logs, scored.failure, lambda log: log.stem),
                    ("norm", normal, scored.normal, lambda log: log.stem),
                    ("made", small, scored.other, lambda case: case.name),
                    ("rec", runs_of, scored.recorded, kind_of_run)):
                for case, row in zip(cases, self.work.each(part, program, options, cases, run)):
                    for kind, (said, right, grounds) in ((row or {}).get("claims") or {}).items():
                        found[kind].append(fitting.Claim(said, right, grounds, source(case)))
        return found

    def lab(self):
        sets = DATA / "lab_runs"
        words = f"{self.program.words} {{logs}} --format json --out {{report}}"
        found = self._scorer("lab", "lab_score.py", [sets, "--cmd", words])["summary"]
        yield "sets", "recorded runs", {
            "cases": found["runs"], "state": found["state_right"] / found["runs"],
            "node top-1": found["node_first"] / found["node_known"],
            "node top-3": found["node_top3"] / found["node_known"],
            "rank top-1": found["rank_first"] / found["rank_known"]}

    def small(self):
        cases = sorted(path.parent for path in (DATA / "small").glob("*/truth.json"))
        done = self.work.each("small", self.program, "", cases, scored.small)
        right = sum(row is not None and not row["wrong"] for row in done)
        yield "sets", "small cases", {"cases": len(cases), "all right": right / len(cases)}

    def loghub(self):
        words = f"{self.program.words.rsplit(' ', 1)[0]} parse {{input}} --out {{out}}"
        found = self._scorer("hub", "loghub_score.py", ["--cmd", words])
        yield "sets", "loghub", {"cases": len(found["sets"]), "GA": found["mean"]["GA"],
                                 "FGA": found["mean"]["FGA"]}

    def speed(self):
        l4 = support.L4(self.program.words.rsplit(" ", 1)[0])
        figures = throughput.run(l4, self.options.megabytes, "5", 2)
        yield "cost", f"one job of {self.options.megabytes} MB", {
            "MB/s": figures["l4 diagnose"], "MB/s of wc -l": figures["wc -l"],
            "peak MB": figures["rss_mb"]}

    def flows(self):
        """Jobs, pairs, steps and faults out of flow records, alone and beside logs."""
        given = (self.work, self.program, self.options.flow_seed, self.options.flow_traces)
        yield from flow_traces.Flows(*given).tables()
        yield from flow_logs.FlowLogs(*given).tables()

    def _scorer(self, part, name, words):
        """One of the scorers that write a JSON file of their own; kept as a whole."""
        def run():
            with tempfile.TemporaryDirectory(prefix="l4-evaluate-") as folder:
                out = pathlib.Path(folder, "out.json")
                subprocess.run([sys.executable, BENCH / name, *map(str, words), "--json", out],
                               stdout=subprocess.DEVNULL, check=False)
                return json.loads(out.read_text(encoding="utf-8")) if out.exists() else None
        found = self.work.result(f"{part}-{self.program.key}", name, run)
        return found or sys.exit(f"{name} did not run")


def text_of(case):
    """The source of what a case says: its excerpt, else its background, else its style."""
    truth = named.load_truth(case)
    text = truth.get("text") or {}
    return text.get("failure") or text.get("background") or f"wordless {truth.get('style')}"


def kind_of_run(truth_file):
    return "recorded " + json.loads(truth_file.read_text(encoding="utf-8"))["fault"]


def runs(case):
    """History runs of a case, as targets of links."""
    folder = pathlib.Path(case) / "history"
    return sorted(folder.iterdir()) if folder.is_dir() else []


def other_kind(own, k):
    """Runs of the next case that comes from another log."""
    text = own[k][1]["text"]["background"]
    for step in range(1, len(own)):
        case, truth = own[(k + step) % len(own)]
        if truth["text"]["background"] != text:
            return runs(case)
    return []


def cost(rows):
    table = score.summary(rows)
    return {"seconds a case": table["seconds per case"], "MB/s": table["MB/s"],
            "peak MB": table["peak RSS MB"], "did not run": table["did not run"]}


NAMES = {"benchmark": Parts.benchmark, "failures": Parts.failures, "wordless": Parts.wordless,
         "mechanisms": Parts.mechanisms, "lab": Parts.lab, "small": Parts.small,
         "loghub": Parts.loghub, "cold-start": Parts.cold_start, "detectors": Parts.detectors,
         "calibration": Parts.calibration, "speed": Parts.speed, "flows": Parts.flows,
         "corpus": Parts.corpus}
