"""From a live answer to a sample: redacted, with placeholders, and judged again so that it is worth keeping."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from taoloop.core import pointers
from taoloop.core.errors import FieldViolation, InvalidRequest
from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue, dumps
from taoloop.core.pointers import PointerNotFound
from taoloop.evaluation.samples.checking import sample_faults
from taoloop.evaluation.samples.exchanges import Exchange, RecordedObserver
from taoloop.evaluation.samples.masking import Masked, Redactor, made_up, masked_arguments, masked_body
from taoloop.evaluation.samples.redacting import looks_personal
from taoloop.plan.observing import ObservationResult
from taoloop.tools.loading.findings import Severity
from taoloop.tools.loading.samples import filled, sample_from_json
from taoloop.tools.schemas import Violation

_ARGUMENTS: Final = "/request/arguments"
_BODY: Final = "/response/body"
_NAMEABLE: Final = re.compile(r"[A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A sample made of a live exchange.

    Attributes:
        sample: Its JSON form.
        verdict: What the live answer was judged to be; the sample is judged the same.
        masked: Pointers in the sample whose values were masked or made up.
        placeholders: Pointer in the sample → the argument that stands there.
        doubts: Pointer in the sample → kind of the personal data that its value, which was kept, looks like.
    """

    sample: dict[str, JsonValue]
    verdict: ObservationResult
    masked: tuple[str, ...]
    placeholders: Mapping[str, str]
    doubts: Mapping[str, str]

    @property
    def text(self) -> str:
        """The sample as the text of its file."""
        return _indented(self.sample, "") + "\n"


def recorded(
    exchange: Exchange,
    observer: RecordedObserver,
    redact: Redactor,
    replacements: Mapping[str, JsonValue] | None = None,
    *,
    is_failure_meant: bool = False,
) -> Recording:
    """Return the sample of a live exchange.

    Args:
        exchange: What was asked and answered.
        observer: Judges; its catalogue has the tool.
        redact: Masks what the contract keeps from people.
        replacements: Pointer in the sample, such as `/response/body/name` → the made-up value to write there.
        is_failure_meant: Whether an answer that breaks its contract is kept as a sample of that failure.

    Raises:
        InvalidRequest: The answer has no JSON body, breaks its contract, or is judged otherwise once it is redacted;
            the message names each place and what to do.
    """
    if exchange.raw is not None:
        raise InvalidRequest("The answer is not JSON, which a sample must be; nothing was recorded.")
    assert isinstance(exchange.arguments, dict)
    verdict = observer.observe(exchange)
    _refuse_drift(exchange, observer, verdict, is_failure_meant=is_failure_meant)
    contract = observer.catalogue.compiled(exchange.tool)
    asked = masked_arguments(exchange.arguments, redact)
    answered = Masked(None)
    if not isinstance(exchange.body, Absent):
        answered = masked_body(exchange.body, _nameable(exchange.arguments), redact)
    sample = _sample(exchange, asked.value, answered.value, verdict)
    for pointer, value in (replacements or {}).items():
        sample = _replaced(sample, pointer, value)
    masked = {_ARGUMENTS + at: was for at, was in asked.masked.items()}
    masked |= {_BODY + at: was for at, was in answered.masked.items()}
    free = {at: was for at, was in masked.items() if at not in (replacements or {})}
    sample = _kept_valid(sample, free, contract.response.violations)
    arguments = _part(sample, _ARGUMENTS)
    broken = () if isinstance(arguments, Absent) else contract.parameters.violations(arguments)
    again = observer.observe(Exchange.of_sample(exchange.tool, sample_from_json(sample)))
    _refuse_change(verdict, again, broken)
    placeholders = {_BODY + at: name for at, name in answered.placeholders.items()}
    known = {*masked, *(replacements or {})}
    doubts = {at: kind.value for at, kind in looks_personal(sample) if at not in known}
    return Recording(sample=sample, verdict=verdict, masked=tuple(masked), placeholders=placeholders, doubts=doubts)


