"""Every sample of a catalogue put through the services' own stages, and what is found: drift from the contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue, dumps, equal
from taoloop.core.faults import FaultCode
from taoloop.evaluation.samples.exchanges import Exchange, RecordedObserver
from taoloop.evaluation.samples.explaining import RULE_STAGES, ExplainedRule, explained_rules, operands, path_read
from taoloop.plan.observing import CheckFailure, ObservationResult
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import Empty, ToolContract
from taoloop.tools.loading.findings import Finding, Severity
from taoloop.tools.loading.samples import claims_success, read_sample_file, sample_paths
from taoloop.tools.loading.yaml_source import read_source
from taoloop.tools.schemas import CompiledSchema

_BODY: Final = "/response/body"
_BODY_STAGES: Final = frozenset({"parse", "empty", "schema", "normalise", "success"})
_FORESEEN: Final = frozenset({"status", "success", "empty"})
"""Stages at which a contract itself says that an answer is a failure, so that a sample of one is in order."""

_RECORD: Final = "Record the sample again, or correct the contract."
_STATE: Final = "Correct the contract or the sample; a failure that is meant is stated under `expect`."


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFinding:
    """One thing that is wrong with a sample, or with its contract.

    Attributes:
        finding: Where, what and what to do.
        tool: The tool's name.
        stage: The stage whose check failed; empty where the sample's `expect` is not met.
        rule: The contract's id of the rule, or the schema keyword; empty where it is neither.
        expected: What should be there.
        actual: What is there.
    """

    finding: Finding
    tool: str
    stage: str = ""
    rule: str = ""
    expected: Json = ABSENT
    actual: Json = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleReport:
    """What a check of samples found.

    Attributes:
        samples: How many were judged.
        findings: By file and place.
        unsampled: Tools of which no sample was judged, by name: nothing says that they answer as their contracts say.
    """

    samples: int
    findings: tuple[SampleFinding, ...]
    unsampled: tuple[str, ...] = ()


def check_samples(observer: RecordedObserver, directory: Path) -> SampleReport:
    """Judge every readable sample of the observer's catalogue; blocks on the file system.

    A file that is no sample is left out: loading the catalogue tells of it.

    Args:
        observer: Judges.
        directory: What the contracts' globs are relative to.
    """
    count, found, unsampled = 0, list[SampleFinding](), list[str]()
    for tool in observer.catalogue:
        judged = [_checked(observer, tool.contract, path) for path in sample_paths(tool.contract, directory)]
        of_tool = [checked for checked in judged if checked is not None]
        count += len(of_tool)
        found.extend(chain.from_iterable(of_tool))
        if not of_tool:
            unsampled.append(tool.contract.name)
    found.sort(key=lambda each: (each.finding.file, each.finding.line, each.finding.column, each.finding.pointer))
    return SampleReport(samples=count, findings=tuple(found), unsampled=tuple(unsampled))


def _checked(observer: RecordedObserver, contract: ToolContract, path: Path) -> list[SampleFinding] | None:
    try:
        sample = read_sample_file(path)
    except (OSError, ValueError):
        return None
    exchange = Exchange.of_sample(contract.name, sample)
    verdict = observer.observe(exchange)
    tool = observer.catalogue.compiled(contract.name)
    found = [*sample_faults(contract, exchange, verdict), *_output_faults(tool, verdict)]
    if any(each.stage in RULE_STAGES for each in found):
        rules = explained_rules(tool, observer.request(exchange), verdict)
        found = [
            _with_rule(contract, each, rules.get(each.rule)) if each.stage in RULE_STAGES else each for each in found
        ]
    return _placed(path, found)


def sample_faults(
    contract: ToolContract, exchange: Exchange, verdict: ObservationResult, file: str = ""
) -> Iterator[SampleFinding]:
    """Yield what differs between the verdict on a sample and what the sample states or shows to be.

    Without a stated expectation a reply that claims success must be valid, and any other may fail only where the
    contract says so: by its status, its `success` rule or its `empty`.

    Args:
        contract: The tool's.
        exchange: The sample.
        verdict: What became of it.
        file: Named by the findings.
    """
    expect = exchange.expect
    if expect is None:
        yield from _undeclared(contract, exchange, verdict, file)
        return
    if verdict.valid is not expect.valid:
        yield from _other_verdict(contract, expect.valid, verdict, file)
    code = "" if verdict.fault is None else verdict.fault.code
    if expect.fault and not verdict.valid and code != expect.fault:
        cause = f"the sample should end with {expect.fault} and ends with {code or 'no fault'}"
        yield _finding(contract, file, "/expect/fault", "SAMPLE_FAULT", cause, expected=expect.fault, actual=code)
    yield from _data_faults(contract, expect.data, verdict, file)
    if expect.valid:
        yield from _soft_faults(contract, verdict, file)


def _output_faults(tool: CompiledTool, verdict: ObservationResult) -> Iterator[SampleFinding]:
    """Yield where valid data is not what plans and prompts are told that the tool returns."""
    is_accepted_nothing = verdict.data is None and tool.contract.empty is Empty.ACCEPT
    if not verdict.valid or isinstance(verdict.data, Absent) or is_accepted_nothing:
        return
    for violation in CompiledSchema.compile(tool.output_schema).violations(verdict.data):
        yield _finding(
            tool.contract,
            "",
            _BODY + _in_body(tool.contract, violation.pointer),
            "SAMPLE_OUTPUT",
            f"the data breaks the output schema's {violation.keyword} at {violation.pointer or '(root)'}",
            expected=violation.expected,
            actual=violation.actual,
            remedy="Correct `response` or `normalise`: together they say what plans may refer to.",
        )


def _undeclared(
    contract: ToolContract, exchange: Exchange, verdict: ObservationResult, file: str
) -> Iterator[SampleFinding]:
    is_success = claims_success(contract, exchange.status_code, _body(exchange))
    code = "" if verdict.fault is None else verdict.fault.code
    is_named = code == FaultCode.EMPTY_RESULT or code in {error.code for error in contract.errors}
    for failure in verdict.failures:
        # The status of a success fails only for a reason of its own: a body that is no JSON, or an `errors` rule.
        is_foreseen = failure.stage in _FORESEEN and (not is_success or is_named)
        if failure.hard and not is_foreseen:
            yield _failure(contract, failure, file)
    if is_success:
        yield from _soft_faults(contract, verdict, file)


def _soft_faults(contract: ToolContract, verdict: ObservationResult, file: str) -> Iterator[SampleFinding]:
    for failure in verdict.failures:
        if not failure.hard:
            yield _failure(contract, failure, file)


def _other_verdict(
    contract: ToolContract, is_valid_expected: bool, verdict: ObservationResult, file: str
) -> Iterator[SampleFinding]:
    if is_valid_expected:
        yield from (_failure(contract, failure, file) for failure in verdict.failures if failure.hard)
        if not any(failure.hard for failure in verdict.failures):  # such as one that is pending
            cause = "the sample should be valid and is not"
            yield _finding(contract, file, "/expect/valid", "SAMPLE_VERDICT", cause, expected=True, actual=False)
        return
    cause = "the sample should fail and is valid: nothing in the contract keeps it out"
    yield _finding(
        contract,
        file,
        "/expect/valid",
        "SAMPLE_VERDICT",
        cause,
        expected=False,
        actual=True,
        remedy="Add the rule, error or schema that it should break, or correct `expect`.",
    )


def _data_faults(
    contract: ToolContract, wanted: Mapping[str, JsonValue], verdict: ObservationResult, file: str
) -> Iterator[SampleFinding]:
    for pointer, value in wanted.items():
        actual = pointers.find(verdict.data, pointer)
        if isinstance(actual, Absent) or not equal(actual, value):
            found = "nothing" if isinstance(actual, Absent) else dumps(actual)
            cause = f"the data has {found} at {pointer or '(root)'}, not {dumps(value)}"
            place = "/expect/data" + pointers.join(pointer)
            yield _finding(contract, file, place, "SAMPLE_DATA", cause, expected=value, actual=actual)


def _failure(contract: ToolContract, failure: CheckFailure, file: str) -> SampleFinding:
    """Return a failed check of a sample as a finding; what is soft does not make the catalogue wrong."""
    if failure.hard:
        code, remedy, severity = "SAMPLE_DRIFT", _STATE, Severity.ERROR
    else:
        code, remedy, severity = "SAMPLE_SOFT", _RECORD, Severity.WARNING
    message = failure.message.rstrip(".")
    return _finding(
        contract,
        file,
        _place(contract, failure),
        code,
        f"{failure.stage} {failure.rule_id or 'check'}: {message[:1].lower()}{message[1:]}",
        stage=failure.stage,
        rule=failure.rule_id,
        expected=failure.expected,
        actual=failure.actual,
        remedy=remedy,
        severity=severity,
    )


def _place(contract: ToolContract, failure: CheckFailure) -> str:
    """Return where in the sample file a failed check looked: what it says of the data is led back to the body."""
    if failure.stage == "status":
        return "/response/status"
    if failure.stage in _BODY_STAGES:
        return _BODY + failure.pointer
    return _BODY + _in_body(contract, failure.pointer)


def _with_rule(contract: ToolContract, found: SampleFinding, rule: ExplainedRule | None) -> SampleFinding:
    """Say of a rule that did not hold what it is, what it read, and where that stands."""
    if rule is None:
        return found
    read = operands(rule.trace)
    values: dict[str, JsonValue] = {}
    for node in read:
        values[path_read(node)] = None if isinstance(node.value, Absent) else node.value
    finding = found.finding
    if len(read) == 1:  # a failure's own pointer does not say whether it is one of body, data or arguments
        finding = replace(finding, pointer=_place_read(contract, path_read(read[0])))
    return replace(found, finding=finding, expected=rule.written, actual=values)


def _place_read(contract: ToolContract, path: str) -> str:
    """Return where in the sample file a path of a rule looks, such as `data.amount`."""
    root, _, rest = path.partition(".")
    pointer = pointers.join(*rest.split(".")) if rest else ""
    if root == "arguments":
        return "/request/arguments" + pointer
    if root == "data":
        return _BODY + _in_body(contract, pointer)
    return _BODY + pointer if root == "body" else "/response"


def _in_body(contract: ToolContract, pointer: str) -> str:
    """Return where in the body a place of the data comes from, where a rule without stars moved it."""
    return next((rule.field for rule in contract.observe.normalise if pointer and rule.to == pointer), pointer)


def _placed(path: Path, found: Iterable[SampleFinding]) -> list[SampleFinding]:
    """Give each finding its file, and the line of the nearest place that the file has."""
    listed = list(found)
    if not listed:
        return []
    source = read_source(path)
    placed = []
    for each in listed:
        line, column = source.place(each.finding.pointer)
        placed.append(replace(each, finding=replace(each.finding, file=str(path), line=line, column=column)))
    return placed


def _finding(  # noqa: PLR0913 - the fields of one finding, each by its name
    contract: ToolContract,
    file: str,
    pointer: str,
    code: str,
    cause: str,
    *,
    stage: str = "",
    rule: str = "",
    expected: Json = ABSENT,
    actual: Json = ABSENT,
    remedy: str = _RECORD,
    severity: Severity = Severity.ERROR,
) -> SampleFinding:
    finding = Finding(severity=severity, code=code, file=file, pointer=pointer, cause=cause, remedy=remedy)
    return SampleFinding(finding=finding, tool=contract.name, stage=stage, rule=rule, expected=expected, actual=actual)


def _body(exchange: Exchange) -> JsonValue:
    return None if isinstance(exchange.body, Absent) else exchange.body
