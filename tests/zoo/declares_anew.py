"""Declares another default in each process: with every plan it would be another bot, without its old losses."""

import time
from typing import Annotated

from bots import Bot

EXPECTED = {"process": "init", "sandbox": "init"}


class DeclaresAnew(Bot):
    since: Annotated[int, "when it was loaded"] = time.monotonic_ns()

    def choose(self, state):
        return state.legal_actions()[0]
