"""Runs a gateway under callgrind, and reads what it has counted for a number of requests."""

import os
import pathlib
import re
import subprocess
import sys

from client import Client
from gateways import Gateway
from harness import wait

# Deeper stacks begin in the middle.
MAX_CALLERS = 48
WARM_REQUESTS = 100
REQUESTS = 300


class Counted(Gateway):
    """A gateway whose program runs in valgrind."""

    def wait_for(self, path, log):
        if not wait(lambda: self.process.poll() is not None or self.answers(path), seconds=600, pause=0.1):
            sys.exit(f"the gateway did not answer under valgrind: {log.read_text()[-2000:]}")


def without_debug_information(binary, folder):
    """A copy: valgrind 3.19 cannot read the debug information of Swift 6."""
    copy = folder / "tributary"
    subprocess.run(["objcopy", "--strip-debug", binary, str(copy)], check=True)
    return copy


def count(world, name, path, callers=0):
    """The instructions of one request by stack: a dictionary of tuples of (symbol, library), the outermost first.

    The requests come one after the other on one connection.

    - callers: how many callers of a function are kept apart; 0 means none, so that a stack is one function
    """
    output = world.folder / f"callgrind-{name}{path.replace('/', '-')}"
    world.launcher = [
        "valgrind", "--tool=callgrind", f"--separate-callers={callers}", "--demangle=no", f"--callgrind-out-file={output}"]
    gateway = Counted(name, world, path=path)
    client = Client(gateway, path)
    for _ in range(WARM_REQUESTS):
        client.exchange()
    control("-z", gateway.process.pid)
    for _ in range(REQUESTS):
        client.exchange()
    control("-d", gateway.process.pid)
    client.close()
    gateway.kill()
    return read(pathlib.Path(f"{output}.1"), REQUESTS)


def control(option, process):
    subprocess.run(["callgrind_control", option, str(process)], check=True, stdout=subprocess.DEVNULL)


def read(path, requests):
    """Only what each function itself executes; callgrind's names contain the callers: callee'caller'caller's caller."""
    names, libraries, stacks = {}, {}, {}
    stack, is_call = None, False
    library_of = {}
    library = ""
    with open(path, errors="replace") as file:
        for line in file:
            if found := re.match(r"(c?)(fn|ob)=\((\d+)\)(?: (.*))?", line):
                called, kind, number, name = found.groups()
                table = names if kind == "fn" else libraries
                if name:
                    table[number] = name
                if kind == "ob" and not called:
                    library = os.path.basename(libraries[number])
                elif kind == "fn" and not called:
                    stack = names[number]
                    library_of[stack.split("'")[0]] = library
            elif line.startswith("calls="):
                is_call = True
            elif found := re.match(r"[+\-*\d]\S* (\d+)$", line):
                if not is_call and stack:
                    stacks[stack] = stacks.get(stack, 0) + int(found[1])
                is_call = False
    result = {}
    for text, count in stacks.items():
        frames = tuple((symbol, library_of.get(symbol, "")) for symbol in reversed(frames_of(text)))
        result[frames] = result.get(frames, 0) + count / requests
    return result


def frames_of(text):
    """The symbols of a name, without the numbers of recursions."""
    return [part for part in text.split("'") if not part.isdigit()]
