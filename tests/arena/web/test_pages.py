"""What pages say, and what they answer to addresses that there are not."""

import contextlib
import html
import re
import sqlite3
import threading
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

import arena
from arena import api
from arena.registry.discovery import own_bot
from arena.registry.submitting import store_submission
from arena.results.leaderboards import cells
from arena.results.pages.replay import replay_values
from arena.web.app import create_app
from arena.web.catalog import LogCatalog, NotFoundError
from arena.web.pages.match import position_of
from arena.web.result_cache import ResultCache
from arena.web.standings import bars
from tests.arena.web.conftest import ADDRESS
from tests.support.tournaments import wait_until


def test_the_list_names_every_tournament_with_its_progress(client):
    page = client.get("/")
    assert page.status_code == 200
    assert 'href="/tournaments/shown"' in page.text and "complete" in page.text


def test_a_tournament_has_the_figures_of_its_boards(client):
    page = ready(client, "/tournaments/shown")
    assert "epicycle, 2 players" in page.text and "epicycle, 3 players" in page.text
    figures = [ready(client, html.unescape(address)).text for address in re.findall(r'data-load="([^"]+)"', page.text)]
    assert [text.count("<figure") >= 4 and "<svg" in text for text in figures] == [True, True]
    assert "<figure" not in page.text, "they are loaded when they are unfolded"


@pytest.mark.parametrize(
    "name", ["none", "..", "%2e%2e", "..%2f..", "x" * 3000, "%00", "shown%2Fmatches.db", "compare", "‮"]
)
def test_unknown_and_hostile_names_are_not_found(client, name):
    page = client.get(f"/tournaments/{name}")
    assert page.status_code in (200, 404)
    assert page.status_code == 404 or "/tournaments/shown" in page.text  # `..` is the list itself
    assert "Traceback" not in page.text


def test_a_page_that_a_browser_has_is_not_sent_again(client):
    tag = client.get("/").headers["etag"]
    again = client.get("/", headers={"If-None-Match": tag})
    assert again.status_code == 304 and not again.content
    assert client.get("/", headers={"If-None-Match": '"another"'}).status_code == 200


def test_styles_and_scripts_with_their_version_stay_in_caches(client):
    for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', client.get("/").text):
        answer = client.get(address)
        assert answer.status_code == 200 and "immutable" in answer.headers["cache-control"]
        assert "immutable" not in client.get(address.partition("?")[0]).headers["cache-control"]


def all_addresses(client, first):
    """Yield every address on the server that pages lead to, each with its answer; ids of matches alike once."""
    waiting, seen = [*first], set()
    while waiting:
        address = waiting.pop()
        answer = client.get(address)
        yield address, answer
        if "html" not in answer.headers.get("content-type", ""):
            continue
        for found in re.findall(r'(?:href|src|action|data-latest|data-spec|data-load)="(/[^"]*)"', answer.text):
            found = html.unescape(found).partition("#")[0]
            kind = re.sub(r"[0-9a-f]{32}-\d+|(?<=\?).*|figures/\w+|games/\w+", "X", found)
            if kind not in seen:
                seen.add(kind)
                waiting.append(found)


def test_every_link_leads_to_a_page(client):
    for address in ("", "/figures?board=epicycle_2p", "/figures?board=epicycle_3p"):
        ready(client, f"/tournaments/shown{address}")
    kinds = {
        address.split("?")[0].split("/")[-1] for address, answer in all_addresses(client, ["/"]) if answer.is_success
    }
    assert {"games", "bots", "bot", "matches", "pair", "shown"} <= kinds
    assert [address for address, answer in all_addresses(client, ["/"]) if not answer.is_success] == []


def ready(client, address):
    """Return a page as soon as everything on it is computed."""
    wait_until(lambda: "being computed" not in client.get(address).text, "everything is computed")
    return client.get(address)


def shown_until_ready(client, address):
    """Return what a page shows, again and again, until everything on it is computed."""
    shown = []
    wait_until(lambda: shown.append(client.get(address).text) or "being computed" not in shown[-1], "it is new")
    return shown


