"""The part of the interface for programs that tells an author of an own bot what its page tells."""

from __future__ import annotations

from fastapi import FastAPI, Request
from pydantic import BaseModel

from arena.web.contest.own_bot import OwnBot
from arena.web.contest.pages import own_bot_of
from arena.web.contest.portal import Portal
from arena.web.contest.views import check_sees_matches


class VersionScoreRecord(BaseModel):
    """What a version has reached on a board, in percent of opponents beaten."""

    board: str
    version: int
    matches: int
    score: float
    low: float | None
    high: float | None
    change: float | None
    forfeits: int


class AgainstRecord(BaseModel):
    """How often the version before and the newest one were ahead of, even with, behind the same opponent."""

    opponent: str
    name: str
    older: list[int]
    newer: list[int]
    change: float


class ChosenRecord(BaseModel):
    """A match worth a look."""

    id: str
    kind: str
    why: str
    ply: int | None
    said: str


class ReviewRecord(BaseModel):
    """What the author of a bot sees of it."""

    scores: list[VersionScoreRecord]
    against: list[AgainstRecord]
    matches: list[ChosenRecord]
    slowest: float | None


def add_review(api: FastAPI, portal: Portal) -> None:
    """Add the address."""

    @api.get("/contests/{id}/bots/{bot}/review")
    def review(request: Request, id: str, bot: str) -> ReviewRecord:
        """Return for one's own bot: scores of its versions, what changed between them, ten matches worth a look."""
        view = portal.view(id)
        own, grant = portal.own_bot(request, view, bot)
        check_sees_matches(portal.accounts, view, grant, portal.now)
        return _review(own_bot_of(portal, view, portal.accounts.submissions.versions(own.id)))


def _review(found: OwnBot | None) -> ReviewRecord:
    if found is None:
        return ReviewRecord(scores=[], against=[], matches=[], slowest=None)
    scores = [VersionScoreRecord(**{**each._asdict(), "version": each.number}) for each in found.scores]
    against = [AgainstRecord(**each._asdict()) for each in found.against]
    chosen = [ChosenRecord(id=each.line.id, **each._asdict()) for each in found.chosen]
    return ReviewRecord(scores=scores, against=against, matches=chosen, slowest=found.slowest)
