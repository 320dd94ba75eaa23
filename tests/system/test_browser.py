"""Pages in a real browser: they load nothing, keys step through a match, nothing serious is wrong by axe."""

import re
import shutil
from xml.etree import ElementTree

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect, sync_playwright

from arena import api
from arena.results.pages.replay import write_replay
from engine import load_game
from tests.support.installed import ROOT, Installed
from tests.support.tournaments import PATIENCE

PROGRAM = shutil.which("chromium")
OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-sync",
)
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
CONFIG = """
name = "shown"
blocks = 4
games = [{ game = "epicycle", players = [2, 3] }, { game = "magic_mids", players = [4] }]
bots = [{ bot = "random" }, { bot = "greedy" }, { bot = "flat_mc:playouts=10" }, { bot = "uct:simulations=20" }]
"""
MILLISECONDS = 1000 * PATIENCE
"""Time that a page may take."""
GAMES = ("epicycle", "magic_mids", "midgard(variant=loki)", "pyramid_punch")
PACKAGED = ("epicycle", "magic_mids", "midgard", "pyramid_punch")


@pytest.fixture(scope="module")
def browser():
    """Return Chromium."""
    assert PROGRAM, "these tests need Chromium; `make tools-system` installs it"
    expect.set_options(timeout=MILLISECONDS)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=PROGRAM, args=list(OPTIONS))
        yield running
        running.close()


def new_page(browser, **options):
    """Open an empty page, alone in a context, that may take its time for everything."""
    page = browser.new_page(**options)
    page.set_default_timeout(MILLISECONDS)
    return page


