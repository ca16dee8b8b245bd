#!/usr/bin/env python3
"""An install brings units that systemd accepts and that are as restricted as they claim, manifests
for kustomize, settings that the programs accept, and an image with all libraries.

usage: deployment.py L4
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import kubernetes_objects
import support

ROOT = support.ROOT
EXPOSURE = {"l4-agent.service": 2.5, "l4-aggregator.service": 1.3}
RESTRICTED_EXPOSURE = 1.9


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          check=False, **options)


def exposure(unit):
    done = run("systemd-analyze", "security", "--offline=true", "--no-pager", f"./{unit.name}",
               cwd=unit.parent)
    found = re.search(r"Overall exposure level for \S+: (\d+\.\d+)", done.stdout)
    return float(found.group(1)) if found else 10.0


def installed_units(stage, folder):
    """Copies of the units with paths into the stage, because systemd checks that the programs
    exist."""
    places = list(stage.rglob("lib/systemd/system"))
    if len(places) != 1:
        return []
    prefix = "/" + str(places[0].parent.parent.parent.relative_to(stage))
    for unit in places[0].iterdir():
        text = unit.read_text().replace(f"{prefix}/bin/", f"{stage}{prefix}/bin/")
        (folder / unit.name).write_text(text)
    return sorted(folder.iterdir())


def units(expect, stage, folder):
    found = installed_units(stage, folder)
    names = [unit.name for unit in found]
    expect.equal(names, ["l4-agent.service", "l4-aggregator.service", "l4.slice"], "the units")
    done = run("systemd-analyze", "verify", *found)
    expect.equal((done.returncode, done.stdout + done.stderr), (0, ""), "systemd-analyze verify")
    for unit in found:
        if unit.name in EXPOSURE:
            expect.that(exposure(unit) <= EXPOSURE[unit.name],
                        f"{unit.name} is exposed by at most {EXPOSURE[unit.name]}", exposure(unit))
        text = unit.read_text()
        if unit.suffix == ".service":
            for key in ("Type=notify", "WatchdogSec=", "StateDirectory=", "Slice=l4.slice",
                        "MemoryMax=", "NoNewPrivileges=yes"):
                expect.that(key in text, f"{unit.name} has {key}")
    slice_has_room(expect, {unit.name: bounds(unit) for unit in found})
    restricted(expect, stage, folder)


BOUNDS = {"CPUQuota": "%", "MemoryHigh": "KMG", "MemoryMax": "KMG", "TasksMax": ""}


def bounds(unit):
    """Bounds of each unit, in percent of a core, bytes, and tasks."""
    found = {}
    for key, number, scale in re.findall(r"(?m)^(\w+)=(\d+)([%KMG]?)$", unit.read_text()):
        if key in BOUNDS:
            found[key] = int(number) * 1024 ** (BOUNDS["MemoryMax"].find(scale) + 1
                                                if scale and scale != "%" else 0)
    return found


def slice_has_room(expect, by_unit):
    """The bounds of the slice have room for both units and are at most four times their sum."""
    whole = by_unit.get("l4.slice", {})
    for key in BOUNDS:
        parts = [of.get(key) for name, of in by_unit.items() if name.endswith(".service")]
        expect.that(len(parts) == 2 and None not in parts, f"each unit has {key}", by_unit)
        expect.that(None not in parts and key in whole and whole[key] >= sum(parts),
                    f"l4.slice has {key}, and room for both units", by_unit)
        expect.that(key in whole and None not in parts and whole[key] <= 4 * sum(parts),
                    f"{key} of l4.slice is a bound", by_unit)


def restricted(expect, stage, folder):
    """restricted.conf in the folder of drop-ins beside the unit, as an operator installs it."""
    drop_in = next(stage.rglob("restricted.conf"), None)
    unit = folder / "l4-agent.service"
    if not expect.that(drop_in is not None and unit.exists(), "restricted.conf is installed"):
        return
    drop_ins = folder / f"{unit.name}.d"
    drop_ins.mkdir()
    shutil.copy(drop_in, drop_ins)
    done = run("systemd-analyze", "verify", unit)
    expect.equal((done.returncode, done.stdout + done.stderr), (0, ""), "verify, restricted")
    expect.that(exposure(unit) <= RESTRICTED_EXPOSURE, "the restricted agent's exposure",
                exposure(unit))


def settings(expect, stage, binaries, folder):
    """Each shipped settings file is valid, but for its keys, which each site makes."""
    keys = folder / "keys"
    run(binaries / "l4", "keys", "init", "--dir", keys)
    run(binaries / "l4", "keys", "add", "--dir", keys, "--fleet")
    shipped = [*stage.rglob("etc/l4/*.toml"), *(ROOT / "config" / "kubernetes").rglob("*.toml")]
    expect.equal(len(shipped), 6, "settings that are shipped")
    (keys / "pod.token").write_text(run(binaries / "l4", "keys", "token", "pod", "--dir",
                                        keys).stdout)
    for file in shipped:
        program = [binaries / f"l4-{file.stem}", "--check-config", "--config"]
        if file.stem == "client":
            program = [binaries / "l4", "check-config"]
        text = file.read_text()
        text = re.sub(r'"(/etc/l4/keys/)?(fleet|agent)\.key"', f'"{keys}/nodes/fleet.key"', text)
        text = re.sub(r'"(/etc/l4/keys/)?aggregator\.key"', f'"{keys}/aggregator.key"', text)
        text = re.sub(r'"(/etc/l4/keys/)?(allow-list|tokens|pod\.token)"', rf'"{keys}/\2"', text)
        copy = folder / f"{file.parent.name}-{file.name}"
        copy.write_text(text)
        done = run(*program, copy, env={**os.environ, "L4_NODE": "n1"})
        expect.equal((done.returncode, done.stderr), (0, ""), f"{file} is taken")


def watching(expect, stage):
    """Rules for Prometheus and dashboards for Grafana."""
    for part in ("prometheus", "grafana"):
        shipped = sorted(path.name for path in (ROOT / "config" / part).iterdir())
        found = sorted(path.name for path in stage.glob(f"**/share/l4/{part}/*"))
        expect.that(shipped and found == shipped, f"{part} is installed", found)


def samples(expect, stage):
    """The recorded job that `l4 demo` writes again."""
    places = list(stage.glob("**/share/l4/samples"))
    if expect.equal(len(places), 1, "samples are installed"):
        expect.that((places[0] / "crash-rank4.arrivals.csv").is_file() and
                    (places[0] / "crash-rank4" / "node-02" / "agent.log").is_file(),
                    "the recorded job is installed", list(places[0].iterdir()))


def completions(expect, stage, binaries, folder):
    """Each installed shell completes a command with the installed files."""
    found = {path.name: path for path in stage.glob("**/share/*/*/*") if path.is_file()
             and path.name in ("l4", "_l4", "l4.fish")}
    expect.equal(sorted(str(path.parent.relative_to(stage)).split("share/")[-1] for path in
                        found.values()),
                 ["bash-completion/completions", "fish/vendor_completions.d", "zsh/site-functions"],
                 "folders of completions")
    bash = (f"source '{found['l4']}'; COMP_WORDS=(l4 snap); COMP_CWORD=1; "
            "$(complete -p l4 | sed 's/.*-F \\([^ ]*\\).*/\\1/'); echo \"$COMPREPLY\"")
    zsh = ("zmodload zsh/zpty; zpty z zsh -f -i; zpty -w z \"fpath=(" + str(found["_l4"].parent) +
           " \\$fpath); autoload -U compinit; compinit -u -d " + str(folder / "zcompdump") +
           "; PS1=; echo rea''dy\"; zpty -r -m z seen '*ready*'; zpty -w -n z $'l4 snap\\t'; "
           "zpty -r -m z seen '*snapshot*'; print -r -- \"$seen\"; zpty -d z")
    fish = f"set fish_complete_path '{found['l4.fish'].parent}'; complete -C 'l4 snap'"
    for shell, words in (("bash", ["--norc", "-c", bash]), ("zsh", ["-f", "-c", zsh]),
                         ("fish", ["--no-config", "-c", fish])):
        if shutil.which(shell) is None:
            print(f"skipped: completion in {shell}, which is not here")
            continue
        try:
            done = run(shell, *words, timeout=60, env={
                **os.environ, "HOME": str(folder), "TERM": "dumb",
                "PATH": f"{binaries}:{os.environ['PATH']}"})  # fish looks for the command
            expect.that("snapshot" in done.stdout, f"{shell} completes", done.stdout + done.stderr)
        except subprocess.TimeoutExpired:
            expect.that(False, f"{shell} completes within a minute")


def manifests(expect, folder):
    if shutil.which("kubectl") is None:
        print("skipped: the manifests (no kubectl)")
        return
    done = run("kubectl", "kustomize", ROOT / "config" / "kubernetes")
    expect.equal((done.returncode, done.stderr), (0, ""), "kubectl kustomize")
    kinds = re.findall(r"^kind: (\w+)", done.stdout, re.M)
    expect.equal(sorted(kinds), ["ConfigMap", "ConfigMap", "DaemonSet", "Deployment", "Namespace",
                                 "NetworkPolicy", "NetworkPolicy", "PersistentVolumeClaim",
                                 "Service"], "kinds")
    for text in ("hostPID: true", "readOnly: true", "type: Recreate", "\n    kernel_log = false"):
        expect.that(text in done.stdout, f"the manifests say {text!r}")
    # Files that an unprivileged container cannot open are neither mounted nor named by a setting.
    for text in ("kmsg\n", "privileged: true", "SYSLOG", "kernel_log = true"):
        expect.that(text not in done.stdout, f"the manifests do not say {text!r}")
    scraping(expect, done.stdout)
    kubernetes_objects.check(expect, done.stdout, "kubernetes", spoil=True)
    privileged(expect, folder)


def privileged(expect, folder):
    """The same with the component for the kernel's log, as an operator switches it on."""
    shutil.copytree(ROOT / "config" / "kubernetes", folder / "kubernetes")
    chosen = folder / "kubernetes" / "kustomization.yaml"
    text = chosen.read_text()
    expect.that("\n# components: [privileged]\n" in text, "privileged/ is named, and off", text)
    chosen.write_text(text.replace("# components: [privileged]", "components: [privileged]"))
    done = run("kubectl", "kustomize", folder / "kubernetes")
    expect.equal((done.returncode, done.stderr), (0, ""), "kubectl kustomize, privileged")
    kubernetes_objects.check(expect, done.stdout, "kubernetes, privileged")
    daemon_set = next((part for part in done.stdout.split("\n---\n") if "kind: DaemonSet" in part),
                      "")
    for said in ("privileged: true", "allowPrivilegeEscalation: true", "mountPath: /dev/kmsg",
                 "path: /dev/kmsg", "hostPID: true", "mountPath: /var/log",
                 "apparmor.security.beta.kubernetes.io/agent: unconfined"):
        expect.that(said in daemon_set, f"privileged agents have {said!r}", daemon_set)
    for said in ("allowPrivilegeEscalation: false", "capabilities:"):
        expect.that(said not in daemon_set, f"privileged agents have no {said!r}", daemon_set)
    expect.that("kernel_log = true" in done.stdout and "kernel_log = false" not in done.stdout,
                "privileged agents read the kernel's log")
    values = [re.sub(r"#.*", "", file.read_text()).split() for file in
              (chosen.parent / "agent.toml", chosen.parent / "privileged" / "agent.toml")]
    differ = [pair for pair in zip(*values, strict=False) if pair[0] != pair[1]]
    expect.equal((len(values[0]), differ), (len(values[1]), [("false", "true")]),
                 "settings of both differ in the kernel's log alone")


