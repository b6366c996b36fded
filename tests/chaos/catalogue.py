"""The catalogue of the chaos test: three ways to place an order, and one to look it up."""

from __future__ import annotations

from pathlib import Path

CATALOGUE = """\
apiVersion: taoloop.dev/v1
kind: Catalogue
metadata: {name: orders}
spec:
  bases: {orders: "BASE"}
  tools: tools/*.yaml
"""
WRITE = """\
apiVersion: taoloop.dev/v1
kind: Tool
metadata: {name: NAME}
spec:
  description: Places one order.
  use_when: the user orders something
  avoid_when: the user asks about an order
  effect: write
  parameters:
    type: object
    required: [order_key]
    additionalProperties: false
    properties: {order_key: {type: string, description: Key of the order}}
  response: {type: object}
  transport:
    http: {method: POST, url: "{{base.orders}}/orders", json: {order_key: "{order_key}"}}
  timeout: 2s
"""
LOOK_UP = """\
  reconcile:
    tool: find_order
    took_place: {"===": [{"var": "body.found"}, true]}
"""
KEY = """\
  idempotency: {in: header, name: Idempotency-Key}
  retry: {attempts: 3, backoff: 50ms}
"""
READ = """\
apiVersion: taoloop.dev/v1
kind: Tool
metadata: {name: find_order}
spec:
  description: Finds one order.
  use_when: the user asks about an order
  avoid_when: the user orders something
  effect: read
  parameters:
    type: object
    required: [order_key]
    additionalProperties: false
    properties: {order_key: {type: string, description: Key of the order}}
  response: {type: object}
  transport:
    http: {method: GET, url: "{{base.orders}}/orders", query: {order_key: "{order_key}"}}
  timeout: 2s
"""
LOOKED_UP = "place_order_and_look"
WRITES = {"place_order": "", LOOKED_UP: LOOK_UP, "place_order_by_key": KEY}
"""The tools that write: nobody can tell afterwards, it can be looked up, the server honours a key."""


def write_catalogue(root: Path, base_url: str) -> Path:
    """Write the catalogue and return its directory."""
    (root / "tools").mkdir(parents=True)
    (root / "catalogue.yaml").write_text(CATALOGUE.replace("BASE", base_url))
    (root / "tools" / "find_order.yaml").write_text(READ)
    for name, more in WRITES.items():
        (root / "tools" / f"{name}.yaml").write_text(WRITE.replace("NAME", name) + more)
    return root
