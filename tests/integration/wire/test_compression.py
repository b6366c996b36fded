"""Callers may compress their messages; the limit of their size is that of what they unpack to."""

from typing import Any

import grpc
import grpc.aio
import pytest

from taoloop.api.v1 import observation_pb2, observation_pb2_grpc
from taoloop.core.settings import GrpcSettings
from taoloop.wire.records.codec import encode


async def observe(address: str, request: Any, compression: grpc.Compression | None) -> Any:
    # The client's own limit is of what it sends unpacked, too; a caller of ours would not get this far.
    options = (("grpc.max_send_message_length", -1),)
    async with grpc.aio.insecure_channel(address, options=options, compression=compression) as channel:
        stub: Any = observation_pb2_grpc.ObservationServiceStub(channel)
        return await stub.Observe(request, timeout=10)


@pytest.mark.parametrize("compression", [None, grpc.Compression.Gzip, grpc.Compression.Deflate])
async def test_a_message_is_read_however_it_is_packed(rig: Any, compression: grpc.Compression | None) -> None:
    request = encode(rig.request(filler=200_000), observation_pb2.ObserveRequest)
    async with rig.serving(rig.observation()) as server:
        reply = await observe(server.address, request, compression)

    assert reply.result.valid


async def test_a_packed_message_may_not_unpack_to_more_than_the_limit(rig: Any) -> None:
    settings = GrpcSettings(max_message_bytes=64 * 1024)
    request = encode(rig.request(filler=5_000_000), observation_pb2.ObserveRequest)
    async with rig.serving(rig.observation(), settings=settings) as server:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await observe(server.address, request, grpc.Compression.Gzip)
        small = encode(rig.request(), observation_pb2.ObserveRequest)
        reply = await observe(server.address, small, grpc.Compression.Gzip)

    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert reply.result.valid
