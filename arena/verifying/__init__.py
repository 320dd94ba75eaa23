"""The parts of `arena.verify`: the file, its plans, its matches, what was exported, matches played again."""
