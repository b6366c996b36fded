"""The tasks of a demonstration, read from their file (its head explains the format)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from taoloop.core.errors import FieldViolation, InvalidRequest
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.plan.task import Outcome, Permissions, Role, Task, Turn
from taoloop.tools.signature import Effect

DEFAULT_FILE: Final = Path("examples/customer-service/tasks.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a run should come to.

    Attributes:
        outcomes: Any of these is right.
        tools: The tools called, in order.
        answer_contains: Texts that the answer has.
        missing: Parameters that are asked for.
    """

    outcomes: tuple[Outcome, ...]
    tools: tuple[str, ...] = ()
    answer_contains: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoTask:
    """One task.

    Attributes:
        task_id: Its id in the file.
        language: Of its text.
        task: What is asked.
        expect: What should come of it.
        values: What is given to the waiting run; None when it is not resumed.
        then: What should come of the resumed run.
    """

    task_id: str
    language: str
    task: Task
    expect: Expectation
    values: dict[str, JsonValue] | None = None
    then: Expectation | None = None


def find_tasks(given: Path | None) -> Path:
    """Return the tasks' file: the one that was given, else the example's, here or in the checkout of this package.

    Raises:
        InvalidRequest: There is none.
    """
    checkout = Path(__file__).parents[4]
    candidates = (DEFAULT_FILE, checkout / DEFAULT_FILE) if given is None else (given,)
    for path in candidates:
        if path.is_file():
            return path
    raise InvalidRequest(
        f"There is no file of tasks at {candidates[0]}; give one with --tasks, or start in a checkout of taoloop.",
        violations=(FieldViolation("tasks", "is not a file"),),
    )


def read_tasks(path: Path) -> tuple[DemoTask, ...]:
    """Read the tasks.

    Raises:
        InvalidRequest: The file cannot be read or has another form.
    """
    try:
        document = YAML(typ="safe", pure=True).load(path)
        return tuple(_task(item) for item in document["tasks"])
    except OSError as exc:
        raise _unusable(path, exc.strerror or "it cannot be read") from exc
    except YAMLError as exc:
        raise _unusable(path, " ".join(str(exc).split())) from exc
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        raise _unusable(path, f"{type(exc).__name__} {exc}") from exc


def _task(item: Mapping[str, Any]) -> DemoTask:
    permissions = item.get("permissions", {})
    state: Json = item.get("state", ABSENT)
    task = Task(
        turns=(Turn(role=Role.USER, text=item["text"]),),
        state=state,
        reference_time=datetime.fromisoformat(item["reference_time"]),
        time_zone=item["time_zone"],
        locale=item["locale"],
        permissions=Permissions(
            max_effect=Effect(permissions.get("max_effect", "read")),
            allowed_tools=tuple(permissions.get("allowed_tools", ())),
        ),
    )
    then = item.get("then")
    return DemoTask(
        task_id=item["id"],
        language=item["language"],
        task=task,
        expect=_expectation(item["expect"]),
        values=None if then is None else dict(then["input"]),
        then=None if then is None else _expectation(then["expect"]),
    )


def _expectation(item: Mapping[str, Any]) -> Expectation:
    outcome = item["outcome"]
    names: Sequence[str] = [outcome] if isinstance(outcome, str) else outcome
    return Expectation(
        outcomes=tuple(Outcome(name.lower()) for name in names),
        tools=tuple(item.get("tools", ())),
        answer_contains=tuple(str(text) for text in item.get("answer_contains", ())),
        missing=tuple(item.get("missing", ())),
    )


def _unusable(path: Path, cause: str) -> InvalidRequest:
    return InvalidRequest(f"The tasks in {path} cannot be used: {cause}.", metadata={"path": str(path)})
