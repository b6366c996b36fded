"""docker-compose.yml starts, runs tasks, is measured and stops in order: what `make test-containers` runs."""

import contextlib
import http.client
import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.packaging import checkout

COMPOSE = os.environ.get("COMPOSE_UNDER_TEST", "").split()
PROCESSES = ("thought", "thought-worker", "action", "observation")
SERVERS = ("redis", "postgres", "tools", "prometheus")
START_SECONDS = 240
GRACE_SECONDS = 60
"""As `stop_grace_period` in docker-compose.yml."""

pytestmark = [
    pytest.mark.skipif(not COMPOSE, reason="needs images and an engine of containers: make test-containers"),
    pytest.mark.timeout(400),
]


def compose(*arguments: str) -> str:
    """Run Compose on the file and return what it prints; its complaints are the failure's text."""
    result = subprocess.run(
        [*COMPOSE, *arguments],
        cwd=checkout.ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=START_SECONDS + 60,
    )
    if result.returncode != 0:
        pytest.fail(f"compose {' '.join(arguments)}: {result.stderr[-3000:]}", pytrace=False)
    return result.stdout


def start() -> None:
    """Start what is not running and return when every part says that it is healthy."""
    command = [*COMPOSE, "up", "--detach", "--no-build", "--wait", "--wait-timeout", str(START_SECONDS)]
    result = subprocess.run(
        command, cwd=checkout.ROOT, capture_output=True, text=True, check=False, timeout=START_SECONDS + 60
    )
    if result.returncode != 0:
        logs = compose("logs", "--no-color", "--tail", "20")
        pytest.fail(f"{result.stderr[-2000:]}\n{logs[-8000:]}", pytrace=False)


@pytest.fixture(scope="module", autouse=True)
def running() -> Iterator[None]:
    """Everything that the file starts, from the first test to the last."""
    try:
        start()
        yield
    finally:
        compose("down", "--volumes", "--timeout", "5")


def container_of(service: str) -> str:
    return compose("ps", "--all", "--quiet", service).strip()


def inspected(service: str) -> dict[str, Any]:
    """Return what the engine knows of a service's container."""
    engine = http.client.HTTPConnection("engine", timeout=30)
    engine.sock = socket.socket(socket.AF_UNIX)
    with contextlib.closing(engine):
        engine.sock.connect(os.environ["DOCKER_HOST"].removeprefix("unix://"))
        engine.request("GET", f"/containers/{container_of(service)}/json")
        found: dict[str, Any] = json.load(engine.getresponse())
    return found


def in_python(service: str, code: str) -> str:
    """Run a line of Python in a service's container."""
    return compose("exec", "-T", service, "python", "-c", code).strip()


