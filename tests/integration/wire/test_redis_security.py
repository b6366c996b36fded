"""Redis behind TLS, client certificates and users, on the server that Debian ships."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme
from pydantic import SecretStr

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, ConfigurationError
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.task import Priority
from taoloop.testing.ports import LOOPBACK, free_ports
from taoloop.wire.redis.redis_link import RedisLink, redis_link
from tests.integration.thought.queue_ground import job, reply, soon, take_one, topology_ground
from tests.redis_servers import RedisProcess, running

pytestmark = pytest.mark.real


@dataclass(frozen=True)
class Files:
    """Certificates of one authority."""

    authority: Path
    server: Path
    client: Path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    directory, authority = tmp_path_factory.mktemp("tls"), trustme.CA()
    authority.cert_pem.write_to_path(directory / "authority.pem")
    authority.issue_cert(LOOPBACK).private_key_and_cert_chain_pem.write_to_path(directory / "server.pem")
    authority.issue_cert("client").private_key_and_cert_chain_pem.write_to_path(directory / "client.pem")
    return Files(directory / "authority.pem", directory / "server.pem", directory / "client.pem")


@asynccontextmanager
async def secured(directory: Path, files: Files, **options: str) -> AsyncIterator[RedisProcess]:
    (port,) = free_ports(1)
    tls = {"port": "0", "tls-port": str(port), "tls-ca-cert-file": str(files.authority)}
    tls |= {"tls-cert-file": str(files.server), "tls-key-file": str(files.server)}
    connection = {"ssl": True, "ssl_ca_certs": str(files.authority)}
    connection |= {"ssl_certfile": str(files.client), "ssl_keyfile": str(files.client)}
    named = {name.replace("_", "-"): value for name, value in options.items()}
    binary = shutil.which("redis-server")
    assert binary is not None
    server = RedisProcess(directory / "redis", port, {**tls, **named}, binary, connection)
    async with running(server):
        yield server


@asynccontextmanager
async def linked(settings: RedisSettings) -> AsyncIterator[RedisLink]:
    async with redis_link(settings, Telemetry.build(TelemetrySettings(), "test")) as link:
        yield link


async def written(link: RedisLink) -> bool:
    return bool(await link.run(lambda client: client.set("taoloop:a", "b"), Deadline.after(5.0, SystemClock())))


async def test_a_server_with_tls_is_believed_by_its_authority_alone(tmp_path: Path, files: Files) -> None:
    async with secured(tmp_path, files, tls_auth_clients="no") as server:
        url = SecretStr(f"rediss://{LOOPBACK}:{server.port}/0")
        async with linked(RedisSettings(url=url, ca_file=files.authority)) as link:
            assert await written(link)
        async with linked(RedisSettings(url=url, outage_tolerance_seconds=0.2)) as link:
            with pytest.raises(BackendUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
                await written(link)


async def test_a_server_that_asks_for_a_certificate_is_shown_one(tmp_path: Path, files: Files) -> None:
    async with secured(tmp_path, files) as server:
        url = SecretStr(f"rediss://{LOOPBACK}:{server.port}/0")
        shown = RedisSettings(url=url, ca_file=files.authority, certificate_file=files.client)
        async with linked(shown) as link:
            assert await written(link)
        async with linked(RedisSettings(url=url, ca_file=files.authority, outage_tolerance_seconds=0.2)) as link:
            with pytest.raises(BackendUnavailable):
                await written(link)


async def test_a_user_is_let_in_and_a_wrong_password_is_told_at_once(tmp_path: Path, files: Files) -> None:
    async with secured(tmp_path, files, tls_auth_clients="no") as server:
        async with server.client() as client:
            await client.execute_command("ACL", "SETUSER", "app", "on", ">s3cret", "~taoloop:*", "+@all", "-@dangerous")
        for password, is_right in (("s3cret", True), ("wrong", False)):
            url = SecretStr(f"rediss://app:{password}@{LOOPBACK}:{server.port}/0")
            settings = RedisSettings(url=url, ca_file=files.authority, outage_tolerance_seconds=60.0)
            async with linked(settings) as link:
                if is_right:
                    assert await written(link)
                else:
                    with pytest.raises(BackendUnavailable) as refused:
                        await written(link)
                    assert refused.value.metadata["cause"] == "AuthenticationError"
                    assert "wrong" not in refused.value.message


async def test_the_queue_needs_no_more_than_the_documented_rights(tmp_path: Path, files: Files) -> None:
    """`docs/operations/queue.md` names these."""
    async with secured(tmp_path, files, tls_auth_clients="no") as server:
        async with server.client() as client:
            rights = ("resetchannels", "~test-*", "+@all", "-@admin", "-@dangerous", "+info")
            await client.execute_command("ACL", "SETUSER", "app", "on", ">s3cret", *rights)
        async with topology_ground(f"rediss://app:s3cret@{LOOPBACK}:{server.port}/0") as ground:
            front = await ground.front(ca_file=files.authority)
            worker = await ground.worker(ca_file=files.authority)
            for priority in Priority:
                asked = front.ask(job(f"t:{priority}:1", priority=priority), soon())
                async with asyncio.TaskGroup() as group:
                    reply_task = group.create_task(asked)
                    lease = await take_one(worker)
                    await worker.renew([lease])
                    await worker.answer(lease, reply())
                assert reply_task.result() == reply()
            assert (await worker.state()).length == 0
            await worker.tidy()


@pytest.mark.parametrize(
    ("setting", "text"), [("ca_file", "no certificate"), ("certificate_file", "-----BEGIN NOTHING-----")]
)
async def test_a_file_that_is_no_certificate_is_told_at_the_start(tmp_path: Path, setting: str, text: str) -> None:
    (tmp_path / "file.pem").write_text(text)
    settings = RedisSettings.model_validate({"url": "rediss://cache", setting: tmp_path / "file.pem"})

    with pytest.raises(ConfigurationError, match=rf"redis\.{setting}"):
        async with linked(settings):
            pass


async def test_certificates_for_a_server_without_tls_are_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="write rediss://"):
        async with linked(RedisSettings(url=SecretStr("redis://cache"), ca_file=tmp_path / "ca.pem")):
            pass
