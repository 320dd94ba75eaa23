"""Pictures of a contest for the tutorial: a class is invited, hands in and plays, in Chromium and on a real server.

`python -m scripts.contest_screenshots`. Needs the development packages, Chromium and bubblewrap (`make tools-system`).
Each picture is written to `docs/images/`.
"""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from arena.client import Client
from scripts.loopback import serving
from scripts.screenshots import CHROMIUM_OPTIONS, Picture, take

CONTEST = """
name = "class"
title = "Programming class"
time_zone = "Europe/Berlin"
deadline = 2030-01-31T23:59:00
house = ["random", "greedy"]
text = "Write a bot for **Epicycle**. The rules are behind the name of the game."
[[boards]]
game = "epicycle"
players = [2, 3]
"""
BOT = """from bots import Bot


class {name}(Bot):
    def choose(self, state):
        return {choice}
"""
BOTS = {
    "Ann": BOT.format(
        name="Cautious", choice="min(state.legal_actions(), key=lambda a: len(state.child(a).legal_actions()))"
    ),
    "Bob": BOT.format(name="First", choice="state.legal_actions()[0]"),
    "Chris": BOT.format(name="Last", choice="state.legal_actions()[-1]"),
    "Dora": BOT.format(name="Shuffled", choice="self.rng.choice(state.legal_actions())"),
    "Emil": BOT.format(name="Hasty", choice="state.legal_actions()[99]"),
}
ROUNDS = 12
PATIENCE_MILLISECONDS = 120_000


def arena(home: Path, *words: str) -> str:
    """Run a command of the arena; return what it prints."""
    command = [sys.executable, "-m", "arena", *words, "--home", str(home)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def join(browser: Browser, link: str, name: str = "") -> tuple[Page, str]:
    """Use an invitation, for anybody under a name; return a page that is signed in, and the token that was shown."""
    page = browser.new_context(viewport={"width": 1200, "height": 800}).new_page()
    page.goto(link)
    if name:
        page.locator("input[name=name]").fill(name)
    page.get_by_role("button", name="Take part").click()
    token = page.locator("#secret").inner_text()
    return page, token


def hand_in(page: Page, address: str, file: Path) -> str:
    """Hand a bot in by three clicks; return the address of the report when its check has ended."""
    page.goto(f"{address}contests/class/hand-in")
    page.set_input_files("#files", str(file))
    page.get_by_role("button", name="Hand in").click()
    page.wait_for_url("**/versions/*")
    expect(page.locator(".state")).to_have_text(
        ["valid"] if file.stem != "emil" else ["refused"], timeout=PATIENCE_MILLISECONDS
    )
    return page.url


def main() -> None:
    """Tell the story, and make the pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        work, home = Path(folder), Path(folder) / "home"
        (work / "class.toml").write_text(CONTEST)
        (work / "names.csv").write_text("\n".join(BOTS))
        told = arena(home, "contest", "init", str(work / "class.toml"))
        organise = told.split()[-1]
        with serving(home, "contest", "serve") as server:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(CHROMIUM_OPTIONS))
            story(browser, server.url, home, work, organise)
            browser.close()


def story(browser: Browser, address: str, home: Path, work: Path, organise: str) -> None:
    """Invite, join, hand in and look at the standings; make a picture of each."""
    sheet = arena(home, "contest", "admin", "invite", "class", "--csv", str(work / "names.csv"), "--url", address)
    links = dict(row[:2] for row in csv.reader(sheet.splitlines()) if len(row) == 2 and "/join/" in row[1])
    teacher, _ = join(browser, f"{address.rstrip('/')}{organise}", "Teacher")
    pages, tokens = {}, {}
    for name, link in links.items():
        pages[name], tokens[name] = join(browser, link)
        file = work / f"{name.lower()}.py"
        file.write_text(BOTS[name])
        report = hand_in(pages[name], address, file)
        if name == "Emil":
            print(take(pages[name], Picture("contest-report", report)))
    client = Client(address, tokens["Ann"])
    ends = time.monotonic() + PATIENCE_MILLISECONDS / 1000
    while client.events("class")[-1]["kind"] != "round" or client.standings("class")["round"] < ROUNDS:
        if time.monotonic() > ends:
            raise TimeoutError(f"the contest has not come to round {ROUNDS}")
        time.sleep(0.5)
    for name, page in (
        ("contest", f"{address}contests/class"),
        ("contest-hand-in", f"{address}contests/class/hand-in"),
    ):
        print(take(pages["Ann"], Picture(name, page)))
    teacher.goto(f"{address}contests/class/organise")
    teacher.locator(".members summary").nth(1).click()
    print(take(teacher, Picture("contest-organise", teacher.url, "members")))


if __name__ == "__main__":
    main()
