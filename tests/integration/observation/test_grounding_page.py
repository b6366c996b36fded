"""The worked examples of docs/grounding.md say what the check says."""

import re
from pathlib import Path

import pytest

from taoloop.core.exact_json import loads
from taoloop.observation.grounding.checking import check_answer
from taoloop.observation.semantic.model import Candidate, VerdictRefused
from taoloop.observation.semantic.parsing import parse_verdict
from taoloop.plan.answering import CheckAnswerRequest, CheckAnswerResponse, Claim, Evidence

PAGE = Path(__file__).parents[3] / "docs" / "grounding.md"
_EXAMPLE = re.compile(r"```json\n(\{\"text\".*?)```\n+```text\n(.*?)```", re.DOTALL)
_REPLY = re.compile(r"```json\n(\{\"status\".*?)```\n+```text\n(.*?)```", re.DOTALL)
EXAMPLES = _EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
REPLIES = _REPLY.findall(PAGE.read_text(encoding="utf-8"))


def request_of(text: str) -> CheckAnswerRequest:
    value = loads(text)
    assert isinstance(value, dict)
    evidence = value.pop("evidence")
    assert isinstance(evidence, dict)
    fields = {name: str(one) for name, one in value.items()}
    steps = tuple(Evidence(step_id=step_id, exposed=exposed) for step_id, exposed in evidence.items())
    return CheckAnswerRequest(
        text=fields["text"], evidence=steps, locale=fields["locale"], time_zone=fields.get("time_zone", "")
    )


def written(response: CheckAnswerResponse) -> str:
    """Return a verdict as the page writes it: one claim a line."""
    lines = [f"grounded: {str(response.grounded).lower()}", *map(_line, response.claims)]
    return "\n".join(lines) + "\n"


def _line(claim: Claim) -> str:
    assert claim.reason is not None
    place = claim.pointer if claim.supported else f"nearest {claim.candidate} at {claim.candidate_pointer}"
    told = place if claim.supported or claim.candidate else "nothing is like it"
    return f"{'yes' if claim.supported else 'no '} {claim.text} ({claim.reason.value}): {told}"


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) >= 5
    assert len(REPLIES) >= 2


@pytest.mark.parametrize(("request_text", "verdict"), EXAMPLES)
def test_an_example_has_the_verdict_that_the_page_gives(request_text: str, verdict: str) -> None:
    assert written(check_answer(request_of(request_text))) == verdict


@pytest.mark.parametrize(("reply", "outcome"), REPLIES)
def test_a_reply_is_read_as_the_page_says(reply: str, outcome: str) -> None:
    candidate = Candidate(text="The parcel arrives on May 20.", evidence=(Evidence(step_id="1.t1"),))
    try:
        told = parse_verdict(reply, candidate).status.value
    except VerdictRefused as refused:
        told = f"{refused.complaint.code.value} at {refused.complaint.field}"
    assert told == outcome.strip()
