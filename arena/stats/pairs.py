"""Head-to-head: who beats whom in the matches that both played."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from scipy.special import stdtrit


def head_to_head(matches: pd.DataFrame, players: int) -> pd.DataFrame:
    """One row for every two bots that met; `matches` comes from `arena.leaderboards.board_matches`.

    Student's t over block means (Student, "The Probable Error of a Mean", 1908): mean ± t(n - 1) s / sqrt(n).
    """
    rows = []
    for bot, opponent in itertools.combinations(sorted(matches["bot"].unique()), 2):
        at = ["block", "lineup"]
        both = matches[matches["bot"] == bot].merge(matches[matches["bot"] == opponent], on=at)
        if both.empty:
            continue
        means = (both["return__x"] - both["return__y"]).groupby(both["block"]).mean()
        half = stdtrit(len(means) - 1, 0.975) * means.std() / np.sqrt(len(means)) if len(means) > 1 else np.nan
        ahead = np.sign(both["rank_y"] - both["rank_x"])
        counts = [len(both), (ahead > 0).sum(), (ahead == 0).sum(), (ahead < 0).sum()]
        rows.append([bot, opponent, *counts, means.mean(), means.mean() - half, means.mean() + half])
    names = ["bot", "opponent", "matches", "wins", "ties", "losses", "difference", "difference_low", "difference_high"]
    return pd.DataFrame(rows, columns=names).round(4)
