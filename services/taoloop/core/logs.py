"""JSON-lines logging: one line for each outcome, an event in the past tense, never a payload."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final, TextIO

from taoloop.core.exact_json import dumps
from taoloop.core.redaction import MASK, is_secret_name, redact_text
from taoloop.core.telemetry.tracing import current_trace_id

LogValue = str | int | float | bool | Decimal | None

MAX_TEXT_CHARACTERS: Final = 300
"""Longer texts are cut: what is longer is most likely payload."""

_context: ContextVar[Mapping[str, str]] = ContextVar("taoloop_log_context", default={})  # noqa: B039 - never changed in place
_FIELDS: Final = "taoloop_fields"


class EventLog:
    """Writes events of one module: `EventLog(__name__).info("run_finished", outcome="answered")`.

    An event is snake_case, in the past tense, and from a fixed set; all that varies is a field. Fields are
    scalars: no place for a body, a prompt or arguments.

    Args:
        name: The module's name.
    """

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def debug(self, event: str, **fields: LogValue) -> None:
        """Write an event for who develops."""
        self._write(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: LogValue) -> None:
        """Write an event of normal work."""
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: LogValue) -> None:
        """Write an event that an operator may want to look at."""
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, **fields: LogValue) -> None:
        """Write an event that an operator must look at."""
        self._write(logging.ERROR, event, fields)

    def exception(self, event: str, **fields: LogValue) -> None:
        """Write an event that an operator must look at, with the exception that is being handled."""
        self._write(logging.ERROR, event, fields, has_exception=True)

    def _write(self, level: int, event: str, fields: Mapping[str, LogValue], *, has_exception: bool = False) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, event, extra={_FIELDS: fields}, exc_info=has_exception)


@contextmanager
def log_context(**ids: str) -> Iterator[None]:
    """Put these ids, such as `run_id` and `thought_id`, on every line of the block and of the tasks it starts."""
    token = _context.set({**_context.get(), **{name: value for name, value in ids.items() if value}})
    try:
        yield
    finally:
        _context.reset(token)


class JsonLinesFormatter(logging.Formatter):
    """Formats a record as one line: time, level, event, logger, trace id, ids of the context, fields, error.

    ```json
    {"time":"2026-03-01T09:30:00.123Z","level":"info","event":"run_finished","logger":"taoloop.loop.driver",
     "trace_id":"…","run_id":"…","outcome":"answered"}
    ```
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        moment = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, object] = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
        }
        fields = getattr(record, _FIELDS, None)
        if fields is None:  # a library wrote it: its text is free, so it is no event name
            line |= {"event": "library_logged", "logger": record.name, "message": _text(record.getMessage())}
        else:
            line |= {"event": record.getMessage(), "logger": record.name}
        if trace_id := current_trace_id():
            line["trace_id"] = trace_id
        line |= _context.get()
        for name, value in (fields or {}).items():
            line.setdefault(name, _value(name, value))
        if record.exc_info and record.exc_info[1] is not None:
            line |= _error(record.exc_info[1])
        return dumps(line)


def configure_logging(level: str, stream: TextIO) -> None:
    """Send all logging of the process to `stream` as JSON lines; called once, by the program's entry.

    Args:
        level: `debug`, `info`, `warning` or `error`; libraries are heard from `warning` up at the least.
        stream: Usually standard error.
    """
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLinesFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level.upper()]))
    logging.getLogger("taoloop").setLevel(level.upper())


def _value(name: str, value: object) -> LogValue:
    if value is None or isinstance(value, bool):
        return value
    if is_secret_name(name):
        return MASK
    if isinstance(value, int | float | Decimal) and Decimal(value).is_finite():
        return value
    return _text(str(value))  # NaN and infinity too, which JSON does not have


def _text(text: str) -> str:
    redacted = redact_text(text).encode(errors="replace").decode()  # a lone surrogate must not lose the line
    return redacted if len(redacted) <= MAX_TEXT_CHARACTERS else redacted[:MAX_TEXT_CHARACTERS] + "…"


def _error(exception: BaseException) -> dict[str, object]:
    frames = traceback.extract_tb(exception.__traceback__)
    return {
        "error_type": type(exception).__qualname__,
        "error_message": _text(str(exception)),
        "error_stack": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-20:]],
    }
