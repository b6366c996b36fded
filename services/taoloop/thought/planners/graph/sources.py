"""Values that do not stand in the request's words: answers, session state, earlier steps, the schema's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue, equal
from taoloop.plan.model import (
    Binding,
    ContractValue,
    ContractValueKind,
    Convert,
    InputValue,
    ItemValue,
    QuerySpan,
    StatePath,
    StepOutput,
)
from taoloop.plan.rules.snapshot import DATE_RANGE
from taoloop.plan.task import InputReason
from taoloop.thought.planners.graph.candidates import Candidate
from taoloop.thought.planners.graph.index import OutputField, ToolView
from taoloop.thought.planners.graph.language.described import SlotClass
from taoloop.thought.planners.graph.language.mentions import Mention
from taoloop.thought.planners.graph.language.text import name_keys
from taoloop.thought.planners.graph.language.vocabulary import GENERIC_WORDS, ID_WORDS
from taoloop.thought.planners.graph.reading import Reading, read
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.view import RequestView
from taoloop.thought.planners.unread import Unread
from taoloop.tools.schema_paths import incompatibility

Source = QuerySpan | StatePath | StepOutput | ContractValue | InputValue


@dataclass(frozen=True, slots=True)
class Bound:
    """One argument and where it comes from.

    Attributes:
        slot: The parameter.
        source: Where the value is fetched.
        value: What it will be; ABSENT while the step that gives it has not run.
        convert: How the fetched value becomes the argument.
        mention: The words, for a span of the request.
        score: How well the words fit, about 0 to 1.5; 1.0 for what needs no words.
        list_pointer: Where the list is whose every item gives a value, for a call that is made for each; the source
            points at the first item's.
    """

    slot: Slot
    source: Source
    value: Json = ABSENT
    convert: Convert | None = None
    mention: Mention | None = None
    score: float = 1.0
    list_pointer: str | None = None

    def binding(self) -> Binding:
        """Return the plan's record of it."""
        if self.items is not None and isinstance(self.source, StepOutput):
            within = self.source.pointer.removeprefix(self.items.pointer + "/0")
            return Binding(pointer=self.slot.pointer, source=ItemValue(pointer=within))
        return Binding(pointer=self.slot.pointer, source=self.source, convert=self.convert, value=self.value)

    @property
    def items(self) -> StepOutput | None:
        """Return the list of which the value is one item's; None for a value of its own."""
        if self.list_pointer is None or not isinstance(self.source, StepOutput):
            return None
        return StepOutput(step_id=self.source.step_id, pointer=self.list_pointer)

    def origin_fits(self, slot: Slot) -> bool:
        """Tell whether another slot may take the same value from the same place."""
        wanted = {"request": "query", "input": "input"}.get(self.origin)
        return wanted in slot.sources and not isinstance(self.value, Absent) and slot.accepts(self.value)

    @property
    def origin(self) -> str:
        """Return one word for where it comes from, for the plan's reasoning."""
        return _ORIGINS[type(self.source)]


_ORIGINS: Final[Mapping[type, str]] = {
    QuerySpan: "request",
    StatePath: "state",
    StepOutput: "step",
    ContractValue: "contract",
    InputValue: "input",
}


def from_candidates(candidate: Candidate, view: RequestView) -> tuple[Bound, ...]:
    """Return the arguments that words of the request give: one, or one for each item of a list."""
    return tuple(from_candidate(item, view) for item in candidate.members or (candidate,))


def from_candidate(candidate: Candidate, view: RequestView) -> Bound:
    """Return the argument that words of the request give."""
    mention, slot, reading = candidate.mention, candidate.slot, candidate.reading
    source: Source = QuerySpan(turn=view.turn, start=mention.start, end=mention.end, text=mention.text)
    if reading.member is not None:
        place = f"{slot.schema_pointer}/enum/{reading.member}"
        source = ContractValue(kind=ContractValueKind.ENUM, pointer=place)
    return Bound(slot, source, reading.value, reading.convert, mention, candidate.score)


