"""One observation two ways: through our core, and by the plain Python libraries that do the same work."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import cycle
from pathlib import Path
from typing import Any, Final

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


def _arguments(number: int) -> dict[str, JsonValue]:
    return {"parcel_id": f"P-{204113 + number}"}


def _body(number: int) -> str:
    """Return a kilobyte as a tool answers it; other numbers give other values of every kind, and the same verdict."""
    parcel: dict[str, object] = {
        **_arguments(number),
        "state": ("IN_TRANSIT", "EN_ROUTE", "DELIVERED")[number % 3],
        "state_since": f"2026-03-11T09:{40 + number}:12+08:00",
        "eta": f"2026-03-14T{8 + number % 12:02d}:{number:02d}:00+08:00",
        "shipped_on": f"2026-03-{10 - number % 8:02d}",
        "carrier": ("SF Express", "Deppon", "YTO Express")[number % 3],
        "service": ("EXPRESS", "STANDARD")[number % 2],
        "amount": f"1,{289 + number}.{50 + number}",
        "discount": f"{12 + number % 5}.{number % 10}%",
        "weight_kg": 2.35 + number,
        "currency": ("CNY", "EUR", "USD")[number % 3],
        "customer": {"name": ("Li Wei", "Wang Fang")[number % 2], "city": "Hangzhou", "level": number % 9},
        "events": [
            {
                "at": f"2026-03-1{day}T0{day}:{15 + number}:00+08:00",
                "place": place,
                "code": 100 + day + number,
                "note": "Scanned, on its way.",
            }
            for day, place in enumerate(("Hangzhou", "Suzhou", "Shanghai", "Nantong", "Xuzhou", "Jinan", "Tianjin"))
        ],
    }
    return json.dumps(parcel, separators=(",", ":"))


ARGUMENTS: Final = _arguments(0)
BODY: Final = _body(0)
ITEMS: Final = tuple((_body(number), _arguments(number)) for number in range(16))
"""What the cores take turns with, so that none works on one body all the time."""


class WrongVerdict(RuntimeError):
    """A side did not find the body valid: what it cost says nothing."""


def our_core() -> Callable[[], None]:
    """Return one observation from the body's text to the verdict with its trail, as the service does it."""
    observer = Observer(FixedCatalogue(read_catalogue(CATALOGUE)), ObservationPolicy())
    items = cycle(ITEMS)

    def observe() -> None:
        text, arguments = next(items)
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
    """Return the same work by json, jsonschema and panzi-json-logic, everything compiled that can be compiled.

    It is written for this contract alone: each normaliser reads the one spelling that the tool has. What only ours does
    is left out: drift, redaction, the words of the tool, bounds on size.
    """
    spec: Any = _yaml(CATALOGUE / "tools" / f"{TOOL}.yaml")["spec"]
    vocabulary = _yaml(CATALOGUE / "catalogue.yaml")["spec"]["vocabularies"]["parcel_states"]
    states = {word: ours for ours, words in vocabulary.items() for word in words}
    validator = jsonschema.Draft202012Validator(
        spec["response"], format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    rules = [(rule["id"], rule["when"], rule.get("severity", "hard")) for rule in spec["observe"]["rules"]]
    exposed = [pointer[1:] for pointer in spec["observe"]["expose"]]
    items = cycle(ITEMS)

    def observe() -> None:
        text, arguments = next(items)
        body = json.loads(text, parse_float=Decimal, object_pairs_hook=_without_repeats)
        trail = ["status_2xx", "body_parsed", "not_empty"]
        if next(validator.iter_errors(body), None) is not None:
            raise WrongVerdict("schema")
        trail.append("schema_valid")
        data = dict(body)
        data["parcel_state"] = states[data.pop("state")]
        data["carrier_name"] = data.pop("carrier")
        data["amount"] = _amount(data["amount"])
        data["discount"] = _percentage(data["discount"])
        data["eta"] = datetime.fromisoformat(data["eta"]).astimezone(UTC).isoformat()
        data["shipped_on"] = date.fromisoformat(data["shipped_on"]).isoformat()
        trail.append("normalised")
        scope = {"status_code": 200, "body": body, "data": data, "arguments": arguments}
        passed: dict[str, list[bool]] = {"hard": [], "soft": []}
        for rule_id, rule, severity in rules:
            passed[severity].append(bool(jsonLogic(rule, scope)))
            trail.append(f"rule_{rule_id}")
        if not all(passed["hard"]):
            raise WrongVerdict("rules")
        verdict = {
            "valid": True,
            "data": data,
            "exposed": {name: data[name] for name in exposed if name in data},
            "omitted": [f"/{name}" for name in data if name not in exposed],
            "confidence": (0.6 + 0.3 * sum(passed["soft"]) / len(passed["soft"])) / 0.9,
            "audit_trail": trail,
        }
        if not verdict["valid"]:
            raise WrongVerdict(str(verdict))

    return observe


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise WrongVerdict("a key is repeated")
    return members


def _amount(text: str) -> Decimal:
    if _AMOUNT.fullmatch(text) is None:
        raise WrongVerdict("amount")
    return Decimal(text.replace(",", "")).quantize(_CENT)


def _percentage(text: str) -> Decimal:
    if _PERCENTAGE.fullmatch(text) is None:
        raise WrongVerdict("percentage")
    return Decimal(text[:-1])


_AMOUNT: Final = re.compile(r"-?[0-9]{1,3}(?:,?[0-9]{3})*(?:\.[0-9]{1,2})?")
_PERCENTAGE: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?%")
_CENT: Final = Decimal("0.01")


def _yaml(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path)
