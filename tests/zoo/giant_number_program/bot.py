"""A number that takes long to read."""

from talking import say, talk

EXPECTED = {"process": "protocol", "sandbox": "protocol"}

talk(lambda legal: say('{"type":"action","action":' + "9" * 60_000 + "}"))
