"""What is measured, row by row. Each function adds its figures to the results.

Rows with a path are a grid: in each repetition every program serves every point, one program right after the other.
"""

import contextlib
import dataclasses
import pathlib
import signal
import subprocess
import sys
import time

from client import Client
from gateways import Gateway
from harness import wait
from load import Load, measure, time_of_children
from machine import Others


@dataclasses.dataclass(frozen=True)
class Point:
    name: str
    path: str
    connections: int


@dataclasses.dataclass(frozen=True)
class Grid:
    title: str
    points: tuple
    only_plain: bool = False

    def servers(self, names):
        """HAProxy passes bodies through and cannot combine them."""
        return [name for name in names if name != "haproxy" or self.only_plain]


def by_connections(path, *connections):
    return tuple(Point(f"{count} connection{'s' * (count > 1)}", path, count) for count in connections)


GRIDS = {
    "R1": Grid("one call, 200 B", by_connections("/one/small", 1, 64), only_plain=True),
    "R1-proxy": Grid("`proxy`, 200 B", by_connections("/proxy/small", 1, 64), only_plain=True),
    "R2": Grid("three calls, 200 B", by_connections("/calls/3/small", 1, 16, 64, 256)),
    "R3": Grid("three calls, 2 KB", by_connections("/calls/3/medium", 1, 64)),
    "R4": Grid("three calls, 20 KB", by_connections("/calls/3/large", 1, 64)),
    "R5": Grid("calls of 200 B, 16 connections", tuple(
        Point(f"{count} call{'s' * (count > 1)}", f"/calls/{count}/small", 16) for count in (1, 2, 4, 8, 16))),
}
OTHERS = ("R6", "R7", "R8", "S")
ALL = (*GRIDS, *OTHERS)
IDLE_CONNECTIONS = 8000
HANGING_CONNECTIONS = 64
HEALTHY_CONNECTIONS = 16
TRACED_REQUESTS = 3200