def _sample(exchange: Exchange, asked: JsonValue, body: Json, verdict: ObservationResult) -> dict[str, JsonValue]:
    headers: dict[str, JsonValue] = {}
    if exchange.content_type:
        headers["Content-Type"] = exchange.content_type
    if exchange.retry_after:
        headers["Retry-After"] = exchange.retry_after
    response: dict[str, JsonValue] = {"status": exchange.status_code, "headers": headers}
    if not isinstance(exchange.body, Absent):
        assert not isinstance(body, Absent)
        response["body"] = body
    expect: dict[str, JsonValue] = {"valid": verdict.valid}
    if verdict.fault is not None:
        expect["fault"] = verdict.fault.code
    return {"tool": exchange.tool, "request": {"arguments": asked}, "response": response, "expect": expect}


def _kept_valid(
    sample: dict[str, JsonValue],
    masked: Mapping[str, JsonValue],
    violations: Callable[[JsonValue], tuple[Violation, ...]],
) -> dict[str, JsonValue]:
    """Put made-up values of the right form where a mask breaks the response schema."""
    body = _part(sample, _BODY)
    if isinstance(body, Absent):
        return sample
    arguments = _part(sample, _ARGUMENTS)
    assert isinstance(arguments, dict)
    for violation in violations(filled(body, arguments)):
        pointer = _BODY + violation.pointer
        if pointer in masked:
            sample = _replaced(sample, pointer, made_up(masked[pointer]))
    return sample


def _refuse_drift(
    exchange: Exchange, observer: RecordedObserver, verdict: ObservationResult, *, is_failure_meant: bool
) -> None:
    if is_failure_meant:
        return
    contract = observer.catalogue.compiled(exchange.tool).contract
    found = [each.finding for each in sample_faults(contract, replace(exchange, expect=None), verdict)]
    errors = [each for each in found if each.severity is Severity.ERROR]
    if errors:
        listed = "; ".join(f"{each.pointer}: {each.cause}" for each in errors)
        raise InvalidRequest(
            f"The tool's answer breaks its contract: {listed}. Correct the contract and record again, or keep the "
            "answer as a sample of this failure with --as-failure.",
            violations=tuple(FieldViolation(each.pointer, each.cause) for each in errors),
        )


def _refuse_change(live: ObservationResult, again: ObservationResult, broken: tuple[Violation, ...]) -> None:
    """Refuse a sample that redaction made into something else than what was answered."""
    places = {_ARGUMENTS + each.pointer: each.message for each in broken}
    if _verdict(live) != _verdict(again):
        places |= {_BODY + each.pointer: each.message for each in again.failures if each.hard}
    if not places and _verdict(live) == _verdict(again):
        return
    listed = "; ".join(f"{pointer}: {message}" for pointer, message in places.items()) or "its verdict is another"
    raise InvalidRequest(
        f"Redacted, the sample is no longer what the tool answered: {listed}. Give each place a made-up value that "
        "fits, such as --replace '/response/body/name=\"Ada\"'.",
        violations=tuple(FieldViolation(pointer, message) for pointer, message in places.items()),
    )


def _verdict(observation: ObservationResult) -> tuple[bool, str]:
    return observation.valid, "" if observation.fault is None else observation.fault.code


def _replaced(sample: dict[str, JsonValue], pointer: str, value: JsonValue) -> dict[str, JsonValue]:
    if isinstance(_part(sample, pointer), Absent):
        message = f"The sample has nothing at {pointer} that could be replaced."
        raise InvalidRequest(message, violations=(FieldViolation("--replace", pointer),))
    changed = pointers.assign(sample, pointer, value)
    assert isinstance(changed, dict)
    return changed


def _part(sample: dict[str, JsonValue], pointer: str) -> Json:
    try:
        return pointers.lookup(sample, pointer)
    except (PointerNotFound, ValueError):
        return ABSENT


def _nameable(arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the arguments that a placeholder can name."""
    return {name: value for name, value in arguments.items() if _NAMEABLE.fullmatch(name)}


def _indented(value: JsonValue, margin: str) -> str:
    """Return JSON with a member a line, as people keep samples; every number as it was."""
    inner = margin + "  "
    if isinstance(value, dict) and value:
        members = (f"{inner}{dumps(name)}: {_indented(item, inner)}" for name, item in value.items())
        return "{\n" + ",\n".join(members) + f"\n{margin}}}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(inner + _indented(item, inner) for item in value) + f"\n{margin}]"
    return dumps(value)
