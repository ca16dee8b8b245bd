#!/usr/bin/env python3
"""Cost of a cold build of the shipped programs, in yardsticks of processor time.

usage: build_cost.py [--preset NAME] [--targets NAME...] [--rows 15] [--keep FOLDER]

Configures the preset in a temporary folder, without a compiler cache, builds the targets and adds
up the processor time of every compiler and linker that ran. A yardstick is the processor time of
`g++ -std=c++23 -O2 -c` over a file that includes <utility>, <boost/asio.hpp>, <regex> and holds an
empty main. It is measured twice before and twice after the build, and the mean counts. So the
figure hardly depends on the machine. Run it on an idle one: other work slows the build down, whose
compilers then share caches, and not the yardstick.

Prints the yardstick, the total, its ratio, and the dearest steps. Ends with 1 if the build fails.
"""
import argparse
import os
import pathlib
import resource
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
YARDSTICK = "#include <utility>\n#include <boost/asio.hpp>\n#include <regex>\nint main() {}\n"
# Runs one step of the build and notes what it used: seconds, and the file that it made.
STEP = """import os, sys
made = next((b for a, b in zip(sys.argv, sys.argv[1:]) if a == "-o"), sys.argv[2])
pid = os.spawnvp(os.P_NOWAIT, sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(pid, 0)
with open(sys.argv[1], "a", encoding="utf-8") as log:
    log.write(f"{used.ru_utime + used.ru_stime:.3f}\\t{made}\\n")
sys.exit(os.waitstatus_to_exitcode(status))
"""


def yardstick(folder):
    """Processor time of one reference compilation, in seconds."""
    source = folder / "yardstick.cc"
    source.write_text(YARDSTICK)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["g++", "-std=c++23", "-O2", "-c", source, "-o", folder / "yardstick.o"],
                   check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def build(asked, folder):
    """Builds the targets; rows of (seconds, file), dearest first. None if that fails."""
    log = folder / "steps.tsv"
    log.touch()
    step = folder / "step.py"
    step.write_text(STEP)
    launcher = f"{sys.executable};-I;-S;{step};{log}"
    configure = ["cmake", "--preset", asked.preset, "-S", ROOT, "-B", folder / "build",
                 f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}",
                 f"-DCMAKE_C_COMPILER_LAUNCHER={launcher}",
                 f"-DCMAKE_CXX_LINKER_LAUNCHER={launcher}",
                 "-DL4_BUILD_TESTS=OFF", "-DL4_BUILD_BENCH=OFF"]
    for command in (configure, ["cmake", "--build", folder / "build", "-j", str(os.cpu_count()),
                                "--target", *asked.targets]):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout[-3000:] + done.stderr[-3000:])
            print("failed: " + shlex.join(map(str, command)))
            return None
    rows = [line.split("\t") for line in log.read_text().splitlines()]
    return sorted(((float(seconds), made) for seconds, made in rows), reverse=True)


def options(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="release")
    parser.add_argument("--targets", nargs="+", default=["l4", "l4-agent", "l4-aggregator"])
    parser.add_argument("--rows", type=int, default=15, help="dearest steps that are shown")
    parser.add_argument("--keep", type=pathlib.Path, help="build here, and leave it")
    return parser.parse_args(arguments)


def measure(asked):
    """Yardsticks, seconds of the build, their ratio, and its steps; None if the build fails."""
    with tempfile.TemporaryDirectory(prefix="l4-build-cost-") as temporary:
        folder = asked.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        marks = [yardstick(folder), yardstick(folder)]
        steps = build(asked, folder)
        if steps is None:
            return None
        marks += [yardstick(folder), yardstick(folder)]
    mark = sum(marks) / len(marks)
    total = sum(seconds for seconds, _ in steps)
    return {"marks": marks, "yardstick": mark, "seconds": total, "ratio": total / mark,
            "steps": steps}


def show(figures, rows):
    mark = figures["yardstick"]
    print(f"yardstick   {mark:8.2f} s   ({', '.join(f'{m:.2f}' for m in figures['marks'])})")
    print(f"build       {figures['seconds']:8.1f} s   of {len(figures['steps'])} steps")
    print(f"ratio       {figures['ratio']:8.1f} yardsticks")
    for seconds, made in figures["steps"][:rows]:
        print(f"{seconds:8.1f} s  {seconds / mark:6.1f}  {made}")


def main():
    asked = options(None)
    figures = measure(asked)
    if figures is None:
        return 1
    show(figures, asked.rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
