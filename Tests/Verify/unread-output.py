#!/usr/bin/env python3
"""Serves many requests while nothing reads standard output, and checks what must not depend on it.

    Tests/Verify/unread-output.py .build/release/tributary [--requests 1000000] [--port 26500]

The access log is on and goes into a pipe that is full after 64 KiB. Meanwhile the script requests /livez
ten times a second and reads the resident memory; then it sends SIGTERM while requests are in flight.
Everything runs on loopback. Python's standard library only; the backend is a small one of its own.
"""

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

LIVEZ_LIMIT = 0.050
MEMORY_LIMIT = 16 << 20
DRAIN_SECONDS = 5
CONNECTIONS = 32
PIPELINED = 16
BODY = b'{"ok":true}'

CONFIG = """\
version: 1
listen: 127.0.0.1:{listen}
admin: 127.0.0.1:{admin}
workers: 1
drain: {{ timeout: {drain}s }}
backends:
  b: {{ url: "http://127.0.0.1:{backend}" }}
endpoints:
  - route: GET /x
    calls: {{ one: {{ from: b, get: / }} }}
"""


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("binary")
    arguments.add_argument("--requests", type=int, default=1_000_000)
    arguments.add_argument("--port", type=int, default=26500)
    arguments.add_argument("--minutes", type=float, default=20)
    options = arguments.parse_args()
    backend = subprocess.Popen(
        [sys.executable, __file__, "--backend", str(options.port + 2)], stdout=subprocess.PIPE)
    backend.stdout.readline()
    try:
        verify(options)
    finally:
        backend.kill()
        backend.wait()


def verify(options):
    config = CONFIG.format(
        listen=options.port, admin=options.port + 1, backend=options.port + 2, drain=DRAIN_SECONDS)
    # The read end stays open and is never read.
    reader, writer = os.pipe()
    gateway = subprocess.Popen(
        [options.binary, "serve", "-"], stdin=subprocess.PIPE, stdout=writer)
    os.close(writer)
    gateway.stdin.write(config.encode())
    gateway.stdin.close()
    try:
        wait_until_ready(options.port + 1, gateway)
        warm_up(options.port)
        check(gateway, options)
    finally:
        if gateway.poll() is None:
            gateway.kill()
        gateway.wait()
        os.close(reader)


def check(gateway, options):
    # Beyond the bound of the log's queue, so that only growth counts that goes on.
    initial = resident(gateway.pid)
    watch = Watch(gateway.pid, options.port + 1)
    began = time.monotonic()
    served = send(options.port, options.requests, began + options.minutes * 60)
    took = time.monotonic() - began
    watch.stop()
    dropped = metric(options.port + 1, "tributary_log_lines_dropped_total")
    stay_in_flight(options.port)
    signalled = time.monotonic()
    gateway.send_signal(signal.SIGTERM)
    try:
        status = gateway.wait(timeout=DRAIN_SECONDS + 10)
    except subprocess.TimeoutExpired:
        status = None
    end = time.monotonic() - signalled
    print(f"{served} requests in {took:.1f} s, {served / took:.0f} per second")
    print(f"/livez: {watch.count} times, at most {watch.slowest * 1000:.1f} ms")
    print(f"resident memory: {initial >> 10} KiB at first, at most {watch.most >> 10} KiB")
    print(f"log lines dropped: {dropped}")
    print(f"SIGTERM: status {status} after {end:.2f} s")
    failures = []
    if served < options.requests:
        failures.append(f"only {served} of {options.requests} requests were answered with 200")
    if watch.failures:
        failures.append(f"/livez failed {watch.failures} times")
    if watch.slowest > LIVEZ_LIMIT:
        failures.append("/livez was slow")
    if watch.most - initial > MEMORY_LIMIT:
        failures.append("memory grew")
    if dropped <= 0:
        failures.append("no dropped line was counted")
    if status != 0 or end > DRAIN_SECONDS:
        failures.append("it did not end within its drain time")
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    sys.exit(1 if failures else 0)


