"""Bodies, schemas, contracts and envelopes as nobody should write them, for properties."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from hypothesis import strategies as st

from taoloop.plan.acting import ActionResult, ActionStatus, Body, ServedBy
from taoloop.tools.contract import NormaliseAs
from taoloop.tools.signature import Trust
from tests.unit.tools.rules import values as rule_values

NAMES: Final = ("a", "b", "c", "0", "*", "", "~", "a/b", "état", "名", "\U0001f600", "\u0000", "\u2028", "error")
PATTERNS: Final = (
    "^(a+)+$",
    "(x+x+)+y",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(a|a)*b",
    "(?:a{0,99}){0,99}",
    "(((a{50}){50}){50}){50}",
    "(a)\\1",
    "(?=a)",
    "[",
    "\\p{L}+",
    "^.{0,999}$",
)
REFERENCES: Final = (
    "#",
    "#/$defs/a",
    "#/properties/a",
    "#/items",
    "#/nowhere",
    "http://127.0.0.1:9/x",
    "file:///etc/passwd",
    "",
)
TYPES: Final = ("string", "number", "integer", "boolean", "null", "array", "object", "strin", 7)
TEXTS: Final = (
    "a" * 500 + "!",
    "9" * 400,
    "1e400",
    "1e-999999999",
    "NaN",
    "0x1F",
    "\ufeff1",
    "１２３",
    "1,234,5",
    "25.3 °C",
    "65%",
    "¥1.50",
    "2024-02-30",
    "2024-05-20T22:30:00",
    "0000-00-00",
    "P1Y2M10DT2H30M",
    "一千二百",
    "\u202e123",
    "a\u0301" * 50,
    "".join(chr(plane * 0x10000 + 0x42) for plane in range(17)),
)

texts: st.SearchStrategy[str] = st.sampled_from(TEXTS) | st.text(max_size=30)
numbers: st.SearchStrategy[Any] = (
    st.integers(-(10**400), 10**400)
    | st.sampled_from([0, 1, -1, 2**53 + 1, 2**63, 2**64])
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        [Decimal("1E+400"), Decimal("1E-400"), Decimal("-0.0"), Decimal("1E+999999999999"), Decimal("0.10")]
    )
)
scalars: st.SearchStrategy[Any] = st.none() | st.booleans() | numbers | texts
bodies: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=15,
)


def _nested(depth: int) -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


# What can stand in a file of YAML, and mostly is right.
written: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(TEXTS)
deep_bodies: st.SearchStrategy[Any] = st.integers(0, 64).map(_nested)
places: st.SearchStrategy[str] = st.sampled_from(
    [
        "/a",
        "/b",
        "/a",
        "/b",
        "/a/b",
        "/*",
        "/a/*",
        "/*/a",
        "/a/*/b",
        "/0",
        "/名",
        "/\U0001f600",
        "/~1",
        "",
        "/~",
        "a",
        "/x/",
    ]
)


def _keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of which each keyword is mostly, but not always, what it should be."""
    many = st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    few = st.lists(inner, min_size=1, max_size=3)
    right: dict[str, st.SearchStrategy[Any]] = {
        "type": st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), max_size=3),
        "$ref": st.sampled_from(REFERENCES),
        "pattern": st.sampled_from(PATTERNS),
        "format": st.sampled_from(["date", "date-time", "date-range", "regex", "uuid", "nonsense"]),
        "enum": st.lists(bodies, max_size=3),
        "const": bodies,
        "required": st.lists(st.sampled_from(NAMES), max_size=3),
        "patternProperties": st.dictionaries(st.sampled_from(PATTERNS), inner, max_size=2),
    }
    right |= dict.fromkeys(("minimum", "maximum", "multipleOf", "minLength", "maxItems", "minProperties"), numbers)
    right |= dict.fromkeys(("properties", "$defs", "dependentSchemas"), many)
    right |= dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), few)
    right |= dict.fromkeys(
        ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"), inner
    )
    right |= dict.fromkeys(("unevaluatedProperties", "unevaluatedItems", "uniqueItems"), inner | st.booleans())
    whole = st.fixed_dictionaries({}, optional=right)
    wrong = st.dictionaries(st.sampled_from(sorted(right)), scalars, max_size=1)
    return st.integers(0, 7).flatmap(lambda chance: whole if chance else wrong)


