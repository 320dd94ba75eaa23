"""Tables at which persons play with bots, and searches of positions that they look at."""
