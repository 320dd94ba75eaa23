import signal

from bots import Bot

EXPECTED = {"process": "plays on", "sandbox": "plays on"}


class IgnoresSigterm(Bot):
    def prepare(self):
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)

    def choose(self, state):
        return state.legal_actions()[0]
