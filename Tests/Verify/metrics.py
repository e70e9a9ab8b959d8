#!/usr/bin/env python3
"""Runs the metrics, the alerts and the dashboard against a real Prometheus that scrapes the demo.

    Tests/Verify/metrics.py .build/debug/tributary [--seconds 60] [--port 26600]

Checks: the page of metrics in both formats with promtool and with the parsers of Python's prometheus_client;
the rules and their test cases with promtool; every query of the dashboard and of the alerts, which must return
data after a minute of the demo under load, and of a gateway with TLS, tokens, a store that is down and traces; which
alerts fire in three outages. Needs promtool, prometheus, prometheus_client, PyYAML and openssl;
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

import harness

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
        outages(options, folder)
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
    guarded, guarded_listen, guarded_admin = start_guarded(options, folder)
    try:
        wait_for(f"http://{admin}/readyz", gateway)
        wait_for(f"http://{guarded_admin}/readyz", guarded)
        server = start_prometheus(options, folder, [admin, guarded_admin])
        wait_for(f"http://127.0.0.1:{options.port + 2}/-/ready", server)
        load(listen, guarded_listen, options.seconds)
        check_page(admin, folder)
        check_scrapes(options.port + 2)
        check_queries(options.port + 2)
    finally:
        for process in (server, gateway, guarded):
            if process is not None:
                process.terminate()
                process.wait(timeout=30)


GUARDED = """\
version: 1
listen:
  - {{ address: "{plain}" }}
  - {{ address: "127.0.0.1:{secure}", tls: {{ cert: cert.pem, key: key.pem }} }}
admin: {admin}
log: {{ level: error, access: false }}
traces: {{ otlp: "http://127.0.0.1:1/v1/traces" }}
store: {{ url: "redis://127.0.0.1:1" }}
rate_limits: {{ per_client: {{ rate: 1000/s, key: address, share: store, replicas: 1 }} }}
auth: {{ shop: {{ jwt: {{ issuer: "https://id.test/", audience: shop, keys: {{ url: "http://127.0.0.1:{keys}/" }} }} }} }}
backends: {{ catalog: {{ url: "http://127.0.0.1:{keys}" }} }}
endpoints: [{{ route: GET /, auth: shop, rate_limits: [per_client], calls: {{ one: {{ from: catalog, get: / }} }} }}]
"""


def start_guarded(options, folder):
    """A gateway with what the demo does not have: TLS, tokens, a store, traces."""
    folder = os.path.join(folder, "guarded")
    os.mkdir(folder)
    harness.certificate(folder)
    plain, admin = (f"127.0.0.1:{harness.free_port()}" for _ in range(2))
    keys = harness.Stub(lambda path: (200, b'{"keys":[]}'))
    return serve(options.binary, folder, GUARDED.format(
        plain=plain, secure=harness.free_port(), admin=admin, keys=keys.port)), plain, admin


def serve(binary, folder, config):
    path = os.path.join(folder, "tributary.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(config)
    return harness.start([binary, "serve", path], stdout=subprocess.DEVNULL)


def start_prometheus(options, folder, admins):
    config = yaml.safe_load(read(RULES, "prometheus.yml"))
    config["global"] = {"scrape_interval": f"{SCRAPE_SECONDS}s", "evaluation_interval": f"{SCRAPE_SECONDS}s"}
    config["scrape_configs"][0]["static_configs"] = [{"targets": admins}]
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


def load(listen, guarded, seconds):
    """Requests of all kinds, about forty per second."""
    end = time.monotonic() + seconds
    requests = [("/products/42", None), ("/home", None), ("/products/7", None), ("/products/x", None),
                ("/none", None), ("/login", b'{"user":"ann","password":"good"}')]
    counts = {}

    def work(address, path, body):
        while time.monotonic() < end:
            status = status_of(f"http://{address}{path}", body)
            counts[status] = counts.get(status, 0) + 1
            time.sleep(0.1)

    requests = [(listen, *request) for request in requests for _ in range(2)] + [(guarded, "/", None)]
    threads = [threading.Thread(target=work, args=request) for request in requests]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"      {sum(counts.values())} requests in {seconds} s: {dict(sorted(counts.items()))}")
    check("the load reached the gateway", counts.get(200, 0) > seconds)


def status_of(url, body=None):
    try:
        with urllib.request.urlopen(url, data=body, timeout=5) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


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
    targets = api(port, "targets")["data"]["activeTargets"]
    check("Prometheus scrapes without an error", len(targets) == 2 and all(
        target["health"] == "up" and not target["lastError"] for target in targets), targets)
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


# ---- Outages


SHOP = """\
version: 1
listen: {listen}
admin: {admin}
log: {{ level: error, access: false }}
backends:
  catalog: {{ url: "http://127.0.0.1:{catalog}" }}
  stock: {{ url: "http://127.0.0.1:{stock}" }}
  news: {{ url: "http://127.0.0.1:{news}" }}
