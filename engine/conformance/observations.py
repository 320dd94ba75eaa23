"""Checks of observations: layout, bounds, each seat's own view, symmetries, and what tensors tell apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.conformance.probe import NotApplicableError, Probe, expect, refused, same, unchanged
from engine.errors import ParameterError, UnsupportedError
from engine.game import Game, State
from engine.observation import ObservationSpec, Symmetry


def observes(game: Game) -> bool:
    """Return whether a game has observations."""
    try:
        game.observation_spec()
    except UnsupportedError:
        return False
    return True


def layout_of(probe: Probe) -> ObservationSpec:
    """Return the layout of a game's observations; raises `NotApplicableError` when it has none."""
    if not observes(probe.game):
        refused("observe(0)", UnsupportedError, probe.start().observe, 0)
        raise NotApplicableError("it has no observations")
    return probe.game.observation_spec()


def layout(probe: Probe) -> str:
    spec = layout_of(probe)
    expect(spec.version >= 1, f"the version is {spec.version}")
    names = [block.name for block in spec.blocks]
    expect(len({*names}) == len(names), f"two blocks have one name: {', '.join(names)}")
    for block in spec.blocks:
        expect(block.help and block.size > 0, f"block {block.name} is empty or has no help")
        expect(block.minimum < block.maximum, f"block {block.name} has bounds {block.minimum} to {block.maximum}")
    same("seat axes", [b.name for b in spec.blocks if {*b.shape[: b.seat_axes]} - {probe.game.players}], [])
    return f"{spec.size:,} entries in {len(names)} blocks"


def tensors(probe: Probe) -> None:
    spec = layout_of(probe)
    for state in probe.stops(24):
        with unchanged("observe()", state):
            for seat in range(probe.game.players):
                _look(probe, spec, state, seat)
        if state.current_player() >= 0:
            expect(
                np.array_equal(state.observe(), state.observe(state.current_player())), "observe() is another seat's"
            )
        else:
            refused("observe() when nobody is to move", UnsupportedError, state.observe)


def _look(probe: Probe, spec: ObservationSpec, state: State, seat: int) -> None:
    """Compare a seat's observation with its layout and with what it is in copies of the state."""
    out = np.full(spec.size, np.nan, np.float32)
    expect(state.observe(seat, out) is out, "observe(seat, out) does not return out")
    wrong = np.flatnonzero(~((spec.minimum <= out) & (out <= spec.maximum)))  # what is left NaN is wrong too
    if len(wrong):
        at, names = int(wrong[0]), [block.name for block in spec.blocks for _ in range(block.size)]
        bounds = f"[{spec.minimum[at]:g}, {spec.maximum[at]:g}]"
        expect(False, f"seat {seat}, block {names[at]}: entry {at} is {out[at]}, not in {bounds}")
    again = state.observe(seat)
    same("type and shape", (again.dtype, again.shape), (np.dtype(np.float32), (spec.size,)))
    for what, seen in (
        ("asked again", again),
        ("of a clone", state.clone().observe(seat)),
        ("of a state written and read", probe.game.deserialize_state(state.serialize()).observe(seat)),
    ):
        expect(seen.tobytes() == out.tobytes(), f"seat {seat}: the observation, {what}, is another one")
    again[:] = 2
    expect(np.array_equal(state.observe(seat), out), "changing an observation changes the next one")


def refusals(probe: Probe) -> None:
    size, state = layout_of(probe).size, probe.start()
    no_seats: list[Any] = [-1, probe.game.players, True, 0.0, "0"]
    for seat in no_seats:
        refused(f"observe({seat!r})", ParameterError, state.observe, seat)
    no_outs: list[Any] = [np.zeros(size), np.zeros(size + 1, np.float32), [0.0] * size]
    for out in no_outs:
        refused(f"out of type {type(out).__name__}", ParameterError, state.observe, 0, out)