def test_an_ended_tournament_is_never_shown_as_it_was_before_its_end(home, tmp_path):
    whole, folder = home / "shown" / "matches.db", tmp_path / "shown"
    folder.mkdir()
    (folder / "matches.db").write_bytes(whole.read_bytes())
    tables = ("matches", "seats", "timings")
    with contextlib.closing(sqlite3.connect(folder / "matches.db")) as db, db:
        for table in tables:
            db.execute(f"DELETE FROM {table}")
    with TestClient(create_app(tmp_path), base_url=ADDRESS) as client:
        addresses = ["/tournaments/shown", *(f"/tournaments/shown/figures?board=epicycle_{n}p" for n in (2, 3))]
        empty = [ready(client, address).text.count("No complete block yet") for address in addresses]
        assert empty == [2, 1, 1]
        assert "No complete block yet" in ready(client, "/bot?name=greedy").text
        with contextlib.closing(sqlite3.connect(folder / "matches.db")) as db:
            db.execute("ATTACH ? AS w", (str(whole),))
            with db:
                for table in tables:
                    db.execute(f"INSERT INTO {table} SELECT * FROM w.{table}")
        for address in addresses:
            *old, new = shown_until_ready(client, address)
            assert not any("No complete block yet" in page for page in [*old, new])
            assert "refresh" not in new and all(f'<noscript><a href="{address}">' in page for page in old)
        assert "No complete block yet" not in ready(client, "/bot?name=greedy").text


def test_two_bots_have_the_row_of_the_crosstable_from_either_side(client, home):
    (row,) = [
        row
        for row in arena.crosstable("shown", "epicycle", 2, home)["epicycle", 2].to_dict("records")
        if {row["bot"], row["opponent"]} == {"greedy", "random"}
    ]
    for a, b, sign in ((row["bot"], row["opponent"], 1), (row["opponent"], row["bot"], -1)):
        page = ready(client, f"/tournaments/shown/pair?board=epicycle_2p&a={a}&b={b}")
        assert f"{sign * row['difference']:+z.3f}" in page.text


@pytest.mark.parametrize("query", ["", "a=greedy&b=greedy", "a=greedy&b=none", "board=none&a=greedy&b=random"])
def test_a_pair_that_there_is_not_is_not_found(client, query):
    assert client.get(f"/tournaments/shown/pair?board=epicycle_2p&{query}").status_code == 404


def test_a_bot_that_has_not_played_is_not_found(client):
    assert client.get("/bot?name=nobody").status_code == 404
    assert client.get("/bot?name=" + "x" * 2000).status_code == 404
    assert client.get("/games/none").status_code == 404


def test_a_match_is_drawn_once_however_much_of_its_id_is_given(home, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "arena.web.pages.match.replay_values", lambda found: drawn.append(found) or replay_values(found)
    )
    with TestClient(create_app(home), base_url=ADDRESS) as client:
        stem, dash, lineup = re.search(
            r"/matches/([0-9a-f]{32})(-)(\d+)", client.get("/tournaments/shown/matches").text
        ).groups()
        answers = [client.get(f"/tournaments/shown/matches/{stem[:digits]}{dash}{lineup}") for digits in range(8, 33)]
    assert {answer.status_code for answer in answers} == {200} and len(drawn) == 1


def test_a_match_is_found_by_the_beginning_of_its_id_and_nothing_else_is(client):
    whole = re.search(r"/matches/([0-9a-f]{32}-\d+)", client.get("/tournaments/shown/matches").text)[1]
    assert client.get(f"/tournaments/shown/matches/{whole}").status_code == 200
    assert client.get(f"/tournaments/shown/matches/{whole[:-2]}").status_code == 404, "several line-ups begin so"
    for wrong in ("0" * 32 + "-0", "xyz", "%00", "1" * 500):
        assert client.get(f"/tournaments/shown/matches/{wrong}").status_code == 404


@pytest.mark.parametrize("format", ["svg", "png", "pdf", "json"])
def test_figures_are_there_as_files(client, format):
    answer = client.get(f"/tournaments/shown/figures/ratings.{format}?board=epicycle_2p")
    assert answer.status_code == 200 and len(answer.content) > 1000
    assert client.get(f"/tournaments/shown/figures/none.{format}?board=epicycle_2p").status_code == 404
    assert client.get(f"/tournaments/shown/figures/ratings.{format}?board=none").status_code == 404


