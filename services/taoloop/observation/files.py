"""Judges a recorded or mocked response from files, without any service: what `taoloop observe` does."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, TypeGuard

from taoloop.core.errors import InvalidRequest
from taoloop.core.exact_json import ABSENT, Json, JsonSyntaxError, JsonValue, loads
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.observer import Observer
from taoloop.observation.ports import FixedCatalogue
from taoloop.plan.acting import ActionResult, ActionStatus, Body
from taoloop.plan.form.json_form import PlanFormInvalid, plan_from_json
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import ObserveRule, RuleSeverity, ToolContract
from taoloop.tools.loading.samples import filled, sample_from_json
from taoloop.tools.rules import RuleRefused
from taoloop.tools.schema_refusals import SchemaRefused
from taoloop.tools.seen import Place
from taoloop.tools.signature import Effect

ENVELOPE_KEYS: Final = frozenset(
    {"body", "status_code", "response_time_seconds", "content_type", "arguments", "tool", "expect"}
)
"""What a response file may say; an object with `body` or `status_code` and only such keys is an envelope.

They are those of a recorded line; what a record expects of itself is left aside.
"""

SAMPLE_KEYS: Final = frozenset({"tool", "request", "response", "expect"})
"""What a sample may say; an object with `request` and `response` and only such keys is one."""

MAX_FILE_BYTES: Final = 16 * 1024 * 1024
"""Largest file that is read."""

_MAX_RAW_BYTES: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedFiles:
    """What `taoloop observe` is given.

    Attributes:
        action_response: The response: a body of any kind, a sample, or the object
            `{"status_code": 200, "response_time_seconds": 0.2, "arguments": {…}, "body": …}`, without `body` when there
            was none.
        thought_plan: A plan in its JSON form; its step says what is expected. None for none.
        rules: JSON list of `{"id": …, "severity": "hard" or "soft", "when": JsonLogic}`, or an object with that
            list under `rules`; checked besides the contract's own. None for none.
        step_id: The step of the plan that was carried out; empty when the plan and the tool leave only one.
        tool: The tool that answered; empty takes the step's.
    """

    action_response: Path
    thought_plan: Path | None = None
    rules: Path | None = None
    step_id: str = ""
    tool: str = ""


Act = Callable[[CompiledTool, ActionResult], ActionResult]
"""What the action service says of an answer before it is judged: the contract's `errors`, the status class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedResponse:
    """A response file that was judged.

    Attributes:
        verdict: What is true of it.
        request: What was judged: the action's result, the arguments, the plan's expectation.
        tool: The contract by which it was judged, with the further rules.
    """

    verdict: ObservationResult
    request: ObserveRequest
    tool: CompiledTool


def observe_files(
    files: ObservedFiles, catalogue: Catalogue | None, policy: ObservationPolicy | None = None
) -> ObservationResult:
    """Judge the response file; see `judged_files`."""
    return judged_files(files, catalogue, policy).verdict


def judged_files(
    files: ObservedFiles,
    catalogue: Catalogue | None,
    policy: ObservationPolicy | None = None,
    act: Act | None = None,
    seen: Mapping[str, Place] | None = None,
) -> ObservedResponse:
    """Judge the response file by the tool's contract, the plan's expectation and the rules.

    Without a catalogue the step's `output_schema` stands for the contract's response schema.

    Args:
        files: What is given.
        catalogue: The contracts; None for none.
        policy: What holds for every tool.
        act: What comes before the judgement; None takes every response for one that the action service let pass.
        seen: What was seen of the tools, by name; of a tool that is not there only its contract is known.

    Raises:
        InvalidRequest: INVALID_REQUEST, a file cannot be read or used; the message names it and says why.
        UnknownTool: The catalogue has no such tool.
    """
    step = None if files.thought_plan is None else _chosen(_read_plan(files.thought_plan), files)
    rules = () if files.rules is None else _read_rules(files.rules)
    response = _read_response(files.action_response)
    name = files.tool or (step.tool if step is not None else response.tool)
    if catalogue is not None and not name:
        raise InvalidRequest("Name the tool that answered with --tool, or give the plan that called it.")
    tool = _contract(name, step, catalogue, rules)
    result = replace(
        response.result,
        step_id=step.step_id if step is not None else "",
        tool=tool.contract.name,
        trust=tool.contract.trust,
    )
    request = ObserveRequest(
        result=result if act is None else act(tool, result),
        arguments=response.arguments,
        expect=ABSENT if step is None else step.expect,
        output_schema=ABSENT if step is None or catalogue is None else step.output_schema,
    )
    # The very observer of the service, on a catalogue of the one tool, which may have further rules.
    observer = Observer(FixedCatalogue(Catalogue([tool])), policy or ObservationPolicy(), seen or {})
    return ObservedResponse(verdict=observer.observe(request), request=request, tool=tool)


def _contract(
    name: str, step: PlanStep | None, catalogue: Catalogue | None, rules: Sequence[ObserveRule]
) -> CompiledTool:
    if catalogue is not None:
        known = catalogue.compiled(name)
        if not rules:
            return known
        contract = known.contract
    else:
        contract = _contract_of_step(name, step)
    observe = replace(contract.observe, rules=(*contract.observe.rules, *rules))
    try:
        return CompiledTool.compile(replace(contract, observe=observe))
    except SchemaRefused as refused:
        raise InvalidRequest(f"The step's output schema cannot be used: {refused}.") from refused
    except RuleRefused as refused:
        raise InvalidRequest(f"A rule cannot be used: {refused}.") from refused


