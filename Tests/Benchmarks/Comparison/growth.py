"""Growth curves: what a request costs as one quantity grows. Each is a table and a chart."""

import contextlib
import dataclasses
import time

from bodies import WIDTHS
from gateways import Gateway
from load import Load, measure, measure_once
from rows import HEALTHY_CONNECTIONS, open_clients

# Holds 10000 idle connections with 20000 file descriptors: the default also reserves them for 2000 requests in flight.
MANY_IDLE = {"connections": 20000, "requests_in_flight": 500}
# Connections from which on a program is measured alone.
MANY = 1024
# Serves as many requests at once as there are descriptors for.
RAISED = dict(limits={"connections": 20000, "requests_in_flight": 20000}, keepalive={"max_idle": 10240})


@dataclasses.dataclass(frozen=True)
class Curve:
    title: str
    x_title: str
    explanation: str
    figure: str = "cpu_us"
    y_title: str = "microseconds of processor time for each request"
    is_linear: bool = False


CURVES = {
    "calls": Curve(
        "Cost of a request by its number of calls", "calls of a request",
        "Calls of 200 B at 16 connections. A straight line is the best case.", is_linear=True),
    "endpoints": Curve(
        "Cost of a request by the number of endpoints", "endpoints",
        "Three calls of 200 B at 64 connections. Requests go to all endpoints in turn, or to ten of them, which is the cost of choosing "
        "without the cost of their data. The floor has no endpoints."),
    "busy": Curve(
        "Cost of a request by busy connections", "connections that send requests",
        "Three calls of 200 B. All connections send without a pause. *Tributary* has its default limits: beyond "
        "`requests_in_flight` (2000), requests get a 503, and count with the others. *Raised limits* "
        "are 20000 for `connections` and `requests_in_flight` and 10240 for `keepalive.max_idle`."),
    "open": Curve(
        "Cost of a request by idle connections", "further connections, which are idle",
        "Three calls of 200 B at 64 connections, while others are open and idle."),
    "workers": Curve(
        "Cost of a request by workers", "workers",
        "Three calls of 200 B at 64 connections. The floor always has one thread. With fewer than four processors, the rate "
        "says nothing about scaling.", is_linear=True),
    "hanging": Curve(
        "Slowest one in a hundred of an endpoint beside one that hangs", "requests that wait for a hanging backend",
        "16 connections send requests to a healthy endpoint, while others wait 200 ms each for a backend that never responds.",
        "p99_ms", "99th percentile of the healthy endpoint in milliseconds"),
}


