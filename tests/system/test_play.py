"""Persons play in Chromium: by clicks alone, against a server, with nothing from the network."""

import re
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from arena.web.lessons import lessons_of
from tests.arena.sessions.test_analysis import win_in_one
from tests.support.installed import Checkout
from tests.system.test_browser import DESK, MILLISECONDS, PHONE, browser, new_page  # noqa: F401 - a fixture

TURN_OR_END = '#status:is([data-turn="1"], [data-phase="over"])'

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
    with Checkout(tmp_path_factory.mktemp("play")).start("-c", SERVE, "serve", "--port", "0") as server:
        yield server.stdout.readline().split()[0]
        server.terminate()


@pytest.fixture
def visit(browser, address):  # noqa: F811 - it is the fixture
    """Return a function that opens a page; the test fails if a request leaves the machine, or a script fails."""
    contexts, wrong = [], []

    def open_page(place, viewport=DESK, scheme="light", touch=False):
        context = browser.new_context(viewport=viewport, color_scheme=scheme, has_touch=touch, reduced_motion="reduce")
        context.set_default_timeout(MILLISECONDS)
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
    """Start a match and wait until it is the person's turn."""
    page.evaluate("document.querySelectorAll('details').forEach(box => (box.open = true))")
    for name, value in fields.items():
        field = page.locator(f'[name="{name.replace("_", "-", 1)}"]')
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    page.click("text=Start the match")
    expect(page.locator(TURN_OR_END)).to_be_visible()


def click(part, touch=False):
    """Click the middle of a part, as a mouse or a finger does."""
    part.evaluate("part => part.scrollIntoView({block: 'center', inline: 'center'})")
    press = part.tap if touch else part.click  # again where the page moves in between
    press()


def moved(page, plies):
    """Wait until there are more plies and the person is to move, or the match is over."""
    page.wait_for_function(
        """plies => {
            const {turn, phase} = document.getElementById('status').dataset;
            const moved = document.querySelectorAll('#moves li').length > plies;
            return moved && (turn || phase === 'over' || phase === 'failed');
        }""",
        arg=plies,
    )


def is_over(page):
    return page.locator("#status").get_attribute("data-phase") == "over"


def turn_by_pointer(page, number, touch):
    """Choose an action by clicking marked parts."""
    plies = page.locator("#moves li").count()
    while page.locator("#board .can").count() and page.locator("#moves li").count() == plies:
        parts = page.locator("#board .can:not(.picked)")
        click(parts.nth(number % parts.count()), touch)
        number += 7


def turn_by_keys(page, number):
    """Choose an action by keys alone: the board has the focus again after others have moved."""
    plies = page.locator("#moves li").count()
    if not plies or not page.evaluate("document.getElementById('board').contains(document.activeElement)"):
        assert number == 0, "the focus is back on the board"
        page.locator("#board .can").first.focus()
    while page.locator("#board .can").count() and page.locator("#moves li").count() == plies:
        for _ in range(number % 5):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        number += 7


WHOLE_MATCHES = [
    ("epicycle", 2, {}, "keys", DESK),
    ("epicycle", 5, {"option_setup": "random"}, "touch", PHONE),
    ("epicycle", 3, {}, "mouse", PHONE),
    ("epicycle", 4, {}, "mouse", DESK),
    ("magic_mids", 2, {"option_capture_power": "each"}, "touch", PHONE),
    ("magic_mids", 3, {"option_losers": "tied"}, "keys", DESK),
    ("magic_mids", 4, {"option_full_board": "draw"}, "mouse", DESK),
    ("midgard", 2, {}, "mouse", DESK),
    ("midgard", 2, {"option_variant": "odin"}, "keys", PHONE),
    ("midgard", 2, {"option_variant": "loki"}, "touch", PHONE),
    ("midgard", 2, {"option_variant": "mere_mortal"}, "mouse", PHONE),
    ("pyramid_punch", 2, {}, "touch", PHONE),
    ("pyramid_punch", 3, {"option_max_turns": "12"}, "mouse", DESK),
    ("pyramid_punch", 4, {"option_max_turns": "8", "option_cap_ranking": "draw"}, "keys", DESK),
    ("pyramid_punch", 5, {"option_max_turns": "6"}, "mouse", PHONE),
]


