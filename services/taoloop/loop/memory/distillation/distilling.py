"""Distils a run: which of its turns, what of its state, and which failure later runs are told of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from taoloop.core.exact_json import ABSENT, Json, JsonEncodeError, JsonValue, digest, dumps
from taoloop.loop.memory.distillation.redacting import MemoryRedactor, one_line
from taoloop.loop.memory.distillation.small_talk import has_action_intent
from taoloop.loop.memory.model import EntryKind, KnowledgeEntry, RememberedTurn, SessionMemory
from taoloop.loop.state import RunState
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.task import Outcome, Role, Task, Turn
from taoloop.plan.thinking import ErrorTrace

MAX_TURN_CHARACTERS: Final = 400
"""Longest turn that is remembered; of a longer one the beginning."""
MAX_PREFERENCES: Final = 20
"""Most preferences that one state brings in."""
MAX_PREFERENCE_CHARACTERS: Final = 200
PREFERENCES: Final = "preferences"
"""Member of a state whose own members are the user's preferences."""
_NOT_KEPT: Final = "(answered from other people's text, which is not remembered)"


class Distiller:
    """Makes of a run what is remembered of it.

    Args:
        redactor: Takes out what must not be kept.
        max_turns: Most turns of a session.
        max_state_bytes: Largest state of a session, as JSON; a larger one is not remembered.
    """

    def __init__(self, redactor: MemoryRedactor, max_turns: int, max_state_bytes: int) -> None:
        self._redactor = redactor
        self._max_turns = max_turns
        self._max_state_bytes = max_state_bytes

    def session(self, before: SessionMemory, state: RunState) -> SessionMemory:
        """Return a session after a run that came to rest; its summary is still the earlier one.

        Args:
            before: The session as it is known.
            state: The run.
        """
        own = tuple(self._turns(state))
        # A resumed run is distilled again, and a caller may send turns that are remembered already.
        said = {(turn.role, turn.text) for turn in own}
        earlier = [turn for turn in before.turns if turn.run_id != state.run_id and (turn.role, turn.text) not in said]
        answered = state.finished is not None and state.finished.outcome is Outcome.ANSWERED
        return replace(
            before,
            turns=(*earlier, *own)[-self._max_turns :],
            state=before.state if state.task.tainted_context else self._within(_object(state.task.state)),
            snapshot=self._within(self._snapshot(before, state)),
            last_error=None if answered else last_error(state),
            has_tainted_answers=before.has_tainted_answers or (state.is_tainted and state.answer is not None),
            version=before.version + 1,
        )

    def knowledge(self, state: RunState) -> Iterator[KnowledgeEntry]:
        """Yield what a run leaves to its user's later runs: the run itself, and preferences that its state tells."""
        user = state.task.user_id
        if not user:
            return
        text = " · ".join(_said(turn) for turn in self._turns(state) if turn.run_id == state.run_id)
        if text:
            yield KnowledgeEntry(kind=EntryKind.RUN, name=state.run_id, text=text, user_id=user)
        if state.task.tainted_context:
            return
        preferences = self._redactor.state(_object(_object(state.task.state).get(PREFERENCES, None)))
        for name, value in list(preferences.items())[:MAX_PREFERENCES]:
            told = f"{one_line(name)}: {_plain(value)}"[:MAX_PREFERENCE_CHARACTERS]
            yield KnowledgeEntry(kind=EntryKind.PREFERENCE, name=name, text=told, user_id=user)

    def unknown(self, session: SessionMemory, state: RunState) -> tuple[RememberedTurn, ...]:
        """Return the turns of a session that a run's caller did not send along: the others its thoughts read anyway."""
        earlier = [turn for turn in session.turns if turn.run_id != state.run_id]
        sent = {(turn.role, self._text(turn.text)) for turn in state.task.turns} if earlier else set()
        return tuple(turn for turn in earlier if (turn.role, turn.text) not in sent)

    def _turns(self, state: RunState) -> Iterator[RememberedTurn]:
        """Yield the turns that say something: requests, answers, and what was called for them."""
        history = state.task.turns[-2 * self._max_turns - 1 : -1]  # no more could be kept, small talk left out
        yield from _kept(self._remembered(turn) for turn in history if _is_kept(turn, state.task))
        for last in state.task.turns[-1:]:
            turn = self._remembered(last)
            if turn.text and has_action_intent(last.text):
                yield replace(turn, run_id=state.run_id)
        tools = tuple(dict.fromkeys(record.tool for record in state.steps.values() if record.action is not None))
        text = self._answer(state)
        if tools or text:
            yield RememberedTurn(role=Role.ASSISTANT, text=text, tools=tools, run_id=state.run_id)

    def _answer(self, state: RunState) -> str:
        """Return what a run answered, unless other people's text is in it: that must not enter a run unmarked."""
        if state.answer is None:
            return ""
        return _NOT_KEPT if state.is_tainted else self._text(state.answer.text)

    def _remembered(self, turn: Turn) -> RememberedTurn:
        return RememberedTurn(role=turn.role, text=self._text(turn.text))

    def _text(self, text: str) -> str:
        # Redacted first: half of a number is found by no pattern any more.
        return self._redactor.beginning(text)[:MAX_TURN_CHARACTERS]

    def _snapshot(self, before: SessionMemory, state: RunState) -> Mapping[str, JsonValue]:
        """Return what the run's last plan held to be true; nothing of a plan that other people's text may have made."""
        thought = state.thought
        plan = state.plan if state.plan is not None else thought.outcome if thought is not None else None
        if state.is_tainted or not isinstance(plan, ThoughtPlan):
            return before.snapshot
        return {**before.snapshot, **_object(plan.state_snapshot)}

    def _within(self, value: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        try:
            # A store writes it one level deeper, where it may be too deep.
            is_small = len(dumps({"state": dict(value)}).encode()) <= self._max_state_bytes
        except JsonEncodeError:  # what no JSON can hold cannot be remembered either
            is_small = False
        return self._redactor.state(value) if is_small else {}


def last_error(state: RunState) -> ErrorTrace | None:
    """Return the failure of the last step of a run that failed by itself; None where none did."""
    for record in reversed(state.steps.values()):
        fault = record.fault
        if fault is not None and not fault.cause_step_id:
            return ErrorTrace(code=fault.code, tool=record.tool, arguments_sha256=_hash(record))
    return None


def _is_kept(turn: Turn, task: Task) -> bool:
    """Tell whether a turn that the caller sent may be remembered: of a tainted conversation only the user's words."""
    return turn.role is Role.USER or not task.tainted_context


def _kept(turns: Iterable[RememberedTurn]) -> Iterator[RememberedTurn]:
    """Yield a history without small talk: neither a user's, nor what was said to it and did nothing."""
    is_small_talk = False
    for turn in turns:
        if turn.role is Role.USER:
            is_small_talk = not has_action_intent(turn.text)
        if not is_small_talk and turn.text:
            yield turn


def _said(turn: RememberedTurn) -> str:
    called = f" ({', '.join(turn.tools)})" if turn.tools else ""
    return f"{turn.role.value}{called}: {turn.text}"


def _hash(record: StepRecord) -> str:
    if record.action is not None and record.action.arguments_hash:
        return record.action.arguments_hash
    try:
        return digest(record.arguments) if record.arguments is not None and record.arguments is not ABSENT else ""
    except JsonEncodeError:
        return ""


def _object(value: Json) -> Mapping[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _plain(value: JsonValue) -> str:
    return one_line(value) if isinstance(value, str) else dumps(value)
