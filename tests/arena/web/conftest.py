"""A small tournament under a home, and the application that shows it."""

import pytest
from starlette.testclient import TestClient

import arena
from arena.web.app import create_app

ADDRESS = "http://127.0.0.1:8000"


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """Return a home with one complete tournament."""
    folder = tmp_path_factory.mktemp("home")
    bots = [{"bot": "random"}, {"bot": "greedy"}, {"bot": "random", "label": "other random"}]
    games = [{"game": "epicycle", "players": [2, 3]}]
    arena.run({"name": "shown", "blocks": 2, "games": games, "bots": bots}, home=folder, workers=1)
    return folder


@pytest.fixture(scope="session")
def client(home):
    """Return a client of the application."""
    with TestClient(create_app(home), base_url=ADDRESS, raise_server_exceptions=False) as found:
        yield found
