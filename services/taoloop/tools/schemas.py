"""Compiled JSON Schemas: Draft 2020-12 with asserted formats, exact numbers, linear patterns, no fetching."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import jsonschema_rs

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.tools import formats
from taoloop.tools.schema_costs import MAX_APPLICATIONS, SchemaCosts, costs_of, without_alternatives
from taoloop.tools.schema_refusals import SchemaFault, SchemaRefused, refusals

__all__ = ["CompiledSchema", "SchemaFault", "SchemaRefused", "Violation"]

MAX_LISTED_NODES: Final = 2048
"""Largest value, in items, members and itself, of which every violation is listed."""

_CHEAP_APPLICATIONS: Final = 100

_REGEX_SIZE_BYTES: Final = 1 << 20
_PATTERNS: Final = jsonschema_rs.RegexOptions(size_limit=_REGEX_SIZE_BYTES, dfa_size_limit=_REGEX_SIZE_BYTES)


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a value breaks its schema.

    Attributes:
        pointer: The place in the value; a missing property is named as if it were there.
        keyword: The schema's keyword that does not hold, such as `type`.
        message: One sentence; it may quote the value.
        expected: The keyword's value.
        actual: What stands there; ABSENT for a missing property.
        unexpected: Names of the properties that the schema does not allow, for `additionalProperties`.
    """

    pointer: str
    keyword: str
    message: str
    expected: Json = ABSENT
    actual: Json = ABSENT
    unexpected: tuple[str, ...] = ()


class CompiledSchema:
    """A schema that was checked once and judges any number of values; safe to share between tasks and threads."""

    def __init__(self, schema: JsonValue, validator: jsonschema_rs.Draft202012Validator) -> None:
        self.schema: Final = schema
        self._validator = validator
        self._known_costs: SchemaCosts | None = None

    @classmethod
    def compile(cls, schema: JsonValue) -> Self:
        """Check and compile a schema; it must not be changed afterwards.

        Raises:
            SchemaRefused: Not a schema of Draft 2020-12; a `$ref` that is not local or names nothing; a schema
                that reaches itself for the same value; a pattern outside the linear part of ECMAScript; nesting
                or size above the limits.
        """
        faults = refusals(schema)
        if faults:
            raise SchemaRefused(faults)
        if not isinstance(schema, dict | bool):
            raise SchemaRefused((SchemaFault("", "INVALID_SCHEMA", "a schema is an object or a boolean"),))
        if costs_of(schema).applications > MAX_APPLICATIONS:
            cause = f"more than {MAX_APPLICATIONS} schemas apply to one value, since references to the next multiply"
            raise SchemaRefused((SchemaFault("", "UNSAFE_SCHEMA", cause),))
        try:
            return cls(schema, _validator(schema))
        except jsonschema_rs.ValidationError as exc:
            raise SchemaRefused((_compile_fault(exc),)) from exc
        except ValueError as exc:
            raise SchemaRefused((SchemaFault("", "UNSAFE_SCHEMA", str(exc)),)) from exc

    @classmethod
    def own(cls, schema: dict[str, Any]) -> Self:
        """Compile a schema of our own making, of any size, with neither patterns nor references."""
        return cls(schema, _validator(schema))

    def is_valid(self, value: JsonValue) -> bool:
        """Tell whether the value keeps the schema."""
        return self._validator.is_valid(value)

    def violations(self, value: JsonValue) -> tuple[Violation, ...]:
        """Return every violation, always in the same order; an empty tuple for a valid value.

        Of a value with more than `MAX_LISTED_NODES` nodes only the first is returned: the library finds all of them
        before it gives one, which takes seconds for a megabyte of wrong items, and nothing else runs meanwhile.
        Where a schema has alternatives, it describes why each of them failed, at every level anew; of a value for
        which that would be too much, the first violation outside alternatives is returned, or that none fits.
        """
        if self._validator.is_valid(value):
            return ()
        costs = self._costs()
        if _is_listed(value, costs):
            errors = self._validator.iter_errors(value)
        else:
            errors = _first_error(_loosened(self.schema) if costs.alternatives else self._validator, value)
        found = tuple(_violation(error, value, self.schema) for error in errors)
        return found or (Violation("", "anyOf", "None of the schema's alternatives fits.", actual=value),)

    def _costs(self) -> SchemaCosts:
        if self._known_costs is None:
            self._known_costs = costs_of(self.schema)
        return self._known_costs

    def __repr__(self) -> str:
        return f"CompiledSchema({self.schema!r})"


def _validator(schema: dict[str, Any] | bool) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(
        schema,
        formats=dict(formats.CUSTOM),
        validate_formats=True,
        ignore_unknown_formats=True,
        pattern_options=_PATTERNS,
        offline=True,
    )


def _is_listed(value: JsonValue, costs: SchemaCosts) -> bool:
    """Tell whether every violation of a value can be listed, looking at no more of it than that."""
    each = max(1, costs.applications // _CHEAP_APPLICATIONS) if costs.alternatives else 1
    deeper = costs.alternatives if costs.is_recursive and costs.alternatives else 1
    pending, cost = [(value, each)], each
    while pending and cost <= MAX_LISTED_NODES:
        node, weight = pending.pop()
        if isinstance(node, dict | list):
            cost += len(node) * weight * deeper
            below = node.values() if isinstance(node, dict) else node
            pending += [(child, weight * deeper) for child in below]
    return cost <= MAX_LISTED_NODES


def _loosened(schema: JsonValue) -> jsonschema_rs.Draft202012Validator:
    try:
        return _validator(without_alternatives(schema))
    except (jsonschema_rs.ReferencingError, ValueError):  # something refers to what stands in an alternative
        return _validator(True)


def _first_error(
    validator: jsonschema_rs.Draft202012Validator, value: JsonValue
) -> Iterator[jsonschema_rs.ValidationError]:
    try:
        validator.validate(value)
    except jsonschema_rs.ValidationError as error:
        yield error


def _compile_fault(error: jsonschema_rs.ValidationError) -> SchemaFault:
    pointer = pointers.join(*error.instance_path)
    if error.kind.name == "pattern" or (error.kind.name == "format" and pointer.endswith("/pattern")):
        return SchemaFault(
            pointer, "INVALID_PATTERN", "the pattern is no regular expression, or too large when compiled"
        )
    return SchemaFault(pointer, "INVALID_SCHEMA", error.message)


def _violation(error: jsonschema_rs.ValidationError, value: JsonValue, schema: JsonValue) -> Violation:
    pointer = pointers.join(*error.instance_path)
    keyword = error.kind.name
    # The library hands numbers back as floats; the exact value stands in the instance.
    actual: Json = pointers.lookup(value, pointer)
    if keyword == "required":
        pointer, actual = pointer + pointers.join(error.kind.as_dict()["property"]), ABSENT
    unexpected = tuple(error.kind.as_dict()["unexpected"]) if keyword == "additionalProperties" else ()
    if len(unexpected) == 1 and isinstance(actual, Mapping):
        pointer, actual = pointer + pointers.join(unexpected[0]), actual[unexpected[0]]
    return Violation(pointer, keyword, error.message, _expected(error, schema), actual, unexpected)


def _expected(error: jsonschema_rs.ValidationError, schema: JsonValue) -> Json:
    try:
        return pointers.lookup(schema, pointers.join(*error.schema_path))
    except KeyError:  # behind a reference the path is the evaluation's, not the document's
        return ABSENT
