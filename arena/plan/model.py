"""What a plan.json may hold. Anybody may have written it, so every value is checked before it is believed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from arena.core.models import Isolation, Model, Scalar
from arena.plan.config import Format, Limits


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("holds what cannot be printed")
    return text


Text = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_printable)]
Key = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, le=10_000_000)]


class PlannedBoard(Model):
    """A game at a number of players."""

    game: Text
    params: dict[str, Scalar]
    players: Annotated[int, Field(ge=2, le=20)]
    rules_version: Count
    blocks: Annotated[int, Field(ge=1, le=10_000_000)]
    opening: Annotated[int, Field(ge=0, le=999)]
    bots: list[Text]
    first_blocks: Count = 0
    counts: list[Count] | None = None
    benched: dict[Text, int] | None = None


class PlannedBot(Model):
    """A contestant."""

    label: Text
    key: Text
    spec: Text
    identity: Text
    params: dict[str, Scalar]
    isolation: Isolation
    trusted: bool | None = None
    """None in version 3 of the log, where the dice of all blocks were of one kind."""


class PlannedKey(Model):
    """A key of secret dice."""

    hash: Key
    key: Key | None


class PlannedDuel(Model):
    """Who is compared, among whom."""

    bots: Annotated[list[Text], Field(min_length=2, max_length=2)]
    fillers: Annotated[list[Text], Field(min_length=1)]


class PlanFile(Model):
    """A resolved plan, as `arena.plan.resolve.Plan.resolved` writes it."""

    name: Text
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    line_ups: Literal["rotations", "permutations"]
    duel: PlannedDuel | None = None
    max_tables: Annotated[int, Field(ge=1, le=1_000_000)]
    hero: Text | None
    bench_after: Count = 0
    limits: Limits
    formats: list[Format]
    dice: Literal["public", "secret", "mixed"]
    common_dice: bool = False
    public_dice_key: Key | None = None
    public_bots_key: Key | None = None
    secret_keys: list[PlannedKey] | None = None
    dice_key: Key | None = None
    """This and the two below are of version 3 of the log."""
    dice_key_hash: Key | None = None
    bots_key: Key | None = None
    boards: list[PlannedBoard]
    bots: list[PlannedBot]
    left_out: list[Text]

    @model_validator(mode="after")
    def _dice_of_one_version(self) -> PlanFile:
        ours = [self.public_dice_key, self.public_bots_key, self.secret_keys, *(bot.trusted for bot in self.bots)]
        theirs = [self.dice_key_hash, self.bots_key]
        whole, other = (ours, theirs) if self.dice_key_hash is None else (theirs, [*ours, self.dice == "mixed" or None])
        if None in whole or any(value is not None for value in other) or (self.dice_key and whole is ours):
            raise ValueError("dice, keys and which bots are trusted do not fit together")
        return self
