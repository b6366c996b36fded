"""What was seen reaches a service from a directory of samples and from a bundle, the same."""

from pathlib import Path
from typing import Any

import pytest

from taoloop.core.exact_json import dumps, loads
from taoloop.testing.tool_samples import read_samples
from taoloop.tools.bundle import pack
from taoloop.tools.seen import Place, read_seen
from taoloop.tools.seen.document import SeenRefused, from_document, to_document
from taoloop.tools.served_catalogue import read_catalogue

EXAMPLE = Path("examples/customer-service")


def test_a_bundle_knows_what_its_directory_knew(tmp_path: Path) -> None:
    catalogue = read_catalogue(EXAMPLE)
    seen = read_seen(EXAMPLE, catalogue)
    bundle = tmp_path / "bundle.json"
    bundle.write_text(pack(catalogue, seen), encoding="utf-8")

    packed = read_catalogue(bundle)

    assert packed.digest == catalogue.digest
    assert read_seen(bundle, packed) == seen
    assert all(place.is_closed for place in seen.values())


def test_a_bundle_without_it_leaves_what_the_contracts_list(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.json"
    bundle.write_text(pack(read_catalogue(EXAMPLE)), encoding="utf-8")

    seen = read_seen(bundle, read_catalogue(bundle))

    assert not any(place.is_closed for place in seen.values())
    assert any(below.values for place in seen.values() for below in place.fields.values())


def test_no_sample_of_a_success_is_new_to_its_own_tool() -> None:
    catalogue = read_catalogue(EXAMPLE)
    seen = read_seen(EXAMPLE, catalogue)
    for name, samples in read_samples(EXAMPLE, catalogue).items():
        for sample in samples:
            body: Any = sample.body_for(sample.sample.arguments)
            is_stated_to_fail = sample.sample.expect is not None and not sample.sample.expect.valid
            if sample.sample.status == 200 and body.get("ok", True) and not is_stated_to_fail:
                assert seen[name].novelties(body) == ()


@pytest.mark.parametrize(
    "document",
    ["text", [], {"types": "string"}, {"types": ["colour"]}, {"fields": []}, {"values": [1]}, {"values": ["a", "a"]}],
)
def test_what_is_no_place_is_refused(document: Any) -> None:
    with pytest.raises(SeenRefused):
        from_document(document)


def test_a_place_that_nests_without_end_is_refused() -> None:
    nested: Any = {}
    for _ in range(40):
        nested = {"items": nested}

    with pytest.raises(SeenRefused):
        from_document(nested)


def test_equal_places_have_equal_json() -> None:
    place = Place(types=frozenset({"object"}), fields={"b": Place(), "a": Place(values=frozenset({"y", "x"}))})

    assert dumps(to_document(place)) == '{"types":["object"],"fields":{"a":{"values":["x","y"]},"b":{}}}'
    assert from_document(loads(dumps(to_document(place)))) == place
