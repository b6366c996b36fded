"""The client library for Python backends: runs, their events, and what persons decide about them.

Start with `AsyncClient`, or with `Client` in a program without an event loop. What the calls take and return is here
too; every error is a `TaoError`, whose `reason` names its one cause.
"""

from taoloop.client.async_client import AsyncClient, user_says
from taoloop.client.results import RunResult
from taoloop.client.settings import ClientSettings
from taoloop.client.sync_client import Client
from taoloop.core.errors import (
    BackendUnavailable,
    BudgetExhausted,
    ConfigurationError,
    DeadlineExceeded,
    FeatureNotServed,
    FieldViolation,
    InternalError,
    InvalidRequest,
    MessageTooLarge,
    NotReady,
    NotWaiting,
    PermissionDenied,
    QueueFull,
    RequestIdReused,
    RunConflict,
    TaoError,
    Unauthenticated,
    UnknownHandover,
    UnknownRun,
)
from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.handovers import Handover, OpenHandover
from taoloop.plan.running import (
    ActionReturned,
    ApprovalExpiring,
    ApprovalRequired,
    CorrectionMade,
    HandoverDecision,
    HandoverOutcome,
    HandoverRequired,
    InputRequired,
    LimitReached,
    ResultObserved,
    RunEvent,
    RunFinished,
    RunResumed,
    RunStarted,
    RunSummary,
    StepSkipped,
    StepStarted,
    SubmitResponse,
    ThoughtMade,
    WaitingBegan,
)
from taoloop.plan.task import InputField, Limits, Outcome, Permissions, Priority, Role, Task, Turn, Usage
from taoloop.plan.thinking import Answer
from taoloop.tools.signature import Effect

__all__ = [
    "ABSENT",
    "ActionReturned",
    "Answer",
    "ApprovalDecision",
    "ApprovalExpiring",
    "ApprovalRequired",
    "AsyncClient",
    "BackendUnavailable",
    "BudgetExhausted",
    "Client",
    "ClientSettings",
    "ConfigurationError",
    "CorrectionMade",
    "DeadlineExceeded",
    "Effect",
    "Fault",
    "FaultCode",
    "FeatureNotServed",
    "FieldViolation",
    "Handover",
    "HandoverDecision",
    "HandoverOutcome",
    "HandoverRequired",
    "InputField",
    "InputRequired",
    "InternalError",
    "InvalidRequest",
    "LimitReached",
    "Limits",
    "MessageTooLarge",
    "NotReady",
    "NotWaiting",
    "OpenHandover",
    "Outcome",
    "PermissionDenied",
    "Permissions",
    "Priority",
    "QueueFull",
    "RequestIdReused",
    "ResultObserved",
    "Role",
    "RunConflict",
    "RunEvent",
    "RunFinished",
    "RunResult",
    "RunResumed",
    "RunStarted",
    "RunSummary",
    "StepSkipped",
    "StepStarted",
    "SubmitResponse",
    "TaoError",
    "Task",
    "ThoughtMade",
    "Turn",
    "Unauthenticated",
    "UnknownHandover",
    "UnknownRun",
    "Usage",
    "WaitingBegan",
    "user_says",
]
