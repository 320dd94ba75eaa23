"""The index of a log's matches, held against the log itself."""

import contextlib
import itertools
import sqlite3
import tracemalloc

import numpy as np
import pytest

import arena
from arena.results.match_filter import MatchFilter
from arena.results.match_index import ORDERS, MatchIndex
from arena.store import Store
from tests.support.rows import rows_of

GAMES = [{"game": "epicycle", "players": [2, 3]}, {"game": "pyramid_punch", "players": 2}]
BOTS = [{"bot": "random"}, {"bot": "greedy"}, {"bot": "flat_mc:playouts=2"}]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    arena.run({"name": "all", "blocks": 2, "games": GAMES, "bots": BOTS}, home=folder, workers=1)
    return folder


@pytest.fixture
def log(home):
    return home / "all" / "matches.db"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Keep indexes of a test apart, and return their folder."""
    monkeypatch.setattr("arena.results.match_index.cache_root", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "indexes"


def read(log):
    """Return all matches of a log, as whole records, by their place in it."""
    with Store.open(log) as store:
        keys = {block: store.identity_of(block) for (block,) in rows_of(log, "SELECT block FROM blocks")}
        rows = rows_of(log, "SELECT block, lineup FROM matches ORDER BY block, lineup")
        seats = rows_of(log, "SELECT block, lineup, spec FROM seats JOIN bots USING (bot) ORDER BY block, lineup, seat")
        bots: dict[tuple[int, int], list[str]] = {}
        for block, lineup, spec in seats:
            bots.setdefault((block, lineup), []).append(spec)
        return {(block, lineup): (store.match(keys[block], lineup), bots[block, lineup]) for block, lineup in rows}


def is_wanted(match, bots, wanted):
    seats = range(match.players)
    fits = [
        seat
        for seat in seats
        if wanted.bot in (None, bots[seat])
        and wanted.seat in (None, seat)
        and wanted.place in (None, match.ranks[seat] + 1)
        and (wanted.cause is None or (seat in match.forfeits and wanted.cause in ("", match.forfeits[seat][0])))
    ]
    return (
        bool(fits)
        and wanted.game in (None, match.game)
        and wanted.players in (None, match.players)
        and wanted.opponent in (None, *bots)
        and wanted.ended in (None, match.ended)
        and (wanted.least is None or len(match.moves) >= wanted.least)
        and (wanted.most is None or len(match.moves) <= wanted.most)
    )


def test_every_filter_and_order_finds_what_a_look_at_each_match_finds(log):
    matches = read(log)
    index = MatchIndex(log)
    view = index.view()
    names = sorted({bot for _, bots in matches.values() for bot in bots})
    lengths = sorted(len(match.moves) for match, _ in matches.values())
    filters = [
        MatchFilter(),
        MatchFilter(ended="none"),
        MatchFilter(cause=""),
        MatchFilter(least=lengths[len(lengths) // 3], most=lengths[-len(lengths) // 3]),
        *(MatchFilter(ended=ended) for ended in {match.ended for match, _ in matches.values()}),
        *(
            MatchFilter(bot=bot, seat=seat, place=place, players=players)
            for bot, seat, place, players in itertools.product((None, *names), (None, 1, 2), (None, 1), (None, 2, 3))
        ),
        *(MatchFilter(game="pyramid_punch", bot=a, opponent=b) for a, b in itertools.permutations(names, 2)),
    ]
    for wanted, order in itertools.product(filters, ORDERS):
        expected = [key for key, (match, bots) in matches.items() if is_wanted(match, bots, wanted)]
        if order in ("newest", "longest"):
            expected.reverse()
        if order in ("longest", "shortest"):
            expected.sort(reverse=True)
            expected.sort(key=lambda key: (1 if order == "shortest" else -1) * len(matches[key][0].moves))
        got = index.find(view, wanted, order, 10**6, None)
        assert [tuple(view.key(number)) for number in got.numbers] == expected
        assert got.total == len(expected)


@pytest.mark.parametrize("wanted", [MatchFilter(), MatchFilter(players=2)], ids=["all", "some"])
@pytest.mark.parametrize("order", ORDERS)
def test_pages_forwards_and_backwards_have_every_match_once(log, order, wanted):
    index = MatchIndex(log)
    view = index.view()
    everything = index.find(view, wanted, order, 10**6, None).numbers
    pages, after = [], None
    while found := index.find(view, wanted, order, 7, after).numbers:
        pages.append(found)
        after = view.key(found[-1])
    assert [number for page in pages for number in page] == everything
    before = index.find(view, wanted, order, 7, view.key(pages[-1][0]), back=True)
    assert before.numbers == pages[-2] and before.before == 7 * (len(pages) - 2)


@pytest.mark.parametrize("order", ORDERS)
def test_a_page_begins_at_a_match_that_the_filter_leaves_out(log, order):
    index = MatchIndex(log)
    view = index.view()
    everything = index.find(view, MatchFilter(), order, 10**6, None).numbers
    wanted = {*index.find(view, MatchFilter(players=3), order, 10**6, None).numbers}
    assert 0 < len(wanted) < len(everything)
    for place, number in enumerate(everything):
        kept = [[each for each in part if each in wanted] for part in (everything[:place], everything[place + 1 :])]
        after = index.find(view, MatchFilter(players=3), order, 5, view.key(number))
        before = index.find(view, MatchFilter(players=3), order, 5, view.key(number), back=True)
        assert (after.numbers, after.before) == (kept[1][:5], len(wanted) - len(kept[1]))
        start = max(0, len(kept[0]) - 5)
        assert before.before == start
        assert before.numbers[: len(kept[0]) - start] == kept[0][start:]


def named(view, number):
    """Return table and names by seat of a match."""
    at = np.flatnonzero(view.seat["match"] == number)
    return int(view.match["table"][number]), [view.label(entry) for entry in view.seat["entry"][at].tolist()]


def partial_log(log, target, count):
    """Write a copy of a log with a share of its matches: some blocks whole, some with their first line-up alone."""
    with sqlite3.connect(log) as db:
        db.execute("VACUUM INTO ?", (str(target),))
    with sqlite3.connect(target) as db:
        for table in ("matches", "seats", "timings"):
            db.execute(f"DELETE FROM {table} WHERE block > ? OR (block % 2 AND lineup > 0)", (count,))
    return target


def test_an_index_grows_with_its_log_to_what_it_would_be_from_the_start(log, tmp_path):
    whole = MatchIndex(log).view()
    growing = partial_log(log, tmp_path / "matches.db", 5)
    index = MatchIndex(growing)
    first = index.view()
    assert 0 < first.total < whole.total
    with sqlite3.connect(growing) as db:
        db.execute("ATTACH ? AS w", (str(log),))
        for table in ("matches", "seats", "timings"):
            db.execute(f"INSERT OR IGNORE INTO {table} SELECT * FROM w.{table} WHERE block <= 6")
    middle = index.view()
    with sqlite3.connect(growing) as db:
        db.execute("ATTACH ? AS w", (str(log),))
        for table in ("matches", "seats", "timings"):
            db.execute(f"INSERT OR IGNORE INTO {table} SELECT * FROM w.{table}")
    last = index.view()
    assert first.total < middle.total < last.total == whole.total
    for order in ORDERS:
        keys = [
            [view.key(number) for number in MatchIndex(log).find(view, MatchFilter(), order, 10**6, None).numbers]
            for view in (last, whole)
        ]
        assert keys[0] == keys[1]
    seated = [{view.key(number): named(view, number) for number in range(view.total)} for view in (last, whole)]
    assert seated[0] == seated[1]


def test_a_file_spares_reading_the_log_again_and_is_taken_only_whole(log, cache, monkeypatch):
    first = MatchIndex(log).view()
    (file,) = cache.iterdir()
    content = file.read_bytes()
    calls = []
    outlines = Store.outlines
    monkeypatch.setattr(
        Store, "outlines", lambda store, where, given: calls.append(given) or outlines(store, where, given)
    )
    assert MatchIndex(log).view().total == first.total
    assert calls and all(given == [int(first.match["block"][-1])] for given in calls)
    for broken in (b"", b"PK nothing", content[: len(content) // 2], content.replace(b"format", b"formed")):
        file.write_bytes(broken)
        again = MatchIndex(log).view()
        assert all(np.array_equal(again.match[name], first.match[name]) for name in first.match)


@pytest.mark.parametrize("value", [1, 8, 32, 64, 255])
@pytest.mark.parametrize("offset", [6, 8, 10])
def test_a_file_whose_entries_seem_to_be_of_another_kind_is_thrown_away(log, cache, offset, value):
    """The version that is needed, the flags and the compression of the first entry in the list of the archive."""
    first = MatchIndex(log).view()
    (file,) = cache.iterdir()
    content = bytearray(file.read_bytes())
    content[content.index(b"PK\x01\x02") + offset] = value
    file.write_bytes(content)
    assert MatchIndex(log).view().total == first.total


def test_a_file_of_another_log_is_thrown_away(log, home, tmp_path, cache):
    MatchIndex(log).view()
    (file,) = cache.iterdir()
    other = partial_log(log, tmp_path / "matches.db", 3)
    index = MatchIndex(other)
    index.path.write_bytes(file.read_bytes())
    assert index.view().total < MatchIndex(log).view().total


def test_a_log_that_takes_the_place_of_another_is_read_anew(log, tmp_path):
    place = partial_log(log, tmp_path / "matches.db", 8)
    index = MatchIndex(place)
    before = index.view().total
    place.unlink()
    partial_log(log, place, 4)
    assert 0 < index.view().total < before


def test_a_log_without_matches_that_takes_the_place_of_another_has_none(log, tmp_path):
    """The number of an inode is given to the next file; the run was started at another time."""
    path = tmp_path / "matches.db"
    path.write_bytes(log.read_bytes())
    index = MatchIndex(path)
    before = index.view()
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        for table in ("matches", "seats", "timings"):
            db.execute(f"DELETE FROM {table}")
    assert index.view().total == 0
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE runs SET started = '2000-01-01T00:00:00+00:00'")
    assert index.view().run != before.run


def test_a_log_with_missing_seats_is_damaged(log, tmp_path):
    place = partial_log(log, tmp_path / "matches.db", 8)
    with sqlite3.connect(place) as db:
        db.execute("DELETE FROM seats WHERE block = 2 AND seat = 1")
    with pytest.raises(arena.core.errors.StoreError, match="missing seats"):
        MatchIndex(place).view()


def test_a_damaged_log_is_read_again_after_a_while_or_when_it_has_changed_and_not_at_every_look(
    log, tmp_path, monkeypatch
):
    place, clock = partial_log(log, tmp_path / "matches.db", 8), iter([0.0, 1.9, 2.1, 0.0])
    with sqlite3.connect(place) as db:
        whole = db.execute("SELECT * FROM seats").fetchall()
        db.execute("DELETE FROM seats WHERE block = 2 AND seat = 1")
    monkeypatch.setattr("arena.results.match_index.time.monotonic", lambda: next(clock))
    index, reads, read = MatchIndex(place), [], MatchIndex.read_new
    monkeypatch.setattr(MatchIndex, "read_new", lambda self: reads.append(1) or read(self))
    for expected in (1, 1, 2):
        with pytest.raises(arena.core.errors.StoreError, match="missing seats"):
            index.view()
        assert len(reads) == expected
    with sqlite3.connect(place) as db:
        db.execute("DELETE FROM seats")
        db.executemany(f"INSERT INTO seats VALUES ({','.join('?' * len(whole[0]))})", whole)
    assert index.view().total > 0


@pytest.mark.parametrize("players", [-1, 0, 10**6, 10**12, 2**62])
def test_a_log_whose_boards_have_other_numbers_of_players_is_damaged_and_takes_no_memory(log, tmp_path, players):
    place = partial_log(log, tmp_path / "matches.db", 8)
    with sqlite3.connect(place) as db:
        db.execute("UPDATE boards SET players = ? WHERE board = (SELECT board FROM blocks LIMIT 1)", [players])
    tracemalloc.start()
    try:
        with pytest.raises(arena.core.errors.StoreError, match="missing seats"):
            MatchIndex(place).view()
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
