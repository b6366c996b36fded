"""What databases answer instead of rows: a status and a code of theirs, never the statement or a value."""

from __future__ import annotations

from typing import Final

from taoloop.action.ports import Reply, TransportFault
from taoloop.action.transports.sql.queries import Progress
from taoloop.core import exact_json
from taoloop.core.faults import FaultCode

SQLSTATE_STATUS: Final = {
    "0A": 400,  # feature not supported
    "21": 400,  # cardinality violation
    "22": 400,  # data exception
    "23": 409,  # integrity constraint violation
    "25006": 403,  # a write in a read-only transaction
    "28": 403,  # no such role, or its password
    "40": 409,  # taken back because of another transaction
    "42": 400,  # syntax error or unknown name
    "42501": 403,  # insufficient privilege
    "44": 409,  # WITH CHECK OPTION violation
    "P0": 400,  # raised by a function of the database
}
"""SQLSTATE, whole or its class, to the HTTP status of the same meaning. Source: PostgreSQL's appendix A."""

SQLITE_STATUS: Final = {
    "SQLITE_CONSTRAINT": 409,
    "SQLITE_READONLY": 403,
    "SQLITE_AUTH": 403,
    "SQLITE_PERM": 403,
    "SQLITE_ERROR": 400,
    "SQLITE_MISMATCH": 400,
    "SQLITE_RANGE": 400,
}
"""Primary result code of SQLite to the HTTP status of the same meaning."""

_MOMENTARY: Final = frozenset({"53", "55", "57"})


class StatementFailed(Exception):
    """The database refused the statement, and the transaction surely changed nothing.

    Attributes:
        status_code: 4xx.
        code: The database's own: an SQLSTATE, or a name such as SQLITE_CONSTRAINT_UNIQUE.
        name: What the code means, in snake case; empty when it has no name.
    """

    def __init__(self, status_code: int, code: str, name: str = "") -> None:
        super().__init__(f"{code} {name}".rstrip())
        self.status_code = status_code
        self.code = code
        self.name = name

    def reply(self) -> Reply:
        """Return the answer that stands for the refusal: `{"error": {"code": "23505", "name": "unique_violation"}}`."""
        error = {"code": self.code, "name": self.name}
        body = exact_json.dumps({"error": error}).encode()
        return Reply(status_code=self.status_code, content_type="application/json", body=body)


def sqlstate_failure(sqlstate: str, name: str, progress: Progress) -> StatementFailed | TransportFault:
    """Return what an error of a running PostgreSQL session means."""
    status = SQLSTATE_STATUS.get(sqlstate) or SQLSTATE_STATUS.get(sqlstate[:2])
    if status is not None:
        return StatementFailed(status, sqlstate, name)
    if sqlstate == "57014":
        return progress.fault(FaultCode.TOOL_TIMEOUT, "The database ended the statement.", is_retriable=True)
    if sqlstate[:2] == "08":
        return lost(progress)
    message = f"The database could not run the statement: {f'{sqlstate} {name}'.strip()}."
    return progress.fault(FaultCode.UPSTREAM_UNAVAILABLE, message, is_retriable=sqlstate[:2] in _MOMENTARY)


def sqlite_failure(code: str, progress: Progress) -> StatementFailed | TransportFault:
    """Return what an error of SQLite means; `code` is its name, such as SQLITE_BUSY_SNAPSHOT."""
    primary = "_".join(code.split("_")[:2])
    if primary in SQLITE_STATUS:
        return StatementFailed(SQLITE_STATUS[primary], code, code.removeprefix("SQLITE_").lower())
    if primary in {"SQLITE_BUSY", "SQLITE_LOCKED"}:
        message = "The database is locked by another transaction."
        return progress.fault(FaultCode.TOOL_UNREACHABLE, message, is_retriable=True)
    if primary == "SQLITE_INTERRUPT":
        return progress.fault(FaultCode.TOOL_TIMEOUT, "The statement was ended.", is_retriable=True)
    if primary == "SQLITE_TOOBIG":
        return progress.fault(FaultCode.RESPONSE_TOO_LARGE, "A value is larger than the result may be.")
    if primary == "SQLITE_CANTOPEN":
        return progress.fault(FaultCode.TOOL_UNREACHABLE, "The database cannot be opened.")
    return progress.fault(FaultCode.UPSTREAM_UNAVAILABLE, f"The database could not run the statement: {code}.")


def lost(progress: Progress) -> TransportFault:
    """Return the fault of a connection that ended under a statement."""
    message = "The database closed the connection before it had answered."
    return progress.fault(FaultCode.RESPONSE_INCOMPLETE, message, is_retriable=True)
