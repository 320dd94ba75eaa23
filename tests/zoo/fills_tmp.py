"""Its temporary files end at 64 MiB; the next bot has as much again."""

from bots import Bot

EXPECTED = {"sandbox": "plays on"}


class FillsTmp(Bot):
    def choose(self, state):
        self.note = "got more than 64 MiB"
        try:
            for number in range(100):
                with open(f"/tmp/big{number}", "xb") as file:
                    file.write(bytes(2**20))
        except OSError:
            self.note = "got nothing" if number <= 64 else f"got {number} MiB"
        return state.legal_actions()[0]
