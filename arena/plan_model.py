"""What a plan.json may hold. Anybody may have written it, so every value is checked before it is believed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from arena.config import Format, Isolation, Limits, Model, Options


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
    params: Options
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
    params: Options
    isolation: Isolation


class PlannedDuel(Model):
    """Who is compared, among whom."""

    bots: Annotated[list[Text], Field(min_length=2, max_length=2)]
    fillers: Annotated[list[Text], Field(min_length=1)]


class PlanFile(Model):
    """A resolved plan, as `arena.plan.Plan.resolved` writes it."""

    name: Text
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    line_ups: Literal["rotations", "permutations"]
    duel: PlannedDuel | None = None
    max_tables: Annotated[int, Field(ge=1, le=1_000_000)]
    hero: Text | None
    bench_after: Count = 0
    limits: Limits
    formats: list[Format]
    dice: Literal["public", "secret"]
    dice_key: Key | None
    dice_key_hash: Key
    bots_key: Key
    boards: list[PlannedBoard]
    bots: list[PlannedBot]
    left_out: list[Text]
