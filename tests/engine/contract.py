"""What every game promises. A test class with a `game` fixture that inherits from these runs all of it."""

import copy
import itertools
import pickle
import random
from collections import Counter
from statistics import mean, stdev
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine import CHANCE, TERMINAL, Game, State
from engine.chance import new_rng
from engine.observation import Symmetry
from engine.state import KernelState
from tests.engine.matches import finished, plies, stops, stretched, walk
from tests.engine.vectors import choices

ENDINGS = {"normal", "cap", "repetition", "full board"}
SEEDS = st.integers(0, 2**32 - 1)
NO_WHOLE_NUMBER = [
    None,
    True,
    False,
    0.0,
    1.0,
    float("nan"),
    "0",
    b"0",
    "",
    [0],
    (0,),
    {},
    object(),
    np.zeros(2),
    np.array([1]),
]


def snapshot(state: State) -> dict[str, Any]:
    """Return all that can be asked of a state."""
    seen = {
        "who": state.current_player(),
        "legal": state.legal_actions(),
        "outcomes": state.chance_outcomes(),
        "rolling": state.rolling_seat(),
        "history": state.history(),
        "scores": state.scores(),
        "ended": state.ended,
        "drawing": str(state),
    }
    if state.game.position:
        seen["position"] = state.position
    if state.is_terminal():
        seen |= {"ranks": state.ranks(), "returns": state.returns()}
    return seen


def without_history(seen: dict[str, Any]) -> dict[str, Any]:
    """Return a snapshot without what a position string leaves out: the last play, and which tie ended the match."""
    return {key: value for key, value in seen.items() if key not in ("history", "drawing", "ended")}


def probable(sample: list[float], expected: float) -> bool:
    """Return whether a sample's mean lies within five standard errors of what is expected, and a little."""
    spread = stdev(sample)
    return abs(mean(sample) - expected) <= 5 * spread / len(sample) ** 0.5 + 3 / len(sample)


def observes(game: Game) -> bool:
    """Return whether a game has observations."""
    try:
        game.observation_spec()
    except engine.UnsupportedError:
        return False
    return True


def changed(state: State, before: State, twin: State, symmetry: Symmetry) -> int:
    """Return what leads the twin of `before` to where it looks as `state` does, changed by a symmetry."""
    last = state.history()[-1]
    if not before.is_chance_node():
        return int(symmetry.actions[last])
    wanted, weight = state.observe(0)[symmetry.entries], dict(before.chance_outcomes())[last]
    alike = (each for each, w in twin.chance_outcomes() if w == weight)
    return next(each for each in alike if np.array_equal(twin.child(each).observe(0), wanted))


