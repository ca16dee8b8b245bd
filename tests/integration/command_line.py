#!/usr/bin/env python3
"""`l4 completion` in a real bash, `l4 check-config` on configs of each program, client.toml.

usage: command_line.py L4
"""
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import support

CONFIG = pathlib.Path(__file__).resolve().parents[2] / "config"


def completed(l4, *words):
    """Bash's completions for the last of `words`."""
    quoted = " ".join(f"'{word}'" for word in ("l4",) + words)
    script = (f"source <('{l4}' completion bash) && COMP_WORDS=({quoted}) && "
              f"COMP_CWORD={len(words)} && _l4_words && printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    run = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, timeout=60)
    return run.stdout.decode().split()


def helped(l4, *words):
    run = subprocess.run([l4, *words, "--help"], capture_output=True, timeout=60)
    return run.stdout.decode()


def leaves(l4, words=()):
    """Each command without subcommands, as its words, with its help."""
    text = helped(l4, *words)
    inner = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.M)
    if not inner:
        yield words, text
        return
    for name in re.findall(r"^  ([a-z][a-z-]*)(?: |$)", inner.group(1), re.M):
        yield from leaves(l4, (*words, name))


def check_help(expect, l4):
    """Each command's help lists its exit statuses, each can answer with JSON, and one table lists
    all."""
    all_leaves = dict(leaves(l4))
    expect.that(len(all_leaves) > 30, "commands are found", list(all_leaves))
    commands = (CONFIG.parent / "docs" / "COMMANDS.md").read_text()
    readme = (CONFIG.parent / "README.md").read_text()
    for words, text in all_leaves.items():
        name = " ".join(words)
        expect.that(re.search(r"^Exit status:\n  0   ", text, re.M), f"{name}: exit status", text)
        expect.that(words == ("completion",)  # a script is what it gives
                    or re.search(r"-o,--output,--format (text|toml)\|json", text),
                    f"{name}: -o json", text)
        first, *rest = words
        listed = re.findall(rf"^l4 {first}(?: (.*))?$", readme, re.M)
        expect.that(listed and all(any(re.search(rf"\b{word}\b", line) for line in listed)
                                   for word in rest), f"{name}: a line of README.md", listed)
        row = re.search(rf"^\| `l4 {name}[^|]*\|([^|]*)\|([^|]*)\|$", commands, re.M)
        if expect.that(row, f"{name}: a row of docs/COMMANDS.md"):
            said = re.search(r"^Exit status:\n((?:  \d.*\n|   .*\n)+)", text + "\n", re.M).group(1)
            expect.equal(re.findall(r"\d+", row.group(2)), re.findall(r"^  (\d+) ", said, re.M),
                         f"{name}: exit status of the table")
            expect.that(row.group(1).split()[0] in ("-", "read", "operate"), f"{name}: role",
                        row.group(1))


def check_typos(expect, l4):
    """A misspelt word of a closed list gets a suggestion."""
    for words, said in ((("jobs", "-o", "jsn"), "jsn is none of text, json; did you mean json?"),
                        (("outcome", "x", "sucess"), "did you mean success?"),
                        (("diagnose", "x", "--scoring", "papr"), "did you mean paper?"),
                        (("keys", "token", "x", "--role", "oprate"), "did you mean operate?"),
                        (("completion", "bsh"), "did you mean bash"),
                        (("faults", "export", "-o", "tml"), "did you mean toml?"),
                        (("check-config", "x", "--as", "agnt"), "did you mean agent?"),
                        (("jobs", "-o", "zzzzzzzz"), "none of text, json\n")):
        run = subprocess.run([l4, *words], capture_output=True, timeout=60)
        expect.that(run.returncode == 2 and said in run.stderr.decode(), f"{words}: {said}",
                    run.stderr.decode())


def check_parts(expect, l4):
    """The parts that --without knows stand in the help, in README.md and in docs/DESIGN.md."""
    run = subprocess.run([l4, "diagnose", "x", "--without", "library,words"], capture_output=True,
                         timeout=60)
    said = re.search(r"--without: words: .*there are (.*)", run.stderr.decode())
    if not expect.that(run.returncode == 2 and said, "an unknown part", run.stderr.decode()):
        return
    names = said.group(1).split(", ")
    expect.that(len(names) > 5, "parts", names)
    for where, text in (("--help", helped(l4, "diagnose")),
                        ("README.md", (CONFIG.parent / "README.md").read_text()),
                        ("docs/DESIGN.md", (CONFIG.parent / "docs" / "DESIGN.md").read_text())):
        missing = [name for name in names if not re.search(rf"[\s`]{name}[,`\s]", text)]
        expect.equal(missing, [], f"{where}: parts of --without")


