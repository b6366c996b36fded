"""Answers made by code: a tool's own template where it has one, the exposed facts otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import ABSENT, Json, JsonValue, dumps
from taoloop.core.pointers import PointerNotFound, join, lookup
from taoloop.loop.state import StepRecord
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.thinking import Answer, Grounding

# `{arguments.order_id}` or `{data.items.0.name}`.
_PLACEHOLDER: Final = re.compile(r"\{(arguments|data)\.([A-Za-z0-9_.\-]+)\}")
_LIST_SEPARATORS: Final = {"zh": "、"}
MAX_FACTS: Final = 40
"""Most facts that an answer without a template lists; a person reads no more."""


@dataclass(frozen=True, slots=True)
class AnswerTemplates:
    """The answer templates of one tool by language tag, such as `{"zh": "…", "en": "…"}`."""

    by_language: Mapping[str, str]

    def best_for(self, locale: str) -> str | None:
        """Return the template for a BCP 47 tag: its language, else English, else any."""
        language = locale.split("-", maxsplit=1)[0].lower()
        for key in (locale, language, "en"):
            if key in self.by_language:
                return self.by_language[key]
        return next(iter(self.by_language.values()), None)


def compose(
    plan: ThoughtPlan, steps: Mapping[str, StepRecord], templates: Mapping[str, AnswerTemplates], locale: str
) -> Answer:
    """Make the answer to a plan whose steps have run.

    It speaks of the steps that no other step builds on, in the plan's order, and of every value it names it says
    which step it comes from.

    Args:
        plan: The plan.
        steps: What is known of its steps, by id.
        templates: Answer templates by tool name.
        locale: BCP 47 tag of the user's language.
    """
    spoken = [steps[step_id] for step_id in _ends(plan) if steps[step_id].has_succeeded]
    lines: list[str] = []
    grounding: list[Grounding] = []
    for record in spoken:
        line, sources = _say(record, templates.get(record.tool), locale)
        lines.append(line)
        grounding.extend(sources)
    return Answer(text="\n".join(lines), data=_data(spoken), grounding=tuple(grounding))


def _ends(plan: ThoughtPlan) -> Sequence[str]:
    built_on = {earlier for step in plan.steps for earlier in step.depends_on}
    return [step.step_id for step in plan.steps if step.step_id not in built_on]


def _data(spoken: Sequence[StepRecord]) -> Json:
    exposed = {record.step_id: _exposed(record) for record in spoken}
    return next(iter(exposed.values())) if len(exposed) == 1 else exposed


def _say(record: StepRecord, templates: AnswerTemplates | None, locale: str) -> tuple[str, list[Grounding]]:
    template = templates.best_for(locale) if templates is not None else None
    if template is not None:
        try:
            return _fill(template, record, locale)
        except PointerNotFound:
            # A template that names a field which this result does not have cannot be said; the facts can.
            pass
    return _facts(record, locale)


def _fill(template: str, record: StepRecord, locale: str) -> tuple[str, list[Grounding]]:
    grounding: list[Grounding] = []

    def value_of(match: re.Match[str]) -> str:
        root, path = match.group(1), match.group(2)
        pointer = join(*path.split("."))
        source = record.arguments if root == "arguments" else _exposed(record)
        text = _as_text(lookup(_value(source), pointer), locale)
        if root == "data":
            grounding.append(Grounding(text=text, step_id=record.step_id, pointer=pointer))
        return text

    return _PLACEHOLDER.sub(value_of, template), grounding


def _facts(record: StepRecord, locale: str) -> tuple[str, list[Grounding]]:
    grounding: list[Grounding] = []
    parts: list[str] = []
    for pointer, value in _leaves(_exposed(record)):
        if len(parts) == MAX_FACTS:
            parts.append("…")
            break
        text = _as_text(value, locale)
        parts.append(f"{pointer.strip('/').replace('/', '.') or 'value'}: {text}")
        grounding.append(Grounding(text=text, step_id=record.step_id, pointer=pointer))
    return f"{record.tool}: " + "; ".join(parts), grounding


def _leaves(value: JsonValue, pointer: str = "") -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, pointer + join(key))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _leaves(inner, pointer + join(str(index)))
    else:
        yield pointer, value


def _exposed(record: StepRecord) -> JsonValue:
    return _value(record.observation.exposed) if record.observation is not None else None


def _value(value: Json) -> JsonValue:
    return None if value is ABSENT else value


def _as_text(value: JsonValue, locale: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return _LIST_SEPARATORS.get(locale.split("-", maxsplit=1)[0], ", ").join(
            _as_text(item, locale) for item in value
        )
    return dumps(value)
