"""Every check fails for a game that breaks what it asks for, and says where; hostile games get findings."""

from __future__ import annotations

import itertools
import shutil
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from math import comb
from pathlib import Path
from types import SimpleNamespace

import connect_four
import numpy as np
import pig
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core.errors import TypingError

import engine
from engine import CHANCE, Bounds, Game, IllegalActionError, PositionError, State, registry
from engine.conformance import CHECKS, FAILED, NOT_APPLICABLE, PASSED, check_game, playouts, run_check, samples
from engine.conformance.checks import KERNELS, PROCESSES, SPEED, TimeUpError
from engine.conformance.copies import REPLAYED_MATCHES
from engine.errors import summarise_error
from engine.kernel import kernel
from engine.observation import Block, ObservationSpec, Symmetry
from engine.words import Reason
from tests.engine.test_plain_game import NIM, Nim, NimState
from tests.support import odd_four

BY_NAME = {check.name: check for check in CHECKS}
LOG: list[int] = []
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{}</svg>'


class WholeState(NimState):
    """Nim with heaps of 2, 2, 2, and all that a game may have: positions, observations, drawings, targets."""

    __slots__ = ("start",)

    def __init__(self, game, heaps, who, history, start=None):
        super().__init__(game, heaps, who, history)
        self.start = start

    def clone(self):
        state = type(self)(self.game, self.heaps.copy(), self.who, self._history.copy(), self.start)
        state.winner = self.winner
        return state

    def __reduce__(self):
        return Game.deserialize_state, (self.game, State.serialize(self))

    @property
    def origin(self):
        return self.start

    @property
    def position(self):
        return f"{'.'.join(map(str, self.heaps))} {self.who} {self.winner}"

    def write_observation(self, seat, out):
        players = self.game.players
        out[:3] = self.heaps
        out[3:] = 0
        out[3] = self.who == CHANCE
        for start, other in ((4, self.who), (4 + players, self.winner)):
            if other >= 0:
                out[start + (other - seat) % players] = 1

    def svg(self):
        return SVG.format("".join(f'<rect data-part="p{part}"/>' for part in range(9)))

    def targets(self):
        return {action: (f"p{action}",) for action in self.legal_actions()} if self.who >= 0 else None

    def reason(self, parts, names=None):
        return "There are too few stones for that."


class Whole(Nim):
    position = True
    state = WholeState

    def new_initial_state(self):
        return self.state(self, [2, 2, 2], CHANCE if self.params["rolled"] else 0, [])

    def state_from_position(self, text):
        try:
            heaps, who, winner = text.split(" ")
            state = self.state(self, [int(heap) for heap in heaps.split(".")], int(who), [], text)
            state.winner = int(winner)
        except ValueError:
            raise PositionError("all", "three fields are expected") from None
        over = not any(state.heaps)
        fits = len(state.heaps) == 3 and all(0 <= heap <= 5 for heap in state.heaps) and state.position == text
        seats = range(self.players)
        if not fits or (state.who, state.winner in seats) != (-4 if over else state.who, over):
            raise PositionError("all", "no position of Nim")
        if state.who not in (-4,) * over + (*seats,) and not (state.who == CHANCE and self.params["rolled"]):
            raise PositionError("who", "nobody is to move")
        return state

    def observation_spec(self):
        blocks = (
            Block("heaps", (3,), "stones", 0, 6),
            Block("rolls", (1,), "whether a roll comes"),
            Block("mover", (self.players,), "who is to move", seat_axes=1),
            Block("winner", (self.players,), "who has won", seat_axes=1),
        )
        entries = np.array([1, 0, 2, *range(3, 4 + 2 * self.players)])
        return ObservationSpec(1, blocks, (Symmetry("swap", entries, np.array([3, 4, 5, 0, 1, 2, 6, 7, 8])),))


def wrong(what, rolled=False, kind=None, **changed):
    """Describe a game that breaks one promise: methods of its state or `game`, or fields of its type, are others."""
    return what, rolled, kind or {}, changed


def halves(self):
    return [(1, 0.5), (2, 0.5)] if self.who == CHANCE else []