@pytest.mark.parametrize(("game", "players", "options", "how", "viewport"), WHOLE_MATCHES)
def test_a_whole_match_is_played_on_the_board_alone(visit, game, players, options, how, viewport):
    page = visit(f"play?game={game}&players={players}", viewport, touch=how == "touch")
    sit(page, seed="5", **{f"seat_{seat}": "random" for seat in range(1, players)}, **options)
    number = 0
    while not is_over(page):
        plies = page.locator("#moves li").count()
        if number == 0:
            page.locator("#board").scroll_into_view_if_needed()
        if how == "keys":
            turn_by_keys(page, number)
        else:
            turn_by_pointer(page, number, how == "touch")
        moved(page, plies)
        number += 1
    assert page.locator("#problem").is_hidden()
    expect(page.locator("#after")).to_be_visible()
    expect(page.locator("#status")).to_have_text(re.compile("You (won|lost|came|share)"))
    assert page.locator("#turned").get_attribute("href").startswith("/analysis?")
    check(page)


ROTATED = "LMSO@0,0/LMSO@1,0 0 m 0"
DECISIONS = [
    ("epicycle", 2, "SMLSMLSML. SML/SML 0 0"),
    ("magic_mids", 2, "......../......../......../......../........ 555/555 0 bbb 0"),
    ("magic_mids", 4, "0S....../..1M..../....0M../......../......3L 132/232/242/241 0 335 4"),
    ("midgard", 2, ""),
    ("midgard(variant=odin)", 2, ""),
    ("pyramid_punch", 2, ""),
    ("pyramid_punch", 3, "LMSO@-/LMSO@-/LMSO@- 0 p 0"),
    ("pyramid_punch", 2, "LMSO@0,0/LSMO@- 1 p 0"),
    ("pyramid_punch", 3, "LMSO@0,0/MOLS@0,-1/LMSO@0,1 0 f 0"),
    ("pyramid_punch", 3, ".MO.@0,0/LSMO@-1,1/S.ML@0,1 0 m 3"),
]
"""A position for every kind of decision: game, players, position."""


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize(("game", "players", "position"), DECISIONS)
def test_every_marked_part_works_where_it_is_clicked(visit, game, players, position, viewport):
    page = visit("analysis?" + urlencode({"game": game, "players": players, "position": position}), viewport)
    page.wait_for_selector("#board .can")
    state = page.evaluate("fetch(`/analysis/state${location.search}&narrow=${innerWidth < 640}`).then(it => it.json())")
    answers = {"state": state, "found": {"values": [], "best": [], "simulations": 0, "running": False}}
    page.route(
        re.compile("/analysis/(state|found|prompt)[?]"),
        lambda route: route.fulfill(json=answers.get(re.search("/analysis/([a-z]+)", route.request.url)[1], {})),
    )  # so that the position stays as it is, whatever is chosen
    for action in state["legal"]:
        for step, name in enumerate(action["parts"]):
            part = page.locator(f'#board [data-part="{name}"].can').first
            click(part)
            if step < len(action["parts"]) - 1:
                expect(page.locator(f'#board [data-part="{name}"].picked')).to_have_count(1)
        expect(page.locator("#moves")).to_have_value(re.compile(rf"(^| ){re.escape(action['text'])}$"))
        page.wait_for_function("!document.querySelector('#board .picked') && document.querySelector('#board .can')")


def test_a_guided_first_match_is_solved_by_clicks(visit):
    for game in ("epicycle", "magic_mids", "midgard", "pyramid_punch"):
        page = visit(f"learn/{game}")
        for number, lesson in enumerate(lessons_of(game).lesson):
            expect(page.locator("#task")).to_have_text(lesson.task)
            legal = page.evaluate(
                "query => fetch('/analysis/state?' + query).then(answer => answer.json())",
                urlencode({"game": lesson.game or game, "players": lesson.players, "position": lesson.position}),
            )["legal"]
            if number == 1:
                check(page)
                wrong = next((each for each in legal if each["text"] not in lesson.solutions), None)
                for name in wrong["parts"] if wrong else ():
                    click(page.locator(f'#board [data-part="{name}"].can').first)
                if wrong:
                    expect(page.locator("#praise")).to_contain_text(lesson.hint)
                    page.click("#again")
            page.wait_for_selector("#board .can")
            for name in next(each["parts"] for each in legal if each["text"] == lesson.solutions[0]):
                click(page.locator(f'#board [data-part="{name}"].can').first)
            expect(page.locator("#praise")).to_contain_text(lesson.praise)
            last = number == len(lessons_of(game).lesson) - 1
            page.click("#play" if last else "#next")
        expect(page).to_have_url(re.compile("/play[?]game="))


