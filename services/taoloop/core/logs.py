"""JSON-lines logging: one line for each outcome, an event in the past tense, never a payload."""

from __future__ import annotations

import logging
import math
import sys
import time
import traceback
from collections.abc import Mapping
from contextlib import nullcontext
from contextvars import ContextVar, Token
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from json.encoder import encode_basestring
from types import TracebackType
from typing import Final, Self, TextIO

from taoloop.core.exact_json import dumps
from taoloop.core.redaction import MASK, is_secret_name, redact_text
from taoloop.core.telemetry.tracing import current_trace_id

LogValue = str | int | float | bool | Decimal | None

MAX_TEXT_CHARACTERS: Final = 300
"""Longer texts are cut: what is longer is most likely payload."""

_context: ContextVar[Mapping[str, str]] = ContextVar("taoloop_log_context", default={})  # noqa: B039 - never changed in place
_FIELDS: Final = "taoloop_fields"
_NO_FIELDS: Final[Mapping[str, LogValue]] = {}
_SHORT_CHARACTERS: Final = 64

# The names of fields are from a fixed set, and so are most short values: names of tools, codes, states.
_is_secret_name = lru_cache(maxsize=1024)(is_secret_name)
_TAKEN: Final = frozenset({"time", "level", "event", "logger"})
_PLACED: Final = _TAKEN | {"trace_id"}


_LEVELS: Final = {level: name for name, level in logging.getLevelNamesMapping().items()}

_Error = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None] | None


_BLANK: Final = vars(logging.makeLogRecord({})) | {"thread": None, "threadName": None, "process": None}


class _EventRecord(logging.LogRecord):
    """A record without what no line of ours shows, such as file and thread, which takes longer than the rest."""

    def __init__(self, name: str, level: int, event: str, fields: Mapping[str, LogValue], error: _Error) -> None:
        created = time.time()  # noqa: TID251 - the date of a line, which logging itself would take from here
        self.__dict__.update(
            _BLANK,
            name=name,
            levelno=level,
            levelname=_LEVELS[level],
            msg=event,
            exc_info=error,
            created=created,
            msecs=created % 1 * 1000,
            taoloop_fields=fields,
        )


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

    def bound(self, event: str, **fields: LogValue) -> BoundEvent:
        """Return an event that has these fields each time, for what is written at every call."""
        return BoundEvent(self, event, fields)

    def _write(self, level: int, event: str, fields: Mapping[str, LogValue], *, has_exception: bool = False) -> None:
        if not self._logger.isEnabledFor(level):
            return
        if not has_exception:
            handler = _only_handler(self._logger)
            if handler is not None and handler.wrote(level, event, self._logger.name, fields):
                return
        error = sys.exc_info() if has_exception else None
        self._logger.handle(_EventRecord(self._logger.name, level, event, fields, error))


class BoundEvent:
    """An event some of whose fields are always the same, written out once; see `EventLog.bound`.

    Its line is the one that `EventLog` writes of all its fields.

    Args:
        log: Of the module.
        event: As for `EventLog.info`.
        fields: Those that are the same; what varies has other names.
    """

    __slots__ = ("_event", "_fields", "_is_plain", "_log", "_logger", "_written")

    def __init__(self, log: EventLog, event: str, fields: Mapping[str, LogValue]) -> None:
        self._log = log
        self._logger = log._logger  # noqa: SLF001 - a part of it
        self._event = event
        self._fields = fields
        self._written = "".join(_field(name, value) for name, value in fields.items())
        self._is_plain = _PLACED.isdisjoint(fields)

    def info(self, **fields: LogValue) -> None:
        """Write the event as one of normal work, with the fields that vary."""
        logger = self._logger
        if not logger.isEnabledFor(logging.INFO):
            return
        handler = _only_handler(logger)
        if (
            handler is not None
            and self._is_plain
            and self._fields.keys().isdisjoint(_context.get())
            and handler.wrote(logging.INFO, self._event, logger.name, fields, self._written)
        ):
            return
        self._log.info(self._event, **{**self._fields, **fields})


class log_context:  # noqa: N801 - used like a function; a class enters and leaves at a third of a generator's cost
    """Put ids, such as `run_id` and `thought_id`, on every line of the block and of the tasks it starts."""

    __slots__ = ("_ids", "_token")

    def __init__(self, **ids: str) -> None:
        self._ids = ids

    def __enter__(self) -> Self:
        ids = self._ids if all(self._ids.values()) else {name: text for name, text in self._ids.items() if text}
        around = _context.get()
        self._token: Token[Mapping[str, str]] = _context.set({**around, **ids} if around else ids)
        return self

    def __exit__(self, *_: object) -> None:
        _context.reset(self._token)


