"""Real results from elsewhere: votes by district for Montreal's mayor in 2013, as the package plotly has them."""

from pathlib import Path

import choix
import numpy as np
import pandas as pd
import pytest

from arena import api
from arena.transfer.foreign_results import import_results

FILE = Path(__file__).parents[3] / "examples" / "montreal-2013.csv"
WON = {"Coderre": 29, "Bergeron": 15, "Joly": 14}
"""Districts by winner, as the column `winner` of `plotly.data.election` tells them."""
VOTES = {"Coderre": 149_467, "Bergeron": 118_637, "Joly": 123_062}
"""In all districts; elected was Denis Coderre, second Mélanie Joly, third Richard Bergeron."""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    columns = {"match": "district", "bot": "candidate", "score": "votes"}
    import_results(FILE, game="election", columns=columns, home=folder)
    return folder


def test_boards_tell_who_won_how_many_districts_and_the_order_of_the_election(home):
    (board,) = api.leaderboard("montreal-2013", home=home).values()
    assert dict(zip(board["bot"], board["wins"], strict=True)) == WON
    assert board["bot"].to_list() == sorted(VOTES, key=VOTES.get, reverse=True)
    assert board.set_index("bot")["mean_utility"].to_dict() == pytest.approx(
        {bot: votes / 58 for bot, votes in VOTES.items()}, abs=1e-3
    )
    frame = api.matches("montreal-2013", "election", 3, home=home)
    assert frame.groupby("bot")["score"].sum().to_dict() == VOTES


def test_worths_are_those_that_choix_finds_in_the_file_itself(home):
    (board,) = api.leaderboard("montreal-2013", home=home, plackett_luce=True).values()
    names = sorted(VOTES)
    rows = pd.read_csv(FILE)
    orders = [
        [names.index(bot) for bot in district.sort_values("votes", ascending=False)["candidate"]]
        for _, district in rows.groupby("district")
    ]
    worths = choix.ilsr_rankings(len(names), orders, alpha=1e-3, max_iter=1000)
    found = board.set_index("bot")["worth"]
    assert [found[name] for name in names] == pytest.approx(worths - np.mean(worths), abs=1e-3)


def test_intervals_hold_the_means_and_ranks_the_order(home):
    (board,) = api.leaderboard("montreal-2013", home=home).values()
    means = board.set_index("bot")["mean_return"]
    rows = pd.read_csv(FILE)
    places = rows.groupby("district")["votes"].rank(ascending=False)
    expected = (2 - places).groupby(rows["candidate"]).mean()
    for bot, mean in expected.items():
        assert means[str(bot)] == pytest.approx(mean, abs=1e-4)
    blocks = (2 - places).groupby(rows["candidate"]).std(ddof=1) / np.sqrt(58)
    half = (board["mean_return_ci_high"] - board["mean_return_ci_low"]).to_numpy() / 2
    assert half == pytest.approx(
        2.0025 * blocks.reindex(board["bot"].tolist()).to_numpy(), abs=2e-4
    )  # Student's t with 57 degrees
