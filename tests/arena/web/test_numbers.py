"""Every number of every page is that of the command line: by label, and of the plan alone."""

import html
import re
from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

import arena
from arena import api
from arena.core.match_ids import match_id
from arena.registry.discovery import own_bot
from arena.registry.submitting import store_submission, withdraw
from arena.results.columns import as_text, format_of
from arena.results.leaderboards import cells, disqualified_lines, few_blocks_lines, notes_below
from arena.results.pages.report import report_page
from arena.tournament.lookup import lineups_in_log
from arena.tournament.tournament import Tournament
from arena.transfer.foreign_results import import_results
from arena.web.app import create_app
from arena.web.filters import name_in
from arena.web.site import Site
from engine.words import counted
from tests.arena.web.conftest import ADDRESS
from tests.support.tournaments import wait_until

FRAGILE = '''
from bots import Bot


class Fragile(Bot):
    """Raise in one match out of two."""

    def choose(self, state):
        if self.seed % 2 == 0:
            raise RuntimeError("broken on purpose")
        return state.legal_actions()[0]
'''
GAMES = [{"game": "epicycle", "players": [2, 3]}]
TWINS = [{"bot": "random"}, {"bot": "random", "label": "another random"}, {"bot": "greedy"}]
FOREIGN = [("ada", "bob", 1, 2), ("bob", "cy", 1, 1), ("cy", "ada", 2, 1), ("ada", "bob", 2, 1), ("ada", "cy", 1, 2)]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Return a home with tournaments of every kind that pages could get wrong."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "b.py").write_text(FRAGILE)
    fragile, other = {"bot": str(folder / "b.py")}, {"bot": "flat_mc:playouts=1"}
    plan = {"games": GAMES, "forfeit_limit": 3}
    arena.run({**plan, "name": "two_plans", "seed": 1, "blocks": 3, "bots": [*TWINS, other]}, folder, workers=1)
    arena.run({**plan, "name": "two_plans", "seed": 2, "blocks": 4, "bots": [*TWINS, fragile]}, folder, workers=1)
    stages = {
        "name": "adaptive",
        "schedule": "adaptive",
        "first_blocks": 2,
        "games": [{"game": "epicycle", "players": 2}],
    }
    arena.run({**stages, "seed": 3, "blocks": 7, "bots": TWINS}, folder, workers=1)
    arena.run({**stages, "seed": 3, "blocks": 4, "bots": TWINS}, folder, workers=1)
    source = own_bot(f"{folder / 'b.py'}:Fragile")
    store_submission(source.module, source.class_name, source.bundle(), "bob", "Bob", folder)
    entered = {
        **plan,
        "name": "withdrawn",
        "seed": 4,
        "blocks": 2,
        "bots": [*TWINS, {"bot": "bob", "isolation": "none"}],
    }
    arena.run(entered, folder, workers=1)
    withdraw("bob", folder)
    arena.run(entered, folder, workers=1)
    rows = [
        "match,bot,place",
        *(f"{n},{bot},{place}" for n, (a, b, *of) in enumerate(FOREIGN) for bot, place in zip((a, b), of, strict=True)),
    ]
    (folder / "elsewhere.csv").write_text("\n".join(rows) + "\n")
    import_results(folder / "elsewhere.csv", home=folder)
    return folder


NAMES = ["two_plans", "adaptive", "withdrawn", "elsewhere"]


@pytest.fixture(scope="module")
def client(home):
    with TestClient(create_app(home), base_url=ADDRESS) as found:
        yield found


class Tables(HTMLParser):
    """Collects the tables of a page: rows of texts, by the label of what they stand in."""

    def __init__(self, text):
        super().__init__()
        self.found, self.label, self._cell = [], "", None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.label = dict(attributes).get("aria-label") or self.label
        if tag == "table":
            self.found.append((self.label, []))
        if tag == "tr":
            self.found[-1][1].append([])
        if tag in ("td", "th"):
            self._cell = ""

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self._cell is not None:
            self.found[-1][1][-1].append(" ".join(self._cell.split()))
            self._cell = None

    def handle_data(self, data):
        if self._cell is not None:
            self._cell += data


def tables(text, label):
    return [rows for found, rows in Tables(text).found if found.startswith(label)]


def printed(frame):
    """Return a leaderboard as the command line prints it, with its headings."""
    texts = cells(frame)
    return [list(texts), *map(list, zip(*texts.values(), strict=True))]


def ready(client, address):
    """Return a page as soon as everything on it is computed."""
    wait_until(lambda: "being computed" not in client.get(address).text, "everything is computed")
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.text


def figure_pages(client, page):
    """Yield the pages of the figures of every board, to which the page of a tournament leads."""
    for address in re.findall(r'data-load="([^"]+)"', page):
        yield ready(client, html.unescape(address))


