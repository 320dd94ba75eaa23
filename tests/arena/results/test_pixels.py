"""A match in pixels: the same bytes again, bounded frames and sizes, and nothing that a drawing could load."""

import io
from dataclasses import replace

import pytest
from PIL import Image, ImageSequence

from arena import api
from arena.cli.app import run_command
from arena.core.errors import ConfigError, StoreError
from arena.match.json_lines import match_as_line
from arena.results.pages import pixels, rasteriser
from arena.results.pages.pixels import LAST_MILLISECONDS, MAX_GIF_SIDE, match_gif, position_png, write_pixels
from engine import game_type, load_game


@pytest.fixture(scope="module")
def match():
    return api.play_match("epicycle", ["greedy", "random"], 3)


def frames_of(data):
    """Return the frames of a GIF with how long each is shown."""
    image = Image.open(io.BytesIO(data))
    return [(frame.convert("RGB"), frame.info["duration"]) for frame in ImageSequence.Iterator(image)]


def test_a_gif_shows_every_position_and_the_last_one_longer_and_is_the_same_bytes_again(match):
    data = match_gif(match)
    frames = frames_of(data)
    assert len(frames) == len(match.moves) + 1
    assert max(frames[0][0].size) == MAX_GIF_SIDE
    assert frames[-1][1] == LAST_MILLISECONDS > 3 * frames[0][1]
    assert len({frame.tobytes() for frame, _ in frames}) == len(frames)
    assert Image.open(io.BytesIO(data)).info["loop"] == 0
    assert match_gif(match) == data


@pytest.mark.parametrize(("count", "most", "plies"), [(1, 9, [0]), (5, 9, [0, 1, 2, 3, 4]), (10, 4, [0, 3, 6, 9])])
def test_of_a_long_match_plies_in_equal_steps_are_shown_the_first_and_the_last_among_them(count, most, plies):
    assert pixels.spread(count, most) == plies


def test_no_number_of_plies_gives_more_frames_than_allowed():
    for count in range(1, 300):
        for most in (2, 7, 40):
            shown = pixels.spread(count, most)
            assert len(shown) <= most and {shown[0], shown[-1]} == {0, count - 1}


def test_a_gif_has_no_more_frames_and_bytes_than_allowed(match, monkeypatch):
    monkeypatch.setattr(pixels, "MAX_GIF_FRAMES", 3)
    assert len(frames_of(match_gif(match))) <= 3
    monkeypatch.undo()
    whole = match_gif(match)
    monkeypatch.setattr(pixels, "MAX_GIF_BYTES", len(whole) - 1)
    assert len(match_gif(match)) < len(whole)


def test_a_png_shows_the_position_after_a_ply_and_by_default_the_last_one(match):
    last = len(match.moves)
    assert position_png(match) == position_png(match, last) != position_png(match, last - 1)
    image = Image.open(io.BytesIO(position_png(match, 0, narrow=True)))
    assert image.size[0] == 2 * 340
    for ply in (-1, last + 1):
        with pytest.raises(
            ConfigError, match=f"--ply: is {ply}, and the match has {last} plies: 0, the start, to {last}"
        ):
            position_png(match, ply)


