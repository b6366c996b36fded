"""A command writes a file whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from taoloop.cli.batch.writing import write_whole
from taoloop.core.errors import InvalidRequest


def test_a_file_is_written_with_its_folders_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.json"
    write_whole(path, "文")
    assert path.read_text(encoding="utf-8") == "文"
    assert [each.name for each in path.parent.iterdir()] == ["b.json"]
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_a_file_that_is_there_stays_unless_it_may_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    with pytest.raises(InvalidRequest, match="is there already"):
        write_whole(path, "new", is_replacing=False)
    assert path.read_text() == "old"
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


def test_an_interrupt_while_writing_leaves_the_old_file_and_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


def test_a_link_is_followed(tmp_path: Path) -> None:
    path, link = tmp_path / "a.json", tmp_path / "link.json"
    path.write_text("old")
    link.symlink_to(path)
    write_whole(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidRequest, match="cannot be written"):
        write_whole(tmp_path / "file" / "a.json", "x")


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
