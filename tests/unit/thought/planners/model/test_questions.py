"""A request made ready for a model: the same tools give the same beginning, in the catalogue's order."""

from __future__ import annotations

from dataclasses import replace

from taoloop.plan.check_context import CheckContext, PlanLimits
from taoloop.thought.planners.model.offer import Mode, Reason
from taoloop.thought.planners.model.prompts import build_prompt, load_prompts
from taoloop.thought.planners.model.prompts.building import STRICT
from taoloop.thought.planners.model.questions import Question, QuestionRules, Questions
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import ToolSignature
from tests.unit.thought.planners.model.tools import BOOK, FIND, FOREIGN, request_of

CATALOGUE = Catalogue.from_signatures([FIND, BOOK, FOREIGN])


def about(tools: list[ToolSignature], rules: QuestionRules | None = None, text: str = "Who is 555-0199?") -> Question:
    questions = Questions(CATALOGUE, rules or QuestionRules())
    return questions.about(request_of(text), tools, CheckContext(tools={}), 7)


def test_tools_are_numbered_in_the_catalogues_order_whatever_order_they_come_in() -> None:
    one, other = about([FIND, BOOK]), about([BOOK, FIND])

    names = [tool.name for tool in CATALOGUE.signatures() if tool.name != "echo"]
    assert [tool.name for tool in one.offer.tools] == names
    assert one.messages == other.messages


def test_requests_for_the_same_tools_share_everything_but_the_request() -> None:
    questions = Questions(CATALOGUE, QuestionRules())
    context = CheckContext(tools={})
    one, other = (questions.about(request_of(text), [FIND], context, 7) for text in ("Who is it?", "And who is that?"))

    assert one.messages[0] is not other.messages[0]
    assert one.messages[0].content is other.messages[0].content
    assert one.form is other.form
    assert one.messages[1] != other.messages[1]
    assert one.prompt.stable_share > 0.9


def test_a_question_is_what_the_prompts_say_without_what_was_kept() -> None:
    question = about([FIND, BOOK], QuestionRules(reason=Reason.FULL))

    assert question.prompt == build_prompt(load_prompts(), question.offer, request_of("Who is 555-0199?"), Reason.FULL)


def test_the_rules_reach_offer_and_form() -> None:
    rules = QuestionRules(modes=frozenset({Mode.ASK, Mode.NONE}), limits=PlanLimits(max_steps=3), max_output_tokens=40)
    question = about([FIND], rules)

    assert question.offer.modes == {Mode.ASK, Mode.NONE}
    assert question.offer.limits.max_steps == 3
    assert question.form.max_tokens == 40
    assert "plan" not in str(question.form.form.schema["anyOf"])
    assert question.seed == 7


def test_other_prompts_are_another_question() -> None:
    prompts = load_prompts()
    mine = replace(prompts, version="mine", texts={**prompts.texts, "system.txt": "You decide."})

    assert about([FIND], QuestionRules(prompts=mine)).messages[0].content.startswith("You decide.")


def test_many_sets_of_tools_are_not_kept_for_ever() -> None:
    questions = Questions(Catalogue.from_signatures(_tools(12)), QuestionRules())
    signatures = questions_of(12)
    for number in range(300):
        chosen = [tool for place, tool in enumerate(signatures) if number + 1 >> place & 1]
        questions.about(request_of(), chosen, CheckContext(tools={}), 7)

    assert len(questions._systems) <= 256


def _tools(count: int) -> list[ToolSignature]:
    return [replace(FOREIGN, name=f"tool_{number:02}") for number in range(count)]


def questions_of(count: int) -> tuple[ToolSignature, ...]:
    return Catalogue.from_signatures(_tools(count)).signatures()


def test_a_model_whose_thought_was_malformed_is_held_to_a_stricter_form() -> None:
    questions = Questions(CATALOGUE, QuestionRules(reason=Reason.FULL))
    request, context = request_of("Who is 555-0199?"), CheckContext(tools={})
    free, strict = (questions.about(each, [FIND], context, 7) for each in (request, replace(request, strict=True)))

    assert "why" in str(free.form.form.schema)
    assert "why" not in str(strict.form.form.schema)
    assert strict.messages[1].content.endswith(STRICT)
    assert STRICT not in free.messages[1].content
    assert questions.about(request, [FIND], context, 7).messages == free.messages
