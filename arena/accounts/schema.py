"""The tables of a home's database, `arena.db`: who takes part, what they handed in, and who changed what.

Contest logs hold opaque ids alone (`a7` for an author, `b12` for a bot, `b12.3` for its third version); names are
here and nowhere else, so that erasing an author leaves results as they are.
"""

from __future__ import annotations

SCHEMA_VERSION = 1
"""The one version of the database that is read and written."""

SCHEMA = """
CREATE TABLE authors (
    author INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,   -- the name as it is read: names that look alike are one
    role TEXT NOT NULL CHECK (role IN ('reader', 'author', 'organiser')),
    created TEXT NOT NULL,         -- UTC, as all times
    erased TEXT
);
CREATE TABLE tokens (
    token INTEGER PRIMARY KEY,
    author INTEGER NOT NULL REFERENCES authors,
    hash BLOB NOT NULL UNIQUE,     -- BLAKE2b-256 of the token, which is kept nowhere
    kind TEXT NOT NULL CHECK (kind IN ('api', 'session')),
    scopes TEXT NOT NULL,          -- separated by spaces
    label TEXT NOT NULL,
    created TEXT NOT NULL,
    expires TEXT,
    revoked TEXT,
    used TEXT                      -- the day of its last use
);
CREATE INDEX tokens_of ON tokens (author);
CREATE TABLE contests (
    contest TEXT PRIMARY KEY,      -- its name in addresses
    config TEXT NOT NULL,          -- the configuration, JSON
    state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
    season INTEGER NOT NULL,
    message TEXT NOT NULL,         -- of the day
    created TEXT NOT NULL
);
CREATE TABLE invitations (
    invitation INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,     -- BLAKE2b-256 of the code
    contest TEXT REFERENCES contests,
    role TEXT NOT NULL CHECK (role IN ('reader', 'author', 'organiser')),
    name TEXT NOT NULL,            -- of whom it is for; empty for anybody
    uses INTEGER NOT NULL,         -- left
    created TEXT NOT NULL,
    expires TEXT
);
CREATE TABLE members (
    contest TEXT NOT NULL REFERENCES contests,
    author INTEGER NOT NULL REFERENCES authors,
    joined TEXT NOT NULL,
    banned TEXT CHECK (banned IN ('keep', 'drop')), -- what becomes of the matches that were played
    deadline TEXT,                 -- instead of the contest's
    max_bots INTEGER,              -- the same
    max_per_day INTEGER,           -- the same: versions handed in
    PRIMARY KEY (contest, author)
) WITHOUT ROWID;
CREATE TABLE bots (
    bot INTEGER PRIMARY KEY,
    contest TEXT NOT NULL REFERENCES contests,
    author INTEGER NOT NULL REFERENCES authors,
    name TEXT NOT NULL,
    folded TEXT NOT NULL,
    withdrawn TEXT,
    created TEXT NOT NULL,
    UNIQUE (contest, folded)
);
CREATE INDEX bots_of ON bots (author);
CREATE TABLE versions (
    bot INTEGER NOT NULL REFERENCES bots,
    number INTEGER NOT NULL,       -- from 1
    bundle TEXT NOT NULL,          -- hash; bots/HASH.zip has the files
    module TEXT NOT NULL,
    class TEXT NOT NULL,
    received TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'checking', 'valid', 'refused', 'erased')),
    report TEXT NOT NULL,          -- of its check, JSON: one object a line
    PRIMARY KEY (bot, number)
) WITHOUT ROWID;
CREATE INDEX versions_by_state ON versions (state, received);
CREATE INDEX versions_by_bundle ON versions (bundle);
CREATE TABLE audit (               -- every change, in the transaction that makes it
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    actor TEXT NOT NULL,           -- an author's id, or 'operator' for the command line, or 'arena'
    action TEXT NOT NULL,
    contest TEXT,
    subject TEXT NOT NULL,
    details TEXT NOT NULL          -- JSON
);
CREATE INDEX audit_of ON audit (contest, number);
CREATE TABLE events (              -- what everybody may know, by contest
    number INTEGER PRIMARY KEY,
    contest TEXT NOT NULL REFERENCES contests,
    time TEXT NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL             -- JSON
);
CREATE INDEX events_of ON events (contest, number);
"""
