#!/usr/bin/env python3
"""schemas/openapi.yaml describes what the router serves, and nothing else; so do the documents.

usage: openapi_test.py
"""
import json
import pathlib
import re
import sys

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "integration"))
import live_commands  # noqa: E402  (its answers are what the aggregator is expected to send)

METHODS = {"get", "put", "post", "delete", "patch", "options", "trace", "head"}
ROW = re.compile(r'RouteRow\{Route::(\w+),\s*"([A-Z]+)",\s*"([^"]+)",\s*"([^"]+)"\}')
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def routes():
    """(name, method, pattern, what) of each row in routes.h."""
    text = (ROOT / "aggregator" / "http" / "routes.h").read_text(encoding="utf-8")
    rows = ROW.findall(text)
    expect(len(rows) == text.count("RouteRow{"), f"routes.h: {len(rows)} rows were understood")
    return rows


def references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for child in value.values():
            yield from references(child)
    elif isinstance(value, list):
        for child in value:
            yield from references(child)


def resolved(document, reference):
    if not reference.startswith("#/"):
        return (ROOT / "schemas" / reference).is_file()
    for part in reference[2:].split("/"):
        if part not in document:
            return False
        document = document[part]
    return True


def main():
    document = yaml.safe_load((ROOT / "schemas" / "openapi.yaml").read_text(encoding="utf-8"))
    served = {(method, path): (name, what) for name, method, path, what in routes()}
    described = {(method.upper(), path): operation for path, item in document["paths"].items()
                 for method, operation in item.items() if method in METHODS}
    expect(served.keys() == described.keys(),
           f"openapi.yaml and routes.h differ in {sorted(served.keys() ^ described.keys())}")
    components = document["components"]["parameters"]
    for key in served.keys() & described.keys():
        operation, item = described[key], document["paths"][key[1]]
        expect(operation["operationId"] == served[key][0], f"{key}: operationId names the route")
        expect(operation["summary"] == served[key][1], f"{key}: summary is the route's")
        expect("200" in operation["responses"], f"{key}: says what 200 answers")
        given = [components[p["$ref"].rsplit("/", 1)[1]] if "$ref" in p else p
                 for p in item.get("parameters", [])]
        named = {p["name"] for p in given if p["in"] == "path"}
        expect(named == set(re.findall(r"\{(\w+)\}", key[1])), f"{key}: parameters of the path")
    for reference in references(document):
        expect(resolved(document, reference), f"openapi.yaml: {reference} leads nowhere")

    page = (ROOT / "docs" / "OPERATIONS.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `([A-Z]+) (/[^`?]*)", page, re.M))
    expect(listed == served.keys(),
           f"OPERATIONS.md and routes.h differ in {sorted(listed ^ served.keys())}")

    def fits(value, schema):
        whole = {"$ref": f"#/components/schemas/{schema}", "components": document["components"]}
        return jsonschema.Draft202012Validator(whole).is_valid(value)

    for value, schema in ((live_commands.JOB, "Job"), (live_commands.AGENT, "Agent"),
                          (json.loads(live_commands.error("not_found", "no")), "Error")):
        expect(fits(value, schema), f"{schema}: fits what the commands are tested with")
        for key in document["components"]["schemas"][schema]["required"]:
            less = {k: v for k, v in value.items() if k != key}
            expect(not fits(less, schema), f"{schema}: {key} is required")
    for failure in failures:
        print(f"FAILED {failure}")
    print(f"openapi: {len(served)} routes, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