def _contract_of_step(name: str, step: PlanStep | None) -> ToolContract:
    schema = step.output_schema if step is not None else ABSENT
    response: Mapping[str, Any] | bool = schema if isinstance(schema, dict | bool) else True
    return ToolContract(name=name or "tool", description="", parameters={}, response=response, effect=Effect.READ)


def _chosen(plan: ThoughtPlan, files: ObservedFiles) -> PlanStep:
    """Return the one step that is meant; several that could be are refused."""
    steps = [
        step
        for step in plan.steps
        if files.step_id in {"", step.step_id} and (files.step_id or files.tool in {"", step.tool})
    ]
    if len(steps) == 1:
        return steps[0]
    listed = ", ".join(f"{step.step_id} ({step.tool})" for step in plan.steps) or "none"
    raise InvalidRequest(f"Name the step of the plan that was carried out; it has {listed}.")


def _read_plan(path: Path) -> ThoughtPlan:
    try:
        return plan_from_json(_read_json(path))
    except PlanFormInvalid as invalid:
        raise InvalidRequest(f"{path} is not a plan: {invalid}.", metadata={"path": str(path)}) from invalid


def _read_rules(path: Path) -> tuple[ObserveRule, ...]:
    document = _read_json(path)
    listed = document.get("rules") if isinstance(document, dict) else document
    if not isinstance(listed, list):
        raise InvalidRequest(f"{path} is not a list of rules.", metadata={"path": str(path)})
    return tuple(_rule(path, index, written) for index, written in enumerate(listed))


def _rule(path: Path, index: int, written: JsonValue) -> ObserveRule:
    where = f"{path}, rule {index + 1}"
    if not isinstance(written, dict) or "when" not in written:
        raise InvalidRequest(f"{where}: a rule is an object with `when`.", metadata={"path": str(path)})
    rule_id = written.get("id", f"rule_{index + 1}")
    severity = written.get("severity", RuleSeverity.HARD.value)
    if not isinstance(rule_id, str) or severity not in ("hard", "soft"):
        message = f"{where}: `id` is text and `severity` is hard or soft."
        raise InvalidRequest(message, metadata={"path": str(path)})
    return ObserveRule(id=rule_id, severity=RuleSeverity(str(severity)), when=written["when"])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Response:
    """What a response file says."""

    result: ActionResult
    arguments: Json = ABSENT
    tool: str = ""


def _read_response(path: Path) -> _Response:
    """Return the response as the action's result that it would have been: a body, an envelope or a sample."""
    content = _read(path)
    body = Body(size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    result = ActionResult(step_id="", status=ActionStatus.SUCCEEDED, status_code=200, body=body, tool="")
    try:
        document = loads(content.removeprefix(b"\xef\xbb\xbf"))
    except JsonSyntaxError:
        return _Response(result=replace(result, raw=content[:_MAX_RAW_BYTES]))
    if isinstance(document, dict) and {"request", "response"} <= document.keys() <= SAMPLE_KEYS:
        return _of_sample(path, document, result)
    if isinstance(document, dict) and document.keys() & {"body", "status_code"} and document.keys() <= ENVELOPE_KEYS:
        return _of_envelope(path, document, result)
    return _Response(result=replace(result, parsed=document))


def _of_sample(path: Path, document: JsonValue, result: ActionResult) -> _Response:
    try:
        sample = sample_from_json(document)
    except ValueError as fault:
        raise InvalidRequest(f"{path} is no sample: {fault}.", metadata={"path": str(path)}) from fault
    parsed = filled(sample.body, sample.arguments) if sample.has_body else ABSENT
    seconds = sample.response_time_seconds
    judged = replace(
        result,
        status=ActionStatus.PENDING if sample.status == 202 else result.status,
        status_code=sample.status,
        parsed=parsed,
        response_time_seconds=0.0 if seconds is None else seconds,
    )
    return _Response(result=judged, arguments=dict(sample.arguments), tool=sample.tool)


def _of_envelope(path: Path, document: Mapping[str, JsonValue], result: ActionResult) -> _Response:
    status_code = document.get("status_code", 200)
    seconds = document.get("response_time_seconds", 0)
    name, content_type = document.get("tool", ""), document.get("content_type", "")
    is_number = isinstance(seconds, int | Decimal) and not isinstance(seconds, bool)
    are_texts = isinstance(name, str) and isinstance(content_type, str)
    if not _is_integer(status_code) or not is_number or not are_texts:
        message = (
            f"{path}: `status_code` is an integer, `response_time_seconds` a number, `tool` and `content_type` texts."
        )
        raise InvalidRequest(message, metadata={"path": str(path)})
    assert isinstance(seconds, int | Decimal)
    judged = replace(
        result,
        parsed=document.get("body", ABSENT),
        body=None if result.body is None else replace(result.body, content_type=str(content_type)),
        status_code=status_code,
        response_time_seconds=float(seconds) if "response_time_seconds" in document else None,
    )
    return _Response(result=judged, arguments=document.get("arguments", ABSENT), tool=str(name))


def _is_integer(value: JsonValue) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _read_json(path: Path) -> JsonValue:
    try:
        return loads(_read(path))
    except JsonSyntaxError as fault:
        raise InvalidRequest(f"{path} is not JSON: {fault}.", metadata={"path": str(path)}) from fault


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise InvalidRequest(f"{path}: {reason}.", metadata={"path": str(path)}) from error
    if len(content) > MAX_FILE_BYTES:
        raise InvalidRequest(f"{path} is larger than {MAX_FILE_BYTES} bytes.", metadata={"path": str(path)})
    return content
