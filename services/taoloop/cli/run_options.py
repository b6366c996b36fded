"""The task that the options of `taoloop run` describe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from taoloop.cli.calling import read_json_file
from taoloop.core.errors import FieldViolation, InvalidRequest
from taoloop.core.exact_json import ABSENT, Json, JsonSyntaxError, JsonValue, loads
from taoloop.plan.task import InputField, Limits, Permissions, Role, TaintedEffects, Task, Turn
from taoloop.tools.signature import Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """The options as they were typed; None and empty were not given."""

    text: str
    locale: str = ""
    time_zone: str = ""
    reference_time: str = ""
    state: Path | None = None
    max_effect: Effect = Effect.READ
    tainted_effects: TaintedEffects = TaintedEffects.ASK
    tools: Sequence[str] = ()
    timeout_seconds: float | None = None
    request_id: str = ""
    session: str = ""
    user: str = ""
    line: str = ""


def task_of(options: TaskOptions) -> Task:
    """Return the task.

    Raises:
        InvalidRequest: The reference time or the state's file cannot be used.
    """
    state: Json = ABSENT if options.state is None else read_json_file(options.state, "state")
    limits = None if options.timeout_seconds is None else Limits(max_wall_time_seconds=options.timeout_seconds)
    return Task(
        request_id=options.request_id,
        session_id=options.session,
        user_id=options.user,
        business_line=options.line,
        turns=(Turn(role=Role.USER, text=options.text),),
        state=state,
        reference_time=_moment(options.reference_time),
        time_zone=options.time_zone,
        locale=options.locale,
        permissions=Permissions(
            max_effect=options.max_effect,
            allowed_tools=tuple(options.tools),
            tainted_effects=options.tainted_effects,
        ),
        limits=limits,
    )


def typed_values(pairs: Sequence[str], fields: Sequence[InputField]) -> dict[str, JsonValue]:
    """Return the values of `name=value` pairs, read as the fields that are asked for take them; see `value_of`.

    Raises:
        InvalidRequest: A pair has no `=`, or a name is given twice.
    """
    schemas = {name: field.schema for field in fields for name in (field.pointer, field.pointer.rsplit("/", 1)[-1])}
    values: dict[str, JsonValue] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name or name in values:
            cause = "is given twice" if name in values else "must be name=value"
            raise InvalidRequest(f"--value {pair} {cause}.", violations=(FieldViolation("value", cause),))
        values[name] = value_of(text, schemas.get(name, ABSENT))
    return values


def value_of(text: str, schema: Json) -> JsonValue:
    """Return what a typed text means for a parameter.

    A text stays a text where the schema takes one; elsewhere it is read as JSON, so that `12` is a number. Without a
    schema only what begins like an object, a list or a quoted text is read as JSON: an order number of digits is no
    number.
    """
    types = schema.get("type") if isinstance(schema, dict) else None
    takes_text = types == "string" or (isinstance(types, list) and "string" in types)
    if takes_text or (types is None and not text.lstrip().startswith(("{", "[", '"'))):
        return text
    try:
        return loads(text)
    except JsonSyntaxError:
        return text


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        cause = "must be RFC 3339 with an offset, such as 2026-03-10T09:00:00+08:00"
        raise InvalidRequest(f"--reference-time {text} {cause}.", violations=(FieldViolation("reference_time", cause),))
    return moment
