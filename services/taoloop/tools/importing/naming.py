"""Names and sentences of contracts, made from those of other people's documents."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

MAX_NAME: Final = 64
"""Longest name of a tool in characters."""

MAX_DESCRIPTION: Final = 100
"""Longest description of a tool or parameter in characters, by convention."""

_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z]{2})(?=[A-Z][a-z])")
_FOREIGN = re.compile(r"[^A-Za-z0-9]+")
_SENTENCE = re.compile(r"(?<=[.!?。！？])(?<!e\.g\.)(?<!i\.e\.)\s|(?<=[。！？])")
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>|[`*]{1,3}|!?\[([^\[\]]*)\]\([^()]*\)")


def snake_case(text: str, *, otherwise: str = "value") -> str:
    """Return the text as lower-case words joined by `_`, at most 64 characters, beginning with a letter.

    Args:
        text: Any name.
        otherwise: What is returned for a text without a letter or digit.

    >>> snake_case("getUserByID"), snake_case("repos/list-for-user"), snake_case("2fa")
    ('get_user_by_id', 'repos_list_for_user', 'x_2fa')
    """
    words = _FOREIGN.sub("_", _BORDER.sub("_", text)).strip("_").lower()
    if not words:
        return otherwise
    return (words if words[0].isalpha() else f"x_{words}")[:MAX_NAME].rstrip("_")


def upper_snake(*parts: str) -> str:
    """Return the parts as one name of a secret, such as `PETSTORE_API_KEY`."""
    return "_".join(snake_case(part, otherwise="x") for part in parts if part).upper()


def unique(name: str, taken: Collection[str]) -> str:
    """Return the name, or with the first free number from 2 behind it.

    >>> unique("id", {"id", "id_2"})
    'id_3'
    """
    if name not in taken:
        return name
    number = 2
    while (numbered := f"{name[: MAX_NAME - len(str(number)) - 1]}_{number}") in taken:
        number += 1
    return numbered


def one_line(text: str) -> str:
    r"""Return the text without markup, on one line.

    >>> one_line("Finds **one**  [pet](http://x).\n")
    'Finds one pet.'
    """
    return " ".join(_MARKUP.sub(lambda found: found[1] or "", text).split())


def shortened(text: str, limit: int = MAX_DESCRIPTION) -> str:
    """Return the text on one line; of a longer one its first sentence, else as many words as fit and `…`.

    >>> shortened("Finds a pet. Throws no error.", 20)
    'Finds a pet.'
    >>> shortened("Finds a pet by its id", 12)
    'Finds a pet…'
    """
    line = one_line(text)
    if len(line) <= limit:
        return line
    first = _SENTENCE.split(line, maxsplit=1)[0]
    if len(first) <= limit:
        return first
    cut = first[: limit - 1]
    words = cut if first[limit - 1] == " " else cut.rpartition(" ")[0]
    return (words or cut).rstrip(" ,;:.-") + "…"
