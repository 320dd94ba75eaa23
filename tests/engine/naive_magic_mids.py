"""Magic Mids once more, slowly and over position strings: written from the rulebook, not from the engine."""

from itertools import product

HEADERS, ROWS, SIZES = "2345", "abcde", "SML"
STOCK = {2: "555", 3: "353", 4: "242"}


def placements(roll: str) -> set[str]:
    """Return size and column of everything that a roll allows: `S2`, `L5` ..."""
    shown = [face for face in roll if face != "b"]
    if not shown:
        return {size + header for size in SIZES for header in HEADERS}
    found = set()
    for copies in product(shown, repeat=roll.count("b")):
        faces = shown + list(copies)
        if faces.count("a") == 3:
            found |= {"S" + header for header in HEADERS}
        if faces.count("a") == 2:
            found |= {"S" + face for face in faces if face != "a"}
        found |= {"M" + header for header in HEADERS if faces.count(header) == 2}
        found |= {"L" + header for header in HEADERS if faces.count(header) == 3}
    return found


def read(position: str) -> tuple[dict[tuple[int, int], str], list[dict[str, int]], int, str, int]:
    """Read (board, hands, seat, roll, turn) of a running match; the board maps (row, column) to seat and size."""
    rows, hands, seat, roll, turn = position.split(" ")
    board = {
        (row, column): line[2 * column : 2 * column + 2]
        for row, line in enumerate(rows.split("/"))
        for column in range(4)
        if line[2 * column] != "."
    }
    return (
        board,
        [dict(zip(SIZES, map(int, hand), strict=True)) for hand in hands.split("/")],
        int(seat),
        roll,
        int(turn),
    )


def write(board: dict[tuple[int, int], str], hands: list[dict[str, int]], seat: object, roll: str, turn: int) -> str:
    rows = "/".join("".join(board.get((row, column), "..") for column in range(4)) for row in range(5))
    return f"{rows} {'/'.join(''.join(str(hand[size]) for size in SIZES) for hand in hands)} {seat} {roll} {turn}"


def legal(position: str) -> set[str]:
    board, hands, seat, roll, _ = read(position)
    return {
        size + ROWS[row] + header
        for size, header in map(tuple, placements(roll))
        for row in range(5)
        if hands[seat][size] and (row, HEADERS.index(header)) not in board
    }


def captured(board: dict[tuple[int, int], str], row: int, column: int, each: bool) -> set[tuple[int, int]]:
    """Return the squares whose mids fall to the mid that was just placed."""
    seat, size = tuple(board[row, column])
    fallen = set()
    for down, right in product((-1, 0, 1), repeat=2):
        between = (row + down) % 5, (column + right) % 4
        far = (row + 2 * down) % 5, (column + 2 * right) % 4
        if board.get(between, seat)[0] == seat or board.get(far, "x")[0] != seat:
            continue
        powers = [SIZES.index(size) + 1, SIZES.index(board[far][1]) + 1]
        if (min(powers) if each else sum(powers)) > SIZES.index(board[between][1]) + 1:
            fallen.add(between)
    return fallen


def play(position: str, action: str, each: bool = False, max_turns: int = 2000) -> tuple[str, str]:
    """Return (the position after a placement, how the match ended)."""
    board, hands, seat, roll, turn = read(position)
    row, column = ROWS.index(action[1]), HEADERS.index(action[2])
    board[row, column] = f"{seat}{action[0]}"
    hands[seat][action[0]] -= 1
    for square in captured(board, row, column, each):
        owner, size = tuple(board.pop(square))
        hands[int(owner)][size] += 1
    ended = "normal" if not any(hands[seat].values()) else "full board" if len(board) == 20 else ""
    if roll == "bbb" and not ended:
        return write(board, hands, seat, "-", turn), ""
    turn += 1
    ended = ended or ("cap" if turn == max_turns else "")
    return write(board, hands, "-" if ended else turn % len(hands), "-", turn), ended
