#!/usr/bin/env python3
"""Runs gateways with a limit that they share in a real redis-server, and injects the faults of a store.

    Tests/Verify/store.py .build/debug/tributary [--seconds 60] [--only rows|load] [--noise 40]

rows   each fault by itself: no 5xx, the log states the reason, the metric is 0, and the store is used again; two
       gateways with `sync` share one rate
load   two gateways, one store, load at twice the limit through every fault: no 5xx, no request later than the
       timeout of the store and its own time, and limits within their bounds

Everything runs on loopback, on free ports, and every process that it starts is ended by its id. --noise is what the
machine may add to a time, in milliseconds. Needs redis-server.
"""

import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import harness
from harness import expect, finish, free_port, start, wait

ROOT = pathlib.Path(__file__).resolve().parents[2]
TLS = ROOT / "Tests/Fixtures/tls"
TIMEOUT = 50
RATE = 200
BURST = 40

CONFIG = """\
version: 1
listen: 127.0.0.1:{listen}
admin: 127.0.0.1:{admin}
workers: {workers}
store: {{ {store} }}
rate_limits:
  it: {{ rate: {rate}/s, burst: {burst}, key: "{{request.header.X-Key}}", share: store, replicas: {replicas}, sync: {sync} }}
backends:
  a: {{ url: "http://127.0.0.1:{backend}" }}
endpoints:
  - route: GET /x
    rate_limits: [it]
    calls: {{ one: {{ from: a, get: / }} }}
"""


