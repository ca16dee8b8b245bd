#!/usr/bin/env python3
"""Both services started as their units say, with the sandbox rebuilt by hand: from the installed
tree, by the units' users with the units' capabilities, on a read-only root with their own /tmp.

usage: units.py L4

Keys and settings are made as docs/INSTALL.md says; the job's logs are readable by their owner
alone; a crash must become an alert. systemd itself does not run here, so what it alone can do is
not tried: filters of system calls, control groups. It takes root, for users and capabilities.
"""
import encodings.idna  # noqa: F401, asked for when the root is another
import http.server
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import command_blocks
import support

INSIDE = "L4_UNITS_INSIDE"
SLOW = 4 if support.SANITIZED else 1
USERS = {"l4-agent": 7431, "l4-aggregator": 7432, "trainer": 7433}
UNDERSTOOD = {"ProtectSystem": {"strict"}, "ProtectHome": {"yes", "read-only"},
              "PrivateTmp": {"yes"}, "NoNewPrivileges": {"yes"}, "UMask": {"0077"},
              "Type": {"notify"}}


class Unit:
    """What a unit says, the last value of each key."""

    def __init__(self, file):
        self.name, self.said = file.stem, {}
        for line in file.read_text().splitlines():
            key, is_set, value = line.partition("=")
            if is_set and not line.startswith("#"):
                self.said[key] = value

    def enter(self, command):
        """The command under the unit's sandbox: mounts by a shell, then user and capabilities."""
        capabilities = self.said.get("AmbientCapabilities", "").split()
        names = ",".join("+" + name.removeprefix("CAP_").lower() for name in capabilities)
        state = f"/var/lib/{self.said['StateDirectory']}"
        home = {"yes": "mount -t tmpfs -o ro,mode=0755 home /root",
                "read-only": "true"}[self.said["ProtectHome"]]
        mounts = f"""
set -e
install -d -m {self.said['StateDirectoryMode']} -o {self.said['User']} {state}
mount --make-rprivate /
mount --bind {state} {state}
mount -t tmpfs -o mode=1777 tmp /tmp
{home}
while read -r place; do
  case $place in {state}|/tmp|/proc*|/dev*|/run*) ;; *) mount -o remount,bind,ro "$place" ;; esac
done < <(cut -d' ' -f5 /proc/self/mountinfo)
umask {self.said['UMask']}
ulimit -c 0
ulimit -n {self.said['LimitNOFILE']} 2>/dev/null || true  # the machine may allow less
exec "$@"
"""
        user = ["setpriv", f"--reuid={USERS[self.said['User']]}",
                f"--regid={USERS[self.said['User']]}",
                "--clear-groups", "--no-new-privs", "--inh-caps=-all" + (names and f",{names}"),
                "--ambient-caps=-all" + (names and f",{names}"),
                "--bounding-set=-all" + (names and f",{names}")]
        return ["unshare", "--mount", "bash", "-c", mounts, "bash", *user, *command]


class Service:
    """A unit that runs; it must say that it is ready, as Type=notify wants."""

    def __init__(self, expect, unit):
        self.expect, self.unit = expect, unit
        for key, values in UNDERSTOOD.items():
            expect.that(unit.said.get(key) in values, f"{unit.name}: this test knows {key}",
                        unit.said.get(key))
        self.notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notices.bind(f"/run/{unit.name}.notify")
        os.chmod(f"/run/{unit.name}.notify", 0o666)
        self.notices.settimeout(20 * SLOW)
        checked = self.run(unit.said["ExecStartPre"].split())
        expect.equal(checked.returncode, 0, f"{unit.name}: ExecStartPre: {checked.stderr}")
        self.log = pathlib.Path(f"/run/{unit.name}.log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                unit.enter(unit.said["ExecStart"].split()), stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env={"PATH": os.environ["PATH"],
                                 "NOTIFY_SOCKET": f"/run/{unit.name}.notify"})
        try:
            told = self.notices.recv(4096)
        except TimeoutError:
            told = b""
        expect.that(b"READY=1" in told, f"{unit.name} says that it is ready",
                    (told, self.log.read_text()[-600:]))

    def run(self, command):
        return subprocess.run(self.unit.enter(command), capture_output=True, text=True, check=False,
                              env={"PATH": os.environ["PATH"]})

    def is_held(self):
        """The sandbox holds what it should: the same shell can write its state and nothing else."""
        state = f"/var/lib/{self.unit.said['StateDirectory']}"
        for place in ("/etc/l4", "/var/log/training", "/usr/bin", "/root"):
            done = self.run(["touch", f"{place}/written"])
            self.expect.that(done.returncode != 0, f"{self.unit.name} cannot write to {place}")
        self.expect.equal(self.run(["touch", f"{state}/written"]).returncode, 0,
                          f"{self.unit.name} writes to {state}")
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        rows = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        self.expect.equal((rows["Uid"].split()[0], rows["NoNewPrivs"]),
                          (str(USERS[self.unit.said["User"]]), "1"), f"{self.unit.name}: its user")

    def end(self):
        self.process.terminate()
        try:
            self.expect.equal(self.process.wait(20 * SLOW), 0, f"{self.unit.name}: its end")
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.expect.that(False, f"{self.unit.name} ends")