def test_the_next_task_and_another_try_begin_at_the_words_of_the_task(visit):
    page = visit("learn/epicycle", PHONE, touch=True)
    lesson = lessons_of("epicycle").lesson[0]
    for name in ("hand-0-L", "slot-6"):
        click(page.locator(f'#board [data-part="{name}"].can').first)
    expect(page.locator("#praise")).to_contain_text("That is legal, but not the task. You put a large piece")
    expect(page.locator("#praise")).to_contain_text(lesson.hint)
    expect(page.locator("#praise")).to_be_in_viewport()
    click(page.locator('#board [data-part="slot-8"]').first)
    expect(page.locator("#explain")).to_contain_text("Press Try again")
    page.click("#again")
    expect(page.locator("#task")).to_be_in_viewport(ratio=1)
    for name in ("hand-0-S", "slot-8"):
        click(page.locator(f'#board [data-part="{name}"].can').first)
    expect(page.locator("#praise")).to_contain_text("Well done. You put a small piece")
    page.click("#next")
    expect(page.locator("#task")).to_have_text(lessons_of("epicycle").lesson[1].task)
    expect(page.locator("#task")).to_be_in_viewport(ratio=1)


def test_without_scripts_the_page_says_who_is_to_move_and_why_moves_need_them(browser, address):  # noqa: F811
    page = new_page(browser, java_script_enabled=False)
    page.goto(f"{address}play?game=epicycle&players=2")
    page.click("text=Start the match")
    for _ in range(100):
        if re.search("You are to move|[Pp]lay", page.locator("#status").inner_text()):
            break
        page.wait_for_timeout(200)
        page.reload()
    assert page.locator("#board svg").count() == 1
    assert "moves need it" in page.content()
    page.close()


def test_dice_are_shown_with_who_rolled_them(visit):
    page = visit("play?game=magic_mids&players=2")
    sit(page, seed="5")
    expect(page.locator("#news")).to_contain_text("You roll")
    expect(page.locator("#news svg.die")).to_have_count(3)


def test_all_that_happened_is_told_and_what_has_no_room_is_folded(visit):
    page = visit("play?game=epicycle&players=2", PHONE)
    sit(page, seed="3", opening="9")
    expect(page.locator("#news > li")).to_have_count(6)
    expect(page.locator("#earlier-title")).to_have_text(re.compile("^Show [3-9] more$"))
    told, folded = page.locator("#moves li").count(), page.locator("#earlier-news > li").count()
    assert folded == told - 6
    plies = page.locator("#moves li").count()
    turn_by_pointer(page, 0, touch=False)
    moved(page, plies)
    expect(page.locator("#earlier")).to_be_hidden()
    expect(page.locator("#news > li")).to_have_count(2)


def test_an_illegal_click_explains_itself_and_a_move_is_taken_back(visit):
    page = visit("play?game=epicycle&players=2")
    sit(page, seed="3")
    click(page.locator('#board [data-part="slot-3"]'))
    expect(page.locator("#explain")).to_contain_text(
        "Slot 3 is 4 slots from the gap, and no piece has more than 3 pips."
    )
    page.route("**/why?*", lambda route: route.fulfill(json={"why": ""}))
    click(page.locator('#board [data-part="slot-3"]'))
    expect(page.locator("#explain")).to_have_text("slot 3 is not a legal target: choose one of the marked parts.")
    page.unroute("**/why?*")
    before = page.locator("#words").text_content()
    click(page.locator("#board .can").first)
    expect(page.locator("#explain")).to_contain_text("now choose one of the marked parts")
    page.keyboard.press("Escape")
    expect(page.locator("#board .picked")).to_have_count(0)
    for _ in range(2):
        click(page.locator("#board .can").first)
    moved(page, 0)
    assert page.locator("#words").text_content() != before
    page.click("#back")
    expect(page.locator("#moves li")).to_have_count(0)
    expect(page.locator("#words")).to_have_text(before)


