"""The tasks of a demonstration, read from their file (its head explains the format)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from taoloop.core.errors import FieldViolation, InvalidRequest
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.task import Outcome, Permissions, Role, Task, Turn
from taoloop.testing.mock_tools import ScriptedReply
from taoloop.tools.signature import Effect

DEFAULT_FILE: Final = Path("examples/customer-service/tasks.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a run should come to.

    Attributes:
        outcomes: Any of these is right.
        tools: The tools whose steps began, in order.
        requests: How many requests each of these tools really had; others are not counted.
        answer_contains: Texts that the answer has.
        missing: Parameters that are asked for.
        faults: Codes of faults that the run's events tell, in any order; others may be there.
    """

    outcomes: tuple[Outcome, ...]
    tools: tuple[str, ...] = ()
    requests: Mapping[str, int] = field(default_factory=dict)
    answer_contains: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """What one tool's server does instead of answering well, while a task runs.

    Attributes:
        tool: The tool.
        reply: What it answers.
    """

    tool: str
    reply: ScriptedReply


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """What is done with a run that waits.

    Attributes:
        values: The values that it asked for; None when it waits for leave.
        decision: What is decided about every call that waits for leave.
        expect: What should come of it.
    """

    values: dict[str, JsonValue] | None
    decision: ApprovalDecision | None
    expect: Expectation


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoTask:
    """One task.

    Attributes:
        task_id: Its id in the file.
        language: Of its text.
        task: What is asked.
        expect: What should come of it.
        upstream: What the tools' servers do wrong meanwhile.
        kills_worker: Whether the thought worker is killed while it holds the run's thought.
        then: What is done with the waiting run; None when it is not resumed.
    """

    task_id: str
    language: str
    task: Task
    expect: Expectation
    upstream: tuple[Upstream, ...] = ()
    kills_worker: bool = False
    then: Resume | None = None


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
    return DemoTask(
        task_id=item["id"],
        language=item["language"],
        task=task,
        expect=_expectation(item["expect"]),
        upstream=tuple(_upstream(fault) for fault in item.get("upstream", ())),
        kills_worker=bool(item.get("kill_worker", False)),
        then=_resume(item["then"]) if "then" in item else None,
    )


def _upstream(item: Mapping[str, Any]) -> Upstream:
    is_hanging = bool(item.get("hang", False))
    reply = ScriptedReply(status=int(item.get("status", 200)), body=item.get("body"), is_hanging=is_hanging)
    return Upstream(tool=item["tool"], reply=reply)


def _resume(item: Mapping[str, Any]) -> Resume:
    return Resume(
        values=dict(item["input"]) if "input" in item else None,
        decision=ApprovalDecision(item["decide"]) if "decide" in item else None,
        expect=_expectation(item["expect"]),
    )


def _expectation(item: Mapping[str, Any]) -> Expectation:
    outcome = item["outcome"]
    names: Sequence[str] = [outcome] if isinstance(outcome, str) else outcome
    return Expectation(
        outcomes=tuple(Outcome(name.lower()) for name in names),
        tools=tuple(item.get("tools", ())),
        requests=dict(item.get("requests", {})),
        answer_contains=tuple(str(text) for text in item.get("answer_contains", ())),
        missing=tuple(item.get("missing", ())),
        faults=tuple(item.get("faults", ())),
    )


def _unusable(path: Path, cause: str) -> InvalidRequest:
    return InvalidRequest(f"The tasks in {path} cannot be used: {cause}.", metadata={"path": str(path)})