def planned(home, name):
    """Return the labels and places by seat of every match of the plan in the log, by its id; from the plan's blocks."""
    found = {}
    with Tournament.open(name, home) as tournament:
        store, schedule = tournament.store, tournament.schedule
        for block, lineups in lineups_in_log(tournament.store, tournament.blocks()):
            for lineup in lineups:
                labels = [schedule.entries[entry].label for entry in schedule.seats(block, lineup)]
                places = [rank + 1 for rank in store.match(block.identity, lineup).ranks]
                found[match_id(block.identity, lineup)] = list(zip(labels, places, strict=True))
    return found


def listed(client, address):
    """Return names and places of all matches of a list, page after page, by their ids, and the number that it tells."""
    found = {}
    while address:
        text = client.get(address).text
        for id, seats in re.findall(r'/matches/([0-9a-f]{32}-\d+)".*?<ol(.*?)</ol>', text, re.S):
            names = re.findall(r'<bdi[^>]*>(.*?)</bdi> <span class="place">(\d+)\.', seats)
            found[id] = [(html.unescape(name), int(place)) for name, place in names]
        later = re.search(r'rel="next" href="([^"]*)"', text)
        address = html.unescape(later[1]) if later else ""
    return found, int(re.search(r'role="status">([\d,]+) match(?:es)?\b', text)[1].replace(",", ""))


