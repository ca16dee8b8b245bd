"""A rule pack, a fault file, a list of masks or settings that are broken: exit 2, and the message
names file, line and key. Part of robustness.py.
"""
import os
import shutil

import support

CONFIG = support.ROOT / "config"
PLACES = {"pack": "frameworks/zz_broken.toml", "faults": "faults/zz_broken.toml",
          "masks": "masks.toml", "settings": "diagnose.toml"}
FAULT = """[[fault]]
id = "{id}"
title = "t"
category = "hardware"
subcategory = "accelerator"
patterns = ["{pattern}"]
scope = "rank"
severity = "{severity}"
cause = "c"
fix = "f"
action = "a"
matches = ["xyzzy"]
rejects = ["abc"]
{more}
"""


def fault(id="zz", pattern="xyzzy", severity="error", more=""):
    return FAULT.format(id=id, pattern=pattern, severity=severity, more=more)


# File, its content, a word that the message must hold beside the file's name.
TEXTS = [
    ("pack", "x = [1, ", [":1"]), ("faults", "x = [1, ", [":1"]), ("masks", "x = [1, ", [":1"]),
    ("settings", "x = [1, ", [":1"]),
    ("pack", "", [":1", "name"]), ("faults", "", [":1", "fault"]), ("masks", "# none\n", ["code"]),
    ("pack", "name = 3\n", [":1", "name", "text"]),
    ("pack", 'name = "zz"\nfrobnicate = 1\n', [":2", "frobnicate", "unknown"]),
    ("pack", 'name = "megatron"\n', ["megatron"]),
    ("faults", "fault = 4\n", [":1", "fault", "table"]),
    ("faults", fault() + fault(), ["zz", "id"]),
    ("faults", fault(pattern="(open"), [":6", "patterns", "(open"]),
    ("faults", fault(pattern=""), [":6", "patterns"]),
    ("faults", fault(severity="awful"), [":8", "severity"]),
    ("faults", fault(more="severty = 1"), [":14", "severty", "unknown"]),
    ("faults", fault(more="consequence = 1"), [":14", "consequence", "true or false"]),
    ("masks", "frobnicate = 1\n", [":1", "frobnicate"]),
    ("masks", '[[code]]\nafter = ["a"]\nkind = 5\n', [":3", "kind"]),
    ("masks", '[[code]]\nafter = ["a"]\nafterr = ["b"]\n', [":3", "afterr", "unknown"]),
    ("masks", '[[prefixed_code]]\nprefixes = ["E"]\ndigits = 99\n', [":3", "digits"]),
    ("settings", "drain = 6\n", [":1", "drain", "table"]),
    ("settings", "[drain]\ntemplate_max = 500\n", [":2", "template_max", "unknown"]),
    ("settings", "[drain]\ntemplates_max = 1\n", [":2", "templates_max", "from"]),
    ("settings", '[drain]\ntemplates_max = "many"\n', [":2", "templates_max", "integer"]),
    ("settings", "[drain]\ntemplates_max = 500\ntemplates_max = 501\n", [":3"]),
    ("settings", '[paths]\nmasks = "nowhere.toml"\n', ["nowhere.toml"]),
    ("settings", '[paths]\nfaults = "masks.toml"\n', ["masks.toml"]),
    ("settings", '"\\u001b[31mred" = 1\n', [":1", "unknown"]),
]


def others():
    """Files that hold no text: name, how to make it, a word of the message."""
    return [
        ("folder", lambda path: path.mkdir(), "folder"),
        ("dangling link", lambda path: path.symlink_to("nowhere"), "cannot be opened"),
        ("FIFO", os.mkfifo, "no file"),
        ("binary", lambda path: path.write_bytes(bytes(range(256)) * 400), ":1"),
        ("UTF-16", lambda path: path.write_bytes("name = 1\n".encode("utf-16")), ":1"),
        ("10 MB line", lambda path: path.write_bytes(b'x = "' + b"a" * 10_000_000 + b'"\n'), ":1"),
        ("deep nesting", lambda path: path.write_bytes(b"x = " + b"[" * 100_000), ":1"),
        ("10 MB of comments and a bad line",
         lambda path: path.write_bytes(b"# none\n" * 1_500_000 + b"]\n"), ":1500001"),
        ("65 MB", lambda path: (path.touch(), os.truncate(path, 65 << 20)), "larger"),
    ]


def refused(l4, expect, folder, where, make, words, what):
    config = folder / "config"
    if config.exists():
        shutil.rmtree(config)
    shutil.copytree(CONFIG, config)
    path = config / PLACES[where]
    path.unlink(missing_ok=True)
    make(path)
    done = l4.run("diagnose", support.SAMPLE, "--config", config / "diagnose.toml", timeout_s=120)
    what = f"{where}: {what}"
    expect.equal(done.status, 2, f"{what}: exit")
    for word in words:
        expect.that(word in done.stderr, f"{what}: the message holds {word!r}", done.stderr)
    expect.that("\x1b" not in done.stderr, f"{what}: no terminal code", done.stderr)


def run(l4, expect, folder):
    for where, text, words in support.some_of(TEXTS):
        name = PLACES[where].rsplit("/", maxsplit=1)[-1]
        named = [] if "nowhere.toml" in words or "masks.toml" in words else [name]
        refused(l4, expect, folder, where, lambda path, text=text: path.write_text(text),
                named + words, text[:40])
    for where, place in PLACES.items():
        for what, make, word in support.some_of(list(others())):
            name = place.rsplit("/", maxsplit=1)[-1]
            refused(l4, expect, folder, where, make, [name, word], what)
