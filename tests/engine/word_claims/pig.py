"""What Pig's sentences claim."""

from tests.engine.word_claims.common import compared, placed, whole


def read(position):
    points, pot, seat, phase = position.split(" ")
    return [int(number) for number in points.split("/")], int(pot), int(seat), phase


def prompt(said):
    _, pot, seat, phase = read(said.position)
    if phase == "rolls":
        assert said.text == f"P{seat} rolls the die."
    else:
        what = f"roll again, or hold the {pot} points in the pot" if pot else "roll the die"
        assert said.text == f"P{seat}: {what}."


def told(said):
    points, pot, seat, phase = read(said.position)
    after_points, after_pot, _, _ = read(said.after)
    if phase == "chooses" and said.action == "roll":
        assert said.text == f"P{seat} takes the die."
    elif phase == "chooses":
        held = points[seat] + pot
        assert said.text == f"P{seat} holds {pot} points, {held} in all." and after_points[seat] == held
    elif said.action == "1":
        what = f"costs the {pot} points in the pot" if pot else "ends the turn"
        assert said.text == f"P{seat} rolls a 1, which {what}." and after_pot == 0
    else:
        now = pot + int(said.action)
        assert said.text == f"P{seat} rolls a {said.action}: {now} points are in the pot." and after_pot == now


def verdict(said):
    where, score = whole(r"(.*?), (.*): 100 are enough\.", said.text)
    placed(said, where)
    points = read(said.position)[0]
    compared(said, points, score.replace(" points", ""))
    assert max(points) >= 100
