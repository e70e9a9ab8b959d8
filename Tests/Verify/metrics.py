#!/usr/bin/env python3
"""Runs the metrics, the alerts and the dashboard against a real Prometheus that scrapes the demo.

    Tests/Verify/metrics.py .build/debug/tributary [--seconds 60] [--port 26600]

Checks: the page of metrics in both formats with promtool and with the parsers of Python's prometheus_client;
the rules and their test cases with promtool; every query of the dashboard and of the alerts, which must return
data after a minute of the demo under load. Needs promtool, prometheus, prometheus_client and PyYAML;
`script/verify metrics` installs them. Everything runs on loopback.
"""

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import yaml
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client import parser as prometheus_text

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
RULES = os.path.join(ROOT, "deploy/prometheus")
DASHBOARD = os.path.join(ROOT, "deploy/grafana/tributary.json")
OPENMETRICS = "application/openmetrics-text; version=1.0.0"
SCRAPE_SECONDS = 2
# What a dashboard's variables are while its queries run.
VARIABLES = {"__rate_interval": "1m", "job": "tributary", "instance": ".*", "endpoint": ".*", "backend": ".*"}

failures = []


def check(name, passed, detail=""):
    print(("ok    " if passed else "FAIL  ") + name)
    if not passed:
        failures.append(name)
        for line in str(detail).splitlines()[:20]:
            print("      " + line)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("binary")
    arguments.add_argument("--seconds", type=int, default=60)
    arguments.add_argument("--port", type=int, default=26600)
    options = arguments.parse_args()
    check_rules()
    check_dashboard()
    with tempfile.TemporaryDirectory() as folder:
        demo(options, folder)
    if failures:
        sys.exit(f"{len(failures)} checks failed: {', '.join(failures)}")
    print("all checks passed")


# ---- Files


def check_rules():
    for command in (["check", "config", "prometheus.yml"], ["check", "rules", "--lint=all", "--lint-fatal", "alerts.yml"],
                    ["test", "rules", "alerts.test.yml"]):
        run = subprocess.run(["promtool", *command], cwd=RULES, capture_output=True, text=True)
        print((run.stdout + run.stderr).strip())
        check("promtool " + " ".join(command), run.returncode == 0)
    tests = yaml.safe_load(read(RULES, "alerts.test.yml"))["tests"]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    for rule in rules():
        own = [case for case in cases if case["alertname"] == rule["alert"]]
        labels = [alert["exp_labels"] for case in own for alert in case["exp_alerts"] or []]
        fires = any(rule["labels"].items() <= each.items() for each in labels)
        check(f"{rule['alert']} {rule['labels']} has a case that fires and one that does not",
              fires and any(not case["exp_alerts"] for case in own))
        path, _, section = rule["annotations"]["runbook"].partition("#")
        check(f"{rule['alert']}: {path}#{section} exists", section in sections(read(ROOT, path)))


def sections(page):
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def rules():
    groups = yaml.safe_load(read(RULES, "alerts.yml"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def check_dashboard():
    dashboard = json.loads(read(DASHBOARD))
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    ids = [panel["id"] for panel in dashboard["panels"]]
    check("the panels have different ids", len(ids) == len(set(ids)))
    for panel in panels:
        defaults = panel["fieldConfig"]["defaults"]
        check(f"panel '{panel['title']}' has a description, a unit and the data source of the variable",
              panel["description"] and defaults["unit"] and panel["datasource"]["uid"] == "${datasource}")
    names = {variable["name"] for variable in dashboard["templating"]["list"]} | {"__rate_interval"}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(dashboard))) - {"__all"}
    check("every variable exists", used <= names, used - names)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


# ---- The demo


def demo(options, folder):
    listen, admin = f"127.0.0.1:{options.port}", f"127.0.0.1:{options.port + 1}"
    gateway = subprocess.Popen(
        [options.binary, "serve"], env={**os.environ, "LISTEN": listen, "ADMIN": admin},
        stdout=subprocess.DEVNULL)
    server = None
    try:
        wait_for(f"http://{admin}/readyz", gateway)
        server = start_prometheus(options, folder, admin)
        wait_for(f"http://127.0.0.1:{options.port + 2}/-/ready", server)
        load(listen, options.seconds)
        check_page(admin, folder)
        check_scrapes(options.port + 2)
        check_queries(options.port + 2)
    finally:
        for process in (server, gateway):
            if process is not None:
                process.terminate()
                process.wait(timeout=30)


def start_prometheus(options, folder, admin):
    config = yaml.safe_load(read(RULES, "prometheus.yml"))
    config["global"] = {"scrape_interval": f"{SCRAPE_SECONDS}s", "evaluation_interval": f"{SCRAPE_SECONDS}s"}
    config["scrape_configs"][0]["static_configs"] = [{"targets": [admin]}]
    with open(os.path.join(folder, "prometheus.yml"), "w", encoding="utf-8") as file:
        yaml.safe_dump(config, file)
    shutil.copy(os.path.join(RULES, "alerts.yml"), folder)
    return subprocess.Popen(
        ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
         f"--web.listen-address=127.0.0.1:{options.port + 2}", "--enable-feature=exemplar-storage",
         "--log.level=warn"])


