#!/usr/bin/env python3
"""A real exporter of flow records on the bridge of a real job, and what `l4 flows` makes of them.

usage: exporter.py --bin FOLDER [--fault KIND]... [--seed N] [--style STYLE] [--out FOLDER]
                   [--again FOLDER] [--softflowd PATH]

softflowd (Debian) listens on the bridge of ../shared/lab while a job trains over it, and sends
IPFIX, which is kept as a file. Its records are cut after a second or more, which shows no single
steps of these jobs: no step clock may be claimed, and no slow step. What must be found: one job
with the cards of all nodes, the pairs that exchange gradients, when a job that hangs carried its
last (a finding of silence takes a step that is torn, or another job that goes on), and a link that
became slow: its card alone, by the rates of its connections. Without --fault: none, sigstop,
slow_link. Needs what lab.py needs and softflowd; ends with 77 where that is missing, with 1 where
something did not hold. A job takes two minutes.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import lab  # noqa: E402
import lab_judge  # noqa: E402
import nics  # noqa: E402

FAULTS = {"none": ["--gloo-timeout", "60"],
          "sigstop": ["--gloo-timeout", "1800", "--hang-observe", "40"],
          "slow_link": ["--gloo-timeout", "600", "--max-seconds", "300"]}
PORT = 4739
LAST_OFF_MAX_S, SILENT_S = 6.0, 15.0  # a step and a half, and the exporter's time-outs
COLLECT = f"""
import socket, sys
port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
port.bind(("127.0.0.1", {PORT}))
with open(sys.argv[1], "ab", buffering=0) as file:
    while True:
        file.write(port.recv(65536))
"""

# A datagram a second from each node: without any record later than the job's own, nobody could tell
# that it is silent.
PULSE = ("import socket,time; port=socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
         "[(port.sendto(b\"pulse\", (\"10.77.0.9\", 9)), time.sleep(1)) for _ in range(600)]")


def switch():
    """The namespace with the bridge of the job that is being set up; none yet."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False)
    return next((line.split()[0] for line in listed.stdout.splitlines()
                 if line.split()[0].endswith("-sw")), None)


