"""Recorded replies of a tool, checked against its contract."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from taoloop.core import exact_json, pointers
from taoloop.core.exact_json import ABSENT, JsonSyntaxError, JsonValue
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
                    "body": True,
                },
            },
        },
    }
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One recorded exchange.

    Attributes:
        arguments: What was asked.
        status: HTTP status of the reply.
        headers: Headers of the reply.
        body: Parsed body; `{{arguments.NAME}}` in it stands for an argument.
    """

    arguments: Mapping[str, JsonValue]
    status: int
    headers: Mapping[str, str]
    body: JsonValue


def sample_findings(contract: ToolContract, directory: Path) -> Iterator[Finding]:
    """Yield what is wrong with the sample files that the contract names."""
    for index, pattern in enumerate(contract.samples):
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            yield _missing(contract, index, f"the samples {pattern!r} lie outside the catalogue")
            continue
        paths = sorted(path for path in directory.glob(pattern) if path.is_file())
        if not paths:
            yield _missing(contract, index, f"no file matches {pattern!r}")
        for path in paths:
            yield from _file_findings(contract, path)


def read_sample(text: str) -> Sample:
    """Read a sample file.

    Raises:
        JsonSyntaxError: The text is not JSON.
        ValueError: The JSON is no sample; the message says why.
    """
    value = exact_json.loads(text)
    violations = _FORM.violations(value)
    if violations:
        raise ValueError(f"{violations[0].pointer or '(root)'}: {violations[0].message}")
    assert isinstance(value, dict)
    request, response = value["request"], value["response"]
    assert isinstance(request, dict)
    assert isinstance(response, dict)
    arguments, status, headers = request["arguments"], response["status"], response.get("headers", {})
    assert isinstance(arguments, dict)
    assert isinstance(status, int)
    assert isinstance(headers, dict)
    return Sample(arguments, status, {name: str(text) for name, text in headers.items()}, response.get("body"))


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


def _file_findings(contract: ToolContract, path: Path) -> Iterator[Finding]:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ValueError(f"the file has more than {MAX_FILE_BYTES} bytes")
        sample = read_sample(path.read_bytes().decode("utf-8-sig"))
    except JsonSyntaxError as exc:
        yield _fault(path, "", f"the sample is not JSON: {exc.message}", line=exc.line, column=exc.column)
        return
    except (OSError, ValueError) as exc:
        yield _fault(path, "", f"the sample cannot be used: {exc}")
        return
    body = filled(sample.body, sample.arguments)
    if not _is_success(contract, sample.status, body):
        return
    for violation in contract.compiled_parameters.violations(dict(sample.arguments)):
        yield _fault(path, "/request/arguments" + violation.pointer, f"the arguments break: {violation.message}")
    for violation in contract.compiled_response.violations(body):
        yield _fault(path, "/response/body" + violation.pointer, f"the body breaks: {violation.message}")


def _is_success(contract: ToolContract, status: int, body: JsonValue) -> bool:
    """Tell whether the reply must keep the response schema: 2xx with a body, and the success rule passes."""
    if not 200 <= status < 300 or status in {202, 204}:
        return False
    if contract.success is ABSENT:
        return True
    outcome = CompiledRule.compile(contract.success).verdict(RuleData({"status_code": status, "body": body}))
    return outcome.verdict is Verdict.PASS


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
