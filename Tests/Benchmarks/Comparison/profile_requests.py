#!/usr/bin/env python3
"""Counts the instructions of a request by area of the program with callgrind, and draws a flame graph of them.

Prints a table in Markdown; writes the table and profile.svg into the folder of --out. The counts repeat to about one
percent, also on a busy machine. They are those of user space: system calls count with their entry only.
"""

import argparse
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "Tests/Verify"))

import callgrind
import manual
from areas import AREAS, area_of
from flamegraph import FlameGraph
from gateways import TITLES, World
from harness import end_processes
from machine import Processors, binary_and_commit, output, require, require_symbols

# What runs in valgrind: Node compiles while it runs, and would be measured in it.
OTHERS = ("floor", "nginx-lua", "haproxy")
PATHS = {
    "one call, 200 B": "/one/small", "`proxy`, 200 B": "/proxy/small", "three calls, 200 B": "/calls/3/small",
    "three calls, 2 KB": "/calls/3/medium", "three calls, 20 KB": "/calls/3/large"}


def arguments():
    parser = argparse.ArgumentParser(
        prog="script/bench profile", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", metavar="PATH", help="a release build; without it, script/bench profile builds one")
    parser.add_argument("--commit", metavar="TEXT", help="the commit of --binary, for the report; else what `tributary version` prints")
    parser.add_argument("--graph", metavar="PATH", default="/calls/3/small", choices=PATHS.values(), help="what the flame graph shows (/calls/3/small)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / ".build/bench", metavar="FOLDER", help="default: .build/bench")
    parser.add_argument("--page", action="store_true", help="also write the table and the flame graph into docs/operate/performance.md and docs/images")
    return parser.parse_args()


def by_area(stacks):
    sums = dict.fromkeys(AREAS, 0.0)
    for frames, count in stacks.items():
        sums[area_of(*frames[-1])] += count
    return sums


def table(profiles):
    """Areas against kinds of requests, with shares."""
    sums = {title: by_area(stacks) for title, stacks in profiles.items()}
    totals = {title: sum(areas.values()) for title, areas in sums.items()}
    lines = [f"| instructions of | {' | '.join(profiles)} |", "|---" * (len(profiles) + 1) + "|"]
    for area in AREAS:
        if any(sums[title][area] >= 100 for title in profiles):
            cells = (f"{sums[title][area]:.0f} ({sums[title][area] / totals[title] * 100:.0f} %)" for title in profiles)
            lines.append(f"| {area} | {' | '.join(cells)} |")
    lines.append(f"| all | {' | '.join(f'{total:.0f}' for total in totals.values())} |")
    return "\n".join(lines) + "\n"


def readable(stacks):
    """The names of the symbols, by symbol: of Swift, then of C++."""
    symbols = sorted({symbol for frames in stacks for symbol, _ in frames})
    names = symbols
    for command in (["swift", "demangle", "-simplified"], ["c++filt", "--no-params"]):
        if shutil.which(command[0]):
            result = subprocess.run(command, input="\n".join(names), capture_output=True, text=True, check=True)
            names = result.stdout.splitlines()
    return dict(zip(symbols, names))


def comparison(profiles, totals):
    """The instructions of all programs."""
    lines = [f"| all instructions | {' | '.join(PATHS)} |", "|---" * (len(PATHS) + 1) + "|"]
    own = {title: sum(stacks.values()) for title, stacks in profiles.items()}
    for name, values in {"tributary": own, **totals}.items():
        cells = (f"{values[title]:.0f}" if title in values else "" for title in PATHS)
        lines.append(f"| {TITLES[name]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def count_all(binary):
    """The stacks of Tributary by kind of request, and the sums of the other programs."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            world = World(folder, callgrind.without_debug_information(binary, folder), Processors(), only=OTHERS)
            profiles = {
                title: callgrind.count(world, "tributary", path, callgrind.MAX_CALLERS) for title, path in PATHS.items()}
            totals = {
                name: {
                    title: sum(callgrind.count(world, name, path).values()) for title, path in PATHS.items()
                    if name != "haproxy" or not path.startswith("/calls/")}
                for name in world.names}
        finally:
            end_processes()
    return profiles, totals


def run(binary, commit, out, in_page, path="/calls/3/small"):
    """Counts every kind of request, and draws the flame graph of one."""
    require("valgrind", "objcopy", "readelf", "nginx", "cc")
    require_symbols(binary)
    out.mkdir(parents=True, exist_ok=True)
    profiles, totals = count_all(binary)
    text = f"Commit {commit}, {output('valgrind', '--version').strip()}.\n\n{table(profiles)}\n{comparison(profiles, totals)}"
    (out / "profile.md").write_text(text)
    print(text)
    title = next(title for title, known in PATHS.items() if known == path)
    graph = FlameGraph(profiles[title], readable(profiles[title]), f"Instructions of a request: {title.replace('`', '')}")
    graph.write(out / "profile.svg")
    print(f"wrote {out / 'profile.svg'}", file=sys.stderr)
    if in_page:
        manual.write_profile(ROOT, text, out / "profile.svg")


def main():
    # The programs that it has started end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    options = arguments()
    run(*binary_and_commit(options.binary, options.commit), options.out, options.page, options.graph)


if __name__ == "__main__":
    main()
