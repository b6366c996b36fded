"""Functions that the tests make contracts of."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from taoloop.sdk import tool


class Book(BaseModel):
    """A book."""

    title: str
    price: Decimal
    sequel: Book | None = None


class Order(BaseModel):
    """What is ordered."""

    code: Annotated[str, Field(pattern="^[A-Z]{2}-[A-Za-z]+$")]
    copies: Annotated[int, Field(ge=1, le=9)] = 1


@tool(effect="read", reach="internal", trust="trusted", timeout="2s")
def find_book(title: Annotated[str, Field(min_length=2)], language: Literal["en", "zh"] = "en") -> Book:
    """A book by its title.

    Use when: the user asks for a book

    Avoid when: films

    Args:
        title: Title of the book.
        language: Of the book.
    """
    return Book(title=title, price=Decimal("9.90"))


async def place_order(order: Order, due: dt.date) -> None:
    """Place an order."""


def bare(a, b=object()):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201, B008 - what the test is about
    return a


def greedy(*names: str) -> str:
    """Take anything."""
    return " ".join(names)


def odd(value: memoryview) -> str:
    """Take what JSON does not have."""
    return str(value)


NUMBER = 1