def check_json(expect, l4, folder):
    """JSON of commands that formerly had text only."""
    keys = folder / "json-keys"

    def run(*words, status=0):
        done = subprocess.run([l4, *map(str, words), "-o", "json"], capture_output=True, timeout=60)
        expect.equal(done.returncode, status, f"{words[:2]}: exit")
        return json.loads(done.stdout)

    made = run("keys", "init", "--dir", keys)
    expect.equal((made["schema"], made["made"]),
                 ("l4.keys/1", [f"{keys}/aggregator.key", f"{keys}/allow-list"]), "keys init")
    expect.equal(run("keys", "add", "a", "b", "--dir", keys)["added"], ["a", "b"], "keys add")
    (keys / "nodes" / "b.key").unlink()
    rows = run("keys", "list", "--dir", keys)["keys"]
    expect.equal([(row["name"], row["key_file"]) for row in rows],
                 [("a", f"{keys}/nodes/a.key"), ("b", None)], "keys list")
    expect.that(all(len(row["public_key"]) == 40 for row in rows), "public keys", rows)
    expect.equal(run("keys", "revoke", "a", "--dir", keys)["revoked"], ["a"], "keys revoke")
    token = run("keys", "token", "ops", "--role", "operate", "--dir", keys)
    expect.that((token["name"], token["role"]) == ("ops", "operate") and len(token["token"]) > 20,
                "keys token", token)
    good, bad = CONFIG / "diagnose.toml", folder / "json-bad.toml"
    bad.write_text("[decode]\nline_byts_max = 7\n")
    checks = run("check-config", good, bad, status=2)
    expect.equal([(row["usable"], row["program"]) for row in checks["files"]],
                 [(True, "l4 diagnose"), (False, "l4 diagnose")], "check-config")
    expect.that(checks["files"][0]["error"] is None and "json-bad.toml:2: line_byts_max: unknown "
                "key; did you mean " in checks["files"][1]["error"], "what is wrong", checks)
    log = folder / "json.log"
    log.write_text("job 1 is \x1b[2J there\njob 2 is \x1b[2J there\nanother matter\n")
    parsed = run("parse", log)
    ids = [row["template_id"] for row in parsed["lines"]]
    expect.equal(([row["line"] for row in parsed["lines"]], ids[0] == ids[1] != ids[2]),
                 ([1, 2, 3], True), "parse: lines")
    expect.equal({row["template_id"]: row["count"] for row in parsed["templates"]},
                 {ids[0]: 2, ids[2]: 1}, "parse: templates")
    rows = subprocess.run([l4, "parse", log], capture_output=True, timeout=60).stdout.decode()
    expect.equal(rows.split(), [word for row in parsed["lines"]
                                for word in (str(row["line"]), row["template_id"])],
                 "parse: the same as text")


def check_completion(expect, l4):
    expect.equal(completed(l4, "snap"), ["snapshot"], "a command is completed")
    expect.that({"list", "show", "match", "test"} <= set(completed(l4, "faults", "")),
                "so are the commands of a command")
    expect.that("--history" in completed(l4, "diagnose", "/logs", "--h"), "and options")
    expect.that("--history" not in completed(l4, "jobs", "--"), "of that command alone")
    expect.equal(completed(l4, "jobs", "-o", ""), ["text", "json"], "values of a closed list")
    expect.equal(completed(l4, "diagnose", ""), [], "files are left to the shell")
    expect.equal(completed(l4, "snapshot", "job", "--diff", ""), [], "so is a name of any kind")
    expect.equal(completed(l4, "diagnose", "/logs", "faults", "--fam"), [],
                 "a word that is no command here leads nowhere")
    for shell, tool in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])):
        run = subprocess.run([l4, "completion", shell], capture_output=True, timeout=60)
        expect.that(run.returncode == 0 and b"snapshot" in run.stdout, f"a script for {shell}")
        if shutil.which(tool[0]):
            parsed = subprocess.run(tool, input=run.stdout, capture_output=True, timeout=60)
            expect.equal((parsed.returncode, parsed.stderr), (0, b""), f"{shell} reads it")
    run = subprocess.run([l4, "completion", "tcsh"], capture_output=True, timeout=60)
    expect.that(run.returncode == 2 and b"tcsh" in run.stderr, "another shell is refused")


