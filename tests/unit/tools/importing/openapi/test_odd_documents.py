"""Whatever stands in a document, an import ends in drafts and findings or in a refusal, never in another exception."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taoloop.tools.importing.checking import check_draft
from taoloop.tools.importing.findings import ImportRefused
from taoloop.tools.importing.openapi import OpenApiDocument, draft_openapi
from tests.unit.tools.importing.openapi.documents import NEW_STYLE, NEWEST_STYLE, OLD_STYLE

ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        "",
        "x",
        "{",
        "}",
        [],
        {},
        [[]],
        [{}],
        {"": {}},
        {"$ref": "#"},
        {"$ref": 1},
        {"$ref": "#/paths"},
        [1, "a", None],
    ]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value inside."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [each for key, item in members for each in ((*path, key), *places(item, (*path, key)))]


def replaced(document: dict[str, Any], path: tuple[Any, ...], odd: Any) -> None:
    """Put a value at a path, if the path is still there."""
    node: Any = document
    for key in path[:-1]:
        if not _has(node, key):
            return
        node = node[key]
    if _has(node, path[-1]):
        node[path[-1]] = odd


def _has(node: Any, key: Any) -> bool:
    if isinstance(node, list):
        return isinstance(key, int) and key < len(node)
    return isinstance(node, dict) and key in node


@pytest.mark.parametrize("style", [OLD_STYLE, NEW_STYLE, NEWEST_STYLE], ids=["3.0", "3.1", "3.2"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors])
@given(data=st.data())
def test_a_document_with_odd_values_is_drafted_or_refused(style: dict[str, Any], data: st.DataObject) -> None:
    document = copy.deepcopy(style)
    for path in data.draw(st.lists(st.sampled_from(places(style)), min_size=1, max_size=4)):
        replaced(document, path, copy.deepcopy(data.draw(ODD)))
    try:
        made = draft_openapi(OpenApiDocument.of(document, name="doc"), ["*"])
    except ImportRefused:
        return
    for draft in made.drafts:
        assert check_draft(draft, made.bases).text
