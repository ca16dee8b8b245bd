#!/usr/bin/env python3
"""No number that decides stands outside the table (docs/SCORING.md, "The numbers").

usage: scoring_numbers.py [--root FOLDER] [--write]

1. In the sources of aggregator/diagnose, aggregator/detect and aggregator/watch no numeric
   literal stands in code but 0, 1 and 2, and 1 and 2 neither as the value of a `constexpr` number
   nor as a number of a struct of options. Lengths of std::array, shifts and hexadecimal numbers do
   not count. What may stay is in EXCEPTIONS, each with its reason; one that nothing needs any more
   is told, too.
2. config/scoring.toml, the structs of aggregator/numbers and the list of their members in rows.cc
   have the same numbers in the same order, with the same values and the same words.
   --write takes what the table says into the structs: then build again.

Prints a row FILE:LINE: REASON for each violation, and ends with status 1 if there is any.
"""
import argparse
import pathlib
import re
import sys
import textwrap
import tomllib

from layers import blank, tracked

ROOMS = ("aggregator/diagnose/", "aggregator/detect/", "aggregator/watch/")
NUMBERS, TABLE = "aggregator/numbers", "config/scoring.toml"
LITERAL = re.compile(r"(?<![\w.])(?:\d[\d']*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[a-zA-Z]*(?![\w.])")
UNCOUNTED = re.compile(r"std::array<[^;=]*?,\s*\d+>|<<\s*\d+U?|>>\s*\d+U?|\b0x[\w.'+-]+")
PLAIN = {0.0, 1.0, 2.0}
CONSTANT = re.compile(r"\bconstexpr\s+(?:std::)?(?:double|float|int|unsigned|Millis|u?int\d+_t|"
                      r"size_t|ptrdiff_t|chrono::\w+)\s")
OPTIONS = re.compile(r"^struct \w*Options\b.*?^};", re.M | re.S)
NAMED = re.compile(r"(?:=|\{)\s*[12](?:\.0*)?\s*[;,}]")
DEFAULT = re.compile(r"\b(?:double|float|int|unsigned|Millis|u?int\d+_t|size_t)\s.*?(=|\{)\s*\d")

