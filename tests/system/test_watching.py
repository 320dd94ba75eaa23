"""Matches in play in a real browser, from the built wheel, while a run plays."""

import re
import selectors
import socket
import time
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from arena.workers.process import processor_time
from tests.support.tournaments import wait_until
from tests.system.test_browser import DESK, PHONE
from tests.system.test_serve import Shown, browser, ended, read, server, visit

__all__ = ["browser", "server", "visit"]
CONFIG = """
name = "slow"
blocks = 1000
games = [{ game = "magic_mids", players = 2 }]
bots = [{ bot = "b.py:Slow" }, { bot = "random" }]
"""
BOT = """
import time

from bots import Bot


class Slow(Bot):
    def choose(self, state):
        time.sleep(0.3)
        self.evaluation = [0.25 if seat == self.seat else -0.25 for seat in range(2)]
        return state.legal_actions()[0]
"""
PLACE = "/tournaments/slow/live"
VIEWERS = 100
PLY = re.compile(r"^Ply \d+")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return the wheel, with a run under its home that plays until the end of the tests."""
    found = Shown(tmp_path_factory.mktemp("wheel"))
    (found.here / "slow.toml").write_text(CONFIG)
    (found.here / "b.py").write_text(BOT)
    run = found.start("-m", "arena", "run", "slow.toml", "--quiet", "--workers", "1")
    wait_until(lambda: (found.home / "slow" / "playing.sock").exists(), "the run listens")
    yield found
    ended(run)
    assert not (found.home / "slow" / "playing.sock").exists()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_shows_a_match_ply_by_ply_with_what_bots_expect(visit, viewport, scheme):
    page = visit(PLACE, viewport, scheme)
    board = page.locator("article.live").first
    expect(board.locator("[data-picture] svg")).to_be_visible()
    caption = board.locator(".caption")
    for _ in range(3):
        before = caption.inner_text()
        expect(caption).not_to_have_text(before)
        said = caption.inner_text()
        assert PLY.match(said) or said == "Before the first ply"

    def expected():
        page.wait_for_timeout(100)
        shown = board.evaluate(
            """board => [[...board.querySelectorAll("meter")].map((meter) => meter.value),
                [...board.querySelectorAll("[data-value]")].map((value) => value.textContent),
                [...board.querySelectorAll("polyline")].map((line) => line.getAttribute("points") !== "")]"""
        )
        return [*map(sorted, shown)] == [[-0.25, 0.25], ["+0.25", "-0.25"], [True, True]]

    wait_until(expected, "bars, numbers and curves say what the bot expects")
    assert not PLY.search(page.locator("#watch-said").inner_text()), "nothing is said for every ply"
    assert not caption.evaluate("node => node.closest('[aria-live], [role=status]') !== null")
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert not Axe().run(page).response["violations"]


def test_the_boards_are_paused_and_go_on_by_the_keyboard(visit):
    page = visit(PLACE)
    caption = page.locator("article.live .caption").first
    loaded = caption.inner_text()
    expect(caption).not_to_have_text(loaded)  # the first event is shown even when the boards are paused
    expect(caption).to_have_text(PLY)
    page.locator("#watch-pause").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#watch-pause")).to_have_text("Go on")
    before = caption.inner_text()
    page.wait_for_timeout(3000)
    assert caption.inner_text() == before
    page.keyboard.press("Enter")
    expect(caption).not_to_have_text(before)


def test_the_first_page_and_the_page_of_the_run_show_a_match_in_play(visit):
    for place in ("/", "/tournaments/slow"):
        page = visit(place)
        board = page.locator("#follow-live article.live")
        expect(board.locator("[data-picture] svg")).to_be_visible()
        expect(page.locator("#follow-replay")).to_be_hidden()
        page.get_by_role("link", name="All matches in play").click()
        expect(page).to_have_url(re.compile("/tournaments/slow/live$"))


def test_the_end_of_a_match_is_shown_and_said_and_the_next_one_takes_its_place(visit):
    page = visit(PLACE)
    match, words, address, said = page.wait_for_function(
        """() => {
            const verdict = document.querySelector("article.live [data-verdict]:not([hidden])");
            const said = document.getElementById("watch-said").innerText;  // not of a match that had ended before
            return verdict && said && [
                verdict.closest("article").dataset.match,
                verdict.querySelector("[data-words]").innerText,
                verdict.querySelector("a").getAttribute("href"),
                said,
            ];
        }"""
    ).json_value()
    assert said.endswith(words)
    assert address.endswith(f"/matches/{match}")
    expect(page.locator(f'article.live:not([data-match="{match}"])').first).to_be_visible()
    expect(page.locator(f'article.live[data-match="{match}"]')).to_have_count(0)


def test_without_scripts_the_page_has_the_present_position_and_a_link_to_load_it_again(visit):
    page = visit(PLACE, scripts=False)
    caption = page.locator("article.live .caption").first
    for _ in range(100):
        if caption.count() and PLY.match(caption.inner_text()):
            break
        page.wait_for_timeout(500)
        page.get_by_role("link", name="Show the present positions").click()
    assert page.locator("article.live [data-picture] svg").count() == 1
    before = caption.inner_text()

    def has_moved():
        page.wait_for_timeout(500)
        page.get_by_role("link", name="Show the present positions").click()
        return caption.count() and caption.inner_text() != before

    wait_until(has_moved, "the page shows a later position")


def test_a_hundred_viewers_cost_the_server_less_than_a_twentieth_of_a_core(installed):
    process = installed.start("-m", "arena", "serve", "--port", "0")
    address = urlsplit(process.stdout.readline().split()[0])
    viewers, events = [], 0
    with selectors.DefaultSelector() as selector:
        for _ in range(VIEWERS):
            viewer = socket.create_connection((address.hostname, address.port))
            viewer.sendall(f"GET {PLACE}/events HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
            selector.register(viewer, selectors.EVENT_READ)
            viewers.append(viewer)

        def watch(seconds):
            nonlocal events
            ends = time.monotonic() + seconds
            while time.monotonic() < ends:
                for key, _ in selector.select(0.1):
                    events += key.fileobj.recv(2**16).count(b"data: ")
            return processor_time(process.pid)

        wait_until(lambda: watch(1) and events >= VIEWERS, "all viewers are told of a match in play")
        before, begun, events = watch(3), time.monotonic(), 0
        used = watch(20) - before
        share = used / 1e9 / (time.monotonic() - begun)
    for viewer in viewers:
        viewer.close()
    assert ended(process) == ""
    assert events > 5 * VIEWERS
    assert share < 0.05


def test_the_page_of_a_run_says_what_it_is(server):
    assert "In play: slow" in read(server, PLACE)
