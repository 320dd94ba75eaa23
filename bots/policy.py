"""The base class of bots that play by a policy, such as a network: observations and legal masks in, logits out."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any

import numpy as np

from bots.base import Between, Bot
from engine import Game, State, UnsupportedError


class PolicyBot(Bot):
    """Play what a policy says: the best legal action, or one drawn by its probability.

    A subclass gives `policy`, as a method or as a `staticmethod` around any callable. Files such as weights are listed
    in `BUNDLE_FILES` of its module and loaded when the module is, or in `prepare` (which calls this class's own).
    Actions are numbered as the seat sees them (`ObservationSpec.seen_actions`): in most games as everywhere.
    `temperature` is 0 for the action of the highest logit, the first of equals; above it, an action is drawn by `rng`
    with the probability softmax(logits / temperature).
    """

    temperature: Annotated[float, Between(0.0, 1000.0), "0 = the best action; above, drawn by softmax"] = 0.0

    @abstractmethod
    def policy(self, observations: np.ndarray, legal_masks: np.ndarray) -> Any:
        """Return logits, floats of shape (n, actions), or actions, whole numbers of shape (n,).

        `observations` are float32 of shape (n, observation size), `legal_masks` bools of shape (n, actions). Logits of
        actions that are not legal mean nothing. Actions are played as they are, whatever the temperature. A pair
        (either, values) gives expected returns too, from -1 to 1: of shape (n, players), for the seat that observes and
        the others in the order of turns, or with two players its own alone, (n,) or (n, 1).
        """

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """Refuse games without observations too."""
        try:
            game.observation_spec()
        except UnsupportedError:
            return super().refusal(game) or f"plays by observations, and {game.name} has none"
        return super().refusal(game)

    def prepare(self) -> None:
        """Make the arrays of a batch of one."""
        spec, actions = self.game.observation_spec(), self.game.num_distinct_actions
        self._observation = np.zeros((1, spec.size), np.float32)
        self._mask = np.zeros((1, actions), np.bool_)
        self._seen = spec.seen_actions(self.seat, actions)
        self._own = np.argsort(self._seen)

    def choose(self, state: State) -> int:
        state.observe(self.seat, self._observation[0])
        self._mask[:] = False
        self._mask[0, self._seen[state.legal_actions()]] = True
        answer = self.policy(self._observation, self._mask)
        if isinstance(answer, tuple):
            answer, values = answer
            self._expect(np.asarray(values, np.float64))
        return int(self._own[self._action(np.asarray(answer))])

    def _action(self, answer: np.ndarray) -> int:
        """Return the policy's action as the seat sees it; raises `ValueError` where it gives none."""
        actions = self._mask.shape[1]
        if answer.dtype.kind in "iu" and answer.shape == (1,):
            if not 0 <= answer[0] < actions:
                raise ValueError(f"the policy chose action {answer[0]} of {actions}")
            return int(answer[0])
        if answer.dtype.kind != "f" or answer.shape != (1, actions):
            raise ValueError(
                f"the policy must give logits, floats (1, {actions}), or actions, whole numbers (1,), "
                f"not {answer.dtype} {answer.shape}"
            )
        legal = np.flatnonzero(self._mask[0])
        logits = answer[0, legal].astype(np.float64)
        highest = logits.max()
        if not np.isfinite(highest):
            raise ValueError(f"the policy gave {highest} as its highest logit of a legal action")
        if self.temperature == 0:
            return int(legal[logits.argmax()])
        ends = np.exp((logits - highest) / self.temperature).cumsum()
        return int(legal[np.searchsorted(ends, self.rng.random() * ends[-1], "right")])

    def _expect(self, values: np.ndarray) -> None:
        """Set `evaluation`; raises `ValueError` for values of another shape."""
        players = self.game.players
        if values.shape == (1, players):
            own = values[0]
        elif players == 2 and values.shape in ((1,), (1, 1)):
            own = np.array([values.item(), -values.item()])
        else:
            raise ValueError(f"the policy must give values of shape (1, {players}), not {values.shape}")
        self.evaluation = np.roll(own.clip(-1.0, 1.0), self.seat).tolist()
