"""What part a free text plays, by the words of its parameter."""

import pytest

from taoloop.thought.planners.graph.language.roles import Role, role_of
from taoloop.thought.planners.graph.language.text import keys, name_keys


@pytest.mark.parametrize(
    ("name", "description", "role"),
    [
        ("painter", "", Role.AGENT),
        ("product_name", "", Role.THING),
        ("name", "Full name", Role.PERSON),
        ("x", "The topic to read about", Role.TOPIC),
        ("album_title", "", Role.TITLE),
        ("keyword", "关键词", Role.TOPIC),
        ("value", "something", Role.OTHER),
    ],
)
def test_the_last_telling_word_of_a_name_decides_else_the_description(name: str, description: str, role: Role) -> None:
    assert role_of(name_keys(name), keys(description)) is role
