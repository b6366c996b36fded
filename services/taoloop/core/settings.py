"""Settings that every deployable shares, and how a settings class is loaded, described and shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticUndefined
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from taoloop.core.errors import ConfigurationError
from taoloop.core.exact_json import dumps
from taoloop.core.redaction import MASK, redact_text, redact_url

ENV_PREFIX: Final = "TAOLOOP_"
NESTED_DELIMITER: Final = "__"

Seconds = Annotated[float, Field(gt=0, le=86_400)]
"""A duration of at most a day, in seconds."""


class SettingsGroup(BaseModel):
    """Settings that belong together; a group named `grpc` reads variables such as `TAOLOOP_GRPC__…`.

    Unknown members are left alone, since several deployables may read one environment; `unknown_variables`
    finds those that none of them knows.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class GrpcSettings(SettingsGroup):
    """One set of values from which servers and clients both derive their channel arguments."""

    max_message_bytes: int = Field(
        default=8 * 1024 * 1024,
        ge=64 * 1024,
        le=256 * 1024 * 1024,
        description="Largest message that a server takes and a client sends or takes.",
    )
    keepalive_seconds: Seconds = Field(
        default=30.0, description="How long a client's connection may be silent before it sends a ping."
    )
    keepalive_timeout_seconds: Seconds = Field(
        default=10.0, description="How long the answer to a ping may take before the connection counts as dead."
    )
    min_ping_interval_seconds: Seconds = Field(
        default=20.0, description="Pings that come faster than this make the server close the connection."
    )
    max_connection_age_seconds: Seconds = Field(
        default=300.0,
        description="When the server asks clients to reconnect, which spreads them over new replicas.",
    )
    max_connection_age_grace_seconds: Seconds = Field(
        default=60.0, description="How long calls in progress may go on after that."
    )
    max_concurrent_rpcs: int = Field(
        default=1_000, ge=1, le=100_000, description="Calls in progress at once; a server refuses more."
    )
    default_deadline_seconds: Seconds = Field(
        default=60.0, description="How long a call may take whose caller set no deadline."
    )
    is_tenant_metadata_trusted: bool = Field(
        default=False,
        description="Whether `x-taoloop-tenant` names the tenant; only behind a proxy that sets or removes it.",
    )

    @model_validator(mode="after")
    def _pings_are_allowed(self) -> Self:
        # A client that pings faster than the server permits is cut off with ENHANCE_YOUR_CALM.
        if self.keepalive_seconds < self.min_ping_interval_seconds:
            raise ValueError(
                f"keepalive_seconds ({self.keepalive_seconds:g}) must not be below "
                f"min_ping_interval_seconds ({self.min_ping_interval_seconds:g})"
            )
        return self


class RedisSettings(SettingsGroup):
    """How to reach Redis or Valkey."""

    url: SecretStr = Field(
        default=SecretStr("redis://127.0.0.1:6379/0"),
        description="Address with database and, where needed, user and password: `redis://host:6379/0`, "
        "`redis+sentinel://host,host/service` or `redis+cluster://host,host`; `rediss` for TLS.",
    )
    ca_file: Path | None = Field(
        default=None, description="Certificates of authorities that sign the server's; unset: those of the machine."
    )
    certificate_file: Path | None = Field(
        default=None, description="Certificate by which this process shows who it is; unset: none is shown."
    )
    key_file: Path | None = Field(
        default=None, description="Private key of that certificate; unset: it is in the same file."
    )
    sentinel_username: str = Field(default="", description="User at the sentinels; empty for none.")
    sentinel_password: SecretStr = Field(default=SecretStr(""), description="Password at the sentinels.")
    key_prefix: str = Field(
        default="taoloop",
        pattern=r"^[A-Za-z0-9_.-]{1,64}$",
        description="What all keys of this installation start with.",
    )
    connect_timeout_seconds: Seconds = Field(default=2.0, description="How long making a connection may take.")
    command_timeout_seconds: Seconds = Field(
        default=5.0, description="How long a command that does not block may take."
    )
    max_connections: int = Field(default=64, ge=2, le=10_000, description="Most connections of one process.")
    outage_tolerance_seconds: Seconds = Field(
        default=10.0, description="How long an operation waits for a server that is away before it fails."
    )


class TraceSettings(SettingsGroup):
    """Where traces go."""

    otlp_endpoint: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="OTLP gRPC endpoint for traces, `http://` without and `https://` with TLS; unset: no export.",
    )
    sample_ratio: float = Field(
        default=1.0, ge=0.0, le=1.0, description="Share of traces that are recorded when the caller did not decide."
    )


