"""The audit record of a run: fields from a fixed list, each in a form that no secret has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import Fault
from taoloop.core.ids import is_id
from taoloop.core.logs import EventLog
from taoloop.core.redaction import redact_text
from taoloop.loop.state import RunState
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.acting import ActionResult, ServedBy
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.running import (
    ActionReturned,
    CorrectionMade,
    ResultObserved,
    RunEvent,
    StepSkipped,
    ThoughtMade,
)
from taoloop.plan.thinking import ThinkResponse
from taoloop.tools.contract import PersonalData
from taoloop.tools.personal_data.finding import FINDERS
from taoloop.tools.personal_data.masking import masked

NOT_SHOWN: Final = "(not shown)"
"""Stands for a name that has not the form of one, or that looks like a credential or a number of a person."""

_TOOL: Final = re.compile(r"[a-z][a-z0-9_]{0,63}(?:\.[a-z][a-z0-9_]{0,63}){0,3}")
_CODE: Final = re.compile(r"[A-Z][A-Z0-9]{0,31}(?:_[A-Z0-9]{1,31}){0,7}")
_WORD: Final = re.compile(r"[a-z]{1,24}(?:_[a-z]{1,24}){0,4}")
_MODEL: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}(?:[/:@][A-Za-z0-9._-]{1,64}){0,3}")
_STEP: Final = re.compile(r"[0-9]{1,6}\.[A-Za-z0-9_]{1,16}(?:[.#\[][0-9]{1,6}\]?)?")
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_RUN_OF_LETTERS: Final = re.compile(r"[A-Za-z0-9]{25,}|[0-9]{7,}")
"""What names are not made of: keys and numbers of persons."""

_log = EventLog(__name__)


def audit_record(run_id: str, events: Sequence[RunEvent]) -> dict[str, JsonValue]:
    """Return the record of a run: who decided what, what was called and permitted, which failures, and how often.

    It holds our own ids, names of tools, models and roles, codes, stages, counts, times and truth values. No words of
    users, prompts, replies, arguments, results, messages of faults or exceptions, and no id that a caller chose.

    Args:
        run_id: The run.
        events: Its events, oldest first.
    """
    state = RunState.from_events(run_id, events)
    finished = state.finished
    usage = state.usage
    return {
        "run_id": _id(run_id),
        "started_at": _moment(state.started_at),
        "ended_at": _moment(state.updated_at if finished is not None else None),
        "outcome": finished.outcome.value if finished is not None and finished.outcome is not None else None,
        "fault": _fault(finished.fault if finished is not None else None),
        "answer_origin": state.answer.origin.value if state.answer is not None and state.answer.origin else None,
        "is_tainted": state.is_tainted,
        "thoughts": [_thought(event.body.response) for event in events if isinstance(event.body, ThoughtMade)],
        "calls": _calls(events),
        "skipped": [_skipped(event.body) for event in events if isinstance(event.body, StepSkipped)],
        "corrections": [_correction(event.body) for event in events if isinstance(event.body, CorrectionMade)],
        "decisions": [decision.decision.value for decision in state.decisions],
        "counts": {
            "iterations": usage.iterations,
            "tool_calls": usage.tool_calls,
            "model_calls": usage.model_calls,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "result_bytes": state.result_bytes,
        },
    }


def log_run(state: RunState) -> None:
    """Write the one line about a run that has come to rest, of the same fields as far as a line holds them."""
    finished = state.finished
    if finished is None:
        return
    fault = finished.fault
    steps = list(state.steps.values())
    _log.info(
        "run_audited",
        run_id=_id(state.run_id),
        outcome=finished.outcome.value if finished.outcome is not None else None,
        fault_code=_formed(fault.code, _CODE) if fault is not None else None,
        fault_stage=_formed(fault.stage, _WORD) if fault is not None else None,
        model=_formed(state.plan.model, _MODEL) if state.plan is not None and state.plan.model else None,
        iterations=state.usage.iterations,
        tool_calls=state.usage.tool_calls,
        retries=sum(_retries(record) for record in steps),
        fallbacks=sum(_is_fallback(record) for record in steps),
        execution_permitted=all(_is_permitted(record) for record in steps if record.observation is not None),
        is_tainted=state.is_tainted,
    )


def _thought(response: ThinkResponse | None) -> JsonValue:
    if response is None:
        return None
    plan = response.outcome if isinstance(response.outcome, ThoughtPlan) else None
    usage = response.usage
    return {
        "role": "planner",
        "thought_id": _id(response.thought_id),
        "iteration": response.iteration,
        "planner": _formed(response.planner, _MODEL),
        "model": _formed(plan.model, _MODEL) if plan is not None and plan.model else None,
        "decided": type(response.outcome).__name__ if response.outcome is not None else None,
        "model_calls": usage.model_calls if usage is not None else 0,
    }


def _calls(events: Sequence[RunEvent]) -> list[JsonValue]:
    """Return every call with its verdict, in order: a step that was tried again is there twice."""
    calls: list[dict[str, JsonValue]] = []
    for event in events:
        if isinstance(event.body, ActionReturned) and event.body.result is not None:
            calls.append(_call(event.body.result))
        elif isinstance(event.body, ResultObserved) and event.body.result is not None:
            verdict = event.body.result
            step_id = _formed(verdict.step_id, _STEP)
            call = next((each for each in reversed(calls) if each["step_id"] == step_id), None)
            if call is not None:
                call |= {
                    "valid": verdict.valid,
                    "execution_permitted": verdict.execution_permitted,
                    "fault": _fault(verdict.fault) or call["fault"],
                }
    return list(calls)


def _call(result: ActionResult) -> dict[str, JsonValue]:
    return {
        "step_id": _formed(result.step_id, _STEP),
        "tool": _formed(result.tool, _TOOL),
        "arguments_sha256": _formed(result.arguments_hash, _HASH) if result.arguments_hash else None,
        "status": result.status.value,
        "status_code": result.status_code,
        "retry_count": max(0, len(result.attempts) - 1),
        "is_fallback": result.served_by is ServedBy.FALLBACK,
        "effect_id": _id(result.effect_id) if result.effect_id else None,
        "approval_id": _id(result.approval_id) if result.approval_id else None,
        "valid": None,
        "execution_permitted": None,
        "fault": _fault(result.fault),
    }


def _skipped(skipped: StepSkipped) -> JsonValue:
    return {
        "step_id": _formed(skipped.step_id, _STEP),
        "tool": _formed(skipped.tool, _TOOL),
        "fault": _fault(skipped.fault),
    }


def _correction(correction: CorrectionMade) -> JsonValue:
    return {
        "fault": _fault(correction.fault),
        "reaction": _formed(correction.reaction, _WORD),
        "tool": _formed(correction.tool, _TOOL) if correction.tool else None,
        "attempt": correction.attempt,
        "is_told_to_user": correction.is_told_to_user,
    }


def _fault(fault: Fault | None) -> JsonValue:
    if fault is None:
        return None
    return {
        "code": _formed(fault.code, _CODE),
        "stage": _formed(fault.stage, _WORD),
        "retriable": fault.retriable,
    }


def _retries(record: StepRecord) -> int:
    """Return how often a step was tried again: within its call, and by corrections."""
    within = len(record.action.attempts) - 1 if record.action is not None else 0
    return max(0, within) + max(0, record.attempt - 1)


def _is_fallback(record: StepRecord) -> bool:
    return record.action is not None and record.action.served_by is ServedBy.FALLBACK


def _is_permitted(record: StepRecord) -> bool:
    return record.observation is not None and record.observation.execution_permitted


def _moment(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="milliseconds") if moment is not None else None


def _id(text: str) -> str:
    return text if is_id(text) else NOT_SHOWN


def _formed(text: str, form: re.Pattern[str]) -> str:
    """Return a name that has its form and is nothing else by accident; names come from catalogues and settings."""
    if not form.fullmatch(text) or redact_text(text) != text:
        return NOT_SHOWN
    if form is not _HASH and _RUN_OF_LETTERS.search(text):
        return NOT_SHOWN
    kinds = (PersonalData.PHONE, PersonalData.ID_CARD, PersonalData.BANK_CARD)
    return text if form is _HASH or all(masked(text, "", FINDERS[kind]) == text for kind in kinds) else NOT_SHOWN
