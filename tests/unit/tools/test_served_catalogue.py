"""What a service reads at start: a catalogue, or one error that lists its faults."""

from pathlib import Path

import pytest

from taoloop.core.errors import CatalogueInvalid
from taoloop.tools.served_catalogue import read_catalogue
from tests.unit.tools.contracts import document, write_catalogue


def test_a_catalogue_with_warnings_is_served(tmp_path: Path) -> None:
    assert len(read_catalogue(write_catalogue(tmp_path, document(spec__use_when="")))) == 1


def test_a_catalogue_with_errors_is_refused_and_its_faults_are_listed(tmp_path: Path) -> None:
    write_catalogue(tmp_path, document(spec__use_when="", spec__effect="no", spec__colour="red"))
    with pytest.raises(CatalogueInvalid, match="2 faults") as refused:
        read_catalogue(tmp_path)
    assert "/spec/effect" in refused.value.message
    assert "/spec/colour" in refused.value.message
