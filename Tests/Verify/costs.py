"""What the measurements of costs share: servers that run in turn on one core, and a table of medians."""

import pathlib
import re
import statistics
import subprocess
import sys

from harness import Server, accepts, image_environment, wait

# The load runs on the other core.
LOAD = ["taskset", "-c", "0"]


def compile_floor(source, folder, *libraries):
    """The path of the program of a file beside this one, or of a file with an absolute path."""
    path = pathlib.Path(__file__).parent / source
    program = str(folder / path.stem)
    subprocess.run(["cc", "-O2", "-o", program, str(path), *libraries], check=True)
    return program


class MeasuredServer(Server):
    """The floor, the gateway, nginx or HAProxy.

    - floor: its command
    - configs: the configurations of the others, by name, with `values` in braces
    - ports: those that it must accept connections on
    """

    def __init__(self, name, folder, binary, floor, configs, ports, values):
        self.name = name
        config = folder / f"{name}.yaml"
        if name in configs:
            config.write_text(configs[name].format(**values))
        command = {
            "floor": floor, "tributary": [binary, "serve", str(config)],
            "nginx": ["nginx", "-p", str(folder), "-c", str(config)], "haproxy": ["haproxy", "-f", str(config)],
        }[name]
        super().__init__(
            ["taskset", "-c", "1", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=image_environment() if name == "tributary" else None)
        if not wait(lambda: all(accepts(port) for port in ports)):
            sys.exit(f"{name} did not start")


def cpu_per_request(server, url, connections, seconds, any_status=False):
    """Microseconds of CPU for one request on kept connections."""
    before = server.cpu()
    out = subprocess.run(
        [*LOAD, "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", url], capture_output=True, text=True).stdout
    if "Non-2xx" in out and not any_status:
        sys.exit(f"{server.name}: {out}")
    return (server.cpu() - before) / int(re.search(r"(\d+) requests in", out)[1]) * 1e6


class Table:
    """Measurements, by what is measured and by server."""

    def __init__(self, names):
        self.names = names
        self.rows = {}

    def add(self, row, name, value):
        self.rows.setdefault(row, {}).setdefault(name, []).append(value)

    def print(self):
        """The medians, each beside its ratio to the floor."""
        width = max(map(len, self.rows)) + 1
        print(" " * width + "".join(f"{name:>18}" for name in self.names))
        for row, values in self.rows.items():
            medians = {name: statistics.median(values[name]) for name in self.names}
            base = medians.get("floor")
            print(f"{row:{width}}" + "".join(
                f"{medians[name]:10.2f}" + (f" {medians[name] / base:5.2f} x" if base else " " * 8)
                for name in self.names))
