"""What is found while a result is checked."""

from __future__ import annotations

from typing import Final

from taoloop.core.faults.sentences import Sentences

CODES: Final = {
    "STATUS_FAILED": Sentences(
        "The action did not succeed, so its body was not judged.",
        "Read the cause in the action's own fault.",
    ),
    "SUCCESS_RULE_FAILED": Sentences(
        "The body says that the tool failed, by the contract's success rule.",
        "Read the body's error, and plan without this result.",
    ),
    "EMPTY_RESULT": Sentences(
        "The tool succeeded and returned nothing, which the contract calls a failure.",
        "Check the arguments, or tell the user that there is nothing.",
    ),
    "SCHEMA_VIOLATION": Sentences(
        "The body breaks the contract's response schema.",
        "Plan without this result; the owner of the contract or of the tool corrects it.",
    ),
    "RULE_FAILED": Sentences(
        "A rule of the contract does not hold for the data.",
        "Plan without this result, or cross-check it with another tool.",
    ),
    "RULE_INDETERMINATE": Sentences(
        "A rule of the contract compares something that is missing or null.",
        "Cross-check with another tool; the owner of the contract handles the missing value.",
    ),
    "RULE_ERROR": Sentences(
        "A rule of the contract could not be evaluated.",
        "The owner of the contract corrects the rule.",
    ),
    "NORMALISATION_REFUSED": Sentences(
        "A field has more than one reading, or none.",
        "The owner of the contract says how such a value is read.",
    ),
    "CONSISTENCY_BROKEN": Sentences(
        "The data contradicts itself, the arguments or the values that the contract knows.",
        "Cross-check with another tool, or let a person decide.",
    ),
    "LOW_RELEVANCE": Sentences(
        "No hit of the search is relevant enough: the best score is below the contract's min_score, or there is none.",
        "Search with other words, or tell the user that nothing highly relevant was found.",
    ),
    "ERROR_TEXT_FOUND": Sentences(
        "The result passed every check, and a text in it says that the tool failed.",
        "Use the data with care, or cross-check it with another tool.",
    ),
    "LATENCY_EXCEEDED": Sentences(
        "The tool answered later than the contract's max_latency.",
        "Use the data with care; the operator looks at the tool.",
    ),
    "ANSWER_TOO_LARGE": Sentences(
        "The text of the answer or the number of values in it is above a limit of the service, so it was not checked.",
        "Check a shorter text, or its parts one by one.",
    ),
    "EVIDENCE_TOO_LARGE": Sentences(
        "The evidence has more bytes or values than the service reads for one answer, so the answer was not checked.",
        "Send the observations that the answer rests on, and no others.",
    ),
}
