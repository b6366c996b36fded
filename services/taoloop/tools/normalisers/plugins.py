"""Plug-ins: normalisers of other packages, found by the entry points of one group."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any, Final, Protocol

from taoloop.core.exact_json import JsonEncodeError, JsonValue, dumps
from taoloop.tools.schema_refusals import SchemaRefused
from taoloop.tools.schemas import CompiledSchema
from taoloop.values.refusals import RefusalCode, ValueRefused

GROUP: Final = "taoloop.normalisers"
"""The group of entry points: the name is what a contract's `plugin` says, the object is a `NormaliserPlugin`."""

RESULT_SCHEMA: Final = "result_schema"
"""Attribute of a plug-in with the JSON Schema of what it returns; without it the output schema takes anything."""


class NormaliserPlugin(Protocol):
    """What an entry point names: a function, or an object that is called.

    It is called for one value at a time and by several threads at once, and answers in microseconds: nothing can
    interrupt it. It raises `ValueRefused` where the value has not exactly one reading.
    """

    def __call__(self, value: JsonValue, options: Mapping[str, JsonValue], /) -> JsonValue:
        """Return the normal form of a value; it may change what it is given, which is a copy."""


class PluginUnusable(Exception):  # an exception with a verdict for its name, like ValueRefused
    """The plug-in cannot be used; the text says why, in the words of a finding."""


def installed() -> tuple[str, ...]:
    """Return the names of the installed plug-ins, sorted; reads the metadata of all packages."""
    return tuple(sorted({found.name for found in entry_points(group=GROUP)}))


def load(name: str) -> NormaliserPlugin:
    """Import a plug-in.

    Raises:
        PluginUnusable: None or several have this name, importing it fails, or it cannot be called.
    """
    found = tuple(entry_points(group=GROUP, name=name))
    if len(found) != 1:
        raise PluginUnusable(f"{len(found) or 'no'} installed entry points of {GROUP} have the name {name!r}")
    try:
        target: Any = found[0].load()
    except BaseException as exc:  # importing runs foreign code, which may even try to leave the process
        raise PluginUnusable(f"{type(exc).__name__} while the plug-in {name!r} was imported") from exc
    if not callable(target):
        raise PluginUnusable(f"the plug-in {name!r} cannot be called")
    plugin: NormaliserPlugin = target
    return plugin


def result_schema(plugin: NormaliserPlugin) -> dict[str, Any] | bool:
    """Return the schema of what a plug-in returns, `True` when it does not say.

    Raises:
        PluginUnusable: What it says is no schema that can be used.
    """
    written = getattr(plugin, RESULT_SCHEMA, True)
    try:
        CompiledSchema.compile(written)
    except SchemaRefused as refused:
        raise PluginUnusable(f"the {RESULT_SCHEMA} of the plug-in cannot be used: {refused}") from refused
    schema: dict[str, Any] | bool = written
    return schema


def conversion(plugin: NormaliserPlugin, options: Mapping[str, JsonValue]) -> Callable[[JsonValue], JsonValue]:
    """Return the plug-in with its options as a conversion that raises nothing but `ValueRefused`.

    Raises:
        PluginUnusable: Its `result_schema` cannot be used.
    """
    schema = CompiledSchema.compile(result_schema(plugin))
    given = dict(options)

    def converted(value: JsonValue) -> JsonValue:
        try:
            result = plugin(copy.deepcopy(value), copy.deepcopy(given))
            dumps(result)
        except ValueRefused as refused:
            raise ValueRefused(refused.code, refused.message, refused.candidates) from refused
        except JsonEncodeError as exc:
            raise ValueRefused(RefusalCode.UNREADABLE, "The plug-in returned what is no JSON.") from exc
        except Exception as exc:  # a plug-in is foreign code: whatever it raises is a refusal
            message = f"The plug-in failed with {type(exc).__name__}."
            raise ValueRefused(RefusalCode.UNREADABLE, message) from exc
        if not schema.is_valid(result):
            message = f"The plug-in returned what its {RESULT_SCHEMA} does not allow."
            raise ValueRefused(RefusalCode.UNREADABLE, message)
        return result

    return converted
