"""Notes and tracebacks of bots: each with its ply, bounded, and without anything that steers a terminal."""

import itertools

import pytest

from arena.match import match
from arena.match.faults import MAX_TRACEBACK_CHARS
from arena.match.player import MAX_MATCH_NOTES_CHARS, MAX_NOTE_CHARS, clean_note
from bots.random_bot import Random
from tests.arena.match.playing import faulty, noting, play, raising, replayed


def test_notes_stand_with_the_ply_they_were_made_at():
    class Counting(Random):
        def choose(self, state):
            self.note = f"ply {len(state.history())}"
            return super().choose(state)

    result = play(Counting, Random)
    _, who = replayed(result, 2)
    assert result.notes
    for ply, text in result.notes:
        assert (text, who[ply]) == (f"ply {ply}", 0)


def test_a_note_is_said_once():
    class Once(Random):
        def choose(self, state):
            if len(state.history()) < 2:
                self.note = "hello"
            return super().choose(state)

    assert [text for _, text in play(Once, Random).notes] == ["hello"]


def test_notes_are_bounded_each_and_together():
    Long = noting("x" * 10_000)
    longest = max((play(Long, Long, Long, Long, block=block) for block in range(5)), key=lambda r: len(r.moves))
    assert {len(text) for _, text in longest.notes} == {MAX_NOTE_CHARS}
    assert sum(len(text) for _, text in longest.notes) == MAX_MATCH_NOTES_CHARS < MAX_NOTE_CHARS * len(longest.moves)


def test_visit_counts_end_with_the_move_with_which_a_match_has_enough_of_them(monkeypatch):
    monkeypatch.setattr(match, "MAX_MATCH_VISIT_COUNTS", 10)

    class Searching(Random):
        def choose(self, state):
            self.evaluation = [0.0] * self.game.players
            self.visit_counts = dict.fromkeys(state.legal_actions(), 7)
            return super().choose(state)

    result = max((play(*[Searching] * 4, block=block) for block in range(5)), key=lambda found: len(found.moves))
    sizes = [len(counts) // 2 for *_, counts, _ in result.estimates]
    last = next(number for number, total in enumerate(itertools.accumulate(sizes)) if total >= 10)
    assert all(sizes[: last + 1]) and not any(sizes[last + 1 :]) and len(sizes) > last + 1


def test_a_note_of_a_bots_own_kind_of_text_is_as_short_and_plain_as_any():
    class Text(str):
        def __getitem__(self, place):
            return self

        def __iter__(self):
            return iter(["\x1b" * 9999])

    kept = clean_note(Text("\x1b[31m" + "a" * 2 * MAX_NOTE_CHARS))
    assert type(kept) is str
    assert (len(kept), kept[:6]) == (MAX_NOTE_CHARS, " [31ma")


@pytest.mark.parametrize(
    ("note", "kept"),
    [
        ("a\nb\tc\x1b[31m\x00", "a b c [31m "),
        ("bad \ud800 half", "bad   half"),
        ("größer als 3 – gut", "größer als 3 – gut"),
        (type("Text", (str,), {})("plain"), "plain"),
    ],
)
def test_notes_hold_nothing_that_steers_a_terminal_or_cannot_be_stored(note, kept):
    result = play(noting(note), Random)
    assert {text for _, text in result.notes} == {kept}
    assert all(type(text) is str for _, text in result.notes)
    kept.encode()


@pytest.mark.parametrize("note", [7, b"bytes", ["list"], ""])
def test_a_note_that_is_no_text_is_none(note):
    assert play(noting(note), Random).notes == []


def test_a_note_that_cannot_be_read_is_the_bots_own_fault():
    class Sly(Random):
        @property
        def note(self):  # type: ignore[override]  # a bot may do such a thing
            raise RuntimeError("no note for you")

    result = play(Sly, Random)
    assert (result.ranks, result.forfeits[0].cause) == ([1, 0], "crash")


def test_a_traceback_is_kept_within_bounds_and_can_be_stored():
    def complain(state):
        raise ValueError("\ud800\x1b[31m" + "x" * 10_000)

    detail = play(faulty(complain), Random).forfeits[0].detail
    assert len(detail) <= MAX_TRACEBACK_CHARS
    detail.encode()
    assert "\x1b" not in play(faulty(raising(ValueError("\x1b[31m"))), Random).forfeits[0].detail


def test_a_traceback_names_the_line_that_failed():
    def complain(state):
        raise ValueError("here")

    detail = play(faulty(complain), Random).forfeits[0].detail
    assert "in complain" in detail
    assert detail.rstrip().endswith("ValueError: here")
