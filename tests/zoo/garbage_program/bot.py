"""Says what is no JSON."""

from talking import say, talk

EXPECTED = {"process": "protocol", "sandbox": "protocol"}

talk(lambda legal: say("Hmm, let me see ..."))