@pytest.mark.parametrize(
    ("picture", "why"),
    [
        ('<svg viewBox="0 0 9 9"><image href="file:///etc/passwd"/></svg>', "it holds <image>"),
        ('<svg viewBox="0 0 9 9"><use href="other.svg#x"/></svg>', "it holds <use>"),
        ('<svg viewBox="0 0 9 9"><pattern width="1e9" height="1e9"/></svg>', "it holds <pattern>"),
        ('<svg viewBox="0 0 9 9" width="60000" height="60000"/>', "it is 60000 by 60000 units large"),
        ('<svg viewBox="0 0 9 9" width="60000"/>', "it must have both a width and a height in pixels"),
        ('<svg viewBox="0 0 9 9" width="1" height="90000%"/>', "it must have both a width and a height in pixels"),
        ('<svg viewBox="0 0 9 9" width="1e9" height="1"/>', "it must have both a width and a height in pixels"),
        ('<svg viewBox="0 0 1e9 9"/>', "it is 1e[+]09 by 9 units large"),
        ('<svg viewBox="0 0 nan 9"/>', "it is nan by 9 units large"),
        ("<svg", "cannot be shown in pixels"),
        (None, "is no text of at most"),
    ],
)
def test_a_drawing_that_could_load_something_or_is_too_large_is_refused(match, monkeypatch, picture, why):
    monkeypatch.setattr(type(load_game("epicycle", 2).new_initial_state()), "picture", lambda state, **_: picture)
    for draw in (match_gif, position_png):
        with pytest.raises(StoreError, match=why):
            draw(match)


def test_both_are_written_by_the_function_and_by_the_command(match, tmp_path, capsys):
    png, gif = tmp_path / "p.png", tmp_path / "m.gif"
    assert write_pixels(match, png, gif, 2) == [png, gif]
    assert (png.read_bytes(), gif.read_bytes()) == (position_png(match, 2), match_gif(match))
    assert run_command(["replay", "0", "--ply", "3"]) == 2
    assert capsys.readouterr().err == "error: --ply: names the position that --png writes; add --png FILE\n"


def test_nothing_is_written_where_one_of_two_files_cannot_be(match, tmp_path, monkeypatch):
    def fail(match):
        raise StoreError("not drawn")

    monkeypatch.setattr(pixels, "match_gif", fail)
    with pytest.raises(StoreError, match="not drawn"):
        write_pixels(match, tmp_path / "p.png", tmp_path / "m.gif")
    assert not list(tmp_path.iterdir())


def test_the_command_leaves_no_page_where_its_gif_cannot_be_drawn(match, tmp_path, monkeypatch, capsys):
    rules_version = game_type("epicycle").rules_version
    line = match_as_line(replace(match, labels=match.bots, identities=["a", "b"], rules_version=rules_version))
    (tmp_path / "m.jsonl").write_text(line + "\n")

    def fail(match):
        raise StoreError("not drawn")

    monkeypatch.setattr(pixels, "match_gif", fail)
    page, gif = tmp_path / "page.html", tmp_path / "m.gif"
    assert run_command(["replay", str(tmp_path / "m.jsonl"), "--html", str(page), "--gif", str(gif)]) != 0
    assert capsys.readouterr().err == "error: not drawn\n"
    assert [path.name for path in tmp_path.iterdir()] == ["m.jsonl"]


def test_a_drawing_that_takes_too_long_is_given_up(match, monkeypatch):
    blurred = "".join(f'<feGaussianBlur stdDeviation="{900 + number}"/>' for number in range(400))
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2000 2000"><filter id="f">{blurred}</filter>'
        '<rect width="2000" height="2000" filter="url(#f)"/></svg>'
    )
    monkeypatch.setattr(type(load_game("epicycle", 2).new_initial_state()), "picture", lambda state, **_: picture)
    monkeypatch.setattr(rasteriser, "PICTURE_CPU_SECONDS", 1)
    with pytest.raises(StoreError, match="it takes more than 1 s to be drawn"):
        position_png(match)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--png", "FILE", "--gif", "FILE"], "--png FILE: is the file of --gif already; name another one"),
        (["--html", "FILE", "--png", "FILE"], "--png FILE: is the file of --html already; name another one"),
        (["--png", "FILE", "--gif", "/dev/full"], "--gif /dev/full: is a device, a pipe or a socket; name a file"),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_anything_is_done(options, why, tmp_path, capsys):
    file = str(tmp_path / "out")
    assert run_command(["replay", "0", *(file if each == "FILE" else each for each in options)]) == 2
    assert capsys.readouterr().err == f"error: {why.replace('FILE', file)}\n"
    assert not list(tmp_path.iterdir())
