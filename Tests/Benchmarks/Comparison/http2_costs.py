#!/usr/bin/env python3
"""Measures what HTTP/2 costs, in one run on an idle machine: to backends, from clients, and for idle connections.

    Tests/Benchmarks/Comparison/http2_costs.py .build/release/tributary [--repeat 3] [--seconds 3]

All requests are of an endpoint with three calls of 200 B. Ratios are to the floor, which uses HTTP/1.1 on both sides,
in the same repetition. The backends for HTTP/2 are nghttpd, which sends the responses of several requests in one
write; those for HTTP/1.1 are nginx. The load for HTTP/2 is h2load. An idle connection has TLS and HTTP/2, and has
served one request of a new process. Needs nginx with Lua, HAProxy, nghttp2's client and server, wrk, strace, openssl,
and a C compiler.
"""

import argparse
import contextlib
import json
import pathlib
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "Tests/Verify"))
# Behind the folder of this file, which has modules with names of that one.
sys.path.append(str(ROOT / "Tests/Verify/http2"))
from bodies import text_of, value
from frames import END_STREAM, PREFACE, headers, settings
from gateways import Gateway, World, nginx, tributary_config
from harness import Server, accepts, certificate, end_processes, free_port, wait
from load import Load, measure
from machine import Processors
from rows import count_system_calls

PATH = "/calls/3/small"
IDLE_CONNECTIONS = 1000
# GET / of "a" over https, in literals and entries of the static table (RFC 7541).
GET = bytes([0x82, 0x87, 0x84, 0x41, 1]) + b"a"
NGINX = """\
  server {{ listen 127.0.0.1:{port} ssl http2; ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
    location / {{ return 200 ok; }} }}
"""
HAPROXY = """\
global
  nbthread 1
  maxconn 5000
defaults
  mode http
  timeout client 600s
frontend it
  bind 127.0.0.1:{port} ssl crt {folder}/both.pem alpn h2
  http-request return status 200 content-type text/plain string ok
"""


class HTTP2World(World):
    """Also runs the gateway with HTTP/2 on either side, by the name of the program."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        body = self.folder / "small"
        body.write_text(text_of(value(1, "small")))
        self.http2_backends = [free_port() for _ in range(3)]
        with self.processors.pinned(self.processors.load):
            for port in self.http2_backends:
                self.backends.servers.append(Server(
                    ["nghttpd", "--no-tls", "-n1", "--address=127.0.0.1", "-d", str(self.folder), str(port)],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        if not wait(lambda: all(accepts(port) for port in self.http2_backends)):
            sys.exit("nghttpd did not start")

    def command(self, name, port, settings):
        origins = {
            "tributary-one-h2-backend": self.http2_backends[:1] * 3,
            "tributary-three-h2-backends": self.http2_backends}.get(name)
        if not name.startswith("tributary"):
            return super().command(name, port, settings)
        config = json.loads(tributary_config(port, self.backends))
        config["listen"] = [{"address": config["listen"], "protocols": ["http2", "http1"]}]
        for number, origin in enumerate(origins or (), 1):
            config["backends"][f"b{number}"] = {"url": f"http://127.0.0.1:{origin}", "protocol": "http2"}
        if origins:
            shared = {f"b{number}": f"b{origins.index(origin) + 1}" for number, origin in enumerate(origins, 1)}
            for endpoint in config["endpoints"]:
                for call in endpoint.get("calls", {}).values():
                    call["from"] = shared.get(call["from"], call["from"])
        path = self.folder / f"{name}.yaml"
        path.write_text(json.dumps(config))
        return [self.binary, "serve", str(path)]


class Medians:
    """Figures in microseconds and their ratios, by point and program."""

    def __init__(self):
        self.values = {}

    def add(self, point, name, used, base):
        self.values.setdefault((point, name), []).append((used, used / base))

    def print(self, title):
        print(f"\n{title}\n")
        for (point, name), values in self.values.items():
            used, ratio = (statistics.median(column) for column in zip(*values))
            print(f"  {point:28} {name:34} {used:8.1f} us {ratio:6.2f} x", flush=True)


def measure_backends(world, options):
    """HTTP/2 to backends; the clients use HTTP/1.1."""
    names = ("floor", "tributary", "tributary-one-h2-backend", "tributary-three-h2-backends")
    gateways = [Gateway(name, world, path=PATH) for name in names]
    medians = Medians()
    for connections in (64, 1):
        for _ in range(options.repeat):
            base = None
            for gateway in gateways:
                Load(world, gateway, PATH, connections, 1).finish()
                used = measure(world, gateway, PATH, connections, options.seconds)["cpu_us"]
                base = base or used
                medians.add(f"{connections} connection{'s' * (connections > 1)}", gateway.name, used, base)
    medians.print("HTTP/2 to backends: processor time for each request")
    for gateway in gateways:
        calls = sum(count_system_calls(world, gateway, PATH, 64).values())
        print(f"  system calls, 64 connections {gateway.name:34} {calls:8.2f}", flush=True)
        gateway.kill()


def measure_clients(world, options):
    """HTTP/2 from clients; the backends use HTTP/1.1. nginx's subrequests in Lua fail on HTTP/2."""
    loads = (
        ("HTTP/1.1, 64 connections", ["--h1", "-c64"]), ("HTTP/2, 64 connections x 1", ["-c64", "-m1"]),
        ("HTTP/2, 8 connections x 16", ["-c8", "-m16"]))
    programs = [
        (Gateway("floor", world, path=PATH), loads[:1]), (Gateway("tributary", world, path=PATH), loads),
        (Gateway("nginx-lua", world, path=PATH), loads[:1])]
    medians = Medians()
    for _ in range(options.repeat):
        base = None
        for gateway, points in programs:
            for point, arguments in points:
                h2load(world, gateway, arguments, 64 * 100)
                used = h2load(world, gateway, arguments, 20_000 * options.seconds)
                base = base or used
                medians.add(point, gateway.name, used, base)
    medians.print("HTTP/2 from clients: processor time for each request")
    for gateway, _ in programs:
        gateway.kill()