def heavy(self):
    return [(1, 2**64), (2, 1)] if self.who == CHANCE else []


def one_target(self):
    return {action: ("p0",) for action in self.legal_actions()} if self.who >= 0 else None


class Loose(ObservationSpec):
    def seen_actions(self, seat, actions):
        return np.zeros(actions, np.int64)


def with_layout(**changed):
    """Return an `observation_spec` whose blocks or symmetries are others."""
    return lambda self: replace(Whole.observation_spec(self), **changed)


def leaky_clone(self):
    state = WholeState.clone(self)
    state.heaps = self.heaps
    return state


def counting_ranks(self):
    LOG.append(1)
    odd = len(LOG) // 2 % 2
    return [odd, 1 - odd, *[2] * (self.game.players - 2)] if self.who == -4 else NimState.ranks(self)


def lax(self, action):
    try:
        WholeState.apply_action(self, action)
    except IllegalActionError:
        self._history.append(0)


def first_for_none(self, action):
    WholeState.apply_action(self, action if action is not None else self.legal_actions()[0])


def ints_alone(self, action):
    if type(action) is not int:
        raise IllegalActionError("an int is needed")
    WholeState.apply_action(self, action)


def endless(self, action):
    before = self.heaps.copy()
    WholeState.apply_action(self, action)
    self.heaps, self.who = before, 0


def position_error(self, text):
    raise KeyError(text)


def same_for_all(self, seat, out):
    WholeState.write_observation(self, 0, out)


def too_much(self, seat, out):
    out[:] = 99


def blank(self, seat, out):
    out[:] = 0


def unread(self, text):
    return replace_who(Whole.state_from_position(self, text))


def replace_who(state):
    state.who = 0 if state.who >= 0 else state.who
    return state


