"""Every command line and code block of all pages runs, and prints what the page shows."""

import pytest

from tests.support.documents import ROOT, blocks, pages, run_page
from tests.test_documents import PAGES

OTHERS = [str(page.relative_to(ROOT)) for page in pages() if str(page.relative_to(ROOT)) not in PAGES]


@pytest.mark.parametrize("page", [page for page in OTHERS if any(blocks(ROOT / page))])
def test_every_block_of_the_page_runs_and_prints_what_it_shows(page, tmp_path):
    run_page(ROOT / page, tmp_path)
