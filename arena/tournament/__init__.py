"""A log with its plan: `tournament.Tournament` is the one door to it, `logs` and `finding` say where it is."""
