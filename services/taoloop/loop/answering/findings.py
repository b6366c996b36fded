"""What a run has found out: the results that an answer speaks of, what is missing, and where two sources disagree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from taoloop.core.exact_json import ABSENT, Json, JsonValue, equal
from taoloop.core.pointers import PointerNotFound, assign, find, join, lookup
from taoloop.loop.correction.machine import Reaction
from taoloop.loop.correction.progress import is_second
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.acting import Provenance
from taoloop.plan.answering import Evidence
from taoloop.plan.calls import call_key
from taoloop.plan.running import CorrectionMade
from taoloop.tools.signature import Trust

MAX_DISAGREEMENTS: Final = 5
"""Most fields of one result of which an answer names both values."""

ARGUMENTS_SUFFIX: Final = " arguments"
"""Behind a step's id: what was asked of its tool, which an answer may repeat."""

_OWN_SOURCES: Final = frozenset({"query_span", "state_path", "contract_value", "input_value", "request_clock"})


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A field of which two sources of one fact say different things.

    Attributes:
        pointer: Where it stands in both results.
        taken: What the answer goes by, from the surer source.
        other: What the other source says.
    """

    pointer: str
    taken: JsonValue
    other: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a run has found out.

    Attributes:
        spoken: The results that the answer speaks of, in their order.
        failed: Steps that the plan could do without and that brought nothing.
        in_part: Steps for the items of a list whose results lack some of them.
        left_out: Steps whose condition does not hold.
        disagreements: Where two sources of one fact differ.
        known: Every result that may be used, the ones that others build on among them.
    """

    spoken: tuple[StepRecord, ...] = ()
    failed: tuple[StepRecord, ...] = ()
    in_part: tuple[StepRecord, ...] = ()
    left_out: tuple[StepRecord, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    known: tuple[StepRecord, ...] = ()


def findings_of(
    records: Iterable[StepRecord],
    plan_steps: Iterable[str] = (),
    corrections: Sequence[CorrectionMade] = (),
    *,
    tells_earlier: bool = False,
) -> Findings:
    """Sort what is known of the steps of a run.

    An answer speaks of the results on which no other step builds, whichever iteration brought them: what a later plan
    did not need to do again is still asked for, and what a step of the latest plan was to build on that then brought
    nothing is all that there is. Of one call that was made twice the later result counts. Steps for
    the items of a list, and those that asked a second source, have their say in the step that they belong to.

    Args:
        records: What is known of every step, in the order in which they were planned.
        plan_steps: The steps of the latest plan; their failures are told.
        corrections: What was done about failures, oldest first.
        tells_earlier: Whether failures of earlier plans are told too, of tools that never served in the run: where the
            latest plan has succeeded they were planned round, else something may still be missing.
    """
    kept = [
        record for record in records if not record.is_forgotten and not record.is_item and not is_second(record.step_id)
    ]
    latest = frozenset(plan_steps)
    served = {record.tool for record in kept if record.has_succeeded}
    told = latest | {each.step_id for each in kept if tells_earlier and each.tool not in served}
    builders = (record for record in kept if record.has_succeeded or record.step_id not in latest)
    built_on = {earlier for record in builders for earlier in _built_on(record)}
    spoken = tuple(_latest(record for record in kept if record.has_succeeded and record.step_id not in built_on))
    return Findings(
        spoken=spoken,
        failed=tuple(record for record in kept if _has_failed(record) and record.step_id in told),
        in_part=tuple(record for record in kept if record.missing is not None),
        left_out=tuple(record for record in kept if record.step_id in latest and record.is_left_out),
        disagreements=tuple(
            found for record in spoken for found in islice(_disagreements(record, corrections), MAX_DISAGREEMENTS)
        ),
        known=tuple(record for record in kept if record.has_succeeded),
    )


def latest_plan_of(records: Iterable[StepRecord]) -> tuple[str, ...]:
    """Return the steps of the plan that was made last: the ids of one plan's steps begin alike, `2` of `2.t1`."""
    names = [record.step_id for record in records]
    return tuple(name for name in names if name.rpartition(".")[0] == names[-1].rpartition(".")[0])


def exposed_of(record: StepRecord) -> JsonValue:
    """Return what an answer may see of a result; null where there is none."""
    return None if record.observation is None else present(record.observation.exposed)


def present(value: Json) -> JsonValue:
    """Return a value, null where there is none."""
    return None if value is ABSENT else value


def evidence_of(records: Iterable[StepRecord]) -> tuple[Evidence, ...]:
    """Return what an answer may rest on: the exposed results, and what was asked of the tools in trusted words.

    Arguments that a model wrote, or that came from another result, support nothing.
    """
    found: list[Evidence] = []
    for record in records:
        found.append(Evidence(step_id=record.step_id, exposed=exposed_of(record)))
        if asked := _asked(record):
            found.append(Evidence(step_id=record.step_id + ARGUMENTS_SUFFIX, exposed=asked))
    return tuple(found)


def leaves(value: JsonValue, pointer: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Yield the scalars of a value, and its empty lists and objects, each with its pointer."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, pointer + join(key))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from leaves(inner, pointer + join(index))
    else:
        yield pointer, value


def is_empty(value: JsonValue) -> bool:
    """Tell whether a result holds no value at all: null, nothing, or lists and objects of nothing."""
    return all(leaf is None or leaf == "" or isinstance(leaf, dict | list) for _, leaf in leaves(value))


def _built_on(record: StepRecord) -> Iterator[str]:
    yield from record.step.depends_on if record.step is not None else ()
    yield from (source.step_id for source in record.provenance if source.step_id)


def _has_failed(record: StepRecord) -> bool:
    """Tell whether a step failed by itself; one that was skipped for another's failure says nothing new."""
    fault = record.fault
    return record.is_done and fault is not None and not fault.cause_step_id


def _latest(records: Iterable[StepRecord]) -> Iterator[StepRecord]:
    """Yield the records, of one call that was made several times the last one alone, at the place of the first."""
    kept: dict[str, StepRecord] = {}
    for record in records:
        kept[call_key(record.tool, present(record.arguments))] = record
    yield from kept.values()


def _disagreements(record: StepRecord, corrections: Iterable[CorrectionMade]) -> Iterator[Disagreement]:
    """Yield the fields of which a second source said something else than what the answer goes by."""
    for made in corrections:
        if made.step_id != record.step_id or made.reaction != Reaction.PREFER or made.fault is None:
            continue
        told = made.fault.actual
        for pointer, values in told.items() if isinstance(told, dict) else ():
            taken = find(exposed_of(record), pointer)
            others = [value for value in _members(values) if taken is not ABSENT and not equal(value, present(taken))]
            if others:
                yield Disagreement(pointer, present(taken), others[0])


def _members(value: JsonValue) -> Iterable[JsonValue]:
    return value.values() if isinstance(value, dict) else ()


def _asked(record: StepRecord) -> JsonValue:
    arguments = present(record.arguments)
    asked: JsonValue = {}
    for source in record.provenance:
        if not _is_own(source):
            continue
        try:
            asked = assign(asked, source.pointer, lookup(arguments, source.pointer))
        except PointerNotFound:
            continue  # an item of a list whose other items have other sources
    return asked


def _is_own(source: Provenance) -> bool:
    return source.source in _OWN_SOURCES and source.trust is Trust.TRUSTED
