"""`arena cite`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from arena.core.citation import bibtex, cff, sentence


def print_citation(target: str | None, format: Literal["bibtex", "text", "cff"], home: Path | None) -> None:
    """Run `arena cite`."""
    lines = [{"bibtex": bibtex, "text": sentence, "cff": cff}[format]().rstrip()]
    if target is not None:
        from arena.results.methods import paragraphs
        from arena.results.paper import plan_digest
        from arena.tournament.tournament import Tournament

        with Tournament.open(target, home) as tournament:
            told = paragraphs(tournament, plan_digest(tournament)).reproducibility
        lines += ["", f"{'% ' if format == 'bibtex' else '# ' * (format == 'cff')}{told}"]
    print("\n".join(lines))
