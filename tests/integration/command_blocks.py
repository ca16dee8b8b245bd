#!/usr/bin/env python3
"""Every command block of README.md, docs/INSTALL.md and docs/LIVE.md is run as it stands, or is a
row of NOT_RUN with the reason.

usage: command_blocks.py L4

The blocks run in a root of their own (user, mount and network namespaces): /etc/l4, /var and /logs
are the test's, the tree is at /src with the build under test in build/release/bin, and the default
ports are free. A site is set up there by the blocks of INSTALL; what it lacks stands in STAND_INS.
Names and times that each run makes anew are replaced (`made_here`).
"""
import encodings.idna  # noqa: F401, asked for when the root is another
import http.server
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import made_job
import support

PAGES = ("README.md", "docs/INSTALL.md", "docs/LIVE.md")
INSIDE = "L4_COMMAND_BLOCKS_INSIDE"
SLOW = 4 if support.SANITIZED else 1
BIN = "/src/build/release/bin"
NODES = ("node-01", "node-02", "node-03")

# First line of a block: why it is not run. A row without a block fails.
NOT_RUN = {
    "tools/quickstart":
        "builds all programs with packages of apt; tools/acceptance runs it on a bare Debian, and "
        "demo.py runs the demo",
    "tools/setup --quick":
        "builds all programs and installs them with packages of apt; deployment.py installs the "
        "build under test and verifies its units, units.py starts them",
    "kubectl kustomize config/kubernetes | kubectl apply -f -":
        "needs a cluster; deployment.py checks the manifests",
    "l4 demo                   ":
        "no commands: the list of all of them; command_line.py compares it with --help",
}
# Lines that go on until Ctrl-C; they run alone, and get it when they have said something.
ENDLESS = re.compile(r"l4 top\b|l4 watch job-4711( +#.*)?$|l4 incidents --follow|l4 local /logs$|"
                     r"l4-(aggregator|agent) --config")

# Programs that the sandbox has in place of those of a real site.
STAND_INS = {
    "notify-send": "exit 0",
    "scp": 'cp -p "$2" "${3#*:}"',
    "ssh": 'shift; exec "$@"',
    "systemctl": r'''
name=${@: -1}; pid=/run/$name.pid
end() {
  kill "$(cat $pid)"
  while [ -e /proc/$(cat $pid) ] && ! grep -q '^State:.Z' /proc/$(cat $pid)/status; do
    sleep 0.05
  done
}
begin() {
  line=$(sed -n "s#^ExecStart=@CMAKE_INSTALL_FULL_BINDIR@#/src/build/release/bin#p" \
    /src/systemd/$name.service.in | sed 's#@L4_SETTINGS_DIR@#/etc/l4#')
  mkdir -p /var/lib/$name
  setsid $line >>/var/log/$name.log 2>&1 </dev/null & echo $! >$pid
  sleep 0.5; kill -0 $!
}
case $1 in
  enable|start) begin ;;
  stop) end ;;
  restart) end; begin ;;
  reload) kill -HUP "$(cat $pid)"; sleep 0.5 ;;
  *) echo "systemctl: no stand-in for $*" >&2; exit 1 ;;
esac''',
}


def blocks():
    """Each block without a language: its page, line and text; blocks that show output are between
    comments."""
    for page in PAGES:
        lines = (support.ROOT / page).read_text(encoding="utf-8").splitlines()
        began = None
        for number, line in enumerate(lines):
            if not line.lstrip().startswith("```"):
                continue
            if began is None:
                began = number
                continue
            shown = began > 0 and lines[began - 1].startswith("<!--")
            if lines[began].strip() in ("```", "```sh", "```bash") and not shown:
                yield page, began + 1, "\n".join(lines[began + 1:number])
            began = None