class GameContract:
    """For every game, compiled or plain."""

    def test_the_node_tells_who_is_to_act(self, game: Game) -> None:
        for state in walk(game, 1):
            who = state.current_player()
            assert who in (CHANCE, TERMINAL, *range(game.players))
            assert state.is_chance_node() == (who == CHANCE)
            assert state.is_terminal() == (who == TERMINAL)
            if who == CHANCE:
                assert -1 <= state.rolling_seat() < game.players

    def test_legal_actions_are_ascending_and_belong_to_decision_nodes_alone(self, game: Game) -> None:
        for state in walk(game, 2):
            legal = state.legal_actions()
            assert bool(legal) == (state.current_player() >= 0)
            assert all(type(action) is int and 0 <= action < game.num_distinct_actions for action in legal)
            assert legal == sorted(set(legal))

    def test_changing_a_list_that_was_handed_out_changes_nothing(self, game: Game) -> None:
        for state in stops(game, 3):
            before = snapshot(state)
            state.legal_actions().clear()
            state.chance_outcomes().clear()
            state.history().append(0)
            assert snapshot(state) == before

    def test_chance_outcomes_are_different_and_weighted_by_positive_integers(self, game: Game) -> None:
        for state in stops(game, 4):
            outcomes = state.chance_outcomes()
            assert state.chances() == (
                [outcome for outcome, _ in outcomes],
                list(itertools.accumulate(weight for _, weight in outcomes)),
            )
            assert bool(outcomes) == state.is_chance_node()
            assert len({outcome for outcome, _ in outcomes}) == len(outcomes)
            assert all(type(outcome) is int and type(weight) is int and weight > 0 for outcome, weight in outcomes)

    def test_every_action_and_outcome_is_written_and_read_back(self, game: Game) -> None:
        for state in stops(game, 5):
            numbers = choices(state) if state.is_chance_node() else range(game.num_distinct_actions)
            texts = [state.action_to_string(number) for number in numbers]
            assert len(set(texts)) == len(texts)
            assert [state.string_to_action(text) for text in texts] == list(numbers)
            assert all(text and text.split() == [text] for text in texts)

    def test_a_number_that_is_no_action_has_no_text(self, game: Game) -> None:
        for number in (-1, game.num_distinct_actions):
            with pytest.raises(engine.NotationError):
                next(state for state in walk(game, 5) if not state.is_chance_node()).action_to_string(number)

    @given(text=st.text(max_size=12))
    @settings(max_examples=25)
    def test_a_text_is_notation_or_refused(self, game: Game, text: str) -> None:
        state = game.new_initial_state()
        try:
            number = state.string_to_action(text)
        except engine.NotationError:
            return
        assert state.action_to_string(number) == text

    def test_actions_that_are_not_legal_are_refused_and_change_nothing(self, game: Game) -> None:
        for state in stops(game, 6):
            before = snapshot(state)
            allowed = choices(state)
            outside = [
                -5,
                -4,
                -1,
                game.num_distinct_actions,
                max(allowed, default=0) + 1,
                2**31,
                2**63,
                -(2**70),
                10**5000,
            ]
            for action in {*range(game.num_distinct_actions), *outside} - set(allowed):
                with pytest.raises(engine.IllegalActionError):
                    state.apply_action(action)
            assert snapshot(state) == before

    def test_what_is_no_whole_number_is_refused_and_changes_nothing(self, game: Game) -> None:
        for state in stops(game, 7):
            before = snapshot(state)
            for thing in NO_WHOLE_NUMBER:
                with pytest.raises(engine.IllegalActionError) as caught:
                    state.apply_action(thing)
                assert len(str(caught.value).splitlines()) == 1, thing
            assert snapshot(state) == before

    def test_a_refusal_names_the_legal_actions(self, game: Game) -> None:
        state = next(state for state in walk(game, 7) if state.current_player() >= 0)
        with pytest.raises(engine.IllegalActionError) as caught:
            state.apply_action(-1)
        assert set(map(state.action_to_string, state.legal_actions())) <= set(str(caught.value).split())

    def test_whole_numbers_of_numpy_are_as_good_as_pythons(self, game: Game) -> None:
        for state in stops(game, 8):
            for choice in choices(state)[:3]:
                child = state.clone()
                child.apply_action(np.int32(choice))
                assert snapshot(child) == snapshot(state.child(choice))
                assert type(child.history()[-1]) is int

    def test_a_child_leaves_its_parent_alone(self, game: Game) -> None:
        for state in stops(game, 9):
            before = snapshot(state)
            for choice in choices(state)[:20]:
                assert state.child(choice).history() == [*state.history(), choice]
            assert snapshot(state) == before

    @given(seed=SEEDS)
    @settings(max_examples=3)
    def test_a_clone_goes_its_own_way(self, game: Game, seed: int) -> None:
        rng = random.Random(seed)
        state = game.new_initial_state()
        while not state.is_terminal():
            before, clone = snapshot(state), state.clone()
            assert snapshot(clone) == before
            for _ in range(3):
                if not clone.is_terminal():
                    clone.apply_action(rng.choice(choices(clone)))
            assert snapshot(state) == before
            ahead = snapshot(clone)
            state.apply_action(rng.choice(choices(state)))
            assert snapshot(clone) == ahead

    def test_copies_and_deep_copies_are_clones(self, game: Game) -> None:
        for state in stops(game, 9):
            before = snapshot(state)
            for made in (copy.copy(state), copy.deepcopy(state), *copy.deepcopy([state])):
                assert type(made) is type(state) and made.game is state.game
                assert snapshot(made) == before
                if choices(made):
                    made.apply_action(choices(made)[0])
                assert snapshot(state) == before

    def test_equal_states_are_those_of_one_game_with_one_key(self, game: Game) -> None:
        seen = []
        for state in stops(game, 15):
            twin = game.new_initial_state()
            for action in state.history():
                twin.apply_action(action)
            assert twin == state == copy.copy(state) == pickle.loads(pickle.dumps(state))
            assert hash(twin) == hash(state) and twin.key == state.key
            assert state != state.history() and state not in seen
            seen.append(state)
        assert len(set(seen)) == len(seen)

    def test_states_of_another_game_are_never_equal(self, game: Game) -> None:
        for players in {game.type.min_players, game.type.max_players} - {game.players}:
            assert engine.load_game(game.spec, players).new_initial_state() != game.new_initial_state()

    def test_states_with_equal_keys_play_on_alike(self, game: Game) -> None:
        known: dict[object, State] = {}
        pairs = 0
        for seed in range(40):
            for ply, state in enumerate(walk(game, seed)):
                if ply > 12 or pairs > 5:
                    break
                other = known.setdefault(state.key, state.clone())
                if other.history() != state.history():
                    pairs += 1
                    self.plays_on_alike(state.clone(), other.clone(), random.Random(seed))

    def plays_on_alike(self, one: State, other: State, rng: random.Random) -> None:
        for _ in range(40):
            assert one == other and one.ended == other.ended
            assert without_history(snapshot(one)) == without_history(snapshot(other))
            if one.is_terminal():
                return
            choice = rng.choice(choices(one))
            one.apply_action(choice)
            other.apply_action(choice)

    def test_the_mask_marks_the_legal_actions(self, game: Game) -> None:
        for state in stops(game, 16):
            mask = state.legal_actions_mask()
            assert (mask.shape, mask.dtype) == ((game.num_distinct_actions,), np.bool_)
            assert np.flatnonzero(mask).tolist() == state.legal_actions()
            mask[:] = True
            assert state.legal_actions_mask().sum() == len(state.legal_actions())

    @given(seed=SEEDS)
    @settings(max_examples=2)
    def test_a_state_is_written_as_a_line_and_read_back(self, game: Game, seed: int) -> None:
        for state in stops(game, seed):
            text = state.serialize()
            assert text.isprintable()
            read = game.deserialize_state(text)
            assert (read, snapshot(read), read.serialize()) == (state, snapshot(state), text)
            if game.position and not state.is_terminal():
                moved = game.state_from_position(state.position)
                moved.apply_action(choices(moved)[-1])
                read = game.deserialize_state(moved.serialize())
                assert (read, read.history(), read.origin) == (moved, moved.history(), state.position)

    @given(data=st.data(), seed=SEEDS)
    @settings(max_examples=20)
    def test_a_garbled_line_is_refused_or_is_another_state(self, game: Game, data: st.DataObject, seed: int) -> None:
        text = data.draw(st.sampled_from([state.serialize() for state in stops(game, seed % 20)]))
        start = data.draw(st.integers(0, len(text)))
        put = data.draw(st.text(alphabet=sorted({*text, *'-x0123456789[]{}",.eE'}), max_size=3))
        try:
            read = game.deserialize_state(text[:start] + put + text[start + data.draw(st.integers(0, 3)) :])
        except engine.EngineError as error:
            assert len(str(error).splitlines()) == 1
            return
        assert read.game == game

    def test_a_game_with_bounds_tells_them_and_one_without_says_so(self, game: Game) -> None:
        if game.type.bounds is None:
            assert game.has_chance == game.explicit_chance
            for name in ("max_game_length", "max_chance_nodes", "max_chance_outcomes", "min_utility", "max_utility"):
                with pytest.raises(engine.UnsupportedError, match="does not tell"):
                    getattr(game, name)
            return
        assert game.max_game_length > 0
        assert -1 <= game.min_utility < game.max_utility <= 1
        assert game.has_chance == (game.max_chance_nodes > 0) == (game.max_chance_outcomes > 0)
        assert game.explicit_chance or not game.has_chance

    @given(seed=SEEDS)
    @settings(max_examples=4)
    def test_no_match_exceeds_the_bounds(self, game: Game, seed: int) -> None:
        for match in (walk(game, seed), stretched(game, seed)):
            nodes = 0
            for state in match:
                nodes = max(nodes, len(state.chance_outcomes()))
            actions, outcomes = plies(state)
            assert game.has_chance or not outcomes
            if game.type.bounds is not None:
                assert actions <= game.max_game_length
                assert outcomes <= game.max_chance_nodes and nodes <= game.max_chance_outcomes
                assert all(game.min_utility <= value <= game.max_utility for value in state.returns())

    @given(seed=SEEDS)
    @settings(max_examples=3)
    def test_history_replays_to_the_same_state(self, game: Game, seed: int) -> None:
        end = finished(game, seed)
        again = game.new_initial_state()
        for action in end.history():
            again.apply_action(action)
        assert snapshot(again) == snapshot(end)

    def test_a_pickled_state_plays_on_alike(self, game: Game) -> None:
        for state in stops(game, 10):
            copy = pickle.loads(pickle.dumps(state))
            assert copy.game == game
            assert snapshot(copy) == snapshot(state)
            for choice in choices(state)[:2]:
                assert snapshot(copy.child(choice)) == snapshot(state.child(choice))

    def test_results_are_told_after_the_end_and_not_before(self, game: Game) -> None:
        for state in walk(game, 11):
            if state.is_terminal():
                assert state.ended in ENDINGS
                assert state.legal_actions() == state.chance_outcomes() == []
            else:
                assert state.ended == ""
                for question in (state.ranks, state.returns):
                    with pytest.raises(engine.UnsupportedError):
                        question()

    @given(seed=SEEDS)
    @settings(max_examples=10)
    def test_ranks_count_the_seats_that_did_better_and_returns_follow_from_them(self, game: Game, seed: int) -> None:
        end = finished(game, seed)
        ranks, returns = end.ranks(), end.returns()
        assert [type(rank) for rank in ranks] == [int] * game.players
        assert ranks == [sum(other < rank for other in ranks) for rank in ranks]
        beaten = [sum(other > rank for other in ranks) for rank in ranks]
        tied = [ranks.count(rank) - 1 for rank in ranks]
        expected = [(2 * b + t) / (game.players - 1) - 1 for b, t in zip(beaten, tied, strict=True)]
        assert returns == pytest.approx(expected)
        assert sum(returns) == pytest.approx(0)
        mirrored = engine.returns_from_ranks([max(ranks) - rank for rank in ranks])
        assert [-value for value in mirrored] == returns
        assert all(-1 <= value <= 1 for value in returns)

    def test_scores_are_one_whole_number_a_seat_or_none_at_all(self, game: Game) -> None:
        for state in stops(game, 12):
            scores = state.scores()
            if game.type.score_unit is None:
                assert scores is None
            else:
                assert [type(score) for score in scores] == [int] * game.players

    @given(seed=SEEDS)
    @settings(max_examples=2)
    def test_positions_are_read_back(self, game: Game, seed: int) -> None:
        for state in stops(game, seed):
            if not game.position:
                with pytest.raises(engine.UnsupportedError):
                    _ = state.position
                continue
            text = state.position
            read = game.state_from_position(text)
            assert text == " ".join(text.split())
            assert without_history(snapshot(read)) == without_history(snapshot(state))
            assert bool(read.ended) == bool(state.ended)
            assert read.history() == []

    @given(data=st.data(), seed=SEEDS)
    @settings(max_examples=20)
    def test_a_garbled_position_is_refused_or_written_as_it_was_read(
        self, game: Game, data: st.DataObject, seed: int
    ) -> None:
        if not game.position:
            with pytest.raises(engine.UnsupportedError):
                game.state_from_position("")
            return
        text = data.draw(st.sampled_from([state.position for state in stops(game, seed % 20)]))
        start = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 2))
        put = data.draw(st.text(alphabet=sorted({*text, *"-x0123456789 \n"}), max_size=2))
        garbled = text[:start] + put + text[start + cut :]
        try:
            read = game.state_from_position(garbled)
        except engine.PositionError as error:
            assert error.field and error.why and len(str(error).splitlines()) == 1
            return
        assert read.position == garbled
        assert read.is_terminal() or choices(read)

    def test_an_observation_is_as_its_spec_says_or_the_game_has_none(self, game: Game) -> None:
        state = game.new_initial_state()
        if not observes(game):
            for ask in (game.observation_spec, lambda: state.observe(0)):
                with pytest.raises(engine.UnsupportedError, match="has no observations"):
                    ask()
            return
        spec = game.observation_spec()
        assert spec.version >= 1 and len(str(spec).splitlines()) == len({block.name for block in spec.blocks})
        assert all(block.help and block.size > 0 for block in spec.blocks)
        for state in stops(game, 24):
            before = snapshot(state)
            for seat in range(game.players):
                out = np.full(spec.size, np.nan, np.float32)
                assert state.observe(seat, out) is out
                assert np.all(spec.minimum <= out) and np.all(out <= spec.maximum)  # neither holds for what is left NaN
                again, of_clone = state.observe(seat), state.clone().observe(seat)
                assert (again.dtype, again.tobytes(), of_clone.tobytes()) == (np.float32, out.tobytes(), out.tobytes())
                again[:] = 2
                assert np.array_equal(state.observe(seat), out)
                assert game.deserialize_state(state.serialize()).observe(seat).tobytes() == out.tobytes()
            assert snapshot(state) == before
            if state.current_player() >= 0:
                assert np.array_equal(state.observe(), state.observe(state.current_player()))
            else:
                with pytest.raises(engine.UnsupportedError, match="say which seat"):
                    state.observe()
        no_seats: list[Any] = [-1, game.players, True, 0.0, "0"]
        for no_seat in no_seats:
            with pytest.raises(engine.ParameterError, match="is not a seat"):
                state.observe(no_seat)
        no_outs: list[Any] = [np.zeros(spec.size), np.zeros(spec.size + 1, np.float32), [0.0] * spec.size]
        for no_out in no_outs:
            with pytest.raises(engine.ParameterError, match="out must be"):
                state.observe(0, no_out)

    def test_seats_see_the_same_each_from_its_own_place(self, game: Game) -> None:
        for state in stops(game, 25) if observes(game) else ():
            spec = game.observation_spec()
            first = spec.split(state.observe(0))
            for seat in range(game.players):
                seen = spec.split(state.observe(seat))
                for block in spec.blocks:
                    axes = tuple(range(block.seat_axes))
                    turned = np.roll(first[block.name], (-seat,) * len(axes), axes)
                    assert np.array_equal(seen[block.name], turned), block.name

    def test_what_a_seat_sees_tells_positions_and_legal_actions_apart(self, game: Game) -> None:
        known: dict[bytes, object] = {}
        for seed in range(3) if observes(game) else ():
            for ply, state in enumerate(walk(game, seed)):
                if ply < 40 or ply % 7 == 0 or state.is_terminal():
                    where = state.position if game.position else tuple(state.history())
                    told = (where, state.legal_actions(), state.current_player())
                    assert known.setdefault(state.observe(game.players - 1).tobytes(), told) == told

    def test_actions_as_seats_see_them_are_the_same_ones_renumbered(self, game: Game) -> None:
        if not observes(game):
            return
        actions = list(range(game.num_distinct_actions))
        spec = game.observation_spec()
        assert spec.seen_actions(0, game.num_distinct_actions).tolist() == actions
        for seat in range(game.players):
            assert sorted(spec.seen_actions(seat, game.num_distinct_actions).tolist()) == actions

    def test_a_match_changed_by_a_symmetry_looks_and_goes_on_accordingly(self, game: Game) -> None:
        spec = game.observation_spec() if observes(game) else None
        for symmetry in spec.symmetries if spec else ():
            assert sorted(symmetry.entries) == list(range(spec.size))
            assert sorted(symmetry.actions) == list(range(game.num_distinct_actions))
            twin = game.new_initial_state()
            if not np.array_equal(twin.observe(0), twin.observe(0)[symmetry.entries]):
                continue  # the start itself is not symmetric
            before = twin.clone()
            for ply, state in enumerate(walk(game, 26)):
                if ply:
                    twin.apply_action(changed(state, before, twin, symmetry))
                assert np.array_equal(twin.observe(0), state.observe(0)[symmetry.entries])
                assert sorted(symmetry.actions[state.legal_actions()].tolist()) == twin.legal_actions()
                before = state.clone()
                if ply == 60:
                    break
            assert not state.is_terminal() or (state.ranks(), state.ended) == (twin.ranks(), twin.ended)

    def test_the_drawing_for_the_terminal_is_plain_text_in_80_columns(self, game: Game) -> None:
        for state in stops(game, 13):
            text = str(state)
            assert text.strip()
            assert all(line.isprintable() and len(line) <= 80 for line in text.splitlines())

    def test_every_legal_action_is_reached_by_clicks_of_its_own_on_parts_of_the_drawing(self, game: Game) -> None:
        for state in walk(game, 6):
            targets = state.targets()
            if targets is None or state.current_player() < 0:
                assert targets is None
                continue
            assert list(targets) == state.legal_actions()
            sequences = list(targets.values())
            beginnings = {parts[:length] for parts in sequences for length in range(1, len(parts))}
            assert len(set(sequences)) == len(sequences) and beginnings.isdisjoint(sequences)
            parts = {node.get("data-part") for node in ElementTree.fromstring(state.svg()).iter()}
            assert {part for sequence in sequences for part in sequence} <= parts

    def test_the_svg_is_one_well_formed_drawing_that_loads_nothing(self, game: Game) -> None:
        for state in stops(game, 14):
            try:
                svg = state.svg()
            except engine.UnsupportedError:
                assert not game.kernels
                continue
            root = ElementTree.fromstring(svg)
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert len(root.attrib["viewBox"].split()) == 4
            assert not any(element.tag.endswith(("script", "image", "foreignObject")) for element in root.iter())
            assert svg.count("http") == svg.count('xmlns="http://www.w3.org/2000/svg"') == 1
            assert state.clone().svg() == svg

    def test_a_game_describes_itself(self, game: Game) -> None:
        assert game.name == game.type.name
        assert game.type.min_players <= game.players <= game.type.max_players
        assert game.credit.designer and game.credit.source and game.credit.terms
        assert game.type.title and game.type.summary and game.type.rules_version >= 1
        assert game.default_opening == "none" or int(game.default_opening.removeprefix("random:")) > 0
        assert all(option.help for option in game.type.parameters)

    def test_the_canonical_spec_loads_the_same_game(self, game: Game) -> None:
        again = engine.load_game(game.spec, game.players)
        assert (again, again.spec, dict(again.params)) == (game, game.spec, dict(game.params))
        assert hash(again) == hash(game)
        assert pickle.loads(pickle.dumps(game)) == game
        changed = {o.name: game.params[o.name] for o in game.type.parameters if game.params[o.name] != o.default}
        assert engine.load_game(game.name, game.players, **changed) == game


