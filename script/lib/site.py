"""Hooks of MkDocs for `script/docs site`: what the pages of docs/ need beyond MkDocs itself.

- The navigation has the four rooms; their pages are in the order in which docs/README.md links them.
- Pages outside of docs/ that others link become pages of the site, under project/.
- A table in a CSV file becomes a page; a configuration that is linked in a paragraph of its own is shown.
"""
import csv
import io
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {"Guide": "guide", "Reference": "reference", "Operate": "operate", "Contribute": "contribute"}
SUBFOLDERS = {"How to extend": "how-to", "Decisions": "decisions"}
# Of the repository, outside of docs/: where the site has them.
PROJECT = {
    "README.md": "project/overview.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "Sources/Promises/README.md": "project/promises.md",
    "Sources/Promises/Promises.docc/Performance.md": "project/promises-performance.md",
    "Tests/Verify/http2/README.md": "project/http2-cases.md",
    "LICENSE": "project/LICENSE.txt",
}
ORIGINS = {site: origin for origin, site in PROJECT.items()}
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^( *```.*?^ *```$)", re.M | re.S)

CSS = """
.md-grid { max-width: 76rem; }
.md-tabs__link { opacity: 1; }
.md-typeset h1 { color: inherit; }
.md-typeset :is(p, li, td) > a { text-decoration: underline; }
[data-md-color-scheme=default] {
  --md-default-fg-color--light: #555; --md-default-fg-color--lighter: #595959;
  --md-code-hl-comment-color: #555; --md-code-hl-punctuation-color: #555; --md-code-hl-operator-color: #555;
  --md-code-hl-generic-color: #555; --md-code-hl-string-color: #15622e; --md-code-hl-number-color: #a1180c;
}
[data-md-color-scheme=slate][data-md-color-primary] { --md-typeset-a-color: #8ab4ff; }
.md-typeset table:not([class]) { font-size: .68rem; }
.md-typeset table:not([class]) th { min-width: 0; white-space: nowrap; }
.md-typeset table:not([class]) th, .md-typeset table:not([class]) td { padding: .5em .8em; }
.md-typeset table:not([class]) td { min-width: 5rem; }
.md-typeset table:not([class]) td:last-child { min-width: 14rem; }
.md-typeset table:not([class]) td code { word-break: normal; }
"""
FAVICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="none" stroke="#4051b5"
stroke-width="3" stroke-linecap="round" d="M5 3v4c0 6 7 5 7 11v3M19 3v4c0 6-7 5-7 11"/></svg>"""


def title(path):
    """The first heading of a page."""
    text = (ROOT / path).read_text()
    return re.search(r"^# (.+)$", text, re.M)[1].replace("`", "")


def on_config(config):
    tasks, reference = (ROOT / "docs/README.md").read_text().split("\n## ")[1:3]

    def pages(folder):
        names = [f"{folder}/{path.name}" for path in sorted((ROOT / "docs" / folder).glob("*.md"))]
        order = [link[1] for link in LINK.findall(reference if folder == "reference" else tasks)]
        names.sort(key=lambda name: (not name.endswith("README.md"), order.index(name) if name in order else 99))
        return [name if name.endswith("README.md") else {title(f"docs/{name}"): name} for name in names]

    rooms = [{name: pages(folder)} for name, folder in ROOMS.items()]
    rooms[-1]["Contribute"] += [{name: pages(f"contribute/{folder}")} for name, folder in SUBFOLDERS.items()]
    project = [{title(origin): site} for origin, site in PROJECT.items() if site.endswith(".md")]
    config.nav = [{"Manual": "README.md"}, *rooms, {"Project": project}]
    return config


def on_files(files, config):
    for origin, site in PROJECT.items():
        files.append(File.generated(config, site, content=(ROOT / origin).read_text()))
    files.append(File.generated(config, "assets/site.css", content=CSS))
    files.append(File.generated(config, "assets/favicon.svg", content=FAVICON))
    for file in [file for file in files if file.src_uri.endswith(".csv")]:
        page = File.generated(config, table_page(file.src_uri), content=table(file))
        page.inclusion = page.inclusion.NOT_IN_NAV
        files.append(page)
    return files


def table_page(name):
    return name.removesuffix(".csv") + "-table.md"


def table(file):
    """The page of a CSV file. Figures are not searched."""
    header, *rows = csv.reader(io.StringIO((ROOT / "docs" / file.src_uri).read_text()))
    name = posixpath.basename(file.src_uri)
    meta = "---\nhide: [navigation, toc]\n" + "search: { exclude: true }\n" * ("/figures/" in file.src_uri) + "---\n"

    def line(cells):
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"

    text = line(header) + line(["---"] * len(header)) + "".join(map(line, rows))
    return f"{meta}# {name}\n\n[The file]({name}?raw)\n\n{text}"


def on_page_markdown(markdown, page, config, files):
    origin = ORIGINS.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    parts = FENCE.split(markdown)
    return "".join(part if FENCE.match(part) else prose(part, origin, page.file.src_uri) for part in parts)


def prose(text, origin, page):
    # GitHub takes a list that is indented by two or three spaces for a nested one.
    text = re.sub(r"^ {2,3}(?=[-*] )", "    ", text, flags=re.M)
    text = re.sub(r"^\[([\w.-]+\.(yaml|json))\]\(([^)]+)\)$", lambda m: shown(m, origin), text, flags=re.M)
    return LINK.sub(lambda match: link(match, origin, page), text)


def shown(match, origin):
    """A link to a configuration, and its text."""
    text = (ROOT / posixpath.dirname(origin) / match[3]).read_text()
    return f"{match[0]}\n\n```{match[2]}\n{text}```"


def link(match, origin, page):
    """A link of a page of the repository, as the site has its target."""
    begin, target, section = match[1], match[2], match[3] or ""
    if re.match(r"\w+:", target):
        return match[0]
    target, _, raw = target.partition("?")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
    site = PROJECT.get(path, path.removeprefix("docs/"))
    if site.endswith(".csv") and not raw:
        site = table_page(site)
    return f"{begin}{posixpath.relpath(site, posixpath.dirname(page) or '.')}{section})"