schemas: st.SearchStrategy[Any] = st.recursive(st.booleans() | st.just({}), _keywords, max_leaves=8)

_SPECIAL: Final = {
    "unit": st.fixed_dictionaries({}, optional={"to_unit": st.sampled_from(["°C", "m", "MB", "parsec", ""])}),
    "money": st.fixed_dictionaries({}, optional={"currency": st.sampled_from(["CNY", "EUR", "XXX", "cny"])}),
    "confidence": st.just({"scale": "percent"}),
}


@st.composite
def normalise_rules(draw: st.DrawFn) -> dict[str, Any]:
    """Return a rule of `observe.normalise`; it need not fit the schema, or make sense."""
    field = draw(places)
    rule: dict[str, Any] = {"field": field}
    if draw(st.booleans()):
        rule["to"] = draw(st.just(field + "_new") | places)
    kind = draw(st.sampled_from(["plain", "enum", "as", "as"]))
    if kind == "enum":
        rule["enum"] = draw(st.dictionaries(st.sampled_from(TEXTS), written, min_size=1, max_size=3))
    if kind == "as":
        rule["as"] = draw(st.sampled_from([each.value for each in NormaliseAs]))
        rule |= draw(_SPECIAL.get(rule["as"], st.just({})))
    return rule


observes: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "max_latency": st.sampled_from(["2s", "1ms", "0s"]),
        "min_score": st.fixed_dictionaries(
            {
                "field": st.sampled_from(["/a/*/b", "/*/a"]),
                "min": st.sampled_from([0, Decimal("0.6"), 1e3]),
                "take": st.sampled_from(["all", "best"]),
            }
        ),
        "pick": st.lists(places, max_size=3),
        "normalise": st.lists(normalise_rules(), max_size=3),
        "redact": st.lists(
            st.sampled_from(["phone", "email", "secrets"])
            | st.builds(lambda field: {"field": field}, places)
            | st.builds(lambda pattern: {"pattern": pattern, "name": "own"}, st.sampled_from(PATTERNS)),
            max_size=3,
        ),
        "known": st.dictionaries(places, st.lists(written, min_size=1, max_size=3), max_size=2),
        "expose": st.lists(places, max_size=3),
        "rules": st.lists(
            st.builds(
                lambda when, hard: {"id": "r", "severity": "hard" if hard else "soft", "when": when},
                rule_values.rules,
                st.booleans(),
            ),
            max_size=2,
        ),
        "weight": st.sampled_from([0, 1, Decimal("0.5"), Decimal("0.1")]),
    },
)

specs: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"response": st.just(True) | st.just({"type": "object"}) | schemas, "observe": observes},
    optional={"success": rule_values.rules, "empty": st.sampled_from(["fail", "accept", "retry"])},
)

envelopes: st.SearchStrategy[ActionResult] = st.builds(
    ActionResult,
    step_id=texts,
    tool=st.sampled_from(["ask_anything", "", "no_such", "x" * 1000]),
    status=st.sampled_from(list(ActionStatus)),
    status_code=st.sampled_from([0, 200, 202, 204, 304, 404, 500, -1, 2**31 - 1]),
    parsed=bodies,
    raw=st.none() | st.sampled_from([b"", b"\xff\xfe\x00", b"{", b"\xef\xbb\xbf{}", b"[" * 10_000, b"<html>"]),
    body=st.none()
    | st.builds(
        Body, content_type=texts, size_bytes=st.sampled_from([0, -1, 5, 2**62]), truncated=st.booleans(), sha256=texts
    ),
    response_time_seconds=st.none() | st.floats(-1e9, 1e9),
    served_by=st.none() | st.sampled_from(list(ServedBy)),
    served_by_tool=st.sampled_from(["", "ask_anything", "no_such"]),
    trust=st.sampled_from(list(Trust)),
)
