"""Leaves files where its compiled code is taken from, with names that no bundle takes."""

import os

import numba  # so that there is a trial match

from bots import Bot

EXPECTED = {"sandbox": "plays on"}
FOLDER = b"/tmp/numba/bot_1"
NAMES = [
    b"a\nb.nbi",
    b"\xff.nbc",
    b"..nbi",
    b"\\.nbc",
    b"c:.nbi",
    b"\x7f.nbc",
    "\u202e.nbi".encode(),
    b"x" * 250 + b".nbi",
]


@numba.njit(cache=True)
def nothing():
    return 0


class OddKernelNames(Bot):
    def prepare(self):
        os.makedirs(FOLDER, exist_ok=True)
        os.makedirs(FOLDER + b"\n", exist_ok=True)
        for folder in (FOLDER, FOLDER + b"\n"):
            for name in NAMES:
                open(folder + b"/" + name, "wb").close()

    def choose(self, state):
        return state.legal_actions()[nothing()]
