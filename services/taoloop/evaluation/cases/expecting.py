"""The language of `expect`: one comparer for all kinds of cases."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonEncodeError
from taoloop.evaluation.cases.vocabulary import case_word
from taoloop.values.datetimes import parse_rfc3339
from taoloop.values.refusals import ValueRefused

_MODIFIERS: Final = frozenset({"any_of", "tolerance", "accept_prefix"})
_CLASSES: Final = frozenset({"error_class", "final_error_class", "class"})
# Lists whose order says nothing.
_SETS: Final = frozenset({"members", "candidates", "coerced", "recorded", "missing_vars", "deliver", "deleted"})
_MAX_SHOWN: Final = 120


def mismatches(expect: Mapping[str, Any], said: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is not as expected, one sentence each; none when all is right.

    A key that `expect` does not name is free. `any_of` holds when one of its alternatives does. `tolerance` bounds the
    difference of numbers under `value`, `accept_prefix` is a beginning of `value` that is right too. The rest, for a
    key that the product did not say itself: `X_include` and `includes` name members of a list, `X_contains`,
    `must_contain` and `must_not_contain` parts of a text, `X_max`, `max_X`, `X_min` and `within_s` are bounds.
    """
    found = [
        message for key in expect if key not in _MODIFIERS for message in _mismatches_of(key, expect[key], said, expect)
    ]
    alternatives = expect.get("any_of")
    if alternatives is not None:
        tried = [mismatches(alternative, said) for alternative in alternatives]
        if all(tried) or not tried:
            found.append("none of any_of holds: " + " | ".join("; ".join(each) for each in tried))
    return tuple(found)


def _mismatches_of(key: str, wanted: Any, said: Mapping[str, Any], expect: Mapping[str, Any]) -> tuple[str, ...]:
    if key == "errors":
        return _errors(wanted, said.get("errors", ()))
    if key == "path" and wanted in said.get("paths", ()):
        return ()
    if key in said:
        return () if _is_as_said(key, wanted, said[key], expect) else (_differs(key, wanted, said[key]),)
    for name, holds in _derived(key):
        if name in said:
            return () if holds(wanted, said[name]) else (_differs(key, wanted, said[name]),)
    return (f"{key}: expected {_shown(wanted)}, the product says nothing of it",)


def _is_as_said(key: str, wanted: Any, actual: Any, expect: Mapping[str, Any]) -> bool:
    if key in _CLASSES:
        return case_word(str(wanted)) == case_word(str(actual))
    if key in _SETS and isinstance(wanted, list) and isinstance(actual, Sequence) and not isinstance(actual, str):
        return Counter(map(_key, wanted)) == Counter(map(_key, actual))
    if key == "value":
        return _is_value(wanted, actual, expect)
    if key == "includes":
        return _includes(wanted, actual)
    return exact_json.equal(wanted, actual)


def _is_value(wanted: Any, actual: Any, expect: Mapping[str, Any]) -> bool:
    if isinstance(actual, datetime):
        return _is_moment(wanted, actual)
    tolerance, prefix = expect.get("tolerance"), expect.get("accept_prefix")
    if tolerance is not None and _is_number(wanted) and _is_number(actual):
        return abs(_exact(wanted) - _exact(actual)) <= _exact(tolerance)
    if prefix is not None and isinstance(actual, str) and actual.startswith(prefix):
        return True
    return exact_json.equal(wanted, actual)


def _is_moment(wanted: Any, actual: datetime) -> bool:
    """Compare moments, whatever offset a case writes them with."""
    try:
        return isinstance(wanted, str) and parse_rfc3339(wanted) == actual
    except ValueRefused:
        return False


def _derived(key: str) -> Iterable[tuple[str, Callable[[Any, Any], bool]]]:
    """Yield the names under which the product may have said what the key is about, and the relation that must hold."""
    if key in {"must_contain", "must_not_contain"}:
        yield "text", _contains_all if key == "must_contain" else _contains_none
    if key == "within_s":
        yield "elapsed_s", _at_most
    if key.startswith("max_"):
        yield key.removeprefix("max_"), _at_most
    for suffix, relation in _SUFFIXES.items():
        if key.endswith(suffix):
            yield key.removesuffix(suffix), relation


def _errors(wanted: Sequence[Mapping[str, Any]], said: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Match each wanted error with an error of its own; further errors are free."""
    left = list(said)
    found: list[str] = []
    for pattern in wanted:
        fitting = next((error for error in left if not mismatches(pattern, error)), None)
        if fitting is None:
            found.append(f"errors: expected {_shown(pattern)} among {_shown(left)}")
        else:
            left.remove(fitting)
    return tuple(found)


def _includes(wanted: Any, actual: Any) -> bool:
    have = {_key(item) for item in actual}
    return all(_key(item) in have for item in wanted)


def _contains_all(wanted: Any, text: Any) -> bool:
    return all(part in str(text) for part in _listed(wanted))


def _contains_none(wanted: Any, text: Any) -> bool:
    return not any(part in str(text) for part in _listed(wanted))


def _at_most(wanted: Any, actual: Any) -> bool:
    return _is_number(actual) and _exact(actual) <= _exact(wanted)


def _at_least(wanted: Any, actual: Any) -> bool:
    return _is_number(actual) and _exact(actual) >= _exact(wanted)


_SUFFIXES: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "_must_not_contain": _contains_none,
    "_must_contain": _contains_all,
    "_contains": _contains_all,
    "_include": _includes,
    "_max": _at_most,
    "_min": _at_least,
}


def _listed(wanted: Any) -> list[Any]:
    return wanted if isinstance(wanted, list) else [wanted]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and math.isfinite(value)


def _exact(value: Any) -> Decimal:
    return Decimal(str(value))


def _key(value: Any) -> str:
    try:
        return exact_json.canonical(value)
    except JsonEncodeError:
        return repr(value)


def _differs(key: str, wanted: Any, actual: Any) -> str:
    return f"{key}: expected {_shown(wanted)}, got {_shown(actual)}"


def _shown(value: Any) -> str:
    try:
        text = exact_json.dumps(value)
    except JsonEncodeError:
        text = repr(value)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"
