"""Features of states to learn from: one module per game, offered by its heuristics."""
