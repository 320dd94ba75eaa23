"""What bots add to their moves, as far as it is kept: notes, and estimates of their searches."""

from __future__ import annotations

from arena.match.estimates import MAX_MATCH_ESTIMATES, MAX_MATCH_VISIT_COUNTS, PackedEstimate, SearchInfo
from arena.match.player import MAX_MATCH_NOTES_CHARS


class Annotations:
    """Notes and estimates of one match, within its bounds."""

    def __init__(self) -> None:
        self.notes: list[tuple[int, str]] = []
        """Ply and text."""
        self.estimates: list[PackedEstimate] = []
        self.dropped: dict[int, int] = {}
        """By seat: evaluations, lines and visit counts that were wrong, and are not kept."""
        self._note_chars = self._visit_counts = 0

    def add_note(self, ply: int, note: str | None) -> None:
        """Keep a bot's note on its move, unless the notes of the match are too long already."""
        if note and self._note_chars < MAX_MATCH_NOTES_CHARS:
            self._note_chars += len(note)
            self.notes.append((ply, note))

    def add_estimate(self, ply: int, seat: int, info: SearchInfo) -> None:
        """Keep a bot's estimate, unless the match has too many already, and count its wrong parts."""
        evaluation, line, wrong, counts = info
        if self._visit_counts >= MAX_MATCH_VISIT_COUNTS:
            counts = ()
        if wrong:
            self.dropped[seat] = self.dropped.get(seat, 0) + wrong
        if (evaluation or line or counts) and len(self.estimates) < MAX_MATCH_ESTIMATES:
            self._visit_counts += len(counts) // 2
            self.estimates.append((ply, evaluation, line, counts))
