#!/usr/bin/env python3
"""Checks report files (l4.report/2, l4.report/1) against schemas/report.schema.json.

    tools/check_report.py FILE...     ("-" is standard input)

Says "ok" or names every wrong field by its JSON path. Exit: 0 all good, 1 some are wrong,
2 wrong use or unreadable, 77 the Python module jsonschema is missing (ctest: skipped).
"""
import json
import pathlib
import sys

SCHEMA = pathlib.Path(__file__).resolve().parent.parent / "schemas" / "report.schema.json"
ERRORS_SHOWN_MAX = 20


def refuse_duplicates(pairs):
    keys = [key for key, _ in pairs]
    twice = {key for key in keys if keys.count(key) > 1}
    if twice:
        raise ValueError(f"fields given twice: {', '.join(sorted(twice))}")
    return dict(pairs)


def load(name):
    stream = sys.stdin.buffer if name == "-" else open(name, "rb")
    with stream:
        text = stream.read().decode("utf-8")
    return json.loads(text, object_pairs_hook=refuse_duplicates, parse_constant=refuse_constant)


def refuse_constant(word):
    raise ValueError(f"{word} is not JSON")


def check(validator, name):
    """The wrong fields of one file, as sentences."""
    errors = sorted(validator.iter_errors(load(name)), key=lambda error: list(map(str, error.path)))
    return [f"{error.json_path}: {error.message[:200]}" for error in errors]


def main(names):
    if not names or names[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 2
    try:
        import jsonschema
    except ImportError:
        print("skipped: the Python module jsonschema is missing (Debian: python3-jsonschema)")
        return 77
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    worst = 0
    for name in names:
        try:
            errors = check(validator, name)
        except (OSError, ValueError) as broken:
            print(f"{name}: {broken}")
            worst = 2
            continue
        for error in errors[:ERRORS_SHOWN_MAX]:
            print(f"{name}: {error}")
        if len(errors) > ERRORS_SHOWN_MAX:
            print(f"{name}: and {len(errors) - ERRORS_SHOWN_MAX} more")
        if errors:
            worst = max(worst, 1)
        else:
            print(f"{name}: ok")
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
