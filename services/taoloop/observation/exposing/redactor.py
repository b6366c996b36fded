"""Takes personal data and secrets out of what is shown; the data that plans refer to keeps them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.redaction import MASK, are_harmless, is_harmless, is_secret_name, redact_text
from taoloop.tools.contract import Observe, PersonalData, RedactField, RedactPattern
from taoloop.tools.normalisers.place_tree import PlaceTree, tokens_tree
from taoloop.tools.normalisers.places import Path, Tokens, is_above, overlap
from taoloop.tools.personal_data.finding import FINDERS, Finder
from taoloop.tools.personal_data.masking import masked as masked_text
from taoloop.tools.personal_data.own_patterns import OwnPattern

REDACTED: Final = "<REDACTED>"
"""Stands for the value of a field that the contract redacts, whatever its type."""

_MIN_DIGITS: Final = 10**6
"""Smallest integer that may be a number of a person; the kinds have seven digits and more."""
_MOST_BITS: Final = 128
_MOST_DIGITS: Final = 38
"""Longer numbers are none of the kinds."""
# Every number of a person has seven digits on end, with a space, a hyphen or a bracket in between.
_NUMBER: Final = re.compile(r"[0-9](?:[ .()-]{0,2}[0-9]){6}")
_CUT: Final = "…"
_CUT_TAIL: Final = re.compile(r"(?:[0-9０-９][ -]?)*\S*…$")

_BETWEEN: Final = "|"
"""Stands between texts that are looked at together: a part of nothing that is looked for."""

_LONG: Final = 100
"""From here on it is worth while to look whether the characters of a text have longer forms in JSON."""

_NUMBERS: Final = (int, Decimal)  # a tuple, since a union would be built anew for each value

_Mask = tuple[str, Finder]


@dataclass(slots=True)
class _Walk:
    """What one walk over a value found.

    Attributes:
        places: Where something was masked, in the order of the value.
        bytes_bound: At least as many bytes as the JSON text of the result has.
    """

    places: list[Path] = field(default_factory=list)
    bytes_bound: int = 0


@dataclass(frozen=True, slots=True)
class Redacted:
    """A value without what must not be shown.

    Attributes:
        value: The value; the very same object where nothing was masked.
        places: Where something was masked, in the order of the value.
        bytes_bound: At least as many bytes as its JSON text has.
    """

    value: JsonValue
    places: tuple[Path, ...]
    bytes_bound: int


class Redactor:
    """Masks what a contract's `redact` names, and secrets in texts, which are masked always.

    Args:
        masks: Placeholder and finder of each kind, in the order in which they are asked.
        fields: The places of the output that are masked whole.
        body_places: The same places in the body, for failures that speak of the body.
        hides_secret_names: Whether members are masked whose name says that they are secret.
    """

    __slots__ = ("_fields", "_has_own", "_hides_secret_names", "_masks", "_places")

    def __init__(
        self,
        masks: Sequence[_Mask] = (),
        fields: Sequence[Tokens] = (),
        body_places: Sequence[Tokens] = (),
        *,
        hides_secret_names: bool = False,
    ) -> None:
        self._masks: Final = tuple(masks)
        self._has_own: Final = any(finder not in FINDERS.values() for _, finder in masks)
        self._fields: Final = tokens_tree(fields) if fields else None
        self._places: Final = (*fields, *body_places)
        self._hides_secret_names: Final = hides_secret_names

    @property
    def has_masks(self) -> bool:
        """Tell whether texts and numbers are searched for more than credentials."""
        return bool(self._masks)

    def is_clean(self, value: JsonValue, max_bytes: int, names: Sequence[str] = ()) -> bool:
        """Tell at once of most data that nothing is masked in it, and that its JSON text has at most so many bytes.

        Args:
            value: The data.
            max_bytes: The bound.
            names: Other texts that are shown with it.
        """
        if self._fields or self._hides_secret_names:
            return False
        texts = list(names)
        left = max_bytes - self._gather(value, texts, max_bytes)
        together = _BETWEEN.join(texts)
        return left >= 2 * len(texts) + _most_bytes(together) and self._are_clean(texts, together)

    def is_clean_row(self, members: Mapping[str, JsonValue], names: Iterable[str], max_bytes: int) -> bool:
        """Tell the same of members of one object; False where one of them holds others.

        Args:
            members: The object.
            names: The members.
            max_bytes: Most bytes that they may have as JSON, with the commas between them.
        """
        texts: list[str] = []
        left = max_bytes
        for name in names:
            each = members[name]
            if isinstance(each, str):
                texts.append(each)
            elif each is None or isinstance(each, bool):
                left -= 6
            elif isinstance(each, _NUMBERS) and (not self._masks or not self._searched(each)):
                left -= each.bit_length() // 3 + 3 if isinstance(each, int) else len(str(each)) + 1
            else:
                return False
        together = _BETWEEN.join(texts)
        return left >= 2 * len(texts) + _most_bytes(together) and self._are_clean(texts, together)

    def are_clean_names(self, names: Sequence[str]) -> bool:
        """Tell of names, of members and of places, that nothing in them is masked."""
        is_plain = not self._fields and not self._hides_secret_names
        return is_plain and self._are_clean(names, _BETWEEN.join(names))

    def _are_clean(self, texts: Sequence[str], together: str) -> bool:
        return are_harmless(texts, together) and (not self._masks or self._holds_nothing(together))

    def _gather(self, value: JsonValue, texts: list[str], max_bytes: int) -> int:
        """Take the texts and names out of a value, and return at least the bytes of all the rest of its JSON.

        More than the bound is returned for what is not surely within it, or not surely clean.
        """
        pending, size = [value], 0
        for each in pending:  # grows while it is walked
            if isinstance(each, str):
                texts.append(each)
            elif isinstance(each, dict):
                texts += each
                pending += each.values()
                size += 2 + 2 * len(each)
            elif isinstance(each, list):
                pending += each
                size += 2 + len(each)
            elif isinstance(each, int) and not isinstance(each, bool):
                size += max_bytes + 1 if self._searched(each) else each.bit_length() // 3 + 2
            elif isinstance(each, Decimal) and self._searched(each):
                size += max_bytes + 1
            else:
                size += 6 if each is None or isinstance(each, bool) else len(str(each))
            if size > max_bytes:
                break
        return size

    def _holds_nothing(self, text: str) -> bool:
        """Tell at once of most texts that no kind of personal data is in them."""
        return text.isascii() and not self._has_own and "@" not in text and _NUMBER.search(text) is None

    def redact(self, value: JsonValue) -> Redacted:
        """Return the data with what must not be shown masked; members keep their names unless those are masked."""
        walk = _Walk()
        shown = self._walked(value, self._fields, (), walk)
        return Redacted(shown, tuple(walk.places), walk.bytes_bound)

    def mask_texts(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Return the texts, each as `mask_text` does."""
        if not texts:
            return ()
        is_clean = self._are_clean(texts, _BETWEEN.join(texts))
        return tuple(texts) if is_clean else tuple(map(self.mask_text, texts))

    def mask_text(self, text: str) -> str:
        """Return a text with personal data as `<KIND>` and secrets as `***`."""
        if is_harmless(text) and (not self._masks or self._holds_nothing(text)):
            return text
        masked = redact_text(text)
        for placeholder, finder in self._masks:
            masked = masked_text(masked, placeholder, finder)
        return masked

    def excerpt(self, value: Json, pointer: str) -> Json:
        """Return a quoted value of a failure with what must not be shown masked.

        Args:
            value: What the failure quotes, perhaps cut to a text that ends with an ellipsis.
            pointer: Where it stands, in the body or in the data.
        """
        if value is ABSENT or value is None or isinstance(value, bool):
            return value
        tokens = _tokens(pointer)
        if any(overlap(place, tokens) or is_above(place, tokens) for place in self._places):
            return REDACTED
        if tokens and self._is_secret(tokens[-1], value):
            return MASK
        below = [place[len(tokens) :] for place in self._places if is_above(tokens, place)]
        if isinstance(value, str) and value.endswith(_CUT):
            return REDACTED if below else self._cut(value)
        return self._walked(value, tokens_tree(below) if below else None, (), _Walk())

    def _cut(self, text: str) -> str:
        """Mask a text that was cut: its last word may be the half of something that no pattern knows any more."""
        return self.mask_text(_CUT_TAIL.sub(_CUT, text) if self._masks else text)

    def _walked(self, value: JsonValue, fields: PlaceTree | None, path: Path, walk: _Walk) -> JsonValue:
        if isinstance(value, str):
            return self._text(value, path, walk)
        if isinstance(value, dict):
            return self._members(value, fields, path, walk)
        if isinstance(value, list):
            return self._items(value, fields, path, walk)
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            return self._number(value, path, walk)
        walk.bytes_bound += 6 if value is None or isinstance(value, bool) else len(str(value)) + 1
        return value

    def _text(self, text: str, path: Path, walk: _Walk) -> str:
        masked = self.mask_text(text)
        if masked != text:
            walk.places.append(path)
        # A character is at most six bytes of JSON, as in \u0001.
        walk.bytes_bound += 6 * len(masked) + 3
        return masked

    def _number(self, value: int | Decimal, path: Path, walk: _Walk) -> JsonValue:
        text = self._searched(value)
        if text:
            masked = self.mask_text(text)
            if masked != text:
                walk.places.append(path)
                walk.bytes_bound += 6 * len(masked) + 3
                return masked
        walk.bytes_bound += value.bit_length() // 3 + 3 if isinstance(value, int) else len(str(value)) + 1
        return value

    def _searched(self, number: int | Decimal) -> str:
        """Return the text in which a number is searched, without a fraction of zeros; empty where nothing can be found.

        A kind of personal data is a whole number of seven digits at least, and shorter than 39; a pattern of the
        contract's own may be any number.
        """
        if not self._masks:
            return ""
        if isinstance(number, Decimal):
            if number.adjusted() > _MOST_DIGITS or number != number.to_integral_value():
                return str(number) if self._has_own else ""
            number = int(number)
        is_searched = self._has_own or (number >= _MIN_DIGITS and number.bit_length() < _MOST_BITS)
        return str(number) if is_searched else ""

    def _members(
        self, value: dict[str, JsonValue], fields: PlaceTree | None, path: Path, walk: _Walk
    ) -> dict[str, JsonValue]:
        shown: dict[str, JsonValue] = {}
        is_changed = False
        walk.bytes_bound += 2
        for key, member in value.items():
            below = None if fields is None else fields.child(key)
            here = (*path, key)
            kept: JsonValue
            if (below is not None and below.is_whole) or self._is_secret(key, member):
                kept = self._whole(member, below, here, walk)
            else:
                kept = self._walked(member, below, here, walk)
            name = self._name(key, shown) if self._masks else key
            walk.bytes_bound += 6 * len(name) + 4
            is_changed = is_changed or kept is not member or name != key
            shown[name] = kept
        return shown if is_changed else value

    def _items(self, value: list[JsonValue], fields: PlaceTree | None, path: Path, walk: _Walk) -> list[JsonValue]:
        walk.bytes_bound += 2
        shown: list[JsonValue] = []
        is_changed = False
        for index, item in enumerate(value):
            below = None if fields is None else fields.child(str(index))
            here = (*path, index)
            is_field = below is not None and below.is_whole
            kept = self._whole(item, below, here, walk) if is_field else self._walked(item, below, here, walk)
            is_changed = is_changed or kept is not item
            shown.append(kept)
        return shown if is_changed else value

    def _whole(self, value: JsonValue, below: PlaceTree | None, path: Path, walk: _Walk) -> JsonValue:
        if value is None:
            walk.bytes_bound += 6
            return None
        walk.places.append(path)
        walk.bytes_bound += len(REDACTED) + 3
        return REDACTED if below is not None else MASK

    def _is_secret(self, key: str, member: JsonValue) -> bool:
        return self._hides_secret_names and is_secret_name(key) and not isinstance(member, bool | dict | list)

    def _name(self, key: str, shown: dict[str, JsonValue]) -> str:
        """Return a member's name masked, and told apart from other masked ones."""
        masked = self.mask_text(key)
        name, number = masked, 1
        while name in shown:
            number += 1
            name = f"{masked}_{number}"
        return name


