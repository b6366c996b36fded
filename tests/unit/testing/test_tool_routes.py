"""Rules by which a request is read back into a call: the reverse of building it."""

from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from taoloop.action.transports.http_request import build_request, with_base
from taoloop.core import exact_json
from taoloop.core.exact_json import ABSENT
from taoloop.testing.tool_routes import SentCall, match, routes_of
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import HttpTransport, ToolContract
from taoloop.tools.signature import Effect


def contract(name: str, **http: Any) -> ToolContract:
    return ToolContract(
        name=name,
        description="d",
        effect=Effect.READ,
        response=True,
        parameters={
            "type": "object",
            "properties": {
                "key": {"type": "string"},
                "count": {"type": "integer"},
                "price": {"type": "number"},
                "is_new": {"type": "boolean"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "when": {"type": "string"},
            },
        },
        transport=HttpTransport(**http),
        document={"name": name},
    )


GET = contract(
    "get",
    method="GET",
    url="{{base.b}}/a/{key}/b",
    query={"n": "{count}", "tag": "{tags}"},
    headers={"X-When": "{when}"},
)
POST = contract("post", method="POST", url="{{base.b}}/a/{key}/b", json={"in": {"price": "{price}"}})
BARE = contract("bare", method="PUT", url="{{base.b}}/bare")
ROUTES = routes_of(Catalogue.of([GET, POST, BARE]))


def read_back(sender: ToolContract, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    assert sender.http is not None
    built = build_request(with_base(sender.http, {"b": "http://h.test"}), arguments)
    url = urlsplit(built.url)
    sent = SentCall(
        method=built.method,
        path=url.path,
        query=parse_qsl(url.query, keep_blank_values=True),
        headers={name.lower(): value for name, value in built.headers.items()},
        body=ABSENT if built.body is None else exact_json.loads(built.body),
    )
    ((route, found),) = match(ROUTES, sent)
    return route.tool.contract.name, found


@pytest.mark.parametrize(
    ("sender", "arguments"),
    [
        (GET, {"key": "a/b 中", "count": 12345678901234567, "tags": ["x", "y z"], "when": "now"}),
        (GET, {"key": "k", "price": Decimal("0.10"), "is_new": True}),
        (POST, {"key": "k", "price": Decimal("0.10"), "count": 12345678901234567}),
        (BARE, {"key": "k", "tags": ["x"], "is_new": False}),
    ],
)
def test_what_was_sent_is_read_back(sender: ToolContract, arguments: dict[str, Any]) -> None:
    name, found = read_back(sender, arguments)
    assert name == sender.name
    assert found == arguments
    assert exact_json.dumps(found.get("price")) == exact_json.dumps(arguments.get("price"))


def test_a_text_that_is_no_number_stays_a_text() -> None:
    sent = SentCall(method="GET", path="/a/k/b", query=[("n", "many")], headers={})
    ((_, found),) = match(ROUTES, sent)
    assert found == {"key": "k", "count": "many"}


@pytest.mark.parametrize(("method", "path"), [("DELETE", "/a/k/b"), ("GET", "/a/k"), ("GET", "/a/k/b/c")])
def test_another_method_or_path_fits_no_tool(method: str, path: str) -> None:
    assert list(match(ROUTES, SentCall(method=method, path=path, headers={}))) == []
