"""Load with wrk, and what a request costs the gateway meanwhile."""

import json
import pathlib
import re
import resource
import subprocess
import sys
import time

from machine import Others

# Processors that other programs may use during a run, before it is repeated.
DISTURBED = 0.1
SCRIPT = str(pathlib.Path(__file__).with_name("load.lua"))


class Load:
    """One run of wrk, which has begun."""

    def __init__(self, world, gateway, path, connections, seconds, endpoints=None):
        arguments = ["--", str(endpoints)] if endpoints else []
        command = [
            "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", SCRIPT, gateway.url(path), *arguments]
        with world.processors.pinned(world.processors.load):
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def finish(self):
        """What wrk has measured; the rate is that of the responses with 2xx."""
        output = self.process.communicate()[0]
        found = re.search(r"^SUMMARY (.*)$", output, re.M)
        if not found:
            sys.exit(f"wrk failed: {output[-1000:]}")
        summary = json.loads(found[1])
        summary["requests_per_second"] = (summary["requests"] - summary["refused"]) / summary["seconds"]
        return summary


def measure(world, gateway, path, connections, seconds, endpoints=None, may_refuse=False):
    """The figures of a run. If other programs use the machine, it waits and repeats, and returns the least disturbed run.

    It does not begin another run when the patience is over.
    """
    end = time.monotonic() + world.patience
    runs = []
    while not runs or (time.monotonic() < end and runs[-1]["others"] >= DISTURBED):
        wait_for_quiet(world, end)
        runs.append(measure_once(world, gateway, path, connections, seconds, endpoints, may_refuse))
    return min(runs, key=lambda run: run["others"])


def wait_for_quiet(world, end):
    """Until other programs use little of the machine, but not longer than the time `end`."""
    while time.monotonic() < end:
        others = Others(world.processors, time_of_children)
        time.sleep(0.3)
        if others.share() < DISTURBED:
            return


def measure_once(world, gateway, path, connections, seconds, endpoints=None, may_refuse=False):
    """The summary of one run, with the microseconds of processor time for each request, and those of the kernel alone.

    The time is user and system time of the gateway's process, with all of its threads. A run with a response that is
    not 2xx, or with a broken connection, ends the script, unless it may be refused; then `cpu_us` is the cost of a
    response with 2xx, or None without one.
    """
    others = Others(
        world.processors, lambda: time_of_children() + sum(server.cpu() for server in (gateway, *world.backends.servers)))
    before = gateway.cpu_parts()
    summary = Load(world, gateway, path, connections, seconds, endpoints).finish()
    user, system = (after - earlier for after, earlier in zip(gateway.cpu_parts(), before))
    used = user + system
    succeeded = summary["requests"] - summary["refused"]
    if not may_refuse and (succeeded == 0 or summary["refused"] or summary["broken"]):
        sys.exit(f"{gateway.name}: {path} with {connections} connections: {summary}")
    summary["cpu_us"] = used / succeeded * 1e6 if succeeded else None
    summary["system_us"] = system / succeeded * 1e6 if succeeded else None
    summary["busy"] = used / summary["seconds"]
    summary["others"] = others.share()
    return summary


def time_of_children():
    """Seconds of this process and of programs that have ended, such as wrk."""
    own, ended = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime
