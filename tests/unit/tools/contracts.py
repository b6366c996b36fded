"""A small contract and catalogue that tests change in one place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from taoloop.core import exact_json, pointers


def document(name: str = "get_order", **changes: Any) -> dict[str, Any]:
    """Return a valid contract; `changes` maps pointers, written with `__` for `/`, to new values."""
    value: dict[str, Any] = {
        "apiVersion": "taoloop.dev/v1",
        "kind": "Tool",
        "metadata": {"name": name},
        "spec": {
            "description": "Status of one order.",
            "use_when": "the user asks where an order is",
            "effect": "read",
            "parameters": {
                "type": "object",
                "required": ["order_id"],
                "additionalProperties": False,
                "properties": {
                    "order_id": {"type": "string", "description": "Order number"},
                    "language": {"type": "string", "description": "Language of the reply"},
                },
            },
            "response": {
                "type": "object",
                "required": ["state"],
                "properties": {
                    "state": {"enum": ["S", "D"]},
                    "eta": {"type": "string"},
                    "count": {"type": "boolean"},
                },
            },
            "transport": {"http": {"method": "GET", "url": "{{base.orders}}/orders/{order_id}"}},
            "observe": {
                "normalise": [{"field": "/state", "to": "/status", "enum": {"S": "shipped", "D": "delivered"}}]
            },
        },
    }
    for pointer, new in changes.items():
        value = pointers.assign(value, "/" + pointer.replace("__", "/"), new)  # type: ignore[assignment]
    return value


def write_catalogue(directory: Path, *documents: dict[str, Any]) -> Path:
    """Write a catalogue of these contracts, as JSON, which is YAML too."""
    (directory / "tools").mkdir(exist_ok=True)
    (directory / "catalogue.yaml").write_text(
        "apiVersion: taoloop.dev/v1\nkind: Catalogue\nmetadata: {name: shop}\n"
        "spec:\n  bases: {orders: http://127.0.0.1:1}\n  tools: tools/*.yaml\n"
    )
    for index, each in enumerate(documents):
        (directory / "tools" / f"{index:02}.yaml").write_text(exact_json.dumps(each))
    return directory
