"""Recorded replies of a tool, checked against its contract."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final

from taoloop.core import exact_json, pointers
from taoloop.core.exact_json import ABSENT, Json, JsonSyntaxError, JsonValue
from taoloop.core.pointers import PointerSyntaxError
from taoloop.tools.contract import ToolContract
from taoloop.tools.loading.findings import Finding, Severity
from taoloop.tools.loading.yaml_source import MAX_FILE_BYTES
from taoloop.tools.rules import CompiledRule, RuleData, Verdict
from taoloop.tools.schemas import CompiledSchema

_PLACEHOLDER: Final = re.compile(r"\{\{arguments\.([A-Za-z0-9_]+)\}\}")
_FORM: Final = CompiledSchema.compile(
    {
        "type": "object",
        "required": ["request", "response"],
        "additionalProperties": False,
        "properties": {
            "tool": {"type": "string", "minLength": 1},
            "request": {
                "type": "object",
                "required": ["arguments"],
                "additionalProperties": False,
                "properties": {"arguments": {"type": "object"}},
            },
            "response": {
                "type": "object",
                "required": ["status"],
                "additionalProperties": False,
                "properties": {
                    "status": {"type": "integer", "minimum": 100, "maximum": 599},
                    "headers": {"type": "object", "additionalProperties": {"type": "string"}},
                    "response_time_seconds": {"type": "number", "minimum": 0, "maximum": 86_400},
                    "body": True,
                },
            },
            "expect": {
                "type": "object",
                "minProperties": 1,
                "additionalProperties": False,
                "properties": {
                    "valid": {"type": "boolean"},
                    "fault": {"type": "string", "pattern": "^[A-Z][A-Z0-9_]*$"},
                    "data": {"type": "object"},
                },
            },
        },
    }
)


@dataclass(frozen=True, slots=True)
class SampleExpectation:
    """The verdict that a sample should get.

    Attributes:
        valid: Whether the observation is valid.
        fault: Code of its fault; empty leaves the code open.
        data: Pointer into the normalised data → the value there.
    """

    valid: bool
    fault: str
    data: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Sample:
    """One recorded exchange.

    Attributes:
        arguments: What was asked.
        status: HTTP status of the reply.
        headers: Headers of the reply.
        body: Parsed body; `{{arguments.NAME}}` in it stands for an argument.
        tool: Who answered; empty where the contract that names the file says so.
        has_body: Whether there is a body, be it null.
        response_time_seconds: How long the answer took; None where it is not stated.
        expect: What it should be judged to be; None leaves that to its status.
    """

    arguments: Mapping[str, JsonValue]
    status: int
    headers: Mapping[str, str]
    body: JsonValue
    tool: str = ""
    has_body: bool = True
    response_time_seconds: float | None = None
    expect: SampleExpectation | None = None


def sample_paths(contract: ToolContract, directory: Path) -> Iterator[Path]:
    """Yield the sample files that a contract names, each once, in the order of the globs and of the names."""
    seen: set[Path] = set()
    for pattern in contract.samples:
        if not _is_outside(pattern):
            found = sorted(path for path in directory.glob(pattern) if path.is_file() and path not in seen)
            seen.update(found)
            yield from found


def sample_findings(contract: ToolContract, directory: Path, *, are_judged: bool = True) -> Iterator[Finding]:
    """Yield what is wrong with the sample files that the contract names.

    Args:
        contract: Whose samples.
        directory: What its globs are relative to.
        are_judged: Whether the bodies are held against the response schema; else only the files' own form is checked.
    """
    for index, pattern in enumerate(contract.samples):
        if _is_outside(pattern):
            yield _missing(contract, index, f"the samples {pattern!r} lie outside the catalogue")
        elif not any(path.is_file() for path in directory.glob(pattern)):
            yield _missing(contract, index, f"no file matches {pattern!r}")
    for path in sample_paths(contract, directory):
        yield from _file_findings(contract, path, are_judged=are_judged)


def read_sample(text: str) -> Sample:
    """Read a sample file.

    Raises:
        JsonSyntaxError: The text is not JSON.
        ValueError: The JSON is no sample; the message says why.
    """
    return sample_from_json(exact_json.loads(text))


def sample_from_json(value: JsonValue) -> Sample:
    """Read a sample from its JSON form.

    ```json
    {"request": {"arguments": {"order_id": "404"}},
     "response": {"status": 404, "body": {"error": "none"}},
     "expect": {"valid": false, "fault": "NOT_FOUND"}}
    ```

    Raises:
        ValueError: The JSON is no sample; the message says why.
    """
    violations = _FORM.violations(value)
    if violations:
        raise ValueError(f"{violations[0].pointer or '(root)'}: {violations[0].message}")
    assert isinstance(value, dict)
    request, response = value["request"], value["response"]
    assert isinstance(request, dict)
    assert isinstance(response, dict)
    arguments, status, headers = request["arguments"], response["status"], response.get("headers", {})
    seconds = response.get("response_time_seconds")
    assert isinstance(arguments, dict)
    assert isinstance(status, int)
    assert isinstance(headers, dict)
    return Sample(
        arguments=arguments,
        status=status,
        headers={name: str(text) for name, text in headers.items()},
        body=response.get("body"),
        tool=str(value.get("tool", "")),
        has_body="body" in response,
        response_time_seconds=float(seconds) if isinstance(seconds, int | Decimal) else None,
        expect=_expectation(value.get("expect", ABSENT)),
    )


def filled(value: JsonValue, arguments: Mapping[str, JsonValue]) -> JsonValue:
    """Return a body with its placeholders filled; a text that is only one placeholder takes the argument's type."""
    if isinstance(value, dict):
        return {key: filled(item, arguments) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, arguments) for item in value]
    if not isinstance(value, str):
        return value
    only = _PLACEHOLDER.fullmatch(value)
    if only is not None:
        return arguments.get(only[1])
    return _PLACEHOLDER.sub(lambda found: _text(arguments.get(found[1])), value)


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else exact_json.dumps(value)