def plain_root(root):
    """A tmpfs with folders, links and settings that programs need, and a network of its own."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "root", root], check=True)
    for name in ("proc", "dev", "usr", "etc", "var/lib", "var/log", "var/tmp", "tmp", "root",
                 "run"):
        (root / name).mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    for name in ("bin", "sbin", "lib", "lib64", "lib32", "libx32"):
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), root / name)
    for name in ("proc", "dev"):
        subprocess.run(["mount", "--rbind", f"/{name}", root / name], check=True)
    for name in ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime",
                 "nsswitch.conf"):
        if os.path.exists(f"/etc/{name}"):
            subprocess.run(["cp", "-rd", f"/etc/{name}", root / "etc"], check=True)
    (root / "etc/hosts").write_text("127.0.0.1 localhost head-node " + " ".join(NODES) + "\n")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def build_root(root, build):
    """The root in which the blocks run; this process is root of its namespace alone."""
    plain_root(root)
    for name in ("etc/l4", "logs", "path/to/a", "src/build/release/bin", "stand-ins"):
        (root / name).mkdir(parents=True)
    bound = [("/usr", "usr"), (build, BIN.lstrip("/"))]
    for entry in sorted(support.ROOT.iterdir()):
        if entry.name in ("build", ".git"):
            continue
        place = root / "src" / entry.name
        place.mkdir() if entry.is_dir() else place.touch()
        bound.append((entry, f"src/{entry.name}"))
    for source, place in bound:
        subprocess.run(["mount", "--rbind", source, root / place], check=True)
    (root / "etc/passwd").write_text("".join(
        f"{user}:x:0:0::/root:/bin/sh\n" for user in ("root", "l4-agent", "l4-aggregator")))
    (root / "etc/group").write_text("root:x:0:\n")
    for name, text in STAND_INS.items():
        program = root / "stand-ins" / name
        program.write_text(f"#!/bin/bash\n{text}\n")
        program.chmod(0o755)


def logs(folder, nodes, job="job-4711"):
    """The sample's logs of some nodes under another job's name."""
    for node in nodes:
        for source in (support.SAMPLE / node).rglob("*"):
            if source.is_file():
                place = folder / node / str(source.relative_to(support.SAMPLE / node)).replace(
                    "job-1005", job)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, place)


def healthy(folder):
    """A job that went well and ended."""
    job = made_job.MadeJob(8, seed=3, iterations=20)
    for rank, lines in enumerate(job.lines):
        place = (folder / f"node-{rank // 2:02d}" / "run" / "attempt_0" / str(rank % 2) /
                 "stdout.log")
        place.parent.mkdir(parents=True)
        place.write_text("".join(f"{made_job.rfc3339(at + made_job.EPOCH.timestamp())} {text}\n"
                                 for at, text, _ in lines), encoding="utf-8")


def read_for(terminal, seconds):
    """What a program says until it has said something and then rested, within a time."""
    text, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.7 if text else end - time.monotonic())[0]:
            try:
                text += os.read(terminal, 65536)
            except OSError:
                break
        elif text:
            break
    return text.decode("utf-8", "replace")


class Taker(http.server.BaseHTTPRequestHandler):
    """Takes what an Alertmanager takes."""

    def do_POST(self):  # noqa: N802, the name that the library calls
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Site:
    """What is behind the commands, and the names that it gave."""

    def __init__(self, expect):
        self.expect, self.kept, self.others, self.made_here = expect, [], [], {}
        self.environment = {"PATH": f"{BIN}:/stand-ins:/usr/bin:/bin:/usr/sbin:/sbin",
                            "HOME": "/root", "L4_CONFIG_DIR": "/src/config", "LANG": "C.UTF-8"}

    def json(self, *words):
        done = subprocess.run([f"{BIN}/l4", *words, "-o", "json"], capture_output=True, text=True,
                              check=False, timeout=60, env=self.environment)
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def wait(self, holds, what):
        end = time.monotonic() + 30 * SLOW
        while not holds() and time.monotonic() < end:
            time.sleep(0.2)
        self.expect.that(holds(), what)

    def knows_job(self):
        self.wait(lambda: any(row["id"] == "job-4711" for row in self.json("jobs").get("jobs", [])),
                  "job-4711 is known")

    def start_others(self):
        """The agents of the other nodes, from the settings of the first."""
        text = pathlib.Path("/etc/l4/agent.toml").read_text()
        for node in NODES[1:]:
            pathlib.Path(f"/var/lib/{node}").mkdir()
            pathlib.Path(f"/etc/l4/{node}.toml").write_text(
                text.replace("/etc/l4/agent.key", f"/etc/l4/keys/nodes/{node}.key")
                .replace("/var/log/training", f"/nodes/{node}/training")
                .replace("/var/lib/l4-agent", f"/var/lib/{node}"))
            self.others.append(subprocess.Popen(
                [f"{BIN}/l4-agent", "--config", f"/etc/l4/{node}.toml"],
                stdout=open(f"/var/log/{node}.log", "wb"), stderr=subprocess.STDOUT,
                env=self.environment))
        self.wait(lambda: sum(row.get("files", 0) > 0 for row in self.json("agents").get(
            "agents", [])) == len(NODES), "all agents read")

    def listen_for_alerts(self):
        """A program that takes what an Alertmanager takes, at its port."""
        self.taker = http.server.ThreadingHTTPServer(("127.0.0.1", 9093), Taker)
        threading.Thread(target=self.taker.serve_forever, daemon=True).start()

    def services(self, word):
        for name in ("l4-aggregator", "l4-agent"):
            done = subprocess.run(["/stand-ins/systemctl", word, name], check=False,
                                  capture_output=True, text=True, env=self.environment)
            self.expect.equal((done.returncode, done.stderr), (0, ""), f"{word} {name}")

    def incident(self):
        """The job has failed; its incident and stored report are named from here on."""
        self.wait(lambda: self.json("incidents").get("incidents"), "an incident opens")
        self.wait(lambda: self.json("snapshot", "job-4711", "--list").get("snapshots"),
                  "its report is stored")
        time.sleep(1)
        self.made_here = {
            "job-4711.0.1795363200": self.json("incidents")["incidents"][0]["id"],
            "s1795190022000": self.json("snapshot", "job-4711", "--list")["snapshots"][0]["id"],
            "2026-11-20T15:54:42Z": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}

    def endless(self, line):
        """It says something within a while, and ends well at Ctrl-C."""
        ours, terminal = pty.openpty()
        process = subprocess.Popen(["bash", "-c", f"exec {line}"], cwd="/src", stdin=terminal,
                                   stdout=terminal, stderr=terminal, start_new_session=True,
                                   env={**self.environment, "TERM": "xterm"})
        os.close(terminal)
        text = read_for(ours, 0.5 if "--follow" in line else 5 * SLOW)
        if line == "l4 local /logs":
            self.kept.append((process, ours))
            return process.poll() or 0, text
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        else:
            text += "(ended by itself)"
        try:
            status = process.wait(20 * SLOW)
        except subprocess.TimeoutExpired:
            process.kill()
            status = "none"
        os.close(ours)
        return status, text

    def script(self, text):
        environment = dict(self.environment)
        if "SLURM" in text:
            environment |= {"SLURM_JOB_ID": "job-4711", "SLURM_JOB_EXIT_CODE": "1"}
        try:
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text], cwd="/src",
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  check=False, env=environment, timeout=60 * SLOW)
        except subprocess.TimeoutExpired as late:
            return "none", str(late)
        return done.returncode, done.stdout + done.stderr

    def run(self, page, number, text):
        for of_page, made in self.made_here.items():
            text = text.replace(of_page, made)
        steps = [[]]
        for line in text.splitlines():
            if ENDLESS.match(line):
                steps += [line, []]
            else:
                steps[-1].append(line)
        for step in steps:
            if isinstance(step, str):
                status, said = self.endless(step)
                follows = "--follow" in step  # says nothing while nothing changes, and is cut off
                self.expect.that(status == -signal.SIGINT if follows else status == 0 and said,
                                 f"{page}:{number}: {step}: ends well at Ctrl-C", (status, said))
            elif step:
                status, said = self.script("\n".join(step))
                self.expect.that(status == 0, f"{page}:{number}: ends with 0", (status, said))

    def end_kept(self):
        for process, terminal in self.kept:
            process.send_signal(signal.SIGINT)
            self.expect.equal(process.wait(20 * SLOW), 0, "end of l4 local")
            os.close(terminal)
        self.kept = []

    def end(self):
        for process in [*(process for process, _ in self.kept), *self.others]:
            process.kill()
            process.wait()


def inside(root, build):
    """All blocks in their order; what a block finds prepared stands here, beside its first line."""
    expect = support.Expectations("command blocks")
    build_root(root, build)
    healthy(root / "job-4705")
    logs(root / "path/to/job", sorted(os.listdir(support.SAMPLE)))
    logs(root / "logs", sorted(os.listdir(support.SAMPLE)))
    logs(root / "var/log/training", ["node-00", "node-01"])
    for node, has in zip(NODES[1:], ("node-02", "node-03")):
        logs(root / "nodes" / node / "training", [has])
    shutil.copytree(root / "job-4705", root / "path/to/a/healthy/run")
    found = list(blocks())
    os.chroot(root)
    os.chdir("/src")
    site = Site(expect)
    before = {"l4 jobs": site.knows_job, "l4 check": site.start_others,
              "cat >>/etc/l4/aggregator.toml <<'END'": site.listen_for_alerts,
              "l4-aggregator --config /etc/l4/aggregator.toml     # on the head node":
                  lambda: site.services("stop"),
              "l4 top                              # all jobs, kept up to date": site.incident}
    after = {"l4 jobs": lambda: (site.end_kept(), shutil.move("/job-4705", "/logs/job-4705")),
             "l4-aggregator --config /etc/l4/aggregator.toml     # on the head node":
                 lambda: site.services("start")}
    used = set()
    try:
        for page, number, text in found:
            first = text.splitlines()[0] if text else ""
            row = next((row for row in NOT_RUN if first.startswith(row)), None)
            if row:
                used.add(row)
                continue
            began = time.monotonic()
            for hooks, run in ((before, None), (None, site.run), (after, None)):
                if run:
                    run(page, number, text)
                elif first in (hooks or {}):
                    used.add(first)
                    hooks[first]()
            if os.environ.get("L4_VERBOSE"):
                print(f"{time.monotonic() - began:5.1f} s  {page}:{number}", flush=True)
    finally:
        site.end()
    expect.equal(sorted({*NOT_RUN, *before, *after} - used), [], "rows without a block")
    return expect.end()


def main():
    l4, _ = support.start(sys.argv, "command blocks")
    build = pathlib.Path(l4.binary).resolve().parent
    if os.environ.get(INSIDE):
        return inside(pathlib.Path(os.environ[INSIDE]), build)
    apart = ["unshare", "--user", "--map-root-user", "--mount", "--net", "--pid", "--fork",
             "--kill-child", "--mount-proc"]
    if subprocess.run([*apart, "ip", "link", "set", "lo", "up"], check=False,
                      capture_output=True).returncode != 0:
        print("skipped: no namespaces of one's own here")
        return support.SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([*apart, sys.executable, *sys.argv], check=False,
                              env={**os.environ, INSIDE: folder}).returncode


if __name__ == "__main__":
    sys.exit(main())
