"""Policies in ONNX files, run by onnxruntime: on one thread of the processor, optional and imported when one is named.

A model has an input `observation` (float32, (n, observation size)), may have `legal_mask` (bool or float32, (n,
actions)), and has an output `logits` (float, (n, actions)) or `action` (int64, (n,)); an output `value` is optional
(`PolicyBot.policy` says what each means). Its metadata hold the `game` and the `observation_version` it was trained on.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from bots.onnx_nodes import random_operator
from bots.policy import PolicyBot
from engine import Game, UnsupportedError

INPUTS = {"observation": ("tensor(float)",), "legal_mask": ("tensor(bool)", "tensor(float)")}
"""Types of inputs by name."""
OUTPUTS = {
    "logits": ("tensor(float)", "tensor(double)"),
    "action": ("tensor(int64)",),
    "value": ("tensor(float)", "tensor(double)"),
}
MOST_WORDS = 200
"""Letters of an error of onnxruntime that are shown."""
SETTINGS = {
    "session.load_model_format": "ONNX",
    "session.model_external_initializers_file_folder_path": "/nonexistent",  # weights are in the file, or refused
}


class Onnx(PolicyBot):
    """Play by a policy network in an ONNX file.

    Idea: one evaluation of the network for each move, without search. The file belongs to the bot: it is bundled by its
    content, which counts for the bot's identity, and its name does not.
    Source: ONNX, the Open Neural Network Exchange; run by onnxruntime (`pip install 'pyramid-arena[onnx]'`).
    Parameters: `file`, the model; `temperature`, 0 to 1000: 0 plays the action of the highest logit, above it one is
    drawn with the probability softmax(logits / temperature).
    Gives the output `value` of a model that has one as its expected returns. Deterministic on one machine; another
    processor may round otherwise.
    Cost: that of the network; 15 microseconds a move for two layers of 100, and loading it, for each match in a process
    of its own 50 ms.
    """

    name = "onnx"

    file: Annotated[str, "the model, an ONNX file"] = ""
    model: ClassVar[Path | None] = None
    """The file, set by a subclass, which is loaded as it is defined."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if cls.model is not None:
            opened(cls.model)

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """Refuse games that the model was not made for."""
        if cls.model is None:
            return f"plays {game.name} by a model; write onnx:file=model.onnx"
        return super().refusal(game) or opened(cls.model).misfit(game)

    def prepare(self) -> None:
        super().prepare()
        assert self.model is not None
        self._model = opened(self.model)

    def policy(self, observations: np.ndarray, legal_masks: np.ndarray) -> Any:
        return self._model.run(observations, legal_masks)


def metadata(game: Game) -> dict[str, str]:
    """Return what the metadata of a model for a game must hold, as `onnx.helper.set_model_props` takes it."""
    return {"game": game.name, "observation_version": str(game.observation_spec().version)}


class Tensor(NamedTuple):
    """An input or output of a model."""

    type: str
    shape: tuple[int | str | None, ...]


