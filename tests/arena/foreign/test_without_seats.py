"""Where results from elsewhere do not tell seats, nothing is told of them: no numbers are made up."""

import re

import pandas as pd
import pytest
from starlette.testclient import TestClient

from arena import api
from arena.cli.app import run_command
from arena.store import Store
from arena.transfer.foreign_results import import_results
from arena.verify.verification import verify
from arena.web.app import create_app
from tests.arena.foreign.tables import results, write

SEATED = re.compile(r"class=\"seat-\d|name=\"seat\"|>Seat<|by seat|seat \d|Seat, place", re.IGNORECASE)
"""What pages with seats show of them."""
ADDRESS = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A home with the same results twice: with seats and without."""
    folder = tmp_path_factory.mktemp("made")
    for name in ("seated", "seatless"):
        rows = results(7, players=(3,), matches=20, seats=name == "seated")
        import_results(write(folder / f"{name}.csv", rows), game="chess", home=folder)
    return folder


@pytest.mark.parametrize("name", ["seated", "seatless"])
def test_pages_tell_of_seats_where_the_file_does(made, name):
    board = "chess-unverified-foreign-results_3p"
    with Store.open(made / name / "matches.db") as store:
        match = f"{next(store.match_digests())[0].hex()}-0"
    told = {}
    with TestClient(create_app(made), base_url=ADDRESS, raise_server_exceptions=False) as client:
        pair = f"pair?board={board}&a=bot 0&b=bot 1"
        for address in ("", "/matches", f"/matches/{match}", f"/{pair}"):
            page = client.get(f"/tournaments/{name}{address}")
            assert page.status_code == 200, address
            told[address] = bool(SEATED.search(page.text))
            if address != "":
                assert name == "seated" or "Bots by place" in page.text or "does not tell seats" in page.text
        filtered = client.get(f"/tournaments/{name}/matches?seat=0&bot=bot 0").text
        asked = client.get(f"/tournaments/{name}/matches?bot=bot 0").text
    assert told == dict.fromkeys(told, name == "seated")
    counts = [re.search(r"(\d+) matches", text) for text in (filtered, asked)]
    assert all(counts)
    fewer = int(counts[0][1]) < int(counts[1][1])
    assert fewer == (name == "seated"), "a link that asks for a seat shows all matches where there are no seats"


@pytest.mark.parametrize("name", ["seated", "seatless"])
def test_tables_of_matches_have_numbers_of_seats_where_the_file_does(made, name, tmp_path):
    paths = api.export(name, made, tmp_path, ["matches"], ["csv", "parquet"])
    tables = [pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path) for path in paths[:2]]
    frames = [*tables, api.matches(name, "chess", 3, made)]
    for frame in frames:
        assert len(frame) == 60
        assert sorted(frame["seat"].dropna().astype(int).unique()) == ([0, 1, 2] if name == "seated" else [])
    assert api.compare_in(name, "bot 0", "bot 1", home=made).difference.score == pytest.approx(
        api.power(name, "bot 0", "bot 1", home=made)["difference"][0]
    )


@pytest.mark.system
def test_a_site_without_seats_is_written_and_exports_still_agree_with_the_log(made, tmp_path, capsys):
    api.export("seatless", made, None, ["leaderboards", "matches"], ["csv"])
    assert verify("seatless", made).sound
    assert run_command(["site", "seatless", "--out", str(tmp_path / "site"), "--home", str(made)]) == 0
    for page in (tmp_path / "site" / "seatless").rglob("*.html"):
        assert not SEATED.search(re.sub(r"<(style|script).*?</\1>", "", page.read_text(), flags=re.DOTALL)), page