def from_inputs(slot: Slot, view: RequestView) -> Bound | Unread | None:
    """Return the argument that the caller's newest answer gives; `Unread` when it breaks the schema."""
    if "input" not in slot.sources:
        return None
    for given in view.inputs:
        values = given.values
        if values is ABSENT or not isinstance(values, dict):
            continue
        place = _place_in(values, slot)
        if place is None:
            continue
        reading = _as_value(slot, pointers.lookup(values, place), view)
        if isinstance(reading, Unread):
            return reading
        source: Source = InputValue(input_id=given.input_id, pointer=place)
        if reading.member is not None:
            source = ContractValue(kind=ContractValueKind.ENUM, pointer=f"{slot.schema_pointer}/enum/{reading.member}")
        return Bound(slot, source, reading.value, reading.convert)
    return None


def from_state(slot: Slot, view: RequestView) -> Bound | None:
    """Return the argument that the session's entry of the same name gives.

    Days that the request does not name are those that the plan before was about, as its snapshot tells them.
    """
    if "state" not in slot.sources:
        return None
    for name in (slot.name, DATE_RANGE) if slot.slot_class is SlotClass.DATE_RANGE else (slot.name,):
        if name in view.state:
            value = view.state[name]
            return Bound(slot, StatePath(pointer=pointers.join(name)), value) if slot.accepts(value) else None
    return None


def from_schema(slot: Slot) -> Bound | None:
    """Return the argument that the schema itself fixes: its `const`, or its default."""
    for keyword, kind in (("const", ContractValueKind.CONST), ("default", ContractValueKind.DEFAULT)):
        if keyword in slot.schema and slot.accepts(slot.schema[keyword]):
            return Bound(
                slot, ContractValue(kind=kind, pointer=f"{slot.schema_pointer}/{keyword}"), slot.schema[keyword]
            )
    return None


def from_output(slot: Slot, tool: ToolView, step_id: str) -> Bound | None:
    """Return the argument that a field of the same name in a tool's result gives, where the types agree."""
    if "step" not in slot.sources:
        return None
    for field in tool.outputs:
        if field.name == slot.name and _fits(field, slot):
            return Bound(slot, StepOutput(step_id=step_id, pointer=field.pointer))
    return None


def from_listed(slot: Slot, tool: ToolView, step_id: str, *, is_gathered: bool = False) -> Bound | None:
    """Return the argument that a field of the same name gives in each item of a list of a tool's result.

    Args:
        slot: The parameter.
        tool: The tool of the earlier step.
        step_id: That step.
        is_gathered: Whether that step is itself made for each item of a list: then its whole result is one.
    """
    if "step" not in slot.sources:
        return None
    if is_gathered:
        found = from_output(slot, tool, step_id)
        if found is None or not isinstance(found.source, StepOutput):
            return None
        place = StepOutput(step_id=step_id, pointer=f"/0{found.source.pointer}")
        return Bound(slot, place, list_pointer="")
    for each in tool.listed:
        if each.field.name == slot.name and _fits(each.field, slot):
            place = StepOutput(step_id=step_id, pointer=each.field.pointer)
            return Bound(slot, place, list_pointer=each.list_pointer)
    return None


REFERRED_MINIMUM: Final = 2
"""How many points of evidence a field of another name needs: a shared word of both names counts two, others one."""