BROKEN = {
    "ends": wrong("state", apply_action=endless),
    "who-acts": wrong("state", rolled=True, is_chance_node=lambda self: False),
    "legal-actions": wrong("state", legal_actions=lambda self: NimState.legal_actions(self)[::-1]),
    "chance-outcomes": wrong("state", rolled=True, chance_outcomes=halves),
    "handed-out": wrong("state", history=lambda self: self._history),
    "mask": wrong("state", legal_actions_mask=lambda self: np.ones(9, np.bool_)),
    "illegal-actions": wrong("state", apply_action=lax),
    "no-numbers": wrong("state", apply_action=first_for_none),
    "refusal-helps": wrong("state", refuse=lambda self, action: IllegalActionError("no")),
    "numpy-numbers": wrong("state", apply_action=ints_alone),
    "results-after-the-end": wrong("state", ranks=lambda self: [0] * self.game.players),
    "ranks-and-returns": wrong("state", ranks=lambda self: [rank + 1 for rank in NimState.ranks(self)]),
    "scores": wrong("state", scores=lambda self: [0] * self.game.players),
    "bounds-told": wrong("state", kind={"bounds": lambda players, params: Bounds(9, 0, 3)}),
    "bounds-kept": wrong("state", kind={"bounds": lambda players, params: Bounds(6, max_utility=0.5)}),
    "children": wrong("state", child=lambda self, action: (self.apply_action(action), self)[1]),
    "clones": wrong("state", clone=leaky_clone),
    "played-out": wrong("state", playout=lambda self, *given, **named: [0.0] * self.game.players),
    "copies": wrong("state", __copy__=lambda self: self),
    "pickles": wrong("state", __reduce__=lambda self: (Game.new_initial_state, ())),
    "pickled-games": wrong("game", __reduce__=lambda self: (engine.load_game, ("epicycle", 2))),
    "replays": wrong("state", ranks=counting_ranks),
    "equality": wrong("state", __eq__=object.__eq__, __hash__=object.__hash__),
    "other-games": wrong("game", __eq__=lambda self, other: True, __hash__=lambda self: 1),
    "equal-keys": wrong("state", key=property(lambda self: sum(self.heaps))),
    "notation": wrong("state", action_to_string=lambda self, action: "a"),
    "no-action-no-text": wrong("state", action_to_string=lambda self, action: f"n{action}"),
    "strange-notation": wrong("state", string_to_action=lambda self, text: 0),
    "saved": wrong("state", serialize=lambda self: ""),
    "garbled-saves": wrong("game", deserialize_state=position_error),
    "positions": wrong("game", state_from_position=unread),
    "garbled-positions": wrong("game", state_from_position=position_error),
    "drawings": wrong("state", __str__=lambda self: "x" * 81),
    "description": wrong("state", kind={"title": ""}),
    "canonical-spec": wrong("game", spec=property(lambda self: "nim(rolled=true)")),
    "layout": wrong("game", observation_spec=with_layout(version=0)),
    "tensors": wrong("state", write_observation=too_much),
    "refusals": wrong("state", observe=lambda self, seat=None, out=None: np.zeros(8, np.float32)),
    "seats": wrong("state", write_observation=same_for_all),
    "told-apart": wrong("state", write_observation=blank),
    "seen-actions": wrong("game", observation_spec=lambda self: Loose(1, Whole.observation_spec(self).blocks)),
    "symmetries": wrong(
        "game",
        observation_spec=lambda self: replace(
            Whole.observation_spec(self),
            symmetries=(Symmetry("swap", np.array([1, 0, 2, *range(3, 4 + 2 * self.players)]), np.arange(9)),),
        ),
    ),
    "svg": wrong("state", svg=lambda self: SVG.format("<script/>")),
    "targets": wrong("state", targets=one_target),
    "reasons": wrong("state", reason=lambda self, parts, names: int(parts[-1])),
    "sentences": wrong("state", prompt=lambda self, names=None, chosen=(): engine.Sentence("Your move", ("p99",))),
}  # fmt: skip
OF_KERNELS = {
    "used-words": ("connect_four", "copy_state", lambda old: lambda words, out: out.__setitem__(slice(None), 0)),
    "random-actions": ("connect_four", "random_action", lambda old: lambda record, rng, legal: 0),
    "sampled-outcomes": ("magic_mids", "sample_chance", lambda old: lambda record, rng: 0),
    "playouts": ("connect_four", "playouts", lambda old: lambda *given: (len(LOG), LOG.append(1) or len(LOG))),
    "playouts-by-draws": ("epicycle", "playouts", lambda old: lambda *given: with_swapped_ranks(old, *given)),
    "playouts-and-steps": (
        *("connect_four", "playouts"),
        lambda old: lambda *given: (lambda told: (told[0], told[1] * 2))(old(*given)),
    ),
}
SOME = 2_000
"""Matches that a check of a test may play each way."""


def with_swapped_ranks(playouts, start, count, rng, actions, scratch, place, *sums):
    """Play a compiled playout; in 3 % of them winner and loser are exchanged."""
    told = playouts(start, count, rng, actions, scratch, place, *sums)
    if rng[0] % 33 == 0:
        place[:] = place[::-1].copy()
    return told


def bounds_of(players, params):
    return Bounds(15, 1, 3) if params["rolled"] else Bounds(6)


def made(monkeypatch, what="state", rolled=False, kind=None, changed=None):
    """Return a game for two, registered as nim, of classes with changes."""
    own = {"__module__": __name__, **(changed or {})}
    state = type("Broken", (WholeState,), {"__slots__": (), **own}) if what == "state" else WholeState
    game = type("BrokenGame", (Whole,), {"state": state, "__module__": __name__, **(own if what == "game" else {})})
    registered = replace(NIM, factory=game, **{"bounds": bounds_of, **(kind or {})})
    monkeypatch.setattr(registry, "registered_games", {"nim": registered})
    return engine.load_game("nim", 2, rolled=rolled)


def test_every_check_has_a_game_that_breaks_it():
    plain = {check.name for check in CHECKS if check.group not in (KERNELS, PROCESSES, SPEED)}
    assert plain == set(BROKEN)
    assert {check.name for check in CHECKS if check.group == KERNELS} == set(OF_KERNELS)