def h2load(world, gateway, arguments, requests):
    """Microseconds of the gateway's processor time for each request."""
    before = gateway.cpu()
    with world.processors.pinned(world.processors.load):
        output = subprocess.run(
            ["h2load", *arguments, f"-n{requests}", gateway.url(PATH)], capture_output=True, text=True).stdout
    if f"status codes: {requests} 2xx" not in output:
        sys.exit(f"{gateway.name}: {output}")
    return (gateway.cpu() - before) / requests * 1e6


def measure_idle(world):
    """The growth of the resident memory by connections with TLS and HTTP/2 that have served one request each."""
    folder = world.folder
    certificate(folder, "a")
    (folder / "both.pem").write_text((folder / "cert.pem").read_text() + (folder / "key.pem").read_text())
    print("\nIdle connection with TLS and HTTP/2: memory\n")
    for name in ("tributary", "nginx", "haproxy"):
        port = free_port()
        with world.processors.pinned(world.processors.gateway):
            server = Server(idle_command(name, world, port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server.wait_until(lambda: accepts(port))
        with contextlib.ExitStack() as stack:
            for _ in range(20):
                stack.enter_context(exchange(port))
            before = server.own_memory()
            for _ in range(IDLE_CONNECTIONS):
                stack.enter_context(exchange(port))
            print(f"  {name:28} {(server.own_memory() - before) / IDLE_CONNECTIONS:6.1f} KiB", flush=True)
        server.kill()


def idle_command(name, world, port):
    folder = world.folder
    if name == "nginx":
        return ["nginx", "-p", str(folder), "-c", nginx(folder, "idle", NGINX.format(port=port, folder=folder), 5000)]
    if name == "haproxy":
        path = folder / "idle.cfg"
        path.write_text(HAPROXY.format(port=port, folder=folder))
        return ["haproxy", "-db", "-f", str(path)]
    path = folder / "idle.yaml"
    tls = {"cert": str(folder / "cert.pem"), "key": str(folder / "key.pem")}
    path.write_text(json.dumps({
        "version": 1, "workers": 1, "log": {"access": False}, "limits": {"connections": 5000, "idle_timeout": "10m"},
        "listen": [{"address": f"127.0.0.1:{port}", "tls": tls}],
        "backends": {"none": {"url": "http://127.0.0.1:1"}},
        "endpoints": [{"route": "GET /other", "calls": {"it": {"from": "none", "get": "/"}}}]}))
    return [world.binary, "serve", str(path)]


@contextlib.contextmanager
def exchange(port):
    """A connection that has made one request."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    with context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=10), server_hostname="a") as stream:
        stream.sendall(PREFACE + settings() + headers(1, GET))
        file = stream.makefile("rb")
        while True:
            head = file.read(9)
            file.read(int.from_bytes(head[:3], "big"))
            # The response ends with its body, or with its head.
            if head[3] in (0, 1) and head[4] & END_STREAM:
                break
        yield stream


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--only", choices=["backends", "clients", "idle"])
    parser.add_argument("--patience", type=int, default=10, help="seconds to wait while other programs use the machine")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        world = HTTP2World(
            pathlib.Path(folder), options.binary, Processors(), only=["floor", "tributary", "nginx-lua"],
            patience=options.patience)
        try:
            if options.only in (None, "backends"):
                measure_backends(world, options)
            if options.only in (None, "clients"):
                measure_clients(world, options)
            if options.only in (None, "idle"):
                measure_idle(world)
        finally:
            end_processes()


if __name__ == "__main__":
    main()
