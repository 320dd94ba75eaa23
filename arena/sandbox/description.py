"""What a Python bot in a process of its own says of itself: asked there, believed only as far as its form is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from arena.referee import Fault, without_controls
from arena.sandbox.host import RemoteBot
from arena.sandbox.hosts import Hosts
from arena.schedule import Limits

LIMIT = 60.0
SHORT, LONG = 200, 4000


def _line(text: str) -> str:
    return without_controls(text).replace("\n", " ")


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("holds controls")
    return text


Word = Annotated[str, Field(max_length=SHORT), AfterValidator(_line)]
Line = Annotated[str, Field(max_length=LONG), AfterValidator(_line)]
Text = Annotated[str, Field(max_length=LONG), AfterValidator(without_controls)]
Scalar = bool | int | float | Word


class _Form(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class _Parameter(_Form):
    name: Word
    kind: Word
    default: Scalar
    minimum: float | int | None
    maximum: float | int | None
    choices: Annotated[list[Scalar], Field(max_length=100)]
    help: Text


class _Description(_Form):
    params: Annotated[dict[Word, Scalar], Field(max_length=100)]
    options: Annotated[str, Field(max_length=SHORT, pattern=r"^[^\s|()]*$"), AfterValidator(_printable)]
    about: Text
    games: Annotated[list[Word], Field(max_length=100)] | None
    players: Annotated[list[int], Field(max_length=100)] | None
    parameters: Annotated[list[_Parameter], Field(max_length=100)]
    refusals: list[Line | None]


def description(hosts: Hosts, bot: RemoteBot, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """What the bot says of itself, as `arena.describe.describe` tells it; under `error` why it cannot be used."""
    host = hosts.host(bot, None)
    channel = None
    try:
        channel = host.open(bot, Limits())
        told = channel.request({"type": "describe", "bot": wanted}, LIMIT).get("description")
    except Fault as fault:
        lines = str(fault).strip().splitlines()
        return {"error": f"cannot be loaded: {without_controls(lines[-1])[:LONG] if lines else fault.cause}"}
    finally:
        host.release(channel, None)
    return _checked(told, len(wanted["boards"]))


def _checked(told: Any, boards: int) -> dict[str, Any]:
    if isinstance(told, dict) and set(told) == {"error"} and isinstance(told["error"], str):
        return {"error": _line(told["error"])[:LONG]}
    try:
        found = _Description.model_validate(told)
    except ValidationError as error:
        where = ".".join(map(str, error.errors(include_url=False)[0]["loc"]))
        return {"error": f"does not say of itself what it should, at '{where}'"}
    if len(found.refusals) != boards:
        return {"error": "does not say on which boards it plays"}
    return found.model_dump()