class Run:
    """The gateways that stay up between rows, and how long and how often each is measured."""

    def __init__(self, world, results, repetitions, seconds, quick):
        self.world, self.results = world, results
        self.repetitions, self.seconds, self.quick = repetitions, seconds, quick
        self.running = {}
        self.warm = set()

    def gateway(self, name):
        if name not in self.running:
            gateway = Gateway(name, self.world)
            print(f"{name}: {gateway.check()} responses are correct", flush=True)
            self.running[name] = gateway
        return self.running[name]

    def stop(self):
        for gateway in self.running.values():
            gateway.kill()
        self.running.clear()
        self.warm.clear()

    def warm_up(self, gateway, path):
        """Opens the connections to the backends, and lets Node compile."""
        if (gateway, path) not in self.warm:
            Load(self.world, gateway, path, 64, 1).finish()
            self.warm.add((gateway, path))

    def measure_row(self, row):
        print(f"row {row}", flush=True)
        if row in GRIDS:
            return self.grid(row, GRIDS[row])
        {"R6": self.idle_connections, "R7": self.hanging_backend, "R8": self.start, "S": self.system_calls}[row]()

    def grid(self, row, grid):
        points = [point for point in grid.points if not self.quick or point.connections in (16, 64)]
        servers = [self.gateway(name) for name in grid.servers(self.world.names)]
        for repetition in range(self.repetitions):
            for point in points:
                for server in servers:
                    self.warm_up(server, point.path)
                    figures = measure(self.world, server, point.path, point.connections, self.seconds)
                    self.results.add(row, point.name, server.name, repetition, **figures)

    # MARK: R6

    def idle_connections(self):
        """In a new process each, so that memory which an earlier row has freed does not hide the growth."""
        count = IDLE_CONNECTIONS // (8 if self.quick else 1)
        for name in self.world.names:
            path = "/one/small" if name == "haproxy" else "/calls/3/small"
            gateway = Gateway(name, self.world, path=path)
            with contextlib.ExitStack() as stack:
                open_clients(stack, gateway, path, 20)
                before = gateway.own_memory()
                open_clients(stack, gateway, path, count)
                after = gateway.own_memory()
            self.results.add(
                "R6", f"{count} connections", name, 0, bytes_per_connection=(after - before) * 1024 / count)
            gateway.kill()

    # MARK: R7

    def hanging_backend(self):
        """What a request costs while its third backend hangs, and what another endpoint loses by it."""
        servers = [self.gateway(name) for name in self.world.names if name != "haproxy"]
        for repetition in range(self.repetitions):
            for server in servers:
                figures = measure(self.world, server, "/hang", HANGING_CONNECTIONS, self.seconds)
                self.results.add("R7", "the endpoint with the hanging backend", server.name, repetition, **figures)
            for server in servers:
                self.warm_up(server, "/calls/3/small")
                alone = Load(self.world, server, "/calls/3/small", HEALTHY_CONNECTIONS, self.seconds).finish()
                beside = Load(self.world, server, "/hang", HANGING_CONNECTIONS, self.seconds + 2)
                time.sleep(1)
                both = Load(self.world, server, "/calls/3/small", HEALTHY_CONNECTIONS, self.seconds).finish()
                beside.finish()
                self.results.add(
                    "R7", "another endpoint meanwhile", server.name, repetition, p99_us=both["p99_us"],
                    p99_alone_us=alone["p99_us"], rate=both["requests_per_second"] / alone["requests_per_second"])

    # MARK: R8

    def start(self):
        for repetition in range(3 if self.quick else 7):
            for name in self.world.names:
                self.start_once(name, repetition)

    def start_once(self, name, repetition):
        gateway = None
        others = Others(self.world.processors, lambda: time_of_children() + (gateway.cpu() if gateway else 0))
        begin = time.perf_counter()
        gateway = Gateway(name, self.world)
        seconds = time.perf_counter() - begin
        time.sleep(0.5)
        self.results.add(
            "R8", "start", name, repetition, start_ms=seconds * 1e3, start_cpu_ms=gateway.cpu_of_threads() * 1e3,
            rss_kib=gateway.memory(), anonymous_kib=gateway.own_memory(), others=others.share())
        gateway.kill()

    # MARK: System calls

    def system_calls(self):
        for connections in (1, 64):
            for name in self.world.names:
                gateway = self.gateway(name)
                path = "/one/small" if name == "haproxy" else "/calls/3/small"
                self.warm_up(gateway, path)
                self.results.add(
                    "S", f"{connections} connection{'s' * (connections > 1)}", name, 0,
                    calls=count_system_calls(self.world, gateway, path, connections))


def open_clients(stack, gateway, path, count):
    """Clients that have made one request each, and are closed with the stack."""
    clients = []
    for _ in range(count):
        clients.append(stack.enter_context(contextlib.closing(Client(gateway, path))))
        clients[-1].exchange()
    return clients


def count_system_calls(world, gateway, path, connections):
    """For one request, by kind, with strace. All connections send at the same time; they are open before and after."""
    with contextlib.ExitStack() as stack:
        clients = open_clients(stack, gateway, path, connections)
        rounds = max(10, TRACED_REQUESTS // connections)
        exchange_rounds(clients, 10)
        with Tracer(world, gateway) as tracer:
            exchange_rounds(clients, rounds)
    return {kind: count / rounds / connections for kind, count in tracer.counts.items()}


def exchange_rounds(clients, rounds):
    for _ in range(rounds):
        for client in clients:
            client.send()
        for client in clients:
            client.receive()


class Tracer:
    """strace on a gateway, which counts its system calls until the end of the block."""

    def __init__(self, world, gateway):
        self.report = world.folder / "system-calls.txt"
        self.world, self.gateway = world, gateway
        self.counts = {}

    def __enter__(self):
        command = ["strace", "-qq", "-c", "-f", "-o", str(self.report), "-p", str(self.gateway.process.pid)]
        with self.world.processors.pinned(self.world.processors.load):
            self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        status = pathlib.Path(f"/proc/{self.gateway.process.pid}/status")
        wait(lambda: self.process.poll() is not None or "TracerPid:\t0" not in status.read_text())
        if self.process.poll() is not None:
            sys.exit(f"strace failed: {self.process.stderr.read()}")
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()
        for line in self.report.read_text().splitlines():
            fields = line.split()
            if len(fields) >= 5 and fields[3].isdigit() and fields[-1] != "total":
                self.counts[fields[-1]] = int(fields[3])
