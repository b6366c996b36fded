"""Units of measure by their spelling: letter case counts in symbols, look-alike characters are equal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from taoloop.values.quantities.unit_table import ROWS, SHARED_SPELLINGS, TEMPERATURE, ZERO_POINTS
from taoloop.values.refusals import RefusalCode, ValueRefused

_MAX_SPELLING = 40
_MAX_CANDIDATES: Final = 5
# Signs that stand for another one, where NFKC does not see it or makes something else of it.
_ALIKE: Final = str.maketrans(
    {
        "º": "°", "˚": "°", "ᵒ": "°", "∘": "°", "\u2215": "/", "\u2044": "/", "÷": "/", "⋅": "·", "∙": "·",
        "^": None, "\u200b": None, "\ufeff": None,
    }
)  # fmt: skip
_BLANKS = re.compile(r"\s*([/·])\s*|(?<=°)\s+|\s+(?=[23]$)")
_PER = re.compile(r"\s+per\s+")


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of the table.

    Attributes:
        symbol: How it is written, for example `km/h`.
        dimension: What it measures, for example `speed`.
        factor: Its size in the base unit of the dimension.
        zero: Where its scale begins in the base unit; not 0 for temperatures only.
        lowest: Absolute zero in this unit; None where there is no lowest value.
    """

    symbol: str
    dimension: str
    factor: Fraction
    zero: Fraction = Fraction(0)
    lowest: Decimal | None = None

    @property
    def is_temperature(self) -> bool:
        """Whether values and differences of it convert in two ways."""
        return self.dimension == TEMPERATURE


def unit_named(spelling: str, dimension: str = "", stated: Unit | None = None) -> Unit:
    """Return the unit with this spelling.

    >>> unit_named("㎞ / h").symbol, unit_named("℃").symbol, unit_named("m²").symbol
    ('km/h', '°C', 'm2')

    Args:
        spelling: A symbol, in its letter case, or a word in any.
        dimension: What it must measure; empty takes any.
        stated: The unit that the contract names: a spelling that several units share means it where it is among them.

    Raises:
        ValueRefused: UNKNOWN_UNIT with near ones; WRONG_UNIT for a unit of another dimension; AMBIGUOUS with the units
            that share the spelling.
    """
    return _named(spelling[: _MAX_SPELLING + 1], dimension, stated)


@lru_cache(maxsize=4096)
def _named(spelling: str, dimension: str, stated: Unit | None) -> Unit:
    name = _plain(spelling)
    dimensions = (dimension,) if dimension else tuple(ROWS)
    found = [unit for each in dimensions if (unit := _in_dimension(name, each)) is not None]
    shared = [symbol for each in dimensions for symbol in SHARED_SPELLINGS.get(each, {}).get(name, ())]
    if len(found) == 1 and not shared:
        return found[0]
    symbols = tuple([unit.symbol for unit in found] + shared)
    if stated is not None and stated.symbol in symbols:
        return stated
    if symbols:
        raise ValueRefused(RefusalCode.AMBIGUOUS, f"The unit can be read in {len(symbols)} ways.", symbols)
    other = next((each for each in ROWS if each not in dimensions and _is_known(name, each)), None)
    if other is not None:
        message = f"The unit measures {other}, not {dimension}."
        raise ValueRefused(RefusalCode.WRONG_UNIT, message, unit_symbols(dimension)[:_MAX_CANDIDATES])
    raise ValueRefused(RefusalCode.UNKNOWN_UNIT, "The unit is none that is known.", _near(name, dimensions))


def unit_symbols(dimension: str) -> tuple[str, ...]:
    """Return the symbols of a dimension, its base first."""
    return tuple(dict.fromkeys(unit.symbol for unit in _NAMES[dimension].values()))


def _plain(spelling: str) -> str:
    """Return a spelling with look-alike characters made one; letter case stays."""
    if len(spelling) > _MAX_SPELLING:
        return ""
    text = unicodedata.normalize("NFKC", spelling.translate(_ALIKE)).translate(_ALIKE).replace("**", "")
    return _PER.sub("/", _BLANKS.sub(lambda found: found[1] or "", " ".join(text.split())))


def _in_dimension(name: str, dimension: str) -> Unit | None:
    return _NAMES[dimension].get(name) or _WORDS[dimension].get(name.casefold())


def _is_known(name: str, dimension: str) -> bool:
    return _in_dimension(name, dimension) is not None or name in SHARED_SPELLINGS.get(dimension, {})


def _near(name: str, dimensions: tuple[str, ...]) -> tuple[str, ...]:
    """Return units that differ in letter case only, or else similar ones."""
    spelt = {symbol: unit for dimension in dimensions for symbol, unit in _NAMES[dimension].items()}
    alike = [symbol for symbol in spelt if symbol.casefold() == name.casefold()]
    found = alike or get_close_matches(name, spelt, n=_MAX_CANDIDATES, cutoff=0.6)
    return tuple(dict.fromkeys(spelt[symbol].symbol for symbol in found))[:_MAX_CANDIDATES]


def _listed(cell: str) -> list[str]:
    return [spelling.replace("_", " ") for spelling in cell.split()]


def _rows(dimension: str) -> list[tuple[Unit, list[str], list[str]]]:
    made = []
    for symbol, factor, symbols, words in ROWS[dimension]:
        (name,) = _listed(symbol)
        unit = Unit(name, dimension, Fraction(factor))
        if dimension == TEMPERATURE:
            zero, lowest = ZERO_POINTS[name]
            unit = replace(unit, zero=Fraction(zero), lowest=Decimal(lowest))
        made.append((unit, [name, *_listed(symbols)], _listed(words)))
    return made


_ALL: Final = {dimension: _rows(dimension) for dimension in ROWS}
_NAMES: Final[Mapping[str, Mapping[str, Unit]]] = MappingProxyType(
    {each: {name: unit for unit, names, _ in rows for name in names} for each, rows in _ALL.items()}
)
_WORDS: Final[Mapping[str, Mapping[str, Unit]]] = MappingProxyType(
    {each: {word.casefold(): unit for unit, _, words in rows for word in words} for each, rows in _ALL.items()}
)