def compile_redactor(observe: Observe) -> Redactor:
    """Return what masks by the contract's `redact`.

    Raises:
        SchemaRefused: A pattern cannot be used; an accepted contract has none such.
    """
    kinds = {each for each in observe.redact if isinstance(each, PersonalData)}
    masks: list[_Mask] = [(f"<{kind.value.upper()}>", finder) for kind, finder in FINDERS.items() if kind in kinds]
    masks += [
        (f"<{each.name.upper()}>", OwnPattern(each.pattern).find)
        for each in observe.redact
        if isinstance(each, RedactPattern)
    ]
    fields = [pointers.parse(each.field) for each in observe.redact if isinstance(each, RedactField)]
    return Redactor(
        masks,
        fields,
        [place for tokens in fields for place in _body_places(observe, tokens)],
        hides_secret_names=PersonalData.SECRETS in kinds,
    )


def _body_places(observe: Observe, place: Tokens) -> list[Tokens]:
    """Return where in the body the normalised place comes from, by the rules that moved it."""
    found = []
    for rule in observe.normalise:
        source, target = pointers.parse(rule.field), pointers.parse(rule.to)
        if source != target and (overlap(target, place) or is_above(target, place)):
            found.append((*source, *place[len(target) :]))
        elif source != target and is_above(place, target):
            found.append(source)
    return found


def _most_bytes(text: str) -> int:
    """Return at least the bytes of the text in JSON, without writing it."""
    if len(text) > _LONG and text.isascii() and text.isprintable():
        return 2 * len(text) + 2  # a quote and a backslash are two
    return 6 * len(text) + 2  # a control character is six, and any other one at most four


def _tokens(pointer: str) -> Tokens:
    try:
        return pointers.parse(pointer)
    except pointers.PointerSyntaxError:
        return ()