endpoints:
  - route: GET /products/{{id}}
    calls:
      product: {{ from: catalog, get: "/{{id}}", required: true, timeout: 300ms, relay_status: [404] }}
      stock: {{ from: stock, get: "/{{product.id}}", required: true }}
      news: {{ from: news, get: / }}
"""
ROUTE = "GET /products/{id}"


def hang(_):
    time.sleep(1)
    return 200, b"{}"


# For each outage: the backend and how it responds, the status of the endpoint's response, the alerts.
OUTAGES = {
    "nothing fails": ({}, 200, set()),
    "the first required backend hangs": (
        {"catalog": hang}, 504, {("TributaryRequestsFail", ROUTE, ""), ("TributaryCallsFail", "", "catalog")}),
    "an optional backend fails": (
        {"news": lambda _: (500, b"{}")}, 200,
        {("TributaryResponsesPartial", ROUTE, ""), ("TributaryCallsFail", "", "news")}),
    "clients request unknown products": ({"catalog": lambda _: (404, b"{}")}, 404, set()),
}


def outages(options, folder):
    """Which alerts fire when an outage of a few seconds lasts for half an hour."""
    for number, (name, (broken, status, alerts)) in enumerate(OUTAGES.items()):
        place = os.path.join(folder, f"outage-{number}")
        os.mkdir(place)
        first, rises = play(options.binary, place, name, broken, status)
        shutil.copy(os.path.join(RULES, "alerts.yml"), place)
        with open(os.path.join(place, "outage.test.yml"), "w", encoding="utf-8") as file:
            yaml.safe_dump(alert_test(first, rises, alerts), file)
        run = subprocess.run(["promtool", "test", "rules", "outage.test.yml"], cwd=place, capture_output=True, text=True)
        check(f"{name}: alerts {sorted(alerts) or 'none'}", run.returncode == 0, run.stdout + run.stderr)


def play(binary, folder, name, broken, status):
    """The samples of the page after a healthy request, and how much each counter rises in the outage."""
    switch = {"outage": False}

    def backend(key):
        return harness.Stub(lambda path: broken[key](path) if switch["outage"] and key in broken else (200, b'{"id":7}'))

    listen, admin = (f"127.0.0.1:{harness.free_port()}" for _ in range(2))
    ports = {key: backend(key).port for key in ("catalog", "stock", "news")}
    gateway = serve(binary, folder, SHOP.format(listen=listen, admin=admin, **ports))
    try:
        wait_for(f"http://{admin}/readyz", gateway)
        url = f"http://{listen}/products/7"
        check(f"{name}: a healthy request", status_of(url) == 200)
        first = samples(admin)
        switch["outage"] = True
        statuses = {status_of(url) for _ in range(10)}
        check(f"{name}: clients get {status}", statuses == {status}, statuses)
        later = samples(admin)
    finally:
        gateway.terminate()
        gateway.wait(timeout=30)
    return first, {key: value - first.get(key, 0) for key, value in later.items() if "_total" in key or "_bucket" in key
                   or "_count" in key or "_sum" in key}


def samples(admin):
    """The samples of a page by name and labels, as promtool writes a series."""
    text, _ = get(f"http://{admin}/metrics")
    page = {}
    for family in prometheus_text.text_string_to_metric_families(text):
        for sample in family.samples:
            labels = {**sample.labels, "job": "tributary", "instance": "a:9901"}
            listed = ", ".join(f"{name}={json.dumps(value)}" for name, value in sorted(labels.items()))
            page[f"{sample.name}{{{listed}}}"] = sample.value
    return page


def alert_test(first, rises, alerts):
    """A test for promtool: every minute brings the rise of the outage; after half an hour exactly these alerts fire."""
    series = [{"series": key, "values": f"{value:f}+{rises.get(key, 0):f}x40"} for key, value in first.items()]
    series += [{"series": key, "values": f"0+{rise:f}x40"} for key, rise in rises.items() if key not in first]
    expected = []
    for alert, endpoint, backend in sorted(alerts):
        labels = [("alertname", alert), ("endpoint", endpoint), ("backend", backend)]
        listed = ", ".join(f"{label}={json.dumps(value)}" for label, value in labels if value)
        expected.append({"labels": f"{{{listed}}}", "value": 1})
    return {"rule_files": ["alerts.yml"], "evaluation_interval": "1m", "tests": [{
        "interval": "1m", "input_series": series, "promql_expr_test": [{
            "expr": 'group by (alertname, endpoint, backend) (ALERTS{alertstate="firing"})',
            "eval_time": "30m", "exp_samples": expected}]}]}


if __name__ == "__main__":
    main()
