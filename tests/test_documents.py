"""What the documents say of configurations and boards is complete and true."""

import re
from pathlib import Path

import pytest

from arena import api
from arena.plan.config import BotEntry, Config, GameEntry, Limits, Output
from arena.workers.process import WorkerProcess

ROOT = Path(__file__).parents[1]
CONFIGS = sorted((ROOT / "configs").glob("*.toml"))


@pytest.fixture(scope="module")
def worker():
    process = WorkerProcess()
    process.start()
    yield process
    process.stop()


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_shipped_configuration_resolves_to_a_plan_and_is_listed(path, worker):
    plan = api.load_plan(path, worker)
    assert plan.schedule.total_matches > 0
    assert f"| `{path.name}` |" in (ROOT / "configs" / "README.md").read_text()


def test_every_key_of_a_configuration_is_described():
    text = (ROOT / "configs" / "README.md").read_text()
    for model in (Config, GameEntry, BotEntry, Limits, Output):
        for key in model.model_fields:
            assert f"`{key}`" in text, f"{model.__name__}.{key} is not described"


def test_every_column_of_a_leaderboard_is_described(tmp_path):
    result = api.run(ROOT / "configs" / "smoke.toml", tmp_path, workers=1, backend="local")
    text = (ROOT / "reports" / "README.md").read_text()
    for frame in result.leaderboards.values():
        for column in frame.columns:
            assert f"`{re.sub('seat_[0-9]', 'seat_0', column)}`" in text, f"{column} is not described"


def test_the_bot_in_the_readme_is_a_bot_that_plays(tmp_path):
    code = (ROOT / "README.md").read_text().split("```python\n# my_bot.py\n")[1].split("```")[0]
    (tmp_path / "my_bot.py").write_text(code)
    match = api.play_match("epicycle", [f"{tmp_path}/my_bot.py:Hopeful:boldness=0.5", "random"], seed=3)
    assert match.ended in ("normal", "repetition")
    assert not match.falls
