"""Profiles read from their files: those that come along by name, a company's own by path."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from taoloop.core import exact_json
from taoloop.core.errors import ConfigurationError
from taoloop.models.profiles.model import ModelProfile, Price, ReplyLimitField, Speed, StructuredOutput
from taoloop.tools.loading.catalogue_file import form_findings, source_findings
from taoloop.tools.loading.findings import Finding, in_order
from taoloop.tools.loading.yaml_source import Source, read_source, read_text
from taoloop.tools.schemas import CompiledSchema

_SUFFIX = ".yaml"


def named_profiles() -> tuple[str, ...]:
    """Return the names of the profiles that come along, sorted."""
    found = resources.files(__package__).joinpath("named").iterdir()
    return tuple(sorted(one.name.removesuffix(_SUFFIX) for one in found if one.name.endswith(_SUFFIX)))


def load_profile(name_or_path: str) -> ModelProfile:
    """Read a profile.

    Args:
        name_or_path: One of `named_profiles()`, or the path of a file of the same form, which ends in `.yaml`.

    Raises:
        ConfigurationError: There is no such profile, or the file has faults; the message names each with file, line,
            field, cause and remedy. Metadata: `profile`.
    """
    source = _source(name_or_path)
    findings = in_order([*source_findings(source), *form_findings(source, _form())])
    if findings:
        raise _refused(name_or_path, findings)
    return _profile(source.value)


def _source(name_or_path: str) -> Source:
    if name_or_path.endswith(_SUFFIX):
        return read_source(Path(name_or_path))
    names = named_profiles()
    if name_or_path not in names:
        message = (
            f"There is no model profile {name_or_path!r}. Give one of {', '.join(names)}, "
            f"or the path of a file that ends in {_SUFFIX}."
        )
        raise ConfigurationError(message, metadata={"profile": name_or_path})
    file = resources.files(__package__).joinpath("named", name_or_path + _SUFFIX)
    return read_text(file.read_text(encoding="utf-8"), Path(name_or_path + _SUFFIX))


@cache
def _form() -> CompiledSchema:
    text = resources.files(__package__).joinpath("profile.schema.json").read_text(encoding="utf-8")
    return CompiledSchema.compile(exact_json.loads(text))


def _profile(document: Any) -> ModelProfile:
    """Build the profile of a document that has the form."""
    spec = document["spec"]
    return ModelProfile(
        name=document["metadata"]["name"],
        structured_output=StructuredOutput(spec["structured_output"]),
        takes_grammar=spec.get("grammar", False),
        counts_prompts=spec.get("counts_prompts", False),
        context_tokens=spec.get("context_tokens"),
        max_reply_tokens=spec.get("max_reply_tokens", 4096),
        reply_limit_field=ReplyLimitField(spec.get("reply_limit_field", ReplyLimitField.MAX_TOKENS)),
        streams=spec["streaming"],
        streams_usage=spec.get("stream_usage", True),
        takes_temperature=spec.get("temperature", True),
        takes_seed=spec["seed"],
        max_stop_sequences=spec.get("max_stop_sequences", 4),
        max_top_logprobs=spec["max_top_logprobs"],
        extra=spec.get("extra", {}),
        price=_price(spec.get("price")),
        speed=_speed(spec.get("speed")),
    )


def _price(written: Any) -> Price | None:
    if written is None:
        return None
    fresh = Decimal(written["input_per_million"])
    return Price(
        currency=written["currency"],
        input_per_million=fresh,
        cached_input_per_million=Decimal(written.get("cached_input_per_million", fresh)),
        output_per_million=Decimal(written["output_per_million"]),
    )


def _speed(written: Any) -> Speed | None:
    if written is None:
        return None
    return Speed(
        first_token_seconds=float(written["first_token_seconds"]),
        tokens_per_second=float(written["tokens_per_second"]),
    )


def _refused(name: str, findings: tuple[Finding, ...]) -> ConfigurationError:
    told = " ".join(f"{finding}" for finding in findings)
    return ConfigurationError(f"The model profile {name} cannot be used. {told}", metadata={"profile": name})
