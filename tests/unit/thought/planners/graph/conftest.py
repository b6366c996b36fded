"""The catalogue of a small public library, and requests to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT, Json
from taoloop.plan.task import Permissions, ProvidedInput, Role, ToolAvailability, Turn
from taoloop.plan.thinking import CompletedStep, ThinkRequest
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import Effect, Reach, ToolSignature, Trust

READER_ID = {"type": "string", "pattern": "^RD-[0-9]{5}$", "description": "Reader number, 读者证号, e.g. 'RD-10442'"}
COPY_ID = {"type": "string", "pattern": "^C[0-9]{6}$", "description": "Number of one copy, 馆藏号"}


def _object(required: str, **properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": required.split(),
        "additionalProperties": False,
        "properties": {name: dict(schema) for name, schema in properties.items()},
    }


SIGNATURES = (
    ToolSignature(
        name="find_reader",
        description="Registered reader of the library, found by e-mail address.",
        use_when="the user gives an address and asks who the reader is; 查读者，读者信息",
        parameters=_object("email", email={"type": "string", "format": "email", "description": "邮箱"}),
        returns=_object("reader_id", reader_id=READER_ID, name={"type": "string"}),
        trust=Trust.TRUSTED,
    ),
    ToolSignature(
        name="list_loans",
        description="Books that a reader has borrowed in a period.",
        use_when="the user asks about loans; 查借阅，借了哪些书，借阅记录",
        parameters=_object(
            "reader_id period",
            reader_id=READER_ID,
            period={"type": "string", "format": "date-range", "description": "Period, 时间范围"},
        ),
        returns=_object("count", count={"type": "integer"}),
        trust=Trust.TRUSTED,
    ),
    ToolSignature(
        name="find_copy",
        description="A copy of a book on the shelves, by its ISBN.",
        use_when="the user asks where a book stands; 查馆藏，书在哪个书架",
        parameters=_object(
            "isbn",
            isbn={"type": "integer", "minimum": 10**12, "maximum": 10**13 - 1, "description": "ISBN number, 书号"},
        ),
        returns=_object("copy_id", copy_id=COPY_ID, shelf={"type": "string"}),
        trust=Trust.TRUSTED,
    ),
    ToolSignature(
        name="reserve_copy",
        description="Reserve one copy for a reader to pick up on a day.",
        use_when="the user wants to reserve a book; 预约图书，预约馆藏",
        effect=Effect.WRITE,
        parameters=_object(
            "copy_id pick_up_on",
            copy_id=COPY_ID,
            pick_up_on={"type": "string", "format": "date", "description": "Day of pick-up, 取书日期"},
            weeks={"type": "integer", "minimum": 1, "maximum": 8, "description": "How many weeks it is kept, 周数"},
        ),
        returns=_object("reservation_id", reservation_id={"type": "string"}),
        trust=Trust.TRUSTED,
    ),
    ToolSignature(
        name="opening_hours",
        description="Opening hours of a branch on a day.",
        use_when="the user asks when a branch opens; 开放时间，几点开门",
        parameters=_object(
            "branch day",
            branch={"type": "string", "enum": ["North", "South", "城北", "城南"], "description": "Branch, place, 分馆"},
            day={"type": "string", "format": "date", "description": "Day, 日期"},
        ),
        returns=_object("opens", opens={"type": "string"}),
        trust=Trust.TRUSTED,
    ),
    ToolSignature(
        name="transfer_route",
        description="Van route between two depots.",
        use_when="the user asks how the van drives; 班车路线",
        parameters=_object(
            "from_depot to_depot",
            from_depot={"type": "string", "enum": ["A1", "B2", "C3"], "description": "Depot of departure"},
            to_depot={"type": "string", "enum": ["A1", "B2", "C3"], "description": "Depot of arrival"},
        ),
        returns=_object("minutes", minutes={"type": "integer"}),
        trust=Trust.TRUSTED,
    ),
    ToolSignature(
        name="notify_reader",
        description="Send a note by e-mail to a reader.",
        use_when="the user wants to send a note; 发送通知",
        effect=Effect.WRITE,
        reach=Reach.OUTWARD,
        parameters=_object(
            "email text",
            email={"type": "string", "format": "email", "description": "Address, 邮箱"},
            text={"type": "string", "minLength": 1, "description": "Text of the note", "x-taoloop-source": ["query"]},
        ),
        returns=_object("note_id", note_id={"type": "string"}),
        trust=Trust.TRUSTED,
    ),
)

MakeRequest = Callable[..., ThinkRequest]


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return Catalogue.from_signatures(SIGNATURES, name="library")


@pytest.fixture(scope="session")
def planner(catalogue: Catalogue) -> GraphPlanner:
    return GraphPlanner(catalogue)


@pytest.fixture(scope="session")
def ask() -> MakeRequest:
    def make(
        text: str,
        *,
        iteration: int = 1,
        state: Json = ABSENT,
        max_effect: Effect = Effect.WRITE,
        allowed_tools: tuple[str, ...] = (),
        inputs: tuple[ProvidedInput, ...] = (),
        completed: tuple[CompletedStep, ...] = (),
        availability: tuple[ToolAvailability, ...] = (),
        locale: str = "",
    ) -> ThinkRequest:
        return ThinkRequest(
            run_id="0" * 32,
            iteration=iteration,
            turns=(Turn(role=Role.USER, text=text),),
            state=state,
            reference_time=datetime(2026, 3, 10, 1, 0, tzinfo=UTC),  # a Tuesday
            time_zone="Asia/Shanghai",
            locale=locale,
            permissions=Permissions(max_effect=max_effect, allowed_tools=allowed_tools),
            inputs=inputs,
            completed=completed,
            availability=availability,
        )

    return make
