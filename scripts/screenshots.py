"""Pictures of the pages for README and documentation, made from the demo in Chromium.

`python -m scripts.screenshots [HOME]`: HOME is where `make demo` has written `demo`, by default `reports`. Needs the
development packages and Chromium (`make tools-system`). Each picture is written to `docs/images/`.
"""

from __future__ import annotations

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

IMAGES = Path(__file__).parents[1] / "docs" / "images"
CHROMIUM_OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
MAX_PICTURE_BYTES = 150_000
"""Largest size of a picture in bytes."""
REPLAYED_MATCH = ("magic_mids", ["greedy", "uct:simulations=200", "greedy"], 7, 31)
"""Game, bots, seed and ply of the match in the pictures."""


class Picture(NamedTuple):
    """A picture of a page."""

    name: str
    page: Path
    place: str = ""
    """What stands behind `#` in its address."""
    width: int = 1200
    height: int = 800
    scheme: str = "light"


def pictures(home: Path, folder: Path) -> Iterator[Picture]:
    """Yield the pictures to make; their pages are written to a folder."""
    game, bots, seed, ply = REPLAYED_MATCH
    replay = write_file(folder / "replay.html", [replay_page(api.play_match(game, bots, seed))])
    (report,) = [path for path in api.export("demo", home, folder, ["report"]) if path.name == REPORT_NAME]
    site = Site(["demo"], home, 1)
    site.write(folder / "site")
    site.close()
    yield Picture("report", report, "epicycle_3p", 1200, 760)
    yield Picture("replay", replay, str(ply), 1200, 720)
    yield Picture("replay-dark", replay, str(ply), 1200, 720, "dark")
    yield Picture("tournament", folder / "site" / "demo" / "index.html", "", 1200, 800)
    yield Picture("replay-phone", replay, str(ply), 360, 720)


def take(page: Page, picture: Picture) -> Path:
    """Write a picture of a page; raises `ValueError` when it is too large."""
    page.goto(f"{picture.page.as_uri()}#{picture.place}")
    page.wait_for_load_state()
    page.wait_for_timeout(300)
    path = write_file(IMAGES / f"{picture.name}.png", [page.screenshot()])
    if path.stat().st_size > MAX_PICTURE_BYTES:
        raise ValueError(f"{path}: {path.stat().st_size:,} bytes, more than {MAX_PICTURE_BYTES:,}")
    return path


def main(home: Path) -> None:
    """Make all pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(CHROMIUM_OPTIONS))
        for picture in pictures(home, Path(folder)):
            size = {"width": picture.width, "height": picture.height}
            page = browser.new_page(viewport=size, color_scheme=picture.scheme)  # type: ignore[arg-type]  # light or dark
            path = take(page, picture)
            print(path, f"{path.stat().st_size:,} bytes")
            page.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "reports"))