def test_positions_are_there_as_drawings_and_others_are_not_found(client):
    match = re.search(r"/tournaments/shown/matches/[0-9a-f]{32}-\d+", client.get("/tournaments/shown/matches").text)[0]
    drawn = {ply: client.get(f"{match}/position.svg{ply}") for ply in ("", "?ply=0", "?ply=1")}
    assert all(each.status_code == 200 and each.text.startswith("<svg") for each in drawn.values())
    assert len({each.text for each in drawn.values()}) >= 2
    assert all("prefers-color-scheme:dark" in each.text for each in drawn.values()), "pages are light and dark"
    assert client.get(f"{match}/position.png?ply=1").content.startswith(b"\x89PNG")
    for wrong in ("svg?ply=1000", "svg?ply=-1", "svg?ply=x", "svg?ply=" + "9" * 50, "gif", "%00"):
        assert client.get(f"{match}/position.{wrong}").status_code == 404, wrong


def test_who_asks_for_many_positions_pushes_no_other_result_out(client, home):
    match = re.search(r"/tournaments/shown/matches/([0-9a-f]{32}-\d+)", client.get("/tournaments/shown/matches").text)[
        1
    ]
    catalog, made = LogCatalog(home), []
    catalog.results = ResultCache(most=8)
    catalog.results.get("of a page", 0, lambda: made.append(1))
    for ply in ("0", "1", *map(str, range(1_000, 1_020))):
        with contextlib.suppress(NotFoundError):
            position_of(catalog, "shown", match, ply, "svg")
    catalog.results.get("of a page", 0, lambda: made.append(1))
    catalog.close()
    assert made == [1]


def test_pages_name_a_drawing_for_other_sites_by_its_whole_address(client):
    ready(client, "/tournaments/shown")
    match = re.search(r"/tournaments/shown/matches/[0-9a-f]{32}-\d+", client.get("/tournaments/shown/matches").text)[0]
    for address in ("/", "/tournaments/shown", match):
        card = re.search(r'<meta property="og:image" content="([^"]*)">', client.get(address).text)[1]
        assert card.startswith(f"{ADDRESS}/tournaments/shown/matches/"), address
        assert client.get(html.unescape(card)).content.startswith(b"\x89PNG")


def test_the_first_page_names_the_best_bots_with_their_ratings(client, home):
    page = ready(client, "/").text
    for (game, players), frame in arena.leaderboard("shown", home=home).items():
        title = f"Epicycle, {players} players"
        place = page.index(f"<dt>{title}</dt>")
        best = page[place : page.index("</dd>", place)]
        texts = cells(frame)
        for bot, rating in list(zip(texts["bot"], texts["rating ± 95 %"], strict=True))[:2]:
            assert html.escape(bot) in best and rating in best, game


def test_the_first_page_follows_a_tournament_whose_newest_match_is_not_found_in_time(home, monkeypatch):
    is_due, find = threading.Event(), LogCatalog.find
    monkeypatch.setattr(LogCatalog, "find", lambda *args, **named: is_due.wait() and find(*args, **named))
    with TestClient(create_app(home), base_url=ADDRESS) as client:
        page = client.get("/").text
        is_due.set()
        section = re.search('<section id="follow"[^>]*>', page)[0]
        assert section.endswith(" hidden>"), "it is shown by its script, when there is a match"
        latest, live = (html.unescape(re.search(f'data-{name}="([^"]*)"', section)[1]) for name in ("latest", "live"))
        assert latest == "/tournaments/shown/latest" and live == "/tournaments/shown/live/events"
        wait_until(lambda: "The last position of the match" in client.get("/").text, "the match is shown")
        assert not re.search('<section id="follow"[^>]* hidden>', client.get("/").text)


def test_podium_and_bars_agree_with_the_leaderboard(client, home):
    page = ready(client, "/tournaments/shown").text
    podiums = re.findall(r'<ol class="podium">(.*?)</ol>', page, re.S)
    frames = arena.leaderboard("shown", home=home).values()
    assert len(podiums) == len(frames) == 2
    for podium, frame in zip(podiums, frames, strict=True):
        texts = cells(frame)
        assert re.findall(r'<span class="rating">(.*?)</span>', podium) == texts["rating ± 95 %"][:3]
        assert [html.unescape(bot) for bot in re.findall(r"<bdi[^>]*>(.*?)</bdi>", podium)] == texts["bot"][:3]
        drawn = bars(frame)
        assert min(bar.low for bar in drawn) == 0 and max(bar.high for bar in drawn) == 100
        assert [bar.at for bar in drawn] == sorted((bar.at for bar in drawn), reverse=True)
    assert page.count('<svg class="interval"') == sum(map(len, frames))


