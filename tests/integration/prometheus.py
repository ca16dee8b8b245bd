#!/usr/bin/env python3
"""The figures of both programs, the alert rules and dashboards over them, and a real Prometheus.

usage: prometheus.py L4

An aggregator and an agent run, Prometheus scrapes them as config/prometheus says, with all times
shortened. Every series that a rule or a panel asks for must be there, nothing may fire while all is
well, and the rule for an aggregator that is down must fire once it was killed.
"""
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

import live
import support
from live import wait_for

NODE = "node-a"
CONFIG = support.ROOT / "config"
RULES = CONFIG / "prometheus" / "rules.yml"
ALWAYS = "L4Watchdog"
DASHBOARDS = sorted((CONFIG / "grafana").glob("*.json"))
# Labels that a series may have: words of closed lists, and jobs, of which there are so many.
LABELS = {"reason", "step", "state", "limit", "sink", "status"}
JOB_LABEL, JOB = "job_id", "job-7"
SELECTOR = re.compile(r"\b(l4_\w+|up)\b(\{[^}]*\})?")
SCHEMA_VERSION = 39     # Grafana 11
UNITS = {"none", "cps", "Bps", "bytes", "s", "percentunit"}
PANELS = {"row", "stat", "timeseries"}


def fetch(url):
    """Status and text; (0, "") if there is no answer."""
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


class Watched:
    """An aggregator, and an agent that ships to it."""

    def __init__(self, folder, binaries):
        self.site = live.Site(folder, binaries)
        self.site.enrol(NODE)
        self.ports = {"l4-aggregator": live.free_port(), "l4-agent": live.free_port()}
        wire = live.free_port()
        self.site.endpoint = f"tcp://127.0.0.1:{wire}"
        self.settings = self.site.folder / "aggregator.toml"
        self.settings.write_text(
            live.aggregator_settings(wire, self.ports["l4-aggregator"], "state") +
            '[alerts]\nwebhook = "http://127.0.0.1:9/"\n')
        self.site.config(NODE, f'[metrics]\nlisten = "127.0.0.1:{self.ports["l4-agent"]}"\n')
        self.aggregator = None

    def start_aggregator(self):
        self.aggregator = live.Program("aggregator", self.site.folder, [
            self.site.binaries / "l4-aggregator", "--config", self.settings])
        self.site.programs.append(self.aggregator)

    def figures(self, program):
        status, text = fetch(f"http://127.0.0.1:{self.ports[program]}/metrics")
        return text if status == 200 else ""


class Prometheus:
    """A real Prometheus, with the shipped configuration for these two programs and all times
    short."""

    def __init__(self, watched):
        folder = watched.site.folder / "prometheus"
        folder.mkdir()
        self.port = live.free_port()
        rules = re.sub(r"\bfor: \w+", "for: 1s", RULES.read_text())
        (folder / "rules.yml").write_text(rules)
        text = (CONFIG / "prometheus" / "prometheus.yml").read_text()
        text = re.sub(r"(scrape|evaluation)_interval: \w+", r"\1_interval: 1s", text)
        for program, port in (("l4-aggregator", "7440"), ("l4-agent", "7441")):
            text = text.replace(f'"127.0.0.1:{port}"', f'"127.0.0.1:{watched.ports[program]}"')
        config = folder / "prometheus.yml"
        config.write_text(text)
        watched.site.programs.append(live.Program("prometheus", folder, [
            "prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"]))

    def ask(self, path, **arguments):
        query = "?" + urllib.parse.urlencode(arguments) if arguments else ""
        _, text = fetch(f"http://127.0.0.1:{self.port}/api/v1/{path}{query}")
        try:
            return json.loads(text)
        except ValueError:
            return {}

    def up(self):
        targets = self.ask("targets").get("data", {}).get("activeTargets", [])
        return sorted(one["labels"]["job"] for one in targets if one["health"] == "up")

    def rules(self):
        groups = self.ask("rules").get("data", {}).get("groups", [])
        return [rule for group in groups for rule in group["rules"]]

    def firing(self):
        """Names of firing alerts, without the one that always fires."""
        return sorted({rule["name"] for rule in self.rules() if rule["state"] == "firing"} -
                      {ALWAYS})