class TelemetrySettings(TraceSettings):
    """Where traces and metrics go."""

    metrics_host: str = Field(default="127.0.0.1", description="Address on which `/metrics` is served.")
    metrics_port: int = Field(default=9464, ge=0, le=65_535, description="Port of `/metrics`; 0 takes any free one.")


class ServiceSettings(BaseSettings):
    """What every deployable reads; each derives its own class and adds its fields and groups.

    A class that wants other defaults in a group gives the group as an instance, as in
    `telemetry: TelemetrySettings = Field(default=TelemetrySettings(metrics_port=9702), description="…")`;
    a variable then changes one member and leaves the class's other defaults.
    """

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        env_nested_delimiter=NESTED_DELIMITER,
        env_ignore_empty=True,
        nested_model_default_partial_update=True,
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
    )

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least important lines that are logged."
    )
    shutdown_grace_seconds: Seconds = Field(
        default=25.0, description="How long work in progress may go on after the signal to stop."
    )
    telemetry: TelemetrySettings = Field(default=TelemetrySettings(), description="Traces and metrics.")


SettingsT = TypeVar("SettingsT", bound=BaseSettings)


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting, as `docs/configuration.md` and `.env.example` show it.

    Attributes:
        env: Name of the environment variable.
        type: The type in words, such as `integer` or `debug | info`.
        default: The default as it would be written in the environment; empty when it is unset or secret.
        is_required: Whether there is no default.
        unit: `seconds`, `bytes`, `tokens` or empty.
        bounds: Such as `0 to 65535`; empty when there are none.
        sentence: What the setting does.
        is_secret: Whether its value is never shown.
    """

    env: str
    type: str
    default: str
    is_required: bool
    unit: str
    bounds: str
    sentence: str
    is_secret: bool


def load_settings(settings_class: type[SettingsT], fixed: Mapping[str, Any] | None = None) -> SettingsT:
    """Read and validate the settings from the environment; nothing else is read later.

    Args:
        settings_class: What to read.
        fixed: Values that the program itself sets, by field; a group's members in a mapping of their own. They win
            over the environment, which still gives the rest.

    Raises:
        ConfigurationError: CONFIGURATION_INVALID; the message names every variable at fault, its value
            (masked where it is secret) and what is allowed. Metadata: `variables`, separated by commas.
    """
    try:
        return settings_class(**(fixed or {}))
    except ValidationError as exc:
        raise _explained(settings_class, exc.errors(include_url=False, include_context=False)) from None
    except SettingsError as exc:  # a group or a list was set as a whole, to something that is no JSON
        found = re.search(r'field "(\w+)"', str(exc))
        variable = _env_name([found[1]]) if found else ENV_PREFIX
        raise ConfigurationError(
            f"{variable} is not the JSON that this setting needs; set its members one by one, or correct it.",
            metadata={"variables": variable},
        ) from None


def describe(settings_class: type[BaseSettings]) -> list[SettingRow]:
    """Return one row for each variable that the class reads, in the order of the fields."""
    return [_row(*leaf) for leaf in _leaves_with_defaults(settings_class, None)]


def masked(settings: BaseSettings) -> dict[str, str | int | float | bool | None]:
    """Return every variable with its value for the log at start, without secrets.

    A secret that is set is `***`; of a secret URL all but the password is shown.
    """
    shown: dict[str, str | int | float | bool | None] = {}
    for path, _ in _leaves(type(settings)):
        owner: Any = settings
        for name in path[:-1]:
            owner = getattr(owner, name, None)
        value = getattr(owner, path[-1], None)
        if owner is not None and not isinstance(value, BaseModel):  # a group that may be unset is shown by its members
            shown[_env_name(path)] = _shown(value)
    return shown


def unknown_variables(
    settings_classes: Iterable[type[BaseSettings]], environment: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the variables with our prefix that none of the classes reads: most likely misspelt, sorted.

    Args:
        settings_classes: The classes of every deployable that shares the environment.
        environment: Instead of the process's own.
    """
    known = {row.env for settings_class in settings_classes for row in describe(settings_class)}
    groups = {
        _env_name(path[:end]) for cls in settings_classes for path, _ in _leaves(cls) for end in range(1, len(path))
    }
    names = os.environ if environment is None else environment
    return tuple(sorted(n for n in names if n.startswith(ENV_PREFIX) and n.upper() not in known | groups))


def given_variables(settings_class: type[BaseSettings], environment: Mapping[str, str] | None = None) -> frozenset[str]:
    """Return the variables of the class that are set, also by a group's variable that holds them all as JSON.

    Args:
        settings_class: Whose variables.
        environment: Instead of the process's own.
    """
    given = {name.upper() for name, value in (os.environ if environment is None else environment).items() if value}
    paths = {_env_name(path): path for path, _ in _leaves(settings_class)}
    return frozenset(
        env for env, path in paths.items() if any(_env_name(path[: end + 1]) in given for end in range(len(path)))
    )


