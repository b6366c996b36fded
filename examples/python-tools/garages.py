"""Two tools of a car park: one that reads and one that writes, as plain functions of Python."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from taoloop.sdk import tool

District = Literal["north", "south", "centre"]
GarageCode = Annotated[str, Field(pattern="^G[0-9]{3}$", description="Code of the garage, e.g. 'G017'")]

_FREE_PLACES = {"north": ("G017", 12), "south": ("G020", 0), "centre": ("G001", 3)}


class Garage(BaseModel):
    """A garage and its free places."""

    code: GarageCode
    free_places: Annotated[int, Field(ge=0)]


class Ticket(BaseModel):
    """A reserved place."""

    ticket: str
    hours: int


@tool(effect="read", reach="internal", trust="trusted", timeout="2s")
def find_garage(district: District) -> Garage:
    """The garage of one city district, with its free places.

    Use when: the user asks where to park; 停车场在哪里

    Avoid when: fines, permits

    Args:
        district: District of the city, 城区.
    """
    code, free_places = _FREE_PLACES[district]
    return Garage(code=code, free_places=free_places)


@tool(effect="write", reach="internal", trust="trusted", timeout="5s")
def reserve_place(
    garage: GarageCode, plate: Annotated[str, Field(min_length=2)], hours: Annotated[int, Field(ge=1, le=24)] = 2
) -> Ticket:
    """Reserve a place in one garage for one car.

    Use when: the user wants to reserve a parking place; 预订车位

    Args:
        garage: Code of the garage, e.g. 'G017'.
        plate: Licence plate, 车牌.
        hours: How long, in hours.
    """
    return Ticket(ticket=f"{garage}-{plate}", hours=hours)
