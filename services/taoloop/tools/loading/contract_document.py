"""From a contract's document to its record, and the fields that no code serves yet.

`UNSERVED` is the one list of what the form allows and this version refuses. To serve a field, remove its line in the
change that serves it, and nothing else: the form, the records and the checks know the field already, and the tests
take the list as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.tools.contract import (
    DEFAULT_TIMEOUT_SECONDS,
    UNTRUSTED_WEIGHT,
    Empty,
    ErrorRule,
    MinScore,
    NormaliseAs,
    NormaliseRule,
    Observe,
    ObserveRule,
    PersonalData,
    Projection,
    RedactField,
    Redaction,
    RedactPattern,
    RuleSeverity,
    Take,
    ToolContract,
)
from taoloop.tools.loading.durations import parse_duration
from taoloop.tools.loading.policy_document import read_policies
from taoloop.tools.loading.transport_document import read_transport
from taoloop.tools.signature import Effect, Reach, Trust


@dataclass(frozen=True, slots=True)
class Unserved:
    """A field of the form that no code serves yet.

    Attributes:
        pointer: Where; `*` stands for any index, `**` for any number of steps.
        values: The values that are not served; empty for all.
        is_read: Whether the contract's record holds the field, so that its checks run already.
    """

    pointer: str
    values: tuple[str, ...] = ()
    is_read: bool = True


UNSERVED: Final[tuple[Unserved, ...]] = ()
"""The one list of what the form allows and this version refuses; serving a field means removing its line."""


CONVERSION_OPTIONS: Final = ("gap", "order", "unit", "to_unit", "difference", "currency", "locale", "scale", "html")
"""Fields of a normalise rule that are options of its conversion."""


@dataclass(frozen=True, slots=True)
class UnservedField:
    """A field of one document that no code serves yet.

    Attributes:
        pointer: Where it stands.
        is_read: Whether the contract's record holds it.
    """

    pointer: str
    is_read: bool


def unserved_fields(document: JsonValue) -> tuple[UnservedField, ...]:
    """Return every field in the document that no code serves yet."""
    return tuple(
        UnservedField(pointer, unserved.is_read)
        for unserved in UNSERVED
        for pointer, value in _matches(document, pointers.parse(unserved.pointer))
        if not unserved.values or value in unserved.values
    )


def read_contract(document: Mapping[str, Any]) -> ToolContract:
    """Return the record of a document that has no form violations, and no fields that no record holds."""
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
        transport=read_transport(spec["transport"]),
        timeout_seconds=DEFAULT_TIMEOUT_SECONDS if timeout is None else timeout,
        success=spec.get("success", ABSENT),
        empty=Empty(spec.get("empty", Empty.FAIL)),
        errors=tuple(map(_error, spec.get("errors", ()))),
        observe=_observe(spec.get("observe", {}), trust),
        **read_policies(spec),
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
        return
    if tokens[0] == "**":
        yield from _matches(value, tokens[1:], pointer)
    for key, item in _members(value):
        here = pointer + pointers.join(key)
        if tokens[0] == "**":
            yield from _matches(item, tokens, here)
        elif tokens[0] == key or (tokens[0] == "*" and isinstance(key, int)):
            yield from _matches(item, tokens[1:], here)


def _members(value: JsonValue) -> Iterator[tuple[str | int, JsonValue]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _error(written: Mapping[str, Any]) -> ErrorRule:
    return ErrorRule(
        when=written["when"],
        code=written["code"],
        is_retriable=written.get("retriable", False),
        suggestion=written.get("suggestion", ""),
    )


def _observe(written: Mapping[str, Any], trust: Trust) -> Observe:
    default_weight = UNTRUSTED_WEIGHT if trust is Trust.UNTRUSTED else 1.0
    min_score = written.get("min_score")
    return Observe(
        max_latency_seconds=_seconds(written, "max_latency"),
        min_score=None if min_score is None else _min_score(min_score),
        pick=tuple(written["pick"]) if "pick" in written else None,
        normalise=tuple(map(_normalise, written.get("normalise", ()))),
        rules=tuple(map(_rule, written.get("rules", ()))),
        known={pointer: tuple(values) for pointer, values in written.get("known", {}).items()},
        weight=float(written.get("weight", default_weight)),
        redact=tuple(map(_redaction, written.get("redact", ()))),
        projections={
            name: Projection(when=each["when"], expose=tuple(each["expose"]))
            for name, each in written.get("projections", {}).items()
        },
        expose=tuple(written["expose"]) if "expose" in written else None,
    )


def _min_score(written: Mapping[str, Any]) -> MinScore:
    return MinScore(field=written["field"], min=Decimal(str(written["min"])), take=Take(written.get("take", Take.ALL)))


def _redaction(written: Any) -> Redaction:
    if isinstance(written, str):
        return PersonalData(written)
    if "field" in written:
        return RedactField(field=written["field"])
    return RedactPattern(name=written["name"], pattern=written["pattern"])


def _normalise(written: Mapping[str, Any]) -> NormaliseRule:
    vocabulary = written.get("vocabulary")
    return NormaliseRule(
        field=written["field"],
        to=written.get("to", written["field"]),
        enum=written.get("enum"),
        # A name is left only where the catalogue has no such vocabulary, which is a finding.
        vocabulary=_vocabulary(vocabulary) if isinstance(vocabulary, Mapping) else None,
        convert=NormaliseAs(written["as"]) if "as" in written else None,
        time_zone=written.get("time_zone", ""),
        conversion_options={name: written[name] for name in CONVERSION_OPTIONS if name in written},
        plugin=written.get("plugin", ""),
        options=written.get("options", {}),
    )


def _vocabulary(written: Mapping[str, Any]) -> dict[str, tuple[JsonValue, ...]]:
    return {ours: tuple(words) for ours, words in written.items()}


def _rule(written: Mapping[str, Any]) -> ObserveRule:
    severity = RuleSeverity(written.get("severity", RuleSeverity.HARD))
    return ObserveRule(id=written["id"], severity=severity, when=written["when"])


def _seconds(written: Mapping[str, Any], key: str) -> float | None:
    return parse_duration(written[key]) if key in written else None
