"""The rules and the scrape configuration fit the metrics and processes that exist."""

import re
import shutil
import subprocess
from typing import Any

import pytest
from ruamel.yaml import YAML

from taoloop.core.telemetry.names import METRICS, MetricKind
from tests.packaging import checkout

PROMETHEUS = checkout.ROOT / "deploy" / "prometheus"


def loaded(name: str) -> Any:
    return YAML(typ="safe", pure=True).load(PROMETHEUS / name)


def rules() -> list[dict[str, Any]]:
    return [rule for group in loaded("rules.yml")["groups"] for rule in group["rules"]]


def exported() -> set[str]:
    suffixes = {MetricKind.HISTOGRAM: ("_bucket", "_sum", "_count")}
    return {spec.name + suffix for spec in METRICS for suffix in suffixes.get(spec.kind, ("",))}


def test_rules_ask_for_metrics_that_exist() -> None:
    asked = {name for rule in rules() for name in re.findall(r"\btaoloop_\w+", rule["expr"])}
    assert asked
    assert asked - exported() == set()


def test_recorded_names_that_are_asked_for_are_recorded() -> None:
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    asked = {name for rule in rules() for name in re.findall(r"\btaoloop:[\w:]+", rule["expr"])}
    assert asked - recorded == set()


def test_every_alert_has_a_severity_a_sentence_and_a_test() -> None:
    alerts = {rule["alert"]: rule for rule in rules() if "alert" in rule}
    tested = {case["alertname"] for test in loaded("rules_test.yml")["tests"] for case in test["alert_rule_test"]}
    assert alerts.keys() == tested
    for name, alert in alerts.items():
        assert alert["labels"].keys() == {"severity"}, name
        assert alert["annotations"]["summary"].endswith("."), name


def test_prometheus_scrapes_processes_of_the_compose_file() -> None:
    services = YAML(typ="safe", pure=True).load(checkout.ROOT / "docker-compose.yml")["services"]
    (job,) = loaded("prometheus.yml")["scrape_configs"]
    targets = {target.split(":")[0] for config in job["static_configs"] for target in config["targets"]}
    assert targets == {"thought", "thought-worker", "action", "observation"}
    assert targets <= services.keys()


@pytest.mark.real
@pytest.mark.parametrize("arguments", [("check", "rules", "rules.yml"), ("test", "rules", "rules_test.yml")])
def test_promtool_accepts_the_rules(arguments: tuple[str, ...]) -> None:
    promtool = shutil.which("promtool")
    assert promtool, "scripts/real-parts installs it"
    result = subprocess.run(
        [promtool, *arguments], cwd=PROMETHEUS, capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0, result.stdout + result.stderr
