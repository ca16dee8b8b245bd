"""Healthy logs, made from real ones from a seed: cut, joined, glued, interleaved, recoded, renamed.

A made log is a folder that holds one job: what a user hands over after a log was copied, rotated,
collected from several processes or written on another system. Nothing failed in any of them. Merged
files come from ../shared/data/real_logs/normal, jobs with a file a rank from the healthy recorded
runs. The same seed and number make the same log.
"""
import csv
import gzip
import io
import pathlib
import random
import tarfile

import support

LEFT_MIN = 0.2              # share of a log that a cut leaves at least
NAMES = ("train.log", "slurm-88231.out", "job output.txt", "console", "worker.3.log", "nohup.out",
         "stdout", "log_rank0.txt", "run-2.log.1", "JOB.4711.OUT", "experiment_b_v2.err")
CODINGS = ("utf-16-le", "utf-16-be", "latin-1", "utf-8-sig", "crlf", "nul")


class Source:
    """One healthy job: its files by relative path, each with (time or None, text) pieces."""

    def __init__(self, name, files):
        self.name, self.files = name, files

    def text(self):
        """The only file of a merged log."""
        return b"".join(piece for _, piece in next(iter(self.files.values())))


def merged_logs():
    """A run that its time limit ended was healthy until then."""
    for log in sorted(support.shared("data", "real_logs", "normal").glob("*.log")):
        text = log.read_bytes()
        if b" DUE TO TIME LIMIT ***" in text:
            text = text[:text.rfind(b"\n", 0, text.index(b"srun: Job step aborted")) + 1]
        yield Source(log.stem, {log.name: [(None, text)]})


def recorded_runs():
    """Pieces of the files of each healthy recorded run, with their times of arrival."""
    folder = support.shared("data", "lab_runs")
    with open(folder / "index.tsv", encoding="utf-8") as index:
        rows = [row for row in csv.DictReader(index, delimiter="\t") if row["symptom"] == "healthy"]
    for row in rows:
        files, arrivals = {}, []
        with tarfile.open(folder / f"{row['job']}.tar.gz") as archive:
            for member in archive.getmembers():
                path = pathlib.PurePosixPath(member.name)
                if path.name == "arrivals.csv":
                    text = archive.extractfile(member).read()
                    arrivals = list(csv.reader(io.StringIO(text.decode())))
                elif member.isfile() and "logs" in path.parts[:2]:
                    text = archive.extractfile(member).read()
                    files[str(path.relative_to(*path.parts[:2]))] = text
        pieces = {name: [] for name in files}
        read = dict.fromkeys(files, 0)
        for time, name, size in arrivals:
            if name in pieces:
                pieces[name].append((float(time), files[name][read[name]:int(size)]))
                read[name] = int(size)
        yield Source(row["job"], pieces)


def cut(rng, text):
    """The beginning, the end, both or a hole in the middle are lost, at any byte."""
    left = int(len(text) * rng.uniform(LEFT_MIN, 1))
    at = rng.randrange(len(text) - left + 1)
    kind = rng.choice(("end", "begin", "both", "hole"))
    if kind == "end":
        return text[:left]
    if kind == "begin":
        return text[len(text) - left:]
    return text[at:at + left] if kind == "both" else text[:at] + text[len(text) - left + at:]


def glue(rng, text):
    """Some line ends are lost, or are those of a progress bar."""
    share = rng.choice((0.001, 0.01, 0.1))
    end = rng.choice((b"", b"\r"))
    return b"".join(end if piece == b"\n" and rng.random() < share else piece
                    for line in text.split(b"\n") for piece in (line, b"\n"))[:-1]


def interleave(rng, one, two):
    """Two programs write into one file, some lines of each at a time."""
    texts = [one.split(b"\n"), two.split(b"\n")]
    at, lines = [0, 0], []
    while at[0] < len(texts[0]) or at[1] < len(texts[1]):
        left = [len(text) - i for text, i in zip(texts, at)]
        which = int(rng.random() * sum(left) >= left[0])
        count = rng.choice((1, 2, 5, 20))
        lines += texts[which][at[which]:at[which] + count]
        at[which] += count
    return b"\n".join(lines)


def recode(rng, text):
    coding = rng.choice(CODINGS)
    if coding == "crlf":
        return coding, text.replace(b"\n", b"\r\n")
    if coding == "nul":         # a hole that a truncated file keeps, or blocks never written
        at = rng.randrange(len(text) + 1)
        hole = min(1000, len(text) // 20 + 1)   # in a short file a longer one hides the text
        return coding, text[:at] + b"\0" * rng.randint(1, hole) + text[at:]
    read = text.decode("utf-8", "replace")
    if coding.startswith("utf-16"):
        read = "\ufeff" + read
    return coding, read.encode(coding, "replace")


def rename(rng, path):
    """A recorded run keeps its folders: they tell its nodes and ranks."""
    parts = pathlib.PurePosixPath(path)
    return str(parts.with_name(rng.choice(NAMES))) if len(parts.parts) == 1 else path


class Maker:
    def __init__(self, seed):
        self.seed = seed
        self.merged, self.recorded = list(merged_logs()), list(recorded_runs())

    def make(self, number, folder):
        """Writes the log into the folder; says how it was made."""
        rng = random.Random(f"{self.seed}/{number}")
        recorded = rng.random() < 0.15
        done, files = self.recorded_run(rng) if recorded else self.merged_log(rng)
        for path, text in files.items():
            if rng.random() < 0.1:
                path, text = path + ".gz", gzip.compress(text, mtime=0)
            target = pathlib.Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
        return " ".join(done)

    def merged_log(self, rng):
        source = rng.choice(self.merged)
        done, text = [source.name], source.text()
        if rng.random() < 0.6:
            done, text = [*done, "cut"], cut(rng, text)
        if rng.random() < 0.35:
            other = rng.choice(self.merged)
            more = cut(rng, other.text()) if rng.random() < 0.5 else other.text()
            if rng.random() < 0.5:
                done, text = [*done, f"joined with {other.name}"], text + more
            else:
                done, text = [*done, f"interleaved with {other.name}"], interleave(rng, text, more)
        if rng.random() < 0.3:
            done, text = [*done, "glued"], glue(rng, text)
        if rng.random() < 0.3:
            coding, text = recode(rng, text)
            done = [*done, coding]
        name = next(iter(source.files))
        return done, {rename(rng, name) if rng.random() < 0.6 else name: text}

    def recorded_run(self, rng):
        """All files are collected at one moment, and treated alike."""
        source = rng.choice(self.recorded)
        done = [source.name]
        times = sorted(time for pieces in source.files.values() for time, _ in pieces)
        until = times[-1]
        if rng.random() < 0.6:
            until = rng.uniform(times[0] + LEFT_MIN * (until - times[0]), until)
            done.append("collected early")
        pieces = {name: [p for p in found if p[0] <= until] for name, found in source.files.items()}
        if rng.random() < 0.4:
            done.append("joined")   # in the order of arrival
            pieces = {"all.log": sorted((p for found in pieces.values() for p in found),
                                        key=lambda piece: piece[0])}
        files = {name: b"".join(text for _, text in found) for name, found in pieces.items()}
        if rng.random() < 0.3:
            done.append("glued")
            files = {name: glue(rng, text) for name, text in files.items()}
        if rng.random() < 0.3:
            state = rng.getstate()
            for name, text in files.items():
                rng.setstate(state)
                coding, files[name] = recode(rng, text)
            done.append(coding)
        return done, {rename(rng, name): text for name, text in files.items() if text}