class Model:
    """A model that is loaded; raises `UnsupportedError` for one that is no policy."""

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        self._session = _session(content)
        self._check_draws(content)
        self.inputs = {each.name: Tensor(each.type, tuple(each.shape)) for each in self._session.get_inputs()}
        self.outputs = {each.name: Tensor(each.type, tuple(each.shape)) for each in self._session.get_outputs()}
        self.metadata: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
        self._check()
        self._asked = [name for name in ("logits", "action", "value") if name in self.outputs]
        if "logits" in self.outputs and "action" in self.outputs:
            self._asked.remove("action")
        self._masked = self.inputs.get("legal_mask")

    def _check_draws(self, content: bytes) -> None:
        """Refuse a model that draws random numbers: its moves would depend on what its process has played before."""
        try:
            drawn = random_operator(content)
        except ValueError as error:
            raise UnsupportedError(f"has a model that cannot be loaded: {error}") from None
        if drawn is not None:
            raise UnsupportedError(
                f"has a model that draws random numbers ({drawn}), so its moves do not follow from its seed; leave "
                "that out, and give a temperature"
            )

    def _check(self) -> None:
        for name in ("game", "observation_version"):
            if name not in self.metadata:
                raise UnsupportedError(
                    f"has a model without '{name}' in its metadata; add it by onnx.helper.set_model_props(model, "
                    "bots.onnx_bot.metadata(game))"
                )
        if "observation" not in self.inputs or not self.inputs.keys() <= INPUTS.keys():
            raise UnsupportedError(
                f"has a model that takes {_listed(self.inputs)}; it must take observation, and may take legal_mask"
            )
        if not self.outputs.keys() & {"logits", "action"}:
            raise UnsupportedError(f"has a model that gives {_listed(self.outputs)}; it must give logits or action")
        for name, tensor in {**self.inputs, **self.outputs}.items():
            types, axes = {**INPUTS, **OUTPUTS}.get(name), 1 if name == "action" else 2
            if types is not None and tensor.type not in types:
                raise UnsupportedError(f"has a model with {name} of {tensor.type}; it must be {' or '.join(types)}")
            if types is not None and len(tensor.shape) != axes and name != "value":
                raise UnsupportedError(f"has a model with {name} of {len(tensor.shape)} axes; it must have {axes}")
            if types is not None and tensor.shape and isinstance(tensor.shape[0], int) and tensor.shape[0] != 1:
                raise UnsupportedError(f"has a model with {name} in batches of {tensor.shape[0]}; must be free, or 1")

    def misfit(self, game: Game) -> str | None:
        """Return why the model is not for a game, in words that follow the bot's name; None when it is."""
        spec = game.observation_spec()
        if self.metadata["game"] != game.name:
            return f"plays {self.metadata['game'][:MOST_WORDS]}, as its model's metadata say, not {game.name}"
        if self.metadata["observation_version"] != str(spec.version):
            version = self.metadata["observation_version"][:MOST_WORDS]
            return (
                f"has a model for version {version} of the observations of {game.name}, which now have {spec.version}"
            )
        sizes = {"observation": spec.size, "legal_mask": game.num_distinct_actions, "logits": game.num_distinct_actions}
        for name, tensor in {**self.inputs, **self.outputs}.items():
            if name in sizes and isinstance(tensor.shape[1], int) and tensor.shape[1] != sizes[name]:
                return (
                    f"has a model with {tensor.shape[1]} entries of {name}; {game.name} with {game.players} players "
                    f"has {sizes[name]}"
                )
        return None

    def run(self, observations: np.ndarray, legal_masks: np.ndarray) -> Any:
        """Return what `PolicyBot.policy` does."""
        fed = {"observation": observations}
        if self._masked is not None:
            fed["legal_mask"] = legal_masks if "bool" in self._masked.type else legal_masks.astype(np.float32)
        answers = self._session.run(self._asked, fed)
        return answers[0] if len(answers) == 1 else tuple(answers)


@functools.cache
def opened(path: Path) -> Model:
    """Return the model in a file, loaded once in a process; raises `UnsupportedError` in one line."""
    return Model(path)


def _session(content: bytes) -> Any:
    """Return a session of onnxruntime that starts no thread; raises `UnsupportedError`."""
    try:
        import onnxruntime
    except ImportError:
        raise UnsupportedError("needs the package onnxruntime: pip install 'pyramid-arena[onnx]'") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 4
    for key, value in SETTINGS.items():
        options.add_session_config_entry(key, value)
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # it has an exception type for each of its codes
        why = " ".join(str(error).split())
        if "external data" in why.lower():
            why = "it keeps weights in other files; save it as one file"
        raise UnsupportedError(f"has a model that cannot be loaded: {why[:MOST_WORDS]}") from None


def _listed(tensors: dict[str, Tensor]) -> str:
    return ", ".join(sorted(tensors))[:MOST_WORDS] or "nothing"
