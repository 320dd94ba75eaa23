"""Pictures of the pages for README and documentation, made from the demo in Chromium, of its files and of a server.

`python -m scripts.screenshots [HOME]`: HOME is where `make demo` has written `demo`, by default `reports`. Needs the
development packages and Chromium (`make tools-system`). Each picture is written to `docs/images/`.
"""

from __future__ import annotations

import itertools
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Page, sync_playwright

from arena import api
from arena.core.files import write_file
from arena.results.exported import REPORT_NAME
from arena.results.pages.replay import replay_page
from arena.web.site import Site
from engine import load_game
from scripts.loopback import serving

IMAGES = Path(__file__).parents[1] / "docs" / "images"
CHROMIUM_OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
MAX_PICTURE_BYTES = 250_000
"""Largest size of a picture in bytes."""
BOARD_TIMEOUT_MILLISECONDS = 60_000
"""Time that a page has to draw its board."""
REPLAYED_MATCH = ("magic_mids", ["greedy", "uct:simulations=200", "greedy"], 7, 31)
"""Game, bots, seed and ply of the match in the pictures."""

DRAWN_MATCH = ("magic_mids", ["greedy", "flat_mc", "uct", "random"], 7, 46)
"""The same of the drawing without a page."""


class Picture(NamedTuple):
    """A picture of a page."""

    name: str
    page: str
    """Its address."""
    place: str = ""
    """What stands behind `#` in its address."""
    width: int = 1200
    height: int = 800
    scheme: str = "light"
    text: str = ""
    """Pattern of what the page has to show before."""


def pictures(home: Path, folder: Path) -> Iterator[Picture]:
    """Yield the pictures to make; their pages are written to a folder."""
    game, bots, seed, ply = REPLAYED_MATCH
    replay = write_file(folder / "replay.html", [replay_page(api.play_match(game, bots, seed))])
    (report,) = [path for path in api.export("demo", home, folder, ["report"]) if path.name == REPORT_NAME]
    site = Site(["demo"], home, 1)
    site.write(folder / "site")
    site.close()
    yield Picture("report", report.as_uri(), "epicycle_3p", 1200, 760)
    yield Picture("replay", replay.as_uri(), str(ply), 1200, 720)
    yield Picture("replay-dark", replay.as_uri(), str(ply), 1200, 720, "dark")
    yield Picture("tournament", (folder / "site" / "demo" / "index.html").as_uri(), "", 1200, 800)
    yield Picture("replay-phone", replay.as_uri(), str(ply), 360, 720)


def served_pictures(page: Page, address: str) -> Iterator[Picture]:
    """Yield the pictures of a server's pages, of which one is a match that is begun."""
    page.goto(address)
    while not page.locator("#follow").count():  # the newest match is being drawn for the first time
        page.reload()
    yield Picture("home", address, "", 1200, 800, text="Ply 2[0-9]")
    yield Picture("learn", f"{address}learn/pyramid_punch", "", 1200, 800)
    yield Picture("learn-phone", f"{address}learn/midgard", "", 360, 720, "dark")
    page.goto(f"{address}play?game=magic_mids&players=3")
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    page.locator("input[name=seed]").fill("7")
    page.get_by_role("button", name="Start the match").click()
    page.locator(".can").first.wait_for(timeout=60_000)
    yield Picture("play", page.url, "", 1200, 900)


def drawn_position() -> str:
    """Return the drawing of a position, as the engine makes it."""
    name, bots, seed, ply = DRAWN_MATCH
    state = load_game(name, len(bots)).new_initial_state()
    for move in api.play_match(name, bots, seed).moves[:ply]:
        state.apply_action(state.string_to_action(move))
    return state.picture(names=bots)


def take(page: Page, picture: Picture) -> Path:
    """Write a picture of a page; raises `ValueError` when it is too large."""
    page.goto(f"{picture.page}#{picture.place}")
    page.wait_for_load_state()
    if page.locator(".board").count():
        page.locator(".board :is(svg, img)").first.wait_for(timeout=BOARD_TIMEOUT_MILLISECONDS)
    if picture.text:
        page.get_by_text(re.compile(picture.text)).wait_for(timeout=BOARD_TIMEOUT_MILLISECONDS)
    page.wait_for_timeout(300)
    path = write_file(IMAGES / f"{picture.name}.png", [page.screenshot()])
    if path.stat().st_size > MAX_PICTURE_BYTES:
        raise ValueError(f"{path}: {path.stat().st_size:,} bytes, more than {MAX_PICTURE_BYTES:,}")
    return path


def main(home: Path) -> None:
    """Make all pictures."""
    with tempfile.TemporaryDirectory() as folder, serving(home) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(CHROMIUM_OPTIONS))
        begun = browser.new_context()
        for picture in itertools.chain(pictures(home, Path(folder)), served_pictures(begun.new_page(), server.url)):
            size = {"width": picture.width, "height": picture.height}
            visitor = browser.new_context(viewport=size, color_scheme=picture.scheme)  # type: ignore[arg-type]  # light or dark
            visitor.add_cookies(begun.cookies())  # type: ignore[arg-type]  # as they were read
            path = take(visitor.new_page(), picture)
            print(path, f"{path.stat().st_size:,} bytes")
            visitor.close()
        browser.close()
    print(write_file(IMAGES / f"{DRAWN_MATCH[0]}.svg", [drawn_position().encode()]))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "reports"))
