"""What is run, and what is kept of it: programs, switches, cases on disk, results of a broken run.

Place: below parts.py. Results are kept by the program's hash (with its rules), the scorers' hash,
the switches and the case, so that a run that was broken off goes on, and only what changed is run.
"""
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHARED = ROOT.parent / "shared"
BENCH, DATA = SHARED / "bench", SHARED / "data"
HERE = pathlib.Path(__file__).resolve().parent
GENERATORS = ("casegen.py", "background.py", "faults.py", "speak.py", "logtext.py")
FORM = "--format json --out {report} --lines {lines}"
DETECTORS = ("wording", "library", "forest", "dtw", "durations", "accusations", "processes")
PLAIN = "plain_l4.py"

# Row of a table -> options of l4 diagnose.
SWITCHES = {
    "all of it": "",
    "no forest, no dtw": "--without forest,dtw",
    "no durations": "--without durations",
    "no wording": "--without wording",
    "no library": "--without library",
    "neither wording nor library": "--without wording,library",
    "no cross-job": "--without cross-job",
    "no accusations": "--without accusations",
    "no processes": "--without processes",
    "scoring paper": "--scoring paper",
}
# What an l4 without --without can do.
FORMER = {"all of it": "", "no library": "--no-faults", "scoring paper": "--scoring paper"}
ALONE = {"none of them": "--without " + ",".join(DETECTORS)}
ALONE.update({f"{name} alone": "--without " + ",".join(n for n in DETECTORS if n != name)
              for name in DETECTORS})


def digest(*paths):
    """Hash of files and of all files in folders."""
    total = hashlib.sha256()
    for path in map(pathlib.Path, paths):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                total.update(file.name.encode() + b"\0" + file.read_bytes())
    return total.hexdigest()[:16]


@dataclasses.dataclass(frozen=True)
class Program:
    """One diagnoser: what stands before the switches in its command line, and its hash."""
    label: str
    words: str
    key: str
    switches: bool = True

    @staticmethod
    def l4(path, label=""):
        path = pathlib.Path(path).resolve()
        if not os.access(path, os.X_OK) or path.is_dir():
            sys.exit(f"there is no program {path}; build it first")
        return Program(label, f"{shlex.quote(str(path))} diagnose",
                       digest(path, ROOT / "config") if not label else digest(path))

    @staticmethod
    def plain():
        """The yardstick of ../shared/bench, or None where its packages are missing."""
        python = "/usr/bin/python3"
        known = subprocess.run([python, "-c", "import numpy, sklearn"], capture_output=True,
                               check=False)
        if known.returncode:
            return None
        return Program(PLAIN, f"{python} {shlex.quote(str(BENCH / PLAIN))}",
                       digest(BENCH / PLAIN), False)

    def has_switches(self):
        """Whether this l4 knows --without."""
        said = subprocess.run(["/bin/sh", "-c", f"{self.words} --help"], capture_output=True,
                              check=False)
        return b"--without" in said.stdout

    def command(self, options=""):
        given = "{logs} {history_args} " + ("{as_of_args} " if self.switches else "")
        return f"{self.words} {given}{options} {FORM}"


class Work:
    """The folder of cases and results; runs what is not there yet."""

    def __init__(self, folder, jobs):
        self.folder, self.jobs = pathlib.Path(folder).resolve(), jobs
        self.scorers = digest(BENCH / "score.py", BENCH / "small_score.py", BENCH / "lab_score.py",
                              BENCH / "loghub_score.py", HERE / "cases.py",
                              HERE / "calibration.py", HERE / "named.py", HERE / "mechanisms.py")
        self.ran = self.kept = 0

    # ---- cases --------------------------------------------------------------------------------
    def benchmark_cases(self, seed, cases, first=0, healthy=None, scale="small"):
        """Folders of cases of ../shared/bench; those that are missing are made."""
        share = "mixed" if healthy is None else healthy
        name = f"bench-{self._generators()}-{seed}-{scale}-{share}"
        options = ["--normal", DATA / "real_logs" / "normal", "--failures",
                   DATA / "real_logs" / "failures", "--scale", scale]
        if healthy is not None:
            options += ["--healthy", str(healthy)]
        return self._made(name, BENCH / "casegen.py", options, seed, cases, first)

    @staticmethod
    def _generators():
        return digest(*(BENCH / name for name in GENERATORS))[:8]

    def wordless_cases(self, seed, cases, healthy=0):
        name = f"wordless-{self._own()}-{seed}-{healthy}"
        return self._made(name, HERE / "wordless.py", ["--healthy", str(healthy)], seed, cases, 0)

    @staticmethod
    def _own():
        names = ("made.py", "styles.py", "styles.toml", "wordless.py", "mechanisms.py")
        return digest(*(HERE / name for name in names))[:8]

    def mechanism_cases(self):
        folder = self.folder / "cases" / f"mechanisms-{self._own()}"
        done = folder / "done"
        if not done.exists():
            self._call([sys.executable, HERE / "mechanisms.py", "--out", folder])
            done.write_text("")
        return sorted(p.parent for p in folder.glob("*/expect.json"))

    def _made(self, name, program, options, seed, cases, first):
        folder = self.folder / "cases" / name
        folder.mkdir(parents=True, exist_ok=True)
        wanted = [folder / f"case_{number:03d}" for number in range(first, first + cases)]
        missing = [k for k, case in enumerate(wanted) if not (case / "truth_lines.tsv").exists()]
        if missing:
            low, high = min(missing), max(missing)
            print(f"making {high - low + 1} cases: {name}", flush=True)
            self._call([sys.executable, program, "--out", folder, "--seed", str(seed), "--first",
                        str(first + low), "--cases", str(high - low + 1), *options])
        return wanted

    @staticmethod
    def _call(words):
        done = subprocess.run(list(map(str, words)), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False)
        if done.returncode:
            sys.exit(f"{words[1]} ended with {done.returncode}: {done.stderr.decode()[-600:]}")

    def shadow(self, case, how, runs):
        """The case with other runs as its history: a folder of links."""
        targets = hashlib.sha256("\n".join(map(str, runs)).encode()).hexdigest()[:8]
        folder = self.folder / "shadow" / f"{how}-{targets}" / case.parent.name / case.name
        history = folder / "history"
        history.mkdir(parents=True, exist_ok=True)
        for name in ("logs", "truth.json", "truth_lines.tsv"):
            link(folder / name, case / name)
        for index, run in enumerate(runs):
            link(history / f"run_{index}", run)
        return folder

    # ---- results ------------------------------------------------------------------------------
    def result(self, key, case, run):
        """The kept result, or that of run(); kept where it is not None."""
        name = hashlib.sha256(str(case).encode()).hexdigest()[:20]
        path = self.folder / "results" / self.scorers / key / f"{name}.json"
        if path.exists():
            self.kept += 1
            return json.loads(path.read_text(encoding="utf-8"))
        value = run()
        self.ran += 1
        if value is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh = path.with_suffix(f".{os.getpid()}")
            fresh.write_text(json.dumps(value), encoding="utf-8")
            fresh.rename(path)
        return value

    def each(self, part, program, options, cases, run):
        """run(case, command) of all cases, several at a time -> their results in order."""
        command = program.command(options)
        key = f"{part}-{program.key}-{hashlib.sha256(options.encode()).hexdigest()[:8]}"
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(
                lambda case: self.result(key, case, lambda: run(case, command)), cases))


def link(name, target):
    if not name.is_symlink():
        name.symlink_to(target)