def test_on_a_phone_the_reason_of_a_refusal_comes_into_sight(visit):
    page = visit("play?game=magic_mids&players=3", PHONE, touch=True)
    sit(page, seed="5")
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator("#explain")).not_to_be_in_viewport()
    page.locator('#board [data-part="cell-a2"]').tap()
    expect(page.locator("#explain")).to_contain_text("The roll of blank, ace and 3 allows")
    expect(page.locator("#explain")).to_be_in_viewport(ratio=0.9)


def test_a_click_on_a_fighter_means_its_tile_where_tiles_are_chosen_and_places_in_vain_explain_themselves(visit):
    page = visit("analysis?game=pyramid_punch&players=3")
    page.fill("#position", "LMSO@0,0/LMSO@1,0/LMSO@2,0 0 m 0")
    page.click("#position-form button")
    page.locator('#board [data-part="fighter-1-M"]').click()
    expect(page.locator("#explain")).to_contain_text("Orange's tile: now choose")
    page.locator('#board [data-part="place-0,1"]').click()
    expect(page.locator("#explain")).to_contain_text(
        "Orange's tile may not go there: tiles that are connected now would not be any more."
    )
    page.locator('#board [data-part="fighter-1-M"]').click()
    expect(page.locator("#explain")).to_have_text("Nothing is chosen now.")


def test_how_a_match_ended_is_shown_up_to_what_the_last_move_did(visit):
    page = visit("play?game=epicycle&players=2")
    sit(page, seat_0="random", seat_1="random", seed="3")
    verdict = page.locator("#status").inner_text()
    plies, last = page.locator("#moves li").count(), page.locator("#news li").last.inner_text()
    page.evaluate(
        """() => {
            const status = document.getElementById("status");
            window.said = [];
            new MutationObserver(() => window.said.push(status.textContent)).observe(status, { childList: true });
        }"""
    )
    page.click("#see")
    page.wait_for_function("verdict => window.said.at(-1)?.trim() === verdict.trim()", arg=verdict)
    said = [
        re.match(r"After ply (\d+) of (\d+): (.*) Back to the match", each) for each in page.evaluate("window.said")
    ]
    shown = [(int(each[1]), int(each[2])) for each in said if each]
    assert shown == [(ply, plies) for ply in range(plies - 3, plies + 1)]
    assert said[-2][3] == last
    page.locator("#news li a").first.click()
    expect(page.locator("#status")).to_contain_text(re.compile(f"After ply [0-9]+ of {plies}"))
    expect(page.locator("#status")).to_be_in_viewport()
    expect(page.locator("#news-title")).to_have_text("What happened last")
    page.click("text=Back to the match")
    expect(page.locator("#news-title")).to_have_text("What just happened")


def test_parts_of_pyramid_punch_are_called_by_words(visit):
    page = visit("analysis?game=pyramid_punch&players=2")
    expect(page.locator('#board [data-part="tile-LOMS"]')).to_have_attribute(
        "aria-label", "large, stone, medium, small, clockwise"
    )
    page.goto(
        page.url.partition("?")[0] + "?" + urlencode({"game": "pyramid_punch", "players": 2, "position": ROTATED})
    )
    page.locator('#board [data-part="tile-0"].can').click()
    expect(page.locator('#board [data-part="turn-1"]')).to_have_attribute("aria-label", "90° clockwise")
    where = {"game": "pyramid_punch", "players": 2, "position": "LMSO@0,0/LSMO@- 1 p 0"}
    page.goto(f"{page.url.partition('?')[0]}?{urlencode(where)}")
    page.locator('#board [data-part="tile-1"].can').click()
    expect(page.locator('#board [data-part="place-1,0"]')).to_have_attribute(
        "aria-label", "to the right of Blue's tile"
    )


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


def test_a_slip_of_the_keys_does_not_swallow_the_next_letter(visit):
    page = visit("play?game=epicycle&players=2")
    sit(page, seed="3")
    page.locator("#board .can").first.focus()
    page.keyboard.press("x")
    page.keyboard.press("s")
    expect(page.locator("#board .picked")).to_have_attribute("data-part", "hand-0-S")


