"""Vocabularies belong to the catalogue, and to the digest of every contract that names one."""

from pathlib import Path
from typing import Any

import pytest

from taoloop.core import exact_json
from taoloop.tools.bundle import pack
from taoloop.tools.loading import load_catalogue
from tests.unit.tools.contracts import document

BOOKING: dict[str, Any] = {"confirmed": ["booked", "sent"], "cancelled": ["void", 0]}
RULE = {"field": "/eta", "to": "/booking_status", "vocabulary": "booking"}


def write(directory: Path, vocabularies: Any, *rules: dict[str, Any]) -> Path:
    (directory / "tools").mkdir(exist_ok=True)
    (directory / "tools" / "a.yaml").write_text(exact_json.dumps(document(spec__observe={"normalise": list(rules)})))
    head = {"apiVersion": "taoloop.dev/v1", "kind": "Catalogue", "metadata": {"name": "shop"}}
    spec = {"bases": {"orders": "http://127.0.0.1:1"}, "vocabularies": vocabularies, "tools": "tools/*.yaml"}
    (directory / "catalogue.yaml").write_text(exact_json.dumps({**head, "spec": spec}))
    return directory


def test_contract_gets_the_words_of_the_vocabulary_that_it_names(tmp_path: Path) -> None:
    catalogue = load_catalogue(write(tmp_path, {"booking": BOOKING}, RULE)).catalogue
    assert catalogue is not None
    (rule,) = catalogue.tools["get_order"].observe.normalise

    assert rule.vocabulary == {"confirmed": ("booked", "sent"), "cancelled": ("void", 0)}
    output: Any = catalogue.output_schema("get_order")
    assert output["properties"]["booking_status"] == {"enum": ["confirmed", "cancelled"]}


def test_another_vocabulary_is_another_contract(tmp_path: Path) -> None:
    before = load_catalogue(write(tmp_path, {"booking": BOOKING}, RULE)).catalogue
    after = load_catalogue(write(tmp_path, {"booking": {**BOOKING, "open": ["new"]}}, RULE)).catalogue
    assert before is not None
    assert after is not None

    assert before.digest != after.digest


def test_bundle_holds_the_vocabulary(tmp_path: Path) -> None:
    catalogue = load_catalogue(write(tmp_path, {"booking": BOOKING}, RULE)).catalogue
    assert catalogue is not None
    (tmp_path / "bundle.json").write_text(pack(catalogue))

    again = load_catalogue(tmp_path / "bundle.json")

    assert again.findings == ()
    assert again.catalogue is not None
    assert again.catalogue.digest == catalogue.digest


def test_name_that_is_not_known_is_refused_with_near_ones(tmp_path: Path) -> None:
    (found,) = load_catalogue(write(tmp_path, {"booking": BOOKING}, {**RULE, "vocabulary": "bookings"})).errors

    assert (found.code, found.pointer) == ("UNKNOWN_VOCABULARY", "/spec/observe/normalise/0/vocabulary")
    assert found.remedy == "Use booking."


@pytest.mark.parametrize(
    ("vocabulary", "place"),
    [
        ({"a": ["x"], "b": ["X"]}, "/b/0"),
        ({"a": ["b"], "b": ["y"]}, "/a/0"),
        ({"a": ["1"], "b": [1]}, "/b/0"),
        ({"a": ["x"], "A": ["y"]}, ""),
    ],
)
def test_word_with_two_meanings_is_refused(tmp_path: Path, vocabulary: Any, place: str) -> None:
    (found, *_) = load_catalogue(write(tmp_path, {"words": vocabulary})).errors

    assert (found.code, found.pointer) == ("VOCABULARY", f"/spec/vocabularies/words{place}")
    assert Path(found.file).name == "catalogue.yaml"