def check_client_file(expect, l4, folder):
    """Flag, environment, file, in that order; the file's token goes to the file's address alone."""
    file, token = folder / "home" / "l4" / "client.toml", folder / "home" / "l4" / "my.token"
    file.parent.mkdir(parents=True)
    heard = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            heard.append(self.headers.get("Authorization", ""))
            body = b'{"jobs": [], "next": null}'
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    token.write_text("of-the-file\n")

    def asked(*flags, **environment):
        heard.clear()
        kept = {key: value for key, value in os.environ.items() if not key.startswith("L4_")}
        run = subprocess.run([l4, "jobs", *flags], capture_output=True, timeout=60, env={
            **kept, "XDG_CONFIG_HOME": str(folder / "home"), **environment})
        return run.returncode, list(heard), run.stderr.decode()

    file.write_text(f'[client]\naddress = "{url}"\ntoken_file = "my.token"\n')
    expect.equal(asked()[:2], (0, ["Bearer of-the-file"]), "client.toml: address and token")
    expect.equal(asked(L4_TOKEN="own")[:2], (0, ["Bearer own"]), "L4_TOKEN comes first")
    expect.equal(asked("--address", url)[:2], (0, [""]), "its token goes to its address alone")
    status, _, said = asked(L4_ADDRESS="http://127.0.0.1:1")
    expect.that(status == 3 and "127.0.0.1:1" in said, "L4_ADDRESS comes first", said)
    for text, word in (('[client]\nadress = "x"\n', "adress"), ("[client\n", ":1"),
                       ('[client]\naddress = "nowhere"\n', "address")):
        file.write_text(text)
        status, _, said = asked()
        expect.that(status == 2 and "client.toml" in said and word in said, f"{text!r}", said)
        expect.that(checked(l4, "--as", "client", file)[0] == 2, f"check-config of {text!r}")
    status, _, said = asked(L4_CLIENT=str(folder / "nowhere.toml"))
    expect.that(status == 2 and "nowhere.toml" in said, "L4_CLIENT that is not there", said)
    file.write_text('[client]\ntoken_file = "my.token"\n')
    expect.equal(checked(l4, file)[0], 0, "check-config of a good one")
    status, out, _ = checked(l4, CONFIG / "client.toml")
    expect.that(status == 0 and "l4 can use it" in out, "the one that ships", out)
    token.unlink()
    status, _, said = checked(l4, file)
    expect.that(status == 2 and "my.token" in said, "a token file that is gone", said)
    server.shutdown()
    server.server_close()


def checked(l4, *arguments):
    run = subprocess.run([l4, "check-config", *map(str, arguments)], capture_output=True,
                         timeout=60)
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def check_configs(expect, l4, folder):
    keys = folder / "keys"
    for command in (["init"], ["add", "node-01"]):
        subprocess.run([l4, "keys", *command, "--dir", keys], check=True, capture_output=True,
                       timeout=60)
    agent, aggregator = folder / "agent.toml", folder / "aggregator.toml"
    agent.write_text(f'[link]\nkey = "{next(keys.rglob("node-01.key"))}"\n'
                     '[logs]\nsources = ["/var/log/job/*"]\n')
    aggregator.write_text(f'[wire]\nkey = "{next(keys.rglob("aggregator.key"))}"\n'
                          f'allow_list = "{next(keys.rglob("allow*"))}"\n')
    exit_code, out, err = checked(l4, agent, aggregator, CONFIG / "diagnose.toml")
    expect.equal((exit_code, err), (0, ""), "good configs of all three")
    expect.equal([line.split(": ", 1)[1] for line in out.splitlines() if line[0] != " "],
                 ["l4-agent can use it", "l4-aggregator can use it", "l4 diagnose can use it"],
                 "each is known by its tables")
    sources = [line for line in out.splitlines() if line[0] == " "]
    expect.that(len(sources) == 1 and sources[0].startswith("  /var/log/job/*: 0 logs: "),
                "what an agent's sources match", out)
    bad = folder / "bad.toml"
    bad.write_text(agent.read_text() + "[memory]\nqueue_mib = 0\n")
    exit_code, out, err = checked(l4, bad, aggregator)
    expect.equal(exit_code, 2, "one that is wrong")
    expect.that("bad.toml:6" in err and "queue_mib" in err, "file, line and key", err)
    expect.that("aggregator.toml: l4-aggregator" in out, "the others are looked at all the same")
    bad.write_text("[memory]\n")
    exit_code, out, err = checked(l4, bad)
    expect.that(exit_code == 2 and "--as" in err, "one that tells nothing", err)
    expect.equal(checked(l4, "--as", "diagnose", bad)[0], 0, "until it is said")
    exit_code, out, err = checked(l4, folder / "nowhere.toml")
    expect.that(exit_code == 2 and "nowhere.toml" in err, "one that is not there", err)


def main():
    l4 = pathlib.Path(sys.argv[1]).resolve()
    expect = support.Expectations("command_line")
    check_help(expect, l4)
    check_typos(expect, l4)
    check_parts(expect, l4)
    with tempfile.TemporaryDirectory() as folder:
        check_json(expect, l4, pathlib.Path(folder))
        check_completion(expect, l4)
        check_configs(expect, l4, pathlib.Path(folder))
        check_client_file(expect, l4, pathlib.Path(folder))
    return expect.end()


if __name__ == "__main__":
    sys.exit(main())
