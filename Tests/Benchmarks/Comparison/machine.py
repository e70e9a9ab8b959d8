"""The processors that the programs run on, and what is known about the machine."""

import contextlib
import os
import pathlib
import platform
import re
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Processors:
    """Those of the gateway under test, and those of the load and the backends."""

    def __init__(self, gateway=None, load=None):
        allowed = sorted(os.sched_getaffinity(0))
        self.count = len(allowed)
        self.load = load or {allowed[0]}
        self.gateway = gateway or {allowed[1 % self.count]}
        self.all = set(allowed)

    @contextlib.contextmanager
    def pinned(self, processors):
        """Programs that are started inside inherit the processors, as with `taskset`, without a program in between."""
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, processors)
        try:
            yield
        finally:
            os.sched_setaffinity(0, before)


class Others:
    """How much time other programs use on some processors, in processors: all that is used, without that of our own.

    - own: returns the seconds that our own programs have used so far
    """

    def __init__(self, processors, own):
        self.lines = {f"cpu{number}" for number in processors.gateway | processors.load}
        self.own = own
        self.before = (time.monotonic(), self.used(), own())

    def share(self):
        now = (time.monotonic(), self.used(), self.own())
        passed, used, own = (after - before for after, before in zip(now, self.before))
        return max(0.0, (used - own) / passed)

    def used(self):
        ticks = 0
        for line in pathlib.Path("/proc/stat").read_text().splitlines():
            name, *fields = line.split()
            if name in self.lines:
                # Without the time that the processor is idle, or idle because of input and output.
                user, nice, system, _, _, *rest = map(int, fields[:8])
                ticks += user + nice + system + sum(rest)
        return ticks / os.sysconf("SC_CLK_TCK")


def raise_descriptor_limit(wanted=65536):
    """The limit that the programs inherit; root may raise it above the hard limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for limit in (max(wanted, hard), hard):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
            return limit
    return hard


def release_build():
    """The path of a new release build of this checkout."""
    print("building (release; the first time takes some minutes)", file=sys.stderr)
    command = ["swift", "build", "-c", "release", "--product", "tributary", "--package-path", str(ROOT)]
    if subprocess.run(command, stdout=sys.stderr).returncode != 0:
        sys.exit(1)
    folder = subprocess.run([*command, "--show-bin-path"], capture_output=True, text=True, check=True).stdout.strip()
    return f"{folder}/tributary"


def static_build(*options):
    """The path of a new build of this checkout's binary for the image, which has no symbols by default."""
    print("building (release; the first time takes some minutes)", file=sys.stderr)
    build = subprocess.run([str(ROOT / "script/static"), *options], stdout=subprocess.PIPE, text=True)
    if build.returncode != 0:
        sys.exit(1)
    return build.stdout.strip()


def binary_and_commit(given, commit, build=release_build):
    """A binary, and the commit that it was made of: the given ones, or those of this checkout."""
    if given:
        return given, commit or first_match(r"commit +(\S+)", output(given, "version"))
    built_from = output("git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*").strip()
    return build(), commit or built_from


def static_build_with_symbols():
    return static_build("--symbols")


def require_symbols(binary):
    """Ends the script if the binary has none."""
    if ".symtab" not in output("readelf", "--section-headers", binary):
        sys.exit(f"{binary} has no symbols; `script/static --symbols` keeps them")


def require(*programs):
    """Ends the script if one is missing."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        sys.exit(f"missing: {', '.join(missing)}; `script/deps bench` installs them")


def output(*command):
    """What a program prints; empty if it does not exist."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except OSError:
        return ""
    return result.stdout + result.stderr


def processor_name():
    found = re.search(r"^model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return found[1] if found else platform.machine()


def first_match(pattern, text):
    found = re.search(pattern, text)
    return found[1] if found else "?"


def versions():
    return {
        "nginx-lua": "nginx " + first_match(r"nginx/(\S+)", output("nginx", "-v")),
        "haproxy": "HAProxy " + first_match(r"version (\d[\d.]*)", output("haproxy", "-v")),
        "node": "Node " + first_match(r"v(\S+)", output("node", "--version")),
        "floor": "libuv " + output("pkg-config", "--modversion", "libuv").strip(),
        "wrk": "wrk " + first_match(r"wrk \S*?(\d[\d.]*)", output("wrk", "-v")),
    }
