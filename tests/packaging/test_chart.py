"""The chart lints, renders under every option, fits the schemas of Kubernetes, and keeps what the services need."""

import itertools
import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from taoloop.action.settings import LedgerOnlySettings
from taoloop.cli.deployables import DeployableName, settings_classes
from taoloop.cli.main import app
from taoloop.core.settings import describe
from taoloop.loop.settings import LoopSettings
from taoloop.plan.task import Priority
from taoloop.thought.queue.queue_keys import GROUP, QueueKeys
from taoloop.wire.health import LIVENESS
from tests.packaging import checkout
from tests.packaging.chart import (
    CHART,
    TOOLS,
    WITH_EVERYTHING,
    WITH_KEDA,
    Manifest,
    container,
    default_values,
    environment,
    helm,
    manifests,
    of_kind,
    rendered,
)

pytestmark = pytest.mark.real

VARIANTS: dict[str, tuple[str, ...]] = {
    "defaults": (),
    "everything": WITH_EVERYTHING,
    "keda": WITH_KEDA,
    "split loop": ("loop.separate=true",),
    "warm memory": ("memory.secret.name=taoloop-memory",),
    "warm memory of a split loop": ("loop.separate=true", "memory.secret.name=taoloop-memory"),
    "autoscaling": ("thought.autoscaling.enabled=true", "thoughtWorker.autoscaling.enabled=true"),
    "network policy": ("networkPolicy.enabled=true",),
    "bundle": ("catalogue.bundle=text",),
    "no extras": ("podDisruptionBudget.enabled=false", "serviceAccount.create=false"),
    "slow drain": ("shutdown.graceSeconds=600", "shutdown.preStopSeconds=30"),
    "no preStop": ("shutdown.preStopSeconds=0",),
    "forgetting": ("ledger.forgetting.enabled=true",),
    "both timers": ("ledger.forgetting.enabled=true", "redis.sweeping.enabled=true"),
    "model in the pod": ("model.serve=sidecar",),
    "model of all": ("model.serve=service",),
}
SERVICES = {"thought", "thought-worker", "action", "observation"}

every_variant = pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS.keys())


def deployments(settings: tuple[str, ...]) -> dict[str, Manifest]:
    """Return those of taoloop's own images; test_chart_model.py looks at the model's."""
    found = of_kind("Deployment", manifests(*settings))
    found.pop("model", None)
    return found


def test_chart_lints_without_a_complaint() -> None:
    result = helm("lint", "--strict", str(CHART))
    assert result.returncode == 0, result.stdout + result.stderr
    assert "WARNING" not in result.stdout
    assert "ERROR" not in result.stdout