class KernelContract:
    """For games whose rules are kernels."""

    def test_the_used_words_hold_the_whole_state(self, game: Game) -> None:
        for state in stops(game, 21):
            dirty = np.full_like(state.words, 0xABCDEF0123456789)
            game.compiled.copy_state(state.words, dirty)
            rng = random.Random(5)
            copy = KernelState(game, dirty)
            while not state.is_terminal():
                assert (copy.current_player(), choices(copy)) == (state.current_player(), choices(state))
                choice = rng.choice(choices(state))
                copy.apply_action(choice)
                state.apply_action(choice)
            assert (copy.position, copy.ranks(), copy.ended) == (state.position, state.ranks(), state.ended)

    def test_a_random_action_is_any_legal_one_equally_likely(self, game: Game) -> None:
        rng = new_rng(1)
        for state in stops(game, 22):
            legal = state.legal_actions()
            if legal:
                drawn = Counter(
                    int(game.compiled.random_action(state.record, rng, game.action_buffer))
                    for _ in range(200 * len(legal))
                )
                assert sorted(drawn) == legal
                assert all(100 < count < 300 for count in drawn.values())

    def test_sampled_outcomes_follow_their_weights(self, game: Game) -> None:
        rng = new_rng(2)
        for state in list(stops(game, 23))[:6]:
            if not state.is_chance_node():
                continue
            weights = dict(state.chance_outcomes())
            count = 40 * len(weights)
            drawn = Counter(int(game.compiled.sample_chance(state.record, rng)) for _ in range(count))
            assert set(drawn) <= set(weights)
            expected = {outcome: count * weight / sum(weights.values()) for outcome, weight in weights.items()}
            chi_square = sum((drawn[outcome] - mean) ** 2 / mean for outcome, mean in expected.items())
            freedom = len(weights) - 1
            assert abs(chi_square - freedom) <= 6 * (2 * freedom) ** 0.5 + 6

    def test_playouts_add_up_and_depend_on_the_seed_alone(self, game: Game) -> None:
        first, again = (engine.random_playouts(game, 50, seed=7) for _ in range(2))
        assert first.matches == sum(first.ended.values()) == 50
        assert set(first.ended) <= ENDINGS
        assert 0 <= first.actions <= first.plies
        assert first.rank_sums.shape == (game.players,)
        assert (first.actions, first.plies, first.ended) == (again.actions, again.plies, again.ended)
        assert first.rank_sums.tolist() == again.rank_sums.tolist()

    def test_compiled_playouts_agree_with_matches_played_step_by_step(self, game: Game) -> None:
        ends = [finished(game, seed) for seed in range(120)]
        playouts = engine.random_playouts(game, 4000, seed=8)
        assert probable([len(end.history()) for end in ends], playouts.plies / playouts.matches)
        for seat in range(game.players):
            assert probable([end.ranks()[seat] for end in ends], playouts.rank_sums[seat] / playouts.matches)
        for ending in {*playouts.ended, *(end.ended for end in ends)}:
            assert probable([end.ended == ending for end in ends], playouts.ended.get(ending, 0) / playouts.matches)
