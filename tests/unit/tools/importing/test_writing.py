"""Rules of writing drafts into a catalogue."""

from __future__ import annotations

from pathlib import Path

import pytest

from taoloop.tools.importing.checking import CheckedDraft, check_draft
from taoloop.tools.importing.writing import FileExists, write_drafts
from taoloop.tools.loading import load_catalogue
from tests.unit.tools.importing.openapi.documents import NEW_STYLE, report


def checked() -> list[CheckedDraft]:
    """Return the checked drafts of a small document."""
    made = report(NEW_STYLE, "*")
    return [check_draft(each, made.bases) for each in made.drafts]


def test_a_new_directory_becomes_a_catalogue_that_loads(tmp_path: Path) -> None:
    written = write_drafts(tmp_path / "new", checked(), {"trains": "http://trains.internal"}, name="trains")
    assert [path.name for path in written.files] == ["get_trips.yaml"]
    loaded = load_catalogue(tmp_path / "new")
    assert loaded.errors == ()
    assert loaded.catalogue is not None
    assert loaded.catalogue.bases == {"trains": "http://trains.internal"}


def test_what_people_may_have_edited_is_never_overwritten_unasked(tmp_path: Path) -> None:
    write_drafts(tmp_path, checked(), {}, name="trains")
    (tmp_path / "tools" / "get_trips.yaml").write_text("mine")
    with pytest.raises(FileExists, match=r"get_trips\.yaml would be overwritten"):
        write_drafts(tmp_path, checked(), {}, name="trains")
    assert (tmp_path / "tools" / "get_trips.yaml").read_text() == "mine"
    write_drafts(tmp_path, checked(), {}, name="trains", replace=True)
    assert (tmp_path / "tools" / "get_trips.yaml").read_text() != "mine"


def test_a_catalogue_that_is_there_stays_and_its_missing_bases_are_told(tmp_path: Path) -> None:
    write_drafts(tmp_path, checked(), {"trains": "http://trains.internal"}, name="trains")
    before = (tmp_path / "catalogue.yaml").read_text()
    written = write_drafts(tmp_path, checked(), {"trains": "x", "other": "http://o"}, name="trains", replace=True)
    assert written.missing_bases == {"other": "http://o"}
    assert (tmp_path / "catalogue.yaml").read_text() == before