@every_variant
def test_every_manifest_fits_the_schemas_of_kubernetes(settings: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "manifests.yaml"
    file.write_text(rendered(*settings))
    validator = [str(TOOLS / "kubernetes-validate"), "--strict", str(file)]
    result = subprocess.run(validator, capture_output=True, text=True, check=False, timeout=60)
    unseen = [line for line in (result.stdout + result.stderr).splitlines() if "INFO" not in line]
    # KEDA's ScaledObject is no part of Kubernetes; what stands in it is checked below.
    assert [line for line in unseen if "ScaledObject" not in line] == []
    assert result.returncode == 0


@every_variant
def test_each_service_has_a_deployment_a_service_and_an_account(settings: tuple[str, ...]) -> None:
    documents = manifests(*settings)
    expected = SERVICES | ({"loop"} if "loop.separate=true" in settings else set())
    expected |= {"model"} if "model.serve=service" in settings else set()
    assert of_kind("Deployment", documents).keys() == of_kind("Service", documents).keys() == expected


@every_variant
def test_grace_period_covers_pre_stop_and_both_drains(settings: tuple[str, ...]) -> None:
    for name, deployment in deployments(settings).items():
        pod = deployment["spec"]["template"]["spec"]
        pre_stop = container(deployment).get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        drain = float(environment(deployment)["TAOLOOP_SHUTDOWN_GRACE_SECONDS"] or "")
        assert pod["terminationGracePeriodSeconds"] >= pre_stop + 2 * drain + 5, name


@every_variant
def test_pods_are_confined(settings: tuple[str, ...]) -> None:
    timers = {name: timer["spec"]["jobTemplate"] for name, timer in of_kind("CronJob", manifests(*settings)).items()}
    for name, deployment in (deployments(settings) | timers).items():
        pod = deployment["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["automountServiceAccountToken"] is False, name
        security = container(deployment)["securityContext"]
        assert security == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, name
        resources = container(deployment)["resources"]
        assert resources["requests"].keys() == resources["limits"].keys() == {"cpu", "memory"}, name


@every_variant
def test_probes_ask_over_grpc_and_liveness_ignores_dependencies(settings: tuple[str, ...]) -> None:
    for name, deployment in deployments(settings).items():
        it = container(deployment)
        port = next(port["containerPort"] for port in it["ports"] if port["name"] == "grpc")
        assert it["readinessProbe"]["grpc"] == {"port": port}, name
        assert it["livenessProbe"]["grpc"] == it["startupProbe"]["grpc"] == {"port": port, "service": LIVENESS}, name


@every_variant
def test_images_have_a_fixed_tag_and_start_the_service_by_name(settings: tuple[str, ...]) -> None:
    for name, deployment in deployments(settings).items():
        it = container(deployment)
        assert it["image"] == f"taoloop/{name}:{checkout.project()['version']}"
        assert it["args"][0] == "serve"
        assert name in it["args"]
        assert set(it["args"][1:]) <= set(DeployableName)
        assert "command" not in it, "the image's entry point makes Python process 1"


@every_variant
def test_variables_are_known_settings_of_the_services_in_the_pod(settings: tuple[str, ...]) -> None:
    classes = settings_classes()
    for name, deployment in deployments(settings).items():
        served = [DeployableName(argument) for argument in container(deployment)["args"][1:]]
        known = {row.env for service in served for row in describe(classes[service])}
        names = [entry["name"] for entry in container(deployment)["env"]]
        assert len(names) == len(set(names)), name
        assert set(names) - known == set(), name


@every_variant
def test_services_listen_where_the_ports_say(settings: tuple[str, ...]) -> None:
    for name, deployment in deployments(settings).items():
        ports = {port["name"]: port["containerPort"] for port in container(deployment)["ports"]}
        listening = {value for key, value in environment(deployment).items() if key.endswith("_LISTEN")}
        assert listening == {f"0.0.0.0:{ports['grpc']}"}, name
        assert environment(deployment)["TAOLOOP_TELEMETRY__METRICS_PORT"] == str(ports["metrics"]), name


@every_variant
def test_clients_resolve_every_pod_of_a_headless_service(settings: tuple[str, ...]) -> None:
    documents = manifests(*settings)
    offered = set()
    for name, service in of_kind("Service", documents).items():
        if name == "model":
            continue  # over HTTP each call may take another connection
        assert service["spec"]["clusterIP"] == "None"
        port = next(port["port"] for port in service["spec"]["ports"] if port["name"] == "grpc")
        offered.add(f"dns:///{service['metadata']['name']}:{port}")
    called = {
        value
        for deployment in of_kind("Deployment", documents).values()
        for key, value in environment(deployment).items()
        if key.endswith("_ADDRESS")
    }
    assert len(called) >= 2
    assert called <= offered


@every_variant
def test_replicas_are_unset_where_something_else_sets_them(settings: tuple[str, ...]) -> None:
    documents = manifests(*settings)
    scaled = of_kind("HorizontalPodAutoscaler", documents).keys() | of_kind("ScaledObject", documents).keys()
    without = {
        name for name, deployment in of_kind("Deployment", documents).items() if "replicas" not in deployment["spec"]
    }
    assert scaled == without


def test_each_option_that_scales_makes_what_scales() -> None:
    assert of_kind("ScaledObject", manifests(*WITH_KEDA)).keys() == {"thought-worker"}
    assert of_kind("HorizontalPodAutoscaler", manifests("action.autoscaling.enabled=true")).keys() == {"action"}
    assert of_kind("HorizontalPodAutoscaler", manifests()) == {}


def test_keda_watches_the_streams_and_the_group_of_the_workers() -> None:
    scaled = of_kind("ScaledObject", manifests(*WITH_KEDA, "redis.keyPrefix=shop"))["thought-worker"]
    keys = QueueKeys("shop")
    for measure in ("lagCount", "pendingEntriesCount"):
        watched = [each["metadata"] for each in scaled["spec"]["triggers"] if measure in each["metadata"]]
        assert sorted(each["stream"] for each in watched) == sorted(keys.jobs(priority) for priority in Priority)
    for trigger in scaled["spec"]["triggers"]:
        assert trigger["type"] == "redis-streams"
        assert trigger["metadata"]["consumerGroup"] == GROUP
        assert trigger["metadata"]["address"] == "redis:6379"
        assert all(isinstance(value, str) for value in trigger["metadata"].values())


def test_keda_wakes_for_one_job_and_keeps_workers_that_have_work() -> None:
    spec = of_kind("ScaledObject", manifests(*WITH_KEDA, "thoughtWorker.keda.minReplicas=0"))["thought-worker"]["spec"]
    lag, pending, *_ = (trigger["metadata"] for trigger in spec["triggers"])
    assert (lag["lagCount"], lag["activationLagCount"]) == ("5", "0")
    assert pending["pendingEntriesCount"] == str(default_values()["thoughtWorker"]["slots"])
    assert spec["minReplicaCount"] == 0
    # A backlog that cannot be seen never scales to zero.
    assert spec["fallback"]["replicas"] == 1
    assert spec["fallback"]["behavior"] == "currentReplicasIfHigher"


def test_keda_keeps_one_worker_by_default() -> None:
    assert of_kind("ScaledObject", manifests(*WITH_KEDA))["thought-worker"]["spec"]["minReplicaCount"] == 1


def test_worker_has_two_cores_and_four_gibibytes() -> None:
    resources = container(deployments(())["thought-worker"])["resources"]
    assert resources["requests"] == resources["limits"] == {"cpu": "2", "memory": "4Gi"}


def test_secrets_come_by_reference_only() -> None:
    for settings in VARIANTS.values():
        assert of_kind("Secret", manifests(*settings)) == {}
    variables = {entry["name"]: entry for entry in container(deployments(())["action"])["env"]}
    assert variables["TAOLOOP_LEDGER__URL"]["valueFrom"] == {"secretKeyRef": {"name": "taoloop-ledger", "key": "url"}}
    board = variables["TAOLOOP_BOARD__REDIS__URL"]
    assert board["valueFrom"] == {"secretKeyRef": {"name": "taoloop-redis", "key": "url"}}
    observed = {entry["name"]: entry for entry in container(deployments(())["observation"])["env"]}
    assert observed["TAOLOOP_OBSERVATION_DRIFT__REDIS__URL"]["valueFrom"] == board["valueFrom"]
    assert "TAOLOOP_JOB_HANDLE_KEY" not in variables
    sealed = {
        entry["name"]: entry for entry in container(deployments(("action.jobHandleSecret=seal",))["action"])["env"]
    }
    assert sealed["TAOLOOP_JOB_HANDLE_KEY"]["valueFrom"] == {"secretKeyRef": {"name": "seal", "key": "key"}}


@pytest.mark.parametrize(("variant", "host"), [("warm memory", "thought"), ("warm memory of a split loop", "loop")])
def test_warm_memory_is_given_to_who_hosts_the_loop_alone(variant: str, host: str) -> None:
    for name, deployment in deployments(VARIANTS[variant]).items():
        given = {entry["name"]: entry for entry in container(deployment)["env"]}.get("TAOLOOP_MEMORY__WARM__URL")
        reference = {"secretKeyRef": {"name": "taoloop-memory", "key": "url"}}
        assert (given or {}).get("valueFrom") == (reference if name == host else None), name


def forgetting(*settings: str) -> Manifest:
    (timer,) = of_kind("CronJob", manifests("ledger.forgetting.enabled=true", *settings)).values()
    return timer


def test_nothing_is_forgotten_unless_it_is_wanted() -> None:
    assert of_kind("CronJob", manifests()) == {}


def test_forgetting_runs_the_command_in_the_image_that_reads_the_ledger() -> None:
    timer = forgetting("ledger.forgetting.olderThan=400d", "ledger.forgetting.schedule=@weekly")
    it = container(timer["spec"]["jobTemplate"])
    assert it["image"] == container(deployments(())["action"])["image"]
    assert timer["spec"]["schedule"] == "@weekly"
    command, *options = it["args"]
    assert command == "gc"
    assert options == ["--older-than", "400d", "--json"]
    known = CliRunner().invoke(app, [*it["args"], "--help"])
    assert known.exit_code == 0, known.output


def test_forgetting_reads_the_ledger_of_the_action_service_and_nothing_else() -> None:
    spec = forgetting("ledger.secret.name=books")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (it,) = spec["containers"]
    secret = {"secretKeyRef": {"name": "books", "key": "url"}}
    assert it["env"] == [{"name": "TAOLOOP_LEDGER__URL", "valueFrom": secret}]
    assert {row.env for row in describe(LedgerOnlySettings)} >= {entry["name"] for entry in it["env"]}
    assert [volume["name"] for volume in spec["volumes"]] == ["tmp"]


@pytest.mark.parametrize(("settings", "host"), [((), "thought"), (("loop.separate=true",), "loop")])
def test_sweeping_runs_in_the_image_and_by_the_settings_of_who_hosts_the_loop(
    settings: tuple[str, ...], host: str
) -> None:
    kept = (f"{host}.env.TAOLOOP_RUN_RETENTION_SECONDS=1200", "redis.secret.name=logs", "redis.keyPrefix=shop")
    wanted = (*settings, *kept, "redis.sweeping.enabled=true", "redis.sweeping.schedule=@weekly")
    (timer,) = of_kind("CronJob", manifests(*wanted)).values()
    assert timer["spec"]["schedule"] == "@weekly"
    it = container(timer["spec"]["jobTemplate"])
    assert it["image"] == container(deployments(settings)[host])["image"]
    assert it["args"] == ["gc", "--runs", "--json"]
    given = {entry["name"]: entry.get("value") or entry["valueFrom"] for entry in it["env"]}
    assert given == {
        "TAOLOOP_REDIS__KEY_PREFIX": "shop",
        "TAOLOOP_REDIS__URL": {"secretKeyRef": {"name": "logs", "key": "url"}},
        "TAOLOOP_RUN_RETENTION_SECONDS": "1200",
    }
    assert {row.env for row in describe(LoopSettings)} >= set(given)
    known = CliRunner().invoke(app, [*it["args"], "--help"])
    assert known.exit_code == 0, known.output


def test_forgetting_never_runs_twice_at_once_and_comes_to_an_end() -> None:
    timer = forgetting("ledger.forgetting.maxSeconds=600")["spec"]
    job = timer["jobTemplate"]["spec"]
    assert timer["concurrencyPolicy"] == "Forbid"
    assert job["activeDeadlineSeconds"] == 600
    assert job["template"]["spec"]["restartPolicy"] == "Never"


def test_name_of_the_timer_fits_kubernetes_however_long_the_release_is_called() -> None:
    timers = of_kind("CronJob", manifests(*VARIANTS["both timers"], f"fullnameOverride={'a' * 48}"))
    assert len(timers) == 2
    for timer in timers.values():
        assert len(timer["metadata"]["name"]) <= 52  # it adds eleven characters for its jobs


def test_bundle_becomes_the_mounted_config_map_and_its_change_starts_new_pods() -> None:
    first, second = (manifests(f"catalogue.bundle={text}") for text in ("one", "two"))
    (config_map,) = of_kind("ConfigMap", first).values()
    assert config_map["data"] == {"catalogue.json": "one"}
    pods = [of_kind("Deployment", documents)["action"]["spec"]["template"] for documents in (first, second)]
    volumes = {volume["name"]: volume for volume in pods[0]["spec"]["volumes"]}
    assert volumes["catalogue"]["configMap"]["name"] == config_map["metadata"]["name"]
    assert pods[0]["metadata"]["annotations"] != pods[1]["metadata"]["annotations"]


def test_network_policy_opens_the_loop_alone_to_others() -> None:
    policies = of_kind("NetworkPolicy", manifests("networkPolicy.enabled=true"))
    peers = {name: len(policy["spec"]["ingress"][0]["from"]) for name, policy in policies.items()}
    assert peers == {"thought": 2, "thought-worker": 1, "action": 1, "observation": 1}


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("image.tag=latest", "/image/tag"),
        ("thoughts.replicas=3", "thoughts"),
        ("thought.replicas=-1", "/thought/replicas"),
        ("telemetry.sampleRatio=2", "/telemetry/sampleRatio"),
        ("action.env.lower_case=1", "lower_case"),
        ("thoughtWorker.keda.enabled=true", "thoughtWorker.keda.address"),
        ("catalogue.configMap=", "catalogue.bundle"),
        ("ledger.forgetting.olderThan=12h", "/ledger/forgetting/olderThan"),
        ("ledger.forgetting.schedule=often", "/ledger/forgetting/schedule"),
        ("redis.sweeping.schedule=often", "/redis/sweeping/schedule"),
    ],
)
def test_wrong_value_is_refused_with_its_place(setting: str, complaint: str) -> None:
    result = helm("template", "shop", str(CHART), "--set", setting)
    assert result.returncode != 0
    assert complaint in result.stderr


def test_two_scalers_of_one_deployment_are_refused() -> None:
    settings = (*WITH_KEDA, "thoughtWorker.autoscaling.enabled=true")
    result = helm("template", "shop", str(CHART), *(part for each in settings for part in ("--set", each)))
    assert result.returncode != 0
    assert "choose one" in result.stderr


def test_schema_knows_every_value_and_each_is_explained() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert schema["properties"].keys() - {"global"} == default_values().keys()
    lines = (CHART / "values.yaml").read_text().splitlines()
    for above, line in itertools.pairwise(lines):
        is_leaf = line.strip() and not line.strip().startswith("#") and not line.rstrip().endswith(":")
        is_in_resources = line.strip().startswith(("requests:", "limits:"))
        assert not is_leaf or is_in_resources or above.strip().startswith("# -- "), line
