"""ONNX models for tests of policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from bots.onnx_bot import metadata
from engine import Game

FLOAT = TensorProto.FLOAT


def weights_of(game: Game, seed: int = 0) -> np.ndarray:
    """Return random weights of a linear policy, (observation size, actions)."""
    shape = game.observation_spec().size, game.num_distinct_actions
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def linear(game: Game, seed: int = 0) -> bytes:
    """Return a model whose logits are the observation times `weights_of`."""
    weights = weights_of(game, seed)
    return model(
        [helper.make_node("MatMul", ["observation", "W"], ["logits"])],
        {"observation": (FLOAT, ["n", weights.shape[0]])},
        {"logits": (FLOAT, ["n", weights.shape[1]])},
        metadata(game),
        {"W": weights},
    )


def model(
    nodes: Sequence[Any],
    inputs: Mapping[str, tuple[int, list[Any]]],
    outputs: Mapping[str, tuple[int, list[Any]]],
    props: Mapping[str, str],
    arrays: Mapping[str, np.ndarray] | None = None,
) -> bytes:
    """Return a model of these nodes; inputs and outputs are (type, shape) by name."""
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info(name, *each) for name, each in inputs.items()],
        [helper.make_tensor_value_info(name, *each) for name, each in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in (arrays or {}).items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(made, dict(props))
    return bytes(made.SerializeToString())