MEMORY = "bounds memory or time, not what is found"
SHOWN = "length of a text or list that is shown"
FORMULA = "part of a formula, not a choice"
UNIT = "conversion of units"
PAPER = "the published method, to the letter (--scoring paper)"
QUARTILE = "names the quartile"
MOST = "two thirds: what 'most' means"
SAVED = "least bytes of an entry that is saved"
SIGNAL = "the number of a signal, as exit codes tell it"
LETTERS = "letters, or the length of a word that stands beside it"
# File below aggregator -> what its lines hold -> why the number stays there.
EXCEPTIONS = {
    "detect/crash/free_text.cc": {"plain * 100": UNIT},
    "detect/crash/precedence.cc": {"kKilled = -9": SIGNAL},
    "detect/cross_job/cross_job.cc": {"3.0 / 8": FORMULA},  # Anscombe's transform
    "detect/delay/late_starts.cc": {
        "values.size() * 3 / 4": QUARTILE, "* 1.4826 *": FORMULA, "kLinesLikely": MEMORY},
    "detect/delay/pauses.cc": {"kOccurrencesMax": MEMORY},
    "detect/delay/phases.cc": {
        "kMadToSigma": FORMULA, "++looked == 64": MEMORY, "kRowsMax": MEMORY,
        "sorted.size() / 4": QUARTILE, "max<std::size_t>(24, kCellsMax": MEMORY},
    "detect/delay/phases.h": {"kPastMax": MEMORY},
    "detect/delay/stalls.cc": {"even * 100": UNIT},
    "detect/delay/stalls.h": {"kStreamsMax": MEMORY},
    "detect/evidence/accused.cc": {"kFrontMin = 4": LETTERS},
    "detect/evidence/ending.cc": {
        "kForms.size()": "bits of a word", "letter < 26": LETTERS, "text[at - 3]": LETTERS},
    "detect/evidence/statement.cc": {'"nan")': LETTERS},
    "detect/evidence/wording.cc": {"letter < 26": LETTERS},
    "detect/network/network.cc": {"kPlacesMax": SHOWN},
    "detect/nics/course.cc": {
        "kShort = 1200": MEMORY, "0.5 * (before - after) / bend": FORMULA,
        "static_cast<double>(i) + 0.5": FORMULA,  # the middle of a tenth of a second
        "count() / 1000": UNIT, "{3U, 7U, 15U}": "a ladder of widths, one after the other"},
    "detect/nics/nics.cc": {
        "begin() + Millis{1000}": UNIT, "count() + 99) / 100": UNIT,
        "longest * 100": UNIT, "1000 * numbers::nics()": UNIT},
    "detect/nics/nics.h": {"kPeriodsOf": MEMORY},
    "detect/slow/slowdown.cc": {
        "part.size() / 4": QUARTILE, "kMadToSigma": FORMULA, "kTicksMax": MEMORY},
    "detect/spatial/evidence.cc": {
        "1.4826": FORMULA, "(usual + 0.5)": FORMULA, "expected + 0.5": FORMULA,
        "3.0 / 8": FORMULA},
    "detect/spatial/isolation_forest.cc": {
        "kEulerGamma": FORMULA, "/ normal) : 0.5": FORMULA, "rows.rows(), 0.5": FORMULA},
    "detect/spatial/node_counts.cc": {
        "filled.array() + 0.5": FORMULA, "2 * slot + 16": MEMORY},  # rounds
    "detect/spatial/paper.cc": {"kRounding": PAPER},
    "detect/spatial/spatial.cc": {"/ 1'000": UNIT},
    "detect/spatial/window_scores.cc": {
        "(expected + 0.5)": FORMULA, "expected + 0.5;": FORMULA, "4 * difference": FORMULA},
    "detect/temporal/event_costs.cc": {"0.5)": FORMULA, "0.5 / all": FORMULA},
    "detect/temporal/iteration_sequences.cc": {"kSequencesMax / streams": MEMORY, "/ 1000": UNIT},
    "detect/temporal/iteration_sequences.h": {"kSequencesMax": MEMORY},
    "detect/temporal/paper.cc": {"kWindow": PAPER, "kRounding": PAPER},
    "detect/temporal/recorded_job.cc": {"pass.done * 3 / 4": MEMORY},
    "detect/temporal/temporal.cc": {
        "kMany = 256": MEMORY, "tries < 4": MEMORY, "1.4826": FORMULA},
    "detect/temporal/temporal.h": {"work_max": MEMORY},
    "detect/temporal/turns.cc": {"kElementsMax": MEMORY},
    "detect/temporal/turns.h": {"kEventsMax": MEMORY},
    "diagnose/attendance.cc": {"digits > 9": "digits that a number of 32 bits holds"},
    "diagnose/certainty.cc": {"kDecidersMax": SHOWN},
    "diagnose/clues/grounds.h": {"kConfidenceMost": "a bound of the table's own numbers"},
    "diagnose/clues/scale.cc": {
        "kMost = 1000": "a bound of the table's own numbers",
        "kMostOdds = 20": "a bound of the table's own numbers"},
    "diagnose/clues/sentence.cc": {"kLineMax": SHOWN},
    "diagnose/findings/hints.cc": {
        "kParametersMax": MEMORY, "1000 * known->node_rate_max": UNIT, ") / 1000}": UNIT},
    "diagnose/network_notes.cc": {"kToldMax": SHOWN},
    "diagnose/node_grounds.cc": {"3 * alike > 2": MOST},
    "diagnose/notable.cc": {
        "size >= 1000": SHOWN, "ms / 1000": UNIT, "s >= 100": SHOWN, ") / 1000}": UNIT},
    "diagnose/notable_nodes.cc": {"kTextMax": SHOWN, "std::round(10": SHOWN, "kNamedMax": SHOWN},
    "diagnose/paper.cc": {
        "at < 10 ? 0": PAPER, "scores[i].mean + 3": PAPER, "node.suspicious ? 0.5": PAPER},
    "diagnose/place_fault.cc": {"kAsked": SHOWN},
    "diagnose/read_summary.cc": {"kShown": SHOWN},
    "diagnose/report.h": {"kCluesMax": SHOWN, "kSourcesReadMax": SHOWN},
    "diagnose/report_builder.cc": {"alike * 3 > std::max(nodes, order.size()) * 2": MOST},
    "diagnose/summary.cc": {"kMax": SHOWN},
    "diagnose/suspicion.cc": {"kReasonsMax": SHOWN},
    "diagnose/findings/waiting.cc": {"waited_percent / 100": UNIT},
    "watch/job_watch.cc": {"archive.map(self.agents_, 10": SAVED},
    "watch/pace.cc": {"values.size() / 4": QUARTILE},
    "watch/pace.h": {"kKept": MEMORY},
    "watch/pauses.cc": {"kLongest": "a pause of a month is no pause: keeps arithmetic in range"},
    "watch/pauses.h": {"kKept": MEMORY},
    "watch/process_board.cc": {"kProcessesMax": MEMORY},
    "watch/progress.cc": {"kStreamsMax": MEMORY},
    "watch/telling_lines.cc": {
        "kTellingMax": MEMORY, "kRanksMax": MEMORY, "archive.map(self.agents_, 3": SAVED},
    "watch/trigger.h": {"kCauses": "length of the list of causes"},
}


