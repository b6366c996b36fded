"""What is found by the loop itself, and in its answers."""

from __future__ import annotations

from typing import Final

from taoloop.core.faults.sentences import Sentences

CODES: Final = {
    "LIMIT_REACHED": Sentences(
        "The run has used up one of its limits.",
        "Raise the limit, or ask for less in one run.",
    ),
    "LOOP_DETECTED": Sentences(
        "The same call gave the same result three times.",
        "Plan another way; the call will not change.",
    ),
    "UPSTREAM_STEP_FAILED": Sentences(
        "A step that this one depends on did not succeed, so this one was not called.",
        "Mend the step that the fault names as its cause.",
    ),
    "CONDITION_NOT_MET": Sentences(
        "The step's own condition, or that of a step that it builds on, was false; this is no failure.",
        "Nothing: the plan goes on without the step.",
    ),
    "CONDITION_UNDECIDED": Sentences(
        "Whether the step is to run hangs on a value that is missing, or its condition could not be judged.",
        "Let the condition read values that are always there, or allow for their absence.",
    ),
    "TOO_MANY_ITEMS": Sentences(
        "The list that a step runs over is longer than the plan allows, or is no list.",
        "Ask for fewer items, or allow for more of them in the plan.",
    ),
    "AMBIGUOUS_RESULT": Sentences(
        "A result fits more than one call, so it was refused.",
        "The sender marks each result with the id of its call.",
    ),
    "RESULT_DOUBTFUL": Sentences(
        "The result passed every check, and its confidence is too low to answer with it alone.",
        "Compare it with another source, or let a person decide.",
    ),
    "SOURCES_DISAGREE": Sentences(
        "Two sources gave different values for the same fields.",
        "A person decides which of them is right; the owner of the wrong one corrects it.",
    ),
    "CANCELLED": Sentences(
        "The caller cancelled the run.",
        "Start another run if the answer is still wanted.",
    ),
    "DEADLINE_EXCEEDED": Sentences(
        "The time of the run or of the step is used up.",
        "Give more time, or ask for less in one run.",
    ),
    "SERVICE_UNAVAILABLE": Sentences(
        "A service of taoloop did not answer.",
        "Retry the run later; the operator looks at the service.",
    ),
    "DECISION_BY_PERSON_NEEDED": Sentences(
        "The loop may not or cannot decide this by itself.",
        "A person decides, with the events of the run at hand.",
    ),
    "ANSWER_UNGROUNDED": Sentences(
        "The answer holds a number, an id or a date that no observation has.",
        "Give the facts of the observations instead.",
    ),
}
