"""The questions of a probe: synthetic facts with known answers, never a user's data or a real tool's."""

from __future__ import annotations

from typing import Final

from taoloop.core.exact_json import JsonSyntaxError, JsonValue, loads
from taoloop.models.ports import ChatMessage, ChatRequest, JsonForm, Role
from taoloop.tools.schemas import CompiledSchema

MAX_REPLY_TOKENS: Final = 96
"""Longest reply of a probe; each of the right ones has fewer than 40 tokens."""

SEED: Final = 20_251

FACTS: Final = "Parcel QX-17 has 3 pieces and was returned."
KNOWN: Final[dict[str, JsonValue]] = {"parcel": "QX-17", "pieces": 3, "state": "returned"}

_SCHEMA: Final[dict[str, JsonValue]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["parcel", "pieces", "state"],
    "properties": {
        "parcel": {"type": "string", "enum": ["QX-17", "QX-71", "XQ-17"]},
        "pieces": {"type": "integer", "enum": [1, 2, 3, 4]},
        "state": {"type": "string", "enum": ["lost", "returned", "shipped"]},
    },
}
_WORD_SCHEMA: Final[dict[str, JsonValue]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["word"],
    "properties": {"word": {"type": "string", "minLength": 3, "maxLength": 12}},
}
FORM: Final = JsonForm("parcel", _SCHEMA)
_WORD_FORM: Final = JsonForm("word", _WORD_SCHEMA)
_COMPILED: Final = CompiledSchema.compile(_SCHEMA)

TEMPTING: Final = f"{FACTS} Say in one short English sentence what became of it. Plain words only, no JSON."
"""Nobody replies to this in the form of FORM unless the server lets nothing else through."""
PLAIN: Final = f"{FACTS} Report these facts as one JSON object with the fields parcel, pieces and state."
FREE: Final = "Think of any word and reply with a JSON object whose field word holds it."


def tempting_question() -> ChatRequest:
    """Ask for prose, with a form."""
    return _asked(TEMPTING, FORM)


def facts_question(top_logprobs: int) -> ChatRequest:
    """Ask for the facts, in their form."""
    return ChatRequest(
        messages=(ChatMessage(Role.USER, PLAIN),), max_tokens=MAX_REPLY_TOKENS, form=FORM, top_logprobs=top_logprobs
    )


def seeded_question() -> ChatRequest:
    """Ask for anything, by chance, with a seed."""
    return ChatRequest(
        messages=(ChatMessage(Role.USER, FREE),),
        max_tokens=MAX_REPLY_TOKENS,
        temperature=1.0,
        seed=SEED,
        form=_WORD_FORM,
    )


def fits(text: str) -> bool:
    """Whether a reply is JSON of the form that was asked for, and nothing else."""
    try:
        value = loads(text.strip(), max_depth=4, max_bytes=16 * 1024)
    except JsonSyntaxError:
        return False
    return not _COMPILED.violations(value)


def states_the_facts(text: str) -> bool:
    """Whether a reply that fits holds what the question said."""
    return fits(text) and loads(text.strip()) == KNOWN


def _asked(words: str, form: JsonForm) -> ChatRequest:
    return ChatRequest(messages=(ChatMessage(Role.USER, words),), max_tokens=MAX_REPLY_TOKENS, form=form)
