"""The levels of isolation, a file each, with a class `Level`."""
