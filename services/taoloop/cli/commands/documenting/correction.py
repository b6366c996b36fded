"""The correction's machine as text: Mermaid, tables and JSON, all from the edges themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from taoloop.core.errors import FieldViolation, InvalidRequest
from taoloop.core.exact_json import JsonValue
from taoloop.loop.correction.classes import CODES, NOT_OF_VALUES, FaultClass
from taoloop.loop.correction.machine import EDGES, STATE_AFTER, Edge, Need, Reaction, State, edges_of

_PIPE: Final = r"\|"

_INTRODUCTION: Final = """\
A failure is data with a stable code. What becomes of it is decided by a table, never by a model: the code says what
kind of failure it is, and of that kind the first edge is taken whose needs hold and that leads further than the
correction stands. Every reaction is written to the run's log as a `correction` event before it is carried out, with
the answers to three questions: is the failure transient, does the same again help, and is the user told, and how. A
host that takes a run over goes on where these events end.

**Retries live in one layer.** The action service repeats an attempt by the contract's `retry`. The loop makes a call
once more only where that layer did not (one attempt was made), where it calls the failure retriable, and once. A
contract's `fallback` is asked by the action service when the tool is down; the loop asks it where the tool answered
and its answer cannot be used, or is doubted.

**A write is never repeated in the dark.** A call that may have changed something is of the class EFFECT_UNKNOWN
whatever its code says, and that class has one edge: a person.

**A tool that is down is not asked again.** The next thought is told of the failure and is not offered the tool
(`failed_in_run`). If it finds no other way, the run ends as the failure's own class says, and the operators have a
warning (`failure_corrected`) and a metric.

**Time.** A reaction is taken only where the run has time left for it, on the monotonic clock. A language model is
asked again only where its own timeout (`TAOLOOP_CORRECTION__MODEL_TIMEOUT_SECONDS`, the worker's
`TAOLOOP_MODEL__TIMEOUT_SECONDS`) and a margin of 0.5 s are left; else the event
`retry_skipped_insufficient_deadline` is logged, and `taoloop_corrections_skipped_total` counts.

**What succeeded in part** is answered only where the plan says so: a step marked optional is left out of the answer,
and the user is told. A run is called answered when every required step of its plan has succeeded, or the planner gave
an answer that its results support; nothing else ends it so.