def read_sample_file(path: Path) -> Sample:
    """Read a sample file of at most 1 MiB; a byte-order mark is accepted. Blocks on the file system.

    Raises:
        OSError: It cannot be read.
        JsonSyntaxError: The text is not JSON.
        ValueError: It is too large, not UTF-8 or no sample; the message says why.
    """
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ValueError(f"the file has more than {MAX_FILE_BYTES} bytes")
    return read_sample(path.read_bytes().decode("utf-8-sig"))


def claims_success(contract: ToolContract, status: int, body: JsonValue) -> bool:
    """Tell whether the reply must keep the response schema: 2xx with a body, and the success rule passes."""
    if not 200 <= status < 300 or status in {202, 204}:
        return False
    if contract.success is ABSENT:
        return True
    outcome = CompiledRule.compile(contract.success).verdict(RuleData({"status_code": status, "body": body}))
    return outcome.verdict is Verdict.PASS


def _expectation(written: Json) -> SampleExpectation | None:
    if not isinstance(written, dict):
        return None
    fault, data = str(written.get("fault", "")), written.get("data", {})
    valid = written.get("valid", not fault)
    assert isinstance(valid, bool)
    assert isinstance(data, dict)
    if valid and fault:
        raise ValueError(f"/expect: a valid observation has no fault, and {fault} is expected")
    for pointer in data:
        try:
            pointers.parse(pointer)
        except PointerSyntaxError as exc:
            raise ValueError(f"/expect/data: {pointer!r} is no JSON pointer, such as /order_status") from exc
    return SampleExpectation(valid, fault, data)


def _is_outside(pattern: str) -> bool:
    return Path(pattern).is_absolute() or ".." in Path(pattern).parts


def _file_findings(contract: ToolContract, path: Path, *, are_judged: bool) -> Iterator[Finding]:
    try:
        sample = read_sample_file(path)
    except JsonSyntaxError as exc:
        yield _fault(path, "", f"the sample is not JSON: {exc.message}", line=exc.line, column=exc.column)
        return
    except (OSError, ValueError) as exc:
        yield _fault(path, "", f"the sample cannot be used: {exc}")
        return
    body = filled(sample.body, sample.arguments)
    if not claims_success(contract, sample.status, body):
        return
    for violation in contract.compiled_parameters.violations(dict(sample.arguments)):
        yield _fault(path, "/request/arguments" + violation.pointer, f"the arguments break: {violation.message}")
    if not are_judged or (sample.expect is not None and not sample.expect.valid):
        return
    for violation in contract.compiled_response.violations(body):
        yield _fault(path, "/response/body" + violation.pointer, f"the body breaks: {violation.message}")


def _fault(path: Path, pointer: str, cause: str, *, line: int = 1, column: int = 1) -> Finding:
    return Finding(
        severity=Severity.ERROR,
        code="SAMPLE",
        file=str(path),
        line=line,
        column=column,
        pointer=pointer,
        cause=cause,
        remedy="Record the sample again, or correct the contract.",
    )


def _missing(contract: ToolContract, index: int, cause: str) -> Finding:
    return Finding(
        severity=Severity.ERROR,
        code="SAMPLE_MISSING",
        file=contract.name,  # replaced by the loader, which knows the contract's file
        pointer="/spec/samples" + pointers.join(index),
        cause=cause,
        remedy="Name files of the catalogue.",
    )
