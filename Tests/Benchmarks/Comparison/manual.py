"""Charts, and the parts of docs/operate/performance.md that a run writes: those between a pair of comments.

    <!-- bench: NAME -->
    <!-- end of bench -->

Long tables go to files of their own, `docs/operate/figures/NAME.csv`, which the page links.
"""

import csv
import re
import shutil
import sys

import charts
import report
from gateways import ALL_NAMES, NAMES
from growth import CURVES

RATIOS = "bench-ratios.svg"
FIGURES = "docs/operate/figures"
# Headings whose tables are files; the tables of all curves are, too.
FILES = {"Requests and response times of Tributary": "load", "System calls for each request": "system-calls"}


def draw(results, folder):
    """The names of the charts that the results have figures for."""
    drawn = []
    if charts.ratios(results, NAMES, folder / RATIOS):
        drawn.append(RATIOS)
    for name, curve in CURVES.items():
        if charts.curve(results, f"growth-{name}", ALL_NAMES, folder / file_of(name), curve):
            drawn.append(file_of(name))
    return drawn


def file_of(curve):
    return f"bench-growth-{curve}.svg"


def update(root, results):
    """Replaces the rows or the curves of the page by those of the results."""
    path = root / "docs/operate/performance.md"
    page = path.read_text()
    drawn = draw(results, root / "docs/images")
    if rows := report.comparison(results):
        chart = image(RATIOS, "processor time for each request as a multiple of the floor", drawn)
        sections = re.split(r"\n(?=### )", rows)
        names = (FILES.get(text.split("\n", 1)[0].removeprefix("### ")) for text in sections)
        rows = "\n".join(with_file(root, text, name) if name else text for text, name in zip(sections, names))
        page = replace(page, "rows", f"{report.setting(results)}\n\n{chart}{rows}")
    if tables := report.growth(results):
        parts = (with_image(with_file(root, text, f"growth-{name}"), file_of(name), CURVES[name], drawn) for name, text in tables.items())
        page = replace(page, "growth", "\n\n".join([report.setting(results), *parts]))
    path.write_text(page)


def with_file(root, text, name):
    """The section with a link instead of its table, which becomes a file."""
    lines = text.strip().split("\n")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    (root / FIGURES).mkdir(exist_ok=True)
    with open(root / FIGURES / f"{name}.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([rows[0], *rows[2:]])
    rest = "\n".join(line for line in lines if not line.startswith("|")).strip()
    return f"{rest} [Figures](figures/{name}.csv).\n"


def with_image(text, file, curve, drawn):
    """The section of a curve, with its chart behind the heading."""
    heading, rest = text.split("\n", 1)
    return f"{heading}\n\n{image(file, curve.title[0].lower() + curve.title[1:], drawn)}{rest.strip()}"


def image(file, what, drawn):
    return f"![Chart: {what}.](../images/{file})\n\n" if file in drawn else ""


def write_profile(root, table, graph):
    shutil.copy(graph, root / "docs/images/profile.svg")
    path = root / "docs/operate/performance.md"
    setting, areas, programs = table.strip().split("\n\n")
    areas = with_file(root, f"All instructions of a request; by area:\n\n{areas}", "instructions")
    path.write_text(replace(path.read_text(), "profile", f"{setting} {areas.strip()}\n\n{programs}"))


def replace(page, name, content):
    pattern = re.compile(rf"(<!-- bench: {re.escape(name)} -->\n).*?(<!-- end of bench -->)", re.S)
    if not pattern.search(page):
        sys.exit(f"docs/operate/performance.md has no part '{name}'")
    return pattern.sub(lambda found: f"{found[1]}\n{content.strip()}\n\n{found[2]}", page)