_Path = tuple[str, ...]


def _leaves(model: type[BaseModel]) -> Iterator[tuple[_Path, FieldInfo]]:
    for path, info, _ in _leaves_with_defaults(model, None):
        yield path, info


def _leaves_with_defaults(
    model: type[BaseModel], group: object, above: _Path = ()
) -> Iterator[tuple[_Path, FieldInfo, Any]]:
    """Yield every setting with its default, for which the default of its group, if there is one, decides."""
    for name, info in model.model_fields.items():
        default = info.get_default(call_default_factory=True) if group is None else getattr(group, name)
        inner_class = _group_class(info.annotation)
        if inner_class is None or inner_class is not info.annotation:
            yield (*above, name), info, default
        if inner_class is not None:
            inner = default if isinstance(default, BaseModel) else None
            yield from _leaves_with_defaults(inner_class, inner, (*above, name))


def _group_class(annotation: Any) -> type[BaseModel] | None:
    """Return the class of a group, also of one that may be unset; None for a plain setting."""
    arguments = get_args(annotation)
    choices = arguments if type(None) in arguments else (annotation,)
    return next((each for each in choices if isinstance(each, type) and issubclass(each, BaseModel)), None)


def _env_name(path: Iterable[object]) -> str:
    return ENV_PREFIX + NESTED_DELIMITER.join(str(part) for part in path).upper()


def _row(path: _Path, info: FieldInfo, default: Any) -> SettingRow:
    is_secret = _is_secret(info.annotation)
    is_unset = default is None or default is PydanticUndefined
    return SettingRow(
        env=_env_name(path),
        type=_type_words(info.annotation),
        default="" if is_unset else str(_shown(default)),
        is_required=info.is_required(),
        unit=next((unit for unit in ("seconds", "bytes", "tokens") if path[-1].endswith("_" + unit)), ""),
        bounds=_bounds(info),
        sentence=info.description or "",
        is_secret=is_secret,
    )


def _is_secret(annotation: object) -> bool:
    return annotation is SecretStr or any(_is_secret(argument) for argument in get_args(annotation))


def _type_words(annotation: Any) -> str:
    words = {int: "integer", float: "number", bool: "true | false", str: "text", SecretStr: "secret text"}
    if annotation in words:
        return words[annotation]
    arguments = get_args(annotation)
    if get_origin(annotation) is Literal:
        return " | ".join(str(argument) for argument in arguments)
    if arguments and type(None) in arguments:
        return " | ".join(_type_words(argument) for argument in arguments if argument is not type(None))
    if arguments or (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        return "JSON"
    return "path" if getattr(annotation, "__name__", "") == "Path" else str(getattr(annotation, "__name__", annotation))


def _bounds(info: FieldInfo) -> str:
    limits = {
        name: getattr(constraint, name)
        for constraint in info.metadata
        for name in ("gt", "ge", "lt", "le", "min_length", "max_length")
        if getattr(constraint, name, None) is not None
    }
    if {"ge", "le"} <= limits.keys():
        return f"{limits['ge']} to {limits['le']}"
    words = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
    words |= {"min_length": "at least this long:", "max_length": "at most this long:"}
    parts = [f"{words[name]} {limit}" for name, limit in limits.items()]
    parts += [f"matches {found}" for part in info.metadata if (found := getattr(part, "pattern", None))]
    return ", ".join(parts)


def _shown(value: Any) -> str | int | float | bool | None:
    if isinstance(value, SecretStr):
        secret = value.get_secret_value()
        return redact_url(secret) if "://" in secret else MASK if secret else ""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return dumps({str(key): _shown(member) for key, member in value.items()})
    if isinstance(value, list | tuple | frozenset):
        return dumps([_shown(member) for member in value])
    return redact_text(str(value))


def _explained(settings_class: type[BaseSettings], errors: list[ErrorDetails]) -> ConfigurationError:
    secret = {_env_name(path): _is_secret(info.annotation) for path, info in _leaves(settings_class)}
    variables = []
    lines = []
    for error in errors:
        env = _env_name(error["loc"])
        variables.append(env)
        cause = error["msg"].removeprefix("Value error, ")
        if error["type"] == "missing":
            lines.append(f"{env} is not set; set it")
        elif env in secret:
            value = MASK if secret[env] else repr(_shown(error["input"]))
            lines.append(f"{env} is {value}: {cause[:1].lower()}{cause[1:]}")
        else:  # a rule over several members of a group
            lines.append(f"{env}: {cause}")
    return ConfigurationError("; ".join(lines) + ".", metadata={"variables": ",".join(variables)})
