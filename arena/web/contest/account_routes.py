"""Addresses of accounts: invitations, signing in and out, tokens."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import Depends, FastAPI, Request, Response
from fastapi.responses import FileResponse, RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from arena.accounts import Author, Grant
from arena.accounts.tokens import API, SCOPES, SESSION, SESSION_DAYS
from arena.contest.author_export import export_author
from arena.core.errors import AccountError
from arena.core.files import temporary_folder
from arena.web.catalog import NotFoundError
from arena.web.contest.access import client_of, sign_in, sign_out
from arena.web.contest.portal import Portal
from arena.web.contest.routes import READ, answer
from arena.web.contest.views import ContestView
from arena.web.rendering import page
from arena.web.safety import changes_something

WithToken = Depends(changes_something)
MAX_ADDRESS_CHARS = 500


async def fields_of(request: Request) -> dict[str, str]:
    """Return the texts of a form."""
    form = await request.form(max_fields=20)
    return {key: value for key, value in form.items() if isinstance(value, str)}


def own_address(text: str) -> str:
    """Return an address of this server that somebody was on the way to; empty for any other."""
    plain = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isascii() and text.isprintable()
    return text if plain and len(text) <= MAX_ADDRESS_CHARS else ""


def add_account_routes(app: FastAPI, portal: Portal) -> None:
    """Add the addresses of accounts."""
    _add_signing_in(app, portal)
    _add_joining(app, portal)
    _add_tokens(app, portal)


def _add_signing_in(app: FastAPI, portal: Portal) -> None:
    def form(next: str, error: str = "", status: int = 200) -> Response:
        shown = page("sign_in.html", portal.links, title="Sign in", next=own_address(next), error=error)
        return answer(shown, status)

    @app.api_route("/sign-in", methods=READ, response_model=None)
    def ask(next: str = "") -> Response:
        return form(next)

    @app.post("/sign-in", dependencies=[WithToken], response_model=None)
    async def enter(request: Request) -> Response:
        fields = await fields_of(request)
        portal.door.attempts.take(client_of(request))

        def check() -> str | None:
            """Return the token of a session for who has any token."""
            grant = portal.accounts.tokens.check(fields.get("secret", "").strip())
            if grant is None:
                return None
            return portal.accounts.tokens.issue(
                grant.author, SESSION, grant.scopes, grant.author.id, "browser", SESSION_DAYS
            )

        token = await run_in_threadpool(check)
        if token is None:
            return await run_in_threadpool(form, fields.get("next", ""), "no account has this token", 403)
        response = RedirectResponse(own_address(fields.get("next", "")) or portal.links.account(), 303)
        sign_in(request, response, token)
        return response

    @app.post("/sign-out", dependencies=[WithToken], response_model=None)
    def leave(request: Request) -> Response:
        grant = portal.door.grant(request)
        if grant is not None:
            portal.accounts.tokens.revoke(grant.author.id, grant.id, grant.author.id)
        response = RedirectResponse(portal.links.contests(), 303)
        sign_out(request, response)
        return response


def _add_joining(app: FastAPI, portal: Portal) -> None:
    def form(
        address: str, view: ContestView | None, grant: Grant | None, given: str, error: str = "", name: str = ""
    ) -> Response:
        """Return the form; after an `error` with the name that was typed."""
        shown = page(
            "join.html",
            portal.links,
            title="Take part",
            contest=view,
            grant=grant,
            given=given,
            error=error,
            name=name,
            address=address,
            secret="",
            token="",
        )
        return answer(shown, 400 if error else 200)

    def invited(request: Request, code: str) -> tuple[ContestView | None, str]:
        portal.door.attempts.take(client_of(request))
        found = portal.accounts.invitations.find(code) if portal.door.has_accounts else None
        if found is None:
            raise NotFoundError("this invitation has been used or has expired; ask for another one")
        return portal.view(found.contest) if found.contest else None, found.name

    @app.api_route("/join/{code}", methods=READ, response_model=None)
    def ask(request: Request, code: str) -> Response:
        view, given = invited(request, code)
        return form(portal.links.path(f"/join/{quote(code)}"), view, portal.door.grant(request), given)

    @app.post("/join/{code}", dependencies=[WithToken], response_model=None)
    async def accept(request: Request, code: str) -> Response:
        fields = await fields_of(request)
        return await run_in_threadpool(_accept, portal, request, code, fields, form, invited)

    @app.api_route("/contests/{id}/join", methods=READ, response_model=None)
    def ask_open(request: Request, id: str) -> Response:
        view = _open_to_all(portal, id)
        return form(portal.links.contest(view.id, "join"), view, portal.door.grant(request), "")

    @app.post("/contests/{id}/join", dependencies=[WithToken], response_model=None)
    async def enter_open(request: Request, id: str) -> Response:
        fields = await fields_of(request)

        def enter() -> Response:
            view, grant = _open_to_all(portal, id), portal.door.grant(request)
            portal.door.attempts.take(client_of(request))
            if grant is not None:
                author = portal.submitter(request).author.id
                portal.accounts.contests.join(view.id, author, author)
                return RedirectResponse(portal.links.contest(view.id), 303)
            name = fields.get("name", "").strip()
            try:
                entered = portal.accounts.invitations.enter(view.id, name)
                return _welcome(portal, request, view, *entered)
            except AccountError as error:
                return form(portal.links.contest(view.id, "join"), view, None, "", str(error), name)

        return await run_in_threadpool(enter)


def _open_to_all(portal: Portal, id: str) -> ContestView:
    view = portal.view(id)
    if view.config.entry != "open" or view.contest.state != "open":
        raise AccountError("this contest is for who is invited")
    return view


def _accept(portal: Portal, request: Request, code: str, fields: dict[str, str], form: Any, invited: Any) -> Response:
    view, given = invited(request, code)
    grant, name = portal.door.grant(request), fields.get("name", "").strip()
    try:
        if grant is not None:
            contest = portal.accounts.invitations.join(code, portal.submitter(request).author)
            return RedirectResponse(portal.links.contest(contest) if contest else portal.links.contests(), 303)
        return _welcome(portal, request, view, *portal.accounts.invitations.accept(code, name))
    except AccountError as error:
        return form(portal.links.path(f"/join/{quote(code)}"), view, grant, given, str(error), name)


def _welcome(portal: Portal, request: Request, view: ContestView | None, author: Author, session: str) -> Response:
    """Show a new author the token that signs in elsewhere, and sign this browser in."""
    scopes = SCOPES if author.is_organiser else SCOPES[:2]
    secret = portal.accounts.tokens.issue(author, API, scopes, author.id, "first token")
    shown = page(
        "join.html", portal.links, title="Welcome", contest=view, author=author, secret=secret, token=secret, error=""
    )
    response = answer(shown)
    sign_in(request, response, session)
    return response


class TemporaryFileResponse(FileResponse):
    """A file that is removed when it has been sent, or who has asked for it is gone."""

    def __init__(self, path: Path, made: contextlib.ExitStack, media_type: str) -> None:
        """`made` removes the file."""
        headers = {"Cache-Control": "private, no-store"}
        super().__init__(path, filename=path.name, media_type=media_type, headers=headers)
        self._made = made

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await run_in_threadpool(self._made.close)


def exported(portal: Portal, author: str, actor: str) -> Response:
    """Return everything of an author as a file."""
    with contextlib.ExitStack() as undo:
        path = undo.enter_context(temporary_folder(None, "arena-export-")) / f"{author}.zip"
        export_author(portal.accounts, portal.catalog.home, author, path, actor)
        return TemporaryFileResponse(path, undo.pop_all(), "application/zip")


def _add_tokens(app: FastAPI, portal: Portal) -> None:
    def show(grant: Grant, error: str = "", secret: str = "", status: int = 200) -> Response:
        contests = [portal.view(id) for id in portal.accounts.contests.contests_of(grant.author.id)]
        shown = page(
            "account.html",
            portal.links,
            title=grant.author.name,
            grant=grant,
            contests=contests,
            tokens=portal.accounts.tokens.of(grant.author.id),
            error=error,
            secret=secret,
        )
        return answer(shown, status)

    @app.api_route("/account", methods=READ, response_model=None)
    def account(request: Request) -> Response:
        return show(portal.door.signed_in(request))

    @app.post("/account/tokens", dependencies=[WithToken], response_model=None)
    async def make(request: Request) -> Response:
        fields = await fields_of(request)

        def issue() -> Response:
            grant = portal.submitter(request)
            scopes = [scope for scope in fields.get("scopes", "").split() if scope in grant.scopes]
            try:
                label = fields.get("label", "").strip()
                secret = portal.accounts.tokens.issue(grant.author, API, scopes, grant.author.id, label)
            except AccountError as error:
                return show(grant, str(error), status=400)
            return show(grant, secret=secret)

        return await run_in_threadpool(issue)

    @app.post("/account/export", dependencies=[WithToken], response_model=None)
    def export(request: Request) -> Response:
        author = portal.submitter(request).author.id
        portal.door.submissions.take(author)
        return exported(portal, author, author)

    @app.post("/account/tokens/{token}/revoke", dependencies=[WithToken], response_model=None)
    def revoke(request: Request, token: int) -> Response:
        grant = portal.submitter(request)
        portal.accounts.tokens.revoke(grant.author.id, token, grant.author.id, grant.id)
        return RedirectResponse(portal.links.account(), 303)
