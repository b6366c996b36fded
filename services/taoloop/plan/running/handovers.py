"""What a run hands over to a person: listed, shown with all that is needed, and decided."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import Fault
from taoloop.plan.acting import ActionStatus
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.observing import ConfidenceLevel
from taoloop.plan.running.events import CorrectionMade, HandoverDecision, HandoverOutcome, HandoverRequired
from taoloop.plan.task import ProvidedInput, Turn, Usage
from taoloop.tools.signature import Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class ListHandoversRequest:
    """Wants open handovers."""

    run_id: str = ""
    """Only those of one run; empty for all of the tenant."""
    page_size: int = 0
    """Those of at most this many runs; 0 takes 50."""
    page_token: str = ""
    """Where the page before ended; empty for the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListHandoversResponse:
    """One page of open handovers."""

    handovers: tuple[OpenHandover, ...] = ()
    """The handovers, newest run first."""
    next_page_token: str = ""
    """Where the next page starts; empty on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenHandover:
    """A handover that waits for a person."""

    run_id: str
    """The run."""
    required: HandoverRequired | None = None
    """What has to be taken over, and why."""
    opened_at: datetime | None = None
    """When the run came to rest."""
    request_id: str = ""
    """The caller's id of the run's request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetHandoverRequest:
    """Wants a handover."""

    run_id: str = ""
    """The run."""
    handover_id: str = ""
    """The handover; empty where the run has just one that is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetHandoverResponse:
    """A handover with all that a person needs."""

    handover: Handover | None = None
    """The handover."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """What a person needs who takes over: the task, what was planned, done, found and tried.

    Results are shown as far as their tools' contracts expose them.
    """

    run_id: str
    """The run."""
    required: HandoverRequired | None = None
    """What has to be taken over, and why."""
    opened_at: datetime | None = None
    """When it was handed over."""
    outcome: HandoverOutcome | None = None
    """What became of it; None while it is open."""
    request_id: str = ""
    """The caller's id of the run's request."""
    session_id: str = ""
    """The conversation that the run belongs to; empty for none."""
    turns: tuple[Turn, ...] = ()
    """The conversation, oldest first; the last turn is the request."""
    locale: str = ""
    """BCP 47 tag of the user's language."""
    inputs: tuple[ProvidedInput, ...] = ()
    """Values that the user gave when asked."""
    plan: ThoughtPlan | None = None
    """The plan that was being carried out; None when there was none."""
    steps: tuple[HandoverStep, ...] = ()
    """Every step so far, with what came of it."""
    corrections: tuple[CorrectionMade, ...] = ()
    """What was tried against failures, in order."""
    time_line: tuple[HandoverMoment, ...] = ()
    """What happened, in order."""
    usage: Usage | None = None
    """What the run consumed."""
    others: tuple[HandoverRequired, ...] = ()
    """The other handovers of the run that are open."""
    suggestions: tuple[str, ...] = ()
    """What the person may do next, as commands and in words."""
    output_schema: Json = ABSENT
    """JSON Schema that the data of an answer must fit; absent where the task wants its answer as text alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverStep:
    """A step of a run that is handed over."""

    step_id: str
    """The step's id."""
    tool: str
    """The tool's name."""
    arguments: Json = ABSENT
    """What it was called with; absent when it was not."""
    status: ActionStatus | None = None
    """What came of the call; None when there was none."""
    is_valid: bool = False
    """Whether the result may be used."""
    exposed: Json = ABSENT
    """Of the result, what its tool's contract exposes."""
    confidence: float = 0.0
    """How far the result is to be trusted, 0 to 1."""
    confidence_level: ConfidenceLevel | None = None
    """The same in a word."""
    trust: Trust | None = None
    """Whose words the result holds."""
    fault: Fault | None = None
    """Why it failed; None when it did not."""
    effect_id: str = ""
    """The entry of a call that writes in the ledger of effects; empty for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverMoment:
    """One thing that happened in a run."""

    sequence: int
    """Number of its event."""
    time: datetime | None = None
    """When it was written."""
    text: str = ""
    """What happened, in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideHandoverRequest:
    """What a person made of a handover."""

    request_id: str = ""
    """Unique for the decision: a repeat returns the first reply."""
    run_id: str = ""
    """The run."""
    handover_id: str = ""
    """The handover; empty where the run has just one that is open."""
    decision: HandoverDecision
    """The decision."""
    decided_by: str = ""
    """Who decided."""
    comment: str = ""
    """Why, for the record and for the next thought; at most 4096 characters."""
    answer_text: str = ""
    """The answer's text, for ANSWERED and for nothing else; at most 65536 characters."""
    answer_data: Json = ABSENT
    """The answer as data, for ANSWERED where the task has an output schema, which it must fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideHandoverResponse:
    """What holds."""

    run_id: str = ""
    """The run."""
    next_sequence: int = 0
    """Sequence number of the next event, for `Watch`."""
    outcome: HandoverOutcome | None = None
    """What holds now; an earlier decision stands."""
