"""Effects and approvals on SQLite or PostgreSQL, by SQLAlchemy Core."""

from taoloop.core.errors import ConfigurationError

try:
    import sqlalchemy as sqlalchemy
except ImportError as exc:
    raise ConfigurationError("The effect ledger needs the extra `action`.", metadata={"extra": "action"}) from exc
