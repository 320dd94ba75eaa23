"""Persons play in Chromium: by clicks alone, against an installed server, with nothing from the network."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.arena.sessions.test_analysis import win_in_one
from tests.support.installed import Installed
from tests.system.test_browser import DESK, PHONE, browser  # noqa: F401 - a fixture

LONG = 120_000
"""Milliseconds that a page may take whose kernels have to be compiled."""

SERVE = """
from arena.cli.app import main
from arena.sessions import registry

make = registry.AnalysisPool
registry.AnalysisPool = lambda **options: make(20, **options)  # for pages that were just closed
main()
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Return the address of a server with a home of its own."""
    with Installed(tmp_path_factory.mktemp("wheel")).start("-c", SERVE, "serve", "--port", "0") as server:
        yield server.stdout.readline().split()[0]
        server.terminate()


@pytest.fixture
def visit(browser, address):  # noqa: F811 - it is the fixture
    """Return a function that opens a page; the test fails if a request leaves the machine, or a script fails."""
    contexts, wrong = [], []

    def open_page(place, viewport=DESK, scheme="light"):
        context = browser.new_context(viewport=viewport, color_scheme=scheme)
        context.set_default_timeout(30_000)
        page = context.new_page()
        page.on("request", lambda request: request.url.startswith(address) or wrong.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(f"{address}{place}")
        contexts.append(context)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def sit(page, **fields):
    """Start the match and wait until it is the person's turn."""
    for name, value in fields.items():
        field = page.locator(f'[name="{name.replace("_", "-")}"]')
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    page.click("text=Start the match")
    expect(page.locator("#status")).to_have_text(re.compile("Your move|Over"), timeout=LONG)


def click_part(part):
    """Click a part in its drawing, as a mouse does."""
    part.evaluate("part => part.dispatchEvent(new MouseEvent('click', {bubbles: true}))")


def moved(page, plies):
    """Wait until there are more plies and the person is to move, or the match is over."""
    page.wait_for_function(
        """plies => document.querySelectorAll('#moves li').length > plies
        && /^(Your move|Over|The match failed)/.test(document.getElementById('status').textContent)""",
        arg=plies,
    )


@pytest.mark.parametrize(
    ("game", "players"), [("epicycle", 2), ("magic_mids", 2), ("midgard", 2), ("pyramid_punch", 2)]
)
def test_a_match_of_each_game_is_played_to_its_end_by_clicks_alone(visit, game, players):
    page = visit(f"play?game={game}&players={players}")
    sit(page, seed="5", seat_1="greedy")
    number = 0
    while not page.locator("#status").inner_text().startswith("Over"):
        plies = page.locator("#moves li").count()
        while page.locator(".board .can").count() and page.locator("#moves li").count() == plies:
            parts = page.locator("#board .can")
            click_part(parts.nth(number % parts.count()))
            number += 7
        moved(page, plies)
    assert page.locator("#problem").is_hidden()
    expect(page.locator("#after")).to_be_visible()
    expect(page.locator("#result")).to_contain_text("Result: ")


def test_dice_are_shown_with_who_rolled_them(visit):
    page = visit("play?game=magic_mids&players=2")
    sit(page, seed="5")
    assert "dice of seat 0" in page.locator("#moves").inner_text()


def test_an_illegal_click_explains_itself_and_a_move_is_taken_back(visit):
    page = visit("play?game=epicycle&players=2")
    sit(page, seed="3")
    click_part(page.locator('#board [data-part="slot-3"]'))
    expect(page.locator("#explain")).to_have_text("Slot 3 is 4 slots from the gap, and no piece has more than 3 pips.")
    page.route("**/why?*", lambda route: route.fulfill(json={"why": ""}))
    click_part(page.locator('#board [data-part="slot-3"]'))
    expect(page.locator("#explain")).to_have_text("slot 3 is not a legal target: choose one of the marked parts.")
    page.unroute("**/why?*")
    before = page.locator("#words").text_content()
    click_part(page.locator("#board .can").first)
    expect(page.locator("#explain")).to_contain_text("now choose one of the marked parts")
    page.keyboard.press("Escape")
    expect(page.locator("#board .picked")).to_have_count(0)
    for _ in range(2):
        click_part(page.locator("#board .can").first)
    moved(page, 0)
    assert page.locator("#words").text_content() != before
    page.click("#back")
    expect(page.locator("#moves li")).to_have_count(0)
    expect(page.locator("#words")).to_have_text(before)


