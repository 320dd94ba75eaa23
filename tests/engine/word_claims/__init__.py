"""What sentences of games claim, held against the text of positions by naive code; a module for each game.

A module has `prompt`, `told` and `verdict`, which raise `AssertionError` where a sentence is not true. Players are
called P0, P1 and so on in it.
"""
