"""What the words of a request offer to one slot beside its typed mentions."""

from collections.abc import Callable
from typing import Any

import pytest

from taoloop.thought.planners.graph.fill import fill
from taoloop.thought.planners.graph.index import PlannerIndex
from taoloop.thought.planners.graph.view import read_request
from taoloop.tools.signature import ToolSignature

Take = Callable[..., dict[str, Any]]
TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


@pytest.fixture
def take(ask: Any) -> Take:
    def run(text: str, described: str = "", **properties: dict[str, Any]) -> dict[str, Any]:
        required = [name for name, schema in properties.items() if not schema.pop("free", False)]
        parameters = {"type": "object", "required": required, "properties": properties}
        index = PlannerIndex([ToolSignature(name="tool", description=described, parameters=parameters)])
        view = read_request(ask(text))
        assert view is not None
        filling = fill(index.tools[0], view, (0, len(text)))
        return {pointer[1:]: item.reading.value for pointer, item in filling.taken.items()}

    return run


def test_a_topic_is_what_the_request_is_about_and_nothing_else(take: Take) -> None:
    assert take("find an article about tidal pools", "Find an article.", topic={**TEXT}) == {"topic": "tidal pools"}
    assert take("find me an article", "Find an article.", topic={**TEXT}) == {}


def test_a_kind_stands_before_the_noun_of_the_tool(take: Take) -> None:
    assert take("show a marble statue", "Show a statue.", material={**TEXT}) == {"material": "marble"}
    assert take("show a statue", "Show a statue.", material={**TEXT}) == {}


def test_a_title_stands_after_a_naming_word(take: Take) -> None:
    assert take("open the map called evening tide", "Open a map.", title={**TEXT}) == {"title": "evening tide"}


def test_a_word_of_the_slot_itself_is_no_value(take: Take) -> None:
    assert take("send the book by its ISBN", "Send a book.", isbn={**TEXT}) == {}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("between 10 and 20", {"minimum": 10, "maximum": 20}),
        ("at least 5 and at most 9", {"minimum": 5, "maximum": 9}),
        ("maximum = 7, minimum = 3", {"minimum": 3, "maximum": 7}),
    ],
)
def test_words_before_a_number_say_which_bound_it_is(take: Take, text: str, values: dict[str, int]) -> None:
    assert take(text, minimum={**WHOLE}, maximum={**WHOLE}) == values


def test_a_number_after_per_is_no_value(take: Take) -> None:
    assert take("6.5 liters per 100", liters={"type": "number"}, rounds={**WHOLE}) == {"liters": pytest.approx(6.5)}


def test_the_parts_of_a_day_fill_a_day_a_month_and_a_year(take: Take) -> None:
    found = take("born on March 15, 1990", day={**WHOLE}, month={**WHOLE}, year={**WHOLE})
    assert found == {"day": 15, "month": 3, "year": 1990}


def test_the_ends_of_a_period_fill_its_two_slots(take: Take) -> None:
    day = {"type": "string", "description": "YYYY-MM-DD"}
    found = take("from 2024-08-01 until 2024-08-09", start_date=dict(day), end_date=dict(day))
    assert found == {"start_date": "2024-08-01", "end_date": "2024-08-09"}


def test_a_city_and_its_country_are_told_apart_only_where_both_are_wanted(take: Take) -> None:
    both = take("the time in Nairobi, Kenya", city={**TEXT}, country={**TEXT})
    assert both == {"city": "Nairobi", "country": "Kenya"}
    assert take("the time in Nairobi, Kenya", city={**TEXT}) == {"city": "Nairobi, Kenya"}


def test_currencies_and_languages_are_spelled_as_the_slot_spells_them(take: Take) -> None:
    money = {"type": "string", "description": "three-letter code"}
    found = take("750 euros to Japanese yen", from_currency=dict(money), to_currency=dict(money))
    assert found == {"from_currency": "EUR", "to_currency": "JPY"}
    assert take("into Swedish", target_language={**TEXT}) == {"target_language": "Swedish"}


def test_a_chinese_label_gives_its_value_to_its_own_slot(take: Take) -> None:
    sender, receiver = {**TEXT, "description": "寄件人姓名"}, {**TEXT, "description": "收件人姓名"}
    assert take("收件人陈浩然，寄件人李敏", sender=sender, receiver=receiver) == {
        "sender": "李敏",
        "receiver": "陈浩然",
    }
    assert take("关于摄影的书", "查书", keyword={**TEXT, "description": "关键词"}) == {"keyword": "摄影"}


def test_an_optional_slot_takes_no_member_of_a_required_ones_list(take: Take) -> None:
    found = take(
        "into German, French and Italian",
        target_language={**TEXT, "description": "Language"},
        source_language={**TEXT, "free": True},
    )
    assert "source_language" not in found
