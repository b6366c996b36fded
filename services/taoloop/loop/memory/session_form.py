"""A session's memory as JSON text and back; the stores keep nothing else of it."""

from __future__ import annotations

from collections.abc import Mapping

from taoloop.core.exact_json import JsonSyntaxError, JsonValue, dumps, loads
from taoloop.core.logs import EventLog
from taoloop.loop.memory.model import RememberedTurn, SessionMemory
from taoloop.plan.task import Role
from taoloop.plan.thinking import ErrorTrace

_log = EventLog(__name__)


def written(memory: SessionMemory) -> str:
    """Return the text of a session; equal sessions have equal texts."""
    error = memory.last_error
    return dumps(
        {
            "version": memory.version,
            "turns": [[turn.role.value, turn.text, list(turn.tools), turn.run_id] for turn in memory.turns],
            "summary": memory.summary,
            "state": dict(memory.state),
            "snapshot": dict(memory.snapshot),
            "last_error": None if error is None else [error.code, error.tool, error.arguments_sha256],
            "has_tainted_answers": memory.has_tainted_answers,
        }
    )


def read(text: str | bytes) -> SessionMemory | None:
    """Return the session of a text; None for one that cannot be read, such as that of another program's version."""
    try:
        value = loads(text)
        if not isinstance(value, dict):
            raise TypeError("a session is an object")
        return SessionMemory(
            turns=tuple(_turn(turn) for turn in _list(value["turns"])),
            summary=_text(value["summary"]),
            state=_object(value["state"]),
            snapshot=_object(value["snapshot"]),
            last_error=_error(value["last_error"]),
            has_tainted_answers=value["has_tainted_answers"] is not False,
            version=_whole(value["version"]),
        )
    except (JsonSyntaxError, KeyError, TypeError, ValueError, UnicodeDecodeError):
        _log.warning("session_memory_unreadable")
        return None


def _turn(value: JsonValue) -> RememberedTurn:
    role, text, tools, run_id = _list(value)
    names = tuple(_text(name) for name in _list(tools))
    return RememberedTurn(role=Role(_text(role)), text=_text(text), tools=names, run_id=_text(run_id))


def _error(value: JsonValue) -> ErrorTrace | None:
    if value is None:
        return None
    code, tool, sha256 = _list(value)
    return ErrorTrace(code=_text(code), tool=_text(tool), arguments_sha256=_text(sha256))


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _list(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _object(value: JsonValue) -> Mapping[str, JsonValue]:
    if not isinstance(value, dict):
        raise TypeError("not an object")
    return value


def _whole(value: JsonValue) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("not a whole number")
    return value
