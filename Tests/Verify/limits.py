#!/usr/bin/env python3
"""Sends requests to a gateway with rate limits and two workers, and holds the responses against the limits.

    Tests/Verify/limits.py .build/debug/tributary [--seconds 5]

Checks: every RateLimit-Policy and RateLimit field is a list of RFC 9651, parsed by http-sf, with the parameters of
the draft; refusals have Retry-After and name their limits; clients that send more than the limit from eight
connections, which the kernel distributes over the workers, get burst + rate x time; counts survive a reload; the
metrics agree. Everything runs on loopback. Needs http-sf; `script/verify limits` installs it.
"""

import argparse
import http.client
import http.server
import json
import socketserver
import tempfile
import threading
import time

import http_sf

from harness import Gateway, expect, finish

CONFIG = """\
version: 1
listen: 127.0.0.1:{listen}
admin: 127.0.0.1:{admin}
workers: 2
log: {{ access: false }}
rate_limits:
  together: {{ rate: 100000/s }}
  per_client: {{ rate: 50/s, burst: 20, key: address }}
  per_tenant: {{ rate: 2/m, key: "{{request.header.X-Tenant}}" }}
  per_item: {{ rate: 3/h, key: ["{{id}}", address] }}
backends:
  up: {{ url: "http://127.0.0.1:{backend}" }}
endpoints:
  - {{ route: GET /load, rate_limits: [together, per_client], calls: {{ a: {{ from: up, get: / }} }} }}
  - {{ route: GET /tenant, rate_limits: [together, per_tenant], calls: {{ a: {{ from: up, get: / }} }} }}
  - {{ route: "GET /items/{{id}}", rate_limits: [per_item, together], calls: {{ a: {{ from: up, get: / }} }} }}
"""


class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *arguments):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128


def members(response, name):
    """The list of all lines of a field, as RFC 9651 combines them."""
    lines = [value for key, value in response.getheaders() if key.lower() == name.lower()]
    return http_sf.parse(", ".join(lines).encode(), tltype="list") if lines else []


def hold_fields(response, body, limits):
    """`limits`: name -> (q, w) of the endpoint."""
    policies = {name: parameters for name, parameters in members(response, "RateLimit-Policy")}
    states = {name: parameters for name, parameters in members(response, "RateLimit")}
    expect(policies.keys() == states.keys(), f"policies {policies} and limits {states} differ")
    for name, parameters in policies.items():
        expect(
            (parameters.get("q"), parameters.get("w")) == limits.get(name),
            f"the policy {name} is {parameters}, expected {limits.get(name)}")
    for name, parameters in states.items():
        expect(
            isinstance(parameters.get("r"), int) and isinstance(parameters.get("t"), int)
            and parameters["r"] >= 0 and parameters["t"] >= 0, f"the limit {name} has {parameters}")
    if response.status == 200:
        expect(states.keys() == limits.keys(), f"a 200 announces {list(states)}, not {list(limits)}")
        return
    expect(response.status == 429, f"the status is {response.status}")
    problem = json.loads(body)
    expect(problem["type"].endswith("#quota-exceeded"), f"the type is {problem['type']}")
    expect(problem["reason"] == "quota", f"the reason is {problem['reason']}")
    expect(set(problem["violated-policies"]) == states.keys(), f"{problem} names other limits than {states}")
    wait = int(response.getheader("Retry-After"))
    expect(wait == max(parameters["t"] for parameters in states.values()), f"Retry-After {wait}, but {states}")
    expect(all(parameters["r"] == 0 for parameters in states.values()), f"a refusal with {states}")


def get(port, path, headers={}):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def statuses(port, path, count, limits, headers={}):
    found = []
    for _ in range(count):
        response, body = get(port, path, headers)
        hold_fields(response, body, limits)
        found.append(response.status)
    return found


def load(port, seconds, limits):
    """Eight connections as fast as they can; (granted, refused, time)."""
    granted, refused, lock = [0], [0], threading.Lock()
    end = time.monotonic() + seconds

    def run():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        count = 0
        while time.monotonic() < end:
            connection.request("GET", "/load")
            response = connection.getresponse()
            body = response.read()
            count += 1
            if count % 20 == 1:
                hold_fields(response, body, limits)
            with lock:
                (granted if response.status == 200 else refused)[0] += 1
        connection.close()

    begin = time.monotonic()
    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return granted[0], refused[0], time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    server = Server(("127.0.0.1", 0), Backend)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(options.binary, folder, CONFIG, backend=server.server_port)
        run(gateway, options.seconds)
        gateway.stop()
        finish()


def run(gateway, seconds):
    port = gateway.port
    together = {"together": (100000, 1)}
    tenant = together | {"per_tenant": (2, 60)}
    found = statuses(port, "/tenant", 4, tenant, {"X-Tenant": "a"})
    expect(found == [200, 200, 429, 429], f"a tenant gets {found}")
    found = statuses(port, "/tenant", 3, tenant, {"X-Tenant": "b"})
    expect(found == [200, 200, 429], f"another tenant gets {found}")
    item = together | {"per_item": (3, 3600)}
    found = statuses(port, "/items/1", 4, item) + statuses(port, "/items/2", 1, item)
    expect(found == [200, 200, 200, 429, 200], f"items get {found}")

    gateway.reload()
    found = statuses(port, "/tenant", 1, tenant, {"X-Tenant": "a"})
    expect(found == [429], f"after a reload, the tenant gets {found}")

    granted, refused, seconds = load(port, seconds, together | {"per_client": (50, 1)})
    expected = 20 + 50 * seconds
    print(f"{granted} granted and {refused} refused in {seconds:.3f} s; burst + rate x time is {expected:.1f}")
    # The first request comes somewhat after the start, the last one before the end.
    expect(expected - 50 * 0.05 - 2 <= granted <= expected + 2, f"granted {granted}, expected {expected}")
    expect(refused > 100, f"only {refused} were refused: too little load to show anything")

    counts = gateway.series("tributary_rate_limit_total")
    expect(counts['{limit="per_client",result="granted"}'] == granted, f"{counts}, granted {granted}")
    expect(counts['{limit="per_client",result="refused"}'] == refused, f"{counts}, refused {refused}")
    expect(counts['{limit="together",result="refunded"}'] >= refused, f"{counts}")
    expect(gateway.series("tributary_rate_limit_keys_limit") == {"": 131072}, "the room for keys")
    expect(gateway.series("tributary_rate_limit_keys")[""] >= 4, "the keys in use")


if __name__ == "__main__":
    main()
