"""What `plan explain` shows of one request."""

from typing import Any

from taoloop.thought.planners.graph.explaining import explain
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import ToolSignature

TIDE = ToolSignature(
    name="tide_table",
    description="Tide table of a harbour",
    parameters={"type": "object", "required": ["harbour"], "properties": {"harbour": {"type": "string"}}},
)
SHORE = Catalogue.from_signatures((TIDE,), name="shore")


def test_a_plan_is_shown_with_its_words_and_its_evidence(ask: Any) -> None:
    shown: Any = explain(SHORE, ask("tide table of Porto"))
    assert shown["decision"]["kind"] == "plan"
    argument = shown["steps"][0]["arguments"][0]
    assert (argument["pointer"], argument["words"], argument["value"]) == ("/harbour", "Porto", "Porto")
    assert set(shown["clauses"][0]["chosen"]["evidence"]) >= {"explained", "named", "foreign", "strong", "covered"}


def test_a_question_names_the_parameter_and_why(ask: Any) -> None:
    shown: Any = explain(SHORE, ask("tide table of a harbour"))
    assert shown["decision"]["kind"] == "ask"
    assert shown["decision"]["field"] == {"tool": "tide_table", "pointer": "/harbour"}
    assert shown["decision"]["reason"] == "missing"


def test_nothing_that_fits_is_shown_as_none(ask: Any) -> None:
    shown: Any = explain(SHORE, ask("why is the sky blue"))
    assert shown["decision"]["kind"] == "none"
    assert shown["steps"] == []
