"""What a contract keeps from people, taken out of whole bodies and arguments."""

from __future__ import annotations

from collections.abc import Iterator

from taoloop.core import pointers
from taoloop.core.exact_json import Absent, JsonValue
from taoloop.evaluation.samples.masking import Redactor
from taoloop.observation.exposing.redactor import compile_redactor
from taoloop.tools.contract import PersonalData, ToolContract
from taoloop.tools.personal_data.finding import FINDERS, half_width


def contract_redactor(contract: ToolContract) -> Redactor:
    """Return what masks the values that the contract's `observe.redact` names.

    A field of it is a place of the output; what it becomes of in the body is masked there, and so is a member of the
    arguments at the same place.

    Raises:
        SchemaRefused: A pattern cannot be used; an accepted contract has none such.
    """
    redactor = compile_redactor(contract.observe)

    def redact(value: JsonValue, at: str = "") -> JsonValue:
        if isinstance(value, dict):
            return {name: redact(item, at + pointers.join(name)) for name, item in value.items()}
        if isinstance(value, list):
            return [redact(item, at + pointers.join(index)) for index, item in enumerate(value)]
        masked = redactor.excerpt(value, at)
        return None if isinstance(masked, Absent) else masked

    return redact


def looks_personal(value: JsonValue, at: str = "") -> Iterator[tuple[str, PersonalData]]:
    """Yield the places that look like personal data of a kind that a contract could redact; only people can tell."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from looks_personal(item, at + pointers.join(name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from looks_personal(item, at + pointers.join(index))
    elif isinstance(value, str):
        text = half_width(value)
        yield from ((at, kind) for kind, finder in FINDERS.items() if next(finder(text), None) is not None)
