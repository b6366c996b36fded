"""The calls that the README shows work against the services."""

import asyncio
import re
import sys

import pytest
from google.protobuf import json_format

from taoloop.api.v1 import loop_pb2
from taoloop.testing.stack import StackOptions, dev_stack
from tests.packaging import checkout, pages

README = checkout.ROOT / "README.md"


@pytest.mark.timeout(90)
async def test_python_client_of_the_readme_gets_an_answer() -> None:
    [program] = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    async with dev_stack(StackOptions(catalogue=checkout.ROOT / "examples" / "customer-service")) as stack:
        assert "127.0.0.1:7701" in program
        client = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            program.replace("127.0.0.1:7701", stack.loop_address),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        printed, errors = await asyncio.wait_for(client.communicate(), 40.0)

    assert (client.returncode, errors.decode()) == (0, "")
    assert "SF100200300400" in printed.decode()


def test_grpcurl_call_of_the_readme_has_the_form_of_the_request() -> None:
    [command] = pages.commands(README, "grpcurl")
    request = json_format.Parse(command.words[command.words.index("-d") + 1], loop_pb2.RunRequest())
    assert len(request.task.turns) == 1
    service, _, rpc = command.words[-1].rpartition("/")
    assert rpc in loop_pb2.DESCRIPTOR.services_by_name[service.rpartition(".")[2]].methods_by_name
