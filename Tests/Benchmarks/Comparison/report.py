"""The tables of a run in Markdown, each with what its figures mean."""

import statistics

import targets
from gateways import ALL_NAMES, NAMES, TITLES
from growth import CURVES
from rows import GRIDS, HANGING_CONNECTIONS, HEALTHY_CONNECTIONS

# Processors that other programs use in the median measurement: from here on the report warns.
SHARED = 0.25


def table(head, lines):
    """Without columns that no line has a value in."""
    used = [index for index in range(len(head)) if any(str(line[index]) for line in lines)]
    head, *lines = ([row[index] for index in used] for row in (head, *lines))
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def times(ratio):
    return "" if ratio is None else f"{ratio:.2f}"


def shown(value, form="{:.1f}"):
    return "" if value is None else form.format(value)


def setting(results):
    about = results.setting
    if not about:
        return ""
    servers = ", ".join(about["versions"].values())
    return (
        f"Commit {about['commit']}, {about['date']}. {about['processor']}, {about['processors']} processors, Linux "
        f"{about['kernel']}; {servers}. {about['repetitions']} repetitions of {about['seconds']} s.{disturbance(results)}")


def disturbance(results):
    """What other programs did meanwhile, and what it means."""
    others = results.others()
    if not others:
        return ""
    text = f" Other programs used {others[0] * 100:.0f} % of a processor meanwhile (median), at most {others[1] * 100:.0f} %."
    if others[0] < SHARED:
        return text
    return (
        text + "\n\n**Shared machine.** The programs had the processors and their caches for a part of the time only. Processor times and "
        "ratios are higher than on an idle machine, and response times and rates say nothing. Instructions, system calls and memory "
        "are not affected.")


# MARK: Ratios

def title_of(row, point):
    return f"{row} {GRIDS[row].title}", point


def ratio_table(results):
    # R5 has a table of its own.
    rows = [row for row in GRIDS if row in results.rows() and row != "R5"]
    names = [name for name in ALL_NAMES if any(results.servers(row, [name]) for row in rows)]
    others = [name for name in names if name != "floor"]
    lines = []
    for row in rows:
        for point in results.points(row):
            floor = results.median(row, point, "floor", "cpu_us")
            own = results.ratios(row, point, "tributary")
            limits = targets.RATIOS.get((row, point))
            goal = f"{limits[0]:.2f} / {limits[1]:.2f}: {verdict(own, limits)}" if limits and own else ""
            spread = f"{own[0]:.2f} to {own[-1]:.2f}" if own else ""
            lines.append([
                *title_of(row, point), shown(floor), *(times(results.ratio(row, point, name)) for name in others), spread, goal])
    if not lines:
        return ""
    head = ["row", "", "floor, µs", *(TITLES[name] for name in others), "Tributary, least to most", "must / goal"]
    return f"""\
### Processor time for each request

User and system time of the gateway's process, divided by its responses: the floor's in microseconds, the others as multiples of it.

{table(head, lines)}
"""


def verdict(ratios, limits):
    return targets.verdict(statistics.median(ratios), limits)


def load_table(results):
    lines = []
    for row in GRIDS:
        for point in results.points(row):
            figures = [results.median(row, point, "tributary", name) for name in ("requests_per_second", "p50_us", "p99_us", "busy")]
            if None not in figures:
                rate, middle, high, busy = figures
                lines.append([
                    *title_of(row, point), f"{rate:.0f}", f"{middle / 1000:.2f}", f"{high / 1000:.2f}", f"{busy * 100:.0f} %"])
    if not lines:
        return ""
    head = ["row", "", "requests per second", "median, ms", "99th percentile, ms", "processor in use"]
    return f"""\
### Requests and response times of Tributary

Response times grow with the number of connections.

{table(head, lines)}
"""


def slope_table(results):
    """R5: a straight line through the costs by the number of calls."""
    points = results.points("R5")
    if len(points) < 2:
        return ""
    lines = []
    base = None
    for name in results.servers("R5", ALL_NAMES):
        values = [(int(point.split()[0]), results.median("R5", point, name, "cpu_us")) for point in points]
        slope, start = statistics.linear_regression(*zip(*values))
        base = slope if name == "floor" else base
        lines.append([TITLES[name], f"{start:.1f}", f"{slope:.2f}", times(base and slope / base)])
    must, goal = targets.SLOPE
    return f"""\
### R5: what one more call costs

A straight line through the processor time for 1 to 16 calls, in microseconds. Targets for the last column: {must} must,
{goal} goal.

{table(["", "request without calls, µs", "each call, µs", "multiple of the floor"], lines)}
"""


def kernel_table(results):
    """Of three small calls at 64 connections."""
    row, point = "R2", "64 connections"
    lines = []
    for name in results.servers(row, ALL_NAMES):
        total, kernel = (results.median(row, point, name, figure) for figure in ("cpu_us", "system_us"))
        if total is not None:
            lines.append([TITLES[name], f"{total:.1f}", f"{kernel:.1f}", f"{total - kernel:.1f}"])
    if not lines:
        return ""
    return f"""\
### Kernel and program

Three calls of 200 B at 64 connections, in microseconds for each request. The kernel finds the shares by sampling.

{table(["", "all", "kernel", "program and its libraries"], lines)}
"""


# MARK: Memory, start, hanging backend, system calls

