"""Regular expressions that a schema may hold."""

import pytest

from taoloop.tools import patterns


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        (r"(?=a)b", "look-ahead"),
        (r"(?!a)b", "look-ahead"),
        (r"(?<=a)b", "look-behind"),
        (r"(?<!a)b", "look-behind"),
        (r"(a)\1", "back-reference"),
        (r"(?<x>a)\k<x>", "back-reference"),
        (r"(?P<y>\d{4})", "a group"),
        (r"(?i)a", "a group"),
        (r"\Aa\z", "an escape"),
        (r"a++", "quantifier"),
        (r"a{2}+", "quantifier"),
        (r"[a&&b]", "'&&'"),
        (r"[[:alpha:]]", "'[:alpha:]'"),
        (r"[]a]", "empty class"),
        ("a" * 1001, "1001 characters"),
    ],
)
def test_constructs_outside_linear_ecmascript_are_refused_by_name(pattern: str, named: str) -> None:
    assert named in (patterns.refusal(pattern) or "")


@pytest.mark.parametrize(
    "pattern",
    [r"^[0-9]{17}$", r"\(?=a", r"[(?=]", r"[\[a]", r"a*?", r"(?:a|b)+", r"(?<year>\d{4})", r"\\1", r"[\]\\1]"],
)
def test_linear_ecmascript_passes(pattern: str) -> None:
    assert patterns.refusal(pattern) is None
