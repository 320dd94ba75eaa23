"""A proper line, but not the one that is due."""

from talking import say, talk

EXPECTED = {"process": "protocol", "sandbox": "protocol"}

talk(lambda legal: say('{"type":"ready"}'))
