"""Rules of the handles that callers hold."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from taoloop.action.ports import JobTicket
from taoloop.action.transports.jobs.handles import HandleOwner, HandleRefused, JobHandles, ticket_from_json
from taoloop.core import exact_json
from taoloop.tools.contract import JobState

HANDLES = JobHandles(b"k" * 32)
OWNER = HandleOwner(tenant="acme", run_id="r" * 32, tool="build_all", arguments_hash="a" * 64)
TICKET = JobTicket(
    job_id="j-1", created_at=datetime(2026, 3, 10, 8, tzinfo=UTC), state=JobState.RUNNING, misses=2, effect_id="e"
)


def handle(**changes: Any) -> Any:
    sealed = HANDLES.seal(TICKET, OWNER)
    assert isinstance(sealed, dict)
    return {**sealed, **changes}


def test_a_handle_names_tool_job_date_and_last_state_and_opens_to_its_ticket() -> None:
    sealed = handle()
    assert (sealed["version"], sealed["tool"], sealed["job_id"], sealed["state"]) == (1, "build_all", "j-1", "running")
    assert sealed["created_at"] == "2026-03-10T08:00:00+00:00"
    assert HANDLES.open(exact_json.loads(exact_json.dumps(sealed)), OWNER) == TICKET


@pytest.mark.parametrize(
    "changes",
    [
        {"tenant": "other"},
        {"run_id": "s" * 32},
        {"tool": "other"},
        {"arguments_hash": "b" * 64},
    ],
)
def test_a_foreign_handle_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(HandleRefused, match="another call"):
        HANDLES.open(handle(), replace(OWNER, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"job_id": "j-2"},
        {"state": "succeeded"},
        {"created_at": "2026-03-11T08:00:00+00:00"},
        {"misses": 0},
        {"effect_id": ""},
        {"tool": "other"},
        {"seal": "0" * 64},
        {"seal": "é"},
        {"seal": None},
    ],
)
def test_a_changed_handle_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(HandleRefused, match="changed"):
        HANDLES.open(handle(**changes), OWNER)


@pytest.mark.parametrize("value", [None, 1, "j-1", [], {}, {"version": 1}])
def test_what_has_not_the_form_of_a_handle_is_refused(value: Any) -> None:
    with pytest.raises(HandleRefused, match="form"):
        HANDLES.open(value, OWNER)


def test_a_handle_with_another_member_or_version_is_refused() -> None:
    with pytest.raises(HandleRefused, match="form"):
        HANDLES.open(handle(more=1), OWNER)
    with pytest.raises(HandleRefused, match="version"):
        HANDLES.open(handle(version=2), OWNER)


def test_a_handle_of_another_key_is_refused() -> None:
    with pytest.raises(HandleRefused):
        JobHandles(b"x" * 32).open(handle(), OWNER)


def test_the_key_is_never_shown() -> None:
    assert "kkk" not in repr(HANDLES)
    assert ticket_from_json(handle()) == TICKET
