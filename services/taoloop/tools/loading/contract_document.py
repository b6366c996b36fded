"""From a contract's document to its record: the fields that are served, and how they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.tools.contract import (
    DEFAULT_TIMEOUT_SECONDS,
    UNTRUSTED_WEIGHT,
    BearerAuth,
    Empty,
    ErrorRule,
    HttpTransport,
    NormaliseAs,
    NormaliseRule,
    Observe,
    ObserveRule,
    RuleSeverity,
    ToolContract,
)
from taoloop.tools.loading.durations import parse_duration
from taoloop.tools.signature import Effect, Reach, Trust


@dataclass(frozen=True, slots=True)
class Unserved:
    """A field of the form that no code serves yet.

    Attributes:
        pointer: Where; `*` stands for any index.
        values: The values that are not served; empty for all.
    """

    pointer: str
    values: tuple[str, ...] = ()


UNSERVED: Final = (
    Unserved("/spec/idempotency"),
    Unserved("/spec/retry"),
    Unserved("/spec/breaker"),
    Unserved("/spec/limiter"),
    Unserved("/spec/pool"),
    Unserved("/spec/cache"),
    Unserved("/spec/fallback"),
    Unserved("/spec/empty", ("retry",)),
    Unserved("/spec/approval"),
    Unserved("/spec/reconcile"),
    Unserved("/spec/transport/mcp"),
    Unserved("/spec/transport/job"),
    Unserved("/spec/transport/grpc"),
    Unserved("/spec/transport/sql"),
    Unserved("/spec/transport/python"),
    Unserved("/spec/transport/http/auth/api_key"),
    Unserved("/spec/transport/http/auth/basic"),
    Unserved("/spec/transport/http/auth/oauth2"),
    Unserved("/spec/observe/min_score"),
    Unserved("/spec/observe/redact"),
    Unserved("/spec/observe/normalise/*/vocabulary"),
    Unserved("/spec/observe/normalise/*/as", ("number", "money", "unit", "phone", "text")),
    Unserved("/spec/observe/normalise/*/gap"),
    Unserved("/spec/observe/normalise/*/order"),
    Unserved("/spec/observe/normalise/*/unit"),
    Unserved("/spec/observe/normalise/*/to_unit"),
    Unserved("/spec/observe/normalise/*/currency"),
    Unserved("/spec/observe/normalise/*/locale"),
)
"""The one list of what the form allows and this version refuses; serving a field means removing its line."""


def unserved_fields(document: JsonValue) -> tuple[str, ...]:
    """Return the pointer of every field in the document that no code serves yet."""
    found: list[str] = []
    for unserved in UNSERVED:
        for pointer, value in _matches(document, pointers.parse(unserved.pointer)):
            if not unserved.values or value in unserved.values:
                found.append(pointer)
    return tuple(found)


def read_contract(document: Mapping[str, Any]) -> ToolContract:
    """Return the record of a document that has no form violations and no unserved fields."""
    metadata, spec = document["metadata"], document["spec"]
    trust = Trust(spec.get("trust", Trust.TRUSTED))
    timeout = _seconds(spec, "timeout")
    return ToolContract(
        name=metadata["name"],
        labels=metadata.get("labels", {}),
        description=spec["description"],
        use_when=spec.get("use_when", ""),
        avoid_when=spec.get("avoid_when", ""),
        effect=Effect(spec["effect"]),
        reach=Reach(spec.get("reach", Reach.INTERNAL)),
        trust=trust,
        parameters=spec["parameters"],
        response=spec["response"],
        http=_http(spec["transport"]["http"]),
        timeout_seconds=DEFAULT_TIMEOUT_SECONDS if timeout is None else timeout,
        success=spec.get("success", ABSENT),
        empty=Empty(spec.get("empty", Empty.FAIL)),
        errors=tuple(map(_error, spec.get("errors", ()))),
        observe=_observe(spec.get("observe", {}), trust),
        answer=spec.get("answer", {}),
        samples=tuple(spec.get("samples", ())),
        document=without_samples(document),
    )


def without_samples(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document without the paths of its samples, which say nothing about the tool."""
    spec = {key: value for key, value in document["spec"].items() if key != "samples"}
    return {**document, "spec": spec}


def _matches(value: JsonValue, tokens: tuple[str, ...], pointer: str = "") -> Iterator[tuple[str, JsonValue]]:
    if not tokens:
        yield pointer, value
    elif tokens[0] == "*" and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _matches(item, tokens[1:], pointer + pointers.join(index))
    elif isinstance(value, dict) and tokens[0] in value:
        yield from _matches(value[tokens[0]], tokens[1:], pointer + pointers.join(tokens[0]))


def _http(written: Mapping[str, Any]) -> HttpTransport:
    bearer = written.get("auth", {}).get("bearer")
    return HttpTransport(
        method=written["method"],
        url=written["url"],
        query=written.get("query", {}),
        headers=written.get("headers", {}),
        json=written.get("json", ABSENT),
        auth=BearerAuth(secret=bearer["secret"]) if bearer is not None else None,
    )


def _error(written: Mapping[str, Any]) -> ErrorRule:
    return ErrorRule(
        when=written["when"],
        code=written["code"],
        is_retriable=written.get("retriable", False),
        suggestion=written.get("suggestion", ""),
    )


def _observe(written: Mapping[str, Any], trust: Trust) -> Observe:
    default_weight = UNTRUSTED_WEIGHT if trust is Trust.UNTRUSTED else 1.0
    return Observe(
        max_latency_seconds=_seconds(written, "max_latency"),
        normalise=tuple(map(_normalise, written.get("normalise", ()))),
        rules=tuple(map(_rule, written.get("rules", ()))),
        known={pointer: tuple(values) for pointer, values in written.get("known", {}).items()},
        weight=float(written.get("weight", default_weight)),
        expose=tuple(written["expose"]) if "expose" in written else None,
    )


def _normalise(written: Mapping[str, Any]) -> NormaliseRule:
    return NormaliseRule(
        field=written["field"],
        to=written.get("to", written["field"]),
        enum=written.get("enum"),
        convert=NormaliseAs(written["as"]) if "as" in written else None,
        time_zone=written.get("time_zone", ""),
    )


def _rule(written: Mapping[str, Any]) -> ObserveRule:
    severity = RuleSeverity(written.get("severity", RuleSeverity.HARD))
    return ObserveRule(id=written["id"], severity=severity, when=written["when"])


def _seconds(written: Mapping[str, Any], key: str) -> float | None:
    return parse_duration(written[key]) if key in written else None
