"""Cases, a model that says what a script says, and who asks it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from taoloop.core.clock import SystemClock
from taoloop.core.exact_json import dumps
from taoloop.evaluation.planning.cases import PlanningCase, Record, case_of
from taoloop.evaluation.planning.models.asking import CaseAsker
from taoloop.models.ports import ChatReply, ModelFailed, TokenUsage
from taoloop.testing.chat.scripted_model import ScriptedChatModel
from taoloop.thought.planners.model.questions import QuestionRules

PLANS = ChatReply(text='{"plan":[[1,"RD-10442"]]}', finish_reason="stop", usage=TokenUsage(900, 20, 640))
REFUSES = ChatReply(text='{"none":true}', finish_reason="stop", usage=TokenUsage(880, 6, 640))


def record(number: int = 1, **changes: object) -> Record:
    made: Record = {
        "id": f"c{number}",
        "category": "simple",
        "lang": "en",
        "source": "made",
        "query": "Which books has reader RD-10442 borrowed?",
        "tools": [
            {
                "name": "list_loans",
                "description": "Books that a reader has borrowed.",
                "parameters": {
                    "type": "object",
                    "properties": {"reader_id": {"type": "string", "description": "Reader number"}},
                    "required": ["reader_id"],
                },
            }
        ],
        "expected": {
            "kind": "plan",
            "steps": [{"id": "s1", "tool": "list_loans", "args": {"reader_id": ["RD-10442"]}, "depends_on": []}],
        },
    }
    return {**made, **changes}


def case(number: int = 1, **changes: object) -> PlanningCase:
    return case_of(record(number, **changes))


def file_of(path: Path, records: Iterable[Record]) -> Path:
    path.write_text("".join(dumps(each) + "\n" for each in records), encoding="utf-8")
    return path


def asker(*replies: str | ChatReply | ModelFailed) -> tuple[CaseAsker, ScriptedChatModel]:
    model = ScriptedChatModel(replies)
    return CaseAsker(model, QuestionRules(), SystemClock(), 30.0), model