@pytest.fixture
def visit(browser):
    """Return a function that opens a file; the test fails if the page loads another one, or if its script fails."""
    pages, wrong = [], []

    def open_page(path, viewport=DESK, scheme="light", place="") -> Page:
        page = new_page(browser, viewport=viewport, color_scheme=scheme)
        address = path.as_uri() + place
        page.on("request", lambda request: request.url.split("#")[0] == path.as_uri() or wrong.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
        page.goto(address)
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.close()
    assert wrong == []


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return the wheel, in a folder with a space in its name, with a tournament and pages of matches of each game."""
    found = Installed(tmp_path_factory.mktemp("a wheel"))
    config = found.here / "shown.toml"
    config.write_text(CONFIG)
    found.run("-m", "arena", "run", str(config), "--quiet", "--report")
    for game in GAMES:
        found.run("-m", "arena", "match", game, "greedy", "random", "--seed", "5", "--html", f"{game}.html")
    return found


@pytest.fixture(scope="module")
def matches(installed):
    """Return a match of each game, as it is played here, and the path of its page."""
    return {game: (api.play_match(game, ["greedy", "random"], 5), installed.here / f"{game}.html") for game in GAMES}


@pytest.fixture(scope="module")
def report(installed):
    """Return the path of the report that a run has ended with."""
    return installed.home / "shown" / "index.html"


def files_of(folder):
    """Return the paths of the packages' files below a folder."""
    paths = (path for package in ("arena", "bots", "engine") for path in (folder / package).rglob("*"))
    return {path.relative_to(folder).as_posix() for path in paths if path.is_file() and "__pycache__" not in path.parts}


def test_the_wheel_has_every_file_of_the_packages_but_what_tests_compare_with(installed):
    recorded = {f"engine/{name}/{kind}.txt" for name in PACKAGED for kind in ("observations", "playthroughs")}
    assert files_of(installed.site) == files_of(ROOT) - recorded


def drawn(page: Page) -> str:
    """Return the board on a page in canonical form, without the height to which the page bounds it."""
    script = """node => {
        const copy = node.cloneNode(true);
        copy.style.removeProperty("max-height");
        if (!copy.getAttribute("style")) copy.removeAttribute("style");
        return new XMLSerializer().serializeToString(copy);
    }"""
    return canonical(page.locator("#board svg").evaluate(script))


def canonical(svg: str) -> str:
    return ElementTree.canonicalize(svg)


def settled(page: Page, ply: int) -> None:
    """Wait until the page has a ply in its address: the last thing that it does to show one, save after a link."""
    expect(page).to_have_url(re.compile(f"#{ply}$"))


@pytest.mark.parametrize("game", GAMES)
def test_keys_step_through_the_positions_that_the_engine_says(matches, visit, game):
    match, path = matches[game]
    page = visit(path)
    page.wait_for_selector("#controls:not([hidden])")
    state = load_game(match.game, match.players).new_initial_state()
    assert drawn(page) == canonical(state.picture(names=match.names))
    for ply, text in enumerate(match.moves[:12], 1):
        page.keyboard.press("ArrowRight")
        settled(page, ply)
        state.apply_action(state.string_to_action(text))
        assert drawn(page) == canonical(state.picture(names=match.names))
        assert page.locator("#words").text_content() == str(state)
        assert f"Ply {ply} of {len(match.moves)}" in page.locator("#caption").text_content()
        assert page.locator("[aria-current]").text_content() == text
    page.keyboard.press("ArrowLeft")
    settled(page, min(12, len(match.moves)) - 1)
    page.keyboard.press("End")
    settled(page, len(match.moves))
    page.keyboard.press("Home")
    settled(page, 0)


def test_an_address_with_a_ply_a_link_and_the_slider_show_that_ply(matches, visit):
    match, path = matches["magic_mids"]
    page = visit(path, place="#7")
    expect(page.locator("#caption")).to_contain_text("Ply 7 ")
    page.locator("#moves a").nth(10).click()
    settled(page, 11)
    expect(page.locator("#caption")).to_contain_text("Ply 11 ")
    page.locator("#slider").fill("3")
    settled(page, 3)
    page.locator('[data-go="next"]').click()
    event = page.evaluate("Number(location.hash.slice(1))")
    assert event > 3 and "score falls by" in page.locator("#caption").text_content()
    assert len(match.moves) > event


def test_the_space_bar_plays_and_pauses(matches, visit):
    match, path = matches["epicycle"]
    page = visit(path)
    page.wait_for_selector("#controls:not([hidden])")
    page.select_option("#speed", "50")
    page.locator("h1").click()
    page.keyboard.press("Space")
    settled(page, len(match.moves))
    expect(page.locator('[data-go="play"]')).to_have_text("Play")  # a tick after the last ply


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Return a match in which bots say what they expect, and the path of its page."""
    match = api.play_match("magic_mids", ["uct:simulations=30", "flat_mc:playouts=2", "random"], 5)
    return match, write_replay(tmp_path_factory.mktemp("expected") / "match.html", match)


def test_evaluations_and_lines_are_shown_with_their_plies_and_a_click_on_the_graph_goes_there(expected, visit):
    match, path = expected
    page = visit(path)
    page.wait_for_selector("#controls:not([hidden])")
    ply = next(number for number, estimate in match.estimates.items() if number > 5)
    page.locator("#moves a").nth(ply).click()
    assert re.search(r": .* expects [+−][01]\.[0-9]{2}", page.locator("#moves li").nth(ply).text_content())
    settled(page, ply + 1)
    value = match.estimates[ply].evaluation[0]
    said = f"{match.names[0]} {'−' if value < 0 else '+'}{abs(value):.3f}"
    expect(page.locator("#expected")).to_contain_text(said)  # after the address, which the link itself has changed
    across = float(page.locator("#cursor").get_attribute("x1"))
    assert across == pytest.approx(600 * (ply + 1) / len(match.moves))
    graph = page.locator("#graph").bounding_box()
    page.locator("#graph").click(position={"x": graph["width"] / 2, "y": 20})
    assert abs(page.evaluate("Number(location.hash.slice(1))") - len(match.moves) / 2) < len(match.moves) / 20


def test_mistakes_and_captures_are_gone_to_by_their_kind(expected, visit):
    _, path = expected
    page = visit(path)
    page.wait_for_selector("#controls:not([hidden])")
    for kind, word in (("mistake", "less than before"), ("capture", "score falls by")):
        page.keyboard.press("Home")
        page.select_option("#kind", kind)
        page.locator('[data-go="next"]').click()
        assert word in page.locator("#caption").text_content()


def test_bars_grow_with_the_time_that_bots_took(expected, visit):
    match, path = expected
    page = visit(path, place=f"#{len(expected[0].moves)}")
    page.wait_for_selector("#controls:not([hidden])")
    widths = [page.locator(f"#bar-{seat}").bounding_box()["width"] for seat in range(3)]
    took = [sum(clock.wall for clock in match.clocks if clock.seat == seat) for seat in range(3)]
    assert widths.index(max(widths)) == took.index(max(took)) and max(widths) > 10


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_pages_fit_the_screen_and_axe_finds_nothing_serious(matches, expected, report, visit, scheme, viewport):
    for path in (report, expected[1], *(path for _, path in matches.values())):
        page = visit(path, viewport, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        found = Axe().run(page).response["violations"]
        serious = [
            (rule["id"], rule["nodes"][0]["html"]) for rule in found if rule["impact"] in ("serious", "critical")
        ]
        assert serious == [], path.name


def brightness(page: Page, part: str, what: str) -> int:
    """The sum of red, green and blue of a part's colour, which may not be transparent: 0 is black, 765 white."""
    colour = page.locator(part).first.evaluate(f"node => getComputedStyle(node).{what}")
    assert re.fullmatch(r"rgb\(\d+, \d+, \d+\)", colour)
    return sum(map(int, re.findall(r"\d+", colour)))


def test_drawings_and_figures_are_dark_in_dark_mode_and_writing_on_them_is_light(matches, report, visit):
    drawing, ground = ("#board svg > rect", "fill"), ("html", "backgroundColor")
    for path, below, writing in (
        (matches["epicycle"][1], drawing, "#board svg text"),
        (report, ground, "figure svg text"),
    ):
        light, dark = visit(path, scheme="light"), visit(path, scheme="dark")
        assert brightness(light, *below) > brightness(light, writing, "fill") + 300, path.name
        assert brightness(dark, *below) < brightness(dark, writing, "fill") - 300, path.name
        assert brightness(dark, *below) == brightness(dark, *ground) < 150, path.name


def test_every_table_of_a_report_opens(report, visit):
    page, figures = visit(report), report.read_text().count("<figure ")
    assert page.locator("details").count() == figures > 10, "one of each figure"
    for details in page.locator("details").all():
        assert not details.locator("table").is_visible()
        details.locator("summary").click()
        assert details.locator("table").is_visible()


@pytest.fixture(scope="module")
def site(installed):
    """Return the folder of a site of plain files."""
    installed.run("-m", "arena", "site", "shown", "--out", "a site")
    return installed.here / "a site"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_a_site_opens_from_disk_and_links_lead_on(site, browser, scheme, viewport):
    page = new_page(browser, viewport=viewport, color_scheme=scheme)
    wrong = []
    page.on("request", lambda request: request.url.startswith(site.as_uri()) or wrong.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
    page.goto((site / "index.html").as_uri())
    for link in ("shown", "Chosen matches"):
        page.get_by_role("link", name=link, exact=True).first.click()
        page.wait_for_load_state()
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        assert page.evaluate("getComputedStyle(document.body).fontFamily").startswith("system-ui")
    page.locator("table.matches a").first.click()
    page.wait_for_selector("#controls:not([hidden])")
    page.keyboard.press("ArrowRight")
    settled(page, 1)
    assert wrong == []
    for path in (site / "index.html", site / "shown" / "index.html", site / "shown" / "matches.html"):
        page.goto(path.as_uri())
        found = Axe().run(page).response["violations"]
        serious = [
            (rule["id"], rule["nodes"][0]["html"]) for rule in found if rule["impact"] in ("serious", "critical")
        ]
        assert serious == [], path.name
    page.close()
