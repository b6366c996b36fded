"""What is found in a plan before anything runs."""

from __future__ import annotations

from typing import Final

from taoloop.core.faults.sentences import Sentences

CODES: Final = {
    "PARSE_FAILED": Sentences(
        "What the planner's model wrote cannot be read, or was cut off.",
        "Write the whole object again, as the prompt says, and nothing else.",
    ),
    "EMPTY_PLAN": Sentences(
        "The plan has no step.",
        "Plan at least one step, or answer, ask or refuse instead.",
    ),
    "PLAN_TOO_LARGE": Sentences(
        "The plan has more steps, or more tokens, than are allowed.",
        "Plan fewer steps; the next iteration can go on.",
    ),
    "INVALID_PLAN": Sentences(
        "The plan does not have the form of a plan.",
        "Write the plan in the documented form.",
    ),
    "INVALID_STEP_ID": Sentences(
        "A step id is empty, too long or has characters that are not allowed.",
        "Give the step a short id of letters, digits, '.', '_' and '-'.",
    ),
    "UNKNOWN_TOOL": Sentences(
        "A step names a tool that the catalogue does not have.",
        "Use one of the candidates.",
    ),
    "DUPLICATE_STEP_ID": Sentences(
        "Two steps have the same id.",
        "Give each step an id of its own.",
    ),
    "UNKNOWN_DEPENDENCY": Sentences(
        "A step depends on a step that does not exist.",
        "Name a step of this plan or a completed one.",
    ),
    "DEPENDENCY_CYCLE": Sentences(
        "Steps wait for one another in a circle.",
        "Remove one of the named dependencies.",
    ),
    "UNDECLARED_DEPENDENCY": Sentences(
        "A step refers to the output of a step that it does not depend on.",
        "Add the step to depends_on.",
    ),
    "UNKNOWN_REFERENCE": Sentences(
        "A reference points at a field that its source does not have.",
        "Point at one of the candidates.",
    ),
    "TYPE_MISMATCH": Sentences(
        "The source of an argument has another type than the parameter.",
        "Use a source of the expected type, or a conversion that the parameter declares.",
    ),
    "MISSING_PARAMETER": Sentences(
        "A required parameter has no binding.",
        "Bind the parameter, or ask the user for it.",
    ),
    "UNKNOWN_PARAMETER": Sentences(
        "A binding names a parameter that the tool does not have.",
        "Remove the binding, or use one of the candidates.",
    ),
    "SOURCE_NOT_ALLOWED": Sentences(
        "The contract does not let this parameter come from such a source.",
        "Bind the parameter to a source that the contract lists.",
    ),
    "TOOL_NOT_ALLOWED": Sentences(
        "The caller's permissions do not include the tool.",
        "Use an allowed tool, or ask the operator for the permission.",
    ),
    "TOOL_UNAVAILABLE": Sentences(
        "The tool is known and cannot be called now.",
        "Wait as long as the fault says, or use another tool.",
    ),
    "EFFECT_NOT_ALLOWED": Sentences(
        "The tool has a greater effect than the caller's permissions allow.",
        "Use a tool with a smaller effect, or ask for the permission.",
    ),
    "TAINTED_SOURCE": Sentences(
        "Untrusted text would feed or steer a step that writes or reaches outside.",
        "Bind the argument to a trusted source, or let the run ask a person: permissions.tainted_effects ASK.",
    ),
    "CATALOGUE_MISMATCH": Sentences(
        "The plan was made against another catalogue.",
        "Plan again with the present catalogue.",
    ),
    "NOT_YET_SUPPORTED": Sentences(
        "The plan or the contract uses a feature that this version does not serve.",
        "Do without the feature, or use a version that serves it.",
    ),
    "MISSING_USER_QUERY": Sentences(
        "The request has no text of the user.",
        "Send at least one turn of the user with text.",
    ),
    "INSUFFICIENT_CONTEXT": Sentences(
        "The request, the state and the observations do not say enough to plan.",
        "Ask the user for what the fault names.",
    ),
    "NO_TOOL": Sentences(
        "No tool of the catalogue fits the request.",
        "Tell the user what can be done, or add a tool.",
    ),
    "AMBIGUOUS_TOOL": Sentences(
        "Several tools fit the request equally well.",
        "Ask the user which of the candidates is meant.",
    ),
    "MODE_NOT_ALLOWED": Sentences(
        "The deployment does not let its planners come to thoughts of this kind.",
        "Ask or answer instead, or ask the operator to allow the kind.",
    ),
    "THOUGHT_STALLED": Sentences(
        "The thought is empty, or the one before once more, and does not move the run on.",
        "Check that the session's state is kept, and that the steps read the caller's words, answers and results.",
    ),
}
