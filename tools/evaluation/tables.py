"""Tables of the evaluation: printed beside those of docs/ACCURACY.md, and written into it.

Place: above parts.py. The document's text is written by hand; between <!-- begin NAME --> and
<!-- end NAME --> stands the table NAME, which this replaces.
"""
import re

BLOCK = r"<!-- begin %s -->\n(.*?)<!-- end %s -->"
TITLES = {"switches": "Benchmark, by what is switched off",
          "groups": "Benchmark, all of it, by kind of case",
          "failures": "Real failures, one log each",
          "cold start": "Cold start: what the healthy runs beside a case are worth",
          "wordless": "Faults that no line words", "mechanisms": "Mechanisms",
          "detectors": "Each part alone",
          "calibration": "How sure, and how often right",
          "sets": "Other sets", "cost": "Cost", "corpus": "Corpus",
          "flow records": "Flow records: jobs, pairs and steps",
          "flow styles": "Flow records, by how gradients travel",
          "flow faults": "Flow records: faults",
          "flow logs": "Flow records beside the job's logs"}

SEVERAL_PARTS = ("sets", "cost")    # tables whose rows come from several parts: others are kept


def cell(value):
    if value is None:
        return "-"
    if isinstance(value, str):
        return value.replace("|", "/")
    if isinstance(value, int):
        return str(value)
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


class Tables:
    """{table: {row: {column: text}}} of this run, and of the document."""

    def __init__(self, document):
        self.path = document
        self.text = document.read_text(encoding="utf-8") if document.exists() else ""
        self.old = {name: self._read(name) for name in TITLES}
        self.new = {}
        self.last = None

    def _block(self, name):
        match = re.search(BLOCK % (name, name), self.text, re.S)
        return match.group(1) if match else ""

    def _read(self, name):
        """Rows of a table of the document."""
        lines = [line.strip().strip("|").split("|") for line in self._block(name).splitlines()
                 if line.startswith("|")]
        lines = [[part.strip() for part in line] for line in lines]
        if len(lines) < 2:
            return {}
        return {line[0]: dict(zip(lines[0][1:], line[1:])) for line in lines[2:]}

    def add(self, table, row, figures):
        """Keeps a row and prints it; figures that differ from the document's show both."""
        texts = {column: cell(value) for column, value in figures.items()}
        rows = self.new.setdefault(table, {})
        head = list(texts) != self.last
        self.last = list(texts)
        rows[row] = texts
        before = self.old[table].get(row, {})
        shown = [f"{text} ({before[column]})" if before.get(column, text) != text else text
                 for column, text in texts.items()]
        widths = [max(len(column), 13) for column in texts]
        if head:
            print(f"\n{TITLES[table]}\n{'':34}" + " ".join(
                f"{column:>{width}}" for column, width in zip(texts, widths)))
        print(f"{row[:34]:34}" + " ".join(
            f"{text:>{width}}" for text, width in zip(shown, widths)), flush=True)

    def markdown(self, table):
        rows = self.new[table]
        if table in SEVERAL_PARTS:
            rows = {**self.old[table], **rows}
        columns = list(dict.fromkeys(column for row in rows.values() for column in row))
        lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
        lines += ["| " + " | ".join([name, *(row.get(column, "-") for column in columns)]) + " |"
                  for name, row in rows.items()]
        return "\n".join(lines) + "\n"

    def write(self, made):
        """Puts the tables of this run into the document, and what they were made with."""
        blocks = {name: self.markdown(name) for name in self.new if name != "corpus"}
        for name, content in {**blocks, "made": made}.items():
            if not re.search(BLOCK % (name, name), self.text, re.S):
                raise SystemExit(f"{self.path} has no place for the table {name}")
            self.text = re.sub(BLOCK % (name, name), lambda match, name=name, content=content:
                               f"<!-- begin {name} -->\n{content}<!-- end {name} -->",
                               self.text, flags=re.S)
        self.path.write_text(self.text, encoding="utf-8")

    def made(self):
        """What the document's tables were made with."""
        return self._block("made").strip()
