"""Databases reached by SQLAlchemy Core: SQLite and PostgreSQL, their transactions and their tables' versions."""