def names(text):
    return set(re.findall(r"^(l4_\w+)", text, re.M))


def check_exposition(expect, program, text):
    """Names, kinds and labels of a page."""
    prefix = program.replace("-", "_") + "_"
    helps = set(re.findall(r"^# HELP (\S+) \S", text, re.M))
    kinds = dict(re.findall(r"^# TYPE (\S+) (\w+)$", text, re.M))
    there = names(text)
    expect.that(len(there) > 30, f"{program} has figures", text[:300])
    for name in sorted(there):
        expect.that(name.startswith(prefix) or name == "l4_metrics_left_out", f"prefix of {name}")
        expect.that(name in helps and kinds.get(name) in ("counter", "gauge"),
                    f"{name} has HELP and TYPE", kinds.get(name))
        expect.equal(name.endswith("_total"), kinds.get(name) == "counter", f"{name} is a counter")
    allowed = LABELS | ({JOB_LABEL} if program == "l4-aggregator" else set())
    labels = re.findall(r'[{,](\w+)="([^"]*)"', text)
    unknown = {name for name, _ in labels} - allowed
    expect.that(not unknown, f"{program} has labels of closed lists", unknown)
    values = " ".join(value for name, value in labels if name != JOB_LABEL)
    expect.that(NODE not in values and JOB not in values, f"{program} names nobody", values)
    jobs = {value for name, value in labels if name == JOB_LABEL}
    expect.equal(jobs, {JOB} if JOB_LABEL in allowed else set(), f"jobs that {program} names")


def panels(board):
    for panel in board["panels"]:
        yield panel
        yield from panel.get("panels", [])


def check_dashboards(expect, there):
    """Checks the form of the dashboards, and that each metric in them is in `there`; returns all
    their expressions."""
    expressions, uids = [], []
    for path in DASHBOARDS:
        board = json.loads(path.read_text())
        uids.append(board["uid"])
        expect.that(re.fullmatch("[a-z0-9-]{1,40}", board["uid"]), f"{path.name}: a stable uid")
        expect.equal(board["schemaVersion"], SCHEMA_VERSION, f"{path.name}: schemaVersion")
        variables = board["templating"]["list"]
        expect.equal([v["name"] for v in variables if v["type"] == "datasource"], ["datasource"],
                     f"{path.name}: its variable for the data source")
        expressions += [re.search(r"\((.+), \w+\)$", v["definition"]).group(1) for v in variables
                        if v["type"] == "query"]
        all_panels = list(panels(board))
        ids = [panel["id"] for panel in all_panels]
        expect.equal(len(set(ids)), len(ids), f"{path.name}: different ids of panels")
        for panel in all_panels:
            what = f"{path.name}: {panel['title']}"
            expect.that(panel["type"] in PANELS, f"{what}: kind", panel["type"])
            if panel["type"] != "row":
                expressions += check_panel(expect, what, panel)
    expect.that(len(uids) == len(set(uids)) >= 3, "dashboards and their uids", uids)
    for expression in expressions:
        missing = {name for name, _ in SELECTOR.findall(expression)} - there - {"up"}
        expect.that(not missing, f"there is what {expression!r} asks for", missing)
    return expressions


def check_panel(expect, what, panel):
    expect.equal(panel["datasource"]["uid"], "${datasource}", f"{what}: data source")
    expect.that(panel["fieldConfig"]["defaults"].get("unit") in UNITS, f"{what}: unit")
    asked = [target["expr"] for target in panel.get("targets", [])]
    expect.that(asked and all(SELECTOR.search(one) for one in asked), f"{what}: queries", asked)
    refs = [target["refId"] for target in panel.get("targets", [])]
    expect.equal(len(set(refs)), len(refs), f"{what}: different refIds")
    return asked