class Hook(http.server.BaseHTTPRequestHandler):
    """Keeps the alerts that are posted."""
    told = []

    def do_POST(self):  # noqa: N802, the name that the library calls
        Hook.told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def build_root(root, stage):
    command_blocks.plain_root(root)
    subprocess.run(["mount", "-t", "overlay", "-o", f"lowerdir={stage}/usr:/usr", "usr",
                    root / "usr"], check=True)
    shutil.copytree(stage / "etc", root / "etc", dirs_exist_ok=True)
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\n" + "".join(
        f"{user}:x:{number}:{number}::/:/bin/sh\n" for user, number in USERS.items()))
    (root / "etc/group").write_text("root:x:0:\n" + "".join(
        f"{user}:x:{number}:\n" for user, number in USERS.items()))


def training(folder):
    """The sample's logs, which nobody but the trainer may read."""
    for place in sorted(folder.rglob("*")):
        os.chown(place, USERS["trainer"], USERS["trainer"])
        place.chmod(0o700 if place.is_dir() else 0o600)


def ask(*words):
    done = subprocess.run(["l4", *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def set_up(expect):
    """As docs/INSTALL.md says."""
    expect.equal(ask("keys", "init", "node-01")[0], 0, "l4 keys init")
    subprocess.run(["chown", "-R", "l4-aggregator:", "/etc/l4/keys"], check=True)
    expect.equal(ask("setup", "aggregator", "--address", "tcp://127.0.0.1:7430", "--keys",
                     "/etc/l4/keys", "--http", "127.0.0.1:7440")[0], 0, "l4 setup aggregator")
    with open("/etc/l4/aggregator.toml", "a", encoding="utf-8") as settings:
        settings.write('[[alerts.sink]]\nname = "hook"\nkind = "webhook"\n'
                       'url = "http://127.0.0.1:9093/"\n')
    shutil.copy("/etc/l4/keys/nodes/node-01.key", "/etc/l4/agent.key")
    os.chown("/etc/l4/agent.key", USERS["l4-agent"], 0)
    os.chmod("/etc/l4/agent.key", 0o600)
    status, said = ask("setup", "agent", "--aggregator", "tcp://127.0.0.1:7430", "--key",
                       "/etc/l4/agent.key", "--sources", "/var/log/training")
    expect.that(status in (0, 10), "l4 setup agent", said)


def inside(root, stage):
    expect = support.Expectations("units")
    build_root(root, stage)
    nodes = sorted(os.listdir(support.SAMPLE))
    command_blocks.logs(root / "later", nodes)
    (root / "var/log/training").mkdir()
    (root / "run/systemd/system").mkdir(parents=True, exist_ok=True)  # this test is its systemd
    os.chroot(root)
    os.chdir("/")
    prefix = next(p for p in ("/usr/local", "/usr") if os.path.exists(f"{p}/bin/l4-agent"))
    os.environ["PATH"] = f"{prefix}/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    units = {name: Unit(pathlib.Path(f"{prefix}/lib/systemd/system/{name}.service"))
             for name in ("l4-aggregator", "l4-agent")}
    for unit in units.values():
        page = unit_page(unit)
        expect.that(os.path.exists(page), f"{unit.name}: its documentation is installed", page)
    hook = http.server.ThreadingHTTPServer(("127.0.0.1", 9093), Hook)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    set_up(expect)
    services = []
    try:
        services = [Service(expect, unit) for unit in units.values()]
        for service in services:
            service.is_held()
        shutil.move("/later", "/var/log/training/later")
        training(pathlib.Path("/var/log/training"))
        end = time.monotonic() + 60 * SLOW
        while not Hook.told and time.monotonic() < end:
            time.sleep(0.2)
        expect.that(Hook.told, "the crash becomes an alert", ask("check"))
        first = Hook.told[0] if Hook.told else {}
        expect.equal((first.get("job"), first.get("state")), ("job-4711", "crashed"), "the alert")
        status, said = ask("check")
        expect.equal(status, 0, f"l4 check, {said}: its status")
    finally:
        for service in reversed(services):
            service.end()
    return expect.end()


def unit_page(unit):
    return unit.said["Documentation"].removeprefix("file:")


def main():
    l4, expect = support.start(sys.argv, "units")
    if os.environ.get(INSIDE):
        folder = pathlib.Path(os.environ[INSIDE])
        return inside(folder / "root", folder / "stage")
    apart = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0 or subprocess.run([*apart, "true"], check=False,
                                           capture_output=True).returncode != 0:
        print("skipped: it takes root and namespaces of its own")
        return support.SKIPPED
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        folder.chmod(0o755)
        build = pathlib.Path(l4.binary).resolve().parent.parent
        done = subprocess.run(["cmake", "--install", build],
                              env={**os.environ, "DESTDIR": folder / "stage"}, check=False,
                              capture_output=True, text=True)
        if not expect.equal(done.returncode, 0, f"cmake --install: {done.stderr[-300:]}"):
            return expect.end()
        (folder / "root").mkdir()
        return subprocess.run([*apart, sys.executable, *sys.argv], check=False,
                              env={**os.environ, INSIDE: folder}).returncode


if __name__ == "__main__":
    sys.exit(main())