class Redis:
    """One redis-server, and a connection of this script to it."""

    def __init__(self, folder, *options):
        self.port = free_port()
        self.folder = folder
        self.options = options
        self.process = None
        self.start()

    def start(self):
        self.process = start(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
             "--dir", self.folder, *self.options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not wait(self.connect):
            sys.exit("redis-server did not start")

    def connect(self):
        try:
            self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=5)
            self.file = self.socket.makefile("rb")
            return self.command("PING") == "PONG"
        except OSError:
            return False

    def command(self, *words):
        parts = [str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
        return self.reply()

    def reply(self):
        line = self.file.readline().rstrip(b"\r\n")
        kind, rest = line[:1], line[1:]
        if kind in b"+-":
            return rest.decode()
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return self.file.read(int(rest) + 2)[:-2] if int(rest) >= 0 else None
        return [self.reply() for _ in range(int(rest))]

    def kill_others(self):
        self.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def signal(self, number):
        self.process.send_signal(number)


class Backend(harness.Listener):
    """Responds to everything at once."""

    def serve(self, connection):
        data = b""
        while piece := connection.recv(65536):
            data += piece
            while b"\r\n\r\n" in data:
                data = data.split(b"\r\n\r\n", 1)[1]
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")


class Gateway(harness.Gateway):
    def __init__(self, binary, folder, name, store, backend, workers=1, replicas=1, sync="each", burst=BURST):
        super().__init__(
            binary, folder, CONFIG, name=name, workers=workers, store=store, backend=backend.port, replicas=replicas,
            rate=RATE, burst=burst, sync=sync)

    def ups(self):
        return self.series("tributary_store_up").values()

    def is_up(self):
        return set(self.ups()) == {1}

    def is_down(self):
        return set(self.ups()) == {0}

    def lines(self):
        out = []
        for line in self.log_path.read_bytes().splitlines():
            try:
                out.append(json.loads(line))
            except ValueError:
                pass
        return out

    def reasons(self):
        return [line["reason"] for line in self.lines() if line["msg"] == "store down"]

    def get(self, key="a"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        connection.request("GET", "/x", headers={"X-Key": key})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, body


# ---------------------------------------------------------------------------------------- faults
def killed(redis):
    redis.kill()
    return lambda: redis.start()


def paused(redis):
    redis.command("CLIENT", "PAUSE", 300, "ALL")
    return lambda: None


def frozen(redis):
    redis.signal(signal.SIGSTOP)
    return lambda: redis.signal(signal.SIGCONT)


def full(redis):
    redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
    redis.command("CONFIG", "SET", "maxmemory", 100_000)
    return lambda: redis.command("CONFIG", "SET", "maxmemory", 0)


def replica(redis):
    redis.command("REPLICAOF", "127.0.0.1", 1)
    return lambda: redis.command("REPLICAOF", "NO", "ONE")


def crowded(redis):
    redis.command("CONFIG", "SET", "maxclients", 1)
    redis.kill_others()
    return lambda: redis.command("CONFIG", "SET", "maxclients", 1000)


def locked(redis):
    redis.command("CONFIG", "SET", "requirepass", "secret")
    redis.kill_others()
    return lambda: redis.command("CONFIG", "SET", "requirepass", "")


def forgetful(redis):
    redis.command("SCRIPT", "FLUSH")
    return lambda: None


# Name, how it begins, whether the store goes down, and what the log states.
FAULTS = [
    ("killed, restarted", killed, True, r"reset|refused|closed the connection"),
    ("slow: CLIENT PAUSE 300", paused, None, r"no reply in time"),
    ("frozen: SIGSTOP", frozen, True, r"no reply in time"),
    ("full: maxmemory, noeviction", full, True, r"^OOM command not allowed"),
    ("demoted: REPLICAOF", replica, True, r"^READONLY"),
    ("too many clients: maxclients", crowded, True, r"ERR max number of clients reached|reset|closed the connection"),
    ("password required: requirepass", locked, True, r"^NOAUTH"),
    ("scripts lost: SCRIPT FLUSH", forgetful, False, None),
]


# ---------------------------------------------------------------------------------------- rows
def rows(binary, folder, noise):
    backend = Backend()
    redis = Redis(folder)
    gateway = Gateway(binary, folder, "rows", f"url: redis://127.0.0.1:{redis.port}", backend)
    expect(gateway.get()[0] == 200 and wait(gateway.is_up), "the store is used at the start")
    check_limit(gateway)
    keys = redis.command("KEYS", "*")
    expect(len(keys) >= 1 and all(re.fullmatch(rb"tributary:limit:(probe|.{16})", k, re.S) for k in keys), f"keys {keys}")
    for name, begin, goes_down, reason in FAULTS:
        known = len(gateway.reasons())
        decided = decisions(gateway)
        end = begin(redis)
        slowest = 0
        for number in range(12):
            start = time.monotonic()
            status, body = gateway.get(f"{name} {number}")
            slowest = max(slowest, (time.monotonic() - start) * 1000)
            expect(status == 200, f"{name}: status {status} {body}")
        if goes_down:
            expect(gateway.is_down(), f"{name}: tributary_store_up is {gateway.ups()}")
            start = time.monotonic()
            gateway.get(name)
            waited = (time.monotonic() - start) * 1000
            expect(waited < noise, f"{name}: a request waited {waited:.1f} ms for a store that is down")
        time.sleep(1.2 if goes_down else 0.4)
        end()
        expect(wait(gateway.is_up, 5), f"{name}: the store is not used again")
        reasons = gateway.reasons()[known:]
        if goes_down:
            expect(len(reasons) == 1 and re.search(reason, reasons[0]), f"{name}: the log states {reasons}")
        elif goes_down is False:
            expect(reasons == [], f"{name}: the log states {reasons}")
        expect(slowest <= TIMEOUT + noise, f"{name}: a request took {slowest:.1f} ms")
        before = decisions(gateway)
        gateway.get(name + " again")
        expect(decisions(gateway) == before + 1, f"{name}: the store decides again")
        if goes_down is False:
            expect(before >= decided + 12, f"{name}: the store decided {before - decided} of 12")
        print(f"  {name:32} {'down: ' + reasons[0] if reasons else 'up':60} slowest {slowest:5.1f} ms", flush=True)
    gateway.stop()
    redis.kill()


def decisions(gateway):
    return gateway.series("tributary_store_requests_total").get('{result="decided"}', 0)


def check_limit(gateway):
    """The positive control: the limit refuses at all."""
    statuses = [gateway.get("limited")[0] for _ in range(BURST * 4)]
    expect(statuses.count(200) >= BURST and statuses.count(429) > 0, f"the limit refuses: {statuses}")


def transports(binary, folder):
    """A unix socket, TLS, a user with the least permissions, and a database."""
    backend = Backend()
    path = f"{folder}/redis.sock"
    tls_port = free_port()
    redis = Redis(
        folder, "--unixsocket", path, "--tls-port", str(tls_port), "--tls-cert-file", TLS / "server.pem", "--tls-key-file",
        TLS / "server.key", "--tls-ca-cert-file", TLS / "authority.pem", "--tls-auth-clients", "no")
    redis.command("ACL", "SETUSER", "limits", "on", ">s p", "~shop:limit:*", "+eval", "+evalsha", "+get", "+set", "+time",
                  "+ping", "+select")
    secure = f"url: \"rediss://localhost:{tls_port}/3\", username: limits, password: \"s p\", prefix: shop, " \
             f"tls: {{ ca: {TLS}/authority.pem, server_name: {server_name()} }}"
    for name, store in (("unix", f"url: unix:{path}"), ("rediss", secure)):
        gateway = Gateway(binary, folder, name, store, backend)
        gateway.get()
        expect(wait(gateway.is_up), f"{name}: {gateway.reasons()}")
        before = decisions(gateway)
        expect(gateway.get()[0] == 200 and decisions(gateway) == before + 1, f"{name}: the store decides")
        expect(gateway.reasons() == [], f"{name}: {gateway.reasons()}")
        shown = gateway.page("/-/config")[1]
        expect(name != "rediss" or ('"password":"***"' in shown.replace(" ", "") and "s p" not in shown),
               f"{name}: /-/config masks the password: {shown[:300]}")
        print(f"  {name:32} decides", flush=True)
        for _ in range(BURST):  # keys expire when their buckets are full
            gateway.get()
        redis.command("SELECT", 3)
        keys = redis.command("KEYS", "*")
        gateway.stop()
    expect(all(key.startswith(b"shop:limit:") for key in keys) and keys, f"keys of database 3: {keys}")
    redis.kill()


def server_name():
    text = subprocess.run(["openssl", "x509", "-in", TLS / "server.pem", "-noout", "-ext", "subjectAltName"],
                          capture_output=True, text=True).stdout
    return re.search(r"DNS:([^,\s]+)", text)[1]


# ---------------------------------------------------------------------------------------- load
class Client(threading.Thread):
    """Sends requests at a fixed rate on one connection."""

    def __init__(self, gateway, per_second, until):
        super().__init__(daemon=True)
        self.gateway, self.interval, self.until = gateway, 1 / per_second, until
        self.results = []

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=5)
        due = time.monotonic()
        while due < self.until:
            time.sleep(max(0, due - time.monotonic()))
            due += self.interval
            start = time.monotonic()
            try:
                connection.request("GET", "/x", headers={"X-Key": "load"})
                response = connection.getresponse()
                response.read()
                status = response.status
            except OSError as error:
                status = f"{type(error).__name__}"
                connection.close()
            self.results.append((start, time.monotonic(), status))


def load(binary, folder, seconds, noise):
    backend = Backend()
    redis = Redis(folder)
    store = f"url: redis://127.0.0.1:{redis.port}"
    gateways = [Gateway(binary, folder, f"load{n}", store, backend, workers=2, replicas=2) for n in range(2)]
    for gateway in gateways:
        wait(gateway.is_up)
    begin = time.monotonic()
    clients = [Client(gateway, RATE / 8, begin + seconds) for gateway in gateways for _ in range(8)]
    for client in clients:
        client.start()
    step = seconds / len(FAULTS)
    outages = []
    for number, (name, start_fault, goes_down, _) in enumerate(FAULTS):
        time.sleep(max(0, begin + number * step + step * 0.45 - time.monotonic()))
        from_time = time.monotonic()
        end = start_fault(redis)
        time.sleep(0.4 if not goes_down else step * 0.25)
        end()
        outages.append((name, from_time, time.monotonic()))
    for client in clients:
        client.join()
    finished = time.monotonic()
    up = [wait(gateway.is_up, 5) for gateway in gateways]
    expect(all(up), "both gateways use the store at the end")
    results = sorted(r for client in clients for r in client.results)
    statuses = {s: sum(1 for r in results if r[2] == s) for s in sorted({r[2] for r in results}, key=str)}
    print(f"  {len(results)} requests in {finished - begin:.0f} s: {statuses}", flush=True)
    expect(set(statuses) <= {200, 429}, f"statuses {statuses}")
    check_times([line for gateway in gateways for line in gateway.lines() if line["msg"] == "request"], noise)
    check_bounds(results, outages, begin, finished)
    for gateway in gateways:
        print(f"  store down: {len(gateway.reasons())} times, by two workers", flush=True)
        gateway.stop()
    redis.kill()


def synced(binary, folder, seconds=8):
    """Two gateways, one after the other by half an interval, that report what they granted: they share one rate, and
    grant all of it, although the burst is smaller than the requests of an interval."""
    backend, redis = Backend(), Redis(folder)
    store, sync, burst = f"url: redis://127.0.0.1:{redis.port}", 0.3, 10
    gateways = [Gateway(binary, folder, f"sync{n}", store, backend, replicas=2, sync="300ms", burst=burst) for n in range(2)]
    for gateway in gateways:
        gateway.get("other")
        expect(wait(gateway.is_up), f"sync: {gateway.reasons()}")
    begin = time.monotonic()
    clients = [Client(gateway, RATE / 4, begin + seconds) for gateway in gateways for _ in range(4)]
    for number, client in enumerate(clients):
        if number == 4:
            time.sleep(sync / 2)
        client.start()
    for client in clients:
        client.join()
    granted = sorted(end for client in clients for _, end, status in client.results if status == 200)
    whole = granted[-1] - granted[0]
    most = 2 * burst + RATE * whole + RATE * (sync + TIMEOUT / 1000)
    print(f"  granted {len(granted)} in {whole:.1f} s: {len(granted) / whole:.1f} per second, the limit is {RATE}", flush=True)
    expect(0.8 * RATE * whole <= len(granted) <= most, f"{len(granted)} granted, not {0.8 * RATE * whole:.0f} to {most:.0f}")
    for gateway in gateways:
        gateway.stop()
    redis.kill()


def check_times(requests, noise):
    """By the gateway's own clock: how long a request took beside its call."""
    waits = sorted(line["ms"] - sum(call.get("ms", 0) for call in line.get("calls", [])) for line in requests)
    late = [w for w in waits if w > TIMEOUT + noise]
    at = lambda share: waits[min(len(waits) - 1, int(len(waits) * share))]
    print(f"  beside its call a request took: median {at(.5):.2f} ms, 99 % {at(.99):.2f} ms, 99.9 % {at(.999):.2f} ms, "
          f"most {waits[-1]:.2f} ms; {sum(w > 10 for w in waits)} of {len(waits)} above 10 ms", flush=True)
    expect(not late, f"{len(late)} requests took longer than {TIMEOUT} ms and {noise} ms of noise: {late[-5:]}")


def check_bounds(results, outages, begin, finished):
    """Granted requests in the calm between the faults, and in the whole time."""
    calm, start = [], begin
    for _, from_time, until in outages:
        calm.append((start, from_time))
        start = until + 2.2
    calm.append((start, finished))
    for start, end in calm:
        if end - start < 0.5:
            continue
        granted = [r for r in results if r[2] == 200 and r[0] >= start and r[1] <= end]
        time_in = end - start
        most, least = BURST + RATE * time_in + 4, 0.6 * RATE * time_in
        expect(least <= len(granted) <= most,
               f"{len(granted)} granted in {time_in:.2f} s from {start - begin:.1f} s: not {least:.0f} to {most:.0f}")
    granted = sum(1 for r in results if r[2] == 200)
    whole = finished - begin
    # Each outage may add a burst: that of a store with full buckets, or those of the local shares.
    most = RATE * whole + BURST * (1 + 2 * len(outages)) + 4
    print(f"  granted {granted}: {granted / whole:.1f} per second, the limit is {RATE}", flush=True)
    expect(granted <= most, f"{granted} granted, at most {most:.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--noise", type=float, default=40)
    parser.add_argument("--only", choices=["rows", "load"])
    options = parser.parse_args()
    if not shutil.which("redis-server"):
        sys.exit("redis-server is missing: script/deps store installs it")
    binary = os.path.abspath(options.binary)
    with tempfile.TemporaryDirectory() as folder:
        if options.only != "load":
            print("each fault by itself", flush=True)
            rows(binary, folder, options.noise)
            transports(binary, folder)
            print("two gateways with sync: 300ms", flush=True)
            synced(binary, folder)
        if options.only != "rows":
            print(f"two gateways through all faults, {options.seconds:.0f} s", flush=True)
            load(binary, folder, options.seconds, options.noise)
    finish()


if __name__ == "__main__":
    main()