def check_rules(expect, there):
    """Every metric of the rules exists; every alert is documented and has tests both ways."""
    text = RULES.read_text()
    missing = set(re.findall(r"\bl4_(?:agent|aggregator)_\w+", text)) - there
    expect.that(not missing, "metrics of the rules exist", missing)
    alerts = re.findall(r"^ +- alert: (\w+)$", text, re.M)
    expect.that(len(alerts) > 15 and len(alerts) == len(set(alerts)), "alerts", alerts)
    for key in (r"for: \w+", r"labels: \{severity: (?:critical|warning|info)\}", "summary: .",
                "description: .", "runbook: ."):
        expect.equal(len(re.findall(f"^ +{key}", text, re.M)), len(alerts), f"rules with {key!r}")
    book = (support.ROOT / "docs" / "ALERTS.md").read_text()
    sent = (support.ROOT / "aggregator" / "alert" / "alertmanager.cc").read_text()
    own = set(re.findall(r'return "(L4\w+)";', sent))
    expect.that(own > {"L4JobFailure", "L4Degraded"}, "alerts of the aggregator itself", own)
    expect.equal(sorted(re.findall(r"^### (L4\w+)$", book, re.M)), sorted(own | set(alerts)),
                 "alerts that ALERTS.md explains")
    expect.equal(re.findall(r"ALERTS\.md#(\w+)", text), [name.lower() for name in alerts],
                 "runbooks")
    played = (support.ROOT / "tests" / "integration" / "prometheus_rules.yml").read_text()
    for name in alerts:
        twin = name == ALWAYS or f"name: {name} stays silent" in played
        expect.that(f"name: {name} fires" in played and twin, f"{name} is played both ways")


def promtool(expect, *command, text=None):
    done = subprocess.run(["promtool", *map(str, command)], capture_output=True, text=True,
                          input=text, check=False, timeout=60)
    expect.equal((done.returncode, done.stderr), (0, ""),
                 f"promtool {command[0]} {command[1]}: {done.stdout[-300:]}")


def check_files(expect, pages, folder):
    promtool(expect, "check", "rules", RULES)
    config = CONFIG / "prometheus" / "prometheus.yml"
    promtool(expect, "check", "config", config)
    # Debian's build knows no kubernetes_sd_configs; all else of that file is checked.
    text, count = re.subn("kubernetes_sd_configs: .*", 'static_configs: [{targets: ["x:1"]}]',
                          (config.parent / "kubernetes.yml").read_text())
    text, tokens = re.subn("/etc/prometheus/l4/prometheus.token", str(RULES), text)
    expect.equal((text.count("job_name"), count, tokens), (2, 2, 1), "jobs for Kubernetes")
    kubernetes = folder / "kubernetes.yml"
    kubernetes.write_text(text.replace("[rules.yml]", f"[{RULES}]"))
    promtool(expect, "check", "config", kubernetes)
    promtool(expect, "test", "rules", support.ROOT / "tests/integration/prometheus_rules.yml")
    for page in pages.values():
        promtool(expect, "check", "metrics", text=page)


def check_series(expect, prometheus, expressions):
    """Each selector finds series, each expression can be computed."""
    for wanted in sorted({name + labels for one in expressions
                          for name, labels in SELECTOR.findall(one)}):
        found = wait_for(lambda: prometheus.ask("query", query=wanted)["data"]["result"], 10)
        expect.that(found, f"{wanted} finds series")
    for one in expressions:
        answer = prometheus.ask("query", query=one)
        expect.equal(answer.get("status"), "success", f"{one!r}: {answer.get('error')}")


