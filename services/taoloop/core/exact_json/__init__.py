"""JSON that keeps every value exact: integers of any length, decimals as written, nothing guessed."""

from taoloop.core.exact_json.model import (
    ABSENT,
    MAX_DEPTH,
    MAX_INTEGER_DIGITS,
    Absent,
    Json,
    JsonEncodeError,
    JsonSyntaxError,
    JsonValue,
)
from taoloop.core.exact_json.reading import loads
from taoloop.core.exact_json.writing import canonical, digest, dumps, equal

__all__ = [
    "ABSENT",
    "MAX_DEPTH",
    "MAX_INTEGER_DIGITS",
    "Absent",
    "Json",
    "JsonEncodeError",
    "JsonSyntaxError",
    "JsonValue",
    "canonical",
    "digest",
    "dumps",
    "equal",
    "loads",
]
