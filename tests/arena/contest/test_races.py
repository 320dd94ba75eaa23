"""A bot that is handed in at the last moment, while the driver looks whether that has come."""

from __future__ import annotations

import threading
from contextlib import closing
from datetime import datetime, timedelta

from arena.accounts import Accounts
from arena.accounts.submissions import WAITING
from arena.registry.submissions import store_bundle
from arena.registry.uploads import uploaded_bot
from tests.arena.contest.homes import Home, good
from tests.support.tournaments import PATIENCE


def test_a_bot_handed_in_at_the_deadline_is_checked_before_the_season_ends(home: Home) -> None:
    author = home.author("Ann")
    home.rounds()
    deadline = home.config.deadline
    assert deadline is not None
    home.now = deadline
    bundle, class_name = uploaded_bot({"bot.py": good(0).encode()})
    source = (bundle.hash, bundle.module, class_name)
    writing, go_on, states = threading.Event(), threading.Event(), []

    def clock() -> datetime:
        return deadline

    def store() -> None:
        store_bundle(bundle, home.path)
        writing.set()
        assert go_on.wait(PATIENCE)

    def hand_in() -> None:
        with closing(Accounts(home.path, clock)) as accounts:
            version, _ = accounts.submissions.hand_in("cup", author, "last", source, home.config.allowance, store)
            states.append(version.state)

    handing_in = threading.Thread(target=hand_in)
    handing_in.start()
    assert writing.wait(PATIENCE)
    home.now += timedelta(seconds=1)
    threading.Timer(1.0, go_on.set).start()  # the driver comes as far as it can meanwhile
    home.rounds(3)
    handing_in.join(PATIENCE)
    assert states == [WAITING]
    assert home.accounts.contests.get("cup").state == "open"
    assert not home.over
    home.check()
    home.drive_to_the_end()
    assert "b1.1" in {version.label for version in home.accounts.submissions.playing("cup")}
