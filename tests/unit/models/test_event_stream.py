"""Server-sent events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.models.event_stream import EventStream


def data_of(*chunks: bytes) -> list[bytes]:
    stream = EventStream()
    found = [data for chunk in chunks for data in stream.feed(chunk)]
    return [*found, *stream.close()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b": ping\n\ndata: a\n\n", [b"a"]),
        (b"event: message\nid: 3\nretry: 10\ndata: a\n\n", [b"a"]),
        (b"data: a\n", [b"a"]),
        (b"data: a", [b"a"]),
        (b"\n\n\n", []),
        (b"<html>no event</html>", []),
        (b"data\n\n", [b""]),
    ],
)
def test_the_data_of_every_event_is_found(text: bytes, expected: list[bytes]) -> None:
    assert data_of(text) == expected


@given(st.lists(st.sampled_from([b"data: a\n", b"data: \xe4\xbd\xa0\n", b"\r\n", b"\n", b": c\n", b"x"])), st.data())
def test_it_does_not_matter_how_the_bytes_were_cut(parts: list[bytes], draw: st.DataObject) -> None:
    text = b"".join(parts)
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(text)), max_size=10)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert data_of(*pieces) == data_of(text)


@given(st.binary(max_size=300))
def test_any_bytes_are_taken(text: bytes) -> None:
    assert all(isinstance(data, bytes) for data in data_of(text))
