#!/usr/bin/env python3
"""Tests HTTP/2 of a gateway with hostile clients, hostile backends, smuggled requests and floods, frame by frame.

    Tests/Verify/http2/run.py --gateway .build/release/tributary       starts the gateway and its backends: all roles
    Tests/Verify/http2/run.py --target 127.0.0.1:8080                  role `client` against a server that runs
    Tests/Verify/http2/run.py --peer nghttpd --peer nginx              starts other servers, to compare them

client      cases by section of RFC 9113, 7541 and 8441, with a healthy request behind each
backend     the script is the backend; the outcome of the call is that of docs/reference/answers.md
tunnels     WebSocket on streams (RFC 8441), to a backend of HTTP/1.1
smuggling   requests whose form in HTTP/1.1 would be two
floods      ten seconds each, with a healthy client beside

Everything runs on loopback, on free ports, and every process that it starts is ended by its id. Needs hpack (PyPI),
openssl, and nginx for the floods. README.md has the results of other servers.
"""

import argparse
import itertools
import pathlib
import signal
import sys
import tempfile

sys.path[:0] = map(str, pathlib.Path(__file__).parents[:2])
sys.dont_write_bytecode = True
import backend
import client
import floods
import gateway
import peers
import results
import smuggling
import tunnels
from connection import Target
from recorder import Recorder

ROLES = ("client", "smuggling", "tunnels", "floods", "backend")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--gateway", metavar="BINARY", help="the tributary to start")
    what.add_argument(
        "--target",
        metavar="HOST:PORT",
        help="a server that runs; it serves /ok, /empty, /slow, /large and POST /upload",
    )
    what.add_argument(
        "--peer",
        action="append",
        choices=[*peers.PEERS, *peers.BACKEND_PEERS],
        help="a server to start for calibration",
    )
    parser.add_argument("--role", action="append", choices=ROLES, help="instead of all")
    parser.add_argument("--tls", action="store_true", help="with TLS and ALPN")
    parser.add_argument("--only", metavar="NAMES", help="names of cases or of their sections, with commas between them")
    parser.add_argument("--calibrate", action="store_true", help="print every outcome, and end with 0")
    parser.add_argument("--pid", type=int, help="process whose memory the floods watch, with --target")
    parser.add_argument("--seconds", type=int, default=10, help="duration of each flood")
    parser.add_argument("--json", metavar="FILE", help="where the results are written")
    return parser.parse_args()


def selection(names):
    """Which cases are meant; None for all."""
    if not names:
        return None
    wanted = names.split(",")
    return lambda name: any(name == one or name.startswith(one + "/") for one in wanted)


def run_for_clients(role, target, pid, options):
    only = selection(options.only)
    if role == "client":
        return client.run(target, only)
    if role == "smuggling":
        return smuggling.run(target, only)
    return floods.run(target, only, pid, options.seconds)


def run_backend(start, folder, options):
    cases = backend.chosen(selection(options.only))
    if not cases:
        return []
    for case in cases:
        case.listen()
    port, *revive = start(folder, cases)
    return backend.run(port, cases, *revive)


def test_gateway(options, folder):
    """The results of each role, as soon as there are some."""
    roles = options.role or ROLES
    if {"client", "smuggling"} & set(roles):
        target, pid = gateway.start_for_clients(options.gateway, folder, Recorder(), options.tls)
        for role in ("client", "smuggling"):
            if role in roles:
                yield role, run_for_clients(role, target, pid, options)
    if "tunnels" in roles:
        target = gateway.start_for_tunnels(options.gateway, folder, tunnels.SwitchingBackend(), options.tls)
        yield "tunnels", tunnels.run(target, selection(options.only))
    if "floods" in roles:
        quick = peers.QuickBackend(folder)
        target, pid = gateway.start_for_clients(options.gateway, folder, quick, options.tls, "floods")
        yield "floods", run_for_clients("floods", target, pid, options)
    if "backend" in roles:
        begin = lambda folder, cases: [gateway.start_for_backends(options.gateway, folder, cases).port]
        yield "backend", run_backend(begin, folder, options)


def test_target(options):
    host, _, port = options.target.rpartition(":")
    target = Target(host.strip("[]"), int(port), options.tls)
    roles = options.role or ["client"]
    if set(roles) & {"smuggling", "tunnels", "backend"}:
        sys.exit("the roles smuggling, tunnels and backend need --gateway or --peer")
    for role in roles:
        yield role, run_for_clients(role, target, options.pid, options)


def test_peers(options, folder):
    for name, role in itertools.product(options.peer, options.role or ["client"]):
        if role == "tunnels":
            sys.exit("the role tunnels needs --gateway")
        if name not in (peers.BACKEND_PEERS if role == "backend" else peers.PEERS):
            sys.exit(f"{name} cannot have the role {role}")
        own = pathlib.Path(folder) / f"{name}-{role}"
        own.mkdir()
        if role == "backend":
            begin = lambda folder, cases: peers.start_for_backends(name, folder, cases)
            yield f"{name} backend", list(map(backend.by_success, run_backend(begin, own, options)))
        else:
            target, pid = peers.start_peer(name, own, peers.QuickBackend(own) if role == "floods" else Recorder())
            yield f"{name} {role}", run_for_clients(role, target, pid, options)


def main():
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the processes, too
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        if options.gateway:
            roles = test_gateway(options, folder)
        else:
            roles = test_target(options) if options.target else test_peers(options, folder)
        for role, listed in roles:
            results.report(role, listed, options.calibrate)
            found[role] = listed
            if options.json:
                results.save(options.json, found)
    passed = all(result.passed for listed in found.values() for result in listed)
    sys.exit(0 if passed or options.calibrate or options.peer else 1)


if __name__ == "__main__":
    main()
