"""Train a small policy against a bot with NumPy alone, and write it as an ONNX file. Run from any folder:

python train.py --game connect_four --opponents greedy --updates 1000 --out policy.onnx

Proximal policy optimisation (Schulman et al., 2017) on matches that `BatchEnv` steps with the opponents inside. Matches
begin with none to four random moves (`--opening`): else the network learns one line of play that beats a bot without
chance, and is lost when a tournament begins otherwise. The same seed and options give the same file on the same
machine. With `OPENBLAS_NUM_THREADS=1` in the environment it takes less time: the matrices are small.
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from bots.batch import policy
from bots.onnx_bot import metadata
from engine import Game, load_game
from engine.batch import BatchEnv

MATCHES = 128  # at a time
STEPS = 32  # of each match between two updates
PASSES, MINIBATCH = 3, 1024
RATE = 1e-3
CLIP = 0.2  # how far a probability may move in one update
TRACE = 0.95  # how far advantages look ahead
ENTROPY = 0.01


class Network:
    """Two hidden layers, then a logit for each action and the expected return."""

    def __init__(self, size: int, actions: int, hidden: int, rng: np.random.Generator) -> None:
        shapes = [(size, hidden), (hidden, hidden), (hidden, actions + 1)]
        scales = [np.sqrt(2 / size), np.sqrt(2 / hidden), 0.01]
        weights = [rng.normal(0, scale, shape) for scale, shape in zip(scales, shapes, strict=True)]
        biases = [np.zeros(shape[1]) for shape in shapes]
        self.parameters = [array.astype(np.float32) for array in (*weights, *biases)]
        self.moments = [np.zeros_like(array) for array in self.parameters * 2]
        self.updates = 0

    def forward(self, seen: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return the probabilities of actions, the values, and the layers that `step` needs."""
        w1, w2, w3, b1, b2, b3 = self.parameters
        first = np.maximum(seen @ w1 + b1, 0)
        second = np.maximum(first @ w2 + b2, 0)
        out = second @ w3 + b3
        logits = np.where(masks, out[:, :-1], -np.inf)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True), np.tanh(out[:, -1]), [seen, first, second]

    def step(self, layers: list[np.ndarray], slope: np.ndarray, rate: float) -> None:
        """Go a step of Adam (Kingma and Ba, 2015) down, given the loss's slope by the last layer's outputs."""
        of_weights: list[np.ndarray] = []
        of_biases: list[np.ndarray] = []
        for number in (2, 1, 0):
            of_weights.insert(0, layers[number].T @ slope)
            of_biases.insert(0, slope.sum(axis=0))
            if number:
                slope = (slope @ self.parameters[number].T) * (layers[number] > 0)
        self.updates += 1
        count = len(self.parameters)
        for at, change in enumerate(of_weights + of_biases):
            mean, square = self.moments[at], self.moments[at + count]
            mean += 0.1 * (change - mean)
            square += 0.001 * (change * change - square)
            bias = np.sqrt(1 - 0.999**self.updates) / (1 - 0.9**self.updates)
            self.parameters[at] -= np.float32(rate * bias) * mean / (np.sqrt(square) + 1e-8)


class Matches:
    """Matches stepped together: an equal share against each bot, after each number of random moves up to the most."""

    def __init__(self, game: Game, opponents: list[str], most_random: int, seed: int) -> None:
        kinds = list(itertools.product(opponents, range(most_random + 1)))
        self.batches = []
        for number, (spec, opening) in enumerate(kinds):
            seats = {seat: policy(spec, game) for seat in range(1, game.players)}
            share = max(MATCHES // len(kinds), 2)
            batch = BatchEnv(game, share, seed + number, opponents=seats, rotate="place", opening=opening)
            self.batches.append(batch)

    def reset(self) -> tuple[np.ndarray, ...]:
        return joined([batch.reset() for batch in self.batches])

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, ...]:
        parts = np.split(actions, len(self.batches))
        return joined([batch.step(part) for batch, part in zip(self.batches, parts, strict=True)])


def joined(parts: list[Any]) -> tuple[np.ndarray, ...]:
    """Join what batches return, array by array, in arrays of their own."""
    return tuple(map(np.concatenate, zip(*parts, strict=True)))


