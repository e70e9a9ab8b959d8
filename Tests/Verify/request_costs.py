#!/usr/bin/env python3
"""Counts what one request costs in a running gateway, and compares it with the limits in
Tests/Benchmarks/request-costs.json.

    Tests/Verify/request_costs.py .build/release/tributary --counter libRequestCounter.so
    Tests/Verify/request_costs.py .build/release/tributary --instructions

Counts allocations and references (retains and releases together), or with --instructions the instructions outside of
the kernel; for these it needs valgrind. Counts, unlike times, do not depend on the load of the machine: a count fails
if it is more than 3 % above its limit, and a limit fails that is more than 3 % above the count, so that it is lowered
with the cost. The limits of instructions are for x86-64 with Debian 12. --record writes the counts as the new
limits. The cost of an element of a list must not grow with the number of elements.
"""

import argparse
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

from harness import Gateway, Listener, expect, finish, wait

LIMITS = pathlib.Path(__file__).parent.parent / "Benchmarks" / "request-costs.json"
TOLERANCE = 0.03

CONFIG = """\
version: 1
listen: 127.0.0.1:{listen}
admin: 127.0.0.1:{admin}
workers: 1
log: {{ level: error, access: false }}
defaults: {{ deadline: 10s, timeout: 5s, max_body: 1MiB }}
backends:
  b1: {{ url: "http://127.0.0.1:{b1}" }}
  b2: {{ url: "http://127.0.0.1:{b2}" }}
  b3: {{ url: "http://127.0.0.1:{b3}" }}
endpoints:
  - route: GET /one/{{size}}
    calls: {{ b1: {{ from: b1, get: "/{{size}}", at: . }} }}
  - route: GET /three/{{size}}
    calls:
      b1: {{ from: b1, get: "/{{size}}" }}
      b2: {{ from: b2, get: "/{{size}}" }}
      b3: {{ from: b3, get: "/{{size}}" }}
  - route: ANY /proxy/*
    proxy: {{ to: b1, path: /* }}
  - route: GET /list/{{count}}
    calls:
      list: {{ from: b1, get: "/list/{{count}}", at: none }}
      items:
        each: {{ in: "{{list.items[]}}", as: item, max: 1000, parallel: 8 }}
        from: b2
        get: "/{{item}}?of={{list.count}}"
        required: true
"""

# The kinds of requests, each with its path.
KINDS = {
    "one call, 200 B": "/one/small",
    "three calls, 200 B": "/three/small",
    "three calls, 20 KB": "/three/large",
    "proxy, 200 B": "/proxy/small",
    "no route": "/nothing",
}

# Lists: the cost of one element must not grow with their number.
LISTS = (100, 1000)
LINEARITY = 0.1

RECORD = b'{"id":1,"name":"Lamp","price":19.90,"tags":["a","b","c"],"text":"hello world","nested":{"b":null,"c":true}}'


class Backend(Listener):
    """Responds to one request after the other on each connection: with 200 B, with 20 KB to `/large`, and with a
    list of N numbers to `/list/N`.
    """

    def serve(self, connection):
        received = b""
        while piece := connection.recv(65536):
            received += piece
            while b"\r\n\r\n" in received:
                head, _, received = received.partition(b"\r\n\r\n")
                connection.sendall(self.answer(head.split(b" ")[1]))

    def answer(self, path):
        if path.startswith(b"/list/"):
            count = int(path[6:])
            numbers = b",".join(b"%d" % number for number in range(count))
            return self.response(b'{"items":[%b],"count":%d}' % (numbers, count))
        return self.large if path == b"/large" else self.small

    @staticmethod
    def response(body):
        return (
            b"HTTP/1.1 200 OK\r\nServer: backend\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            b"Content-Type: application/json\r\nConnection: keep-alive\r\n"
            b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        )


Backend.small = Backend.response(b'{"record":%b,"text":"%b"}' % (RECORD, b"x" * 72))
Backend.large = Backend.response(b"{" + b",".join(b'"r%d":%b' % (n, RECORD) for n in range(176)) + b"}")