class JsonLinesFormatter(logging.Formatter):
    """Formats a record as one line: time, level, event, logger, trace id, ids of the context, fields, error.

    ```json
    {"time":"2026-03-01T09:30:00.123Z","level":"info","event":"run_finished","logger":"taoloop.loop.driver",
     "trace_id":"…","run_id":"…","outcome":"answered"}
    ```
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        fields = getattr(record, _FIELDS, None)
        if fields is not None and record.exc_info is None:
            line_of_event = _event_line(record.created, record.levelname, record.msg, record.name, fields)
            if line_of_event.isascii():
                return line_of_event
        line: dict[str, object] = {"time": _time(record.created), "level": record.levelname.lower()}
        if fields is None:  # a library wrote it: its text is free, so it is no event name
            line |= {"event": "library_logged", "logger": record.name, "message": _text(record.getMessage())}
        else:
            line |= {"event": record.getMessage(), "logger": record.name}
        if trace_id := current_trace_id():
            line["trace_id"] = trace_id
        line |= _context.get()
        for name, value in (fields or _NO_FIELDS).items():
            if name not in line:
                line[name] = _value(name, value)
        if record.exc_info and record.exc_info[1] is not None:
            line |= _error(record.exc_info[1])
        return dumps(line)


class _LineHandler(logging.StreamHandler[TextIO]):
    """Writes each line at once, in one hold of the lock, which the library takes twice."""

    def handle(self, record: logging.LogRecord) -> bool:
        if self.filters and not self.filter(record):
            return False
        with self.lock or nullcontext():
            self.emit(record)
        return True

    def wrote(self, level: int, event: str, logger: str, fields: Mapping[str, LogValue], known: str = "") -> bool:
        """Write an event without a record of it; tell whether that could be done.

        Args:
            level: Of `logging`.
            event: Its name.
            logger: The module's.
            fields: What is to be written.
            known: Fields that stand before them, written already.
        """
        if level < self.level or self.filters:
            return False
        created = time.time()  # noqa: TID251 - the date of a line, which logging itself would take from here
        try:
            line = _event_line(created, _LEVELS[level], event, logger, fields, known)
            if not line.isascii():
                return False
            with self.lock or nullcontext():
                self.stream.write(line + "\n")
                self.stream.flush()
        except Exception:  # noqa: BLE001 - the way by the record meets it again, and deals with it
            return False
        return True

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.stream.write(self.format(record) + "\n")
            self.stream.flush()
        except RecursionError:
            raise
        except Exception:  # noqa: BLE001 - as the library does: a line that cannot be written must not stop the work
            self.handleError(record)


def _only_handler(logger: logging.Logger) -> _LineHandler | None:
    """Return our handler if nobody else would hear of a record of this logger, as in a service nobody does."""
    if logger.filters or logger.disabled:
        return None
    found: logging.Handler | None = None
    above: logging.Logger | None = logger
    while above is not None:
        for handler in above.handlers:
            if found is not None:
                return None
            found = handler
        above = above.parent if above.propagate else None
    return found if type(found) is _LineHandler else None


def configure_logging(level: str, stream: TextIO) -> None:
    """Send all logging of the process to `stream` as JSON lines; called once, by the program's entry.

    Args:
        level: `debug`, `info`, `warning` or `error`; libraries are heard from `warning` up at the least.
        stream: Usually standard error.
    """
    handler = _LineHandler(stream)
    handler.setFormatter(JsonLinesFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level.upper()]))
    logging.getLogger("taoloop").setLevel(level.upper())


def _time(seconds: float) -> str:
    """Return the moment as RFC 3339 with milliseconds; a busy process writes many in one second."""
    milliseconds = round(seconds * 1_000_000) // 1000
    return f"{_second(milliseconds // 1000)}.{milliseconds % 1000:03}Z"


@lru_cache(maxsize=4)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00")


def _event_line(
    created: float, level: str, event: str, logger: str, fields: Mapping[str, LogValue], known: str = ""
) -> str:
    """Return the line of an event; it is the one that `dumps` writes if it is all ASCII."""
    line = f'{{"time":"{_time(created)}",{_head(level, event, logger)}'
    trace_id = current_trace_id()
    if trace_id:
        line += f',"trace_id":"{trace_id}"'
    context = _context.get()
    for name, text in context.items():
        line += f"{_name(name)}{encode_basestring(text)}"
    line += known
    for name, value in fields.items():
        if name not in context and name not in _TAKEN and not (trace_id and name == "trace_id"):
            if type(value) is float and math.isfinite(value) and not _is_secret_name(name):
                line += f"{_name(name)}{value!r}"
            else:
                line += _field(name, value)
    return line + "}"


def _field(name: str, value: LogValue) -> str:
    """Return a field as it stands behind others."""
    if isinstance(value, str) and len(value) <= _SHORT_CHARACTERS and not _is_secret_name(name):
        return f"{_name(name)}{_short_written(str(value))}"
    return f"{_name(name)}{_written(name, value)}"


@lru_cache(maxsize=1024)
def _name(name: str) -> str:
    return f",{encode_basestring(name)}:"


def _written(name: str, value: LogValue) -> str:
    """Return a field's value as JSON; see `_value`."""
    known = _value(name, value)
    return encode_basestring(known) if isinstance(known, str) else dumps(known)


@lru_cache(maxsize=1024)
def _short_written(text: str) -> str:
    return encode_basestring(_text(text))


@lru_cache(maxsize=1024)
def _head(level: str, event: str, logger: str) -> str:
    return dumps({"level": level.lower(), "event": event, "logger": logger})[1:-1]


def _value(name: str, value: object) -> LogValue:
    if value is None or isinstance(value, bool):
        return value
    if _is_secret_name(name):
        return MASK
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, Decimal) and value.is_finite():
        return value
    text = str(value)  # NaN and infinity too, which JSON does not have
    return _short_text(text) if len(text) <= _SHORT_CHARACTERS else _text(text)


@lru_cache(maxsize=1024)
def _short_text(text: str) -> str:
    return _text(text)


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
