"""Sessions: matches that persons play with bots, and searches of positions that they look at."""