def wait_for(url, process):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit(f"the process ended with {process.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=2) as response:
                if response.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    sys.exit(f"no response of {url}")


def load(listen, seconds):
    """Requests of all kinds, about forty per second."""
    end = time.monotonic() + seconds
    requests = [("/products/42", None), ("/home", None), ("/products/7", None), ("/products/x", None),
                ("/none", None), ("/login", b'{"user":"ann","password":"good"}')]
    counts = {}

    def work(path, body):
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(f"http://{listen}{path}", data=body, timeout=5) as response:
                    status = response.status
            except urllib.error.HTTPError as error:
                status = error.code
            counts[status] = counts.get(status, 0) + 1
            time.sleep(0.1)

    threads = [threading.Thread(target=work, args=request) for request in requests for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"      {sum(counts.values())} requests in {seconds} s: {dict(sorted(counts.items()))}")
    check("the load reached the gateway", counts.get(200, 0) > seconds)


# ---- The page


def get(url, accept=None):
    request = urllib.request.Request(url, headers={"Accept": accept} if accept else {})
    with urllib.request.urlopen(request, timeout=10) as response:
        return response.read().decode("utf-8"), response.headers["Content-Type"]


def check_page(admin, folder):
    text, kind = get(f"http://{admin}/metrics")
    check("the default is Prometheus' text format", kind.startswith("text/plain; version=0.0.4"), kind)
    promtool = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    remarks = promtool.stdout + promtool.stderr
    print(f"      promtool check metrics: status {promtool.returncode}, remarks: {remarks.strip() or 'none'}")
    check("promtool check metrics, without a remark", promtool.returncode == 0 and not remarks, remarks)
    open_text, kind = get(f"http://{admin}/metrics", OPENMETRICS)
    check("OpenMetrics by Accept", kind.startswith("application/openmetrics-text; version=1.0.0"), kind)
    plain = list(prometheus_text.text_string_to_metric_families(text))
    families = list(openmetrics.text_string_to_metric_families(open_text))
    check("prometheus_client parses both formats", len(families) > 40 and len(plain) > 40,
          f"{len(families)} and {len(plain)} families")
    check("both formats have the same time series", series(plain) == series(families),
          series(plain) ^ series(families))
    exemplars = [sample.exemplar for family in families for sample in family.samples if sample.exemplar]
    check("exemplars name traces", exemplars and all(len(each.labels["trace_id"]) == 32 for each in exemplars))
    # The parser must see what is wrong.
    try:
        list(openmetrics.text_string_to_metric_families(open_text.replace("# EOF\n", "")))
        check("the parser refuses a page without # EOF", False)
    except ValueError:
        check("the parser refuses a page without # EOF", True)
    print(f"      {len(series(families))} time series, {len(exemplars)} exemplars")


def series(families):
    return {(sample.name, tuple(sorted(sample.labels.items()))) for family in families for sample in family.samples}


# ---- Prometheus


def api(port, path, **parameters):
    query = urllib.parse.urlencode(parameters)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}?{query}", timeout=30) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        return json.load(error)


def check_scrapes(port):
    target = api(port, "targets")["data"]["activeTargets"][0]
    check("Prometheus scrapes without an error", target["health"] == "up" and not target["lastError"],
          target["lastError"])
    states = api(port, "rules")["data"]["groups"]
    errors = [rule["lastError"] for group in states for rule in group["rules"] if rule.get("lastError")]
    check("Prometheus evaluates the alerts without an error", not errors, errors)
    now = time.time()
    exemplars = api(port, "query_exemplars", query="tributary_request_duration_seconds_bucket",
                    start=now - 600, end=now + 10)
    check("Prometheus stores exemplars", exemplars["data"], exemplars)


def check_queries(port):
    dashboard = json.loads(read(DASHBOARD))
    queries = [(f"panel '{panel['title']}' {target['refId']}", target["expr"])
               for panel in dashboard["panels"] for target in panel.get("targets", [])]
    queries += [(f"annotation '{each['name']}'", always(each["expr"])) for each in dashboard["annotations"]["list"]]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["definition"]).groups()
            queries.append((f"variable {variable['name']}", f"count by ({label}) ({metric}) > 0"))
    queries += [(f"alert {rule['alert']}", always(rule["expr"])) for rule in rules()]
    for name, query in queries:
        for variable, value in VARIABLES.items():
            query = re.sub(rf"\$\{{?{variable}\b\}}?", value, query)
        answer = api(port, "query", query=query)
        values = [float(each["value"][1]) for each in answer.get("data", {}).get("result", [])]
        check(f"{name}: {len(values)} values", any(not math.isnan(value) for value in values), answer)
    check("the dashboard and the alerts have queries", len(queries) > 60, len(queries))


def always(query):
    """The query of an alert, with a value also where its condition does not hold."""
    return re.sub(r"(?<![=!<>~])([<>]=?|==|!=)(?![=~])(?=\s)", r"\1 bool", query)


if __name__ == "__main__":
    main()