@pytest.mark.parametrize("rolled", [False, True])
@pytest.mark.parametrize("name", BROKEN)
def test_a_game_that_keeps_everything_passes(monkeypatch, name, rolled):
    finding = run_check(BY_NAME[name], made(monkeypatch, rolled=rolled))
    assert finding.status != FAILED, (finding.detail, finding.where)
    assert rolled or finding.status == PASSED, finding.detail


@pytest.mark.parametrize("name", BROKEN)
def test_a_check_fails_for_a_game_that_breaks_it_and_says_so_in_a_line(monkeypatch, name):

    finding = run_check(BY_NAME[name], made(monkeypatch, *BROKEN[name]))
    assert finding.status == FAILED
    assert finding.detail and finding.detail.isprintable()


def test_weights_beyond_what_dice_are_drawn_from_are_told(monkeypatch):
    finding = run_check(
        BY_NAME["chance-outcomes"], made(monkeypatch, *wrong("state", rolled=True, chance_outcomes=heavy))
    )
    assert (finding.status, "more than 2^64" in finding.detail) == (FAILED, True)


@pytest.mark.parametrize(
    ("why", "status"),
    [
        (Reason("There are too few stones.", "§1 Taking stones"), PASSED),
        (Reason("There are too few stones.", 3), FAILED),
        (type("Text", (str,), {})("There are too few stones."), FAILED),
    ],
    ids=["with its section", "section is a number", "another text"],
)
def test_a_reason_is_a_text_which_may_name_its_section(monkeypatch, why, status):
    changed = {"reason": lambda self, parts, names: why}
    assert run_check(BY_NAME["reasons"], made(monkeypatch, changed=changed)).status == status


@pytest.mark.parametrize("name", OF_KERNELS)
def test_a_check_of_kernels_fails_for_compiled_code_that_does_something_else(monkeypatch, name):
    spec, kernel, broken = OF_KERNELS[name]
    assert run_check(BY_NAME[name], engine.load_game(spec, 2), most_matches=SOME).status == PASSED
    game = engine.load_game(spec, 2)
    game.compiled = SimpleNamespace(**{**vars(game.compiled), kernel: broken(getattr(game.compiled, kernel))})
    finding = run_check(BY_NAME[name], game, most_matches=SOME)
    assert finding.status == FAILED and finding.detail.isprintable()


def first_failure(monkeypatch, kind, most=SOME, **options):
    """Return the first finding of `arena check-game` in this process that is a failure; None if there is none."""
    monkeypatch.setattr(registry, "registered_games", {kind.name: kind})
    game = engine.load_game(kind.name, 2, **options)
    checks = (check for check in CHECKS if check.group not in (PROCESSES, SPEED))
    findings = (run_check(check, game, most_matches=most) for check in checks)
    return next((finding for finding in findings if finding.status == FAILED), None)


def test_a_game_of_dice_without_a_longest_match_passes(monkeypatch):
    assert first_failure(monkeypatch, pig.GAME) is None


@pytest.mark.parametrize(
    ("fault", "check", "kernel"),
    [
        ("diagonals", "playouts-and-steps", "random_finish"),
        ("full_board", "playouts-and-steps", "random_finish"),
        ("coin", "replays", "apply_action"),
        ("playout_coin", "playouts", "random_finish"),
    ],
)
def test_the_first_failure_of_a_faulty_kernel_names_it_and_its_file(monkeypatch, fault, check, kernel):
    finding = first_failure(monkeypatch, odd_four.GAME, 5_000, fault=fault)
    assert finding.check == check
    assert finding.detail.startswith(f"{kernel} (odd_four/rules.py, line ")


def test_a_kernel_that_is_right_in_its_own_way_passes(monkeypatch):
    assert first_failure(monkeypatch, odd_four.GAME) is None


@pytest.mark.system
@pytest.mark.parametrize(("fault", "status"), [("none", PASSED), ("full_board", FAILED)])
def test_distributions_alone_show_a_result_of_one_match_in_four_hundred(monkeypatch, fault, status):
    monkeypatch.setattr(registry, "registered_games", {"odd_four": odd_four.GAME})
    monkeypatch.setattr(playouts, "MAX_READ_POSITIONS", 0)
    finding = run_check(BY_NAME["playouts-and-steps"], engine.load_game("odd_four", 2, fault=fault))
    assert finding.status == status, finding.detail
    assert ("full board" if status == FAILED else "50,000 matches each") in finding.detail


