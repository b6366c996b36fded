"""Bundles: deterministic, complete, and refused once changed."""

from pathlib import Path

import pytest

from taoloop.tools.bundle import BundleRefused, pack, read_bundle
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.loading import load_catalogue
from taoloop.tools.signature import ToolSignature
from tests.unit.tools.contracts import document, write_catalogue


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    loaded = load_catalogue(write_catalogue(tmp_path, document("tool_b"), document("tool_a"))).catalogue
    assert loaded is not None
    return loaded


def test_a_bundle_gives_the_same_catalogue_back(catalogue: Catalogue, tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_text(pack(catalogue))
    result = load_catalogue(path)
    assert result.findings == ()
    assert result.catalogue is not None
    assert (result.catalogue.digest, result.catalogue.bases) == (catalogue.digest, catalogue.bases)
    assert pack(result.catalogue) == pack(catalogue)


def test_bases_can_be_replaced_when_a_bundle_is_loaded(catalogue: Catalogue, tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_text(pack(catalogue))
    loaded = load_catalogue(path, {"orders": "https://orders.example"}).catalogue
    assert loaded is not None
    assert loaded.bases == {"orders": "https://orders.example"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Status of one order.", "Status of two orders."),
        ('"read"', '"write"'),
        ('"kind":"CatalogueBundle"', '"kind":"Bundle"'),
        ('"digest":"', '"digest":"0'),
        (
            "{",
            "",
        ),
    ],
)
def test_a_changed_bundle_is_refused(catalogue: Catalogue, tmp_path: Path, old: str, new: str) -> None:
    text = pack(catalogue).replace(old, new, 1)
    with pytest.raises(BundleRefused):
        read_bundle(text)
    path = tmp_path / "bundle.json"
    path.write_text(text)
    result = load_catalogue(path)
    assert result.catalogue is None
    assert [finding.code for finding in result.findings] == ["BUNDLE"]


def test_the_contracts_of_a_bundle_are_checked_like_files(catalogue: Catalogue, tmp_path: Path) -> None:
    from taoloop.core import exact_json
    from taoloop.tools.loading.bundle_file import documents_digest

    content = exact_json.loads(pack(catalogue))
    assert isinstance(content, dict)
    faulty = document("tool_a", spec__effect="delete")
    content |= {"tools": [faulty], "digest": documents_digest((faulty,))}
    path = tmp_path / "bundle.json"
    path.write_text(exact_json.dumps(content))
    assert [(each.code, each.pointer) for each in load_catalogue(path).errors] == [("FORM", "/spec/effect")]


def test_a_catalogue_of_signatures_cannot_be_packed() -> None:
    signature = ToolSignature(name="find", description="Find", parameters={"type": "object"})
    with pytest.raises(ValueError, match="signature only"):
        pack(Catalogue.from_signatures([signature]))


def test_a_missing_bundle_is_a_finding(tmp_path: Path) -> None:
    assert [each.code for each in load_catalogue(tmp_path / "none.json").findings] == ["BUNDLE"]
