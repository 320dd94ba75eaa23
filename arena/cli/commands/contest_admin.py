"""Commands by which an operator organises contests; pages have the same for organisers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from arena.cli.arguments import AsJson, Group, Home

app = Group("Contests")
ContestName = Annotated[str, typer.Argument(metavar="CONTEST", help="Its name, as in its configuration.")]
AuthorName = Annotated[str, typer.Argument(metavar="AUTHOR", help="Name of an author, or the id, such as a7.")]
Role = Literal["reader", "author", "organiser"]


@app.command(
    epilog="Example: arena contest admin invite cup --csv class.csv --url https://arena.example --out links.csv"
)
def invite(
    contest: ContestName,
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Persons or teams to invite.")] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="File with a name a line, or in its first column.")] = None,
    anybody: Annotated[
        int | None, typer.Option(min=1, help="Make one link for this number of persons, who choose their names.")
    ] = None,
    role: Annotated[Role, typer.Option(help="Role of who is invited.")] = "author",
    days: Annotated[int | None, typer.Option(min=1, max=3650, help="Days until it expires. Default: never.")] = None,
    url: Annotated[str, typer.Option(help="Address of the server, in front of the links.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the sheet of links here. Default: print it.")] = None,
    home: Home = None,
) -> None:
    """Invite persons; write a sheet of links, as CSV.

    Each link is good for one person, and is shown this once. When a name cannot be, nobody is invited.
    """
    from arena.cli.contest_admin import print_invitations

    print_invitations(contest, names or [], csv, anybody, (role, days), url, out, home)


@app.command(epilog="Example: arena contest admin authors cup")
def authors(
    contest: Annotated[str | None, typer.Argument(metavar="CONTEST", help="Only who takes part in it.")] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List authors, with bots, limits, deadlines and bans."""
    from arena.cli.contest_admin import print_authors

    print_authors(contest, as_json, home)


@app.command(epilog="Example: arena contest admin role Ann organiser")
def role(author: AuthorName, role: Annotated[Role, typer.Argument(help="The new role.")], home: Home = None) -> None:
    """Give an author another role."""
    from arena.cli.contest_admin import give_role

    give_role(author, role, home)


@app.command(epilog="Example: arena contest admin limit cup Ann --bots 2 --per-day 50")
def limit(
    contest: ContestName,
    author: AuthorName,
    bots: Annotated[int | None, typer.Option(min=0, help="Bots at a time. Default: the contest's.")] = None,
    per_day: Annotated[int | None, typer.Option(min=0, help="Versions a day. Default: the contest's.")] = None,
    home: Home = None,
) -> None:
    """Give one author other limits than the contest's."""
    from arena.cli.contest_admin import set_limits

    set_limits(contest, author, bots, per_day, home)


@app.command(epilog="Example: arena contest admin extend cup Ann 2027-02-01T18:00")
def extend(
    contest: ContestName,
    author: AuthorName,
    deadline: Annotated[
        str | None, typer.Argument(help="Time, in the contest's time zone. Default: the contest's deadline.")
    ] = None,
    home: Home = None,
) -> None:
    """Give one author another deadline."""
    from arena.cli.contest_admin import extend_deadline

    extend_deadline(contest, author, deadline, home)


@app.command(epilog="Example: arena contest admin ban cup Bob --matches drop")
def ban(
    contest: ContestName,
    author: AuthorName,
    matches: Annotated[
        Literal["keep", "drop"], typer.Option(help="Whether matches played so far stay in the standings.")
    ] = "keep",
    home: Home = None,
) -> None:
    """Keep an author out of a contest."""
    from arena.cli.contest_admin import ban_author

    ban_author(contest, author, matches, home)


@app.command(epilog="Example: arena contest admin unban cup Bob")
def unban(contest: ContestName, author: AuthorName, home: Home = None) -> None:
    """Let a banned author take part again."""
    from arena.cli.contest_admin import unban_author

    unban_author(contest, author, home)


@app.command(epilog="Example: arena contest admin withdraw b12")
def withdraw(
    bot: Annotated[str, typer.Argument(metavar="BOT", help="Id of a bot, such as b12.")], home: Home = None
) -> None:
    """Take a bot out of the rounds that follow."""
    from arena.cli.contest_admin import withdraw_bot

    withdraw_bot(bot, home)


@app.command(epilog="Example: arena contest admin message cup Welcome")
def message(
    contest: ContestName,
    text: Annotated[str, typer.Argument(help="What the contest's page says on top. Default: nothing.")] = "",
    home: Home = None,
) -> None:
    """Set the message of the day, or take it away."""
    from arena.cli.contest_admin import announce

    announce(contest, text, home)


@app.command(epilog="Example: arena contest admin token Ann --scope submit --days 90")
def token(
    author: AuthorName,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="read, submit or admin; may be repeated. Default: the first two."),
    ] = None,
    days: Annotated[int | None, typer.Option(min=1, max=3650, help="Days until it expires. Default: never.")] = None,
    label: Annotated[str, typer.Option(help="What it is for.")] = "",
    home: Home = None,
) -> None:
    """Issue a token for an author, and print it, this once."""
    from arena.cli.contest_admin import issue_token

    issue_token(author, list(scope or ("read", "submit")), days, label, home)


@app.command(epilog="Example: arena contest admin tokens Ann")
def tokens(author: AuthorName, as_json: AsJson = False, home: Home = None) -> None:
    """List the tokens of an author, not what they are."""
    from arena.cli.contest_admin import print_tokens

    print_tokens(author, as_json, home)


@app.command(epilog="Example: arena contest admin revoke Ann 3")
def revoke(
    author: AuthorName,
    token: Annotated[int | None, typer.Argument(min=1, help="Number of a token. Default: all of the author.")] = None,
    home: Home = None,
) -> None:
    """Revoke a token of an author, or all."""
    from arena.cli.contest_admin import revoke_tokens

    revoke_tokens(author, token, home)


@app.command(epilog="Example: arena contest admin export Ann ann.zip")
def export(
    author: AuthorName,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The ZIP file to write; it must not exist.")],
    home: Home = None,
) -> None:
    """Write all that the home has of an author."""
    from arena.cli.contest_admin import export_all

    export_all(author, out, home)


@app.command(epilog="Example: arena contest admin erase Ann --yes")
def erase(
    author: AuthorName,
    yes: Annotated[bool, typer.Option("--yes", help="Do it: it cannot be undone.")] = False,
    home: Home = None,
) -> None:
    """Erase an author: name, tokens, sources.

    Results stay, under the ids of the bots. Backups still have everything.
    """
    from arena.cli.contest_admin import erase_all

    erase_all(author, yes, home)


@app.command(epilog="Example: arena contest admin audit cup --after 100")
def audit(
    contest: Annotated[str | None, typer.Argument(metavar="CONTEST", help="Only changes of it. Default: all.")] = None,
    after: Annotated[int, typer.Option(min=0, help="Only changes after this number.")] = 0,
    most: Annotated[int, typer.Option(min=1, max=1_000_000, help="Number of changes.")] = 100,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Print who changed what, and when."""
    from arena.cli.contest_admin import print_audit

    print_audit(contest, after, most, as_json, home)
