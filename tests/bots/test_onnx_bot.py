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
        (passed_on("legal_mask", MASKED, LOGITS, {}), "has a model without 'game' in its metadata"),
        (
            passed_on("legal_mask", MASKED, LOGITS, {"game": "connect_four"}),
            "a model without 'observation_version'",
        ),
        (passed_on("x", {"x": (FLOAT, ["n", 7])}, LOGITS), "has a model that takes x; it must take observation"),
        (
            passed_on("legal_mask", {**MASKED, "y": (FLOAT, [1])}, LOGITS),
            "model that takes legal_mask, observation, y; it",
        ),
        (
            passed_on("legal_mask", MASKED, {"q": (FLOAT, ["n", 7])}),
            "has a model that gives q; it must give",
        ),
        (
            passed_on("legal_mask", {**SEEN, "legal_mask": (INT, ["n", 7])}, {"logits": (INT, ["n", 7])}),
            "of tensor(int64)",
        ),
        (passed_on("legal_mask", {**SEEN, "legal_mask": (FLOAT, [7])}, {"logits": (FLOAT, [7])}), "must have 2"),
        (passed_on("legal_mask", {**SEEN, "legal_mask": (FLOAT, [4, 7])}, {"logits": (FLOAT, [4, 7])}), "batches of 4"),
    ],
)
def test_a_model_that_is_no_policy_is_refused_with_what_would_be_right(tmp_path, content, why):
    assert why in refusal(content, tmp_path)


def inside(node):
    """A loop around nodes, and a choice around the loop."""
    value, flag = helper.make_tensor_value_info, TensorProto.BOOL
    kept = helper.make_node("Identity", ["going"], ["goes"])
    body = helper.make_graph(
        [kept, node],
        "body",
        [value("i", INT, []), value("going", flag, []), value("before", FLOAT, ["n", 7])],
        [value("goes", flag, []), value("after", FLOAT, ["n", 7])],
    )
    loop = helper.make_node("Loop", ["often", "yes", "x"], ["looped"], body=body)
    there = helper.make_graph([loop], "then", [], [value("looped", FLOAT, ["n", 7])])
    other = helper.make_node("Identity", ["x"], ["same"])
    without = helper.make_graph([other], "else", [], [value("same", FLOAT, ["n", 7])])
    return helper.make_node("If", ["yes"], ["logits"], then_branch=there, else_branch=without)


ARRAYS = {
    "often": np.array(1, np.int64),
    "yes": np.array(True),
    "half": np.array(0.5, np.float32),
    "scale": np.array([0.1], np.float32),
}
CAST = helper.make_node("Cast", ["legal_mask"], ["x"], to=FLOAT)


def with_nodes(*nodes):
    return model([CAST, *nodes], MASKED, LOGITS, metadata(FOUR), ARRAYS)


@pytest.mark.parametrize(
    ("node", "operator"),
    [
        (helper.make_node("RandomNormalLike", ["x"], ["logits"], seed=3.0), "RandomNormalLike"),
        (helper.make_node("Dropout", ["x", "half", "yes"], ["logits"]), "Dropout"),
        (inside(helper.make_node("RandomUniformLike", ["before"], ["after"])), "RandomUniformLike"),
    ],
)
def test_a_model_that_draws_random_numbers_is_refused(tmp_path, node, operator):
    assert f"has a model that draws random numbers ({operator})" in refusal(with_nodes(node), tmp_path)


def test_a_function_of_the_model_that_draws_is_refused(tmp_path):
    content = load_model_from_string(with_nodes(helper.make_node("Blur", ["x"], ["logits"], domain="own")))
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    body = [helper.make_node("RandomNormalLike", ["a"], ["b"])]
    content.functions.append(helper.make_function("own", "Blur", ["a"], ["b"], body, imports[:1]))
    content.opset_import.append(imports[1])
    assert "draws random numbers (RandomNormalLike)" in refusal(content.SerializeToString(), tmp_path)


@pytest.mark.parametrize(
    "node",
    [
        helper.make_node("Dropout", ["x", "half"], ["logits"]),
        inside(helper.make_node("Mul", ["before", "scale"], ["after"])),
    ],
)
def test_a_model_with_the_same_structure_that_draws_nothing_plays(tmp_path, node):
    bot = make_bot(bot_of(with_nodes(node), tmp_path), FOUR, 0, 1)
    assert bot.choose(FOUR.new_initial_state()) == 0


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
