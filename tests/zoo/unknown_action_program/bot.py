"""An action that no game knows, with characters that no text has."""

from talking import say, talk

EXPECTED = {"process": "illegal_action", "sandbox": "illegal_action"}

talk(lambda legal: say('{"type":"action","action":"\\ud800\\u0000\\u001b[2J"}'))