def test_a_submitted_bot_has_its_author_as_text(tmp_path):
    (tmp_path / "b.py").write_text(
        "from bots import Bot\nclass First(Bot):\n    def choose(self, state): return state.legal_actions()[0]\n"
    )
    source = own_bot(f"{tmp_path / 'b.py'}:First")
    store_submission(source.module, source.class_name, source.bundle(), "ann", "Ann & Bo", tmp_path)
    bots = [{"bot": "random"}, {"bot": "ann", "isolation": "none"}]
    games = [{"game": "epicycle", "players": [2]}]
    arena.run({"name": "entered", "blocks": 1, "games": games, "bots": bots}, tmp_path, workers=1)
    with TestClient(create_app(tmp_path), base_url=ADDRESS) as client:
        page = ready(client, "/tournaments/entered").text
    podium = re.search(r'<ol class="podium">(.*?)</ol>', page, re.S)[1]
    assert podium.count('class="by"') == 1 and "Ann &amp; Bo" in podium
    assert "<th>Author</th>" in page and "Ann & Bo" not in page


def test_pages_come_compressed_unless_the_address_asks_something(client):
    packed = {"Accept-Encoding": "gzip"}
    assert client.get("/tournaments/shown", headers=packed).headers["content-encoding"] == "gzip"
    assert client.get("/tournaments/shown", headers=packed).text == client.get("/tournaments/shown").text
    assert "content-encoding" not in client.get("/bot?name=greedy", headers=packed).headers


def test_names_are_text_whatever_is_in_them(tmp_path):
    name = "<script>alert(1)<br>‮ & \"'"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "matches.db").write_bytes(b"no log at all")
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as client:
        page = client.get("/")
        assert page.status_code == 200 and "<script>alert" not in page.text and "&lt;script&gt;" in page.text
        broken = client.get(f"/tournaments/{quote(name, safe='')}")
        assert broken.status_code == 500 and "file is not a database" in broken.text
        assert "Traceback" not in broken.text and "<script>alert" not in broken.text


def test_a_log_that_is_cut_off_has_a_clear_page(home, tmp_path):
    folder = tmp_path / "cut"
    folder.mkdir()
    content = (home / "shown" / "matches.db").read_bytes()
    (folder / "matches.db").write_bytes(content[: len(content) // 2])
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as client:
        for address in ("/tournaments/cut", "/tournaments/cut/matches", "/tournaments/cut/matches/ab"):
            page = client.get(address)
            assert page.status_code in (404, 500) and "Traceback" not in page.text
        for address in ("/", "/bots"):
            assert client.get(address).status_code == 200, "other tournaments are shown all the same"


def test_the_list_of_bots_names_the_games_that_each_plays(client):
    row = next(row for row in client.get("/bots").text.split("<tr>") if ">greedy<" in row)
    assert '<a href="/games/epicycle">Epicycle</a>' in row and "/tournaments/shown" in row


def test_a_home_that_is_empty_says_what_to_do(tmp_path):
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8000") as client:
        assert "arena run" in client.get("/").text and client.get("/bots").status_code == 200


def test_a_bracket_is_on_the_page_of_its_tournament_and_in_its_report(tmp_path):
    bots = [{"bot": "random", "label": label} for label in ("one & only", "two", "three", "four")]
    games = [{"game": "epicycle", "players": 2}]
    data = {"name": "cup", "blocks": 1, "games": games, "bots": bots, "schedule": "knockout:max_blocks=1"}
    run = arena.run(data, home=tmp_path, workers=1, report=True)
    (tables,) = api.standings("cup", tmp_path).values()
    (bracket,) = tables
    with TestClient(create_app(tmp_path), base_url=ADDRESS) as visitor:
        page = visitor.get("/tournaments/cup").text
    assert run.report is not None
    for text in (page, run.report.read_text()):
        assert html.escape(bracket.title) in text
        assert all(html.escape(str(row[2])) in text for row in bracket.rows)
