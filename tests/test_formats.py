"""The formats that docs/explanation/versions.md promises to keep are as they were recorded."""

import pytest

from tests import formats
from tests.formats import Format, complaint

NOW, RECORDED = formats.formats(), formats.read()


@pytest.mark.parametrize("name", [*NOW])
def test_a_format_is_as_it_was_recorded_for_its_version(name):
    assert complaint(name, RECORDED[name], NOW[name]) is None
    assert RECORDED[name] == NOW[name], "the record is out of date; if that is meant, run -m tests.formats"


def test_every_format_on_file_is_there():
    assert [*NOW] == [*RECORDED]


def test_a_change_under_the_same_version_is_an_error_and_a_new_line_is_none_but_in_the_log():
    before = Format(1, ["a", "b"])
    assert complaint("archive", before, Format(1, ["a", "c"])) == (
        "archive: changed at 'b'; undo it, or raise its version above 1"
    )
    assert complaint("archive", before, Format(2, ["a", "c"])) is None
    assert complaint("archive", before, Format(1, ["a", "b", "c"])) is None
    assert "changed at 'c'" in str(complaint("log", before, Format(1, ["a", "b", "c"])))
    assert "went back" in str(complaint("log", before, Format(0, ["a", "b"])))


def test_nothing_is_promised_before_the_first_release():
    assert complaint("columns", Format(0, ["a"]), Format(0, [])) is None
    assert complaint("columns", Format(0, ["a"]), Format(1, [])) is None
    assert complaint("columns", Format(1, ["a"]), Format(1, [])) is not None


def test_recording_refuses_a_change_without_a_new_version(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "FILE", tmp_path / "formats.txt")
    formats.write()
    assert formats.read() == NOW
    formats.FILE.write_text(formats.FILE.read_text().replace("identity TEXT NOT NULL", "identity TEXT"))
    with pytest.raises(ValueError, match=r"^log: changed at 'table bots"):
        formats.write()
