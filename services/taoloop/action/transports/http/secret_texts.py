"""Secrets as they are put into requests."""

from __future__ import annotations

import re
from typing import Final

from taoloop.action.ports import SecretSource, TransportFault
from taoloop.core.faults import FaultCode

_FORBIDDEN_IN_HEADERS: Final = re.compile(r"[^\x20-\x7e\x80-\U0010ffff]")


async def required_secret(secrets: SecretSource, name: str) -> str:
    """Return a secret's value.

    Raises:
        TransportFault: CREDENTIAL_MISSING, it is not configured.
    """
    value = await secrets.secret(name)
    if value is None:
        message = f"The secret {name} is not configured."
        raise TransportFault(FaultCode.CREDENTIAL_MISSING, message, may_have_left=False)
    return value


async def header_secret(secrets: SecretSource, name: str) -> str:
    """Return a secret's value for use in a header.

    Raises:
        TransportFault: CREDENTIAL_MISSING, it is not configured; CREDENTIAL_REFUSED, it holds control characters,
            such as the line end of a file that was written by hand.
    """
    value = await required_secret(secrets, name)
    if _FORBIDDEN_IN_HEADERS.search(value):
        message = f"The secret {name} holds characters that no header can hold."
        raise TransportFault(FaultCode.CREDENTIAL_REFUSED, message, may_have_left=False)
    return value