@pytest.mark.parametrize("name", NAMES)
def test_standings_are_the_leaderboards_of_the_command_line(client, home, name):
    page, status = ready(client, f"/tournaments/{name}"), api.status(name, home)
    frames = arena.leaderboard(name, home)
    assert tables(page, "Standings") == [printed(frame) for frame in frames.values()]
    figures = [*figure_pages(client, page)]
    told = re.findall(r"As of ([\d,]+) match(?:es)? in complete blocks", "".join([page, *figures]))
    counted = [int(frame["matches"].sum()) // players for (_, players), frame in frames.items()]
    assert [int(count.replace(",", "")) for count in told] == [*counted, *counted], "of standings, and of figures"
    assert f"{status.matches:,} of {status.planned:,} matches" in page and "No complete block yet" not in page
    assert any("disqualified" in frame for frame in frames.values()) == (name == "two_plans")
    lost = arena.faults(name, home).groupby(["game", "players"])["count"].sum().to_dict()
    assert [board.forfeits for board in status.boards] == [lost.get(board, 0) for board in frames]
    for frame in frames.values():
        for line in disqualified_lines(frame):
            assert line.partition(":")[2] in html.unescape(page)
        for line in few_blocks_lines(frame):
            assert line in html.unescape(page)
    assert any(map(few_blocks_lines, frames.values())) or name != "elsewhere"


@pytest.mark.parametrize(
    "name", [name if name == "two_plans" else pytest.param(name, marks=pytest.mark.system) for name in NAMES]
)
def test_the_report_and_a_site_have_the_same_standings(home, tmp_path, name):
    with Tournament.open(name, home) as tournament:
        report, status = report_page(tournament).decode(), api.status(name, home)
    frames = arena.leaderboard(name, home)
    assert tables(report, "Leaderboard") == [printed(frame) for frame in frames.values()]
    for frame in frames.values():
        for line in notes_below(frame):
            assert line in html.unescape(report)
    overview = [row[2] for (rows,) in [tables(report, "Boards")] for row in rows[1:]]
    assert overview == [f"{board.matches:,}" for board in status.boards]
    words = f"{status.matches:,} matches" + (
        f" of {status.planned:,} planned" if status.planned != status.matches else ""
    )
    assert f"{words}, " in report
    site = Site([name], home, 1)
    site.write(tmp_path)
    site.close()
    page = (tmp_path / name / "index.html").read_text()
    assert all(line in html.unescape(page) for frame in frames.values() for line in few_blocks_lines(frame))
    assert tables(page, "Standings") == [printed(frame) for frame in frames.values()]


@pytest.mark.parametrize("name", NAMES)
def test_tables_of_figures_are_frames_of_the_command_line(client, home, name):
    page = "".join(figure_pages(client, ready(client, f"/tournaments/{name}")))
    for (game, players), pairs in arena.crosstable(name, home=home).items():
        wanted = [
            [row.bot, row.opponent, f"{row.matches:,}", f"{row.difference:+z.3f}", "show"] for row in pairs.itertuples()
        ]
        found = [
            rows[1:] for rows in tables(page, "Table") if rows[0][:2] == ["bot", "opponent"] and "meetings" in rows[0]
        ]
        assert wanted in found, (game, players)
    ratings = [rows for rows in tables(page, "Table") if rows[0][:3] == ["rank", "bot", "rating"]]
    for (names, *rows), frame in zip(ratings, arena.leaderboard(name, home).values(), strict=True):
        texts = [[as_text(value, format_of(at)) for value in frame[at].astype(object)] for at in names]
        assert rows == [list(row) for row in zip(*texts, strict=True)]


@pytest.mark.parametrize("name", NAMES)
def test_lists_have_the_matches_of_the_plan_under_the_labels_that_sat_there(client, home, name):
    wanted, status = planned(home, name), api.status(name, home)
    address = f"/tournaments/{name}/matches"
    has_seats = name != "elsewhere"
    ordered = {id: seats if has_seats else sorted(seats, key=lambda seat: seat[1]) for id, seats in wanted.items()}
    found, total = listed(client, address)
    assert (found, total) == (ordered, status.matches)
    labels = {label for seats in wanted.values() for label, _ in seats}
    assert len(labels) >= 3
    for label in labels:
        of_bot, total = listed(client, f"{address}?bot={label}&place=1")
        assert of_bot.keys() == {id for id, seats in wanted.items() if (label, 1) in seats} and total == len(of_bot)
        for other in labels - {label}:
            met, _ = listed(client, f"{address}?bot={label}&opponent={other}")
            assert met.keys() == {id for id, seats in wanted.items() if {label, other} <= {each for each, _ in seats}}


@pytest.mark.parametrize("name", ["two_plans", "adaptive", "withdrawn"])
def test_matches_that_are_in_no_plan_are_told_apart(client, home, name):
    wanted, address = planned(home, name), f"/tournaments/{name}/matches"
    everything, total = listed(client, f"{address}?of=log")
    page = client.get(address).text
    assert total > len(wanted) and f"The log has {total - len(wanted):,} matches that are not in its plan" in page
    assert {id: everything[id] for id in wanted} == wanted
    others, text = everything.keys() - wanted.keys(), client.get(f"{address}?of=log&sort=oldest").text
    told = re.findall(
        r'/matches/([0-9a-f]{32}-\d+)"><code>[^<]*</code></a>( <span class="faint">not in the plan)?', text
    )
    assert told and all((id in others) == bool(mark) for id, mark in told)


@pytest.mark.parametrize("name", NAMES)
def test_pairs_are_rows_of_the_crosstable_with_all_their_meetings(client, home, name):
    wanted = planned(home, name)
    with Tournament.open(name, home) as tournament:
        boards = {(board.game, board.players): board.slug for board in tournament.schedule.boards}
    for (game, players), pairs in arena.crosstable(name, home=home).items():
        for row in pairs.itertuples():
            page = ready(client, f"/tournaments/{name}/pair?board={boards[game, players]}&a={row.bot}&b={row.opponent}")
            for value in (row.lead, row.predicted, row.difference):
                assert f"<dd>{value:+z.3f}</dd>" in page
            said = re.search(r"was ahead in (\d+) of (\d+) match(?:es)?, behind in (\d+)", page).groups()
            assert [int(number) for number in said] == [row.wins, row.matches, row.losses]
            met = [
                seats
                for seats in wanted.values()
                if len(seats) == players and {row.bot, row.opponent} <= {bot for bot, _ in seats}
            ]
            assert f"{counted(len(met), 'match', 'matches')} of the plan" in page


@pytest.mark.parametrize("label", ["random", "greedy", "Fragile"])
def test_a_bot_has_its_rows_of_all_leaderboards(client, home, label):
    bots = {}
    for name in NAMES:
        with Tournament.open(name, home) as tournament:
            bots[name] = {bot.label: name_in(bot.spec) for bot in tournament.plan.bots}
    bot, wanted = bots["two_plans"][label], []
    for name in NAMES:
        for frame in arena.leaderboard(name, home).values():
            heading, *rows = printed(frame)
            wanted += [[heading, row] for row in rows if bots[name][row[1]] == bot]
    page = ready(client, f"/bot?name={bot}")
    found = [rows for label, rows in Tables(page).found if label != "Versions"]
    assert wanted and sorted(found) == sorted(wanted)


@pytest.mark.parametrize("name", NAMES)
def test_replays_call_bots_by_the_labels_that_sat_there(client, home, name):
    wanted = planned(home, name)
    for id, seats in [*wanted.items()][:: max(1, len(wanted) // 8)]:
        labels = [label for label, _ in seats]
        match, _ = api.find_match(name, id, home)
        assert match.names == labels
        rows = tables(client.get(f"/tournaments/{name}/matches/{id}").text, "Result")[0]
        place = 0 if name == "elsewhere" else 2
        found = [(row[1].partition(" forfeited: ")[0], int(row[place])) for row in rows[1:]]
        assert sorted(found) == sorted(seats)
