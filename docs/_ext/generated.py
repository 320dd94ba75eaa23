"""Sphinx extension: copy pages that lie elsewhere in the repository into `generated/`, and refuse remote assets.

Pages link to these files where they lie, so that they are readable in a checkout; here the links lead to the copies.
The parts of pages that are made from the code are written by `scripts/reference.py`.
"""

import os
import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

ROOT = Path(__file__).parents[2]
COPIES = {
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "arena/workers/sandbox/PROTOCOL.md": "protocol",
    "configs/README.md": "configurations",
    "engine/epicycle/RULES.md": "rules/epicycle",
    "engine/magic_mids/RULES.md": "rules/magic_mids",
    "engine/midgard/RULES.md": "rules/midgard",
    "engine/pyramid_punch/RULES.md": "rules/pyramid_punch",
    "examples/connect_four/README.md": "add-a-game",
    "examples/pig/README.md": "add-a-game-of-dice",
}
"""Files of the repository that are pages of the documentation too, by the page's name."""
LINK = re.compile(r"\[([^\]\[]*)\]\(([^)\s]+)\)")
REMOTE = re.compile(
    r"<(?:script|link|img|iframe|source|object)\b[^>]*\b(?:src|href|data)=\"(?:https?:)?//[^\"]*"
    r"|url\(['\"]?https?:[^)]*|@import[^;]*//[^;]*"
)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the steps with Sphinx."""
    app.connect("builder-inited", generate)
    app.connect("source-read", link_to_copies)
    app.connect("build-finished", refuse_remote_assets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def generate(app: Sphinx) -> None:
    """Write every copied page, leaving those alone that would not change."""
    for source, name in COPIES.items():
        path, text = Path(app.srcdir, "generated", f"{name}.md"), copied(ROOT / source, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def link_to_copies(app: Sphinx, name: str, source: list[str]) -> None:
    """Have a page link to the copies of pages that lie elsewhere."""
    folder = Path("docs", name).parent

    def rewritten(link: re.Match[str]) -> str:
        path, hash_sign, anchor = link[2].partition("#")
        found = os.path.normpath(folder / path)
        if found not in COPIES:
            return link[0]
        return f"[{link[1]}]({os.path.relpath(f'docs/generated/{COPIES[found]}.md', folder)}{hash_sign}{anchor})"

    source[0] = LINK.sub(rewritten, source[0])


def copied(source: Path, name: str) -> str:
    """Return a file of the repository as a page: links to pages are rewritten, links to other files become names."""
    here = Path("docs/generated", name).parent

    def rewritten(link: re.Match[str]) -> str:
        text, target = link.groups()
        path, _, anchor = target.partition("#")
        if "://" in target or not path:
            return link[0]
        found = os.path.relpath(os.path.normpath(source.parent / path), ROOT)
        page = f"docs/generated/{COPIES[found]}.md" if found in COPIES else found
        if page.startswith("docs/") and page.endswith(".md"):
            return f"[{text}]({os.path.relpath(page, here)}{'#' + anchor if anchor else ''})"
        return text if found in text else f"{text} (`{found}`)"

    return LINK.sub(rewritten, source.read_text())


def refuse_remote_assets(app: Sphinx, exception: Exception | None) -> None:
    """Fail the build where a page would load something from another host."""
    for path in sorted(Path(app.outdir).rglob("*")) if exception is None else ():
        if path.suffix in (".html", ".css") and (found := REMOTE.search(path.read_text(errors="replace"))):
            raise ExtensionError(f"{path}: loads from another host: {found[0]}")
