"""JSON nested as deep as a line may be long."""

from talking import say, talk

EXPECTED = {"process": "protocol", "sandbox": "protocol"}

talk(lambda legal: say("[" * 60_000))
