"""Declarations of bots: parameters, games, numbers of players and refusals, checked by the driver.

A submitted bot is asked once: its first answers are kept beside its source and count from then on
(`arena.registry.submissions`). So no bot chooses its spec, its identity or its refusals while it is being planned.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from arena.core.errors import BotError
from arena.core.text import without_controls
from engine.specs import Parameter

MAX_WORD_CHARS, MAX_TEXT_CHARS = 200, 4000
MAX_LIST_LENGTH = 100
"""Most parameters, games and the like that a bot may list."""
PARAMETER_KINDS: dict[str, type] = {"bool": bool, "int": int, "float": float, "str": str}
INT_BOUND = 2**64
Board = tuple[str, int]
"""Canonical game spec, players."""


def _line(text: str) -> str:
    return without_controls(text).replace("\n", " ")


def _identifier(text: str) -> str:
    if not text.isidentifier():
        raise ValueError("is no identifier")
    return text


def _plain(value: bool | int | float | str) -> bool | int | float | str:
    if isinstance(value, str) and not (len(value) <= MAX_WORD_CHARS and value.isprintable()):
        raise ValueError("is no text of one line")
    if isinstance(value, int) and abs(value) >= INT_BOUND:
        raise ValueError("has more than 64 bits")
    return value


Word = Annotated[str, Field(max_length=MAX_WORD_CHARS), AfterValidator(_line)]
Line = Annotated[str, Field(max_length=MAX_TEXT_CHARS), AfterValidator(_line)]
Text = Annotated[str, Field(max_length=MAX_TEXT_CHARS), AfterValidator(without_controls)]
Scalar = Annotated[bool | int | float | str, AfterValidator(_plain)]


class _Form(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class _Parameter(_Form):
    name: Annotated[str, Field(max_length=MAX_WORD_CHARS), AfterValidator(_identifier)]
    kind: Literal["bool", "int", "float", "str"]
    default: Scalar
    minimum: float | int | None
    maximum: float | int | None
    choices: Annotated[list[Scalar], Field(max_length=MAX_LIST_LENGTH)]
    help: Text
    stands_for: Annotated[list[Word], Field(max_length=MAX_LIST_LENGTH, exclude_if=operator.not_)] = Field(
        default_factory=list
    )

    @model_validator(mode="after")
    def _parts_fit(self) -> _Parameter:
        kind = PARAMETER_KINDS[self.kind]
        if any(type(value) is not kind for value in (self.default, *self.choices)):
            raise ValueError(f"a default or choice is no {self.kind}")
        if kind not in (int, float) and (self.minimum, self.maximum) != (None, None):
            raise ValueError("bounds are for numbers")
        if self.stands_for and (kind, self.default) != (str, ""):
            raise ValueError("a time must be a str with the default ''")
        return self

    @property
    def parameter(self) -> Parameter:
        return Parameter(
            *(
                self.name,
                PARAMETER_KINDS[self.kind],
                self.default,
                self.help,
                self.minimum,
                self.maximum,
                tuple(self.choices),
            ),
            stands_for=tuple(self.stands_for),
        )


class Declaration(_Form):
    """A bot's description of itself, with texts bounded and without control characters."""

    about: Text
    games: Annotated[list[Word], Field(max_length=MAX_LIST_LENGTH)] | None
    players: Annotated[list[int], Field(max_length=MAX_LIST_LENGTH)] | None
    parameters: Annotated[list[_Parameter], Field(max_length=MAX_LIST_LENGTH)]
    refusals: list[Line | None]
    """Reasons why it does not play on a board, by the boards that it was asked about."""

    @model_validator(mode="after")
    def _no_name_twice(self) -> Declaration:
        if len({each.name for each in self.parameters}) < len(self.parameters):
            raise ValueError("two parameters of one name")
        if sum(bool(each.stands_for) for each in self.parameters) > 1:
            raise ValueError("two times")
        counts = {each.name: each for each in self.parameters if each.kind == "int" and each.minimum is not None}
        for each in self.parameters:
            if each.stands_for and (each.stands_for[0] not in counts or counts[each.stands_for[0]].maximum is None):
                raise ValueError(f"'{each.name}' must stand for a whole number with bounds")
        return self

    @property
    def settings(self) -> tuple[Parameter, ...]:
        """Parameters with their types and bounds."""
        return tuple(each.parameter for each in self.parameters)


class FirstAnswers(_Form):
    """First answers of a submitted bot, with refusals by board in the order in which it was asked."""

    declaration: Declaration
    boards: list[Board]

    def about(self, boards: Sequence[Board]) -> Declaration | None:
        """Return the declaration for these boards; None where the bot was not asked about one of them."""
        known = dict(zip(self.boards, self.declaration.refusals, strict=True))
        if not known.keys() >= set(boards):
            return None
        return self.declaration.model_copy(update={"refusals": [known[board] for board in boards]})


def first_answers(before: FirstAnswers | None, answer: Declaration, boards: Sequence[Board]) -> FirstAnswers:
    """Return the answers that count after a bot was asked again: the first ones, and new ones on further boards."""
    refusals = dict(zip(boards, answer.refusals, strict=True))
    declaration = answer
    if before is not None:
        declaration = before.declaration
        refusals |= dict(zip(before.boards, declaration.refusals, strict=True))
    return FirstAnswers(
        declaration=declaration.model_copy(update={"refusals": [*refusals.values()]}), boards=[*refusals]
    )


def read_declaration(answer: Any, boards: int, name: str) -> Declaration:
    """Return a bot's answer as a declaration; raises `BotError` for the bot's own error and for other answers."""
    if isinstance(answer, dict) and set(answer) == {"error"} and isinstance(answer["error"], str):
        error = _line(answer["error"])[:MAX_TEXT_CHARS]
        raise BotError(error if error.startswith(name) else f"bot '{name}' {error}")
    try:
        found = Declaration.model_validate(answer)
    except ValidationError as error:
        where = ".".join(map(str, error.errors(include_url=False)[0]["loc"])) or "parameters"
        raise BotError(f"bot '{name}' does not say of itself what it should, at '{where}'") from None
    if len(found.refusals) != boards:
        raise BotError(f"bot '{name}' does not say on which boards it plays")
    return found
