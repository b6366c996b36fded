"""The forms: strict in every object, and described for those who write contracts."""

from collections.abc import Iterator
from typing import Any

import pytest

from taoloop.tools.loading.forms import catalogue_form, contract_form


def _nodes(node: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        yield pointer, node
        for key, item in node.items():
            yield from _nodes(item, f"{pointer}/{key}")
    elif isinstance(node, list):
        for index, item in enumerate(node):
            yield from _nodes(item, f"{pointer}/{index}")


@pytest.mark.parametrize("form", [contract_form(), catalogue_form()], ids=["contract", "catalogue"])
def test_an_object_with_named_fields_takes_no_others(form: Any) -> None:
    open_objects = [
        pointer
        for pointer, node in _nodes(form.schema)
        if isinstance(node.get("properties"), dict) and node.get("additionalProperties") is not False
    ]
    assert open_objects == []


def test_every_field_of_a_policy_and_a_transport_is_described_or_refers_to_what_is() -> None:
    schema: Any = contract_form().schema
    bare = [
        pointer
        for pointer, node in _nodes(schema["$defs"])
        if pointer.rpartition("/")[0].endswith("/properties") and not {"description", "$ref", "const"} & node.keys()
    ]
    assert bare == []
