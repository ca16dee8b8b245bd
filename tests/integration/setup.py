#!/usr/bin/env python3
"""A site set up as a newcomer does it: keys, settings of both programs, a start, and `l4 check`.

usage: setup.py L4

`l4 setup` is asked with options and, at a terminal, with answers; what it writes must pass
`l4 check-config` and start the programs. Then `l4 check` must see a lost agent, one whose source
matches nothing, one that never came, a sink that takes the test alert and one that refuses it.
"""
import contextlib
import json
import os
import pathlib
import pty
import select
import socket
import subprocess
import sys
import tempfile
import time

import live
import support
from live import free_port, wait_for

SLOW = 4 if support.SANITIZED else 1


class Receiver(live.PostReceiver):
    """Takes alerts at /good, refuses them at any other path."""

    def __init__(self):
        self.told = []
        super().__init__()

    def take(self, path, body):
        self.told.append((path, json.loads(body)))
        return 200 if path == "/good" else 403


def answered(argv, answers):
    """What a program writes to a terminal where somebody answers its questions; its exit status."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["NO_COLOR"] = "1"
        os.execv(argv[0], argv)
    said, end = b"", time.monotonic() + 60 * SLOW
    waiting = list(answers)
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            got = os.read(terminal, 4096)
        except OSError:
            break
        if not got:
            break
        said += got
        if waiting and said.endswith(b"]: "):
            os.write(terminal, waiting.pop(0).encode() + b"\n")
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), \
        said.decode().replace("\r\n", "\n"), waiting


def slowly(holds, timeout_s):
    """Like wait_for, for what runs a program each time."""
    return wait_for(lambda: holds() or time.sleep(0.4), timeout_s * SLOW)


def mode_of(path):
    return oct(path.stat().st_mode & 0o777)


def check_keys(expect, l4, folder):
    """All keys in one command, or none."""
    keys = folder / "etc" / "l4" / "keys"
    names = folder / "nodes.txt"
    names.write_text("# the rack\nnode-03\n")
    done = l4.run("keys", "init", "node-01", "node-02", "--from", names, "--dir", keys, "-o",
                  "json")
    made = json.loads(done.stdout)
    expect.equal([pathlib.Path(file).name for file in made["made"]],
                 ["aggregator.key", "allow-list", "node-01.key", "node-02.key", "node-03.key"],
                 "keys init: files")
    expect.equal([(p["node"], p["owner"], p["mode"]) for p in made["places"]][1:3],
                 [(None, "l4-aggregator", "0600"), ("node-01", "l4-agent", "0600")],
                 "keys init: places")
    expect.that(all(mode_of(pathlib.Path(file)) == "0o600" for file in made["made"]), "modes")
    before = {file: pathlib.Path(file).read_bytes() for file in made["made"]}
    done = l4.run("keys", "init", "node-04", "--dir", keys)
    expect.that(done.status == 2 and "l4 keys add" in done.stderr, "keys are there", done.stderr)
    expect.that(all(pathlib.Path(f).read_bytes() == text for f, text in before.items()),
                "nothing has changed")
    done = l4.run("keys", "init", "a", "b", "a", "--dir", folder / "none" / "keys")
    expect.that(done.status == 2 and not (folder / "none").exists(), "nothing is left", done.stderr)
    done = l4.run("keys", "init", "a", "--dir", folder / "other")
    expect.that(all(part in done.stdout.decode() for part in
                    ("nodes/a.key", "/etc/l4/agent.key", "l4-agent", "0600", "l4 setup")),
                "where each goes", done.stdout)
    with open("/dev/full", "wb") as full:
        done = subprocess.run([l4.binary, "keys", "init", "a", "--dir", folder / "full"], text=True,
                              stdout=full, stderr=subprocess.PIPE, check=False)
    expect.that(done.returncode == 2 and "No space left" in done.stderr and
                f"{folder}/full: has changed all the same; 'l4 keys list" in done.stderr and
                (folder / "full" / "nodes" / "a.key").exists(), "an answer that nobody gets",
                done.stderr)
    return keys


def check_refusals(expect, l4, folder, keys):
    """Settings with which a program could not start are not written."""
    out = folder / "refused.toml"
    node = keys / "nodes" / "node-01.key"
    aggregator = ("--address", "tcp://head:7430", "--keys", keys, "--http", "127.0.0.1:7440")
    agent = ("--aggregator", "tcp://head:7430", "--key", node, "--sources", "/var/log/x")

    def refused(what, said, *words):
        done = l4.run("setup", *words, "--out", out)
        expect.that(done.status == 2 and said in done.stderr and not out.exists(),
                    f"{what}: {said}", (done.status, done.stderr))

    refused("no terminal", "give --address, --keys, --http", "aggregator")
    refused("one is missing", "give --key\n", "agent", *agent[:2], *agent[4:])
    refused("an address", "is not tcp://HOST:PORT", "aggregator",
            "--address", "head", *aggregator[2:])
    refused("no keys", "l4 keys init NODE...", "aggregator", *aggregator[:2], "--keys",
            folder / "nowhere", *aggregator[4:])
    refused("no tokens", "l4 keys token NAME", "aggregator", *aggregator[:4], "--http",
            "0.0.0.0:7440")
    refused("a name of HTTP", "with an IP address", "aggregator", *aggregator[:4], "--http",
            "head:7440")
    refused("no key", "nowhere.key: is not there", "agent", *agent[:2], "--key",
            folder / "nowhere.key", *agent[4:])
    refused("another file", "aggregator.key", "agent", *agent[:2], "--key", keys / "aggregator.key",
            *agent[4:])
    refused("a source", "no absolute path", "agent", *agent[:4], "--sources", "logs")


def check_files(expect, l4, folder, keys):
    """A file that is there is kept; --print writes nothing."""
    out = folder / "kept" / "agent.toml"
    words = ("setup", "agent", "--aggregator", f"tcp://127.0.0.1:{free_port()}", "--key",
             keys / "nodes" / "node-01.key", "--sources", folder / "no such folder", "--state",
             folder / "state", "--out", out)
    shown = l4.run(*words, "--print")
    expect.that(shown.status == 10 and not out.exists(), "--print writes nothing", shown)
    expect.that(shown.stdout.startswith(b"# Settings of l4-agent") and
                "matches no log: there is no" in shown.stderr, "the settings alone", shown.stderr)
    first = l4.run(*words)
    expect.equal((first.status, out.read_bytes()), (10, shown.stdout), "the same are written")
    out.write_text("# mine\n")
    again = l4.run(*words)
    expect.that(again.status == 2 and "--replace" in again.stderr and
                out.read_text() == "# mine\n", "it is kept", again.stderr)
    for suffix in (".before", ".before-2"):
        expect.equal(l4.run(*words, "--replace").status, 10, "--replace")
        expect.that(pathlib.Path(f"{out}{suffix}").exists(), f"the former one is {suffix}")
    expect.equal(pathlib.Path(f"{out}.before").read_text(), "# mine\n", "what was mine")
    installed = folder / "installed" / "agent.toml"
    installed.parent.mkdir()
    installed.write_bytes((support.ROOT / "config" / "agent.toml").read_bytes())
    done = l4.run(*words[:-1], installed)
    expect.that(done.status == 10 and installed.read_bytes() == shown.stdout.replace(
        str(out).encode(), str(installed).encode()) and
        pathlib.Path(f"{installed}.before").exists(), "one as it is installed is replaced", done)
    expect.equal(sorted(p.name for p in out.parent.iterdir()),
                 ["agent.toml", "agent.toml.before", "agent.toml.before-2"], "nothing else is left")


def check_aggregator(expect, l4, folder, keys, port, http):
    """At a terminal: a wrong answer is asked for again, Enter takes what is shown."""
    out = folder / "aggregator.toml"
    with socket.create_server(("127.0.0.1", http)):
        status, said, rest = answered(
            [l4.binary, "setup", "aggregator", "--out", str(out), "--state", str(folder / "agg")],
            ["head", f"tcp://127.0.0.1:{port}", str(keys), f"0.0.0.0:{http}",
             f"127.0.0.1:{http}"])
    expect.equal((status, rest), (10, []), "setup aggregator at a terminal")
    expect.that("head: is not tcp://HOST:PORT" in said and "needs tokens" in said,
                "wrong answers", said)
    expect.that(f"port {http} is in use by" in said and f"(pid {os.getpid()})" in said and
                f"port {port} is free" in said, "who has the port", said)
    expect.that(f"{keys}: 3 keys may connect" in said and "1 thing to look at" in said, "keys",
                said)
    expect.that(f"l4-aggregator --config {out}\n" in said and
                f"l4 check --address http://127.0.0.1:{http}" in said, "what starts it", said)
    return out


def setup_agent(expect, l4, folder, keys, node, port, *sources):
    """With options; returns the settings and the answer."""
    out = folder / f"{node}.toml"
    done = l4.run("setup", "agent", "--aggregator", f"tcp://127.0.0.1:{port}", "--key",
                  keys / "nodes" / f"{node}.key", "--out", out, "--state", folder / node,
                  "--sources", *sources, "-o", "json")
    answer = json.loads(done.stdout)
    expect.equal((answer["schema"], answer["written"]), ("l4.setup/1", True), f"setup of {node}")
    # What happens on the machine of the tests is not part of them.
    with open(out, "a", encoding="utf-8") as config:
        config.write("[host]\nprocesses = false\nkernel_log = false\n")
    checked = l4.run("check-config", out)
    expect.equal(checked.status, 0, f"check-config of {node}")
    return out, {r["about"]: r for r in answer["remarks"]}, done.status


class Site:
    """The programs, as the settings that were written start them."""

    def __init__(self, folder, build):
        self.folder, self.build, self.running = folder, build, {}

    def start(self, name, config):
        log = open(self.folder / f"{name}.log", "ab")
        program = "l4-aggregator" if name == "aggregator" else "l4-agent"
        self.running[name] = subprocess.Popen([self.build / program, "--config", config],
                                              stdout=log, stderr=log)
        log.close()

    def kill(self, name):
        process = self.running.pop(name)
        process.kill()
        process.wait()

    def end(self):
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20 * SLOW)
            process.kill()
            process.wait()

    def log(self, name):
        return (self.folder / f"{name}.log").read_text("utf-8", "replace")


def check_site(expect, l4, site, url, keys, hook):
    """`l4 check` on a site with things amiss."""

    def check(*words):
        done = l4.run("check", "--address", url, *words, "-o", "json")
        return done, json.loads(done.stdout or "{}")

    def texts(answer, about):
        return " | ".join(f["text"] for f in answer.get("findings", [])
                          if f["about"] == about and f["state"] == "look")

    def connected():
        agents = check()[1].get("agents", {}).get("agents", [])
        return sum(a["connected"] for a in agents) == 2 and any(a["files"] == 1 for a in agents)

    expect.that(slowly(connected, 20), "two agents are connected, one reads a log",
                (check()[1], site.log("aggregator")))
    done, answer = check()
    expect.equal((done.status, answer["schema"], answer["well"]), (10, "l4.check/1", False),
                 "check")
    expect.equal([(row["agent"], len(row["jobs"])) for row in answer["reading"]], [("node-01", 1)],
                 "who reads what")
    found = texts(answer, "agents")
    expect.that("node-02 reads no file" in found, "a wrong source", found)
    expect.that("1 node may connect and has not been heard" in found and "node-03" in found,
                "an agent that never came", found)
    expect.that(not texts(answer, "sinks") and "nothing was sent yet" in str(answer), "sinks",
                answer)
    done, answer = check("--send")
    expect.equal(done.status, 10, "check --send")
    expect.equal({t["sink"]: (t["took"], t["error"]) for t in answer["tests"]["sinks"]},
                 {"good": (True, None), "bad": (False, "answered 403")}, "which sink took it")
    expect.that("bad (webhook) did not take the test alert: answered 403" in texts(answer, "sinks"),
                "why not", answer)
    path, alert = next(told for told in hook.told if told[0] == "/good")
    expect.equal((alert["alert"], alert["incident"], alert["job"]), ("test", None, None), path)
    expect.that("test of the sink good, asked for by a user of" in alert["summary"], "who asked",
                alert)
    expect.that(wait_for(lambda: "test alert, asked for by a user of" in site.log("aggregator"), 5),
                "the log tells", site.log("aggregator")[-400:])
    before = len(hook.told)
    done, answer = check("--send", "--sink", "good")
    expect.equal([t["sink"] for t in answer["tests"]["sinks"]], ["good"], "one sink")
    expect.that("bad (webhook) failed" in texts(answer, "sinks"), "the other one's last try",
                answer)
    expect.equal(len(hook.told), before + 1, "one alert")
    done, _ = check("--send", "--sink", "gud")
    expect.that(done.status == 2 and "there is no sink gud; there are good, bad" in done.stderr,
                "an unknown sink", done.stderr)
    expect.equal(l4.run("check", "--sink", "good").status, 2, "--sink without --send")
    incidents = l4.run("incidents", "--address", url, "-o", "json")
    expect.equal(json.loads(incidents.stdout)["incidents"], [], "no incident")
    site.kill("node-01")
    lost = slowly(lambda: "node-01 is lost, last heard" in texts(check()[1], "agents"), 30)
    expect.that(lost, "a lost agent", check()[1])
    text = l4.run("check", "--address", url).stdout.decode()
    rows = text.splitlines()
    expect.that(rows[1].startswith("lost") and "node-01" in rows[1], "it stands first", rows[:3])
    expect.that(rows[-1].endswith("things to look at") and "systemctl status l4-agent" in text,
                "the next step", text)
    expect.equal(l4.run("check", "--address", f"http://127.0.0.1:{free_port()}").status, 3,
                 "nobody answers")


def check_well(expect, l4, site, url, keys, agent):
    """Once all is mended, `l4 check` says so."""
    expect.equal(l4.run("keys", "revoke", "node-03", "--dir", keys).status, 0, "revoke")
    site.kill("node-02")
    (site.folder / "logs-02").mkdir()
    (site.folder / "logs-02" / "rank1.log").write_text("step 1\n")
    for node in ("node-01", "node-02"):
        site.start(node, agent[node])
    settings = site.folder / "aggregator.toml"
    settings.write_text(settings.read_text().replace("/bad", "/good"))
    site.running["aggregator"].send_signal(1)  # SIGHUP
    wait_for(lambda: "read again" in site.log("aggregator"), 10)
    well = slowly(lambda: l4.run("check", "--address", url, "--send").status == 0, 30)
    done = l4.run("check", "--address", url)
    expect.that(well and done.status == 0 and done.stdout.decode().endswith("\nall is well\n"),
                "all is well", (done.stdout.decode(), site.log("node-02")[-300:]))


def main():
    l4, expect = support.start(sys.argv, "setup")
    build = pathlib.Path(l4.binary).parent
    hook = Receiver()
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        stack.callback(hook.close)
        folder = pathlib.Path(name)
        keys = check_keys(expect, l4, folder)
        check_refusals(expect, l4, folder, keys)
        check_files(expect, l4, folder, keys)
        port, http = free_port(), free_port()
        settings = check_aggregator(expect, l4, folder, keys, port, http)
        settings.write_text(settings.read_text().replace(
            "[wire]\n", "[wire]\nlost_after_s = 6\ngrace_s = 0\n"))
        with open(settings, "a", encoding="utf-8") as config:
            for sink in ("good", "bad"):
                config.write(f'[[alerts.sink]]\nname = "{sink}"\nkind = "webhook"\n'
                             f'url = "{hook.url}/{sink}"\n')
        checked = l4.run("check-config", settings)
        expect.equal((checked.status, checked.stderr), (0, ""), "check-config of the aggregator")
        site = Site(folder, build)
        stack.callback(site.end)
        site.start("aggregator", settings)
        url = f"http://127.0.0.1:{http}"
        expect.that(slowly(lambda: l4.run("check", "--address", url).status == 10, 20),
                    "the aggregator answers; no agent has come", site.log("aggregator"))
        (folder / "logs-01").mkdir()
        (folder / "logs-01" / "rank0.log").write_text("step 1\n")
        agent = {}
        agent["node-01"], found, status = setup_agent(expect, l4, folder, keys, "node-01", port,
                                                      folder / "logs-*" / "*.log")
        expect.that(status == 0 and f"{folder}/logs-*/*.log: 1 log" in found["source"]["text"],
                    "its source", found)
        expect.that("accepts this key" in found["link"]["text"], "its link", found)
        agent["node-02"], found, status = setup_agent(expect, l4, folder, keys, "node-02", port,
                                                      folder / "logs-02")
        expect.that(status == 10 and found["source"]["state"] == "look" and
                    f"there is no {folder}/logs-02; {folder}/logs-01 is there" in
                    found["source"]["text"], "a wrong source and what stands near", found)
        l4.run("keys", "init", "node-09", "--dir", folder / "foreign")
        _, found, status = setup_agent(expect, l4, folder, folder / "foreign", "node-09", port,
                                       folder / "logs-01")
        expect.that(status == 10 and found["link"]["state"] == "look", "a key of another site",
                    found)
        for node, file in agent.items():
            site.start(node, file)
        check_site(expect, l4, site, url, keys, hook)
        check_well(expect, l4, site, url, keys, agent)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