def test_a_hidden_coin_is_missed_once_in_a_million_by_as_many_matches_as_are_played_again():
    for matches, rare in ((REPLAYED_MATCHES, True), (REPLAYED_MATCHES - 1, False)):
        missed = sum(
            comb(matches, tossed) * Fraction(3, 100) ** tossed * Fraction(97, 100) ** (matches - tossed) / 2**tossed
            for tossed in range(matches + 1)
        )
        assert (missed <= Fraction(1, 10**6)) == rare


@pytest.mark.parametrize("forgets", ["winner", "_history"])
def test_clones_of_ended_states_are_compared(monkeypatch, forgets):
    def clone(self):
        state = WholeState.clone(self)
        if self.who == -4:
            setattr(state, forgets, {"winner": -1, "_history": []}[forgets])
        return state

    finding = run_check(BY_NAME["clones"], made(monkeypatch, changed={"clone": clone}))
    assert finding.status == FAILED and "ended state" in finding.detail


def test_an_error_that_a_game_provokes_elsewhere_is_told_in_its_own_file(monkeypatch):
    def scores(self):
        return np.linalg.inv(np.zeros((2, 2)))

    finding = run_check(BY_NAME["scores"], made(monkeypatch, changed={"scores": scores}))
    assert finding.status == FAILED and "(engine/test_conformance.py, line" in finding.detail


def test_a_kernel_that_does_not_compile_is_told_in_a_line_with_its_place(monkeypatch):
    @kernel
    def unknown(state):
        return state.seat.no_such_part

    record = np.zeros(1, np.dtype((np.record, [("seat", np.int64)])))[0]
    with pytest.raises(TypingError) as raised:
        unknown(record)
    told = summarise_error(raised.value)
    line = unknown.py_func.__code__.co_firstlineno + 2
    assert told.endswith(f"(engine/test_conformance.py, line {line})") and "no_such_part" in told
    assert told.count("File") == 0


@given(chance=st.integers(1, 19), draws=st.integers(1, 40), count=st.integers(0, 40))
def test_the_surprise_of_a_count_bounds_its_probability(chance, draws, count):
    count = min(count, draws)
    share = Fraction(chance, 20)
    exact = [comb(draws, k) * share**k * (1 - share) ** (draws - k) for k in range(draws + 1)]
    tail = sum(exact[count:]) if count >= draws * share else sum(exact[: count + 1])
    assert float(tail) <= np.exp(-samples.surprise(count, draws, chance / 20)) * (1 + 1e-9)


@given(size=st.integers(1, 40), counts=st.tuples(st.integers(0, 40), st.integers(0, 40)))
def test_the_surprise_of_two_counts_bounds_the_probability_of_their_split(size, counts):
    one, other = (min(count, size) for count in counts)
    total = one + other
    ways = [comb(size, k) * comb(size, total - k) for k in range(max(0, total - size), min(size, total) + 1)]
    high = max(one, other) - max(0, total - size)
    tail = Fraction(sum(ways[high:]), sum(ways))
    (surprise,) = samples.surprises(np.array([one]), np.array([other]), size)
    assert float(tail) <= np.exp(-surprise) * (1 + 1e-9)


