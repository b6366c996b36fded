"""Python functions with annotations as drafts of contracts; their schemas are made by Pydantic."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, get_type_hints

from pydantic import ConfigDict, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from taoloop.core import exact_json
from taoloop.sdk import ToolOptions, options_of
from taoloop.tools.importing.decisions import open_decisions
from taoloop.tools.importing.docstrings import ToolDocstring, read_docstring
from taoloop.tools.importing.findings import Draft, ImportFinding, ImportRefused, Level, Notes, contract_document
from taoloop.tools.importing.foreign_schema import as_parameters, carried_schema
from taoloop.tools.importing.naming import shortened, snake_case
from taoloop.tools.importing.openapi.schemas import Direction
from taoloop.tools.signature import Effect, Reach

_NAMED: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_DEFAULT_TIMEOUT: Final = "10s"


class ExactSchema(GenerateJsonSchema):
    """Pydantic's schemas, save that decimals are numbers: they travel with all their digits here, never as texts."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """Return the schema of a decimal."""
        number: JsonSchemaValue = {"type": "number"}
        self.update_with_validations(number, schema, self.ValidationsMapping.numeric)
        return number


def draft_function(entry_point: str) -> Draft:
    """Import a function and draft its contract; importing runs the module's code.

    The description, `use_when` and `avoid_when` come from its docstring (`Use when:`, `Avoid when:`), the parameters
    and the response from its annotations, the rest from `taoloop.sdk.tool` if it is marked. An effect that nobody
    told is taken as a write.

    Args:
        entry_point: `package.module:function`.

    Raises:
        ImportRefused: There is no such function, or its signature has no schema.
    """
    function = _function(entry_point)
    options, said, notes = options_of(function), read_docstring(function.__doc__), Notes()
    hints = _hints(function, entry_point)
    effect = Effect(options.effect or Effect.WRITE)
    reach = Reach(options.reach or Reach.INTERNAL)
    spec = {
        **_words(function, said, notes),
        "effect": effect.value,
        "reach": reach.value,
        **({"trust": options.trust} if options.trust else {}),
        "parameters": _parameters(function, hints, said, entry_point, notes),
        **_response(hints, entry_point, notes),
        "transport": {"python": {"entry_point": entry_point}},
        "timeout": options.timeout or _DEFAULT_TIMEOUT,
    }
    name = options.name or snake_case(function.__name__)
    return Draft(
        name=name,
        source=entry_point,
        document=contract_document(name, spec, imported_from=f"python:{entry_point}", imported=spec),
        decisions=tuple(
            each
            for each in open_decisions(effect, "nobody told, so the worst is assumed", reach)
            if each.field not in _decided(options, said)
        ),
        findings=notes.findings,
    )


def _decided(options: ToolOptions, said: ToolDocstring) -> Iterator[str]:
    """Yield the fields that somebody has thought about."""
    for field in ("effect", "reach", "trust", "timeout"):
        if getattr(options, field) is not None:
            yield f"/spec/{field}"
    for field in ("use_when", "avoid_when"):
        if getattr(said, field):
            yield f"/spec/{field}"


def _function(entry_point: str) -> Callable[..., Any]:
    module, _, name = entry_point.partition(":")
    try:
        target = getattr(importlib.import_module(module), name)
    except ImportError as exc:
        raise _refused(entry_point, f"the module cannot be imported: {exc}", "Install it, or give --path.") from exc
    except (AttributeError, ValueError) as exc:
        raise _refused(entry_point, "there is no such function", "Write package.module:function.") from exc
    if not inspect.isfunction(target):
        raise _refused(entry_point, f"it is a {type(target).__name__}, no function", "Name a function.")
    return target


def _hints(function: Callable[..., Any], entry_point: str) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as exc:
        raise _refused(entry_point, f"an annotation cannot be read: {exc}", "Import the names it uses.") from exc


def _words(function: Callable[..., Any], said: ToolDocstring, notes: Notes) -> dict[str, str]:
    if not said.summary:
        notes.warn("DESCRIPTION", function.__name__, "the function has no docstring", "Say in one line what it does.")
    description = shortened(said.summary or function.__name__.replace("_", " "))
    told = {"use_when": said.use_when, "avoid_when": said.avoid_when}
    return {"description": description, **{name: text for name, text in told.items() if text}}


def _parameters(
    function: Callable[..., Any], hints: Mapping[str, Any], said: ToolDocstring, entry_point: str, notes: Notes
) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    definitions: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        name = parameter.name
        if parameter.kind not in _NAMED:
            raise _refused(entry_point, f"the parameter {name!r} takes no keyword", "Declare each parameter by name.")
        if name not in hints:
            notes.warn("ANNOTATION", name, f"the parameter {name!r} has no annotation", "Annotate it.")
        schema = _schema(hints.get(name, Any), "validation", entry_point, definitions)
        if name in said.arguments:
            schema = {**schema, "description": shortened(said.arguments[name])}
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
        elif _is_json(parameter.default):
            schema = {**schema, "default": parameter.default}
        properties[name] = schema
    whole = {"type": "object", "properties": properties, "required": required, "$defs": definitions}
    return as_parameters(carried_schema(whole, notes, Direction.REQUEST), notes)


def _response(hints: Mapping[str, Any], entry_point: str, notes: Notes) -> dict[str, Any]:
    hint = hints.get("return", Any)
    if hint is type(None):
        return {"response": True, "empty": "accept"}
    if hint is Any:
        notes.warn("RESPONSE", "return", "the function does not say what it returns", "Annotate it.")
        return {"response": True}
    definitions: dict[str, Any] = {}
    schema = _schema(hint, "serialization", entry_point, definitions)
    return {"response": carried_schema({**schema, "$defs": definitions}, notes, Direction.RESPONSE)}


def _schema(hint: Any, mode: Any, entry_point: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an annotation; the models that it refers to join the definitions."""
    try:
        schema = TypeAdapter(hint, config=ConfigDict()).json_schema(mode=mode, schema_generator=ExactSchema)
    except PydanticUserError:
        try:
            schema = TypeAdapter(hint).json_schema(
                mode=mode, schema_generator=ExactSchema
            )  # a model has a configuration of its own
        except PydanticUserError as exc:
            cause = f"the annotation {hint!r} has no JSON Schema"
            raise _refused(entry_point, cause, "Use types that JSON can carry.") from exc
    definitions.update(schema.pop("$defs", {}))
    untitled = _without_titles(schema)
    definitions.update({name: _without_titles(each) for name, each in definitions.items()})
    assert isinstance(untitled, dict)
    return untitled


def _without_titles(value: Any, *, is_schema: bool = True) -> Any:
    """Return a schema without the titles that Pydantic makes of names; a property may be called title."""
    if isinstance(value, Mapping):
        named = ("properties", "$defs")
        return {
            key: _without_titles(item, is_schema=key not in named) if key not in {"default", "enum", "const"} else item
            for key, item in value.items()
            if not (is_schema and key == "title" and isinstance(item, str))
        }
    return [_without_titles(item) for item in value] if isinstance(value, list) else value


def _is_json(value: object) -> bool:
    try:
        exact_json.dumps(value)
    except exact_json.JsonEncodeError:
        return False
    return True


def _refused(entry_point: str, cause: str, remedy: str) -> ImportRefused:
    return ImportRefused(
        ImportFinding(level=Level.ERROR, code="FUNCTION", place=entry_point, cause=cause, remedy=remedy)
    )