def process_table(results):
    names = [name for name in ALL_NAMES if results.servers("R6", [name]) or results.servers("R8", [name])]
    if not names:
        return ""
    connections = (results.points("R6") or [""])[0]
    lines = []
    for name in names:
        of = lambda row, figure: results.median(row, connections if row == "R6" else "start", name, figure)
        idle, memory, own = of("R6", "bytes_per_connection"), of("R8", "rss_kib"), of("R8", "anonymous_kib")
        lines.append([
            TITLES[name], shown(idle, "{:.0f}"), shown(of("R8", "start_ms")), shown(of("R8", "start_cpu_ms")),
            shown(memory and memory / 1024), shown(own and own / 1024)])
    head = ["", "idle connection, B", "start, ms", "processor time of the start, ms", "idle process, MiB", "without files, MiB"]
    return f"""\
### Memory and start (R6, R8)

Idle connection: growth of the resident memory without files by {connections or "idle connections"} that have served one request
each. Start: to the first response. Idle process: resident memory half a second later; *without files*: without the pages of program and
libraries, which the system can drop. Targets: {targets.IDLE_BYTES[0]} B must and
{targets.IDLE_BYTES[1]} B goal, {targets.START_MS[0]} and {targets.START_MS[1]} ms, {targets.IDLE_KIB[0] // 1024} and {targets.IDLE_KIB[1] // 1024} MiB.

{table(head, lines)}
"""


def hanging_table(results):
    waiting, healthy = "the endpoint with the hanging backend", "another endpoint meanwhile"
    lines = []
    verdicts = [""] * 3
    for name in results.servers("R7", ALL_NAMES):
        of = lambda point, figure: results.median("R7", point, name, figure)
        ratio, high, rate = results.ratio("R7", waiting, name), of(waiting, "p99_us"), of(healthy, "rate")
        if name == "tributary" and None not in (ratio, high, rate):
            reached = [
                ratio <= targets.HANGING_RATIO, high <= (200 + targets.HANGING_EXCESS_MS) * 1000,
                rate >= targets.HEALTHY_SHARE]
            verdicts = [" (reached)" if is_reached else " (missed)" for is_reached in reached]
        lines.append([
            TITLES[name], times(ratio), shown(high and high / 1000),
            shown(rate and rate * 100, "{:.0f} %"), shown(of(healthy, "p99_alone_us") / 1000, "{:.2f}"),
            shown(of(healthy, "p99_us") / 1000, "{:.2f}")])
    if not lines:
        return ""
    head = [
        "", "CPU, multiple of the floor", "99th percentile, ms", "rate of another endpoint", "its 99th percentile alone, ms",
        "meanwhile, ms"]
    return f"""\
### A hanging backend (R7)

{HANGING_CONNECTIONS} connections request an endpoint of which the third backend never responds; after 200 ms the response has the other
two. Meanwhile {HEALTHY_CONNECTIONS} connections request another endpoint: its rate is compared with its rate alone. Targets: {targets.HANGING_RATIO} times the floor{verdicts[0]},
99th percentile at most {200 + targets.HANGING_EXCESS_MS} ms{verdicts[1]}, at least {targets.HEALTHY_SHARE * 100:.0f} % of the rate{verdicts[2]}.

{table(head, lines)}
"""


def system_call_table(results):
    points = results.points("S")
    entries = {(entry["point"], entry["server"]): entry["calls"] for entry in results.all if entry["row"] == "S"}
    lines = []
    for point in points:
        for name in results.servers("S", ALL_NAMES):
            calls = entries.get((point, name))
            if calls:
                kinds = ", ".join(f"`{kind}` {count:.2f}" for kind, count in sorted(calls.items(), key=lambda item: -item[1]) if count >= 0.02)
                lines.append([TITLES[name], point, f"{sum(calls.values()):.2f}", kinds])
    if not lines:
        return ""
    return f"""\
### System calls for each request

Three calls of 200 B (HAProxy: one), counted with strace. The fewest for three calls are eight: one read and one write for the client and for each backend.

{table(["", "", "all", "by kind"], lines)}
"""


# MARK: Growth

def refused_shares(results, row, point, servers):
    """Of the programs that have refused requests."""
    of = lambda server, figure: results.median(row, point, server, figure)
    shares = {server: of(server, "refused") / of(server, "requests") for server in servers if of(server, "refused") and of(server, "requests")}
    return ", ".join(f"{TITLES[server]} {share * 100:.0f} %" for server, share in shares.items())


def growth_table(results, name):
    row, curve = f"growth-{name}", CURVES[name]
    servers = results.servers(row, ALL_NAMES)
    is_cost = curve.figure == "cpu_us"
    unit = "µs" if is_cost else "ms"
    compared = [server for server in servers if server != "floor"] if is_cost and "floor" in servers else []
    has_memory = any(entry.get("rss_kib") for entry in results.all if entry["row"] == row)
    refuses = any(entry.get("refused") for entry in results.all if entry["row"] == row)
    head = [
        curve.x_title, *(f"{TITLES[server]}, {unit}" for server in servers), *(f"{TITLES[server]}, x floor" for server in compared),
        "Tributary, requests per second", *(["Tributary, MiB"] if has_memory else []), *(["refused"] if refuses else [])]
    lines = []
    for point in results.points(row):
        of = lambda figure: results.median(row, point, "tributary", figure)
        memory = of("rss_kib")
        lines.append([
            point, *(shown(results.median(row, point, server, curve.figure), "{:.2f}") for server in servers),
            *(times(results.ratio(row, point, server)) for server in compared), shown(of("requests_per_second"), "{:.0f}"),
            *([shown(memory and memory / 1024)] if has_memory else []),
            *([refused_shares(results, row, point, servers)] if refuses else [])])
    return f"""\
### {curve.title}

{curve.explanation}

{table(head, lines)}
"""


def comparison(results):
    parts = (ratio_table, load_table, slope_table, kernel_table, process_table, hanging_table, system_call_table)
    return "\n".join(text for part in parts if (text := part(results)))


def growth(results):
    return {name: growth_table(results, name) for name in CURVES if f"growth-{name}" in results.rows()}