def test_a_hint_and_win_bars_come_from_a_search(visit):
    page = visit("play?game=epicycle&players=2")
    sit(page)
    page.click("#hint")
    expect(page.locator("#found tbody tr").first).to_contain_text("You put a ")
    expect(page.locator("#values .value-bar")).to_have_count(2)
    page.locator("#actions-box summary").click()
    expect(page.locator("#preview")).to_be_hidden()
    page.locator("#actions button").first.hover()
    expect(page.locator("#preview")).to_contain_text("You put a ")


def test_a_move_counts_though_the_answer_to_the_one_before_is_still_on_its_way(visit):
    page = visit("play?game=epicycle&players=2")
    sit(page, seed="3")
    late = []
    page.route("**/move", lambda route: late.append((route, route.fetch())), times=1)
    turn_by_pointer(page, 0, touch=False)
    moved(page, 0)
    plies = page.locator("#moves li").count()
    turn_by_pointer(page, 0, touch=False)
    moved(page, plies)
    ((route, answer),) = late
    route.fulfill(response=answer)


def test_a_click_on_what_a_search_has_found_counts_though_it_finds_more_meanwhile(visit):
    page = visit("analysis?game=epicycle&players=2")
    page.locator("#found tbody button").first.hover()
    page.mouse.down()
    for _ in range(2):  # the first is shown before the second is asked for
        with page.expect_response("**/analysis/found?*"):
            pass
    page.mouse.up()
    expect(page.locator("#moves")).not_to_have_value("")


def test_resigning_and_a_rematch(visit):
    page = visit("play?game=epicycle&players=2")
    sit(page)
    page.check("#bars")
    page.click("#hint")
    expect(page.locator("#found tbody tr").first).to_be_visible()
    page.click("#resign")
    expect(page.locator("#status")).to_have_text("You lost: you resigned.")
    expect(page.locator("#board.stopped")).to_be_visible()
    expect(page.locator("#hint")).to_be_disabled()
    expect(page.locator("#found")).to_be_hidden()
    expect(page.locator("#values")).to_be_hidden()
    before = page.url
    page.click("#again")
    page.wait_for_url(lambda url: url != before)
    expect(page.locator(TURN_OR_END)).to_be_visible()


def test_the_analysis_finds_a_winning_move_and_plays_on_from_there(visit):
    state, winning = win_in_one()
    page = visit("analysis?game=epicycle&players=2")
    page.fill("#position", state.position)
    page.click("#position-form button")
    best = page.locator("#found tbody tr").first
    expect(best).to_contain_text("proven")
    expect(best.locator("button")).to_have_text(state.action_to_string(winning))
    best.locator("button").click()
    expect(page.locator("#status")).to_contain_text("over")
    page.click("#back")
    expect(page.locator("#status")).to_contain_text(["Blue", "Orange"][state.current_player()])
    page.click("text=Start the match")
    expect(page.locator(TURN_OR_END)).to_be_visible()


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
    while not is_over(page):
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
        expect(page.locator("#found tbody tr").first).to_be_visible()
        check(page)


TOO_SMALL = """() => {
    const shown = (element) => element.getBoundingClientRect().width && element.textContent.trim();
    const texts = [...document.querySelectorAll('#board text, main :is(p, li, td, th, small, label, button, a)')];
    const letters = texts.filter(shown).map((text) => {
        const scale = text instanceof SVGElement ? text.getScreenCTM().a : 1;
        return [text.textContent.trim().slice(0, 20), scale * parseFloat(getComputedStyle(text).fontSize)];
    });
    const targets = [...document.querySelectorAll('main :is(button, select, summary, .controls a)')].filter(shown);
    const heights = targets.map((each) => [each.textContent.trim().slice(0, 20), each.getBoundingClientRect().height]);
    const least = 10.95;
    return [...letters.filter(([, size]) => size < least), ...heights.filter(([, height]) => height < 24)].slice(0, 5);
}"""
"""Text of less than 11 pixels, and what can be clicked beside the board in less than 24 (WCAG 2.2)."""


def check(page):
    """Check a page by axe, its width, and how small its text and targets are."""
    assert page.evaluate(TOO_SMALL) == []
    found = Axe().run(page).response["violations"]
    assert [
        (each["id"], [node["target"] for node in each["nodes"]][:3])
        for each in found
        if each["impact"] in ("serious", "critical")
    ] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
