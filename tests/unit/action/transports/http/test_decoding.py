"""Rules by which a body is decoded."""

import gzip
import zlib

import pytest

from taoloop.action.transports.http.decoding import BodyDecoder, BodyTooLarge, EncodingBroken

TEXT = b'{"a":1}' * 50


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def decoded(encoding: str, data: bytes, piece: int = 7, limit: int = 10_000) -> bytes:
    decoder = BodyDecoder(encoding, limit)
    for start in range(0, len(data), piece):
        decoder.feed(data[start : start + piece])
    decoder.finish()
    return bytes(decoder.body)


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        pytest.param("", TEXT, id="none"),
        pytest.param("identity", TEXT, id="identity"),
        pytest.param("gzip", gzip.compress(TEXT), id="gzip"),
        pytest.param(" X-GZIP ", gzip.compress(TEXT), id="its old name"),
        pytest.param("gzip", gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:]), id="two members"),
        pytest.param("gzip", gzip.compress(TEXT) + b"\0" * 20, id="padded"),
        pytest.param("deflate", zlib.compress(TEXT), id="deflate"),
        pytest.param("deflate", raw_deflate(TEXT), id="raw deflate"),
    ],
)
@pytest.mark.parametrize("piece", [1, 7, 10_000])
def test_a_body_is_decoded_whatever_its_pieces(encoding: str, data: bytes, piece: int) -> None:
    assert decoded(encoding, data, piece) == TEXT


@pytest.mark.parametrize("encoding", ["", "gzip", "deflate"])
def test_no_bytes_are_an_empty_body(encoding: str) -> None:
    assert decoded(encoding, b"") == b""


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        pytest.param("gzip", b"no gzip at all", id="no gzip"),
        pytest.param("gzip", gzip.compress(TEXT)[:-9], id="cut gzip"),
        pytest.param("gzip", gzip.compress(TEXT)[:-1] + b"\x07", id="wrong length at the end"),
        pytest.param("gzip", gzip.compress(TEXT) + b"garbage", id="garbage after gzip"),
        pytest.param("deflate", zlib.compress(TEXT)[:-5], id="cut deflate"),
        pytest.param("deflate", zlib.compress(TEXT) + b"more", id="more after deflate"),
        pytest.param("deflate", b"\xff\xff\xff", id="no deflate"),
    ],
)
def test_a_broken_or_cut_encoding_is_refused(encoding: str, data: bytes) -> None:
    with pytest.raises(EncodingBroken):
        decoded(encoding, data)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "nonsense"])
def test_an_encoding_that_was_not_asked_for_is_refused(encoding: str) -> None:
    with pytest.raises(EncodingBroken):
        BodyDecoder(encoding, 10)


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_more_than_the_limit_is_refused_with_what_came_up_to_it(encoding: str) -> None:
    decoder = BodyDecoder(encoding, 100)
    data = gzip.compress(b"0" * 50_000_000) if encoding else TEXT
    with pytest.raises(BodyTooLarge):
        decoder.feed(data)
    assert len(decoder.body) == 100


def test_exactly_the_limit_is_taken() -> None:
    assert len(decoded("gzip", gzip.compress(b"0" * 1000), limit=1000)) == 1000


def test_members_in_a_row_are_one_body_and_thousands_of_them_are_refused() -> None:
    member = gzip.compress(b"ab", mtime=0)
    assert decoded("gzip", member * 400, piece=4096) == b"ab" * 400
    with pytest.raises(EncodingBroken, match="more than 500 members"):
        decoded("gzip", gzip.compress(b"", mtime=0) * 20_000, piece=65_536)