def check_live(expect, watched, expressions):
    prometheus = Prometheus(watched)
    expect.that(wait_for(lambda: prometheus.up() == sorted(watched.ports), 20), "both are up",
                prometheus.ask("targets"))
    wait_for(lambda: all(rule["health"] == "ok" for rule in prometheus.rules()), 10)
    rules = prometheus.rules()
    expect.equal((len(rules), {rule["health"] for rule in rules}),
                 (RULES.read_text().count("- alert: "), {"ok"}), "rules that are loaded")
    replaced = [re.sub(r"\$(?:aggregator|node|job)\b", ".*",
                       re.sub(r"\$__(?:rate_interval|range)\b", "1m", one)) for one in expressions]
    check_series(expect, prometheus, replaced + [rule["query"] for rule in rules])
    found = prometheus.ask("query", query=f'l4_aggregator_job_lines_total{{{JOB_LABEL}="{JOB}"}}')
    expect.equal([(one["metric"]["job"], one["value"][1]) for one in found["data"]["result"]],
                 [("l4-aggregator", "500")], "Prometheus' own label stays beside that of a job")
    expect.that(wait_for(lambda: not prometheus.firing(), 10), "nothing fires while all is well",
                prometheus.firing())
    watched.aggregator.end(signal.SIGKILL)
    expect.that(wait_for(lambda: "L4AggregatorDown" in prometheus.firing(), 15),
                "the killed aggregator is told", prometheus.firing())
    expect.that("L4AgentMetricsMissing" not in prometheus.firing(), "the agent is still there")
    watched.start_aggregator()
    expect.that(wait_for(lambda: "L4AggregatorDown" not in prometheus.firing(), 15),
                "it is over once it is back", prometheus.firing())
    connected = "l4_aggregator_agents_connected == 1"
    expect.that(wait_for(lambda: prometheus.ask("query", query=connected)["data"]["result"], 60),
                "the agent is back at the aggregator")
    watched.agent.end(signal.SIGKILL)
    told = {"L4AgentMetricsMissing", "L4AgentsLost"}
    expect.that(wait_for(lambda: told <= set(prometheus.firing()), 90),
                "the killed agent is told, by its page and by the aggregator", prometheus.firing())
    watched.agent = watched.site.start_agent(NODE)
    expect.that(wait_for(lambda: not told & set(prometheus.firing()), 60),
                "it is over once it is back", prometheus.firing())


def main():
    l4, expect = support.start(sys.argv, "prometheus")
    with tempfile.TemporaryDirectory() as folder:
        watched = Watched(folder, pathlib.Path(l4.binary).parent)
        writer = live.Writer([watched.site.logs / NODE / "rank0.log"])
        try:
            watched.start_aggregator()
            wait_for(lambda: watched.figures("l4-aggregator"), 20)
            watched.agent = watched.site.start_agent(NODE)
            writer.write(500)
            for program in watched.ports:
                expect.that(wait_for(lambda: f"{program.replace('-', '_')}_lines_total 500\n" in
                                     watched.figures(program), 20), f"{program} counts the lines")
            pages = {program: watched.figures(program) for program in watched.ports}
            for program, page in pages.items():
                check_exposition(expect, program, page)
            agent = pages["l4-agent"]
            steps = re.findall(r'^l4_agent_shed_total\{step="(\w+)"\} 0$', agent, re.M)
            expect.equal(sorted(steps), ["counts", "examples", "order", "parameters"],
                         "each step of shedding is counted")
            expect.equal(len(re.findall(r'^l4_agent_shed_oversize_total\{', agent, re.M)), 4,
                         "and each of batches that are too long")
            there = names("".join(pages.values()))
            expressions = check_dashboards(expect, there)
            check_rules(expect, there)
            if not all(map(shutil.which, ("prometheus", "promtool"))):
                print("skipped: prometheus and promtool are not there (tools/setup installs them)")
                return expect.end() or support.SKIPPED
            check_files(expect, pages, watched.site.folder)
            check_live(expect, watched, expressions)
        finally:
            writer.close()
            watched.site.end()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
