"""Foreign messages as exact JSON: field names as in the proto, 64-bit integers as numbers, no digit lost.

Proto3 JSON writes 64-bit integers as texts, since JavaScript would round them; here they become the integers that
they are. Bytes stay base64, enums their names, times RFC 3339, and a field without presence is always there.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonValue
from taoloop.wire.foreign.descriptors import ForeignMethod
from taoloop.wire.foreign.errors import AnswerUnreadable, RequestUnfit

_MAX_DEPTH: Final = 60
_FAULTY_FIELDS: Final = re.compile(r"(?:Failed to parse \w+ field: )+")
_UNKNOWN_FIELD: Final = re.compile(r'has no field named "(?P<field>\w+)"')
_WIDE: Final = frozenset(
    {
        FieldDescriptor.CPPTYPE_INT64,
        FieldDescriptor.CPPTYPE_UINT64,
    }
)
_WIDE_WRAPPERS: Final = frozenset({"google.protobuf.Int64Value", "google.protobuf.UInt64Value"})
_FREE: Final = frozenset({"google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"})
_ANY: Final = "google.protobuf.Any"


def encode_request(method: ForeignMethod, arguments: JsonValue) -> bytes:
    """Return the bytes of a request.

    Raises:
        RequestUnfit: The arguments are no such message, or have a fraction that no double holds.
    """
    _refuse_lossy(arguments, ())
    request = method.new_request()
    try:
        json_format.Parse(
            exact_json.dumps(arguments), request, descriptor_pool=method.pool, max_recursion_depth=_MAX_DEPTH
        )
    except json_format.ParseError as exc:  # its text may quote the value
        text = str(exc)
        unknown = _UNKNOWN_FIELD.search(text)
        if unknown is not None:
            name = unknown["field"]
            raise RequestUnfit(f"the message {method.request.name} has no field {name}", name) from exc
        faulty = _FAULTY_FIELDS.match(text)
        field = ".".join(re.findall(r"parse (\w+) field", faulty[0])) if faulty is not None else ""
        where = f"the field {field}" if field else "an argument"
        raise RequestUnfit(f"{where} does not fit the message {method.request.name}", field) from exc
    return request.SerializeToString()


def decode_reply(method: ForeignMethod, raw: bytes) -> JsonValue:
    """Return the exact JSON of a reply.

    Raises:
        AnswerUnreadable: The bytes are no such message, or one that has no JSON.
    """
    try:
        return message_json(method.read_reply(raw), method.pool)
    except DecodeError as exc:
        raise AnswerUnreadable(f"the answer is no {method.reply.name}") from exc
    except (json_format.Error, TypeError, ValueError, RecursionError) as exc:
        raise AnswerUnreadable(f"the answer, a {method.reply.name}, has no JSON form") from exc


def message_json(message: Message, pool: Any) -> JsonValue:
    """Return the exact JSON of a message."""
    written: JsonValue = json_format.MessageToDict(
        message,
        preserving_proto_field_name=True,
        always_print_fields_with_no_presence=True,
        descriptor_pool=pool,
    )
    return _Exact(pool).message(written, message.DESCRIPTOR)


class _Exact:
    """Turns the texts of 64-bit integers into integers, led by the descriptors."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    def message(self, value: Any, descriptor: Any) -> JsonValue:
        name = descriptor.full_name
        if name in _WIDE_WRAPPERS:
            return int(value)
        if name == _ANY:
            return self._any(value)
        if name in _FREE or not isinstance(value, dict):
            plain: JsonValue = value
            return plain
        fields = descriptor.fields_by_name
        return {key: self._field(item, fields[key]) if key in fields else item for key, item in value.items()}

    def _any(self, value: dict[str, Any]) -> JsonValue:
        kind = str(value.get("@type", "")).rpartition("/")[2]
        if not kind:
            return {}
        descriptor = self._pool.FindMessageTypeByName(kind)
        if kind.startswith("google.protobuf.") and "value" in value:  # a well-known type has its JSON there
            return {**value, "value": self.message(value["value"], descriptor)}
        exact = self.message({key: item for key, item in value.items() if key != "@type"}, descriptor)
        assert isinstance(exact, dict)
        return {"@type": value["@type"], **exact}

    def _field(self, value: Any, field: FieldDescriptor) -> JsonValue:
        entry = field.message_type
        if entry is not None and entry.GetOptions().map_entry:
            of_value = entry.fields_by_name["value"]
            return {key: self._one(each, of_value) for key, each in value.items()}
        if field.is_repeated:
            return [self._one(each, field) for each in value]
        return self._one(value, field)

    def _one(self, value: Any, field: FieldDescriptor) -> JsonValue:
        if field.message_type is not None:
            return self.message(value, field.message_type)
        exact: JsonValue = int(value) if field.cpp_type in _WIDE else value
        return exact


def _refuse_lossy(value: JsonValue, path: tuple[str, ...]) -> None:
    if isinstance(value, Decimal):
        near = float(value)
        if Decimal(repr(near)) != value:
            raise RequestUnfit("a fraction has more digits than a double holds", ".".join(path))
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_lossy(item, (*path, key))
    elif isinstance(value, list):
        for item in value:
            _refuse_lossy(item, path)
