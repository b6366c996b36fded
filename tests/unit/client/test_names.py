"""What the library gives out is enough to read every event and to fill in every task."""

from __future__ import annotations

import typing
from dataclasses import fields
from enum import Enum

import taoloop.client
from taoloop.plan.running import EventBody
from taoloop.plan.task import Limits, Permissions, Task, Turn


def test_every_kind_of_event_has_its_name_here() -> None:
    assert {kind.__name__ for kind in typing.get_args(EventBody)} <= set(taoloop.client.__all__)


def test_every_choice_of_a_task_has_its_name_here() -> None:
    hints = [
        typing.get_type_hints(record)[field.name]
        for record in (Task, Permissions, Limits, Turn)
        for field in fields(record)
    ]
    kinds = {kind for hint in hints for kind in (hint, *typing.get_args(hint)) if isinstance(kind, type)}
    assert {kind.__name__ for kind in kinds if issubclass(kind, Enum)} <= set(taoloop.client.__all__)
