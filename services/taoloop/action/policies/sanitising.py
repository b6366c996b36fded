"""Text that others will see, made harmless for the form in which the tool shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from taoloop.action.outcomes import CheckedCall
from taoloop.action.policies.objections import reason_of
from taoloop.core import pointers
from taoloop.core.errors import ConfigurationError
from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.pointers import PointerNotFound
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import ToolContract
from taoloop.tools.signature import Effect, Reach

try:
    # Ammonia, the allow-list sanitiser of the Rust world, on a real HTML5 parser: what browsers repair into a script
    # it sees as one. Regular expressions do not, and bleach is no longer maintained.
    import nh3
except ImportError as exc:
    raise ConfigurationError("Sanitising needs the extra `action`.", metadata={"extra": "action"}) from exc

CONTENT_KEYWORD: Final = "x-taoloop-content"
"""Keyword of a parameter's schema: in which form the tool shows the text."""


class Content(StrEnum):
    """In which form a tool shows a text."""

    PLAIN = "plain"
    """As it is: control characters and those that turn the direction of writing around are taken out."""

    HTML = "html"
    """As HTML: tags, attributes and URL schemes that are not on the allow-list are taken out."""

    MARKDOWN = "markdown"
    """As Markdown: HTML in it is shown instead of obeyed, and links lose schemes that run something."""


@dataclass(frozen=True, slots=True)
class Sanitised:
    """One text that was changed.

    Attributes:
        pointer: The argument.
        content: The form that its parameter declares.
        is_emptied: Whether nothing but white space is left of it.
    """

    pointer: str
    content: Content
    is_emptied: bool = False


@dataclass(frozen=True, slots=True)
class SanitisedArguments:
    """Arguments as they are sent.

    Attributes:
        arguments: The same object that came in when nothing was changed.
        changes: What was changed, in order; empty for nothing.
    """

    arguments: dict[str, JsonValue]
    changes: tuple[Sanitised, ...] = ()


class Sanitiser:
    """Makes the texts of calls harmless that change something or that somebody outside sees.

    Args:
        tools: The tools that may be called.
    """

    def __init__(self, tools: Iterable[CompiledTool]) -> None:
        # Found once: most tools declare no content, and their calls cost nothing here.
        self._tools = frozenset(tool.contract.name for tool in tools if _shows_text(tool.contract))

    def concerns(self, tool: CompiledTool) -> bool:
        """Tell whether a tool's calls may be changed."""
        return tool.contract.name in self._tools

    def safe(self, call: CheckedCall) -> CheckedCall | Fault:
        """Return the call as it is sent, or why nothing that the tool accepts is left of it; twice changes nothing."""
        if call.tool.contract.name not in self._tools:
            return call
        made = sanitise(call.tool.contract.parameters, call.arguments)
        if not made.changes:
            return call
        violations = call.tool.parameters.violations(made.arguments)
        if violations:
            return _unusable(violations[0].pointer, reason_of(violations[0]))
        changed = tuple(dict.fromkeys(change.pointer for change in made.changes))
        return replace(call, arguments=made.arguments, sanitised=changed)

    def __repr__(self) -> str:
        return f"Sanitiser({sorted(self._tools)})"


def sanitise(schema: Mapping[str, Any], arguments: dict[str, JsonValue]) -> SanitisedArguments:
    """Return the arguments with every text sanitised whose parameter declares its content.

    To be called for tools that write or reach outside; sanitising twice changes nothing more.

    Args:
        schema: JSON Schema of the parameters.
        arguments: Checked arguments; left as they are.

    >>> page = {"properties": {"body": {"type": "string", "x-taoloop-content": "html"}}}
    >>> sanitise(page, {"body": "<b>hi</b><script>steal()</script>"}).arguments
    {'body': '<b>hi</b>'}
    """
    changes: list[Sanitised] = []
    changed = _walked(_Schema(schema, schema), arguments, "", changes)
    if not changes or not isinstance(changed, dict):
        return SanitisedArguments(arguments)
    return SanitisedArguments(changed, tuple(changes))