class Client:
    """One connection."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def request(self, path):
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: gateway\r\n\r\n".encode())
        received = b""
        while b"\r\n\r\n" not in received:
            received += self.piece()
        head, _, body = received.partition(b"\r\n\r\n")
        left = int(re.search(rb"(?i)content-length: (\d+)", head)[1]) - len(body)
        while left > 0:
            left -= len(self.piece())
        return int(head.split(b" ", 2)[1])

    def piece(self):
        piece = self.socket.recv(65536)
        if not piece:
            sys.exit("the gateway closed the connection")
        return piece


class Counts:
    """Counts by a library that is loaded into the gateway."""

    names = ("allocations", "references")
    requests = 200
    repetitions = 3

    def __init__(self, binary, folder, counter, ports):
        self.output = pathlib.Path(folder) / "counts"
        self.output.touch()
        environment = ("env", f"LD_PRELOAD={counter}", f"REQUEST_COUNTS={self.output}")
        self.gateway = Gateway(binary, folder, CONFIG, launcher=environment, **ports)

    def begin(self):
        self.before = self.read()

    def end(self):
        return [after - before for before, after in zip(self.before, self.read())]

    def read(self):
        lines = len(self.output.read_text().splitlines())
        self.gateway.process.send_signal(signal.SIGUSR2)
        if not wait(lambda: len(self.output.read_text().splitlines()) > lines):
            sys.exit("the counter library does not work here")
        return [int(word) for word in self.output.read_text().splitlines()[-1].split()]


class Instructions:
    """Counts by callgrind."""

    names = ("instructions",)
    requests = 200
    # One of them may include what the daemon does once after its start.
    repetitions = 2

    def __init__(self, binary, folder, ports, profiles):
        self.output = pathlib.Path(profiles or folder).resolve() / "callgrind"
        self.dumps = 0
        launcher = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={self.output}")
        # Valgrind 3.19 cannot read the debug information.
        stripped = pathlib.Path(folder) / "tributary"
        subprocess.run(["objcopy", "--strip-debug", binary, stripped], check=True)
        self.gateway = Gateway(str(stripped), folder, CONFIG, launcher=launcher, **ports)

    def control(self, option):
        subprocess.run(
            ["callgrind_control", option, str(self.gateway.process.pid)], check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def begin(self):
        self.control("-z")

    def end(self):
        self.control("-d")
        self.dumps += 1
        dump = self.output.with_name(f"{self.output.name}.{self.dumps}")
        if not wait(lambda: dump.exists() and "totals:" in dump.read_text(errors="replace"), seconds=60):
            sys.exit("callgrind wrote no counts")
        return [int(re.search(r"^totals: (\d+)", dump.read_text(errors="replace"), re.M)[1])]


def measure(method, client, path, status, share=1):
    """The counts of a request: the least of some repetitions, since a piece that arrives late costs more.

    - share: fewer requests than usual
    """
    requests = max(2, method.requests // share)
    for _ in range(max(2, 50 // share)):
        if client.request(path) != status:
            sys.exit(f"{path} did not get {status}")
    rounds = []
    for _ in range(method.repetitions):
        method.begin()
        for _ in range(requests):
            client.request(path)
        rounds.append([count / requests for count in method.end()])
    return [min(values) for values in zip(*rounds)]


def compare(kind, name, count, limit):
    print(f"{kind:20} {name:13} {count:10.1f}, limit {limit}", flush=True)
    if count > limit * (1 + TOLERANCE):
        expect(False, f"{kind}: {count:.1f} {name} per request, {count / limit - 1:.1%} above the limit of {limit}")
    else:
        expect(
            count >= limit * (1 - TOLERANCE),
            f"{kind}: {count:.1f} {name} per request; lower the limit of {limit} in {LIMITS.name}")


def check_lists(method, client):
    """The cost of a list is proportional to the number of its elements."""
    few, many = LISTS
    costs = [measure(method, client, f"/list/{count}", 200, share=count) for count in LISTS]
    for name, of_few, of_many in zip(method.names, *costs):
        growth = of_many / of_few / (many / few)
        print(f"list of {few:4}          {name:13} {of_few / few:10.1f} for each element")
        print(f"list of {many:4}          {name:13} {of_many / many:10.1f} for each element", flush=True)
        expect(growth <= 1 + LINEARITY, f"lists: {name} for each element grow by {growth - 1:.1%} from {few} to {many}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    method = parser.add_mutually_exclusive_group(required=True)
    method.add_argument("--counter", help="the library that counts")
    method.add_argument("--instructions", action="store_true")
    parser.add_argument("--profiles", help="a folder that keeps the files of callgrind")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()

    backends = [Backend() for _ in range(3)]
    ports = {f"b{index + 1}": backend.port for index, backend in enumerate(backends)}
    limits = json.loads(LIMITS.read_text()) if LIMITS.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        if options.instructions:
            method = Instructions(options.binary, folder, ports, options.profiles)
        else:
            method = Counts(options.binary, folder, str(pathlib.Path(options.counter).resolve()), ports)
        client = Client(method.gateway.port)
        for kind, path in KINDS.items():
            counts = measure(method, client, path, 404 if kind == "no route" else 200)
            for name, count in zip(method.names, counts):
                if options.record:
                    print(f"{kind:20} {name:13} {count:10.1f}")
                    limits.setdefault(kind, {})[name] = round(count)
                else:
                    compare(kind, name, count, limits[kind][name])
        check_lists(method, client)
        method.gateway.stop(60)
    if options.record:
        rows = ",\n".join(f"  {json.dumps(kind)}: {json.dumps(limits[kind])}" for kind in KINDS)
        LIMITS.write_text("{\n" + rows + "\n}\n")
    finish()


main()
