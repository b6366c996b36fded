"""YAML as exact JSON values with places, by the core schema of YAML 1.2."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from taoloop.tools.loading.yaml_source import read_text

_PATH = Path("x.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on: off", {"on": "off"}),
        ("a: yes", {"a": "yes"}),
        ("a: 2026-01-31", {"a": "2026-01-31"}),
        ("a: 12:30:00", {"a": "12:30:00"}),
        ("a: 010", {"a": 10}),
        ("a: 0x1F", {"a": 31}),
        ("a: 0o17", {"a": 15}),
        ("a: 1_000", {"a": "1_000"}),
        ("a: '5'", {"a": "5"}),
        ("a: ~", {"a": None}),
        ("a:", {"a": None}),
        ("a: 20260308000012345678", {"a": 20260308000012345678}),
        ("1: true", {"1": True}),
        ("<<: {a: 1}", {"<<": {"a": 1}}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
    ],
)
def test_plain_scalars_follow_yaml_1_2(text: str, value: Any) -> None:
    source = read_text(text, _PATH)
    assert (source.value, source.faults) == (value, ())


def test_decimals_keep_their_digits() -> None:
    value: Any = read_text("a: 0.10", _PATH).value
    assert isinstance(value["a"], Decimal)
    assert str(value["a"]) == "0.10"


def test_every_value_has_a_place_and_others_the_place_around_them() -> None:
    source = read_text("a:\n  - 1\n  - b: 2\n", _PATH)
    assert source.place("/a/0") == (2, 5)
    assert source.place("/a/1/b") == (3, 5)
    assert source.place("/a/1/b/missing") == (3, 5)
    assert source.place("/nowhere") == (1, 1)


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("a: 1\nb: 2\na: 3\n", "DUPLICATE_KEY", (3, 1)),
        ("a: &x 1", "YAML_FEATURE", (1, 4)),
        ("a: !!str 1", "YAML_FEATURE", (1, 4)),
        ("a: .nan", "YAML_FEATURE", (1, 4)),
        ("? [1]\n: 2", "YAML_FEATURE", (1, 3)),
        ("a:\n\tb: 1", "YAML_SYNTAX", (2, 1)),
        ("a: 'x", "YAML_SYNTAX", (1, 6)),
        ("a: 1\n--- 2", "YAML_FEATURE", (2, 1)),
    ],
)
def test_what_json_cannot_carry_is_a_fault_with_its_place(text: str, code: str, place: tuple[int, int]) -> None:
    faults = read_text(text, _PATH).faults
    assert [(fault.code, (fault.line, fault.column)) for fault in faults][:1] == [(code, place)]


def test_tabs_are_named_in_the_remedy() -> None:
    assert "tabs" in read_text("\ta: 1", _PATH).faults[0].remedy


def test_an_alias_bomb_is_refused_without_being_unfolded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    source = read_text("\n".join(lines), _PATH)
    assert {fault.code for fault in source.faults} == {"YAML_FEATURE"}


def test_the_first_of_two_equal_keys_counts() -> None:
    assert read_text("a: 1\na: 2", _PATH).value == {"a": 1}
