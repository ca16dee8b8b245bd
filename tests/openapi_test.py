#!/usr/bin/env python3
"""schemas/openapi.yaml and the documents describe exactly the routes that the router serves.

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
ROW = re.compile(r'RouteRow\{"(\w+)",\s*"([A-Z]+)",\s*"([^"]+)",\s*"([^"]+)",'
                 r'\s*Access::(\w+),\s*Reach::(\w+),\s*Sharing::\w+,\s*(k\w+),\s*[\w<>]+\}')
TABLE = ROOT / "aggregator" / "api" / "routes.cc"
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def routes():
    """(name, method, pattern, what, access, reach, list of parameters) of each row in routes.cc."""
    text = TABLE.read_text(encoding="utf-8")
    rows = ROW.findall(text)
    expect(len(rows) == text.count("RouteRow{"), f"routes.cc: {len(rows)} rows were understood")
    return rows


LIST = re.compile(r"constexpr std::array(?:<ParameterRow, 0>)? (k\w+)\{(.*?)\};", re.S)
PARAMETER = re.compile(r'ParameterRow\{"(\w+)",\s*Value::(\w+)\}')
COUNTED = {"type": "integer", "minimum": 1, "maximum": 1000}
ROWS_COUNTED = {**COUNTED, "maximum": 4096}  # of a matrix of scores


def parameters():
    """{route: {name: kind of value}} of routes.cc."""
    text = TABLE.read_text(encoding="utf-8")
    lists = {name: dict(PARAMETER.findall(body)) for name, body in LIST.findall(text)}
    rows = sum(len(known) for name, known in lists.items() if name != "kRoutes")
    expect(rows == text.count("ParameterRow{"), f"routes.cc: {rows} parameters were understood")
    return {row[0]: lists[row[6]] for row in routes()}


def check_queries(document, operation, known, where):
    """Each operation has the parameters that the code takes, and no other."""
    shared = document["components"]["parameters"]
    given = [shared[p["$ref"].rsplit("/", 1)[1]] if "$ref" in p else p
             for p in operation.get("parameters", [])]
    described = {p["name"]: p["schema"] for p in given if p["in"] == "query"}
    expect(described.keys() == known.keys(),
           f"{where}: openapi.yaml and routes.cc differ in "
           f"{sorted(described.keys() ^ known.keys())}")
    for name in described.keys() & known.keys():
        schema, kind = described[name], known[name]
        fits = {"flag": schema["type"] == "boolean", "text": schema["type"] == "string",
                "count": {k: schema.get(k) for k in COUNTED} == COUNTED, "own": True,
                "rows": {k: schema.get(k) for k in ROWS_COUNTED} == ROWS_COUNTED,
                "format": schema.get("enum") == ["json", "toml"]}[kind]
        expect(fits, f"{where}: {name} is said to be {schema}, and read as {kind}")


def check_answers(operation, key, access, reach):
    """Checks the access that the operation needs, and its answer if nothing has changed."""
    method, path = key
    expect((operation.get("security") == []) == (access == "open"), f"{key}: access is {access}")
    if access == "open":
        return
    expect("401" in operation["responses"], f"{key}: says what comes without a token")
    expect(("403" in operation["responses"]) == (access == "change" or reach == "site"),
           f"{key}: 403 of changes, and of what is about the whole site")
    said = operation["responses"].get("404", operation["responses"].get("default"))
    expect(said or reach != "job", f"{key}: 404 of a job that may not be seen")
    stream = path.endswith("/events")
    expect(("304" in operation["responses"]) == (method == "GET" and not stream),
           f"{key}: 304 of what has an ETag")


ROWS = re.compile(r"struct (\w+)Fields \{(.*?)\n\};", re.S)
FIELD = re.compile(r'Field\{"(\w+)", &Row::(\w+)(?:, Absent::(\w+))?\}')
# Members of the answers beside those of the row's list: objects that answers.cc writes as stored.
BESIDE = {"Incident": ["report", "evidence"], "Status": ["absent", "sinks"]}


def check_rows(document):
    """Each row of the answers has the fields of its list in a rows/*fields.h, in this order."""
    text = "".join(file.read_text(encoding="utf-8") for file in
                   sorted((ROOT / "aggregator" / "rows").glob("*fields.h")))
    schemas = document["components"]["schemas"]
    rows = {name: FIELD.findall(body) for name, body in ROWS.findall(text)}
    expect(len(rows) > 5 and sum(map(len, rows.values())) == text.count('Field{"'),
           f"fields.h: {sum(map(len, rows.values()))} fields were understood")
    for name, fields in rows.items():
        if name not in schemas:
            expect(False, f"openapi.yaml has no schema {name}")
            continue
        properties = schemas[name]["properties"]
        expect([key for key, *_ in fields] + BESIDE.get(name, []) == list(properties),
               f"{name}: openapi.yaml and fields.h differ in "
               f"{set(properties) ^ {key for key, *_ in fields} ^ set(BESIDE.get(name, []))}, "
               "or in the order")
        for key, member, absent in fields:
            schema = properties.get(key, {})
            schema = schemas[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema
            expect(key == member, f"{name}: {key} is kept in {member}")
            expect(("null" in schema.get("type", [])) == ("null" in absent),
                   f"{name}: {key} is said to be {schema}, and Absent::{absent or 'never'}")
            expect("missing" in absent or key in schemas[name]["required"],
                   f"{name}: {key} is required")


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
    served = {(row[1], row[2]): (row[0], row[3], row[4], row[5]) for row in routes()}
    described = {(method.upper(), path): operation for path, item in document["paths"].items()
                 for method, operation in item.items() if method in METHODS}
    expect(served.keys() == described.keys(),
           f"openapi.yaml and routes.cc differ in {sorted(served.keys() ^ described.keys())}")
    components = document["components"]["parameters"]
    known = parameters()
    expect(set(document["components"]["securitySchemes"]) == {"token"}, "there are tokens")
    for key in served.keys() & described.keys():
        operation, item = described[key], document["paths"][key[1]]
        expect(operation["operationId"] == served[key][0], f"{key}: operationId names the route")
        expect(operation["summary"] == served[key][1], f"{key}: summary is the route's")
        expect("200" in operation["responses"], f"{key}: says what 200 answers")
        check_queries(document, operation, known.get(served[key][0], {}), key)
        check_answers(operation, key, *served[key][2:])
        given = [components[p["$ref"].rsplit("/", 1)[1]] if "$ref" in p else p
                 for p in item.get("parameters", [])]
        named = {p["name"] for p in given if p["in"] == "path"}
        expect(named == set(re.findall(r"\{(\w+)\}", key[1])), f"{key}: parameters of the path")
    check_rows(document)
    for reference in references(document):
        expect(resolved(document, reference), f"openapi.yaml: {reference} leads nowhere")

    page = (ROOT / "docs" / "API.md").read_text(encoding="utf-8")
    listed = {(method, path): query for method, path, query in
              re.findall(r"^\| `([A-Z]+) (/[^`?]*)\??([^`]*)", page, re.M)}
    expect(listed.keys() == served.keys(),
           f"API.md and routes.cc differ in {sorted(listed.keys() ^ served.keys())}")
    for key in listed.keys() & served.keys():
        named = set(re.findall(r"(\w+)=", listed[key]))
        expect(named == known.get(served[key][0], {}).keys(),
               f"API.md: {key} has {sorted(known.get(served[key][0], {}))}")

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
