"""E-mail addresses."""

from __future__ import annotations

import re
from typing import Final

from taoloop.values.folding import fold_width
from taoloop.values.refusals import RefusalCode, ValueRefused, unreadable

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS: Final = re.compile(rf"(?P<local>{_ATOM}(?:\.{_ATOM})*)@(?P<domain>{_LABEL}(?:\.{_LABEL})+)")
_MAX_LOCAL, _MAX_WHOLE = 64, 254


def parse_email(text: str) -> str:
    """Read one address; the domain becomes lower case, the local part stays as it is.

    Accepted is the dot-atom form with a domain of at least two labels; quoted local parts, comments, address
    literals and letters outside ASCII are refused. A leading `mailto:` is dropped.

    Source: RFC 5321, sections 4.1.2 and 4.5.3.1 (64 octets before the @, 254 in all).

    >>> parse_email("Ann.Lee@Example.COM")
    'Ann.Lee@example.com'

    Raises:
        ValueRefused: UNREADABLE, or OUT_OF_RANGE when it is too long.
    """
    found = _ADDRESS.fullmatch(fold_width(text).removeprefix("mailto:"))
    if found is None:
        raise unreadable("an e-mail address")
    address = f"{found['local']}@{found['domain'].lower()}"
    if len(found["local"]) > _MAX_LOCAL or len(address) > _MAX_WHOLE:
        raise ValueRefused(
            RefusalCode.OUT_OF_RANGE, "An e-mail address has at most 64 characters before the @ and 254 in all."
        )
    return address
