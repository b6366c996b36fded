"""A parameter may have the words that people use for its values, under a name of the catalogue or written out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taoloop.core import exact_json
from taoloop.tools.bundle import pack
from taoloop.tools.loading import LoadResult, load_catalogue
from tests.unit.tools.contracts import document

CITIES: dict[str, Any] = {"CN-Shanghai": ["shanghai", "上海"], "CN-Beijing": ["beijing"]}
PLACE = "/spec/parameters/properties/order_id/x-taoloop-vocabulary"


def loaded(directory: Path, vocabulary: Any, **more: Any) -> LoadResult:
    schema = {"type": "string", "description": "City code", "x-taoloop-vocabulary": vocabulary, **more}
    parameters = {
        "type": "object",
        "required": ["order_id"],
        "additionalProperties": False,
        "properties": {"order_id": schema, "stops": {"type": "array", "items": schema}},
    }
    (directory / "tools").mkdir(exist_ok=True)
    (directory / "tools" / "a.yaml").write_text(exact_json.dumps(document(spec__parameters=parameters)))
    head = {"apiVersion": "taoloop.dev/v1", "kind": "Catalogue", "metadata": {"name": "shop"}}
    spec = {"bases": {"orders": "http://127.0.0.1:1"}, "vocabularies": {"city": CITIES}, "tools": "tools/*.yaml"}
    (directory / "catalogue.yaml").write_text(exact_json.dumps({**head, "spec": spec}))
    return load_catalogue(directory)


def parameters(result: LoadResult) -> Any:
    assert result.catalogue is not None, result.findings
    (signature,) = result.catalogue.signatures()
    return signature.parameters["properties"]


def test_a_signature_holds_the_words_of_the_vocabulary_that_the_contract_names(tmp_path: Path) -> None:
    found = parameters(loaded(tmp_path, "city"))

    assert found["order_id"]["x-taoloop-vocabulary"] == CITIES
    assert found["stops"]["items"]["x-taoloop-vocabulary"] == CITIES


def test_words_may_be_written_out_and_a_bundle_holds_them(tmp_path: Path) -> None:
    named, written = loaded(tmp_path, "city").catalogue, loaded(tmp_path, CITIES).catalogue
    assert named is not None
    assert written is not None
    (tmp_path / "bundle.json").write_text(pack(named))
    again = load_catalogue(tmp_path / "bundle.json").catalogue

    assert named.digest == written.digest == (again.digest if again is not None else "")


def test_a_name_that_is_not_known_is_refused_with_near_ones(tmp_path: Path) -> None:
    found, *_ = loaded(tmp_path, "cities").errors

    assert (found.code, found.pointer) == ("UNKNOWN_VOCABULARY", PLACE)
    assert found.remedy == "Use city."


@pytest.mark.parametrize(
    ("vocabulary", "more", "place"),
    [
        ({"a": ["x"], "b": ["X"]}, {}, f"{PLACE}/b/0"),
        ({"a": ["x"], "A": []}, {}, PLACE),
        (CITIES, {"type": "integer"}, PLACE),
        (CITIES, {"enum": ["CN-Shanghai"]}, PLACE),
        (["a"], {}, PLACE),
        ({"a": "x"}, {}, PLACE),
        ({"a": [None]}, {}, PLACE),
    ],
)
def test_a_vocabulary_that_could_mislead_is_refused(
    tmp_path: Path, vocabulary: Any, more: dict[str, Any], place: str
) -> None:
    found, *_ = loaded(tmp_path, vocabulary, **more).errors

    assert (found.code, found.pointer) == ("VOCABULARY", place)
