"""SVG that is readable in light and dark, without scripts: what charts and flame graphs share.

Colours are classes with a value for each scheme; programs also differ in the shape of their marks, and values stand
beside them as text.
"""

from xml.sax.saxutils import escape

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
# Light, dark, and the shape of the mark.
SERIES = {
    "floor": ("#57606a", "#9198a1", "bar"),
    "tributary": ("#0a5fc4", "#6cb6ff", "circle"),
    "tributary-raised": ("#0a7f8f", "#56d4dd", "ring"),
    "tributary-ten": ("#0a7f8f", "#56d4dd", "ring"),
    "nginx-lua": ("#1a7f37", "#57d16d", "square"),
    "haproxy": ("#b35000", "#ffa657", "diamond"),
    "node": ("#8250df", "#d2a8ff", "triangle"),
}
BASE = """\
.page{{fill:#ffffff}} .text{{fill:#1f2328}} .soft{{fill:#57606a}} .line{{stroke:#d0d7de}} .axis{{stroke:#57606a}}
{light}
@media (prefers-color-scheme: dark){{
.page{{fill:#0d1117}} .text{{fill:#e6edf3}} .soft{{fill:#9198a1}} .line{{stroke:#30363d}} .axis{{stroke:#9198a1}}
{dark}
}}"""


def series_style(position):
    return "\n".join(
        f".{name}{{fill:{colours[position]};stroke:{colours[position]}}}" for name, colours in SERIES.items())


class Drawing:
    """Elements in the order of drawing. `title` and `description` are what a screen reader reads."""

    def __init__(self, width, height, title, description, light=None, dark=None):
        self.width, self.height = width, height
        style = BASE.format(light=light or series_style(0), dark=dark or series_style(1))
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            f' role="img" aria-labelledby="title description" font-family="{FONT}" font-size="13">',
            f'<title id="title">{escape(title)}</title>', f'<desc id="description">{escape(description)}</desc>',
            f"<style>{style}</style>", f'<rect class="page" width="{width}" height="{height}"/>']

    def text(self, x, y, text, anchor="start", kind="text", size=13, weight="normal"):
        self.parts.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
            f' font-weight="{weight}">{escape(text)}</text>')

    def line(self, x1, y1, x2, y2, kind="line", width=1):
        self.parts.append(
            f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke-width="{width}"/>')

    def path(self, points, name):
        pairs = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline class="{name}" points="{pairs}" style="fill:none" stroke-width="2"/>')

    def box(self, x, y, width, height, kind, tip):
        self.parts.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.2f}" height="{height:.1f}">'
            f"<title>{escape(tip)}</title></rect>")

    def mark(self, x, y, name, tip=""):
        """The mark of a program, with a text for the pointer."""
        shape = {
            "bar": f'<rect x="{x - 1.5:.1f}" y="{y - 7:.1f}" width="3" height="14"/>',
            "circle": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5"/>',
            "ring": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" style="fill:none" stroke-width="2"/>',
            "square": f'<rect x="{x - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9"/>',
            "diamond": f'<path d="M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z"/>',
            "triangle": f'<path d="M{x:.1f} {y - 6:.1f}l6 10.5h-12z"/>',
        }[SERIES[name][2]]
        tip = f"<title>{escape(tip)}</title>" if tip else ""
        self.parts.append(f'<g class="{name}" stroke-width="0">{shape}{tip}</g>')

    def legend(self, x, y, names, titles):
        for name in names:
            self.mark(x, y - 4, name)
            self.text(x + 12, y, titles[name])
            x += 30 + 7.6 * len(titles[name])

    def write(self, path):
        path.write_text("\n".join([*self.parts, "</svg>"]) + "\n")
