"""What the library gives out is enough to read every event and to fill in every task."""

from __future__ import annotations

import inspect
import typing
from dataclasses import fields
from enum import Enum

import taoloop.client
from taoloop.client import AsyncClient, Client
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


def calls(client: type[AsyncClient | Client]) -> dict[str, tuple[tuple[str, object, object], ...]]:
    """Return the public calls of a client: each parameter's name, kind and default."""
    return {
        name: tuple((each.name, each.kind, each.default) for each in inspect.signature(call).parameters.values())
        for name, call in inspect.getmembers(client, inspect.isfunction)
        if not name.startswith("_")
    }


def test_both_clients_have_the_same_calls_with_the_same_parameters() -> None:
    assert calls(Client) == calls(AsyncClient)
