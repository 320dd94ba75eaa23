"""ONNX models as bots: what is asked of a model, and what refuses one that is no policy, or not for a game."""

import builtins

import numpy as np
import pytest
from onnx import TensorProto, helper, load_model_from_string

import engine
from bots import make_bot
from bots.onnx_bot import Onnx, metadata
from engine import UnsupportedError
from tests.bots.matches import random_walk
from tests.support.policies import FLOAT, linear, model, weights_of

FOUR = engine.load_game("connect_four", 2)
SIZE = FOUR.observation_spec().size
BOOL, INT = TensorProto.BOOL, TensorProto.INT64
SEEN = {"observation": (FLOAT, ["n", SIZE])}
MASKED = {**SEEN, "legal_mask": (FLOAT, ["n", 7])}
LOGITS = {"logits": (FLOAT, ["n", 7])}


def bot_of(content, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    return type("Mine", (Onnx,), {"model": path, "__module__": __name__})


def refusal(content, tmp_path):
    with pytest.raises(UnsupportedError) as caught:
        bot_of(content, tmp_path)
    text = str(caught.value)
    assert len(text) < 400
    return text


def passed_on(name, inputs, outputs, props=None):
    """A model that gives its input `name` as its first output, or two."""
    nodes = [helper.make_node("Identity", [name], [output]) for output in outputs]
    return model(nodes, inputs, outputs, metadata(FOUR) if props is None else props)


def test_a_model_plays_the_action_that_its_weights_rate_highest(tmp_path):
    kind, weights = bot_of(linear(FOUR, 3), tmp_path), weights_of(FOUR, 3)
    seats = [make_bot(kind, FOUR, seat, 1) for seat in range(2)]
    for state in random_walk(FOUR, seed=2, longest=30):
        logits = state.observe() @ weights
        legal = state.legal_actions()
        assert seats[state.current_player()].choose(state) == max(legal, key=lambda action: logits[action])


@pytest.mark.parametrize("kind", [FLOAT, BOOL])
def test_a_model_may_take_the_mask_and_give_values(tmp_path, kind):
    inputs = {**SEEN, "legal_mask": (kind, ["n", 7])}
    nodes = [
        helper.make_node("Cast", ["legal_mask"], ["logits"], to=FLOAT),
        helper.make_node("ReduceMean", ["logits"], ["value"], axes=[1]),
    ]
    outputs = {**LOGITS, "value": (FLOAT, ["n", 1])}
    bot = make_bot(bot_of(model(nodes, inputs, outputs, metadata(FOUR)), tmp_path), FOUR, 0, 1)
    state = FOUR.new_initial_state()
    for _ in range(6):
        state.apply_action(0)
    assert bot.choose(state) == 1
    np.testing.assert_allclose(bot.evaluation, [6 / 7, -6 / 7], rtol=1e-6)


def test_a_model_may_give_actions(tmp_path):
    nodes = [helper.make_node("ArgMax", ["legal_mask"], ["action"], axis=1, keepdims=0)]
    content = model(nodes, MASKED, {"action": (INT, ["n"])}, metadata(FOUR))
    assert make_bot(bot_of(content, tmp_path), FOUR, 0, 1).choose(FOUR.new_initial_state()) == 0


@pytest.mark.parametrize("content", [b"", b"hello", linear(FOUR)[:1000], linear(FOUR)[:-40]])
def test_a_file_that_is_no_whole_model_is_refused(tmp_path, content):
    assert refusal(content, tmp_path).startswith("has a model that cannot be loaded: [ONNXRuntimeError]")


@pytest.mark.parametrize("where", ["/etc/passwd", "../secret.bin", "weights.bin"])
def test_weights_in_other_files_are_refused_wherever_they_lie(tmp_path, where, monkeypatch):
    content = load_model_from_string(linear(FOUR))
    weights = content.graph.initializer[0]
    (tmp_path / "weights.bin").write_bytes(weights.raw_data)
    (tmp_path.parent / "secret.bin").write_bytes(weights.raw_data)
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    entry = weights.external_data.add()
    entry.key, entry.value = "location", where
    monkeypatch.chdir(tmp_path)
    told = refusal(content.SerializeToString(), tmp_path)
    assert told == "has a model that cannot be loaded: it keeps weights in other files; save it as one file"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (passed_on("legal_mask", MASKED, LOGITS, {}), "has no 'game' in its metadata"),
        (passed_on("legal_mask", MASKED, LOGITS, {"game": "connect_four"}), "has no 'observation_version' in its"),
        (passed_on("x", {"x": (FLOAT, ["n", 7])}, LOGITS), "takes x; it must take observation"),
        (passed_on("legal_mask", {**MASKED, "y": (FLOAT, [1])}, LOGITS), "takes legal_mask, observation, y; it must"),
        (passed_on("legal_mask", MASKED, {"q": (FLOAT, ["n", 7])}), "gives q; it must give logits or action"),
        (passed_on("legal_mask", {**SEEN, "legal_mask": (INT, ["n", 7])}, {"logits": (INT, ["n", 7])}), "of type"),
        (passed_on("legal_mask", {**SEEN, "legal_mask": (FLOAT, [7])}, {"logits": (FLOAT, [7])}), "must have 2"),
        (passed_on("legal_mask", {**SEEN, "legal_mask": (FLOAT, [4, 7])}, {"logits": (FLOAT, [4, 7])}), "batches of 4"),
    ],
)
def test_a_model_that_is_no_policy_is_refused_with_what_would_be_right(tmp_path, content, why):
    assert why in refusal(content, tmp_path)


def test_a_model_is_refused_by_games_that_it_was_not_made_for(tmp_path):
    kind = bot_of(linear(FOUR), tmp_path)
    assert kind.refusal(FOUR) is None
    assert kind.refusal(engine.load_game("epicycle", 2)) == (
        "plays connect_four, as its model's metadata say, not epicycle"
    )
    smaller = {"observation": (FLOAT, ["n", 4]), "legal_mask": (FLOAT, ["n", 7])}
    assert bot_of(passed_on("legal_mask", smaller, LOGITS), tmp_path / "..").refusal(FOUR) == (
        f"has a model with 4 entries of observation; connect_four with 2 players has {SIZE}"
    )


def test_a_model_for_other_observations_of_the_game_is_refused(tmp_path):
    props = {**metadata(FOUR), "observation_version": "7"}
    kind = bot_of(passed_on("legal_mask", MASKED, LOGITS, props), tmp_path)
    assert kind.refusal(FOUR) == "has a model for version 7 of the observations of connect_four, which now have 1"


def test_without_onnxruntime_one_line_says_what_to_install(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == "onnxruntime":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert refusal(linear(FOUR), tmp_path) == "needs the package onnxruntime: pip install 'pyramid-arena[onnx]'"
