"""One request that needs a call for every member of a list, through every service, the wire and real tools' answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from taoloop.core import exact_json
from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.acting import ServedBy
from taoloop.plan.running import ActionReturned, ItemsGathered, RunFinished, StepStarted
from taoloop.plan.task import Outcome, Role, Task, Turn
from taoloop.plan.thinking import Answer
from taoloop.testing.stack import StackOptions, dev_stack
from taoloop.wire.clients import loop_client

CATALOGUE = """
apiVersion: taoloop.dev/v1
kind: Catalogue
metadata: {name: parcels}
spec:
  bases: {depot: "http://127.0.0.1:8700"}
  tools: tools/*.yaml
"""
BOX = """
apiVersion: taoloop.dev/v1
kind: Tool
metadata: {name: list_parcels}
spec:
  description: Parcels in a box of the depot.
  use_when: the user asks which parcels a box holds
  effect: read
  reach: internal
  trust: trusted
  parameters:
    type: object
    required: [box_id]
    properties: {box_id: {type: string, pattern: "^B[0-9]{4}$", description: "Box, e.g. 'B1234'"}}
  response:
    type: object
    required: [parcels]
    properties:
      parcels:
        type: array
        items: {type: object, required: [parcel_id], properties: {parcel_id: {type: string, pattern: "^P[0-9]{4}$"}}}
  transport: {http: {method: GET, url: "{{base.depot}}/boxes/{box_id}"}}
  timeout: 3s
  samples: [samples/list_parcels/*.json]
"""
PARCEL = """
apiVersion: taoloop.dev/v1
kind: Tool
metadata: {name: get_parcel_position}
spec:
  description: Position of one parcel.
  use_when: the user asks where a parcel is
  effect: read
  reach: internal
  trust: trusted
  parameters:
    type: object
    required: [parcel_id]
    properties: {parcel_id: {type: string, pattern: "^P[0-9]{4}$", description: "Parcel, e.g. 'P1234'"}}
  response:
    type: object
    required: [parcel_id, place]
    properties: {parcel_id: {type: string}, place: {type: string}}
  transport: {http: {method: GET, url: "{{base.depot}}/parcels/{parcel_id}"}}
  timeout: 3s
  answer: {en: "{arguments.parcel_id} is in {data.place}."}
  samples: [samples/get_parcel_position/*.json]
"""
PARCELS = [{"parcel_id": "P0001"}, {"parcel_id": "P0002"}, {"parcel_id": "P0001"}]


def sample(arguments: Any, body: Any) -> str:
    return exact_json.dumps({"request": {"arguments": arguments}, "response": {"status": 200, "body": body}})


def write_catalogue(root: Path) -> Path:
    """Write a catalogue of two tools with the answers that the mock tools give."""
    files = {
        "catalogue.yaml": CATALOGUE,
        "tools/list_parcels.yaml": BOX,
        "tools/get_parcel_position.yaml": PARCEL,
        "samples/list_parcels/default.json": sample({"box_id": "B1234"}, {"parcels": PARCELS}),
        "samples/get_parcel_position/one.json": sample(
            {"parcel_id": "P0001"}, {"parcel_id": "P0001", "place": "hall 3"}
        ),
        "samples/get_parcel_position/two.json": sample(
            {"parcel_id": "P0002"}, {"parcel_id": "P0002", "place": "van 7"}
        ),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


async def test_every_member_of_a_list_gets_its_call_and_equal_ones_share_theirs(tmp_path: Path) -> None:
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-test")
    task = Task(
        turns=(Turn(role=Role.USER, text="What is the position of each parcel in box B1234?"),), time_zone="UTC"
    )
    call = CallContext(deadline=Deadline.after(20.0, SystemClock()))
    async with (
        dev_stack(StackOptions(catalogue=write_catalogue(tmp_path))) as stack,
        loop_client(stack.loop_address, GrpcSettings(), telemetry) as loop,
    ):
        bodies = [event.body async for event in loop.run(task, call)]
        assert stack.mock is not None
        assert dict(stack.mock.calls) == {"list_parcels": 1, "get_parcel_position": 2}
    await telemetry.aclose()

    starts = [body for body in bodies if isinstance(body, StepStarted)]
    assert sorted((start.step_id, start.item_of, start.item) for start in starts) == [
        ("1.t1", "", 0), ("1.t2#0", "1.t2", 0), ("1.t2#1", "1.t2", 1), ("1.t2#2", "1.t2", 2),
    ]  # fmt: skip
    assert {start.step_id: start.same_as for start in starts if start.same_as} == {"1.t2#2": "1.t2#0"}
    served = {
        body.result.step_id: body.result.served_by
        for body in bodies
        if isinstance(body, ActionReturned) and body.result
    }
    assert served["1.t2#2"] is ServedBy.DUPLICATE
    assert [(body.step_id, body.items, body.failed) for body in bodies if isinstance(body, ItemsGathered)] == [
        ("1.t2", 3, ())
    ]
    last = bodies[-1]
    assert isinstance(last, RunFinished)
    assert last.outcome is Outcome.ANSWERED
    assert last.usage is not None
    assert last.usage.tool_calls == 3
    (answer,) = [body for body in bodies if isinstance(body, Answer)]
    assert answer.text == "P0001 is in hall 3.\nP0002 is in van 7.\nP0001 is in hall 3."
    assert answer.data == [
        {"parcel_id": item["parcel_id"], "place": place}
        for item, place in zip(PARCELS, ("hall 3", "van 7", "hall 3"), strict=True)
    ]
