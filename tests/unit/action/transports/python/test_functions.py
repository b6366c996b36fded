"""How arguments are made to fit functions, and which functions can be used."""

import math
from datetime import date
from decimal import Decimal
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from pydantic import BaseModel

from taoloop.action.transports.python import functions
from taoloop.action.transports.python.functions import ArgumentsRefused, Function, FunctionUnusable, load_function


class Order(BaseModel):
    order_id: str


def place(order: Order, day: date, factor: float = 1.0, *rest: int, note: Any = None, **more: str) -> None: ...


def unresolved(a: "NoSuchType") -> None: ...  # type: ignore[name-defined]  # noqa: F821


class Call:
    def __call__(self, a: int) -> int:
        return a


def bound(function: Any, **arguments: Any) -> dict[str, Any]:
    return dict(Function(function).bound(arguments).arguments)


def test_arguments_are_made_to_fit_their_annotations() -> None:
    made = bound(place, order={"order_id": "A"}, day="2026-01-02", factor=Decimal("1.5"), note=Decimal("0.10"), x=1)
    assert made == {
        "order": Order(order_id="A"),
        "day": date(2026, 1, 2),
        "factor": 1.5,
        "note": Decimal("0.10"),
        "more": {"x": 1},
    }


def test_annotations_for_readers_alone_convert_nothing() -> None:
    assert bound(unresolved, a="1") == {"a": "1"}
    assert bound(Call(), a="1") == {"a": "1"}


def test_what_does_not_fit_names_its_place_and_not_its_value() -> None:
    with pytest.raises(ArgumentsRefused) as caught:
        bound(place, order={"order_id": 5}, day="2026-01-02")
    assert (caught.value.pointer, caught.value.message.endswith("string_type.")) == ("/order/order_id", True)
    with pytest.raises(ArgumentsRefused) as caught:
        bound(place, day="2026-01-02")
    assert caught.value.pointer == ""


@pytest.mark.parametrize(
    "entry_point", ["math:pi", "math:absent", "no.such:f", "no_such_name", "builtins:dict.fromkeys"]
)
def test_an_entry_point_without_a_usable_function_is_refused_or_loads(entry_point: str) -> None:
    if entry_point == "builtins:dict.fromkeys":
        assert load_function(entry_point).target("a") == {"a": None}
    else:
        with pytest.raises(FunctionUnusable):
            load_function(entry_point)


def test_a_callable_without_signature_is_refused() -> None:
    with pytest.raises(FunctionUnusable, match="signature"):
        Function(type("Odd", (), {"__call__": print, "__signature__": 5})())


def test_a_name_is_looked_up_among_the_installed_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = [EntryPoint("root", "math:sqrt", functions.GROUP)]
    monkeypatch.setattr(
        functions, "entry_points", lambda group, name: [each for each in installed if each.name == name]
    )
    assert load_function("root").target is math.sqrt
