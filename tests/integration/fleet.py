#!/usr/bin/env python3
"""A simulated fleet over the real wire: every scripted fault is found, and no other; no agent is
lost.

usage: fleet.py L4        (l4-fleet and l4-aggregator stand beside it)

200 nodes for little more than a minute. L4_FLEET=full plays 2,000 nodes x 8 ranks for 20 minutes,
with bounds for the aggregator's processor and memory; L4_FLEET_SECONDS is another length, L4_SEED
the script's seed.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import support
from live import free_port

FULL = os.environ.get("L4_FLEET") == "full"
SECONDS = int(os.environ.get("L4_FLEET_SECONDS", "1200" if FULL else "75"))
SEED = os.environ.get("L4_SEED", "5")

CONFIG = """
[wire]
listen = "tcp://127.0.0.1:{wire}"
grace_s = {grace}
key = "keys/aggregator.key"
allow_list = "keys/allow-list"
[http]
port = {http}
[detect]
hang_floor_s = 10
hang_confirm_s = {confirm}
[store]
folder = "state"
"""
# Kind, job, share of the run at which the fault begins, share for which it lasts, node, rank.
SHORT = {
    "jobs": {"pretrain": 150, "crash": 20, "lost": 20, "stop": 15, "hang": 15},
    "faults": [("crash", "crash", 0.30, 0, 17, 3), ("lost", "lost", 0.35, 0, 11, 0),
               ("stop", "stop", 0.32, 0, 9, 1), ("hang", "hang", 0.25, 0, 7, 0)],
    "fleet": [("restart", 0.72, 0)],
    "link": "loss_per_mille = 1\ndelay_ms = 5",
    # The host of the tests may be busy with other work.
    "limits": "crash_s = 20\nlost_s = 30\nhang_s = 60\ncpu_percent = 100\ngrowth_percent = 100",
}
LONG = {
    "jobs": {"pretrain": 1400, "crash": 100, "stop": 100, "hang": 100, "slow": 100, "lost": 100,
             "well": 100},
    "faults": [("crash", "crash", 0.10, 0.10, 33, 5), ("crash", "crash", 0.55, 0, 71, 0),
               ("stop", "stop", 0.40, 0.1, 57, 1), ("hang", "hang", 0.45, 0.25, 7, 0),
               ("slow", "slow", 0.50, 0, 71, 0), ("lost", "lost", 0.60, 0.1, 12, 0),
               ("lost", "lost", 0.85, 0, 99, 0), ("stop", "pretrain", 0.90, 0, 1234, 6)],
    "fleet": [("restart", 0.22, 0), ("blind", 0.33, 30)],
    "link": "loss_per_mille = 0",
    "limits": "crash_s = 15\nhang_s = 100\ncpu_percent = 100\ngrowth_percent = 3",
}


def script_of(what):
    rows = [f"seed = {SEED}", f"seconds = {SECONDS}"]
    for job, nodes in what["jobs"].items():
        rows.append(f'[[job]]\nname = "{job}"\nnodes = {nodes}\nranks = 8')
    for kind, job, at, lasts, node, rank in what["faults"]:
        rows.append(f'[[fault]]\nkind = "{kind}"\njob = "{job}"\nnode = {node}\nrank = {rank}\n'
                    f"at_s = {int(at * SECONDS)}\nlasts_s = {int(lasts * SECONDS)}")
    for kind, at, lasts in what["fleet"]:
        rows.append(f'[[fault]]\nkind = "{kind}"\nat_s = {int(at * SECONDS)}\nlasts_s = {lasts}')
    rows.append("[link]\n" + what["link"])
    rows.append("[limits]\n" + what["limits"])
    return "\n".join(rows) + "\n"


def check_refusals(expect, binary, folder):
    """A wrong script is refused with file, line and key."""
    bad = folder / "bad.toml"
    for text, said in (('[[job]]\nname = "a"\nnoods = 3\n', "noods"), ("seconds = 60\n", "job"),
                       ('[[job]]\nname = "a"\n[[fault]]\nkind = "flood"\n', "kind"),
                       ('[[job]]\nname = "a"\n[[fault]]\nkind = "crash"\njob = "b"\n', "job")):
        bad.write_text(text)
        done = subprocess.run([binary, "--script", bad, "--check"], capture_output=True,
                              check=False, timeout=60)
        expect.that(done.returncode == 2 and said in done.stderr.decode() and
                    "bad.toml:" in done.stderr.decode(), f"{text!r} is refused", done.stderr)
    example = support.ROOT / "tools" / "fleet" / "example.toml"
    done = subprocess.run([binary, "--script", example, "--check"], check=False, timeout=60,
                          capture_output=True)
    expect.equal(done.returncode, 0, "exit of --check for the example")


def main():
    l4, expect = support.start(sys.argv, "fleet")
    build = pathlib.Path(l4.binary).resolve().parent
    with tempfile.TemporaryDirectory(prefix="l4-fleet-") as name:
        folder = pathlib.Path(name)
        check_refusals(expect, build / "l4-fleet", folder)
        l4.run("keys", "init", "--dir", folder / "keys")
        l4.run("keys", "add", "--dir", folder / "keys", "--fleet")
        wire, http = free_port(), free_port()
        config, script = folder / "aggregator.toml", folder / "script.toml"
        config.write_text(CONFIG.format(wire=wire, http=http, grace=60 if FULL else 15,
                                        confirm=60 if FULL else 20))
        script.write_text(script_of(LONG if FULL else SHORT))
        done = subprocess.run(
            [build / "l4-fleet", "--script", script, "--keys", folder / "keys",
             "--endpoint", f"tcp://127.0.0.1:{wire}", "--http", f"http://127.0.0.1:{http}",
             "--aggregator", build / "l4-aggregator", "--config", config,
             "--log", folder / "log"], check=False, timeout=SECONDS + 300)
        if not expect.equal(done.returncode, 0, "exit of l4-fleet"):
            rows = (folder / "log").read_text("utf-8", "replace").splitlines()
            print("\n".join([row for row in rows if "connected from" not in row][-30:]))
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
