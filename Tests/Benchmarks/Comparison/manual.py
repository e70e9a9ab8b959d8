"""Charts, and the parts of docs/operate/performance.md that a run writes: those between a pair of comments.

    <!-- bench: NAME -->
    <!-- end of bench -->
"""

import re
import shutil
import sys

import charts
import report
from gateways import ALL_NAMES, NAMES
from growth import CURVES

RATIOS = "bench-ratios.svg"


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
        page = replace(page, "rows", f"{report.setting(results)}\n\n{chart}{rows}")
    if tables := report.growth(results):
        parts = (with_image(text, file_of(name), CURVES[name], drawn) for name, text in tables.items())
        page = replace(page, "growth", "\n\n".join([report.setting(results), *parts]))
    path.write_text(page)


def with_image(text, file, curve, drawn):
    """The section of a curve, with its chart behind the heading."""
    heading, rest = text.split("\n", 1)
    return f"{heading}\n\n{image(file, curve.title[0].lower() + curve.title[1:], drawn)}{rest.strip()}"


def image(file, what, drawn):
    return f"![Chart: {what}. The table has the figures.](../images/{file})\n\n" if file in drawn else ""


def write_profile(root, table, graph):
    shutil.copy(graph, root / "docs/images/profile.svg")
    path = root / "docs/operate/performance.md"
    path.write_text(replace(path.read_text(), "profile", table))


def replace(page, name, content):
    pattern = re.compile(rf"(<!-- bench: {re.escape(name)} -->\n).*?(<!-- end of bench -->)", re.S)
    if not pattern.search(page):
        sys.exit(f"docs/operate/performance.md has no part '{name}'")
    return pattern.sub(lambda found: f"{found[1]}\n{content.strip()}\n\n{found[2]}", page)
