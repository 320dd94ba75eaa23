"""Bots that value states by what self-play has taught: one ply of look-ahead, and searches."""

from __future__ import annotations

from typing import Annotated, ClassVar, cast

import numpy as np

from bots.base import Between, Bot, first_decision
from bots.learning.weights import learned_assessment, learned_kernels, missing_weights
from bots.search.evaluation import Assessment
from bots.search.minimax import Minimax
from bots.search.uct import UCT
from engine import Game, State
from engine.state import KernelGame, KernelState


class Learned(Bot):
    """Take the action after which the state is worth most by what self-play has taught.

    Idea: add up the learned weights of the features that the state after an action has (`features` in
    `bots.heuristics`), dice that follow not yet rolled, and squash the sum into -1 to 1; a finished match is worth this
    seat's return. Ties are broken at random. The weights come from `arena train`, which has the same evaluation play
    against itself and learn by TD(lambda); they lie beside the features, with a record of how to make them again.
    Source: Tesauro, "Temporal difference learning and TD-Gammon", Communications of the ACM 38 (1995); Lucas, "Learning
    to play Othello with n-tuple systems" (2008); step sizes: Bagheri, Thill, Koch and Konen, "Online adaptable learning
    rates for the game Connect-4", IEEE Transactions on Computational Intelligence and AI in Games 8 (2016).
    Parameters: none.
    Gives with two players its worth of the action as its expected return.
    Cost: one evaluation an action, of a fraction of a microsecond to three microseconds.
    """

    name = "learned"
    needs = ("kernels",)
    game: KernelGame

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """Refuse games of which nothing has been learned too."""
        return super().refusal(game) or missing_weights(game)

    def prepare(self) -> None:
        game = self.game
        self._values = np.zeros(game.action_buffer.size)
        self._arrays = game.action_buffer, self._values, game.blank(), np.zeros(game.players, np.int64)
        self._memory = learned_assessment(game).memory
        self._look = learned_kernels(game).look_ahead
        self._look(cast(KernelState, first_decision(game)).words, 0, *self._arrays, self._memory)

    def choose(self, state: State) -> int:
        actions = state.legal_actions()
        if len(actions) == 1:
            return actions[0]
        count = self._look(cast(KernelState, state).words, self.seat, *self._arrays, self._memory)
        values = self._values[:count].tolist()
        if self.game.players == 2:
            worth = max(values)
            self.evaluation = (worth, -worth) if self.seat == 0 else (-worth, worth)
        return self.pick_best(actions, values)


class LearnedMinimax(Minimax):
    """Look ahead as far as the budget allows, and value states at the horizon by what self-play has taught.

    Idea: `alphabeta` in games without dice, `expectimax` in games with dice, with the evaluation of `learned`.
    Source: as those three bots.
    Parameters: `nodes`, `depth`, `seconds`, `time` and `opponents`, as of `alphabeta` and `expectimax`.
    Cost: as those bots, with the evaluation of `learned`.
    """

    name = "learned_minimax"

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """Refuse games of which nothing has been learned."""
        return super(Minimax, cls).refusal(game) or missing_weights(game)

    def assessment(self) -> Assessment:
        """Return the learned evaluation."""
        return learned_assessment(self.game)


class LearnedUCT(UCT):
    """Grow a tree of the most promising lines and value what lies at its leaves by what self-play has taught.

    Idea: `uct`, with the evaluation of `learned` in place of rollouts; matches that end in the tree count as they end.
    With `prior` (PUCT) all actions of a decision are valued by one ply of look-ahead when the tree grows there. An
    action that nobody has tried has that worth, and the bound of one with prior P and n of the N visits is its mean
    plus `exploration` * P * sqrt(N) / (1 + n). An action that is d behind the best one, in returns, has a prior in
    proportion to 1 / (1 + d / `prior`)^2.
    Source: as those two bots; PUCT: Rosin, "Multi-armed bandits with episode context" (2011), in the form of Silver et
    al., "Mastering the game of Go without human knowledge" (2017), whose network is one ply of look-ahead here.
    Parameters: `simulations`, `seconds`, `time`, `exploration`, `rave`, `solve`, `reuse` and `visits`, as of `uct`, and
    `prior`, 0 (off) to 2; less than 0 for `exploration`, `rave` and `prior` is what suits the game
    (`UCT_LEARNED` in `bots.heuristics`, else 0.3, 0 and 0). With `rave` only actions in the tree count, as there are no
    others.
    Cost: a simulation takes an evaluation in place of a rollout, with `prior` one for each action where the tree grows;
    `prior` adds 4 bytes to a node.
    """

    name = "learned_uct"
    needs = ("kernels",)
    game: KernelGame

    parameters = tuple(parameter for parameter in UCT.parameters if parameter.name != "rollout")
    prior: Annotated[
        float, Between(-1.0, 2.0), "PUCT: how far behind a quarter counts; 0 = off, < 0 = as suits the game"
    ] = -1.0

    suits = "UCT_LEARNED"
    usual: ClassVar[dict[str, float]] = {"exploration": 0.3, "rave": 0, "prior": 0}

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        """Refuse games of which nothing has been learned too."""
        return super().refusal(game) or missing_weights(game)

    def tolerance(self) -> float:
        return float(self.suiting("prior"))

    def leaves(self) -> Assessment:
        """Return the learned evaluation."""
        return learned_assessment(self.game)