**When a person has spoken**, by a value or a decision about a handover, every correction is at hand again."""

_WORDS: Final = """\
A text parameter may name a vocabulary of the catalogue, `x-taoloop-vocabulary: NAME`, or hold one: our value to the
words that people use for it. `fix_input` replaces a word by the value where exactly one value has it, letter case,
width and white space left out of account: `shanghai` becomes `CN-Shanghai`. A word that no value has, `火星`, and one
that several have are asked for, with the values as candidates. A word that is only like another one is not the same."""

_SOURCES: Final = """\
`cross_check` and `fallback` call the tool that the contract's `fallback` names, with the same sources as far as it
takes them, as a step of its own (`1.t1-second`). Of a cross-check the fields that both results expose are compared.
Where all are equal the more certain result serves. Where they differ the fault SOURCES_DISAGREE names the fields with
both values; the second result serves only if its confidence is above 0.7 and the first one's is not, and the user is
told; else a person decides. An item of a step that fans out has no second source."""


def kinds_named(name: str) -> tuple[FaultClass, ...]:
    """Return one kind of failure by its name, or all for the empty name.

    Raises:
        InvalidRequest: There is no such kind.
    """
    if not name:
        return tuple(FaultClass)
    try:
        return (FaultClass(name.upper()),)
    except ValueError as exc:
        known = ", ".join(kind.value for kind in FaultClass)
        violation = FieldViolation("--class", f"use one of {known}")
        message = f"--class names no kind of failure: {name[:80]!r}. Use one of {known}."
        raise InvalidRequest(message, violations=(violation,)) from exc


def correction_page(generated: str) -> str:
    """Return the page docs/correction.md; `generated` is its line about where it comes from."""
    every = tuple(FaultClass)
    lines = ["# Corrections", "", generated, "", _INTRODUCTION, "", "## The machine", "", *_drawn(every)]
    lines += ["", "## Kinds of failure", "", *_kinds(every), "", "## Edges", ""]
    for kind in every:
        lines += [f"### {kind.value}", "", kind.meaning, "", *_edges(edges_of(kind)), ""]
    lines += ["## Reactions", "", *_reactions(), "", "## What an edge needs", "", *_needs()]
    lines += ["", "## States", "", *_states(), "", "## Words", "", _WORDS, "", "## Second sources", "", _SOURCES]
    return "\n".join(lines) + "\n"


def machine_text(kinds: Sequence[FaultClass]) -> str:
    """Return the drawing and the edges of some kinds of failure."""
    lines = [*_drawn(kinds), "", *_edges([edge for edge in EDGES if edge.kind in kinds], with_kind=True)]
    return "\n".join([*lines, "", *_needs()])


def edges_as_json(kinds: Sequence[FaultClass]) -> JsonValue:
    """Return the same for programs."""
    return {
        "classes": [
            {"class": kind.value, "meaning": kind.meaning, "codes": [code.value for code in CODES[kind]]}
            for kind in kinds
        ],
        "edges": [
            {
                "class": edge.kind.value,
                "reaction": edge.reaction.value,
                "needs": [need.value for need in edge.needs],
                "before": edge.next_state.word,
                "because": edge.because,
                "is_transient": edge.is_transient,
                "is_retry_useful": edge.is_retry_useful,
                "is_told_to_user": edge.is_told,
            }
            for edge in EDGES
            if edge.kind in kinds
        ],
        "reactions": {each.value: each.meaning for each in Reaction},
        "needs": {each.value: each.meaning for each in Need},
        "states": [state.word for state in State],
    }


def _drawn(kinds: Sequence[FaultClass]) -> Iterator[str]:
    """Yield a flow chart: each kind with its reactions in order, and what each of them needs."""
    yield from ("```mermaid", "flowchart LR")
    drawn = [edge for edge in EDGES if edge.kind in kinds]
    for kind in kinds:
        yield f"  {kind.value}[{kind.value}]"
    for reaction in Reaction:
        if any(edge.reaction is reaction for edge in drawn):
            left, right = ("([", "])") if STATE_AFTER[reaction] is State.ENDED else ("{{", "}}")
            yield f"  {reaction.value}{left}{reaction.value}{right}"
    for kind in kinds:
        for number, edge in enumerate(edges_of(kind), 1):
            needs = f": {', '.join(need.value for need in edge.needs)}" if edge.needs else ""
            yield f'  {kind.value} -->|"{number}{needs}"| {edge.reaction.value}'
    yield "```"


def _kinds(kinds: Sequence[FaultClass]) -> Iterator[str]:
    yield from _table(
        ("Class", "What happened", "Codes"),
        ((f"`{kind.value}`", kind.meaning, ", ".join(f"`{code.value}`" for code in CODES[kind])) for kind in kinds),
    )
    yield ""
    yield "A code that a tool's contract defines under `errors` is TOOL_FAILED. So is UPSTREAM_REFUSED where the tool"
    yield f"answered {', '.join(map(str, NOT_OF_VALUES))}: it refuses who calls, or how, and not a value."


def _edges(edges: Sequence[Edge], *, with_kind: bool = False) -> Iterator[str]:
    header = ("Reaction", "Needs", "In states before", "Transient", "Same again helps", "User is told", "Why")
    cells = (
        (
            f"`{edge.reaction.value}`",
            ", ".join(f"`{need.value}`" for need in edge.needs) or "nothing",
            f"`{edge.next_state.word}`",
            _yes(edge.is_transient),
            _yes(edge.is_retry_useful),
            _yes(edge.is_told),
            edge.because,
        )
        for edge in edges
    )
    if with_kind:
        kinds = (f"`{edge.kind.value}`" for edge in edges)
        yield from _table(("Class", *header), ((kind, *row) for kind, row in zip(kinds, cells, strict=True)))
    else:
        yield from _table(header, cells)


def _reactions() -> Iterator[str]:
    yield from _table(
        ("Reaction", "What is done", "Leads to"),
        ((f"`{each.value}`", each.meaning, f"`{STATE_AFTER[each].word}`") for each in Reaction),
    )
    yield ""
    yield "Of several failures, what is done about one goes for all: hand_over before fail, fail before ask, ask before"
    yield "reprompt and replan. What lets the plan go on is done first."


def _needs() -> Iterator[str]:
    yield from _table(("Need", "What holds"), ((f"`{each.value}`", each.meaning) for each in Need))


def _states() -> Iterator[str]:
    yield "A correction only moves to the right, so that every one ends:"
    yield ""
    yield " → ".join(f"`{state.word}`" for state in State)
    yield ""
    yield "A step of a later thought whose tool failed in the same way before begins at `replanned`."


def _table(header: Sequence[str], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', _PIPE) for cell in row)} |"


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"
