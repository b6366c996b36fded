"""Answers that no code made, checked against what the run has found out: an unchecked one is not used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from taoloop.core.calls import CallContext
from taoloop.core.errors import TaoError
from taoloop.core.exact_json import ABSENT, JsonValue, equal
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.pointers import below, join
from taoloop.loop.answering.findings import evidence_of, exposed_of, leaves
from taoloop.loop.answering.wording import said, words_for
from taoloop.loop.ports import ObservationPort
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.answering import CheckAnswerRequest, CheckAnswerResponse, RecoveryMode
from taoloop.plan.task import Task
from taoloop.plan.thinking import Grounding

MAX_NAMED: Final = 10
"""Most unsupported claims that a fault names."""


class AnswerCheck:
    """Asks the observation service whether an answer rests on results.

    Args:
        observation: The service; None where there is none, and then nothing passes.
    """

    def __init__(self, observation: ObservationPort | None) -> None:
        self._observation = observation

    async def of_text(
        self, text: str, known: Sequence[StepRecord], task: Task, call: CallContext
    ) -> tuple[Grounding, ...] | Fault:
        """Return where the values of a text come from, or why it may not be used."""
        response = await self._checked(text, known, task, call)
        if isinstance(response, Fault):
            return response
        if not response.grounded:
            return _ungrounded(response)
        steps = {record.step_id for record in known}
        return tuple(
            Grounding(text=claim.text, step_id=claim.step_id, pointer=claim.pointer)
            for claim in response.claims
            if claim.step_id in steps
        )

    async def of_data(
        self, data: JsonValue, schema: JsonValue, known: Sequence[StepRecord], task: Task, call: CallContext
    ) -> Fault | None:
        """Return why data that a model filled in may not be used; None when every value of it rests on a result.

        A value that a result has as it is does. Any other text or number has to be supported by the check as a whole:
        what it says beside a value of a result is not. Names are those of the form or of the results.
        """
        exposed = [exposed_of(record) for record in known]
        names = {*_texts(schema), *(text for each in exposed for text in _texts(each))}
        foreign = next((found for found in _members(data) if found[1] not in names), None)
        if foreign is not None:
            return _unfounded(*foreign)
        have = [leaf for each in exposed for _, leaf in leaves(each)]
        texts, rest = (
            {leaf for leaf in have if isinstance(leaf, str)},
            [leaf for leaf in have if not isinstance(leaf, str)],
        )
        others = [
            (pointer, leaf)
            for pointer, leaf in leaves(data)
            if not (leaf in texts if isinstance(leaf, str) else any(equal(leaf, value) for value in rest))
        ]
        if not others:
            return None
        unseen = next((found for found in others if not isinstance(found[1], str) and not _is_number(found[1])), None)
        if unseen is not None:
            return _unfounded(*unseen)
        words = words_for(task.locale)
        lines = [f"「{said(leaf, words)}」" for _, leaf in others]
        response = await self._checked("\n".join(lines), known, task, call)
        if isinstance(response, Fault):
            return response
        whole = {(claim.start, claim.end) for claim in response.claims if claim.supported}
        end = 0
        for (pointer, leaf), line in zip(others, lines, strict=True):
            start, end = end, end + len(line) + 1
            if (start + 1, end - 2) not in whole:
                return _unfounded(pointer, leaf)
        return None if response.grounded else _ungrounded(response)

    async def _checked(
        self, text: str, known: Sequence[StepRecord], task: Task, call: CallContext
    ) -> CheckAnswerResponse | Fault:
        if self._observation is None:
            return _unchecked("there is no observation service")
        request = CheckAnswerRequest(
            text=text, evidence=evidence_of(known), locale=task.locale, time_zone=task.time_zone
        )
        try:
            response = await self._observation.check_answer(request, call)
        except TaoError as error:
            return _unchecked(f"{error.reason}: {error.message}")
        if response.fault is not None:
            return response.fault
        validation = response.validation
        if validation is not None and validation.recovery_mode is RecoveryMode.MANUAL_REVIEW:
            return _unchecked("the semantic validator gave no verdict")
        return response


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _members(data: JsonValue, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name of every member of every object, with its pointer."""
    if isinstance(data, dict):
        for name, value in data.items():
            yield below(pointer, name), name
            yield from _members(value, below(pointer, name))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _members(value, pointer + join(index))


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield the names and texts of a value."""
    if isinstance(value, str):
        yield value
    for name, inner in value.items() if isinstance(value, dict) else ():
        yield name
        yield from _texts(inner)
    for inner in value if isinstance(value, list) else ():
        yield from _texts(inner)


def _unfounded(pointer: str, value: JsonValue) -> Fault:
    return _fault(FaultCode.ANSWER_UNGROUNDED, "No result has this value.", field=pointer, actual=value)


def _ungrounded(response: CheckAnswerResponse) -> Fault:
    lost = [claim for claim in response.claims if not claim.supported][:MAX_NAMED]
    verdict = response.validation.verdict if response.validation is not None else None
    said_so: list[JsonValue] = [*(verdict.unsupported_claims[:MAX_NAMED] if verdict is not None else ())]
    named: list[JsonValue] = [claim.text for claim in lost] or said_so
    return _fault(
        FaultCode.ANSWER_UNGROUNDED,
        "The text says what no result has, so that the facts are given instead.",
        actual=named,
        candidates=tuple(dict.fromkeys(claim.candidate for claim in lost if claim.candidate)),
    )


def _unchecked(why: str) -> Fault:
    return _fault(
        FaultCode.SERVICE_UNAVAILABLE, f"The text could not be checked, so that the facts are given instead: {why}."
    )


def _fault(
    code: FaultCode, message: str, *, field: str = "", actual: JsonValue = None, candidates: tuple[str, ...] = ()
) -> Fault:
    return Fault(
        code=code,
        stage=FaultStage.ANSWER,
        message=message,
        field=field,
        actual=ABSENT if actual is None else actual,
        suggestion=code.remedy,
        candidates=candidates,
    )
