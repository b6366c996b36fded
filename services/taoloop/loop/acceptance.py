"""Accepts a task: checks every field at once and fills in what the caller left open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from taoloop.core.clock import Clock
from taoloop.core.errors import FieldViolation, InvalidRequest
from taoloop.core.exact_json import ABSENT
from taoloop.core.logs import EventLog
from taoloop.loop.limits import RunLimits
from taoloop.plan.task import Limits, Permissions, Role, Task, Turn
from taoloop.tools.schema_refusals import SchemaRefused
from taoloop.tools.schemas import CompiledSchema
from taoloop.values.cleaning.requests import clean_request

_log = EventLog(__name__)

MAX_TURNS: Final = 100
MAX_TURN_CHARACTERS: Final = 1_000_000
_REQUEST_ID: Final = re.compile(r"[\x21-\x7e]{1,128}")
MAX_NAME_CHARACTERS: Final = 128
_NAME: Final = re.compile(rf"[^\x00-\x1f\x7f]{{0,{MAX_NAME_CHARACTERS}}}")
_BUSINESS_LINE: Final = re.compile(r"[a-z0-9_-]{1,64}")
_LOCALE: Final = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_CJK: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


def accept(task: Task | None, limits: RunLimits, clock: Clock, new_request_id: str) -> Task:
    """Return the task with every default filled in, and with the text of its turns as it is stored: clean.

    Args:
        task: The task as received.
        limits: The most that the service allows.
        clock: For the reference time, where the caller gave none.
        new_request_id: Stands in for an empty request id.

    Raises:
        InvalidRequest: With one violation for each field at fault.
    """
    if task is None:
        raise InvalidRequest("The request has no task.", violations=[FieldViolation("task", "is missing")])
    violations = list(_violations(task))
    if violations:
        what = "; ".join(f"{violation.field} {violation.description}" for violation in violations)
        raise InvalidRequest(f"The task cannot be run: {what}.", violations=violations)
    turns = tuple(_clean(turn) for turn in task.turns)
    return replace(
        task,
        turns=turns,
        request_id=task.request_id or new_request_id,
        state={} if task.state is ABSENT or task.state is None else task.state,
        reference_time=task.reference_time or clock.now(),
        time_zone=task.time_zone or "UTC",
        locale=task.locale or _locale_of(turns[-1].text),
        permissions=task.permissions or Permissions(),
        limits=limits.within(task.limits).as_record(),
    )


def _clean(turn: Turn) -> Turn:
    """Return the turn as it is stored. Every place in the conversation is counted in this text."""
    cleaned = clean_request(turn.text)
    if not cleaned.is_changed:
        return turn
    _log.info("request_cleaned", role=turn.role.value, marks=cleaned.described)
    return replace(turn, text=cleaned.text)


def _violations(task: Task) -> Iterator[FieldViolation]:
    if task.request_id and not _REQUEST_ID.fullmatch(task.request_id):
        yield FieldViolation("task.request_id", "must be 1 to 128 printable ASCII characters without spaces")
    yield from _name_violations(task)
    yield from _turn_violations(task)
    if task.state is not ABSENT and task.state is not None and not isinstance(task.state, dict):
        yield FieldViolation("task.state_json", "must be a JSON object")
    if task.time_zone and not _is_time_zone(task.time_zone):
        yield FieldViolation(
            "task.time_zone", f"must be an IANA name such as Asia/Shanghai, not {task.time_zone[:64]!r}"
        )
    if task.locale and not _LOCALE.fullmatch(task.locale):
        yield FieldViolation("task.locale", f"must be a BCP 47 tag such as zh-CN, not {task.locale[:64]!r}")
    if task.output_schema is not ABSENT:
        yield from _schema_violations(task)
    for field in fields(Limits):
        wanted = getattr(task.limits, field.name, None) or 0
        if wanted < 0:
            name = field.name.removesuffix("_seconds")
            yield FieldViolation(f"task.limits.{name}", f"must be above 0, or 0 for the service's own, not {wanted:g}")


def _name_violations(task: Task) -> Iterator[FieldViolation]:
    """Yield what is wrong with the names under which the task's session is remembered."""
    for field in ("session_id", "user_id"):
        if not _NAME.fullmatch(getattr(task, field)):
            said = f"must have at most {MAX_NAME_CHARACTERS} characters and no control characters"
            yield FieldViolation(f"task.{field}", said)
    if task.business_line and not _BUSINESS_LINE.fullmatch(task.business_line):
        yield FieldViolation(
            "task.business_line", f"must be 1 to 64 characters of a-z, 0-9, _ and -, not {task.business_line[:64]!r}"
        )


def _turn_violations(task: Task) -> Iterator[FieldViolation]:
    if not task.turns:
        yield FieldViolation("task.turns", "must hold at least one turn")
    elif task.turns[-1].role is not Role.USER:
        yield FieldViolation(f"task.turns[{len(task.turns) - 1}].role", "must be USER: the last turn is the request")
    if len(task.turns) > MAX_TURNS:
        yield FieldViolation("task.turns", f"must hold at most {MAX_TURNS} turns, not {len(task.turns)}")
    for index, turn in enumerate(task.turns):
        if len(turn.text) > MAX_TURN_CHARACTERS:
            yield FieldViolation(
                f"task.turns[{index}].text", f"must have at most {MAX_TURN_CHARACTERS} characters, not {len(turn.text)}"
            )


def _schema_violations(task: Task) -> Iterator[FieldViolation]:
    if not isinstance(task.output_schema, dict):
        yield FieldViolation("task.output_schema_json", "must be a JSON Schema object")
        return
    try:
        CompiledSchema.compile(task.output_schema)
    except SchemaRefused as error:
        yield FieldViolation("task.output_schema_json", str(error))


def _is_time_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _locale_of(text: str) -> str:
    return "zh" if _CJK.search(text) else "en"
