"""Warm memory on SQLite or PostgreSQL, by SQLAlchemy Core."""

from taoloop.core.errors import ConfigurationError

try:
    import sqlalchemy as sqlalchemy
except ImportError as exc:
    raise ConfigurationError(
        "Warm memory needs the extra `loop`; install `taoloop[loop]`, or unset TAOLOOP_MEMORY__WARM__URL.",
        metadata={"extra": "loop"},
    ) from exc
