"""Why a normalise rule does not fit the response schema, or the other rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from taoloop.core import pointers
from taoloop.tools.contract import NormaliseRule
from taoloop.tools.normalisers.places import STAR, Tokens, container, is_above, overlap, pointer, stars


@dataclass(frozen=True, slots=True)
class DerivationProblem:
    """A normalise rule that does not fit.

    Attributes:
        index: Position of the rule.
        key: Field of the rule that is to be corrected.
        message: One sentence without a full stop.
        remedy: What to do about it.
    """

    index: int
    key: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class PlacedRule:
    """A rule with its places taken apart.

    Attributes:
        index: Position of the rule.
        rule: The rule.
        field: Its place in the response.
        to: Its place in the output.
    """

    index: int
    rule: NormaliseRule
    field: Tokens
    to: Tokens

    @property
    def is_moved(self) -> bool:
        """Tell whether the value gets another place."""
        return self.field != self.to


def placed_rules(rules: Sequence[NormaliseRule]) -> tuple[list[PlacedRule], list[DerivationProblem]]:
    """Return the rules whose places are pointers, and the problems of the others."""
    placed, problems = [], []
    for index, rule in enumerate(rules):
        try:
            placed.append(PlacedRule(index, rule, pointers.parse(rule.field), pointers.parse(rule.to)))
        except pointers.PointerSyntaxError as exc:
            remedy = "In a pointer ~ is written ~0 and / inside a name ~1."
            problems.append(DerivationProblem(index, "field", str(exc), remedy))
    return placed, problems


def conflicts(rules: Sequence[PlacedRule]) -> Iterator[DerivationProblem]:
    """Yield the rules that do not go with one another, each by the first reason."""
    for position, rule in enumerate(rules):
        others = [*rules[:position], *rules[position + 1 :]]
        problem = (
            _with_stars(rule, rules)
            or _same_place(rule, rules[:position])
            or _among_starred(rule, others)
            or _nested(rule, others)
        )
        if problem is not None:
            yield problem


def moves_of(rules: Sequence[PlacedRule]) -> Mapping[Tokens, Tokens]:
    """Return where whole values are moved to, unchanged, by where they were."""
    return {rule.field: rule.to for rule in rules if rule.rule.is_plain and rule.is_moved}


def image(tokens: Tokens, moves: Mapping[Tokens, Tokens]) -> Tokens:
    """Return where a place of the response is in the output, by the longest move of what is around it."""
    for length in range(len(tokens), 0, -1):
        if tokens[:length] in moves:
            return (*moves[tokens[:length]], *tokens[length:])
    return tokens


def _with_stars(rule: PlacedRule, rules: Sequence[PlacedRule]) -> DerivationProblem | None:
    if stars(rule.field) != stars(rule.to):
        message = f"to has {stars(rule.to)} stars and field {stars(rule.field)}"
        return DerivationProblem(rule.index, "to", message, "Write the same stars in both.")
    moves = {place: to for place, to in moves_of(rules).items() if place != rule.field}
    where = image(container(rule.field), moves)
    if where != container(rule.to):
        message = f"what {pointer(container(rule.field))} stands for is {pointer(where)} in the output"
        return DerivationProblem(rule.index, "to", message, f"Begin to with {pointer(where)}.")
    if rule.field[-1] == STAR and rule.rule.is_plain:
        message = "the rule leaves every item as it is"
        return DerivationProblem(rule.index, "field", message, "Convert the items, or remove the rule.")
    return None


def _same_place(rule: PlacedRule, before: Sequence[PlacedRule]) -> DerivationProblem | None:
    for other in before:
        if overlap(rule.to, other.to):
            message = f"rule {other.index + 1} puts a value at {pointer(other.to)} already"
            return DerivationProblem(rule.index, "to", message, "Give one of the two another place.")
    return None


def _among_starred(rule: PlacedRule, others: Sequence[PlacedRule]) -> DerivationProblem | None:
    """Return why a new member must not come among those that another rule changes one by one."""
    if not rule.is_moved:
        return None
    for other in others:
        for length, token in enumerate(other.to, start=1):
            if token == STAR and overlap(rule.to, other.to[:length]):
                message = f"{pointer(rule.to)} would be one of those that rule {other.index + 1} changes"
                return DerivationProblem(rule.index, "to", message, "Give it a place outside of them.")
    return None


def _nested(rule: PlacedRule, others: Sequence[PlacedRule]) -> DerivationProblem | None:
    for other in others:
        is_part = overlap(other.field, rule.field) and other.field != rule.field
        if is_part and other.is_moved:
            message = f"rule {other.index + 1} moves {pointer(other.field)}, one of what the star stands for"
            return DerivationProblem(rule.index, "field", message, "Name the others one by one, or move none.")
        if is_above(other.to, rule.to) and not other.rule.is_plain:
            message = f"{pointer(rule.to)} lies inside {pointer(other.to)}, which rule {other.index + 1} makes"
            return DerivationProblem(rule.index, "to", message, "Give it a place of its own.")
        if not is_above(other.field, rule.field):
            continue
        if other.is_moved and rule.field[: len(other.field)] != other.field:
            message = f"rule {other.index + 1} moves {pointer(other.field)}, one of what the star stands for"
            return DerivationProblem(rule.index, "field", message, "Name the others one by one, or move none.")
        if not other.rule.is_plain:
            message = f"rule {other.index + 1} converts all of {pointer(other.field)}"
            return DerivationProblem(rule.index, "field", message, "Keep one of the two rules.")
        if other.is_moved and is_above(other.field, rule.to) and not is_above(other.to, rule.to):
            where = pointer((*other.to, *rule.field[len(other.field) :]))
            message = f"rule {other.index + 1} moves {pointer(other.field)} away"
            return DerivationProblem(rule.index, "to", message, f"Write to: {where}.")
    return None
