"""What connect four's sentences claim."""

from tests.engine.word_claims.common import placed, whole


def prompt(said):
    assert said.text == f"P{said.position.split(' ')[1]}: drop a stone into a column that is not full."


def told(said):
    seat, after = int(said.position.split(" ")[1]), said.after.split(" ")
    column, row, line = whole(
        rf"P{seat} drops a stone into column (.), where it lies in row (\d)(, which makes four in a line)?\.", said.text
    )
    rows = after[0].split("/")
    where = "abcdefg".index(column)
    assert column == said.action and rows[6 - int(row)][where] == "xo"[seat]
    assert int(row) == 6 or rows[5 - int(row)][where] == "."
    assert bool(line) == has_line(rows, "xo"[seat])


def has_line(rows, stone):
    steps = ((0, 1), (1, 0), (1, 1), (1, -1))
    cells = {(r, c) for r in range(6) for c in range(7) if rows[r][c] == stone}
    return any({(r + n * down, c + n * right) for n in range(4)} <= cells for r, c in cells for down, right in steps)


def verdict(said):
    where, why = whole("(.*): (.*)\\.", said.text)
    placed(said, where)
    rows = said.position.split(" ")[0].split("/")
    if any(has_line(rows, stone) for stone in "xo"):
        assert why == "four are in a line"
    else:
        assert why == "the board is full and no four are in a line" and "." not in rows[0]
