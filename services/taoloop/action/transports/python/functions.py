"""Finds the function of an entry point and fits JSON arguments to what it declares."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any, Final, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from taoloop.core import pointers

GROUP: Final = "taoloop.tools"
"""Entry points of this group can be named by their name alone."""

_ANY_CLASS: Final = ConfigDict(arbitrary_types_allowed=True)


class FunctionUnusable(Exception):
    """The entry point leads to no function that can be called."""


class ArgumentsRefused(Exception):
    """The arguments do not fit the function; it was not called.

    Attributes:
        pointer: The argument at fault; empty when it is none alone.
        message: Why, without its value.
    """

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(message)
        self.pointer = pointer
        self.message = message


class Function:
    """A function with what its annotations ask of the arguments.

    Args:
        target: Called with keyword arguments; may be a coroutine function.

    Raises:
        FunctionUnusable: It cannot be called, or has no signature.
    """

    def __init__(self, target: Any) -> None:
        if not callable(target):
            raise FunctionUnusable("what stands there cannot be called")
        self.target: Callable[..., Any] = target
        try:
            self._signature = inspect.signature(target)
        except (TypeError, ValueError) as exc:
            raise FunctionUnusable("the function has no signature") from exc
        self._adapters = _adapters(target, self._signature)

    def bound(self, arguments: Mapping[str, Any]) -> inspect.BoundArguments:
        """Return the arguments as the function wants them, converted to its annotations.

        Raises:
            ArgumentsRefused: One is missing, not known, or not of its annotation.
        """
        try:
            bound = self._signature.bind(**arguments)
        except TypeError as exc:
            raise ArgumentsRefused("", f"The function does not take these arguments: {exc}.") from exc
        for name, value in arguments.items():
            if name in self._adapters:
                bound.arguments[name] = self._fitted(name, value)
        return bound

    def _fitted(self, name: str, value: Any) -> Any:
        try:
            return self._adapters[name].validate_python(value)
        except ValidationError as exc:
            first = exc.errors(include_url=False, include_context=False, include_input=False)[0]
            place = pointers.join(name, *(str(part) for part in first["loc"]))
            raise ArgumentsRefused(place, f"The function does not take this argument: {first['type']}.") from exc


def load_function(entry_point: str) -> Function:
    """Import the function of an entry point.

    Args:
        entry_point: `package.module:function`, or the name of an entry point of the group `taoloop.tools`.

    Raises:
        FunctionUnusable: There is none, its module cannot be imported, or it is no function.
    """
    try:
        return Function(_target(entry_point))
    except FunctionUnusable:
        raise
    except BaseException as exc:  # importing runs foreign code, which may even try to leave the process
        raise FunctionUnusable(f"{type(exc).__name__} while its module was imported") from exc


def _target(entry_point: str) -> Any:
    if ":" not in entry_point:
        found = tuple(entry_points(group=GROUP, name=entry_point))
        if len(found) != 1:
            raise FunctionUnusable(f"{len(found) or 'no'} installed entry points of {GROUP} have this name")
        return found[0].load()
    module, _, attributes = entry_point.partition(":")
    target: Any = importlib.import_module(module)
    for name in attributes.split("."):
        target = getattr(target, name)
    return target


def _adapters(target: Any, signature: inspect.Signature) -> dict[str, TypeAdapter[Any]]:
    """Return name → what judges the argument, for the parameters whose annotation can be judged."""
    try:
        hints = get_type_hints(target, include_extras=True)
    except (NameError, TypeError, AttributeError):  # annotations for readers alone, or a callable object
        return {}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {
        name: _adapter(hints[name])
        for name, parameter in signature.parameters.items()
        if name in hints and parameter.kind in named
    }


def _adapter(hint: Any) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(hint, config=_ANY_CLASS)
    except PydanticUserError:  # a class that says itself how it is judged takes no configuration
        return TypeAdapter(hint)
