"""Every command line and code block of all pages runs, and prints what the page shows."""

import json

import pytest

from tests.support.documents import ROOT, blocks, copy_inputs, described, pages, run_line, run_page


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in pages() if any(blocks(page))])
def test_every_block_of_the_page_runs_and_prints_what_it_shows(page, tmp_path):
    run_page(ROOT / page, tmp_path)


def test_every_key_that_commands_print_as_json_is_described(tmp_path):
    copy_inputs(tmp_path)
    run_line("arena run configs/smoke.toml", tmp_path)
    status, verified, compared, read, crosstable = (
        json.loads(run_line(f"arena {command}", tmp_path))
        for command in (
            "status smoke --json",
            "verify smoke --rerun 2 --json",
            "compare greedy random --game epicycle --json",
            "compare greedy random --from smoke --players 2 --game epicycle --json",
            "crosstable smoke --format json --matrix --alpha-rank",
        )
    )
    board = json.loads((tmp_path / "reports" / "smoke" / "epicycle_2p.json").read_text())
    printed = [status, *status["boards"], verified, *verified["bots"], compared, compared["test"], read, board]
    keys = {key for found in printed for key in found}
    assert [key for key in sorted(keys) if not described(key, "docs/reference/json.md")] == []
    assert [key for key in crosstable[0] if not described(key, "docs/reference/columns.md")] == []
