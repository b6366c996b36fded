"""What a tool says about a job, read by the pointers and words of its contract and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue
from taoloop.tools.contract import JobState, JobTransport

LONGEST_ID: Final = 1024
"""Characters of a job's id; a longer one is no name but content in the wrong place."""


class JobProtocolError(ValueError):
    """An answer about a job is not of the declared form.

    It is final: asking again would hide it, and wait for a state that never comes.

    Attributes:
        message: What is wrong, in one sentence that holds nothing of the answer.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class Created:
    """The answer to a creation.

    Attributes:
        job_id: The job's name, a text even if the tool writes a number.
        state: Where the job stands already.
    """

    job_id: str
    state: JobState


def read_created(form: JobTransport, body: JsonValue) -> Created:
    """Read the answer to a creation, by `id` and `created_status`.

    Raises:
        JobProtocolError: A field is missing, empty or in the wrong place, or the state unknown.
    """
    job_id = _read_id(body, form.id, "creation")
    if form.created_status is None:
        return Created(job_id, JobState.PENDING)
    return Created(job_id, _read_state(form, body, form.created_status, "creation"))


def read_queried(form: JobTransport, body: JsonValue, job_id: str, before: JobState) -> JobState:
    """Read the answer to a query, by `queried_id` and `status`.

    A job may go back from running to pending, since a queue takes it back from a worker that died; what was over
    stays as it was.

    Args:
        form: The declared form.
        body: The answer.
        job_id: The job that was asked about.
        before: Its last known state.

    Raises:
        JobProtocolError: A field is missing, empty or in the wrong place, the state unknown or impossible after
            the one before, or the answer is about another job.
    """
    if form.queried_id is not None and _read_id(body, form.queried_id, "query") != job_id:
        raise JobProtocolError("The answer to the query is about another job.")
    state = _read_state(form, body, form.status, "query")
    if before.is_final and state is not before:
        raise JobProtocolError(f"The job was {before} and is said to be {state} now.")
    return state


def read_result(form: JobTransport, body: JsonValue) -> JsonValue:
    """Return the result in the answer about a job that succeeded.

    Raises:
        JobProtocolError: There is nothing at `result`.
    """
    return _at(body, form.result, "query", "result")


def _read_id(body: JsonValue, place: str, answer: str) -> str:
    value = _at(body, place, answer, "id of the job")
    is_number = isinstance(value, int) and not isinstance(value, bool)
    text = str(value) if is_number else value
    if not isinstance(text, str):
        raise JobProtocolError(f"The id of the job at {place} of the {answer} is neither a text nor an integer.")
    if not text.strip() or len(text) > LONGEST_ID:
        raise JobProtocolError(f"The id of the job at {place} of the {answer} is empty or too long.")
    return text


def _read_state(form: JobTransport, body: JsonValue, place: str, answer: str) -> JobState:
    word = _at(body, place, answer, "state of the job")
    for state, words in form.states.items():
        # True equals 1 and 1.0 equals 1 in Python; in an answer they are different words.
        if any(type(word) is type(known) and word == known for known in words):
            return state
    raise JobProtocolError(f"The state of the job at {place} of the {answer} is none that the contract knows.")


def _at(body: JsonValue, place: str, answer: str, what: str) -> JsonValue:
    try:
        return pointers.lookup(body, place)
    except pointers.PointerNotFound:
        raise JobProtocolError(f"The answer to the {answer} has no {what} at {place}.") from None
