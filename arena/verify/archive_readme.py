"""The README of archives."""

ABOUT = """A tournament of the Pyramid Arena: {name}

{log}
    The match log, an SQLite database: every match with all its moves and dice,
    so that it can be replayed without bots.
plan.json
    The plan: games, players, bots, seed, limits, and the keys of the dice.
versions.json
    What played: Python, packages and platform of the latest run.
*.csv, *.json, *.md, ...
    The leaderboards as they were exported.
{bots}/NAME@HASH/
    The sources of each bot, as they played. Nobody has checked what they do:
    read them before you run them.
{manifest}
    Size and BLAKE2b-256 of every other file here, the version of the arena
    that packed it ({arena}) and that of the log's tables ({log_version}).

To check it, install the Pyramid Arena and run

    arena verify ARCHIVE.zip
    arena verify ARCHIVE.zip --rerun 100

The first unpacks it into a temporary folder, compares the hashes, replays
every match by the rules, recomputes every roll of the dice from the keys, and
makes the leaderboards anew. The second plays 100 matches again with the bots,
in a sandbox. Neither trusts anything in the archive. That it is the archive
that somebody published, only the hash of its manifest can tell: `arena verify`
prints it.

The log also holds when and how fast each match was played, the name of the
machine that played it, and what bots wrote when they failed.
"""