class Watch:
    """Requests /livez and reads the memory, on a thread of its own."""

    def __init__(self, pid, port):
        self.pid, self.port = pid, port
        self.slowest, self.count, self.failures, self.most = 0.0, 0, 0, 0
        self.is_running = True
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while self.is_running:
            # The time of this process alone would count as the gateway's, were it measured in
            # Python while another thread holds the interpreter; the load is another process.
            began = time.monotonic()
            try:
                if b" 200 " not in get(self.port, "/livez").split(b"\r\n")[0]:
                    self.failures += 1
            except OSError:
                self.failures += 1
            self.slowest = max(self.slowest, time.monotonic() - began)
            self.count += 1
            self.most = max(self.most, resident(self.pid))
            time.sleep(0.1)

    def stop(self):
        self.is_running = False
        self.thread.join()


def resident(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read()).group(1)) << 10


def get(port, path):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                           .encode())
        received = b""
        while part := connection.recv(1 << 16):
            received += part
        return received


def metric(port, name):
    match = re.search(rf"^{name} (\d+)$".encode(), get(port, "/metrics"), re.MULTILINE)
    return int(match.group(1)) if match else -1


def wait_until_ready(port, gateway):
    for _ in range(200):
        if gateway.poll() is not None:
            sys.exit("the gateway ended at its start")
        try:
            if b" 200 " in get(port, "/readyz").split(b"\r\n")[0]:
                return
        except OSError:
            pass
        time.sleep(0.05)
    sys.exit("the gateway did not become ready")


def warm_up(port):
    """Fills the pipe and the connections; the queue of the log is still almost empty then."""
    send(port, 2_000, time.monotonic() + 60)


def stay_in_flight(port):
    """Requests whose responses nothing awaits."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n" * 4)
    connection.close()


def send(port, count, deadline):
    """Requests on several connections, from a process of its own; gives how many got a 200."""
    loader = subprocess.run(
        [sys.executable, __file__, "--load", str(port), str(count),
         str(max(1.0, deadline - time.monotonic()))], stdout=subprocess.PIPE, check=True)
    return int(loader.stdout)


def load(port, count, seconds):
    import selectors
    request = b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n" * PIPELINED
    selector = selectors.DefaultSelector()
    deadline = time.monotonic() + seconds
    left, served = count, 0
    waiting = {}
    for _ in range(CONNECTIONS):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(connection, selectors.EVENT_READ)
        waiting[connection] = 0
        left = begin(connection, request, waiting, left)
    while served < count and time.monotonic() < deadline:
        for key, _ in selector.select(timeout=1):
            connection = key.fileobj
            part = connection.recv(1 << 18)
            if not part:
                sys.exit("a connection was closed")
            # A response is cut in two seldom, and its status line never: it is written at once.
            answered = part.count(b"HTTP/1.1 200 OK\r\n")
            served += answered
            waiting[connection] -= answered
            if waiting[connection] == 0:
                left = begin(connection, request, waiting, left)
    print(served)


def begin(connection, request, waiting, left):
    number = min(PIPELINED, left)
    if number:
        connection.sendall(request[:len(request) // PIPELINED * number])
        waiting[connection] = number
    return left - number


def serve_backend(port):
    import selectors
    answer = (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
              % len(BODY)) + BODY
    listener = socket.create_server(("127.0.0.1", port), backlog=1024)
    listener.setblocking(False)
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    print("ready", flush=True)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                connection, _ = listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(connection, selectors.EVENT_READ)
                continue
            try:
                part = key.fileobj.recv(1 << 16)
            except ConnectionError:
                part = b""
            if not part:
                selector.unregister(key.fileobj)
                key.fileobj.close()
                continue
            # One request at a time on each connection, in one piece.
            key.fileobj.sendall(answer * part.count(b"\r\n\r\n"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--backend"]:
        serve_backend(int(sys.argv[2]))
    elif sys.argv[1:2] == ["--load"]:
        load(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
    else:
        main()
