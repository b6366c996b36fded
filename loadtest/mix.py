"""The mix of tasks that is sent, read from a file of tasks in YAML."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from taoloop.core.exact_json import ABSENT, Json
from taoloop.plan.task import Outcome, Permissions, Role, Task, Turn
from taoloop.tools.signature import Effect


class MixUnusable(ValueError):
    """The file of tasks cannot be used; the message says where and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedTask:
    """One task of the mix.

    Attributes:
        task_id: Its id in the file.
        task: What is asked.
        weight: Its share of the arrivals is this over the sum of all weights; above 0.
        expected: The outcomes that are right; empty when the file does not say, or says that it may be missed.
    """

    task_id: str
    task: Task
    weight: float = 1.0
    expected: frozenset[Outcome] = frozenset()


def read_mix(path: Path) -> tuple[MixedTask, ...]:
    """Read a file of tasks.

    An item is a task of its own, in the form of the example's `tasks.yaml`, or `{from: FILE, id: ID}`, a task of
    another file whose path counts from this one's directory. Both may have a `weight` (1 when left out); 0 leaves the
    task out.

    Raises:
        MixUnusable: The file cannot be read, has another form, names an id twice, or has no task to send.
    """
    found: dict[str, MixedTask] = {}
    others: dict[Path, dict[str, Mapping[str, Any]]] = {}
    for number, item in enumerate(_items(path), start=1):
        weight = _weight(item, f"{path}: task {number}")
        source, raw = path, item
        if "from" in item:
            source = path.parent / str(item["from"])
            if source not in others:
                others[source] = {str(other.get("id", "")): other for other in _items(source)}
            wanted = str(item.get("id", ""))
            if wanted not in others[source]:
                raise MixUnusable(f"{path}: task {number}: {source} has no task with the id {wanted!r}.")
            raw = others[source][wanted]
            if "from" in raw:
                raise MixUnusable(f"{path}: task {number}: {source} has {wanted} from a third file; name that one.")
        task = _task(raw, weight, f"{source}: task {raw.get('id', number)}")
        if task.task_id in found:
            raise MixUnusable(f"{path}: task {number}: the id {task.task_id} is given twice.")
        found[task.task_id] = task
    tasks = tuple(task for task in found.values() if task.weight > 0)
    if not tasks:
        raise MixUnusable(f"{path}: there is no task to send; each needs an id, a text and a weight above 0.")
    return tasks


def _items(path: Path) -> list[Mapping[str, Any]]:
    try:
        document = YAML(typ="safe", pure=True).load(path)
    except OSError as exc:
        raise MixUnusable(f"{path}: {exc.strerror or exc}.") from exc
    except UnicodeDecodeError as exc:
        raise MixUnusable(f"{path}: byte {exc.start} is not UTF-8.") from exc
    except YAMLError as exc:
        raise MixUnusable(f"{path} is no YAML: {' '.join(str(exc).split())}.") from exc
    items = document.get("tasks") if isinstance(document, Mapping) else None
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise MixUnusable(f"{path}: there is no list `tasks` of mappings.")
    return items


def _weight(item: Mapping[str, Any], place: str) -> float:
    weight = item.get("weight", 1)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < math.inf:
        raise MixUnusable(f"{place}: the weight {weight!r} is no number from 0.")
    return float(weight)


def _task(item: Mapping[str, Any], weight: float, place: str) -> MixedTask:
    try:
        permissions = item.get("permissions", {})
        state: Json = item.get("state", ABSENT)
        moment = item.get("reference_time")
        task = Task(
            turns=(Turn(role=Role.USER, text=_text(item, "text")),),
            state=state,
            reference_time=None if moment is None else datetime.fromisoformat(str(moment)),
            time_zone=str(item.get("time_zone", "")),
            locale=str(item.get("locale", "")),
            permissions=Permissions(
                max_effect=Effect(permissions.get("max_effect", "read")),
                allowed_tools=tuple(permissions.get("allowed_tools", ())),
            ),
        )
        return MixedTask(task_id=_text(item, "id"), task=task, weight=weight, expected=_expected(item))
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        cause = f"{exc.args[0]} is missing" if isinstance(exc, KeyError) else str(exc)
        raise MixUnusable(f"{place}: {cause}.") from exc


def _text(item: Mapping[str, Any], name: str) -> str:
    text = item[name]
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{name} is no text")
    return text


def _expected(item: Mapping[str, Any]) -> frozenset[Outcome]:
    """Return the outcomes that are right; a task marked `stretch` may end in any."""
    if item.get("stretch", False) or "expect" not in item:
        return frozenset()
    outcome = item["expect"]["outcome"]
    names = [outcome] if isinstance(outcome, str) else outcome
    return frozenset(Outcome(name.lower()) for name in names)
