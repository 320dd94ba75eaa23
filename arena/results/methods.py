"""How results came about, in words for a paper: a caption, a paragraph on methods, and how to make them again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from arena.core.citation import KEY, package_version
from arena.core.match_ids import list_dice_kinds
from arena.results.adjudication import adjudicated_note
from arena.results.tables import latex_text, markdown_text
from arena.schedule.blocks import Schedule
from arena.schedule.boards import budgets_in_words
from arena.schedule.scheduler import Scheduler
from arena.stats.multiple import FAMILY_WISE_ERROR
from arena.tournament.tournament import Tournament
from engine.words import listed

TOOL = "Pyramid Arena"
PACKAGES = ("numpy", "numba", "scipy", "pandas", "trueskill", "ray")
"""Of which versions are told."""
EXPLAINED = (
    "The first bot of each board has the highest rating of those that are not disqualified; differences are mean "
    "returns of a bot minus those of the first, from -2 to 2, in the matches that both played."
)


class Paragraphs(NamedTuple):
    """What is said beside the table, as plain texts."""

    caption: str
    methods: str
    reproducibility: str

    @property
    def markdown(self) -> str:
        """Both paragraphs as a page."""
        methods, again = markdown_text(self.methods), markdown_text(self.reproducibility)
        return f"# Methods\n\n{methods}\n\n# Reproducibility\n\n{again}\n"

    @property
    def latex(self) -> str:
        """Both paragraphs for `\\input`, with the reference in paper.bib."""
        methods = latex_text(self.methods).replace(TOOL, f"{TOOL}~\\cite{{{KEY}}}", 1)
        return (
            f"{{\\sloppy\n\\paragraph{{Methods.}} {methods}\n\n"
            f"\\paragraph{{Reproducibility.}} {latex_text(self.reproducibility)}\n\n}}\n"
        )


def paragraphs(tournament: Tournament, digest: str, searched: bool = False) -> Paragraphs:
    """Return what is said of a tournament whose plan.json has a hash; `searched`: the table has steps of searches."""
    counted = [tournament.counted(index) for index in range(len(tournament.schedule.boards))]
    matches = sum(len(board.rows) for board in counted)
    forfeits = sum(int(board.forfeited.sum()) for board in counted)
    boards = listed([board.title for board in tournament.schedule.boards])
    is_foreign = tournament.plan.foreign is not None
    caption = (
        f"{matches:,} matches on {boards}. Intervals are at 95 %, over blocks of matches. {EXPLAINED} P-values are "
        "adjusted by Holm's method for all pairs of a board."
        + " Times a move are means." * (not is_foreign)
        + SEARCHED * searched
    )
    blocks = FOREIGN_BLOCKS if is_foreign else BLOCKS
    holm = f"{STATISTICS} {APPROXIMATE if _follows_results(tournament.schedule) else FAMILY}"
    methods = f"{_played(tournament, matches, forfeits)} {RATINGS} {blocks} {holm}"
    return Paragraphs(caption, methods, _again(tournament, digest))


SEARCHED = " So is what is searched a move: simulations, nodes or playouts."
RATINGS = (
    "Returns are -1 for the last place to 1 for the first; ratings are the fixed point of expectation propagation "
    "under the TrueSkill model over all matches of a board at once."
)
BLOCKS = (
    "Matches of a block share opening and, among trusted bots, dice, so blocks are the units of all intervals "
    "(Student's t at 95 %, wider where blocks are few or all alike); blocks that repeat others move by move count "
    "there once."
)
FOREIGN_BLOCKS = (
    "Blocks are the units of all intervals (Student's t at 95 %): those that the file names, or else single matches."
)
STATISTICS = (
    "Two bots are compared by the mean difference of their returns, by a two-sided t "
    "test over blocks that gives no p-value below what turning the signs of decided blocks around could give. "
    "P-values are adjusted by Holm's method for all pairs of a board."
)
FAMILY = (
    f"That bounds the family-wise error rate of a board by {FAMILY_WISE_ERROR:g}, the level at which pairs are called "
    "different."
)
APPROXIMATE = (
    "Which sets of bots met, or in how many blocks, followed from earlier results. Intervals and p-values do not allow "
    f"for that: {FAMILY_WISE_ERROR:g}, the level at which pairs are called different, bounds the family-wise error "
    "rate only approximately."
)


def _follows_results(schedule: Schedule) -> bool:
    """Return whether who met whom, or how often, followed from results that count."""
    is_test = schedule.comparison is not None and schedule.comparison.test is not None
    return schedule.scheduler.has_stages or schedule.scheduler.has_events or is_test


def _kind_in_words(scheduler: Scheduler) -> str:
    """Return a kind of schedule with its article, and its keys where results decide what it plays."""
    words = scheduler.describe()
    if scheduler.has_stages:
        fields = scheduler.model_dump(exclude_none=True, exclude={"draw"})
        keys = [
            f"{name.replace('_', ' ')} {value:g}" if isinstance(value, float) else f"{name.replace('_', ' ')} {value}"
            for name, value in fields.items()
        ]
        words += f" ({', '.join(keys)})" if keys else ""
    return f"{'an' if words[:1] in 'aeiou' else 'a'} {words}"


def _out_in_words(tournament: Tournament) -> str:
    """Return who was disqualified where, as a sentence; empty where nobody was."""
    schedule = tournament.schedule
    out = [
        f"{schedule.entries[entry].label} (on {board.title})"
        for index, board in enumerate(schedule.boards)
        for entry in sorted(tournament.disqualified(index))
    ]
    return f" Disqualified for forfeits, and below all others: {listed(out)}." if out else ""


def _played(tournament: Tournament, matches: int, forfeits: int) -> str:
    """Return who played what."""
    plan, schedule = tournament.plan, tournament.schedule
    bots = [entry.label if entry.label == entry.spec else f"{entry.label} ({entry.spec})" for entry in schedule.entries]
    boards = listed([board.title for board in schedule.boards])
    if plan.foreign is not None:
        return (
            f"The results are those of {matches:,} matches of {len(bots):,} bots on {boards}, which were played "
            f"elsewhere ({plan.foreign.status}, file {plan.foreign.file}) and evaluated by {TOOL} {package_version()}."
        )
    openings = sorted({board.opening for board in schedule.boards})
    opened = listed([str(plies) for plies in openings if plies])
    lengths = f"random openings of {opened} plies" if opened else "no random openings"
    lengths += ", or none" if opened and 0 in openings else ""
    blocks = sorted({board.blocks for board in schedule.boards})
    budgets = budgets_in_words(schedule.entries, schedule.boards)
    calibrated = (
        " Times a move were calibrated once, in processor time of one machine: "
        f"{listed([f'{label}, {text}' for label, text in budgets.items()])}."
        if budgets
        else ""
    )
    seats = "1 seat was" if forfeits == 1 else f"{forfeits:,} seats were"
    said = f"{seats} forfeited.{_out_in_words(tournament)}" if forfeits else "No match was forfeited."
    return (
        f"By {TOOL} {package_version()}, {_kind_in_words(schedule.scheduler)} of {len(bots):,} bots was played on "
        f"{boards}, with {lengths}; {matches:,} matches count. Bots: {listed(bots)}. Each set of bots that met played "
        f"blocks (planned: {listed([f'{count:,}' for count in blocks])}) in which seats rotate ({plan.line_ups}), with "
        f"{list_dice_kinds(schedule.dice_kinds()) or 'public'} dice and seed {plan.seed}. A move had a limit of "
        f"{plan.limits.seconds_per_move:g} s. {said}{_adjudicated(tournament)}{calibrated}"
    )


def _adjudicated(tournament: Tournament) -> str:
    """Return by which rules matches were ended early, and how many; empty where no board has any."""
    notes = [
        f" On {board.title}, {note}"
        for index, board in enumerate(tournament.schedule.boards)
        if (note := adjudicated_note(tournament, index))
    ]
    return "".join([" Matches were ended early, that is adjudicated, where a rule held.", *notes]) if notes else ""


def _again(tournament: Tournament, digest: str) -> str:
    """Return how the results can be made again, and on what they were made."""
    plan, versions = tournament.plan, tournament.store.runs.last_versions()
    made_on = f"The last run was made on {_machine(versions)}"
    if plan.foreign is not None:
        return f"The file of the results has the BLAKE2b-256 hash {plan.foreign.digest}."
    clocks = (
        "Some bots looked at a clock, so their matches depend on the machine."
        if _is_timed(tournament)
        else "No match depended on a clock: all results follow from the plan, and are the same, bit for bit, on any "
        "number of processes."
    )
    again = "with its configuration plays the matches again"
    if tournament.schedule.has_secret_dice:
        again = "with its configuration draws new keys of the secret dice, while those of these matches are in the log"
    return (
        f"The plan (plan.json, BLAKE2b-256 {digest}) holds all bots by hash of their source and parameters, all limits "
        f"and the seed; `arena run` {again}, `arena verify {plan.name} --rerun 20` replays every match of the log and "
        f"plays 20 again. {clocks} {made_on}."
    )


def _is_timed(tournament: Tournament) -> bool:
    """Return whether any match that counts depended on a clock."""
    for index, board in enumerate(tournament.schedule.boards):
        timed = [bool(one) for (one,) in tournament.store.board(board.game, board.players).match_rows("m.timed")]
        if any(timed[row] for row in tournament.counted(index).rows.tolist()):
            return True
    return False


def _machine(versions: Mapping[str, str]) -> str:
    """Return processor, system and versions in words."""
    cores = versions.get("cores", "")
    processor = versions.get("processor") or versions.get("machine") or "an unknown processor"
    counted = f" ({cores} core{'s' * (cores != '1')})" if cores else ""
    packages = [
        f"{name} {versions[name]}" for name in PACKAGES if versions.get(name, "not installed") != "not installed"
    ]
    system = versions.get("platform", "an unknown system")
    return f"{re.sub(' +', ' ', processor)}{counted}, {system}, with Python {versions.get('python', '?')}" + (
        f", {listed(packages)}" if packages else ""
    )
