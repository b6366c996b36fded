"""Arguments put into the texts of a contract."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.tools import placeholders

Arguments = Mapping[str, JsonValue]

PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")


class RequestRefused(ValueError):
    """The arguments cannot be sent this way.

    Attributes:
        parameter: Name of the parameter at fault; empty when it is the contract.
        message: What is wrong, without the value.
    """

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(message)
        self.parameter = parameter
        self.message = message


def whole(template: object) -> str | None:
    """Return the name of the parameter if the template is nothing but its placeholder."""
    return placeholders.whole(template) if isinstance(template, str) else None


def first_name(template: str) -> str:
    """Return the name of the first placeholder; empty when there is none."""
    return next(iter(placeholders.names(template)), "")


def filled(template: JsonValue, arguments: Arguments) -> str:
    """Return a template with its placeholders replaced by the arguments' texts; a missing argument is empty.

    Raises:
        RequestRefused: An argument is an array or an object.
    """
    if not isinstance(template, str):
        return text_of("", template)
    return PLACEHOLDER.sub(lambda found: text_of(found[1], arguments.get(found[1])), template)


def entries(templates: Mapping[str, JsonValue], arguments: Arguments) -> Iterator[tuple[str, str]]:
    """Yield the entries of a query or a form; one that is one placeholder is repeated for a list.

    An entry that is one placeholder is left out without its argument.

    Raises:
        RequestRefused: An argument, or an item of a list, is an array or an object.
    """
    for key, template in templates.items():
        name = whole(template)
        if name is None:
            yield key, filled(template, arguments)
        elif name in arguments:
            for text in texts_of(name, arguments[name]):
                yield key, text


def texts_of(name: str, value: JsonValue) -> Iterator[str]:
    """Yield the text of a scalar, or that of each item of a list; nothing for null.

    Raises:
        RequestRefused: The value is an object, or an item is no scalar.
    """
    if isinstance(value, list):
        for item in value:
            yield text_of(name, item)
    elif value is not None:
        yield text_of(name, value)


def text_of(name: str, value: JsonValue) -> str:
    """Return a scalar as text, numbers exactly as they were given; null is empty.

    Raises:
        RequestRefused: The value is an array or an object.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        raise RequestRefused(name, "an array or object has no text form here")
    return exact_json.dumps(value)