class Growth:
    def __init__(self, world, results, repetitions, seconds, quick):
        self.world, self.results = world, results
        self.repetitions, self.seconds, self.quick = repetitions, seconds, quick
        self.names = [name for name in world.names if name in ("floor", "tributary", "nginx-lua")]

    def measure_curve(self, name):
        print(f"growth: {name}", flush=True)
        getattr(self, name)()

    def add(self, curve, point, server, repetition, figures):
        self.results.add(f"growth-{curve}", point, server, repetition, **figures)

    @contextlib.contextmanager
    def started(self, *names, **settings):
        gateways = [Gateway(name, self.world, **settings) for name in names]
        try:
            for gateway in gateways:
                Load(self.world, gateway, "/calls/3/small", 64, 1).finish()
            yield gateways
        finally:
            for gateway in gateways:
                gateway.kill()

    def shortened(self, points):
        """For a quick run: the first, the last and one between."""
        return sorted({*points[:: max(1, len(points) // 2)], points[-1]}) if self.quick else points

    # MARK: The curves

    def calls(self):
        with self.started(*self.names) as gateways:
            for repetition in range(self.repetitions):
                for count in self.shortened(WIDTHS):
                    for gateway in gateways:
                        figures = measure(self.world, gateway, f"/calls/{count}/small", 16, self.seconds)
                        self.add("calls", count, gateway.name, repetition, figures)

    def endpoints(self):
        counts = self.shortened((1, 10, 100, 1000))
        for repetition in range(self.repetitions):
            for count in counts:
                with self.started("floor", "tributary", endpoints=count) as gateways:
                    for gateway in gateways:
                        figures = measure(self.world, gateway, "/e/0/1", 64, self.seconds, endpoints=count)
                        self.add("endpoints", count, gateway.name, repetition, dict(figures, rss_kib=gateway.memory()))
                    if count >= 10:
                        figures = measure(self.world, gateway, "/e/0/1", 64, self.seconds, endpoints=10)
                        self.add("endpoints", count, "tributary-ten", repetition, figures)

    def busy(self):
        """With thousands of connections, limits refuse requests, and time limits end them where the machine is too slow.

        Each program then has the backends for itself: they have no descriptors for the kept connections of all.
        """
        settings = {**dict.fromkeys(self.names, {}), "tributary-raised": RAISED}
        counts = self.shortened((1, 4, 16, 64, 256, 1024, 1900, 4096, 9000))
        for repetition in range(self.repetitions):
            with contextlib.ExitStack() as stack:
                gateways = [stack.enter_context(self.started(name, **settings[name]))[0] for name in settings]
                for count in (count for count in counts if count < MANY):
                    for gateway in gateways:
                        figures = measure(self.world, gateway, "/calls/3/small", count, self.seconds)
                        self.add("busy", count, gateway.name, repetition, figures)
            for count in (count for count in counts if count >= MANY):
                for name in (name for name in settings if self.can_serve(name, count)):
                    with self.started(name, **settings[name]) as (gateway,):
                        # Opens the connections to the backends.
                        Load(self.world, gateway, "/calls/3/small", count, 2).finish()
                        figures = measure(
                            self.world, gateway, "/calls/3/small", count, self.seconds + 1, may_refuse=True)
                        self.add("busy", count, name, repetition, figures)

    def can_serve(self, name, connections):
        """nginx keeps 1024 connections to each backend; the others need four descriptors for a request of three calls."""
        if name == "nginx-lua":
            return connections <= 1024
        return name == "tributary" or connections * 4 + 200 <= self.world.descriptors

    def open(self):
        for repetition in range(self.repetitions):
            for name in self.names:
                with self.started(name, limits=MANY_IDLE) as (gateway,), contextlib.ExitStack() as stack:
                    already = 0
                    for count in self.shortened((0, 1000, 3000, 10000)):
                        open_clients(stack, gateway, "/calls/3/small", count - already)
                        already = count
                        figures = measure(self.world, gateway, "/calls/3/small", 64, self.seconds)
                        self.add("open", count, name, repetition, dict(figures, rss_kib=gateway.memory()))

    def workers(self):
        """The last processors are the gateway's; on a small machine it shares all of them with the load."""
        processors = self.world.processors
        available = sorted(processors.all)
        most = len(available) // 2 if len(available) >= 4 else len(available)
        counts = sorted({1, most, *(2 ** power for power in range(most.bit_length()) if 2 ** power <= most)})
        before = processors.load
        for repetition in range(self.repetitions):
            for count in counts:
                used = set(available[-count:]) if len(available) >= 4 else processors.all
                processors.load = processors.all - used or processors.all
                with self.started("floor", "tributary", processors=used, workers=count) as gateways:
                    for gateway in gateways:
                        figures = measure(self.world, gateway, "/calls/3/small", 64, self.seconds)
                        self.add("workers", count, gateway.name, repetition, figures)
        processors.load = before

    def hanging(self):
        with self.started(*self.names) as gateways:
            for repetition in range(self.repetitions):
                for count in self.shortened((0, 16, 64, 256, 1000)):
                    for gateway in gateways:
                        self.add("hanging", count, gateway.name, repetition, self.beside(gateway, count))

    def beside(self, gateway, count):
        """The figures of the healthy endpoint while that many requests wait."""
        load = Load(self.world, gateway, "/hang", count, self.seconds + 2) if count else None
        time.sleep(1)
        # Without patience: the load that waits ends.
        figures = measure_once(
            self.world, gateway, "/calls/3/small", HEALTHY_CONNECTIONS, self.seconds, may_refuse=count > 0)
        if load:
            load.finish()
        # The processor time also contains the requests that wait.
        del figures["cpu_us"]
        return dict(figures, p99_ms=figures["p99_us"] / 1000 if figures["requests"] else None)
