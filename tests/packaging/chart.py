"""Renders the chart by Helm and finds things in what comes out."""

import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.packaging import checkout

CHART = checkout.ROOT / "helm" / "taoloop"
TOOLS = checkout.ROOT / ".taoloop" / "chart-tools" / "bin"

Manifest = dict[str, Any]

WITH_KEDA = ("thoughtWorker.keda.enabled=true", "thoughtWorker.keda.address=redis:6379")
WITH_EVERYTHING = (
    *WITH_KEDA,
    "thoughtWorker.keda.authentication=redis-login",
    "loop.separate=true",
    "networkPolicy.enabled=true",
    "action.autoscaling.enabled=true",
    "action.bases.orders=https://orders.example",
    "action.egressAllow[0]=10.0.0.0/8",
    "action.toolSecrets=tool-secrets",
    "action.jobHandleSecret=job-handles",
    "telemetry.otlpEndpoint=http://collector:4317",
    "catalogue.bundle=text",
)


def helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Helm; it needs no cluster for what is done here."""
    return subprocess.run([TOOLS / "helm", *arguments], capture_output=True, text=True, check=False, timeout=60)


@cache
def rendered(*settings: str) -> str:
    """Return the chart's manifests under these settings, each `path=value`."""
    options = [part for setting in settings for part in ("--set", setting)]
    result = helm("template", "shop", str(CHART), "--namespace", "agents", *options)
    assert result.returncode == 0, result.stderr
    return result.stdout


def manifests(*settings: str) -> list[Manifest]:
    """Return the parsed manifests under these settings."""
    return [document for document in YAML(typ="safe", pure=True).load_all(rendered(*settings)) if document]


def of_kind(kind: str, documents: Iterable[Manifest]) -> dict[str, Manifest]:
    """Return the manifests of a kind by the component that they belong to."""
    return {
        document["metadata"]["labels"].get("app.kubernetes.io/component", ""): document
        for document in documents
        if document["kind"] == kind
    }


def containers(deployment: Manifest) -> list[Manifest]:
    """Return the containers of a Deployment, or of a Job's template."""
    found: list[Manifest] = deployment["spec"]["template"]["spec"]["containers"]
    return found


def container(deployment: Manifest) -> Manifest:
    """Return the container of taoloop: a pod has one, first, whatever stands beside it."""
    first, *others = containers(deployment)
    assert all(other["name"] == "vllm" for other in others)
    return first


def environment(deployment: Manifest) -> dict[str, str | None]:
    """Return the variables of a Deployment's container; None for a value that comes from elsewhere."""
    return {entry["name"]: entry.get("value") for entry in container(deployment)["env"]}


def default_values() -> Manifest:
    """Return what values.yaml says."""
    values: Manifest = YAML(typ="safe", pure=True).load(Path(CHART / "values.yaml"))
    return values
