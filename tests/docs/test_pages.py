"""What the README and the tutorials say works as it stands; `tests/system` does the same for all other pages."""

import pytest

from tests.support.documents import ROOT, run_page

PAGES = ["README.md", "docs/tutorials/first-bot.md", "docs/tutorials/first-tournament.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_the_page_runs_and_prints_what_it_shows(page, tmp_path):
    run_page(ROOT / page, tmp_path)
