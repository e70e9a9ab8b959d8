"""The chart of the ratios, and those of the growth curves."""

import math

from gateways import TITLES
from rows import GRIDS
from svg import Drawing

LEFT, RIGHT, ROW = 264, 60, 24


def nice(value):
    return f"{value:.2f}" if value < 9.95 else f"{value:.0f}"


def compact(value):
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def ratio_lines(results, names):
    """What the chart has a line for: label, and the ratios by program."""
    lines = []
    for row, grid in GRIDS.items():
        for point in results.points(row):
            own = f"{point}, 200 B, 16 connections"
            ratios = {name: results.ratio(row, point, name) for name in results.servers(row, names)}
            title = own if row == "R5" else f"{grid.title.replace('`', '')}, {point}"
            lines.append((title, {name: ratio for name, ratio in ratios.items() if ratio and name != "floor"}))
    return [line for line in lines if line[1]]


def ratios(results, names, path):
    """A line for each point of the grid, a mark for each program, on a logarithmic axis. Left is better."""
    lines = ratio_lines(results, names)
    if not lines:
        return False
    top, width = 92, 860
    height = top + ROW * len(lines) + 44
    most = max(max(line[1].values()) for line in lines)
    least = min(0.95, min(min(line[1].values()) for line in lines))
    scale = (width - LEFT - RIGHT) / math.log(most * 1.08 / least)
    at = lambda ratio: LEFT + math.log(ratio / least) * scale
    own = "; ".join(f"{title}: {nice(values['tributary'])}" for title, values in lines if "tributary" in values)
    drawing = Drawing(
        width, height, "Processor time for each request, as a multiple of the floor",
        f"Less is better; 1 is a C program on libuv that parses nothing. Tributary: {own}.")
    drawing.text(20, 28, "Processor time for each request, as a multiple of the floor", size=17, weight="600")
    drawing.text(20, 48, "Left is better. The floor, 1, is a C program on libuv that parses nothing. Logarithmic.", kind="soft")
    present = [name for name in names if name != "floor" and any(name in line[1] for line in lines)]
    drawing.legend(26, 74, present, TITLES)
    for tick in (1, 1.5, 2, 3, 5, 10, 20, 50):
        if least <= tick <= most * 1.08:
            drawing.line(at(tick), top, at(tick), height - 34, "axis" if tick == 1 else "line", 2 if tick == 1 else 1)
            drawing.text(at(tick), height - 16, f"{tick:g}", "middle", "soft")
    for index, (title, values) in enumerate(lines):
        y = top + ROW * (index + 0.5)
        drawing.text(LEFT - 14, y + 4, title, "end")
        for name in reversed(present):
            if name in values:
                drawing.mark(at(values[name]), y, name, f"{TITLES[name]}, {title}: {nice(values[name])}")
        if "tributary" in values:
            drawing.text(width - 14, y + 4, nice(values["tributary"]), "end", weight="600")
    drawing.text(width - 14, top - 4, "Tributary", "end", "soft", 12)
    drawing.write(path)
    return True


def steps(most):
    """Four to nine round numbers from 0 to at least `most`."""
    raw = most / 5
    unit = 10 ** math.floor(math.log10(raw))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= raw)
    return [step * number for number in range(math.ceil(most / step) + 1)]


class Axis:
    """Where a point is from left to right; on a logarithmic axis 0 takes the place before the first point."""

    def __init__(self, points, is_linear, left, right):
        self.least = min((point for point in points if point > 0), default=1)
        self.is_linear = is_linear
        self.first, last = self.place(points[0]), self.place(points[-1])
        self.left, self.scale = left, (right - left) / ((last - self.first) or 1)

    def place(self, x):
        if self.is_linear:
            return x
        return math.log(x) if x > 0 else math.log(self.least) - 1

    def at(self, x):
        return self.left + (self.place(x) - self.first) * self.scale


def curve(results, row, names, path, about):
    """One line for each program."""
    points = results.points(row)
    servers = results.servers(row, names)
    values = {
        name: [(point, results.median(row, point, name, about.figure)) for point in points] for name in servers}
    values = {name: [(x, y) for x, y in line if y is not None] for name, line in values.items()}
    highest = max((y for line in values.values() for _, y in line), default=0)
    if not highest:
        return False
    width, height, left, top, bottom = 860, 380, 74, 92, 60
    drawing = Drawing(width, height, about.title, f"{about.y_title} against {about.x_title}. " + "; ".join(
        f"{TITLES[name]}: " + ", ".join(f"{x}: {y:.3g}" for x, y in line) for name, line in values.items()))
    ticks = steps(highest)
    axis = Axis(points, about.is_linear, left + 12, width - 48)
    at_y = lambda y: height - bottom - y / ticks[-1] * (height - top - bottom)
    scale = "" if about.is_linear else f"; the scale of {about.x_title} is logarithmic"
    drawing.text(20, 28, about.title, size=17, weight="600")
    drawing.text(20, 48, f"{about.y_title[0].upper()}{about.y_title[1:]}{scale}.", kind="soft")
    drawing.legend(26, 74, servers, TITLES)
    for tick in ticks:
        drawing.line(left, at_y(tick), width - 30, at_y(tick), "axis" if tick == 0 else "line")
        drawing.text(left - 10, at_y(tick) + 4, f"{tick:g}", "end", "soft")
    for point in points:
        drawing.text(axis.at(point), height - bottom + 20, compact(point), "middle", "soft")
    drawing.text((left + width) / 2, height - 14, about.x_title, "middle", "soft")
    for name, line in values.items():
        drawing.path([(axis.at(x), at_y(y)) for x, y in line], name)
        for x, y in line:
            drawing.mark(axis.at(x), at_y(y), name, f"{TITLES[name]}, {x}: {y:.3g}")
    drawing.write(path)
    return True