def train(game: Game, matches: Matches, updates: int, hidden: int, seed: int) -> Network:
    """Return a network that was trained in matches against bots."""
    rng = np.random.default_rng(seed)
    seen, masks, seats = matches.reset()
    count = len(seen)
    network = Network(seen.shape[1], masks.shape[1], hidden, rng)
    rows = np.arange(count)
    won, ended = 0, 0
    for update in range(1, updates + 1):
        kept: list[list[np.ndarray]] = []
        for _ in range(STEPS):
            odds, values, _ = network.forward(seen, masks)
            actions = (odds.cumsum(axis=1) > rng.random((count, 1)) * odds.sum(axis=1, keepdims=True)).argmax(axis=1)
            kept.append([seen, masks, actions, odds[rows, actions], values])
            mine = seats
            seen, masks, seats, returns, done = matches.step(actions)
            kept[-1] += [returns[rows, mine], done]
            won, ended = won + int((kept[-1][-2] > 0).sum()), ended + int(done.sum())
        learn(network, kept, network.forward(seen, masks)[1], rng, RATE * (1 - (update - 1) / updates))
        if update % max(updates // 10, 1) == 0:
            print(f"update {update}: {won / max(ended, 1):.3f} of {ended} matches won", flush=True)
            won, ended = 0, 0
    return network


def learn(
    network: Network, kept: list[list[np.ndarray]], value: np.ndarray, rng: np.random.Generator, rate: float
) -> None:
    """Update the network by steps of all matches; `value` is what they are worth after the last one."""
    advantages, advantage = [], np.zeros(len(value))
    for *_, expected, returned, done in reversed(kept):
        advantage = np.where(done, 0, advantage)
        advantage = np.where(done, returned, value) - expected + TRACE * advantage
        advantages.append(advantage)
        value = expected
    seen, masks, actions, chances, expected, _, _ = (np.concatenate(each) for each in zip(*kept, strict=True))
    gains = np.concatenate(advantages[::-1])
    targets = gains + expected
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    for _ in range(PASSES):
        order = rng.permutation(len(gains))
        for part in np.split(order, range(MINIBATCH, len(order), MINIBATCH)):
            odds, values, layers = network.forward(seen[part], masks[part])
            rows = np.arange(len(part))
            ratio = odds[rows, actions[part]] / chances[part]
            gain = gains[part]
            inside = np.where(gain > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
            slope = odds * (inside * gain * ratio)[:, None]
            slope[rows, actions[part]] -= inside * gain * ratio
            logs = np.log(odds + 1e-12)
            slope += ENTROPY * odds * (logs - (odds * logs).sum(axis=1, keepdims=True))
            worth = (values - targets[part]) * (1 - values**2)
            whole = np.concatenate([slope, worth[:, None]], axis=1) / len(part)
            network.step(layers, whole.astype(np.float32), rate)


def write(network: Network, game: Game, path: str) -> None:
    """Write the network as a model that `onnx:file=...` plays."""
    actions = game.num_distinct_actions
    names = ["w1", "w2", "w3", "b1", "b2", "b3"]
    nodes = [
        helper.make_node("Gemm", ["observation", "w1", "b1"], ["h1"]),
        helper.make_node("Relu", ["h1"], ["r1"]),
        helper.make_node("Gemm", ["r1", "w2", "b2"], ["h2"]),
        helper.make_node("Relu", ["h2"], ["r2"]),
        helper.make_node("Gemm", ["r2", "w3", "b3"], ["out"]),
        helper.make_node("Split", ["out", "sizes"], ["logits", "score"], axis=1),
        helper.make_node("Tanh", ["score"], ["value"]),
    ]
    constants = [numpy_helper.from_array(array, name) for name, array in zip(names, network.parameters, strict=True)]
    constants.append(numpy_helper.from_array(np.array([actions, 1]), "sizes"))
    size = game.observation_spec().size
    entries = {"observation": size, "logits": actions, "value": 1}
    if game.players > 2:
        del entries["value"]  # the expected returns of the others are not known
    tensors = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", n]) for name, n in entries.items()}
    outputs = [tensor for name, tensor in tensors.items() if name != "observation"]
    graph = helper.make_graph(nodes, "policy", [tensors["observation"]], outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, metadata(game))
    onnx.checker.check_model(model)
    onnx.save(model, path)


def main() -> None:
    """Train and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="connect_four")
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--opponents", nargs="+", default=["greedy"])
    parser.add_argument("--opening", type=int, default=4, help="most random moves at the beginning of a match")
    parser.add_argument("--updates", type=int, default=1000)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="policy.onnx")
    given = parser.parse_args()
    game = load_game(given.game, given.players)
    matches = Matches(game, given.opponents, given.opening, given.seed)
    write(train(game, matches, given.updates, given.hidden, given.seed), game, given.out)


if __name__ == "__main__":
    main()
