"""Whether Kubernetes would take the objects of config/kubernetes: their fields by a schema of those
that are used (kubernetes.schema.json), and what they name in each other.

`check` takes the output of `kubectl kustomize`; it can also spoil it in each of SPOILED's ways, all
of which must be seen.
"""
import copy
import json
import pathlib

import jsonschema
import yaml

SCHEMA = pathlib.Path(__file__).with_name("kubernetes.schema.json")
SECRETS = {"l4-keys": {"aggregator.key", "allow-list", "tokens", "pod.token"},
           "l4-fleet-key": {"fleet.key"}}  # as kustomization.yaml has them made


def misshapen(schema, one):
    kind = one.get("kind")
    if kind not in schema["definitions"]:
        yield f"kind {kind!r} is not known"
        return
    whole = {"definitions": schema["definitions"], "allOf": [{"$ref": f"#/definitions/{kind}"}]}
    for error in jsonschema.Draft7Validator(whole).iter_errors(one):
        yield f"{kind} {'.'.join(map(str, error.absolute_path))}: {error.message}"


def has(labels, selector):
    return selector.items() <= labels.items()


def unfitting(objects):
    """Names that lead nowhere, labels that fit nothing."""
    by_kind = {}
    for one in objects:
        by_kind.setdefault(one["kind"], {})[one["metadata"]["name"]] = one
    workloads = [*by_kind.get("DaemonSet", {}).values(), *by_kind.get("Deployment", {}).values()]
    pods = [(one["metadata"]["name"], one["spec"]["template"]) for one in workloads]
    for one in workloads:
        if not has(one["spec"]["template"]["metadata"]["labels"],
                   one["spec"]["selector"]["matchLabels"]):
            yield f"{one['metadata']['name']}: the selector does not fit the pods' labels"
    for name, pod in pods:
        yield from unfitting_volumes(name, pod["spec"], by_kind)
    for kind, selected in (("Service", lambda one: one["spec"]["selector"]),
                           ("NetworkPolicy",
                            lambda one: one["spec"]["podSelector"]["matchLabels"])):
        for name, one in by_kind.get(kind, {}).items():
            fits = [pod for _, pod in pods if has(pod["metadata"]["labels"], selected(one))]
            if not fits:
                yield f"{kind} {name}: no pod has these labels"
                continue
            open_ports = {word for pod in fits for part in pod["spec"]["containers"]
                          for port in part.get("ports", [])
                          for word in (port.get("name"), port["containerPort"])}
            named = [port.get("targetPort", port["port"]) for port in one["spec"].get("ports", [])]
            named += [port["port"] for rule in one["spec"].get("ingress", [])
                      for port in rule.get("ports", [])]
            for port in named:
                if port not in open_ports:
                    yield f"{kind} {name}: the pods have no port {port}"
    for one in objects:
        if one["kind"] != "Namespace" and \
                one["metadata"].get("namespace") not in by_kind.get("Namespace", {}):
            yield f"{one['kind']} {one['metadata']['name']}: its namespace is not made"


def unfitting_volumes(name, pod, by_kind):
    keys = {}
    for volume in pod.get("volumes", []):
        if "configMap" in volume:
            made = by_kind.get("ConfigMap", {}).get(volume["configMap"]["name"])
            keys[volume["name"]] = set(made["data"]) if made else None
        elif "secret" in volume:
            keys[volume["name"]] = SECRETS.get(volume["secret"]["secretName"])
        elif "persistentVolumeClaim" in volume:
            is_there = volume["persistentVolumeClaim"]["claimName"] in \
                by_kind.get("PersistentVolumeClaim", {})
            keys[volume["name"]] = set() if is_there else None
        else:
            keys[volume["name"]] = set()
    for volume, found in keys.items():
        if found is None:
            yield f"{name}: what volume {volume} names is not made"
    used = set()
    for part in pod["containers"]:
        places = [mount["mountPath"] for mount in part.get("volumeMounts", [])]
        if len(places) != len(set(places)):
            yield f"{name}: two mounts have one place"
        for mount in part.get("volumeMounts", []):
            used.add(mount["name"])
            if mount["name"] not in keys:
                yield f"{name}: there is no volume {mount['name']}"
            elif "subPath" in mount and mount["subPath"] not in (keys[mount["name"]] or set()):
                yield f"{name}: volume {mount['name']} has no {mount['subPath']}"
    for volume in keys.keys() - used:
        yield f"{name}: volume {volume} is mounted nowhere"


def wrong(objects):
    schema = json.loads(SCHEMA.read_text())
    found = [row for one in objects for row in misshapen(schema, one)]
    return found or list(unfitting(objects))


def container(objects, kind):
    one = next(one for one in objects if one["kind"] == kind)
    return one["spec"]["template"]["spec"]["containers"][0]


def of_kind(objects, kind):
    return next(one for one in objects if one["kind"] == kind)["spec"]


def pod(objects, kind="DaemonSet"):
    return of_kind(objects, kind)["template"]["spec"]


SPOILED = {
    "an unknown field": lambda o: container(o, "DaemonSet").update(imagePullPolice="Always"),
    "a text for a number": lambda o: of_kind(o, "Deployment").update(replicas="1"),
    "no image": lambda o: container(o, "DaemonSet").pop("image"),
    "no selector": lambda o: of_kind(o, "DaemonSet").pop("selector"),
    "another label": lambda o: of_kind(o, "DaemonSet")["selector"]["matchLabels"].update(
        {"app.kubernetes.io/name": "agent"}),
    "a port out of range": lambda o: container(o, "DaemonSet")["ports"][0].update(
        containerPort=74410),
    "a port that no pod has": lambda o: of_kind(o, "Service")["ports"][0].update(
        targetPort="wires"),
    "a policy for no pod": lambda o: of_kind(o, "NetworkPolicy")["podSelector"].update(
        matchLabels={"app": "x"}),
    "a mount without a volume": lambda o: container(o, "DaemonSet")["volumeMounts"][0].update(
        name="setting"),
    "a volume without a mount": lambda o: pod(o)["volumes"].append(
        {"name": "more", "hostPath": {"path": "/more"}}),
    "a key that the map lacks": lambda o: container(o, "Deployment")["volumeMounts"][0].update(
        subPath="aggregators.toml"),
    "a secret that nobody makes": lambda o: next(
        v for v in pod(o)["volumes"] if "secret" in v)["secret"].update(secretName="l4-fleet"),
    "a claim that is not there": lambda o: next(
        v for v in pod(o, "Deployment")["volumes"] if "persistentVolumeClaim" in v)[
            "persistentVolumeClaim"].update(claimName="l4"),
    "two sources of one volume": lambda o: pod(o)["volumes"][0].update(
        hostPath={"path": "/etc/l4"}),
    "a capability with CAP_": lambda o: container(o, "DaemonSet")["securityContext"].update(
        capabilities={"add": ["CAP_SYSLOG"]}),
    "another API": lambda o: next(one for one in o if one["kind"] == "Deployment").update(
        apiVersion="extensions/v1beta1"),
    "another namespace": lambda o: next(one for one in o if one["kind"] == "Service")[
        "metadata"].update(namespace="default"),
}


def check(expect, text, what, spoil=False):
    objects = [one for one in yaml.safe_load_all(text) if one]
    expect.equal(wrong(objects), [], f"{what}: what is wrong with the objects")
    for how, change in SPOILED.items() if spoil else ():
        others = copy.deepcopy(objects)
        change(others)
        expect.that(wrong(others), f"{what}: {how} is seen")
