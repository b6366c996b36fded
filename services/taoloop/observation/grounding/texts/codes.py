"""Codes and addresses in a text: e-mail and web addresses, UUIDs, order and tracking numbers, phone numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from taoloop.observation.grounding.model import MAX_DIGITS, Mention, Quantity, Taken
from taoloop.observation.grounding.vocabulary import CURRENCY_AFTER, UNIT
from taoloop.plan.answering import ClaimKind

_URL: Final = re.compile(
    r"(?:https?://|www\.)[^\s<>\"'“”‘’「」『』《》（）()，。；！？、\u3400-\u9fff]{1,2000}", re.IGNORECASE
)
_URL_END: Final = ".,;:!?"
_EMAIL: Final = re.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+*-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])"
)
_UUID: Final = re.compile(
    r"(?<![0-9A-Za-z-])[0-9A-Fa-f]{8}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{12}(?![0-9A-Za-z-])"
)
_DOTTED: Final = re.compile(r"(?<![A-Za-z0-9.])[vV]?[0-9]{1,5}(?:\.[0-9]{1,5}){2,7}(?![A-Za-z0-9]|\.[0-9])")
_PHONE: Final = re.compile(
    r"(?<![0-9A-Za-z+*.-])(?:\+[0-9]{1,3}[ -]?(?:\([0-9]{1,4}\)[ -]?)?[0-9]{2,4}(?:[ -]?[0-9]{2,4}){1,4}"
    r"|\([0-9]{2,4}\) ?[0-9]{3,4}[ -]?[0-9]{4}"
    r"|[0-9]{3,4}-[0-9]{3,4}-[0-9]{3,4}|0[0-9]{2,3}-[0-9]{7,8}|1[3-9][0-9](?:[ -][0-9]{4}){2}|1[3-9][0-9]{9})"
    r"(?![0-9A-Za-z*]|[-.][0-9])"
)
_GROUPED: Final = re.compile(r"(?<![0-9A-Za-z+*.,-])[0-9]{4}(?:[ -][0-9]{4}){2,5}(?:[ -][0-9]{1,4})?(?![0-9A-Za-z*])")
_TOKEN: Final = re.compile(
    r"(?<![A-Za-z0-9_*@.-])[A-Za-z0-9*]+(?:[-_][A-Za-z0-9*]+)*(?![A-Za-z0-9*@]|[-_][A-Za-z0-9*])"
)
_MEASURE: Final = re.compile(r"[0-9]++(?:-[0-9]++)?(?P<hyphen>-)?(?P<tail>[A-Za-z]++(?:-[a-z]++)*+)")
_TAILS: Final = frozenset({"st", "nd", "rd", "th", "x", "k", "m", "bn"})
_NO_CODE: Final = frozenset(
    {"b2b", "b2c", "3d", "2d", "4k", "5g", "4g", "3g", "mp3", "mp4", "h5", "a4", "7x24", "24x7", "utf-8"}
)
_LAST_DIGITS: Final = re.compile(r"\*([0-9]{3,})$")


def read_codes(text: str, taken: Taken) -> Iterator[Mention]:
    """Yield the addresses and UUIDs of a text in half width, and take their places."""
    for found in _free(_URL, text, taken) if "://" in text or "www." in text.lower() else ():
        end = found.start() + len(found[0].rstrip(_URL_END))
        taken.take(found.start(), end)
        yield _mention(ClaimKind.URL, found.start(), end, text, f"url:{_folded_url(text[found.start() : end])}")
    for found in _free(_EMAIL, text, taken) if "@" in text else ():
        taken.take(*found.span())
        local, _, domain = found[0].partition("@")
        yield _mention(ClaimKind.EMAIL, *found.span(), text, f"email:{local}@{domain.lower()}")
    for found in _free(_UUID, text, taken) if len(text) >= 32 else ():
        taken.take(*found.span())
        key = f"id:{found[0].replace('-', '').lower()}"
        yield _mention(ClaimKind.IDENTIFIER, *found.span(), text, key)


def read_phones(text: str, taken: Taken) -> Iterator[Mention]:
    """Yield dotted numbers, phone numbers and other digits in groups, after the dates have taken theirs."""
    for found in _free(_DOTTED, text, taken) if text.count(".") > 1 else ():
        if not _is_grouped(found[0]):
            taken.take(*found.span())
            yield _mention(ClaimKind.IDENTIFIER, *found.span(), text, f"id:{found[0].lower()}")
    if len(text) < 7:
        return
    for pattern, kind in ((_PHONE, ClaimKind.PHONE), (_GROUPED, ClaimKind.IDENTIFIER)):
        for found in _free(pattern, text, taken):
            digits = re.sub(r"[^0-9+]", "", found[0])
            if len(digits) >= 7:
                taken.take(*found.span())
                yield _mention(kind, *found.span(), text, f"digits:{digits}")


def read_tokens(text: str, taken: Taken) -> Iterator[Mention]:
    """Yield the codes of letters and digits, masked ones among them: `SF1234`, `ORD-2026-01`, `138****8000`."""
    for found in _free(_TOKEN, text, taken):
        code = found[0]
        has_digit, has_letter = any(map(str.isdigit, code)), any(map(str.isalpha, code))
        if not has_digit or not (has_letter or "*" in code or code.count("-") > 1):
            continue
        if _is_measure(code) or code.lower() in _NO_CODE:
            continue
        taken.take(*found.span())
        yield _code(code, *found.span())


def _is_grouped(dotted: str) -> bool:
    """Whether points group the digits of one number, as in `1.000.000`; four groups up to 255 are an address."""
    groups = dotted.split(".")
    is_address = len(groups) == 4 and all(group.isdigit() and int(group) < 256 for group in groups)
    return not is_address and groups[0].isdigit() and len(groups[0]) < 4 and all(len(one) == 3 for one in groups[1:])


def _is_measure(code: str) -> bool:
    """Whether a code is a number with what it counts, such as `12kg`, `20th`, `3-day`, `10-20kg`."""
    found = _MEASURE.fullmatch(code)
    if found is None:
        return False
    tail = found["tail"]
    if found["hyphen"]:
        return tail.islower()
    return tail.lower() in _TAILS or any(pattern.fullmatch(tail) for pattern in (UNIT, CURRENCY_AFTER))


def plain_digits(digits: str, start: int, end: int) -> Mention:
    """Return the mention of digits alone: a code, and a number where no zero leads."""
    is_number = (digits == "0" or not digits.startswith("0")) and len(digits) <= MAX_DIGITS
    kind = ClaimKind.IDENTIFIER if len(digits) > 8 or not is_number else ClaimKind.NUMBER
    quantities = (Quantity(Decimal(digits)),) if is_number else ()
    return Mention(
        kind=kind, start=start, end=end, normalised=digits[:200], keys=(f"digits:{digits}",), quantities=quantities
    )


def visible_end(code: str) -> str:
    """Return the digits that a mask leaves visible at the end, by which people name the whole: `ending in 8000`."""
    found = _LAST_DIGITS.search(code)
    return "" if found is None else found[1]


def _code(code: str, start: int, end: int) -> Mention:
    keys = [f"id:{code}"]
    if code.startswith("*") and visible_end(code):
        keys.append(f"digits:{visible_end(code)}")
    elif code.replace("-", "").isdigit():
        keys.append(f"digits:{code.replace('-', '')}")
    return Mention(kind=ClaimKind.IDENTIFIER, start=start, end=end, normalised=code[:200], keys=tuple(keys))


def _folded_url(url: str) -> str:
    scheme, separator, rest = url.rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme.lower()}{separator}{host.lower()}{slash if path else ''}{path}"


def _mention(kind: ClaimKind, start: int, end: int, text: str, key: str) -> Mention:
    normalised = key.partition(":")[2][:200]
    return Mention(kind=kind, start=start, end=end, normalised=normalised, keys=(key,), needle=text[start:end])


def _free(pattern: re.Pattern[str], text: str, taken: Taken) -> Iterator[re.Match[str]]:
    return (found for found in pattern.finditer(text) if taken.is_free(*found.span()))
