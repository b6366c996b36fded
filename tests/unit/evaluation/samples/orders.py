"""A contract of one tool, its samples on disk and its observer, which the tests of this folder share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from taoloop.core import exact_json
from taoloop.evaluation.samples.exchanges import RecordedObserver
from taoloop.testing.clock import FakeClock
from taoloop.tools.loading import load_catalogue
from tests.unit.tools.contracts import document, write_catalogue

RULES = [
    {"id": "cheap", "severity": "soft", "when": {"<": [{"var": "body.fee"}, 10]}},
    {
        "id": "shipped_has_eta",
        "severity": "hard",
        "when": {"or": [{"!=": [{"var": "data.status"}, "shipped"]}, {"!!": [{"var": "body.eta"}]}]},
    },
]
OBSERVE = {
    "normalise": [{"field": "/state", "to": "/status", "enum": {"S": "shipped", "D": "delivered"}}],
    "rules": RULES,
}
RESPONSE = {
    "type": "object",
    "required": ["state"],
    "properties": {
        "ok": {"type": "boolean"},
        "state": {"type": "string"},
        "eta": {"type": "string"},
        "fee": {"type": "number"},
        "phone": {"type": "string", "pattern": "^1[3-9][0-9]{9}$"},
        "note": {"type": "string"},
    },
}
ERRORS = [{"when": {"===": [{"var": "status_code"}, 404]}, "code": "NOT_FOUND", "retriable": False}]
GOOD: dict[str, Any] = {"state": "S", "eta": "tomorrow", "fee": 1}


def contract(**changes: Any) -> dict[str, Any]:
    """Return the contract, with these changes."""
    given = {
        "spec__observe": OBSERVE,
        "spec__response": RESPONSE,
        "spec__errors": ERRORS,
        "spec__samples": ["samples/*.json"],
        "spec__success": {"!==": [{"var": "body.ok"}, False]},
    }
    return document(**{**given, **changes})


def sample(body: Any = None, status: int = 200, **more: Any) -> dict[str, Any]:
    """Return a sample in its JSON form."""
    return {"request": {"arguments": {"order_id": "A-1001"}}, "response": {"status": status, "body": body}, **more}


def write(directory: Path, *samples: Any, **changes: Any) -> Path:
    """Write the catalogue with these samples, named 0.json and so on."""
    write_catalogue(directory, contract(**changes))
    (directory / "samples").mkdir(exist_ok=True)
    for index, each in enumerate(samples):
        (directory / "samples" / f"{index}.json").write_text(exact_json.dumps(each))
    return directory


def observer(directory: Path) -> RecordedObserver:
    """Return the observer of a catalogue whose samples need not be right."""
    loaded = load_catalogue(directory, are_samples_judged=False)
    assert loaded.sound is not None, loaded.findings
    assert len(loaded.sound), loaded.findings
    return RecordedObserver(loaded.sound, FakeClock())