def test_samples_of_one_distribution_agree_and_of_others_do_not():
    rng = np.random.default_rng(3)
    one, same, other = (rng.binomial(60, p, 20_000) for p in (0.5, 0.5, 0.51))
    assert samples.odd_threshold(one, same, 60) is None and samples.odd_threshold(one, other, 60) is not None
    assert samples.odd_category(one.tolist(), same.tolist(), 60) is None
    assert samples.odd_category([*"ab"] * 200, [*"aa"] * 200, 2) == ("b", 200, 0)
    words = rng.integers(0, 2**63, (50, 3)).astype(np.uint64)
    bits = [sum(int(row[bit // 64]) >> bit % 64 & 1 for row in words) for bit in range(192)]
    assert samples.bit_counts(words).tolist() == bits


@pytest.mark.parametrize(("spec", "players"), [("connect_four", 2), ("midgard", 2), ("pyramid_punch", 3)])
def test_orders_of_plies_that_come_to_one_state_are_met(spec, players):
    finding = run_check(BY_NAME["equal-keys"], engine.load_game(spec, players))
    assert finding.status == PASSED and int(finding.detail.removesuffix(" pairs")) >= 6


def test_a_failure_is_told_with_the_seed_and_plies_that_show_it(monkeypatch):
    game = made(
        monkeypatch,
        changed={"legal_actions": lambda self: NimState.legal_actions(self)[:: 1 - 2 * (sum(self.heaps) == 4)]},
    )
    finding = run_check(BY_NAME["legal-actions"], game, seed=5)
    assert finding.status == FAILED and finding.seed == 7
    state = game.new_initial_state()
    for ply in finding.plies:
        state.apply_action(int(ply))
    assert state.legal_actions() != sorted(state.legal_actions())
    assert finding.where == f"seed 7, after plies {' '.join(finding.plies)}"


class Interrupting(Exception):
    def __str__(self):
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("x\ny"), SystemExit(3), RecursionError(), Interrupting(), GeneratorExit()]
)
def test_whatever_a_game_raises_is_a_finding(monkeypatch, error):
    def raising(self):
        raise error

    finding = run_check(BY_NAME["scores"], made(monkeypatch, changed={"scores": raising}))
    assert finding.status == FAILED and type(error).__name__ in finding.detail and finding.detail.isprintable()


@pytest.mark.parametrize("answer", [None, 7, "0", [None], [(0,)], object()])
def test_answers_of_wrong_types_are_findings(monkeypatch, answer):
    for method in (
        "legal_actions",
        "chance_outcomes",
        "history",
        "scores",
        "current_player",
        "ranks",
        "string_to_action",
    ):
        game = made(monkeypatch, rolled=True, changed={method: lambda self, *given: answer})
        statuses = [run_check(check, game).status for check in CHECKS if check.group not in (KERNELS, PROCESSES, SPEED)]
        if (method, answer) != ("scores", None):
            assert FAILED in statuses, method


@pytest.fixture
def plug_in(tmp_path, monkeypatch):
    """A folder on the path of all processes in which `tests.support.count_up` is installed as a plug-in."""
    folder = tmp_path / "plug-in"
    source = Path(__file__).parents[1] / "support" / "count_up.py"
    (folder / "count_up_game.dist-info").mkdir(parents=True)
    text = source.read_text(encoding="utf-8")
    text = text.replace('if self.late("exit"):\n', 'if self.late("exit"):\n            __import__("os")._exit(3)\n')
    closing = '        while self.late("closes"):\n            __import__("os").closerange(3, 99)\n'
    writing = "            for number in range(3, 99):\n"
    writing += "                with __import__('contextlib').suppress(OSError):\n"
    writing += (
        "                    __import__('os').write(number, b'\\0\\0\\0\\2{}' if self.late('forges') else b'x' * 64)\n"
    )
    writing = f'        while self.late("writes") or self.late("forges"):\n{writing}'
    growing = '        while self.late("grows"):\n            kept = [*locals().get("kept", []), bytearray(2**30)]\n'
    text = text.replace(
        '        while self.late("hangs"):\n', f'{closing}{writing}{growing}        while self.late("hangs"):\n'
    )
    (folder / "count_up_game.py").write_text(
        text.replace('"refuses", "position"', '"refuses", "position", "closes", "writes", "forges", "grows"')
    )
    (folder / "count_up_game.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: count-up-game\nVersion: 1\n"
    )
    (folder / "count_up_game.dist-info" / "entry_points.txt").write_text(
        "[arena.games]\ncount_up = count_up_game:GAME\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


def found(fault, limit=60.0, checks=CHECKS):
    return {finding.check: finding for finding in check_game(f"count_up(fault={fault})", 2, 0, limit, checks)}


@pytest.mark.system
def test_a_game_that_raises_hangs_exits_or_never_ends_gets_its_findings(plug_in):
    names = ["loads", *BY_NAME]
    for fault, limit, status, told in (
        ("apply", 60, FAILED, "ZeroDivisionError: count of nothing"),
        ("exit", 60, FAILED, "the game has ended its process (status 3)"),
        ("closes", 60, FAILED, "the game has closed files that are not its own"),
        ("writes", 60, FAILED, "or written to them"),
        ("forges", 60, FAILED, "or written to them"),
        ("grows", 60, FAILED, "MemoryError"),
        ("hangs", 2, FAILED, "it took too long"),
        ("endless", 60, FAILED, "a random match is not over after 20,000 plies"),
        ("ranks", 60, PASSED, "plies"),
    ):
        findings = found(fault, limit, CHECKS if status == FAILED else CHECKS[:1])
        assert list(findings) == names[: len(findings)]
        assert findings["ends"].status == status and told in findings["ends"].detail
        if status == FAILED:
            assert {finding.status for finding in itertools.islice(findings.values(), 2, None)} == {NOT_APPLICABLE}
    assert found("ranks", checks=[BY_NAME["ranks-and-returns"]])["ranks-and-returns"].status == FAILED
    findings = found("set_up")
    assert findings["loads"].status == FAILED and "KeyError: 'no board'" in findings["loads"].detail


@pytest.mark.system
def test_another_process_shows_what_depends_on_the_order_of_hashes(plug_in):
    check = BY_NAME["another-process"]
    assert found("none", checks=[check])[check.name].status == PASSED
    source = plug_in / "count_up_game.py"
    odd = source.read_text().replace("else None", "else [float(hash('chance'))] * self.game.players")
    source.write_text(odd)
    finding = found("none", checks=[check])[check.name]
    assert finding.status == FAILED and "is another one" in finding.detail and finding.where


@pytest.mark.system
def test_interpreted_matches_show_rules_that_are_compiled_into_others(tmp_path, monkeypatch):
    ours = Path(connect_four.__file__).parent
    package = tmp_path / "odd_four"
    shutil.copytree(ours, package, ignore=shutil.ignore_patterns("__pycache__"))
    for file in package.glob("*.py"):
        file.write_text(file.read_text().replace("connect_four", "odd_four"))
    with (package / "rules.py").open("a") as rules:
        rules.write("\n\nfrom engine.kernel import COMPILED\n\n_usual = set_up\n\n\n")
        rules.write("def set_up(state, *given):\n    _usual(state, *given)\n    state.seat = int(not COMPILED)\n")
    (tmp_path / "odd_four.dist-info").mkdir()
    (tmp_path / "odd_four.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-four\nVersion: 1\n")
    (tmp_path / "odd_four.dist-info" / "entry_points.txt").write_text("[arena.games]\nodd_four = odd_four:GAME\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    checks = [BY_NAME["another-process"], BY_NAME["interpreted"]]
    findings = {finding.check: finding for finding in check_game("odd_four", 2, checks=checks)}
    assert findings["another-process"].status == PASSED
    assert findings["interpreted"].status == FAILED
    assert "interpreted" in findings["interpreted"].detail


def test_a_game_that_is_not_installed_cannot_be_compared_with_another_process(monkeypatch):
    assert run_check(BY_NAME["another-process"], made(monkeypatch)).status == NOT_APPLICABLE


def test_speed_is_told():
    finding = run_check(BY_NAME["speed"], engine.load_game("connect_four"))
    assert (
        finding.status == PASSED and "random matches/s step by step" in finding.detail and "compiled" in finding.detail
    )


def test_speed_is_never_a_failure_also_when_there_is_no_time_to_measure_it():
    @contextmanager
    def no_time():
        raise TimeUpError
        yield

    (check,) = (each for each in CHECKS if each.group == SPEED)
    found = run_check(check, engine.load_game("epicycle", 2), limit=no_time)
    assert (found.status, found.detail) == (PASSED, "not known: it took too long to measure")
