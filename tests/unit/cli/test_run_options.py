"""Rules of what is typed: a task from options, values from texts."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from taoloop.cli.run_options import TaskOptions, task_of, typed_values, value_of
from taoloop.core.errors import InvalidRequest
from taoloop.core.exact_json import ABSENT, Json
from taoloop.plan.task import InputField
from taoloop.tools.signature import Effect


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("20260308000012345", {"type": "string"}, "20260308000012345"),
        ("20260308000012345", ABSENT, "20260308000012345"),
        ("12", {"type": "integer"}, 12),
        ("0.10", {"type": "number"}, Decimal("0.10")),
        ("true", {"type": "boolean"}, True),
        ("ten", {"type": "integer"}, "ten"),
        ('["a"]', {"type": "array"}, ["a"]),
        ('["a"]', ABSENT, ["a"]),
        ("null", {"type": ["string", "null"]}, "null"),
    ],
)
def test_a_text_becomes_what_the_parameter_takes(text: str, schema: Json, value: Json) -> None:
    assert value_of(text, schema) == value


def test_values_may_be_named_by_parameter_or_pointer() -> None:
    fields = [InputField(pointer="/size", tool="a", schema={"type": "integer"})]
    assert typed_values(["size=3"], fields) == {"size": 3}
    assert typed_values(["/size=3"], fields) == {"/size": 3}


@pytest.mark.parametrize("pairs", [["size"], ["=3"], ["size=3", "size=4"]])
def test_a_pair_without_a_name_or_twice_is_refused(pairs: list[str]) -> None:
    with pytest.raises(InvalidRequest, match=r"must be name=value|is given twice"):
        typed_values(pairs, ())


def test_options_become_a_task(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text('{"amount": 0.10}', encoding="utf-8")
    options = TaskOptions(
        text="x",
        reference_time="2026-03-10T09:00:00+08:00",
        state=state,
        max_effect=Effect.WRITE,
        tools=["a"],
        timeout_seconds=2.5,
        request_id="r1",
    )
    task = task_of(options)
    assert (task.turns[0].text, task.state, task.request_id) == ("x", {"amount": Decimal("0.10")}, "r1")
    assert task.reference_time is not None
    assert task.reference_time.isoformat() == "2026-03-10T09:00:00+08:00"
    assert task.permissions is not None
    assert (task.permissions.max_effect, task.permissions.allowed_tools) == (Effect.WRITE, ("a",))
    assert task.limits is not None
    assert task.limits.max_wall_time_seconds == 2.5


@pytest.mark.parametrize("moment", ["tomorrow", "2026-03-10T09:00:00"])
def test_a_reference_time_without_an_offset_is_refused(moment: str) -> None:
    with pytest.raises(InvalidRequest, match="RFC 3339 with an offset"):
        task_of(TaskOptions(text="x", reference_time=moment))


def test_a_state_that_is_no_json_names_the_place(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text('{\n "a": nope}', encoding="utf-8")
    with pytest.raises(InvalidRequest, match=r"state\.json:2:\d+"):
        task_of(TaskOptions(text="x", state=state))
