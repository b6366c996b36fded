"""The catalogue of the loop's chaos test: baskets that are read, and the ways in which they are ordered."""

from __future__ import annotations

from pathlib import Path
from typing import Final

CATALOGUE: Final = """\
apiVersion: taoloop.dev/v1
kind: Catalogue
metadata: {name: shop}
spec:
  bases: {shop: "BASE"}
  tools: tools/*.yaml
"""
READ: Final = """\
apiVersion: taoloop.dev/v1
kind: Tool
metadata: {name: find_basket}
spec:
  description: Looks up a basket by its number.
  use_when: the user names a basket, or wants to know what is in the basket
  avoid_when: the user wants to cancel an order
  effect: read
  reach: internal
  trust: trusted
  parameters:
    type: object
    required: [basket]
    additionalProperties: false
    properties: {basket: {type: string, pattern: "^B[0-9]{6}$", description: "Number of the basket, such as B000017"}}
  response:
    type: object
    required: [order_key]
    properties: {order_key: {type: string, description: "Key of the order"}}
  transport:
    http: {method: GET, url: "{{base.shop}}/baskets/{basket}"}
  timeout: 2s
  retry: {attempts: 3, backoff: 50ms}
  answer: {en: "Basket {arguments.basket} is {data.order_key}"}
"""
WRITE: Final = """\
apiVersion: taoloop.dev/v1
kind: Tool
metadata: {name: NAME}
spec:
  description: DESCRIPTION
  use_when: USE_WHEN
  avoid_when: the user asks about deliveries
  effect: write
  reach: internal
  trust: trusted
  parameters:
    type: object
    required: [order_key]
    additionalProperties: false
    properties: {order_key: {type: string, description: "Key of the order", x-taoloop-source: [step]}}
  response: {type: object, required: [accepted], properties: {accepted: {type: boolean}}}
  transport:
    http: {method: POST, url: "{{base.shop}}/orders", json: {order_key: "{order_key}"}}
  timeout: 2s
  answer: {en: "Ordered {arguments.order_key}"}
"""
KEY: Final = """\
  idempotency: {in: header, name: Idempotency-Key}
  retry: {attempts: 3, backoff: 50ms}
"""
LEAVE: Final = """\
  approval: {when: {"===": [1, 1]}}
"""
WRITES: Final = {
    "order_basket": ("Orders a basket.", "the user wants to order a basket", ""),
    "reserve_basket": ("Reserves a basket.", "the user wants to reserve a basket", KEY),
    "purchase_basket": ("Purchases a basket.", "the user wants to purchase a basket", LEAVE),
}
"""The tools that write: one whose server knows no keys, one whose server does, and one that needs leave."""


def write_catalogue(root: Path, base_url: str) -> Path:
    """Write the catalogue and return its directory."""
    (root / "tools").mkdir(parents=True)
    (root / "catalogue.yaml").write_text(CATALOGUE.replace("BASE", base_url))
    (root / "tools" / "find_basket.yaml").write_text(READ)
    for name, (description, use_when, more) in WRITES.items():
        text = WRITE.replace("NAME", name).replace("DESCRIPTION", description).replace("USE_WHEN", use_when)
        (root / "tools" / f"{name}.yaml").write_text(text + more)
    return root
