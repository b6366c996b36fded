"""Rules of finding a secret."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ActionSettings
from taoloop.core.settings import load_settings, masked


async def test_a_file_goes_before_the_settings_and_loses_its_line_end(tmp_path: Path) -> None:
    (tmp_path / "TOKEN").write_text("from-file\n")
    secrets = ConfiguredSecrets({"TOKEN": SecretStr("set"), "OTHER": SecretStr("set")}, tmp_path)
    assert await secrets.secret("TOKEN") == "from-file"
    assert await secrets.secret("OTHER") == "set"


async def test_a_renewed_file_is_read_again(tmp_path: Path) -> None:
    secrets = ConfiguredSecrets({}, tmp_path)
    assert await secrets.secret("TOKEN") is None
    (tmp_path / "TOKEN").write_text("new")
    assert await secrets.secret("TOKEN") == "new"


@pytest.mark.parametrize("name", ["MISSING", "EMPTY", "../outside", "a/b", "", "."])
async def test_what_is_not_configured_is_none_and_no_name_leaves_the_directory(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside").write_text("stolen")
    inside = tmp_path / "inside"
    inside.mkdir()
    assert await ConfiguredSecrets({"EMPTY": SecretStr("")}, inside).secret(name) is None


async def test_names_from_the_environment_are_found_whatever_their_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAOLOOP_SECRETS__ORDERS_TOKEN", "s3cret")
    monkeypatch.setenv("TAOLOOP_CATALOGUE", "catalogue")
    monkeypatch.setenv("TAOLOOP_BASES__ORDERS", "http://orders.test")
    settings = load_settings(ActionSettings)
    assert await ConfiguredSecrets(settings.secrets).secret("ORDERS_TOKEN") == "s3cret"
    assert settings.bases == {"orders": "http://orders.test"}
    assert "s3cret" not in repr(settings)
    assert "s3cret" not in str(masked(settings))


def test_a_secret_is_not_shown() -> None:
    assert "s3cret" not in repr(ConfiguredSecrets({"TOKEN": SecretStr("s3cret")}))
