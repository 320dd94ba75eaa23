"""The interface for programs, asked by a fuzzer that follows its OpenAPI description (Schemathesis)."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.python.asgi import get_client
from schemathesis.specs.openapi.checks import response_schema_conformance

from arena.web.contest import access
from arena.web.contest.api import API_PREFIX
from tests.arena.web.contest.conftest import ADDRESS, BOT, finish_check, hand_in

EXAMPLES = 60
"""Requests to each operation, valid ones and others together."""
DOCUMENTED = {503, 507}
"""Statuses above 499 that the description has."""
KNOWN = {"id": "cup", "bot": "b1", "number": 1}
UNKNOWN = {"/contests/{id}/standings", "/contests/{id}/matches", "/contests/{id}/matches/{match}"}
"""What is not there before a round has been played."""
SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def fuzzed(cup, monkeypatch):
    """Return a contest with a bot of Ann's, and what her requests are sent by; nobody asks too often."""
    hand_in(cup.ann)
    finish_check(cup.accounts)
    monkeypatch.setattr(access.RateLimit, "take", lambda self, client: self.burst)
    with get_client(cup.app) as http:
        yield cup, http


def asked(operation, statuses, http, tokens):
    """Ask for one operation, in ways that its description allows and does not; return the statuses of the answers."""
    found = set()
    cases = operation.as_strategy(GenerationMode.POSITIVE) | operation.as_strategy(GenerationMode.NEGATIVE)

    @settings(SETTINGS)
    @given(cases, st.sampled_from(tokens), st.booleans())
    def ask(case, token, is_there):
        places = case.path_parameters or {}
        if is_there:  # else nearly all that is asked for is not there
            case.path_parameters = {key: KNOWN.get(key, value) for key, value in places.items()}
            if "file" in case.query:
                case.query, case.body = {"file": "mine.py", "name": "mybot"}, BOT
        case.headers["Authorization"] = f"Bearer {token}"
        answer = case.call(session=http, base_url=f"{ADDRESS}{API_PREFIX}")
        found.add(answer.status_code)
        assert answer.status_code < 500 or answer.status_code in DOCUMENTED, case.as_curl_command()
        assert answer.status_code in statuses | {404, 405}, (answer.status_code, case.as_curl_command())
        if answer.status_code in statuses:
            case.validate_response(answer, checks=[response_schema_conformance])

    ask()
    return found


@pytest.mark.system
def test_no_request_makes_the_server_fail_or_answer_what_is_not_described(fuzzed):
    cup, http = fuzzed
    description = cup.stranger.get(f"{API_PREFIX}/openapi.json").json()
    schema = schemathesis.openapi.from_dict(description)
    schema.app = cup.app
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) == sum(map(len, description["paths"].values())) >= 13
    for operation in operations:
        statuses = {int(status) for status in description["paths"][operation.path][operation.method]["responses"]}
        found = asked(operation, statuses, http, ["", cup.ann.token, cup.boss.token, "made-up"])
        assert min(found) < 300 or operation.path in UNKNOWN, (operation.label, found)