def test_a_click_on_a_fighter_means_its_tile_where_tiles_are_chosen_and_places_in_vain_explain_themselves(visit):
    page = visit("analysis?game=pyramid_punch&players=3")
    page.fill("#position", "LMSO@0,0/LMSO@1,0/LMSO@2,0 0 m 0")
    page.click("#position-form button")
    page.locator('#board [data-part="fighter-1-M"]').click()
    expect(page.locator("#explain")).to_contain_text("tile 1: now choose")
    page.locator('#board [data-part="place-0,1"]').click()
    expect(page.locator("#explain")).to_have_text(
        "Tile 1 may not go there: tiles that are connected now would not be any more."
    )
    page.locator('#board [data-part="fighter-1-M"]').click()
    expect(page.locator("#explain")).to_have_text("Nothing is chosen now.")


def test_everything_can_be_done_by_keys(visit):
    page = visit("play?game=epicycle&players=2")
    sit(page, seed="3")
    page.locator("#board .can").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('data-part')").startswith("slot-")
    page.keyboard.press("Space")
    moved(page, 0)
    plies = page.locator("#moves li").count()
    page.locator("#actions-box summary").press("Enter")
    page.locator("#actions button").first.press("Enter")
    moved(page, plies)


def test_a_hint_and_win_bars_come_from_a_search(visit):
    page = visit("play?game=epicycle&players=2")
    sit(page)
    page.click("#hint")
    expect(page.locator("#found tbody tr").first).to_be_visible(timeout=LONG)
    expect(page.locator("#values .value-bar")).to_have_count(2)


def test_resigning_and_a_rematch(visit):
    page = visit("play?game=epicycle&players=2")
    sit(page)
    page.click("#resign")
    expect(page.locator("#status")).to_contain_text("Over: forfeit")
    before = page.url
    page.click("#again")
    page.wait_for_url(lambda url: url != before)
    expect(page.locator("#status")).to_have_text(re.compile("Your move"), timeout=LONG)


def test_the_analysis_finds_a_winning_move_and_plays_on_from_there(visit):
    state, winning = win_in_one()
    page = visit("analysis?game=epicycle&players=2")
    page.fill("#position", state.position)
    page.click("#position-form button")
    best = page.locator("#found tbody tr").first
    expect(best).to_contain_text("proven", timeout=LONG)
    expect(best.locator("button")).to_have_text(state.action_to_string(winning))
    best.locator("button").click()
    expect(page.locator("#status")).to_contain_text("over")
    page.click("#back")
    expect(page.locator("#status")).to_contain_text(f"Seat {state.current_player()} to move")
    page.click("text=Start the match")
    expect(page.locator("#status")).to_have_text(re.compile("Your move"), timeout=LONG)


def test_a_game_without_a_map_of_its_drawing_is_played_from_a_list_with_previews(visit):
    def without_parts(route):
        answer = route.fetch()
        if answer.status != 200:
            return route.fulfill(response=answer)
        legal = [{**each, "parts": []} for each in answer.json()["legal"]]
        return route.fulfill(response=answer, json={**answer.json(), "touch": False, "legal": legal})

    page = visit("play?game=connect_four&players=2")
    page.route("**/state?*", without_parts)
    page.route("**/move", without_parts)
    sit(page, seed="1")
    page.locator("#actions button").first.hover()
    expect(page.locator("#preview svg")).to_be_visible()
    while not page.locator("#status").inner_text().startswith("Over"):
        plies = page.locator("#moves li").count()
        page.locator("#actions button").first.click()
        moved(page, plies)
    page.unroute_all(behavior="ignoreErrors")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("place", ["play", "play?game=pyramid_punch&players=4", "analysis?game=midgard&players=2"])
def test_nothing_serious_is_wrong_and_nothing_is_wider_than_the_screen(visit, place, viewport, scheme):
    page = visit(place, viewport, scheme)
    check(page)
    if place.startswith("play"):
        sit(page)
        page.click("#hint")
        expect(page.locator("#found tbody tr").first).to_be_visible(timeout=LONG)
        check(page)


def check(page):
    """Check a page by axe, and its width."""
    found = Axe().run(page).response["violations"]
    assert [
        (each["id"], [node["target"] for node in each["nodes"]][:3])
        for each in found
        if each["impact"] in ("serious", "critical")
    ] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