def run_task(text: str, *options: str) -> tuple[int, list[dict[str, Any]]]:
    """Run a task through the published port; returns the exit code and the events."""
    result = subprocess.run(
        [
            str(checkout.ROOT / ".venv" / "bin" / "taoloop"),
            *("run", text, "--address", f"127.0.0.1:{os.environ['LOOP_PORT']}", "--json"),
            *("--reference-time", "2026-03-10T09:00:00+08:00", "--time-zone", "Asia/Shanghai", *options),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )
    assert "Traceback" not in result.stderr, result.stderr
    return result.returncode, [json.loads(line) for line in result.stdout.splitlines()]


def measured(query: str) -> dict[str, float]:
    """Return what Prometheus answers, by the label `service`."""
    url = f"http://127.0.0.1:{os.environ['PROMETHEUS_PORT']}/api/v1/query?query={query}"
    with urllib.request.urlopen(url, timeout=10) as response:
        rows = json.load(response)["data"]["result"]
    return {row["metric"].get("service", ""): float(row["value"][1]) for row in rows}


def eventually_measured(query: str, services: set[str]) -> dict[str, float]:
    """Ask until each of the services has a positive value; scrapes are five seconds apart."""
    deadline = time.monotonic() + 60
    while True:
        values = measured(query)
        if {service for service, value in values.items() if value > 0} >= services or time.monotonic() > deadline:
            return values
        time.sleep(1)


def test_task_is_answered_through_the_published_port() -> None:
    code, events = run_task("What will the weather be in Beijing tomorrow?")
    assert code == 0, json.dumps(events[-3:], ensure_ascii=False)
    assert "cloudy" in json.dumps(events[-2:]), events


def test_task_in_chinese_is_answered_with_its_long_number_intact() -> None:
    code, events = run_task("订单 20260308000012345 的快递到哪里了？")
    assert code == 0, json.dumps(events[-3:], ensure_ascii=False)
    assert "20260308000012345" in json.dumps(events[-2:], ensure_ascii=False)


def test_prometheus_scrapes_the_four_processes() -> None:
    run_task("What will the weather be in Beijing tomorrow?")
    assert eventually_measured("up", set(PROCESSES)) == dict.fromkeys(PROCESSES, 1.0)
    served = eventually_measured(
        "sum%20by%20(service)(taoloop_rpc_server_requests_total)", {"thought", "action", "observation"}
    )
    assert {"thought", "action", "observation"} <= {service for service, count in served.items() if count > 0}


def test_ledger_is_in_postgresql() -> None:
    tables = compose("exec", "-T", "postgres", "psql", "--host=/tmp", "--username=taoloop", "--list", "--tuples-only")
    assert "taoloop" in tables
    rows = compose(
        *("exec", "-T", "postgres", "psql", "--host=/tmp", "--username=taoloop", "--tuples-only"),
        *("--command", "select count(*) from information_schema.tables where table_schema = 'public'"),
    )
    assert int(rows.strip()) > 0


@pytest.mark.parametrize("service", PROCESSES)
def test_process_one_is_python_without_privileges(service: str) -> None:
    command_line = in_python(service, "print(open('/proc/1/cmdline').read().replace(chr(0), ' '))")
    assert "python" in command_line.split()[0]
    assert "serve" in command_line
    user, writable = in_python(service, "import os; print(os.getuid(), os.access('/', os.W_OK))").split()
    assert (user, writable) == ("10001", "False")
    effective = in_python(service, "print([l for l in open('/proc/1/status') if l.startswith('CapEff')][0].split()[1])")
    assert int(effective, 16) == 0


@pytest.mark.parametrize("service", PROCESSES)
def test_image_carries_what_its_lock_names_and_nothing_that_installs(service: str) -> None:
    code = "import importlib.metadata as m, json; print(json.dumps([d.name for d in m.distributions()]))"
    carried = {checkout.normalised(name) for name in json.loads(in_python(service, code))}
    lock = "loop" if service == "thought" else service  # the front hosts the loop
    locked = checkout.locked_versions(checkout.REQUIREMENTS / f"{lock}.txt").keys()
    assert carried - locked == {"taoloop"}


@pytest.mark.parametrize("service", [*PROCESSES, *SERVERS])
def test_every_part_is_limited_and_healthy(service: str) -> None:
    facts = inspected(service)
    assert facts["HostConfig"]["Memory"] > 0
    assert facts["State"]["Health"]["Status"] == "healthy"
    published = [
        binding for bindings in (facts["NetworkSettings"]["Ports"] or {}).values() for binding in bindings or []
    ]
    assert {binding["HostIp"] for binding in published} <= {"127.0.0.1"}


def test_sigterm_ends_each_process_in_order_and_the_next_start_goes_on() -> None:
    taken = {}
    for service in PROCESSES:
        began = time.monotonic()
        compose("stop", service)
        taken[service] = time.monotonic() - began
    codes = {service: inspected(service)["State"]["ExitCode"] for service in PROCESSES}
    assert codes == dict.fromkeys(PROCESSES, 0), compose("logs", "--no-color", "--tail", "5", *PROCESSES)
    assert max(taken.values()) < GRACE_SECONDS / 2, taken
    start()
    code, events = run_task("What will the weather be in Beijing tomorrow?")
    assert code == 0, json.dumps(events[-3:], ensure_ascii=False)
