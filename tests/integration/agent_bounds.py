#!/usr/bin/env python3
"""l4-agent beyond its own bounds of memory and open files: it leaves out the less important parts
of batches, logs that, shows it on its page of metrics, and still counts every line.

usage: agent_bounds.py L4
"""
import pathlib
import re
import sys
import tempfile
import urllib.request

import live
import support

FILES = 60
DESCRIPTORS = 40
PATIENCE_S = 120 if support.SANITIZED else 40


def figure(port, name):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            text = answer.read().decode()
    except OSError:
        return -1.0
    found = re.search(rf"(?m)^l4_agent_{re.escape(name)} (\S+)$", text)
    return float(found.group(1)) if found else -1.0


def agent_with(site, node, limits):
    port = live.free_port()
    path = site.config(node, f'[metrics]\nlisten = "127.0.0.1:{port}"\n')
    path.write_text(path.read_text().replace("cpu_percent = 0\n", f"cpu_percent = 0\n{limits}\n")
                    + "[memory]\njob_idle_s = 30\n"
                    # Counters of this machine's cards are open files, too; how many, is open.
                    + "[nic]\nenabled = false\n")
    return site.start_agent(node), port


def counted(site, writer, expect, what):
    live.wait_for(lambda: site.counts()["lines"] >= writer.lines, PATIENCE_S)
    counts = site.counts()
    expect.equal((counts["lines"], counts["wrong"], counts["lost"]), (writer.lines, [], 0),
                 f"{what}: lines that are counted, wrong, lost")


def words(count):
    """Words that all differ and have no digit, so that each makes its own template."""
    letters = "bcdfghklmnprstvw"
    for number in range(count):
        yield "".join(letters[number >> shift & 15] + "aeio"[number >> shift & 3]
                      for shift in (0, 4, 8, 12))


def memory(site, writer, expect):
    """One MiB is less than the program itself needs, so the agent is always over its bound."""
    agent, port = agent_with(site, "node-a", "resident_mib = 1")
    writer.write(6000)
    counted(site, writer, expect, "no memory")
    expect.that(live.wait_for(lambda: figure(port, "shedding") >= 1, PATIENCE_S),
                "questions for raw lines wait", figure(port, "shedding"))
    expect.equal(figure(port, 'limit_over{limit="memory"}'), 1, "the bound is passed")
    expect.equal(figure(port, 'limit_passed_total{limit="memory"}'), 1, "it was passed once")
    writer.write(6000)
    counted(site, writer, expect, "no memory, later")
    expect.equal(agent.said().count("bytes of resident memory are at their bound"), 1, "said once")
    path = writer.paths[0]
    text = "".join(f"INFO {word} {word}ing the {word} of {word}s\n" for word in words(15_000))
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)
    writer.lines += text.count("\n")
    expect.that(live.wait_for(lambda: "memory stays at its bound; beginning anew" in agent.said(),
                              PATIENCE_S), "grown, it begins anew", agent.said()[-400:])
    writer.write(600)
    counted(site, writer, expect, "begun anew")
    expect.equal(agent.end()[0], 0, "it ends well")


def descriptors(site, writer, expect):
    agent, port = agent_with(site, "node-b", f"descriptors = {DESCRIPTORS}")
    for _ in range(10):
        writer.write(FILES * 5)
    live.wait_for(lambda: figure(port, 'limit_passed_total{limit="descriptors"}') >= 1, PATIENCE_S)
    expect.equal(figure(port, 'limit_passed_total{limit="descriptors"}'), 1, "it was passed once")
    held = live.wait_for(lambda: 0 < figure(port, "open_files") < DESCRIPTORS, PATIENCE_S)
    expect.that(held, "fewer logs are held open", figure(port, "open_files"))
    expect.that(figure(port, "files_closed_total") > 0, "the others were closed, and counted")
    for _ in range(10):
        writer.write(FILES * 5)
    counted(site, writer, expect, "few descriptors")
    open_now = len(list(pathlib.Path(f"/proc/{agent.process.pid}/fd").iterdir()))
    expect.that(open_now <= DESCRIPTORS + 5, "open files stay about the bound", open_now)
    expect.that(live.wait_for(lambda: "open files are within their bound again" in agent.said(),
                              PATIENCE_S), "said when it is over", agent.said()[-400:])
    over = 'limit_over{limit="descriptors"}'
    live.wait_for(lambda: figure(port, over) == 0, PATIENCE_S)  # the page is a second old
    expect.equal(figure(port, over), 0, "it is passed no longer")
    expect.equal(agent.end()[0], 0, "it ends well")


def main(argv):
    l4, expect = support.start(argv, "agent_bounds")
    for check in (memory, descriptors):
        with tempfile.TemporaryDirectory() as folder:
            site = live.Site(folder, pathlib.Path(l4.binary).parent)
            try:
                site.enrol("node-a", "node-b")
                site.start_server()
                writer = live.Writer([site.logs / f"node-{i // 8}" / f"rank{i}.log"
                                      for i in range(FILES)])
                check(site, writer, expect)
                writer.close()
            finally:
                site.end()
    return expect.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv))
