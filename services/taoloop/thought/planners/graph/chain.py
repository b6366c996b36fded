"""Builds the steps for one tool: arguments from every source, and further calls that find out what is missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from taoloop.thought.planners.graph.calls.done import done_before
from taoloop.thought.planners.graph.calls.gaps import by_group, is_bound, is_inside, missing_of
from taoloop.thought.planners.graph.calls.model import UNSURE_SCORE, Budget, Draft, Missing, Step
from taoloop.thought.planners.graph.fill import Filling, fill
from taoloop.thought.planners.graph.index import PlannerIndex, ToolView
from taoloop.thought.planners.graph.language.described import SlotClass
from taoloop.thought.planners.graph.language.mentions import Mention
from taoloop.thought.planners.graph.language.text import name_keys
from taoloop.thought.planners.graph.repeats import Row, repeated
from taoloop.thought.planners.graph.slots import Slot
from taoloop.thought.planners.graph.sources import (
    Bound,
    from_candidate,
    from_candidates,
    from_inputs,
    from_kindred_output,
    from_likely_output,
    from_listed,
    from_output,
    from_schema,
    from_state,
    is_identifying,
    is_peculiar,
)
from taoloop.thought.planners.graph.view import Place, RequestView
from taoloop.thought.planners.unread import Unread
from taoloop.tools.signature import Reach

PRONOUN: Final = re.compile(
    r"\b(?:it|its|them|their|him|her|there|the first one|the former|this|that|these|those|the results?"
    r"|the same|obtained|calculated|resulting)\b"
    r"|它|其|该|这个|这些|结果|上述|此|对应"
)
"""Words by which a clause speaks of an earlier result."""
EACH: Final = re.compile(
    r"\b(?:each|every)\b(?!\s+(?:day|week|month|quarter|year|hour|minute)\b)|\ball\b"
    r"|每(?=[个一条笔张件位份单家间项只台款])|各[个自项笔条单]|所有|全部|逐[个一条笔]|分别"
)
"""Words by which a clause speaks of every member of a list."""
MAX_STEPS: Final = 7
"""Most steps of a plan."""
_ELSEWHERE_CLASSES: Final = frozenset({SlotClass.DATE_TEXT, SlotClass.TIME, SlotClass.CURRENCY, SlotClass.LANGUAGE})
"""Classes besides those that their schema tells whose values are taken from another clause that nobody else uses."""
MAX_DEPTH: Final = 4
"""Longest chain of calls that feed one another."""
MAX_PRODUCERS: Final = 5
"""How many tools are tried for one missing value."""


@dataclass(frozen=True, slots=True)
class Chaining:
    """What stays the same while the steps of one plan are built.

    Attributes:
        index: The catalogue.
        view: The request.
        iteration: Number of the thought, for step ids.
        permitted: Names of the tools that may be called.
        budget: What the search for producers may cost.
    """

    index: PlannerIndex
    view: RequestView
    iteration: int
    permitted: frozenset[str]
    budget: Budget = field(default_factory=Budget)

    def draft(
        self, tool: ToolView, place: Place, steps: tuple[Step, ...] = (), callers: tuple[str, ...] = (),
        used: tuple[Mention, ...] = (),
    ) -> Draft:  # fmt: skip
        """Return the steps with a call of `tool` whose words stand at `place`.

        Args:
            tool: The tool.
            place: The clause, or several that belong together.
            steps: Steps planned so far.
            callers: Tools that this call is to feed, the first one first.
            used: Mentions that the callers took.
        """
        bound, unread, filling = self._said(tool, place, used)
        missing: list[Missing] = []
        for slot in tool.slots:
            if not slot.is_required or is_bound(slot, bound) or is_inside(slot, bound.keys()):
                continue
            if slot.pointer in unread:
                missing.append(missing_of(tool, slot, unread[slot.pointer]))
                continue
            found, steps = self._elsewhere(tool, slot, place, steps, (*callers, tool.name), _mentions(bound, used))
            if found is not None and _is_of_one_list(found, bound):
                bound[slot.pointer] = found
                continue
            missing.append(missing_of(tool, slot, None))
            if callers:  # a producer is of use only when it is complete
                break
        missing = by_group(tool, bound, missing)
        _by_position(tool, bound, self.view, place)
        if missing:
            return Draft(steps, bound, tuple(missing))
        grown = self._with_repeats(tool, bound, filling, steps)
        return Draft(grown, bound, (), has_room=sum(not step.is_completed for step in grown) <= MAX_STEPS)

    def _said(
        self, tool: ToolView, place: Place, used: tuple[Mention, ...]
    ) -> tuple[dict[str, Bound], dict[str, Unread], Filling]:
        """Take what the user said: answers to questions first, then the words of the clause."""
        bound, unread = self._from_inputs(tool)
        settled = {slot.pointer for slot in tool.slots if is_inside(slot, bound.keys())}
        filling = fill(tool, self.view, place, without=frozenset({*bound, *unread, *settled}), used=used)
        taken = {
            each.slot.pointer: each for item in filling.taken.values() for each in from_candidates(item, self.view)
        }
        return bound | taken, {**unread, **filling.refused}, filling

    def _from_inputs(self, tool: ToolView) -> tuple[dict[str, Bound], dict[str, Unread]]:
        bound: dict[str, Bound] = {}
        unread: dict[str, Unread] = {}
        for slot in (*tool.groups, *tool.slots):
            given = None if is_inside(slot, bound.keys()) else from_inputs(slot, self.view)
            if isinstance(given, Bound):
                bound[slot.pointer] = given
            elif given is not None and slot.is_required:
                unread[slot.pointer] = given
        return bound, unread

    def _elsewhere(
        self, tool: ToolView, slot: Slot, place: Place, steps: tuple[Step, ...], callers: tuple[str, ...],
        used: tuple[Mention, ...],
    ) -> tuple[Bound | None, tuple[Step, ...]]:  # fmt: skip
        """Look for a value outside of the clause: near sources before far ones, a new call last."""
        found = (
            self._from_steps(slot, place, steps)
            or _copied(slot, steps)
            or self._from_other_clauses(tool, slot, (*used, *_all_mentions(steps)))
            or self._from_completed(slot, steps)
            or from_state(slot, self.view)
            or from_schema(slot)
            or (None if callers[:-1] else _from_kindred(tool, slot, steps))
        )
        if found is not None or not is_identifying(slot):
            return found, steps
        for_each = not callers[:-1] and self._is_for_each(tool, place)
        if for_each and (found := _from_lists(slot, steps)) is not None:
            return found, steps
        if len(callers) >= MAX_DEPTH:
            return None, steps
        found, grown = self._from_producer(slot, place, steps, callers, used)
        if found is None and for_each:
            return self._from_producer(slot, place, steps, callers, used, is_listing=True)
        return found, grown

    def _is_for_each(self, tool: ToolView, place: Place) -> bool:
        """Tell whether the words want the call for every member of a list, and it may be made so often: it reads."""
        is_harmless = not tool.is_writing and tool.signature.reach is Reach.INTERNAL
        return is_harmless and EACH.search(self.view.lowered, *place) is not None

    def _from_steps(self, slot: Slot, place: Place, steps: tuple[Step, ...]) -> Bound | None:
        """Refer to the latest step whose result has the field; a field that is no identifier must be spoken of."""
        said = frozenset(word.key for word in self.view.words_in(place))
        single = [step for step in reversed(steps) if step.items is None]
        if is_identifying(slot) or said & set(name_keys(slot.name)) or is_peculiar(slot):
            for step in single:
                found = from_output(slot, step.tool, step.step_id)
                if found is not None:
                    return found
        refers = PRONOUN.search(self.view.lowered, *place) is not None if steps else False
        for step in single:
            if step.tool.slots and any(slot is own for own in step.tool.slots):
                continue  # a call does not feed another one of the same tool, unless by an identifier
            found = from_likely_output(slot, step.tool, step.step_id, said, refers=refers)
            if found is not None:
                return found
        return None

    def _from_completed(self, slot: Slot, steps: tuple[Step, ...]) -> Bound | None:
        if not is_identifying(slot):
            return None
        planned = {step.step_id for step in steps}
        for done in reversed(self.view.completed):
            tool = self.index.get(done.tool)
            if done.fault is None and tool is not None and not done.is_gathered and done.step_id not in planned:
                found = from_output(slot, tool, done.step_id)
                if found is not None:
                    return found
        return None

    def _from_other_clauses(self, tool: ToolView, slot: Slot, used: tuple[Mention, ...]) -> Bound | None:
        """Take what another clause says and nobody took, for slots whose schema alone tells what fits."""
        if not slot.is_telling and slot.slot_class not in _ELSEWHERE_CLASSES:
            return None
        others = frozenset(other.pointer for other in tool.slots) - {slot.pointer}
        whole = (0, len(self.view.text))
        filling = fill(tool, self.view, whole, without=others, used=used)
        found = filling.taken.get(slot.pointer)
        return None if found is None else from_candidate(found, self.view)

    def _from_producer(
        self, slot: Slot, place: Place, steps: tuple[Step, ...], callers: tuple[str, ...], used: tuple[Mention, ...],
        *, is_listing: bool = False,
    ) -> tuple[Bound | None, tuple[Step, ...]]:  # fmt: skip
        """Plan a call that finds the value, or a list of values, out: the one with fewest steps and most said words."""
        best: tuple[tuple[int, int, str], Bound, tuple[Step, ...]] | None = None
        output = from_listed if is_listing else from_output
        for tool in self._producers(slot, callers, is_listing=is_listing):
            if not self.budget.spend():
                break
            draft = self.draft(tool, place, steps, callers, used)
            said = sum(item.mention is not None or item.origin in {"input", "step"} for item in draft.bound.values())
            if draft.missing or not draft.has_room or not said or not draft.steps:
                continue
            if draft.steps[-1].items is not None:
                continue  # its result is a list of results
            found = output(slot, tool, draft.steps[-1].step_id)
            order = (len(draft.steps), -said, tool.name)
            if found is not None and (best is None or order < best[0]):
                best = order, found, draft.steps
        return (None, steps) if best is None else (best[1], best[2])

    def _producers(self, slot: Slot, callers: tuple[str, ...], *, is_listing: bool) -> list[ToolView]:
        """Return the reading tools that can give the slot its value, those nearest to the request's words first."""
        said = {word.key for word in self.view.words}
        output = from_listed if is_listing else from_output
        found = [
            tool
            for tool in (self.index.listers(slot.name) if is_listing else self.index.producers(slot.name))
            if not tool.is_writing
            and tool.name in self.permitted
            and tool.name not in callers
            and output(slot, tool, "") is not None
        ]
        found.sort(key=lambda tool: (-sum(self.index.rarity(key) for key in said & tool.terms.keys()), tool.name))
        return found[:MAX_PRODUCERS]

    def _with_repeats(
        self, tool: ToolView, bound: Mapping[str, Bound], filling: Filling, steps: tuple[Step, ...]
    ) -> tuple[Step, ...]:
        """Add the call, and one more for each further member of a list that fits one of its slots."""
        rows = repeated(filling, self.view)
        if rows and all("/0/" in pointer for pointer in rows[0]):
            return self._with_call(tool, {**bound, **self._items(rows, bound)}, steps)
        if not rows:
            return self._with_call(tool, bound, steps)
        for row in rows:
            others = {pointer: from_candidate(item, self.view) for pointer, item in row.items()}
            steps = self._with_call(tool, {**bound, **others}, steps)
        return steps

    def _items(self, rows: tuple[Row, ...], bound: Mapping[str, Bound]) -> dict[str, Bound]:
        """Return the arguments of a list's objects, which share what they do not say themselves."""
        head = next(iter(rows[0])).partition("/0/")[0] + "/0/"
        shared = {pointer: item for pointer, item in bound.items() if pointer.startswith(head)}
        found: dict[str, Bound] = {}
        for number, row in enumerate(rows):
            own = shared | {pointer: from_candidate(item, self.view) for pointer, item in row.items()}
            for pointer, item in own.items():
                place = pointer.replace("/0/", f"/{number}/", 1)
                found[place] = replace(item, slot=replace(item.slot, pointer=place))
        return found

    def _with_call(self, tool: ToolView, bound: Mapping[str, Bound], steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """Add one call; the same call in the plan, or done before with success, is not made twice."""
        new = Step(f"{self.iteration}.t{sum(not step.is_completed for step in steps) + 1}", tool, bound)
        same = next((step for step in steps if step.tool is tool and _same_sources(step.bound, bound)), None)
        if same is not None:
            return (*(step for step in steps if step is not same), same)
        done = done_before(new, self.view.completed)
        if done is not None and done.fault is None:
            new = replace(new, step_id=done.step_id, is_completed=True)
        return (*steps, new)


def _by_position(tool: ToolView, bound: dict[str, Bound], view: RequestView, place: Place) -> None:
    """Exchange an earlier result with a number of the same class where the words name them in the other order."""
    referred = PRONOUN.search(view.lowered, *place)
    found = [slot for slot in tool.slots if slot.pointer in bound and bound[slot.pointer].origin == "step"]
    if referred is None or len(found) != 1:
        return
    late = found[0]
    for early in tool.slots:
        if early is late:
            return
        item = bound.get(early.pointer)
        if (
            item is not None
            and item.mention is not None
            and early.slot_class is late.slot_class
            and item.score < UNSURE_SCORE
            and referred.start() < item.mention.start
        ):
            bound[early.pointer], bound[late.pointer] = (
                replace(bound[late.pointer], slot=early), replace(item, slot=late)
            )  # fmt: skip
            return


def _mentions(bound: Mapping[str, Bound], used: tuple[Mention, ...]) -> tuple[Mention, ...]:
    return (*used, *(item.mention for item in bound.values() if item.mention is not None))


def _all_mentions(steps: tuple[Step, ...]) -> tuple[Mention, ...]:
    return tuple(item.mention for step in steps for item in step.bound.values() if item.mention is not None)


def _from_kindred(tool: ToolView, slot: Slot, steps: tuple[Step, ...]) -> Bound | None:
    """Refer to the latest earlier result with a field whose name shares a telling word with the slot's name."""
    for step in reversed(steps):
        is_other = step.tool is not tool and step.items is None
        found = from_kindred_output(slot, step.tool, step.step_id) if is_other else None
        if found is not None:
            return found
    return None


def _is_of_one_list(found: Bound, bound: Mapping[str, Bound]) -> bool:
    """Tell whether a call may have the value beside the others: a call is made for each item of one list alone."""
    others = {item.items for item in bound.values() if item.items is not None}
    return found.items is None or others <= {found.items}


def _from_lists(slot: Slot, steps: tuple[Step, ...]) -> Bound | None:
    """Refer to each item of the latest earlier list that has the field; a call for each item brings a list as well."""
    for step in reversed(steps):
        found = from_listed(slot, step.tool, step.step_id, is_gathered=step.items is not None)
        if found is not None:
            return found
    return None


def _copied(slot: Slot, steps: tuple[Step, ...]) -> Bound | None:
    """Take the value that the user gave an earlier step under the same name, such as one day for two calls."""
    for step in reversed(steps):
        for bound in step.bound.values():
            if bound.slot.name == slot.name and bound.origin in {"request", "input"} and bound.origin_fits(slot):
                return replace(bound, slot=slot)
    return None


def _same_sources(left: Mapping[str, Bound], right: Mapping[str, Bound]) -> bool:
    return {pointer: (item.source, item.value) for pointer, item in left.items()} == {
        pointer: (item.source, item.value) for pointer, item in right.items()
    }
