"""JSON Schemas: offered at registration, and judging values."""

from __future__ import annotations

from typing import Any

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonSyntaxError, JsonValue
from taoloop.evaluation.cases.adapters.refusing import rejected
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said
from taoloop.tools.schemas import CompiledSchema, SchemaRefused


def _instance(case_input: CaseInput) -> Said:
    try:
        schema = CompiledSchema.compile(_value(case_input, "schema"))
        instance = _value(case_input, "instance")
    except SchemaRefused as refused:
        return _refused(refused)
    except JsonSyntaxError as exc:
        return rejected("MALFORMED_JSON", valid=False, message=str(exc))
    violations = schema.violations(instance)
    return {
        "valid": not violations,
        "paths": [violation.pointer for violation in violations],
        "keywords": [violation.keyword for violation in violations],
        **({"path": violations[0].pointer} if violations else {}),
    }


def _register(case_input: CaseInput) -> Said:
    try:
        CompiledSchema.compile(_value(case_input, "schema"))
    except SchemaRefused as refused:
        return _refused(refused)
    except JsonSyntaxError as exc:
        return rejected("MALFORMED_JSON", message=str(exc))
    return {"outcome": "accepted"}


def _value(case_input: CaseInput, name: str) -> JsonValue:
    """Return a value of the input, read from its spelling where that is given."""
    spelling: Any = case_input.get(f"{name}_text")
    value: JsonValue = exact_json.loads(spelling) if spelling is not None else case_input[name]
    return value


def _refused(refused: SchemaRefused) -> Said:
    first = refused.faults[0]
    return rejected(first.code, path=first.pointer, message=first.message)


SCHEMA_INSTANCE = Adapter(feed=_instance, required=("schema|schema_text", "instance|instance_text"))
REGISTER_SCHEMA = Adapter(feed=_register, required=("schema|schema_text",))
