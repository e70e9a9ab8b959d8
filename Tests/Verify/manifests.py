"""Checks that the Kubernetes manifests agree with each other and with the configuration that they contain.

    python3 Tests/Verify/manifests.py FOLDER

Writes the configuration of the ConfigMap and the rules of the PrometheusRule into FOLDER. Needs PyYAML.
"""
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KUBERNETES = ROOT / "deploy/kubernetes"
ALERTS = ROOT / "deploy/prometheus/alerts.yml"
MIB = 1 << 20

problems = []


def expect(condition, text):
    if not condition:
        problems.append(text)


def manifest(name):
    return list(yaml.safe_load_all((KUBERNETES / f"{name}.yaml").read_text()))


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)(ms|s|m)", text).groups()
    return int(number) * {"ms": 0.001, "s": 1, "m": 60}[unit]


def bytes_of(text):
    number, unit = re.fullmatch(r"(\d+)(Ki|Mi|Gi|KiB|MiB|GiB)", text).groups()
    return int(number) << {"K": 10, "M": 20, "G": 30}[unit[0]]


def port(address):
    return int(address.rpartition(":")[2])


def main():
    folder = pathlib.Path(sys.argv[1])
    text = manifest("configmap")[0]["data"]["tributary.yaml"]
    (folder / "tributary.yaml").write_text(text)
    config = yaml.safe_load(text)
    pod = manifest("deployment")[0]["spec"]["template"]
    container = pod["spec"]["containers"][0]

    # The two seconds in which a worker that hangs is abandoned, one for the log, and something to spare.
    drain = seconds(config["drain"]["delay"]) + seconds(config["drain"]["timeout"]) + 5
    grace = pod["spec"]["terminationGracePeriodSeconds"]
    expect(grace >= drain, f"terminationGracePeriodSeconds {grace} is shorter than the drain, {drain} s")

    limits = config["limits"]
    needed = 64 * MIB + bytes_of(limits["buffered_bytes"]) + 8192 * limits["connections"]
    memory = bytes_of(container["resources"]["limits"]["memory"])
    expect(memory >= needed, f"the memory limit is {memory}, less than {needed} (docs/operate/sizing.md)")

    ports = {entry["name"]: entry["containerPort"] for entry in container["ports"]}
    expect(ports["http"] == port(config["listen"]), "listen is the container's port http")
    expect(ports["admin"] == port(config["admin"]["address"]), "admin is the container's port admin")
    for name, path in [("readinessProbe", "/readyz"), ("livenessProbe", "/livez"), ("startupProbe", "/readyz")]:
        probe = container[name]["httpGet"]
        expect(probe["port"] == "admin" and probe["path"] == path, f"{name} asks {path}")
    mounts = container["volumeMounts"]
    expect(all("subPath" not in mount for mount in mounts), "a subPath is never updated")
    expect("--watch" in container["args"], "changes of the ConfigMap are reloaded")
    check = pod["spec"]["initContainers"][0]
    expect(check["args"] == ["check", container["args"][-1]], "the init container checks the served file")
    for key in ["image", "securityContext", "volumeMounts"]:
        expect(check[key] == container[key], f"{key} of the init container differs")
    expect(container["args"][-1].startswith(mounts[0]["mountPath"] + "/"), "the mounted file is served")

    labels = pod["metadata"]["labels"]
    selectors = [
        manifest("deployment")[0]["spec"]["selector"]["matchLabels"],
        manifest("poddisruptionbudget")[0]["spec"]["selector"]["matchLabels"],
        manifest("networkpolicy")[0]["spec"]["podSelector"]["matchLabels"],
    ] + [service["spec"]["selector"] for service in manifest("service")]
    for selector in selectors:
        expect(selector.items() <= labels.items(), f"{selector} selects the pods")
    monitored = manifest("servicemonitor")[0]["spec"]
    services = [
        service for service in manifest("service")
        if monitored["selector"]["matchLabels"].items() <= service["metadata"].get("labels", {}).items()
    ]
    expect(len(services) == 1, "the ServiceMonitor selects one service")
    expect(
        all(end["port"] in [p["name"] for p in services[0]["spec"]["ports"]] for end in monitored["endpoints"]),
        "the ServiceMonitor names a port of the service",
    )
    scaled = manifest("horizontalpodautoscaler")[0]["spec"]
    expect(scaled["scaleTargetRef"]["name"] == manifest("deployment")[0]["metadata"]["name"], "the HPA scales it")
    expect("replicas" not in manifest("deployment")[0]["spec"], "the HPA alone has the number of replicas")
    listed = set(manifest("kustomization")[0]["resources"])
    files = {path.name for path in KUBERNETES.glob("*.yaml")} - {"kustomization.yaml"}
    expect(listed == files, f"the kustomization lists every manifest: {listed ^ files}")

    groups = manifest("prometheusrule")[0]["spec"]["groups"]
    (folder / "rules.yaml").write_text(yaml.safe_dump({"groups": groups}))
    if ALERTS.exists():
        same = groups == yaml.safe_load(ALERTS.read_text())["groups"]
        expect(same, "prometheusrule.yaml differs from alerts.yml: deploy/kubernetes/write-rules writes it")

    for problem in problems:
        print(problem)
    return 1 if problems else 0


sys.exit(main())