class Exporter(threading.Thread):
    """Waits for the bridge, then runs softflowd on it and a collector beside it."""

    def __init__(self, program, file):
        super().__init__(daemon=True)
        self.program, self.file, self.programs, self.over = program, file, [], threading.Event()

    def run(self):
        name = None
        while not name and not self.over.wait(0.2):
            name = switch()
        if not name:
            return
        inside = ["ip", "netns", "exec", name]
        subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=False)
        subprocess.run([*inside, "ip", "link", "set", "br0", "up"], check=False)
        self.programs.append(subprocess.Popen([*inside, sys.executable, "-c", COLLECT, self.file]))
        own = self.file.parent
        self.programs.append(subprocess.Popen(
            [*inside, self.program, "-d", "-i", "br0", "-v", "10", "-A", "milli", "-n",
             f"127.0.0.1:{PORT}", "-t", "maxlife=1", "-t", "expint=1", "-t", "tcp=2", "-t",
             "general=2", "-p", own / "softflowd.pid", "-c", own / "softflowd.ctl", "ip"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def end(self):
        self.over.set()
        self.join()
        for program in reversed(self.programs):
            program.terminate()
            program.wait()


def arguments(kind):
    return ["--nodes", "4", "--ranks", "1", "--iters", "60", "--sleep-ms", "1200", "--at-iter",
            "35", "--extra", nics.MODEL, "--save-interval", "1000", "--eval-interval", "1000",
            *FAULTS[kind]]


def run_lab(kind, style, seed, options, folder):
    job = f"exporter-{kind.replace('_', '-')}-{seed}"
    run = folder / "runs" / job
    command = [str(lab.LAB / "run_job.sh"), "--out", str(folder / "runs"), "--work",
               str(folder / "work"), "--job-id", job, "--fault", kind, "--seed", str(seed),
               "--style", style, "--head-cmd", "sleep 600",
               "--agent-cmd", f"python3 -c '{PULSE}'", *arguments(kind)]
    exporter = Exporter(options.softflowd, folder / "records.ipfix")
    exporter.start()
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    finally:
        exporter.end()
    failed = done.returncode != 0 or not (run / "truth.json").exists()
    return run, "the lab failed: " + (done.stdout + done.stderr)[-500:] if failed else None


def topology_of(truth):
    servers = [{"server": f"node-{k:02}", "nics": [{"nic": "eth0", "address": f"10.77.0.{10 + k}"}]}
               for k in range(truth["nodes"])]
    return {"servers": servers}


def judge(run, programs):
    truth = json.loads((run / "truth.json").read_text())
    folder, kind, problems = run.parent.parent, truth["fault"], []
    (folder / "topology.json").write_text(json.dumps(topology_of(truth)))
    done = subprocess.run([programs / "l4", "flows", folder / "records.ipfix", "--topology",
                           folder / "topology.json", "--active", "1", "--inactive", "2",
                           "--format", "json"], capture_output=True, text=True, check=False)
    outcome = lab_judge.Outcome(kind, truth["style"], 0, problems)
    if done.returncode not in (0, 10):
        problems.append("l4 flows: " + done.stderr[-300:])
        return outcome
    found = json.loads(done.stdout)
    jobs = found["jobs"]
    cards = sorted(len(job["nics"]) for job in jobs)
    if cards != [truth["nodes"]]:
        problems.append(f"jobs with {cards} cards, not one with {truth['nodes']}")
    pairs = {tuple(sorted((pair["src"], pair["dst"]))) for job in jobs for pair in job["pairs"]}
    if len(pairs) < truth["nodes"]:
        problems.append(f"only the pairs {sorted(pairs)}")
    findings = [(one["kind"], tuple(one["place"])) for job in jobs for one in job["findings"]]
    if kind == "sigstop" and jobs:
        late = jobs[0]["last_ns"] / 1e9 - truth["t_inject"]
        beyond = (found["read"]["last_ns"] - jobs[0]["last_ns"]) / 1e9
        outcome.notes.append(f"last transfer {late:+.1f} s from the fault, {beyond:.0f} s before "
                             "the last record")
        if abs(late) > LAST_OFF_MAX_S or beyond < SILENT_S:
            problems.append("when the job carried its last is not told")
    if kind == "slow_link":
        card = f"10.77.0.{10 + truth['node_index']}"
        if [one["place"] for job in jobs for one in job["findings"]] != [[card]]:
            problems.append(f"not the slow link of {card} alone: {findings}")
    if kind == "none" and findings:
        problems.append(f"false alarms: {findings}")
    outcome.notes += [f"{found['read']['records']} records, {len(pairs)} pairs, step clock: "
                      f"{[job['period_ns'] for job in jobs]}", f"findings: {findings[:6]}"]
    return outcome


def run_one(kind, style, seed, options):
    return lab.tell(lab.played(
        f"{kind}-{seed}", options, lambda folder: run_lab(kind, style, seed, options, folder),
        lambda run: judge(run, options.bin),
        lambda problem: lab_judge.Outcome(kind, style, seed, [problem])))


def main():
    parser = lab.parser_of(__doc__)
    parser.add_argument("--fault", action="append", choices=sorted(FAULTS))
    parser.add_argument("--softflowd", default=shutil.which("softflowd"))
    options = parser.parse_args()
    began = time.monotonic()
    print(lab_judge.HEADER, flush=True)
    if options.again:
        outcomes = [lab.tell(judge(run, options.bin)) for run in lab.runs_in(options.again)]
    else:
        reason = lab.missing() or (None if options.softflowd else "no softflowd")
        if reason is not None:
            print(f"skipped: {reason}")
            return lab.SKIPPED
        outcomes = [run_one(kind, options.style or "plain", options.seed + place, options)
                    for place, kind in enumerate(options.fault or list(FAULTS))]
    return lab.ended(outcomes, began)


if __name__ == "__main__":
    sys.exit(main())