def value_of(text):
    digits = re.match(r"[\d'.]*(?:[eE][+-]?\d+)?", text).group(0).replace("'", "")
    return float(digits)


class Check:
    def __init__(self, root):
        self.root, self.found = root, []

    def say(self, name, line, reason):
        self.found.append(f"{name}:{line}: {reason}")

    # The sources.

    def sources(self):
        used = set()
        for name in tracked(self.root):
            if name.startswith(ROOMS) and name.endswith((".h", ".cc")):
                self.source(name, used)
        for name, parts in EXCEPTIONS.items():
            for part in parts:
                if (name, part) not in used:
                    self.say("tests/scoring_numbers.py", 1, f"EXCEPTIONS: nothing in {name} needs "
                                                            f"'{part}' any more")

    def source(self, name, used):
        raw = (self.root / name).read_text(encoding="utf-8")
        text = blank(raw, False)
        options = set()
        for match in OPTIONS.finditer(text):
            first = text.count("\n", 0, match.start())
            options.update(range(first, first + match.group(0).count("\n") + 1))
        lines, shown = text.split("\n"), raw.split("\n")
        for at, line in enumerate(lines):
            if line.startswith("#"):
                continue
            # A declaration that goes on belongs to its first line.
            begun = lines[at - 1] if at > 0 and lines[at - 1].rstrip().endswith(("=", ",")) else ""
            named = NAMED.search(line) and (CONSTANT.search(line) or CONSTANT.search(begun) or (
                at in options and DEFAULT.search(line) and "seed" not in line))
            literals = [m.group(0) for m in LITERAL.finditer(UNCOUNTED.sub("", line))]
            bare = [one for one in literals if value_of(one) not in PLAIN]
            if named and not bare:
                bare = [line.strip()]
            if not bare:
                continue
            parts = [part for part in EXCEPTIONS.get(name.removeprefix("aggregator/"), {})
                     if part in shown[at]]
            if parts:
                used.update((name.removeprefix("aggregator/"), part) for part in parts)
            else:
                self.say(name, at + 1, f"{', '.join(bare)} stands outside of {TABLE}: "
                                       f"{shown[at].strip()}")

    # The table.

    def table(self, write):
        path = self.root / TABLE
        words = {}  # (room, name) -> the comment above its row
        room, lines = None, {}
        text = path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(text, 1):
            if match := re.match(r"\[number\.(\w+)\]", line):
                room = match.group(1)
            elif room and (match := re.match(r"(\w+) = \{", line)):
                words[room, match.group(1)] = text[number - 2].removeprefix("# ")
                lines[room, match.group(1)] = number
        rows = {(room, name): row
                for room, names in tomllib.loads("\n".join(text)).get("number", {}).items()
                for name, row in names.items()}
        for key, row in rows.items():
            if set(row) != {"value", "unit", "from", "to", "origin"}:
                self.say(TABLE, lines[key], f"{key[1]}: needs value, unit, from, to, origin")
            elif not row["from"] <= row["value"] <= row["to"]:
                self.say(TABLE, lines[key], f"{key[1]}: {row['value']} is not from {row['from']} "
                                            f"to {row['to']}")
            elif not row["origin"]:
                self.say(TABLE, lines[key], f"{key[1]}: no origin")
        listed = re.findall(r'row<&(\w+)::(\w+)>\(\s*"(\w+)",\s*"(\w+)"\)',
                            (self.root / NUMBERS / "rows.cc").read_text(encoding="utf-8"))
        names = [(room, name) for _, _, room, name in listed]
        for struct, member, room, name in listed:
            if member != name or struct.lower() != room.replace("_", ""):
                self.say(f"{NUMBERS}/rows.cc", 1, f"{struct}::{member} is not {room}.{name}")
        if names != list(rows):
            odd = sorted(set(names) ^ set(rows)) or ["their order"]
            self.say(f"{NUMBERS}/rows.cc", 1, f"not the rows of {TABLE}: {odd[:4]}")
        for room in dict.fromkeys(room for room, _ in rows):
            self.struct(room, {name: (row, words[room, name]) for (of, name), row in rows.items()
                               if of == room}, lines, write)

    def struct(self, room, rows, lines, write):
        name = f"{NUMBERS}/{room}.h"
        text = (self.root / name).read_text(encoding="utf-8")
        member = re.compile(r"((?:^  ///[^\n]*\n)+)^  ([\w:]+) (\w+)( = |\{)([^;}]*)(\}?);$", re.M)
        declared = list(member.finditer(text))
        if [m.group(3) for m in declared] != list(rows):
            self.say(name, 1, f"the members are not the rows of [number.{room}] in {TABLE}")
            return
        for match in reversed(declared):
            row, words = rows[match.group(3)]
            doc = "".join(f"{line}\n" for line in textwrap.wrap(
                f"[{row['unit']}] {words}", 94, initial_indent="  /// ", subsequent_indent="  /// ",
                break_long_words=False, break_on_hyphens=False))
            value = value_of(match.group(5))
            if (value, match.group(1)) == (float(row["value"]), doc):
                continue
            if not write:
                place = f"{TABLE}:{lines[room, match.group(3)]}"
                self.say(name, text.count("\n", 0, match.start(2)) + 1,
                         f"{match.group(3)} is not what {place} says: scoring_numbers.py --write")
                continue
            number = match.group(5) if value == row["value"] else repr(row["value"])
            if match.group(2) == "float" and not number.endswith("F"):
                number = f"{float(number)}F"
            text = (text[:match.start()] + doc + f"  {match.group(2)} {match.group(3)}"
                    f"{match.group(4)}{number}{match.group(6)};" + text[match.end():])
        if write:
            (self.root / name).write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[1])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    check = Check(options.root)
    check.sources()
    check.table(options.write)
    for row in check.found:
        print(row)
    print(f"scoring_numbers: {len(check.found)} violations" if check.found
          else "scoring_numbers: as it should be")
    return 1 if check.found else 0


if __name__ == "__main__":
    sys.exit(main())
