"""The list of all checks, and how one of them is run."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from typing import Any

from engine.conformance import copies, kernels, observations, pictures, playouts, processes, sentences, texts, turns
from engine.conformance.probe import MOST_MATCHES, BrokenPromise, Check, NotApplicableError, Probe, home
from engine.errors import one_line, summarise_error
from engine.game import Game, shown

PASSED, FAILED, NOT_APPLICABLE = "pass", "fail", "n/a"
MAX_SHOWN_PLIES = 40
"""Plies of a match that a finding shows."""
MATCHES, STATES, TEXTS, OBSERVATIONS = "Matches", "States", "Texts", "Observations"
DRAWINGS, KERNELS, PROCESSES, SPEED = "Drawings", "Kernels", "Processes", "Speed"


def _named(group: str, claims: dict[Callable[[Probe], str | None], str]) -> list[Check]:
    return [Check(run.__name__.replace("_", "-"), claim, group, run) for run, claim in claims.items()]


ENDS = Check("ends", "random matches are played to their end", MATCHES, turns.ends)
"""The first check. All others play matches too: when it fails they are not run."""

CHECKS: list[Check] = [
    ENDS,
    # what other checks rely on comes first, so that a fault is told at its cause
    *_named(
        STATES,
        {
            copies.replays: "a history leads to the same state again",
            copies.clones: "a clone and its state go their own ways, also at the end",
        },
    ),
    *_named(
        MATCHES,
        {
            turns.who_acts: "each state says who is to act: a seat, chance or nobody",
            turns.legal_actions: "legal actions are ascending numbers below num_distinct_actions, at decisions alone",
            turns.chance_outcomes: "chance outcomes differ and have whole weights above 0",
            turns.handed_out: "changing a list that was handed out changes nothing",
            turns.mask: "the mask marks the legal actions",
            turns.illegal_actions: "actions that are not legal are refused and change nothing",
            turns.no_numbers: "what is no whole number is refused and changes nothing",
            turns.refusal_helps: "a refusal names the legal actions",
            turns.numpy_numbers: "whole numbers of NumPy are as good as Python's",
            turns.results_after_the_end: "results are told after the end and not before",
            turns.ranks_and_returns: "ranks count the seats that did better, and returns agree with them",
            turns.scores: "scores are one whole number a seat, or none at all",
            turns.bounds_told: "bounds are told and agree with each other, or are refused",
            turns.bounds_kept: "no match exceeds the bounds",
        },
    ),
    *_named(
        STATES,
        {
            copies.children: "a child leaves its parent alone",
            copies.played_out: "a playout leaves the state alone and is the one that its draws lead to",
            copies.copies: "copies and deep copies are clones",
            copies.pickles: "a pickled state plays on alike",
            copies.pickled_games: "a pickled game is the same game",
            copies.equality: "states are equal to themselves, however they came about, and not to others",
            copies.other_games: "states for other numbers of players are never equal",
            copies.equal_keys: "states with equal keys play on alike",
        },
    ),
    *_named(
        TEXTS,
        {
            texts.notation: "every action and outcome is written as a word of its own and read back",
            texts.no_action_no_text: "a number that is no action has no text",
            texts.strange_notation: "any text is notation or refused",
            texts.saved: "a state is written as a line and read back",
            texts.garbled_saves: "a garbled line is refused or is another state",
            texts.positions: "positions are read back",
            texts.garbled_positions: "a garbled position is refused or written as it was read",
            texts.drawings: "the drawing for the terminal is plain text in 80 columns",
            texts.description: "the game describes itself",
            texts.canonical_spec: "the canonical spec loads the same game",
        },
    ),
    *_named(
        OBSERVATIONS,
        {
            observations.layout: "the layout of observations is described",
            observations.tensors: "observations have the layout's shape, type and bounds, and are the same each time",
            observations.refusals: "seats and arrays that do not fit are refused",
            observations.seats: "all seats see the same, each from its own place",
            observations.told_apart: "what a seat sees tells positions and legal actions apart",
            observations.seen_actions: "actions as seats see them are the same ones renumbered",
            observations.symmetries: "a match changed by a symmetry looks and goes on accordingly",
        },
    ),
    *_named(
        DRAWINGS,
        {
            pictures.svg: "the drawing is one well-formed SVG document that loads nothing",
            pictures.targets: "every legal action is reached by clicks of its own on parts of the drawing",
            pictures.reasons: "a reason why a part cannot be clicked is a sentence, and only for such parts",
            sentences.sentences: "what is to be decided, what happened and how it ended are told in short sentences",
        },
    ),
    *_named(
        KERNELS,
        {
            kernels.used_words: "the used words of a record hold the whole state",
            kernels.random_actions: "a random action is any legal one, all equally likely",
            kernels.sampled_outcomes: "sampled outcomes follow their weights",
            playouts.playouts: "compiled playouts depend on their draws alone",
            playouts.playouts_by_draws: "a compiled playout is the match that its draws lead to step by step",
            playouts.playouts_and_steps: "compiled playouts end as matches step by step do: result, length, position",
        },
    ),
    *_named(
        PROCESSES,
        {
            processes.another_process: "another process plays the same matches",
            processes.interpreted: "interpreted kernels play the same matches as compiled ones",
        },
    ),
    *_named(SPEED, {processes.speed: "speed, which is told and not judged"}),
]


@dataclass(frozen=True)
class Finding:
    """What a check has found in a game for a number of players."""

    check: str
    claim: str
    group: str
    spec: str
    players: int
    status: str
    """`pass`, `fail` or `n/a`."""
    detail: str = ""
    """What the game broke, why the check does not apply, or what is worth telling; one line."""
    seed: int | None = None
    """The seed of the random match in which it failed."""
    plies: tuple[str, ...] = ()
    """The actions and outcomes, by number, that lead to the state in which it failed."""
    seconds: float = 0.0

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)

    @property
    def where(self) -> str:
        """The match in which it failed, in words."""
        if self.seed is None:
            return ""
        shown = " ".join(self.plies[:MAX_SHOWN_PLIES])
        more = f" and {len(self.plies) - MAX_SHOWN_PLIES:,} more" if len(self.plies) > MAX_SHOWN_PLIES else ""
        return f"seed {self.seed}, after plies {shown}{more}" if shown else f"seed {self.seed}, at the start"


class TimeUpError(BaseException):
    """The time of a check is over. Games that catch every `Exception` do not catch it."""


def run_check(
    check: Check,
    game: Game,
    seed: int = 0,
    limit: Callable[[], AbstractContextManager[None]] = nullcontext,
    most_matches: int = MOST_MATCHES,
) -> Finding:
    """Run one check of a game; whatever the game raises is a finding.

    `limit` gives what is entered around the check; it may raise `TimeUpError`. A check of many random matches plays at
    most `most_matches` each way.
    """
    probe = Probe(game, seed, most_matches)
    begun = time.monotonic()

    def found(status: str, detail: str = "") -> Finding:
        failed, detail = status == FAILED, one_line(" ".join(detail.split()))
        return Finding(
            *(check.name, check.claim, check.group, game.spec, game.players, status, detail),
            seed=probe.seed if failed else None,
            plies=tuple(map(shown, probe.plies)) if failed else (),
            seconds=round(time.monotonic() - begun, 3),
        )

    try:
        with limit():
            told = check.run(probe)
    except NotApplicableError as error:
        return found(NOT_APPLICABLE, str(error))
    except BrokenPromise as error:
        return found(FAILED, str(error))
    except TimeUpError:
        if check.group == SPEED:
            return found(PASSED, "not known: it took too long to measure")
        return found(FAILED, "it took too long")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a game may raise SystemExit too
        return found(FAILED, summarise_error(error, within=home(game)))
    return found(PASSED, told or "")
