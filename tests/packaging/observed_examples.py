"""Examples in docs/observation.md: fields of a contract, a reply, and what the observation says of it.

`python -m tests.packaging.observed_examples` writes what it says anew.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from taoloop.core.exact_json import ABSENT, dumps, loads
from taoloop.observation.grounding.checking import check_answer
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.observer import Observer
from taoloop.observation.ports import FixedCatalogue
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.answering import CheckAnswerRequest, Claim, Evidence
from taoloop.plan.observing import CheckFailure, ObservationResult, ObserveRequest
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.loading import load_catalogue
from taoloop.tools.loading.yaml_source import read_text
from taoloop.tools.signature import Trust
from tests.packaging import checkout
from tests.unit.tools.contracts import document

PAGE = checkout.ROOT / "docs" / "observation.md"
_BLOCK = re.compile(r"^```(?P<language>yaml|json|text)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
_TOOL = "get_order"


class Example(NamedTuple):
    """One reply and the contract above it.

    Attributes:
        contract: The fields of the contract.
        reply: The reply, and what was asked for and expected.
        said: What the page says of it.
        place: Where that stands in the page.
    """

    contract: str
    reply: str
    said: str
    place: tuple[int, int]


def examples(text: str) -> Iterator[Example]:
    """Yield the examples of the page: a block of text after one of JSON belongs to it."""
    contract = reply = ""
    for block in _BLOCK.finditer(text):
        if block["language"] == "yaml":
            contract = block["text"]
        elif block["language"] == "json":
            reply = block["text"]
        else:
            yield Example(contract, reply, block["text"], block.span("text"))


def said_of(example: Example) -> str:
    """Return what the observation says, as the page writes it."""
    reply: Any = loads(example.reply)
    if "answer" in reply:
        return _answer(reply)
    written: Any = read_text(example.contract, PAGE).value
    catalogue = _catalogue(written.pop("vocabularies", {}), written)
    body = {"parsed": reply["body"]} if "body" in reply else {}
    result = ActionResult(
        step_id="1.t1",
        tool=_TOOL,
        status=ActionStatus.SUCCEEDED,
        status_code=reply.get("status_code", 200),
        response_time_seconds=float(reply.get("response_time_seconds", 0)),
        trust=Trust.TRUSTED,
        **body,
    )
    request = ObserveRequest(
        result=result,
        arguments=reply.get("arguments", ABSENT),
        expect=reply.get("expect", ABSENT),
        projection=reply.get("projection", ""),
    )
    return "\n".join(_lines(Observer(FixedCatalogue(catalogue), ObservationPolicy()).observe(request))) + "\n"


def _catalogue(vocabularies: Mapping[str, Any], written: Mapping[str, Any]) -> Catalogue:
    contract = document(_TOOL, spec__response=True, spec__observe={}, spec__trust="trusted")
    contract["spec"] |= written
    head = {"apiVersion": "taoloop.dev/v1", "kind": "Catalogue", "metadata": {"name": "page"}}
    spec = {"bases": {"orders": "http://127.0.0.1:1"}, "tools": "*.tool.yaml", "vocabularies": dict(vocabularies)}
    with tempfile.TemporaryDirectory() as directory:
        for name, value in (("catalogue.yaml", {**head, "spec": spec}), ("one.tool.yaml", contract)):
            (Path(directory) / name).write_text(dumps(value), encoding="utf-8")
        loaded = load_catalogue(Path(directory))
    if loaded.catalogue is None:
        raise ValueError(str(loaded.findings))
    return loaded.catalogue


def _lines(verdict: ObservationResult) -> Iterator[str]:
    level = f" ({verdict.confidence_level.value})" if verdict.confidence_level else ""
    yield f"{'valid' if verdict.valid else 'not valid'}, confidence {verdict.confidence:.2f}{level}"
    if verdict.data is not ABSENT:
        yield f"data {dumps(verdict.data)}"
    if verdict.exposed is not ABSENT and verdict.exposed != verdict.data:
        yield f"exposed {dumps(verdict.exposed)}"
    for failure in verdict.failures:
        yield _failure(failure)
    if verdict.fault is not None:
        yield f"fault {verdict.fault.code}{_listed(', candidates ', verdict.fault.candidates)}"
        yield f"next {verdict.suggested_next}"
    for drift in verdict.drift:
        yield f"drift {drift.kind.value} {drift.pointer} {dumps(drift.value)}"
    if verdict.valid:
        yield "passed " + ", ".join(verdict.audit_trail)


def _failure(failure: CheckFailure) -> str:
    place = f" at {failure.pointer}" if failure.pointer else ""
    actual = "" if failure.actual is ABSENT else f" Found {dumps(failure.actual)}."
    soft = "" if failure.hard else " (soft)"
    return f"{failure.stage} {failure.rule_id}{place}{soft}: {failure.message}{actual}"


def _listed(before: str, values: tuple[str, ...]) -> str:
    return before + ", ".join(values) if values else ""


def _answer(reply: Any) -> str:
    evidence = (Evidence(step_id="1.t1", exposed=reply["evidence"]),)
    checked = check_answer(CheckAnswerRequest(text=reply["answer"], evidence=evidence, locale=reply["locale"]))
    return f"grounded {str(checked.grounded).lower()}\n" + "".join(map(_claim, checked.claims))


def _claim(claim: Claim) -> str:
    if claim.supported:
        return f"yes {claim.text} at {claim.pointer}\n"
    return f"no  {claim.text}" + (
        f", nearest {claim.candidate} at {claim.candidate_pointer}\n" if claim.candidate else "\n"
    )


def written_anew(text: str) -> str:
    """Return the page with what is said in every example as it is now."""
    for example in reversed(list(examples(text))):
        start, end = example.place
        text = text[:start] + said_of(example) + text[end:]
    return text


if __name__ == "__main__":
    PAGE.write_text(written_anew(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
