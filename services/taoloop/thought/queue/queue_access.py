"""What either side of the queue needs to reach it."""

from __future__ import annotations

from dataclasses import dataclass

from taoloop.core.clock import Clock
from taoloop.core.telemetry import Telemetry
from taoloop.thought.queue.job_codec import JobCodec
from taoloop.thought.queue.queue_keys import QueueKeys
from taoloop.wire.redis.redis_link import RedisLink


@dataclass(frozen=True, slots=True)
class QueueAccess:
    """One queue on one Redis or Valkey.

    Attributes:
        link: The connection.
        codec: Jobs and replies to bytes and back.
        keys: Names of the keys.
        clock: For deadlines, and for pauses while the server is away.
        telemetry: Where refusals and losses are counted.
    """

    link: RedisLink
    codec: JobCodec
    keys: QueueKeys
    clock: Clock
    telemetry: Telemetry