def scraping(expect, manifests_text):
    """Ports that Prometheus scrapes, and that the network policy opens, are served by the pods."""
    sought = re.findall(r"regex: (\S+);(\S+)",
                        (ROOT / "config" / "prometheus" / "kubernetes.yml").read_text())
    expect.equal(sorted(sought), [("l4-agent", "metrics"), ("l4-aggregator", "http")],
                 "ports that Prometheus looks for")
    parts = manifests_text.split("\n---\n")
    for program, port in sought:
        pods = next(p for p in parts if re.search(rf"kind: (DaemonSet|Deployment)", p)
                    and f"\n  name: {program}\n" in p)
        number = re.search(rf"containerPort: (\d+)\n\s+name: {port}\b", pods)
        served = re.search(r'listen = "0\.0\.0\.0:(\d+)"' if port == "metrics" else
                           r'address = "0\.0\.0\.0"()', manifests_text)
        expect.that(number and served and served.group(1) in ("", number.group(1)),
                    f"{program} serves its port {port}", (number, served))
        policy = next(p for p in parts if "kind: NetworkPolicy" in p
                      and f"\n  name: {program}\n" in p)
        let_in = re.search(rf"metadata.name: monitoring\n\s+ports:\n\s+- port: {port}\b", policy)
        expect.that(let_in, f"Prometheus is let in to {program}", policy)


