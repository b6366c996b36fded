"""Where an argument comes from, in words."""

from __future__ import annotations

from taoloop.plan.model import (
    Binding,
    ContractValue,
    Generated,
    InputValue,
    ItemValue,
    Literal,
    QuerySpan,
    RequestClock,
    StatePath,
    StepOutput,
    Template,
)


def source_words(binding: Binding) -> str:
    """Return the source of a binding as a phrase such as `the user's words "tomorrow"`."""
    words = _words(binding.source)
    return f"{words}, read as {binding.convert.to}" if binding.convert is not None else words


def _words(source: object) -> str:  # noqa: C901 - one arm for each kind of source
    match source:
        case QuerySpan():
            return f'the user\'s words "{source.text}"'
        case StatePath():
            return f"the session state at {source.pointer or '/'}"
        case StepOutput():
            return f"the result of {source.step_id} at {source.pointer or '/'}"
        case ContractValue():
            return f"the tool's own {source.kind.value}"
        case InputValue():
            return f"the given input at {source.pointer or '/'}"
        case ItemValue():
            return f"the item at {source.pointer or '/'}"
        case RequestClock():
            return "the request's clock"
        case Template():
            return "joined: " + " + ".join(_words(part.source) for part in source.parts)
        case Literal():
            return f'the text "{source.text}"'
        case Generated():
            return "text written by a model"
        case _:
            return "no source"
