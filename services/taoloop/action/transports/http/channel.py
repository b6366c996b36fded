"""What another transport needs to speak HTTP by the same rules: a guarded pool, and credentials for its requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from taoloop.action.transports.http.credentials import Authorisation
from taoloop.action.transports.http.pools import ToolPool


@dataclass(frozen=True, slots=True)
class Channel:
    """The way to one server.

    Attributes:
        pool: Its connections; the URL that the channel was opened for is admitted.
        authorise: Returns what the next request carries, raising `TransportFault` without it.
        forget: Drops an access token that the server refused; returns whether there was one.
    """

    pool: ToolPool
    authorise: Callable[[], Awaitable[Authorisation]]
    forget: Callable[[Authorisation], bool]