def sanitise_text(text: str, content: Content) -> str:
    """Return one text made harmless for the form in which it is shown."""
    visible = _UNSEEN.sub("", text)
    if content is Content.HTML:
        return nh3.clean(visible, url_schemes=set(_SCHEMES), link_rel="noopener noreferrer")
    if content is Content.MARKDOWN:
        return _DESTINATION.sub(r"\1unsafe:", _BARE_AMPERSAND.sub("&amp;", visible).replace("<", "&lt;"))
    return visible


def _shows_text(contract: ToolContract) -> bool:
    is_seen = contract.effect is not Effect.READ or contract.reach is Reach.OUTWARD
    return is_seen and _declares_content(contract.parameters)


def _declares_content(schema: Any) -> bool:
    if isinstance(schema, Mapping):
        return CONTENT_KEYWORD in schema or any(map(_declares_content, schema.values()))
    return isinstance(schema, list | tuple) and any(map(_declares_content, schema))


def _unusable(pointer: str, reason: str) -> Fault:
    return Fault(
        code=FaultCode.INVALID_PARAMETER,
        stage=FaultStage.POLICY,
        message=f"{pointer or 'The object of arguments'}: {reason}, once what is unsafe in the text was taken out.",
        field=pointer,
        suggestion=FaultCode.INVALID_PARAMETER.remedy,
    )


_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel"})
_UNSEEN: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_BARE_AMPERSAND: Final = re.compile(r"&(?!amp;|lt;)")
# A destination follows `](` or `]:`; a scheme may be split by a backslash, and anything but a known one runs or loads.
_DESTINATION: Final = re.compile(
    r"(\]\s*[(:]\s*(?:&lt;\s*)?)(?!(?:https?|mailto|tel):)[A-Za-z][A-Za-z0-9+.\-\\]*:(?!\s)", re.IGNORECASE
)
_ALTERNATIVES: Final = ("allOf", "anyOf", "oneOf")
_MAX_REFERENCES: Final = 32


@dataclass(frozen=True, slots=True)
class _Schema:
    here: Any
    root: Any

    def all_parts(self, depth: int = 0) -> Iterator[_Schema]:
        """Yield this schema and those that hold for the same value beside it."""
        if not isinstance(self.here, Mapping) or depth > _MAX_REFERENCES:
            return
        yield self
        reference = self.here.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            try:
                yield from _Schema(pointers.lookup(self.root, reference[1:]), self.root).all_parts(depth + 1)
            except PointerNotFound:
                return
        for keyword in _ALTERNATIVES:
            for part in self.here.get(keyword, ()):
                yield from _Schema(part, self.root).all_parts(depth + 1)
        for keyword in ("if", "then", "else"):
            yield from _Schema(self.here.get(keyword), self.root).all_parts(depth + 1)

    def member(self, name: str) -> Iterator[_Schema]:
        for part in self.all_parts():
            known = part.here.get("properties", {})
            yield _Schema(known[name] if name in known else part.here.get("additionalProperties"), self.root)

    def item(self, index: int) -> Iterator[_Schema]:
        for part in self.all_parts():
            first = part.here.get("prefixItems", ())
            yield _Schema(first[index] if index < len(first) else part.here.get("items"), self.root)


def _walked(schema: _Schema, value: JsonValue, pointer: str, changes: list[Sanitised]) -> JsonValue:
    if isinstance(value, str):
        return _text(schema, value, pointer, changes)
    if isinstance(value, dict):
        return {
            name: _through(schema.member(name), each, pointer + pointers.join(name), changes)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [
            _through(schema.item(index), each, pointer + pointers.join(index), changes)
            for index, each in enumerate(value)
        ]
    return value


def _through(schemas: Iterator[_Schema], value: JsonValue, pointer: str, changes: list[Sanitised]) -> JsonValue:
    for schema in schemas:
        value = _walked(schema, value, pointer, changes)
    return value


def _text(schema: _Schema, text: str, pointer: str, changes: list[Sanitised]) -> str:
    for part in schema.all_parts():
        declared = part.here.get(CONTENT_KEYWORD)
        if declared in set(Content):
            content = Content(declared)
            harmless = sanitise_text(text, content)
            if harmless != text:
                changes.append(Sanitised(pointer, content, is_emptied=not harmless.strip()))
                text = harmless
    return text
