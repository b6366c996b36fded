"""What an address tells of who sees what is sent there."""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from taoloop.tools.signature import Reach

UNKNOWN_BASE: Final = "https://unknown.invalid"
"""Stands for an address that nobody told."""

_OWN_DOMAINS: Final = (".local", ".internal", ".lan", ".intranet", ".corp", ".home.arpa", ".svc")


def likely_reach(url: str) -> Reach:
    """Return who most likely sees what is sent to an address: outward unless its host is plainly one's own.

    >>> likely_reach("http://10.0.0.7:8080").value, likely_reach("https://api.example.com").value
    ('internal', 'outward')
    """
    host = urlsplit(url).hostname or ""
    try:
        return Reach.OUTWARD if ipaddress.ip_address(host).is_global else Reach.INTERNAL
    except ValueError:
        is_own = "." not in host or host.endswith(_OWN_DOMAINS)
        return Reach.INTERNAL if is_own else Reach.OUTWARD