def image(expect, binaries, copied):
    """What is copied is installed; the image has the libraries that the programs are linked to."""
    text = (ROOT / "Containerfile").read_text()
    sources = re.findall(r"/stage/usr/(\S+)", " ".join(re.findall(r"COPY --from=.*", text)))
    expect.that(len(sources) >= 4, "what the image copies", sources)
    expect.equal([source for source in sources if not (copied / source).exists()], [],
                 "what the image copies and an install lacks")
    packages = set(re.search(r"(?s)FROM debian:12-slim.*?recommends (.*?)&&", text).group(1)
                   .replace("\\", " ").split())
    basis = run("dpkg-query", "-W", "-f", "${Package} ${Priority}\n").stdout.splitlines()
    given = {row.split()[0] for row in basis if row.endswith(" required")}
    needed = set()
    for program in ("l4", "l4-agent", "l4-aggregator"):
        for library in re.findall(r"=> (/\S+)", run("ldd", binaries / program).stdout):
            real = os.path.realpath(library)
            owners = run("dpkg", "-S", real, real.removeprefix("/usr")).stdout
            needed.add(owners.split(":")[0] or library)
    unknown = [one for one in packages if run("apt-cache", "show", one).returncode != 0]
    expect.equal(unknown, [], "packages of the image that Debian lacks")
    indirect = run("apt-cache", "depends", "--recurse", "--no-recommends", "--no-suggests",
                   "--no-conflicts", "--no-breaks", "--no-replaces", "--no-enhances", *packages)
    brought = set(re.findall(r"^\w\S*", indirect.stdout, re.M))
    expect.equal(sorted(needed - packages - brought - given), [], "libraries that the image lacks")


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve().parent
    expect = support.Expectations("deployment")
    if shutil.which("systemd-analyze") is None:
        print("skipped: no systemd-analyze")
        return support.SKIPPED
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        stage = folder / "stage"
        done = run("cmake", "--install", binaries.parent, env={**os.environ, "DESTDIR": stage})
        expect.equal(done.returncode, 0, "cmake --install: " + done.stderr[-300:])
        (folder / "units").mkdir()
        units(expect, stage, folder / "units")
        settings(expect, stage, binaries, folder)
        watching(expect, stage)
        samples(expect, stage)
        completions(expect, stage, binaries, folder)
        manifests(expect, folder)
        prefix = next(stage.rglob("bin/l4-agent")).parent.parent
        image(expect, binaries, prefix)
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
