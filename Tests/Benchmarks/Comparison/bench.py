#!/usr/bin/env python3
"""Measures Tributary beside a floor in C, nginx with Lua, HAProxy and Node, those that are installed, in one run.

Prints tables in Markdown; writes the raw figures and charts into the folder of --out. Every program runs on loopback,
on free ports, and is ended by its id.

rows
  R1, R1-proxy   one call of 200 B; the same through `proxy`
  R2, R3, R4     three calls of 200 B, 2 KB, 20 KB
  R5             1 to 16 calls of 200 B
  R6             memory of an idle connection
  R7             a backend that never responds
  R8             time to start, and memory of an idle process
  S              system calls by kind, with strace
curves of --growth
  calls, endpoints, busy (connections that send), open (idle connections), workers, hanging (requests that wait)
"""

import argparse
import datetime
import os
import pathlib
import platform
import signal
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "Tests/Verify"))

import manual
import profile_requests
import report
from gateways import NAMES, TITLES, World
from growth import CURVES, Growth
from harness import end_processes
from machine import Processors, binary_and_commit, processor_name, require, require_symbols, static_build, static_build_with_symbols, versions
from results import Results
from rows import ALL, Run


def processors_of(text):
    return {int(number) for number in text.split(",")}


def listed(choices):
    """The values of a comma-separated option, each of which is one of the choices."""
    def read(text):
        values = text.split(",")
        for value in values:
            if value not in choices:
                raise argparse.ArgumentTypeError(f"'{value}' is none of {', '.join(choices)}")
        return values
    return read


def arguments():
    parser = argparse.ArgumentParser(
        prog="script/bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", metavar="PATH", help="the binary, with symbols for --reference; without it, that of the image, which script/static builds")
    parser.add_argument("--commit", metavar="TEXT", help="the commit of --binary, for the report; else what `tributary version` prints")
    parser.add_argument("--quick", action="store_true", help="about three minutes: one second each, two repetitions, fewer points")
    parser.add_argument("--rows", type=listed(ALL), metavar="ROW,...", help="only these rows")
    parser.add_argument("--only", type=listed(NAMES), metavar="NAME,...", help=f"only these programs: {', '.join(NAMES)}")
    parser.add_argument("--growth", nargs="?", type=listed(CURVES), const=list(CURVES), metavar="CURVE,...", help="the growth curves, instead of the rows")
    parser.add_argument("--repeat", type=int, help="repetitions, of which the median counts (3)")
    parser.add_argument("--seconds", type=int, help="seconds of each measurement (3)")
    parser.add_argument("--patience", type=int, metavar="SECONDS", help="how long each measurement waits, and is repeated, while other programs use the machine (10; 0 with --quick)")
    parser.add_argument("--gateway-cpu", type=processors_of, metavar="N,...", help="processors of the programs under test (the second)")
    parser.add_argument("--load-cpu", type=processors_of, metavar="N,...", help="processors of the load and the backends (the first)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / ".build/bench", metavar="FOLDER", help="default: .build/bench")
    parser.add_argument("--check", action="store_true", help="only check the responses of all programs")
    parser.add_argument("--report", type=pathlib.Path, metavar="FILE", help="print the tables of earlier raw figures, and measure nothing")
    parser.add_argument("--page", action="store_true", help="also replace the rows or the curves of docs/operate/performance.md, and the charts in docs/images, by those of this run")
    parser.add_argument("--reference", action="store_true", help="rows, growth curves and profile, with --page: everything that docs/operate/performance.md has of this script; about 40 minutes on an idle machine")
    return parser.parse_args()


def describe(options, world):
    present = {name: text for name, text in versions().items() if name in (*world.names, "wrk")}
    return {
        "commit": options.commit, "date": datetime.date.today().isoformat(), "processor": processor_name(),
        "processors": os.cpu_count(), "kernel": platform.release(), "versions": present, "repetitions": options.repeat,
        "seconds": options.seconds}


def run(options):
    """Measures, and returns the results."""
    options.out.mkdir(parents=True, exist_ok=True)
    results = Results(None if options.check else new_file(options.out / ("growth.jsonl" if options.growth else "rows.jsonl")))
    processors = Processors(options.gateway_cpu, options.load_cpu)
    if processors.count < 2:
        print("only one processor: load and gateway share it", file=sys.stderr)
    with tempfile.TemporaryDirectory() as name:
        world = World(pathlib.Path(name), options.binary, processors, options.only, options.patience)
        report_missing(world, options.only)
        results.describe(describe(options, world))
        try:
            measure_all(options, world, results)
        finally:
            end_processes()
    return results


def new_file(path):
    path.unlink(missing_ok=True)
    return path


def report_missing(world, only):
    missing = [TITLES[name] for name in NAMES if name not in world.names and (only is None or name in only)]
    if missing:
        print(f"not installed: {', '.join(missing)}; `script/deps bench` installs what Debian has", file=sys.stderr)


def measure_all(options, world, results):
    if options.growth:
        growth = Growth(world, results, options.repeat, options.seconds, options.quick)
        for curve in options.growth:
            growth.measure_curve(curve)
        return
    rows = Run(world, results, options.repeat, options.seconds, options.quick)
    if options.check:
        for name in world.names:
            rows.gateway(name)
        return
    for row in options.rows or ALL:
        rows.measure_row(row)
    rows.stop()


def present(results, out, in_page):
    """Prints the tables and writes the charts; with `in_page` also into the manual."""
    out.mkdir(parents=True, exist_ok=True)
    print(f"\n{report.setting(results)}\n\n{report.comparison(results)}\n" + "\n".join(report.growth(results).values()))
    for name in manual.draw(results, out):
        print(f"wrote {out / name}", file=sys.stderr)
    if in_page:
        manual.update(ROOT, results)


def main():
    # The programs that it has started end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    options = arguments()
    options.repeat = options.repeat or (2 if options.quick else 3)
    options.seconds = options.seconds or (1 if options.quick else 3)
    if options.patience is None:
        options.patience = 0 if options.quick else 10
    if options.report:
        return present(Results.read(options.report), options.out, options.page)
    require("wrk", "nginx", "cc", *(["strace"] if "S" in (options.rows or ALL) else []))
    build = static_build_with_symbols if options.reference else static_build
    options.binary, options.commit = binary_and_commit(options.binary, options.commit, build)
    if options.check:
        return run(options)
    if not options.reference:
        return present(run(options), options.out, options.page)
    require_symbols(options.binary)
    present(run(options), options.out, in_page=True)
    options.growth = list(CURVES)
    present(run(options), options.out, in_page=True)
    profile_requests.run(options.binary, options.commit, options.out, in_page=True)


if __name__ == "__main__":
    main()
