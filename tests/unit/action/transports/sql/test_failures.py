"""What the errors of databases become."""

from __future__ import annotations

import pytest

from taoloop.action.ports import TransportFault
from taoloop.action.transports.sql.failures import StatementFailed, sqlite_failure, sqlstate_failure
from taoloop.action.transports.sql.queries import Progress, Stage
from taoloop.core.faults import FaultCode


@pytest.mark.parametrize(
    ("sqlstate", "status"),
    [("23505", 409), ("40001", 409), ("42501", 403), ("42P01", 400), ("25006", 403), ("22P02", 400), ("P0001", 400)],
)
def test_refusals_are_answers_of_the_same_meaning(sqlstate: str, status: int) -> None:
    failed = sqlstate_failure(sqlstate, "a_name", Progress(Stage.RUNNING))
    assert isinstance(failed, StatementFailed)
    reply = failed.reply()
    assert (reply.status_code, reply.body) == (status, f'{{"error":{{"code":"{sqlstate}","name":"a_name"}}}}'.encode())


@pytest.mark.parametrize(
    ("sqlstate", "code", "retriable"),
    [
        ("57014", FaultCode.TOOL_TIMEOUT, True),
        ("08006", FaultCode.RESPONSE_INCOMPLETE, True),
        ("53300", FaultCode.UPSTREAM_UNAVAILABLE, True),
        ("XX000", FaultCode.UPSTREAM_UNAVAILABLE, False),
    ],
)
def test_other_errors_are_faults_that_left_nothing_before_the_commit(sqlstate: str, code: str, retriable: bool) -> None:
    for stage in (Stage.RUNNING, Stage.COMMITTING):
        fault = sqlstate_failure(sqlstate, "", Progress(stage))
        assert isinstance(fault, TransportFault)
        assert (fault.code, fault.is_retriable, fault.may_have_left) == (code, retriable, stage is Stage.COMMITTING)


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("SQLITE_CONSTRAINT_UNIQUE", 409),
        ("SQLITE_READONLY", 403),
        ("SQLITE_ERROR", 400),
        ("SQLITE_BUSY_SNAPSHOT", FaultCode.TOOL_UNREACHABLE),
        ("SQLITE_INTERRUPT", FaultCode.TOOL_TIMEOUT),
        ("SQLITE_TOOBIG", FaultCode.RESPONSE_TOO_LARGE),
        ("SQLITE_CANTOPEN", FaultCode.TOOL_UNREACHABLE),
        ("SQLITE_CORRUPT", FaultCode.UPSTREAM_UNAVAILABLE),
        ("SQLITE_UNKNOWN", FaultCode.UPSTREAM_UNAVAILABLE),
    ],
)
def test_each_error_of_sqlite_has_its_meaning(name: str, outcome: object) -> None:
    failed = sqlite_failure(name, Progress(Stage.RUNNING))
    assert (failed.status_code if isinstance(failed, StatementFailed) else failed.code) == outcome