def from_likely_output(slot: Slot, tool: ToolView, step_id: str, said: frozenset[str], *, refers: bool) -> Bound | None:
    """Return the argument that a field of another name gives, where the words of both and of the clause say so.

    Args:
        slot: The parameter.
        tool: The tool of the earlier step.
        step_id: That step.
        said: Words of the clause.
        refers: Whether the clause speaks of an earlier result, such as by `it`.
    """
    is_choice = slot.is_telling and slot.slot_class not in {SlotClass.EMAIL, SlotClass.URL}
    if "step" not in slot.sources or is_choice or slot.slot_class is SlotClass.BOOLEAN:
        return None
    fields = [field for field in tool.outputs if _fits(field, slot)]
    best: tuple[int, OutputField] | None = None
    for field in fields:
        own = set(name_keys(field.name)) - GENERIC_WORDS
        spoken = len(own & said) or int(any(_is_akin(one, two) for one in own for two in said))
        if not refers and not spoken:
            continue
        points = 2 * len(own & slot.own) + len((own & slot.words.keys()) - slot.own) + spoken
        points += 2 * int(bool(field.keys) and field.keys <= said)
        points += int(refers) * (2 if len(fields) == 1 else 1)
        if best is None or points > best[0]:
            best = points, field
    if best is None or best[0] < REFERRED_MINIMUM:
        return None
    return Bound(slot, StepOutput(step_id=step_id, pointer=best[1].pointer))


def is_peculiar(slot: Slot) -> bool:
    """Tell whether a required quantity or text has a name that few others have, so that a result of that name is it."""
    if not slot.is_required or (slot.is_telling and slot.slot_class is not SlotClass.EMAIL):
        return False
    return slot.slot_class not in _SAID and not slot.own <= GENERIC_WORDS


_SAID: Final = frozenset({SlotClass.BOOLEAN, SlotClass.DATE_TEXT, SlotClass.TIME, SlotClass.PLACE, SlotClass.PERSON})


def from_kindred_output(slot: Slot, tool: ToolView, step_id: str) -> Bound | None:
    """Return the argument that a field gives whose name shares a telling word with the slot's, where no value is said.

    It is a last resort: the other choice is to ask for what an earlier call of the same plan most likely finds out.
    """
    if "step" not in slot.sources or slot.is_telling or slot.slot_class in _SAID | {SlotClass.BOOLEAN}:
        return None
    fields = [field for field in tool.outputs if _fits(field, slot)]
    best = max(fields, key=lambda field: len((field.keys & slot.own) - GENERIC_WORDS), default=None)
    if best is None or not (best.keys & slot.own) - GENERIC_WORDS:
        return None
    return Bound(slot, StepOutput(step_id=step_id, pointer=best.pointer))


_AKIN: Final = 6
"""How many letters two words share at their head to be forms of one word, as translated and translation."""


def _is_akin(one: str, two: str) -> bool:
    return len(one) >= _AKIN and one[:_AKIN] == two[:_AKIN]


def is_identifying(slot: Slot) -> bool:
    """Tell whether the slot takes something that names one thing, which an earlier call may find out.

    Days, quantities and choices are the user's to say: a result that happens to have a field of that name is no source.
    """
    if slot.slot_class in {SlotClass.PATTERN, SlotClass.ID, SlotClass.EMAIL}:
        return True
    return slot.slot_class is SlotClass.INTEGER and bool(ID_WORDS & set(name_keys(slot.name)))


def equal_arguments(left: JsonValue, right: Json) -> bool:
    """Tell whether two calls have the same arguments; none at all equal the empty object."""
    return equal(left, {} if right is ABSENT else right)


def _fits(field: OutputField, slot: Slot) -> bool:
    """Tell whether a field can be the slot's value, by type, format, listed values and pattern."""
    if field.shape is None or slot.shape is None or incompatibility(field.shape, slot.shape) is not None:
        return False
    patterns = field.schema.get("pattern"), slot.schema.get("pattern")
    return None in patterns or patterns[0] == patterns[1]


def _place_in(values: dict[str, JsonValue], slot: Slot) -> str | None:
    """Return where an answer holds the slot's value: under its pointer, its name, or as a member of its object."""
    for key in (slot.pointer, slot.name):
        if key in values:
            return pointers.join(key)
    try:
        pointers.lookup(values, slot.pointer)
    except pointers.PointerNotFound:
        return None
    return slot.pointer


def _as_value(slot: Slot, value: JsonValue, view: RequestView) -> Reading | Unread:
    if slot.accepts(value):
        return Reading(value)
    return read(slot, str(value), view.conversion) if isinstance(value, str) else Unread(InputReason.INVALID)
