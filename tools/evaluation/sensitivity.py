"""What each row of config/scoring.toml decides: the reports that change with it.

Place: called by tools/evaluate (--sensitivity), on the small cases of ../shared and on a few of the
benchmark. A row is made 0.8 and 1.25 times as large. Each change is a table of one row (l4 diagnose
--table), so no program is built for it.
"""
import hashlib
import json
import pathlib
import tempfile
import tomllib

import cases as scored
import parts
from work import DATA

FACTORS = (0.8, 1.25)
BOUNDS = {"weight": (0, 1000), "cap": (0, 1000), "further": (0, 1)}  # of clues
SHARES = (0, 2)
# What is compared of two reports; a confidence that moves by less than a percent does not count.
FIGURES = ("event F1", "node top-1", "state")
LISTS = (("nodes", "node"), ("ranks", "rank"), ("events", "template_id"), ("faults", "id"))


class Row:
    """A row of the table: its name, its value, and a table in which it has another one."""

    def __init__(self, name, value, low, high, whole, text):
        self.name, self.value, self.low, self.high = name, value, low, high
        self.whole, self.text = whole, text

    def times(self, factor):
        """The value, within its bounds; a whole one changes by 1 at least. None: it cannot."""
        value = self.value * factor
        if self.whole:
            step = max(1, abs(round(value) - self.value))
            value = self.value + (step if factor > 1 else -step)
        value = min(max(value, self.low), self.high)
        return None if value == self.value else value


def rows_of(table):
    """The weights of clues, the shares and the numbers; confidences are measured by --fit."""
    origin = '\norigin = "tools/evaluate --sensitivity"\n'
    rows = []
    for kind, row in table["clue"].items():
        for key in ("weight", "cap", "further"):
            if key in row:
                others = "".join(f"{k} = {row[k]}\n" for k in ("weight", "cap", "further")
                                 if k in row and k != key)
                rows.append(Row(f"clue.{kind}.{key}", row[key], *BOUNDS[key], False,
                                f"[clue.{kind}]\n{others}{key} = {{}}{origin}"))
    for key, value in table["share"].items():
        rows.append(Row(f"share.{key}", value, *SHARES, False, f"[share]\n{key} = {{}}\n"))
    for room, numbers in table["number"].items():
        for name, row in numbers.items():
            rows.append(Row(
                f"number.{room}.{name}", row["value"], row["from"], row["to"],
                isinstance(row["value"], int) and row["unit"] != "share",
                f"[number.{room}.{name}]\nvalue = {{}}{origin}"))
    return rows


def told(report):
    """What a reader of the report acts on."""
    if not report:
        return None
    verdict = report["verdict"]
    return [verdict["state"], verdict.get("iteration"), round(verdict["confidence"], 2),
            *([entry.get(key) for entry in report.get(of) or []] for of, key in LISTS)]


def small(case, command):
    truth = json.loads((case / "truth.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="l4-evaluate-") as folder:
        report, _ = scored.single_log(case / "logs", command, folder)
    wrong = scored.small_score.check(truth, report) if report else ["no report"]
    return {"told": told(report), "right": not wrong}


def benchmark(case, command):
    with tempfile.TemporaryDirectory(prefix="l4-evaluate-") as folder:
        row = scored.score.score_case(str(case), command, folder)
        path = pathlib.Path(folder, case.name + ".json")
        report = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return {"told": told(report), "score": row}


def run(work, program, table_path, cases, only):
    """Prints a line for each row that changes a report -> number of rows."""
    table = tomllib.loads(table_path.read_text(encoding="utf-8"))
    rows = [row for row in rows_of(table) if not only or only in row.name]
    own = sorted((DATA / "small").glob("*/truth.json"))
    own = [path.parent for path in own]
    folder = work.folder / "sensitivity"
    folder.mkdir(parents=True, exist_ok=True)

    def results(options):
        return (work.each("sense-small", program, options, own, small),
                work.each("sense-bench", program, options, cases, benchmark))

    def figures(found):
        bench = parts.summary([one["score"] for one in found[1]]) if cases else {}
        return [sum(one["right"] for one in found[0]), *map(bench.get, FIGURES)]

    def show(values):
        return "".join("       -" if v is None else f"{v:8d}" if isinstance(v, int) else f"{v:8.3f}"
                       for v in values)

    shipped = results("")
    print(f"{len(rows)} rows, {len(own)} small cases, {len(cases)} of the benchmark\n"
          f"{'row':44}{'value':>12}{'reports':>9}{'small':>8}{'F1':>8}{'top-1':>8}{'state':>8}")
    print(f"{'as shipped':44}{'':12}{'':9}{show(figures(shipped))}", flush=True)
    silent = 0
    for row in rows:
        lines = []
        for factor in FACTORS:
            value = row.times(factor)
            if value is None:
                continue
            text = row.text.format(value)
            path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.toml"
            path.write_text(text, encoding="utf-8")
            found = results(f"--table {path}")
            changed = sum(a["told"] != b["told"] for one, other in zip(shipped, found)
                          for a, b in zip(one, other))
            if changed:
                lines.append(f"{row.name:44}{value:12.6g}{changed:9}{show(figures(found))}")
        silent += not lines
        for line in lines:
            print(line, flush=True)
    print(f"{silent} rows change no report of these")
    return len(rows)
