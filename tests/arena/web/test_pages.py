"""What pages say, and what they answer to addresses that there are not."""

import pytest


def test_the_list_names_every_tournament_with_its_progress(client):
    page = client.get("/")
    assert page.status_code == 200
    assert 'href="/tournaments/shown"' in page.text and "complete" in page.text


def test_a_tournament_has_the_figures_of_its_boards(client):
    for _ in range(100):
        page = client.get("/tournaments/shown")
        if "being computed" not in page.text:
            break
    assert "epicycle, 2 players" in page.text and "epicycle, 3 players" in page.text
    assert page.text.count("<figure") >= 8 and "<svg" in page.text


@pytest.mark.parametrize(
    "name", ["none", "..", "%2e%2e", "..%2f..", "x" * 3000, "%00", "shown%2Fmatches.db", "compare", "‮"]
)
def test_unknown_and_hostile_names_are_not_found(client, name):
    page = client.get(f"/tournaments/{name}")
    assert page.status_code in (200, 404)
    assert page.status_code == 404 or "/tournaments/shown" in page.text  # `..` is the list itself
    assert "Traceback" not in page.text


def test_a_page_that_a_browser_has_is_not_sent_again(client):
    tag = client.get("/").headers["etag"]
    again = client.get("/", headers={"If-None-Match": tag})
    assert again.status_code == 304 and not again.content
    assert client.get("/", headers={"If-None-Match": '"another"'}).status_code == 200


def test_styles_and_scripts_with_their_version_stay_in_caches(client):
    import re

    for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', client.get("/").text):
        answer = client.get(address)
        assert answer.status_code == 200 and "immutable" in answer.headers["cache-control"]
        assert "immutable" not in client.get(address.partition("?")[0]).headers["cache-control"]
