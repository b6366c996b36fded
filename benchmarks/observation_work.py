"""One observation two ways: through our core, and by the plain Python libraries that do the same work."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import jsonschema
from json_logic import jsonLogic
from ruamel.yaml import YAML

from taoloop.core.exact_json import JsonValue, loads
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.observer import Observer
from taoloop.observation.ports import FixedCatalogue
from taoloop.plan.acting import ActionResult, ActionStatus, Body
from taoloop.plan.observing import ObserveRequest
from taoloop.tools.served_catalogue import read_catalogue

CATALOGUE: Final = Path(__file__).parent / "observed"
TOOL: Final = "track_parcel"
ARGUMENTS: Final[dict[str, JsonValue]] = {"parcel_id": "P-204113"}
BODY: Final = json.dumps(
    {
        "parcel_id": "P-204113",
        "state": "IN_TRANSIT",
        "state_since": "2026-03-11T09:40:12+08:00",
        "eta": "2026-03-14T18:00:00+08:00",
        "shipped_on": "2026-03-10",
        "carrier": "SF Express",
        "service": "EXPRESS",
        "amount": 1289.50,
        "currency": "CNY",
        "customer": {"name": "Li Wei", "city": "Hangzhou", "level": 3},
        "events": [
            {
                "at": f"2026-03-1{day}T0{day}:15:00+08:00",
                "place": place,
                "code": 100 + day,
                "note": "Scanned, on its way.",
            }
            for day, place in enumerate(("Hangzhou", "Suzhou", "Shanghai", "Nantong", "Xuzhou", "Jinan", "Tianjin"))
        ],
    },
    separators=(",", ":"),
)
"""A kilobyte, as a tool answers it."""


class WrongVerdict(RuntimeError):
    """A side did not find the body valid: what it cost says nothing."""


def our_core() -> Callable[[], None]:
    """Return one observation from the body's text to the verdict with its trail, as the service does it."""
    observer = Observer(FixedCatalogue(read_catalogue(CATALOGUE)), ObservationPolicy())
    text, arguments = BODY, dict(ARGUMENTS)

    def observe() -> None:
        result = ActionResult(
            step_id="1.t1",
            tool=TOOL,
            status=ActionStatus.SUCCEEDED,
            status_code=200,
            response_time_seconds=0.04,
            parsed=loads(text),
            body=Body(size_bytes=len(text)),
        )
        verdict = observer.observe(ObserveRequest(result=result, arguments=arguments))
        if not verdict.valid:
            raise WrongVerdict(str(verdict.failures))

    return observe


def plain_python() -> Callable[[], None]:
    """Return the same checks by json, jsonschema and panzi-json-logic, everything compiled that can be compiled."""
    contract: Any = YAML(typ="safe", pure=True).load(CATALOGUE / "tools" / f"{TOOL}.yaml")
    spec = contract["spec"]
    validator = jsonschema.Draft202012Validator(
        spec["response"], format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    rules = [(rule["id"], rule["when"]) for rule in spec["observe"]["rules"]]
    enums = {rule["field"][1:]: rule["enum"] for rule in spec["observe"]["normalise"] if "enum" in rule}
    shanghai = ZoneInfo("Asia/Shanghai")
    text, arguments = BODY, dict(ARGUMENTS)

    def observe() -> None:
        body = json.loads(text)
        trail = ["status_2xx", "body_json", "not_empty"]
        if next(validator.iter_errors(body), None) is not None:
            raise WrongVerdict("schema")
        trail.append("schema_valid")
        data = dict(body)
        for field, mapping in enums.items():
            data[field] = mapping[data[field]]
        data["parcel_state"] = data.pop("state")
        data["eta"] = datetime.fromisoformat(data["eta"]).astimezone(UTC).isoformat()
        data["since"] = datetime.fromisoformat(data.pop("state_since")).astimezone(UTC).isoformat()
        data["shipped_on"] = datetime.fromisoformat(data["shipped_on"]).replace(tzinfo=shanghai).date().isoformat()
        trail.append("normalised")
        scope = {"status_code": 200, "body": body, "data": data, "arguments": arguments}
        for rule_id, rule in rules:
            if not jsonLogic(rule, scope):
                raise WrongVerdict(rule_id)
            trail.append(f"rule_{rule_id}")

    return observe
