"""Answers made by code: a tool's own template where it has one, the exposed facts otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.pointers import PointerNotFound, join, lookup
from taoloop.loop.answering.findings import Disagreement, Findings, exposed_of, is_empty, leaves, present
from taoloop.loop.answering.wording import ToolWords, Words, label_of, listed, said, words_for
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.flow.fan_out import item_number
from taoloop.plan.thinking import Answer, AnswerOrigin, Grounding
from taoloop.tools.signature import Trust

# `{arguments.order_id}` or `{data.items.0.name}`.
_PLACEHOLDER: Final = re.compile(r"\{(arguments|data)\.([A-Za-z0-9_.\-]+)\}")
MAX_FACTS: Final = 40
"""Most facts that an answer without a template lists; a person reads no more."""

_Line = tuple[str, list[Grounding], AnswerOrigin]


def compose(findings: Findings, tools: Mapping[str, ToolWords], locale: str, *, with_templates: bool = True) -> Answer:
    """Make the answer of what a run has found out, in the user's language.

    Of every value that it names it says which step it comes from. What could not be found out, what was left out and
    where two sources disagree is said as well, by what the tools do and never by names of the engine's own.

    Args:
        findings: What was found out.
        tools: What is known of the tools, by name.
        locale: BCP 47 tag of the user's language.
        with_templates: Whether tools' own templates are used; else the facts are listed.
    """
    words = words_for(locale)
    lines = [_say(record, _tool(tools, record), locale, words, with_templates) for record in findings.spoken]
    texts = [text for text, _, _ in lines] + _remarks(findings, tools, words)
    by_template = bool(lines) and all(origin is AnswerOrigin.TEMPLATE for _, _, origin in lines)
    return Answer(
        text="\n".join(texts) or words.nothing_at_all,
        data=data_of(findings.spoken),
        grounding=tuple(source for _, sources, _ in lines for source in sources),
        origin=AnswerOrigin.TEMPLATE if by_template else AnswerOrigin.FACTS,
    )


def data_of(spoken: Sequence[StepRecord]) -> Json:
    """Return results as data: one as it is, several by the ids of their steps."""
    exposed = {record.step_id: exposed_of(record) for record in spoken}
    return next(iter(exposed.values())) if len(exposed) == 1 else exposed


def remarks_of(findings: Findings, tools: Mapping[str, ToolWords], locale: str) -> tuple[str, ...]:
    """Return what is to be said beside a text that code did not word: gaps, doubts, and whose words it rests on."""
    words = words_for(locale)
    others = [what_of(record, tools) for record in findings.known if record.trust is not Trust.TRUSTED]
    whose = (words.reworded.format(what=listed(others, words)),) if others else ()
    return (*_remarks(findings, tools, words), *whose)


def what_of(record: StepRecord, tools: Mapping[str, ToolWords]) -> str:
    """Return what a step does, for the user."""
    return _tool(tools, record).what


def _tool(tools: Mapping[str, ToolWords], record: StepRecord) -> ToolWords:
    return tools.get(record.tool) or ToolWords.unlisted(record.tool)


def _say(record: StepRecord, tool: ToolWords, locale: str, words: Words, with_templates: bool) -> _Line:
    template = tool.template_for(locale) if with_templates else None
    is_nothing = is_empty(exposed_of(record))
    if template is not None and (tool.is_writing or not is_nothing):
        try:
            return *_fill(template, record, words), AnswerOrigin.TEMPLATE
        except PointerNotFound:
            # A template that names a field which this result does not have cannot be said; the facts can.
            pass
    if is_nothing:
        sentence = words.done if tool.is_writing else words.nothing
        return sentence.format(what=tool.what), [], AnswerOrigin.FACTS
    return *_facts(record, tool, words), AnswerOrigin.FACTS


def _fill(template: str, record: StepRecord, words: Words) -> tuple[str, list[Grounding]]:
    """Fill a template with a result; with each of them, a line for each, where the step ran once per item."""
    if record.gatherings == 0:
        return _filled(template, record, words, "")
    exposed = exposed_of(record)
    count = min(len(exposed), MAX_FACTS) if isinstance(exposed, list) else 0
    lines = [_filled(template, record, words, join(index)) for index in range(count)]
    texts = [text for text, _ in lines] + ["…"] * (isinstance(exposed, list) and len(exposed) > count)
    return "\n".join(texts), [source for _, sources in lines for source in sources]


def _filled(template: str, record: StepRecord, words: Words, within: str) -> tuple[str, list[Grounding]]:
    grounding: list[Grounding] = []

    def value_of(match: re.Match[str]) -> str:
        root, path = match.group(1), match.group(2)
        pointer = within + join(*path.split("."))
        source = present(record.arguments) if root == "arguments" else exposed_of(record)
        text = said(lookup(source, pointer), words)
        if root == "data":
            grounding.append(Grounding(text=text, step_id=record.step_id, pointer=pointer))
        return text

    return _PLACEHOLDER.sub(value_of, template), grounding


def _facts(record: StepRecord, tool: ToolWords, words: Words) -> tuple[str, list[Grounding]]:
    grounding: list[Grounding] = []
    parts: list[str] = []
    for pointer, values in groupby(_sayable(exposed_of(record)), key=itemgetter(0)):
        texts = [(said(value, words), place) for _, place, value in values]
        room = MAX_FACTS - len(grounding)
        if not room:
            parts.append("…")
            break
        label, shown = label_of(pointer), [text for text, _ in texts[:room]] + ["…"] * (len(texts) > room)
        listed_values = words.list_mark.join(shown)
        parts.append(f"{label}{words.colon}{listed_values}" if label else listed_values)
        grounding += [Grounding(text=text, step_id=record.step_id, pointer=place) for text, place in texts[:room]]
    return f"{tool.what}{words.colon}{words.fact_mark.join(parts)}", grounding


def _sayable(value: JsonValue) -> Iterator[tuple[str, str, JsonValue]]:
    """Yield the values of a result: under which label, where, and what; the items of a plain list share its label."""
    for pointer, leaf in leaves(value):
        if leaf is None or isinstance(leaf, dict | list):
            continue  # nothing to be said
        above, _, last = pointer.rpartition("/")
        is_item = last.isdecimal() and isinstance(lookup(value, above), list)
        yield above if is_item else pointer, pointer, leaf


def _remarks(findings: Findings, tools: Mapping[str, ToolWords], words: Words) -> list[str]:
    remarks = [_disagreement(each, words) for each in findings.disagreements]
    remarks += [_in_part(each, tools, words) for each in findings.in_part]
    for sentence, records in (
        (words.doubtful, [record for record in findings.spoken if record.is_doubtful]),
        (words.not_found, findings.failed),
        (words.left_out, findings.left_out),
    ):
        names = [what_of(record, tools) for record in records]
        remarks += [sentence.format(what=listed(names, words))] if names else []
    return remarks


def _in_part(record: StepRecord, tools: Mapping[str, ToolWords], words: Words) -> str:
    """Return which items of a list have no result; they count from 1, as everywhere in answers."""
    failed = record.missing.actual if record.missing is not None else ABSENT
    numbers = [str(item_number(str(each)) + 1) for each in failed] if isinstance(failed, list) else []
    return words.in_part.format(what=what_of(record, tools), items=words.list_mark.join(numbers))


def _disagreement(found: Disagreement, words: Words) -> str:
    label = label_of(found.pointer) or words.value
    return words.disagreement.format(field=label, taken=said(found.taken, words), other=said(found.other, words))
