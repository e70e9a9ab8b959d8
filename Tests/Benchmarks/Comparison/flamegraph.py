"""A flame graph in SVG: each box is a function, its width the instructions below it, its colour the area."""

import dataclasses
import re

from areas import AREAS, area_of
from svg import Drawing

WIDTH, ROW, MARGIN = 1200, 18, 20
# Boxes narrower than this are left out.
LEAST = 0.7
LETTER = 6.6


@dataclasses.dataclass
class Node:
    symbol: str
    library: str
    count: float
    children: dict


def tree(stacks):
    root = Node("all", "", 0, {})
    for frames, count in stacks.items():
        node = root
        node.count += count
        for symbol, library in frames:
            node = node.children.setdefault(symbol, Node(symbol, library, 0, {}))
            node.count += count
    return root


def without_common_frames(root):
    """Starts at the first function with more than one important callee: what is outside is the same for all."""
    while len([child for child in root.children.values() if child.count > 0.02 * root.count]) == 1:
        root = max(root.children.values(), key=lambda child: child.count)
    return root


def depth(node, scale):
    below = [depth(child, scale) for child in node.children.values() if child.count * scale >= LEAST]
    return 1 + max(below, default=0)


def short(name, library):
    """A readable name without what the compiler adds; functions of libraries without symbols have the library's."""
    if name.startswith("0x"):
        return f"{library}, without a name"
    return re.sub(r"^((partial apply for|specialized|static|@objc|protocol witness for|merged|outlined \w+ of) )+", "", name)


def style(position):
    return "\n".join(
        f".a{index}{{fill:{colours[position]}}}" for index, colours in enumerate(AREAS.values()))


class FlameGraph:
    def __init__(self, stacks, names, title):
        """`names` are readable names by symbol."""
        self.root = without_common_frames(tree(stacks))
        self.total = sum(stacks.values())
        self.names = names
        self.scale = (WIDTH - 2 * MARGIN) / self.root.count
        self.levels = depth(self.root, self.scale)
        self.areas = list(AREAS)
        legend = (len(AREAS) + 4) // 5
        self.top = 76 + 20 * legend
        height = self.top + ROW * self.levels + 16
        self.drawing = Drawing(
            WIDTH, height, title,
            f"{self.total:.0f} instructions. Each box is a function; below it are the functions that it calls, as wide as the "
            "instructions that they execute.", style(0), style(1))
        self.drawing.text(MARGIN, 30, title, size=17, weight="600")
        self.drawing.text(
            MARGIN, 52, f"{self.total:.0f} instructions for each request. A box is as wide as the instructions of the function and "
            "of those that it calls, which are below it.", kind="soft")
        self.draw_legend()

    def draw_legend(self):
        for index, area in enumerate(self.areas):
            x, y = MARGIN + index % 5 * 232, 76 + index // 5 * 20
            self.drawing.box(x, y - 11, 14, 14, f"a{index}", area)
            self.drawing.text(x + 20, y, area, size=12)

    def draw(self, node, x, level):
        width = node.count * self.scale
        if width < LEAST:
            return
        y = self.top + level * ROW
        name = short(self.names.get(node.symbol, node.symbol), node.library)
        area = area_of(node.symbol, node.library)
        tip = f"{name}: {node.count:.0f} instructions, {node.count / self.total * 100:.1f} % ({area})"
        self.drawing.box(x, y, max(width - 0.5, 0.3), ROW - 1, f"a{self.areas.index(area)}", tip)
        letters = int((width - 6) / LETTER)
        if letters >= 4:
            text = name if len(name) <= letters else name[:letters - 1] + "…"
            self.drawing.text(x + 3, y + 13, text, size=11)
        for child in sorted(node.children.values(), key=lambda child: -child.count):
            self.draw(child, x, level + 1)
            x += child.count * self.scale

    def write(self, path):
        self.draw(self.root, MARGIN, 0)
        self.drawing.write(path)