def seats(probe: Probe) -> None:
    spec = layout_of(probe)
    for state in probe.stops(25):
        first = spec.split(state.observe(0))
        for seat in range(probe.game.players):
            seen = spec.split(state.observe(seat))
            for block in spec.blocks:
                axes = tuple(range(block.seat_axes))
                turned = np.roll(first[block.name], (-seat,) * len(axes), axes)
                expect(
                    np.array_equal(seen[block.name], turned),
                    f"block {block.name}: seat {seat} does not see what seat 0 sees, turned to its own place",
                )


def told_apart(probe: Probe) -> None:
    layout_of(probe)
    known: dict[bytes, object] = {}
    for seed in range(3):
        for ply, state in enumerate(probe.walk(seed)):
            if ply < 40 or ply % 7 == 0 or state.is_terminal():
                where = state.position if probe.game.position else None
                told = (where, state.legal_actions(), state.current_player())
                seen = known.setdefault(state.observe(probe.game.players - 1).tobytes(), told)
                same("another state with this observation: position, legal actions and seat", told, seen)


def seen_actions(probe: Probe) -> None:
    spec, count = layout_of(probe), probe.game.num_distinct_actions
    same("actions as seat 0 sees them", spec.seen_actions(0, count).tolist(), [*range(count)])
    for seat in range(probe.game.players):
        numbers = sorted(spec.seen_actions(seat, count).tolist())
        expect(numbers == [*range(count)], f"actions as seat {seat} sees them are not the same ones renumbered")


def symmetries(probe: Probe) -> str:
    spec = layout_of(probe)
    if not spec.symmetries:
        raise NotApplicableError("its observations name no symmetry")
    tried = 0
    for symmetry in spec.symmetries:
        places, actions = [*range(spec.size)], [*range(probe.game.num_distinct_actions)]
        expect(sorted(symmetry.entries) == places, f"{symmetry.name}: entries are not rearranged one by one")
        expect(sorted(symmetry.actions) == actions, f"{symmetry.name}: actions are not rearranged one by one")
        start = probe.start().observe(0)
        if np.array_equal(start, start[symmetry.entries]):  # else the start itself is not symmetric
            tried += 1
            _play_changed(probe, symmetry)
    return f"{tried} of {len(spec.symmetries)} keep the start and were played"


def _play_changed(probe: Probe, symmetry: Symmetry) -> None:
    """Play a match and its mirror image side by side."""
    twin = probe.game.new_initial_state()
    before = twin.clone()
    for ply, state in enumerate(probe.walk(26)):
        if ply:
            twin.apply_action(_changed(state, before, twin, symmetry))
        seen = np.array_equal(twin.observe(0), state.observe(0)[symmetry.entries])
        expect(seen, f"{symmetry.name}: the changed match is observed otherwise")
        legal = sorted(symmetry.actions[state.legal_actions()].tolist())
        same(f"{symmetry.name}: legal actions of the changed match", twin.legal_actions(), legal)
        before = state.clone()
        if state.is_terminal():
            same(f"{symmetry.name}: ranks", twin.ranks(), state.ranks())
            same(f"{symmetry.name}: how it ended", twin.ended, state.ended)
        if ply == 60:
            return


def _changed(state: State, before: State, twin: State, symmetry: Symmetry) -> int:
    """Return what leads the twin of `before` to where it looks as `state` does, changed by a symmetry."""
    last = state.history()[-1]
    if not before.is_chance_node():
        return int(symmetry.actions[last])
    wanted, weight = state.observe(0)[symmetry.entries], dict(before.chance_outcomes())[last]
    same_weight = (each for each, other in twin.chance_outcomes() if other == weight)
    found = next((each for each in same_weight if np.array_equal(twin.child(each).observe(0), wanted)), None)
    expect(found is not None, f"{symmetry.name}: no outcome of the changed match looks as outcome {last} does")
    assert found is not None
    return found
