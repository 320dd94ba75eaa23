"""`arena serve` from the built wheel, outside the checkout, in a real browser.

Every request that leaves 127.0.0.1, every message on the console and every error of a script fails a test.
"""

import json
import re
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from engine import load_game
from tests.support.installed import Installed
from tests.support.tournaments import PATIENCE, wait_until
from tests.system.test_browser import DESK, MILLISECONDS, PACKAGED, PHONE, browser, canonical, drawn, new_page

__all__ = ["browser"]

CONFIG = """
name = "{name}"
blocks = {blocks}
games = [{{ game = "epicycle", players = [2, 3] }}]
bots = [{{ bot = "random" }}, {{ bot = "greedy" }}, {{ bot = "flat_mc:playouts=5", label = "{label}" }}]
"""
LONG = "a bot whose name is as long as names may"


class Shown(Installed):
    """The wheel, and configurations."""

    def config(self, name: str, blocks: int, label: str = LONG) -> Path:
        file = self.here / f"{name}.toml"
        file.write_text(CONFIG.format(name=name, blocks=blocks, label=label))
        return file


def ended(process: subprocess.Popen) -> str:
    """End a process by Ctrl-C; return what it wrote on standard error."""
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    return said


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return the wheel with a tournament and a comparison under its home."""
    found = Shown(tmp_path_factory.mktemp("wheel"))
    found.run("-m", "arena", "run", str(found.config("shown", 6)), "--quiet")
    found.run("-m", "arena", "compare", "greedy", "random", "--game", "epicycle", "--name", "two")
    return found


@pytest.fixture(scope="module")
def server(installed):
    """Return the address of a server; it ends quietly."""
    process = installed.start("-m", "arena", "serve", "--port", "0")
    address = process.stdout.readline().split()[0].rstrip("/")
    yield address
    assert ended(process) == ""
    assert process.returncode == 0


@pytest.fixture
def visit(browser, server):
    """Return a function that opens a page of the server."""
    pages, wrong = [], []

    def open_page(place, viewport=DESK, scheme="light", scripts=True) -> Page:
        context = browser.new_context(viewport=viewport, color_scheme=scheme, java_script_enabled=scripts)
        context.set_default_timeout(MILLISECONDS)
        page = context.new_page()
        page.on(
            "request", lambda request: request.url.startswith((server, "data:", "blob:")) or wrong.append(request.url)
        )
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
        page.goto(server + place)
        pages.append(context)
        return page

    yield open_page
    for context in pages:
        context.close()
    assert wrong == []


@pytest.fixture(scope="module")
def addresses(server):
    """Return one address of each kind of page, with everything on them computed."""
    matches = read(server, "/tournaments/shown/matches")
    found = [
        *("/", "/bots", "/games", "/games/epicycle", "/games/midgard", "/bot?name=greedy", "/tournaments/shown"),
        *("/tournaments/shown/matches", "/tournaments/shown/matches?bot=greedy&seat=1&sort=longest"),
        re.search(r"/tournaments/shown/matches/[0-9a-f]{32}-\d", matches)[0],
        *("/comparisons/two", "/tournaments/shown/pair?board=epicycle_2p&a=greedy&b=random"),
    ]
    wait_until(lambda: not any("being computed" in read(server, place) for place in found), "every page is complete")
    return found


def read(server, place):
    with urllib.request.urlopen(server + place) as answer:
        return answer.read().decode()


def is_there(server, place):
    try:
        return bool(read(server, place))
    except urllib.error.HTTPError as error:
        assert error.code in (404, 503), "a run that starts is not there yet"
        return False


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESK, {"width": 3840, "height": 2160}], ids=["phone", "desk", "4K"])
def test_every_page_fits_the_screen_and_axe_finds_nothing_serious(addresses, visit, scheme, viewport):
    for place in addresses:
        page = visit(place, viewport, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"], place
        found = Axe().run(page).response["violations"]
        serious = [
            (rule["id"], rule["nodes"][0]["html"]) for rule in found if rule["impact"] in ("serious", "critical")
        ]
        assert serious == [], place
        assert page.locator("main").count() == 1 and page.locator("h1").count() == 1, place


TOO_SMALL = """() => {
    const own = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const shown = [...document.querySelectorAll('body *')].filter((each) => each.checkVisibility());
    const small = shown.filter(own).filter((each) => {
        const scale = each.ownerSVGElement ? each.getScreenCTM().a || 1 : 1;
        return scale * parseFloat(getComputedStyle(each).fontSize) < 10.95;
    });
    const alone = (link) => link.parentElement.innerText.trim() === link.innerText.trim();
    const target = (each) => each.matches('button, select, summary') || (each.matches('p > a') && alone(each));
    const targets = shown.filter(target);
    const low = targets.filter((each) => each.getBoundingClientRect().height < 24);
    return [...small, ...low].map((each) => each.textContent.trim().slice(0, 30)).slice(0, 5);
}"""
"""Text of less than 11 pixels; buttons, and links that stand alone, of less than 24 (WCAG 2.2)."""


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1280, "height": 720}], ids=["phone", "desk"])
def test_text_and_targets_are_large_enough(addresses, visit, viewport):
    games = [f"/games/{name}" for name in PACKAGED]
    of_tournament = [f"/tournaments/shown{place}" for place in ("", "/matches", "/figures?board=epicycle_3p")]
    for place in ("/", "/bots", *games, *of_tournament):
        page = visit(place, viewport)
        expect(page.locator("body")).not_to_contain_text("being computed")
        assert page.evaluate(TOO_SMALL) == [], place


MOST_BYTES = 200_000


def weights(browser, address):
    """Return the bytes of a page and of what it loads, as they were sent, by address; without pictures."""
    page, loaded = new_page(browser, viewport=DESK), []
    page.on("requestfinished", lambda request: loaded.append(request))
    page.goto(address)
    page.wait_for_timeout(2000)  # what scripts ask for
    found = {each.url: each.sizes()["responseBodySize"] for each in loaded if each.resource_type != "image"}
    page.close()
    return found


def test_home_tournament_and_match_weigh_less_than_200_kb_with_scripts_and_styles(addresses, server, browser):
    for place in ("/", "/tournaments/shown", next(place for place in addresses if "/matches/" in place)):
        sizes = weights(browser, server + place)
        assert server + place in sizes and any(".css" in url for url in sizes)
        assert sum(sizes.values()) < MOST_BYTES, sizes


def test_on_a_phone_the_names_in_standings_are_whole(addresses, visit):
    page = visit("/tournaments/shown", PHONE)
    names = page.locator(".leaderboard bdi.name")
    assert LONG in names.all_inner_texts()
    assert names.evaluate_all("names => names.every((name) => name.scrollWidth <= name.clientWidth)")


def test_pages_say_the_same_without_scripts(addresses, visit):
    for place in addresses:
        page = visit(place, scripts=False)
        assert page.locator("main").inner_text().strip(), place
    page = visit("/tournaments/shown", scripts=False)
    for board in page.locator("details.folded").all():
        address = board.locator("p a").get_attribute("href")
        figures = visit(address, scripts=False)
        wait_until(lambda: figures.reload() and figures.locator("figure svg").count() >= 4, f"{address} is computed")  # noqa: B023


def test_pages_are_dark_in_dark_mode(addresses, visit):
    for place in ("/", "/tournaments/shown", "/games/epicycle"):
        grounds = [
            visit(place, scheme=scheme).evaluate("getComputedStyle(document.documentElement).backgroundColor")
            for scheme in ("light", "dark")
        ]
        light, dark = (sum(map(int, re.findall(r"\d+", ground)[:3])) for ground in grounds)
        assert light > 600 and dark < 150, place


def test_a_match_is_stepped_through_by_keys(addresses, visit):
    (place,) = [place for place in addresses if re.search("[0-9a-f]{32}", place)]
    page = visit(place)
    page.wait_for_selector("#controls:not([hidden])")
    names = page.locator(".players bdi").all_text_contents()
    state = load_game("epicycle", len(names)).new_initial_state()
    moves = page.locator("#moves a").all_text_contents()
    for ply, text in enumerate(moves[:6], 1):
        page.keyboard.press("ArrowRight")
        expect(page).to_have_url(re.compile(f"#{ply}$"))
        state.apply_action(state.string_to_action(text))
        assert drawn(page) == canonical(state.picture(names=names))


def test_the_first_page_moves_and_a_match_is_shared_by_its_address(addresses, visit):
    page = visit("/")
    caption = page.locator("#follow-caption")
    expect(page.locator("#follow-board svg")).to_be_visible()
    expect(page.get_by_text("All matches in play")).to_be_hidden()
    before = caption.inner_text()
    expect(caption).not_to_have_text(before)
    (place,) = [place for place in addresses if re.search("[0-9a-f]{32}", place)]
    page = visit(f"{place}#2")
    page.locator("#share > summary").click()
    expect(page.locator("#share-address")).to_have_value(re.compile(re.escape(place) + "#2$"))
    assert page.locator("#share-png").get_attribute("href").endswith("/position.png?ply=2")
    with page.expect_download() as saved:
        page.locator("#share-svg").click()
    names = page.locator(".players bdi").all_text_contents()
    state = load_game("epicycle", len(names)).new_initial_state()
    for text in page.locator("#moves a").all_text_contents()[:2]:
        state.apply_action(state.string_to_action(text))
    assert canonical(Path(saved.value.path()).read_text()) == canonical(state.picture(names=names))


def test_the_filter_finds_matches_by_clicks_and_stands_in_the_address(visit, server, addresses):
    page = visit("/tournaments/shown/matches")
    page.locator("select[name=bot]").select_option("greedy")
    page.locator("select[name=place]").select_option("1")
    page.locator("select[name=players]").select_option("3")
    page.get_by_role("button", name="Show").click()
    expect(page).to_have_url(re.compile("bot=greedy.*place=1.*players=3"))
    page.wait_for_load_state()  # the address changes when the first of the page is there
    for row in page.locator("table.matches tbody tr").all():
        assert any("greedy" in winner for winner in row.locator("li.won").all_inner_texts()), "a place may be shared"
    page.get_by_role("link", name="Clear").click()
    expect(page).to_have_url(f"{server}/tournaments/shown/matches")


def test_what_is_computed_comes_by_itself_and_the_page_is_not_loaded_again(installed, browser):
    fresh = installed.start("-m", "arena", "serve", "--port", "0")
    try:
        page = new_page(browser, viewport=DESK)
        page.goto(fresh.stdout.readline().split()[0].rstrip("/") + "/tournaments/shown")
        page.evaluate("window.sameDocument = true")
        expect(page.locator(".waiting")).to_have_count(0)
        boards = page.locator("details.folded")
        for board in boards.all():
            board.locator("summary").first.click()
            expect(board.locator("figure .picture svg").first).to_be_visible()
            assert board.locator("[data-figure]:not([hidden])").count() >= 4, "they can be explored"
        assert boards.count() == 2 and page.locator("figure .picture svg").count() >= 8
        assert page.locator("#live table").first.locator("tbody tr").count() == 3
        assert page.evaluate("window.sameDocument"), "the page was loaded again"
        assert page.locator("meta[http-equiv=refresh]").count() == 0
        page.close()
    finally:
        ended(fresh)


def test_a_figure_becomes_interactive_with_no_eval_and_no_network(visit, addresses):
    page = visit("/tournaments/shown")
    page.locator("details.folded > summary").first.click()
    for name in ("Ratings", "Head to head", "Convergence"):
        figure = page.locator("figure", has=page.get_by_role("heading", name=name, exact=True)).first
        figure.get_by_role("button", name="Explore").click()
        expect(figure.locator(".picture svg.marks")).to_be_visible()
    figure = page.locator("figure", has=page.get_by_role("heading", name="Ratings", exact=True)).first
    figure.locator(".mark-symbol path").first.hover()
    expect(page.locator("#vg-tooltip-element.visible")).to_contain_text("rating")


def test_a_run_is_followed_without_loading_the_page_again(installed, server, visit):
    run = installed.start(
        "-m", "arena", "run", str(installed.config("live", 20_000, "third")), "--quiet", "--workers", "1"
    )
    try:
        wait_until(lambda: is_there(server, "/tournaments/live"), "the log has a run")
        page = visit("/tournaments/live")
        page.evaluate("window.sameDocument = true")
        words = page.locator("#live .facts")
        expect(page.locator("#live table.wide").first).to_be_visible()
        before = words.inner_text()
        expect(words).not_to_have_text(before)
        expect(page.locator("#follow-board svg")).to_be_visible()
        caption = page.locator("#follow-caption").inner_text()
        expect(page.locator("#follow-caption")).not_to_have_text(caption)
        expect(page.locator("#follow-title")).to_contain_text("newest match, replayed")
        assert page.evaluate("window.sameDocument"), "the page was loaded again"
        assert page.evaluate("document.documentElement.scrollWidth") <= DESK["width"]
    finally:
        ended(run)
    expect(page.locator("#live .state")).not_to_have_text("running")


def test_two_servers_share_a_home_and_a_taken_port_is_named(installed, server):
    port = server.rpartition(":")[2]
    taken = installed.start("-m", "arena", "serve", "--port", port)
    _, said = taken.communicate(timeout=PATIENCE)
    assert (taken.returncode, said.count("\n")) == (2, 1) and f"--port {port}: is in use" in said
    second = installed.start("-m", "arena", "serve", "--port", "0")
    address = second.stdout.readline().split()[0].rstrip("/")
    assert "shown" in read(address, "/") and "shown" in read(server, "/")
    assert ended(second) == "" and second.returncode == 0


def test_the_events_of_a_tournament_are_json_that_names_its_state(server):
    with urllib.request.urlopen(f"{server}/tournaments/shown/events", timeout=PATIENCE) as stream:
        lines = iter(stream.readline, b"")
        data = next(line for line in lines if line.startswith(b"data: "))
    event = json.loads(data.removeprefix(b"data: "))
    assert event["state"] == "complete" and "<table" in event["now"]
