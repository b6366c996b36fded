"""Which addresses and URLs a tool may be reached at: the operator's rules, applied to what a name resolved to."""

from __future__ import annotations

import re
import socket
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, ip_address, ip_network
from typing import Final
from urllib.parse import SplitResult, urlsplit

from taoloop.action.egress.addresses import AddressKind, IPAddress, IPNetwork, judge_address

ALLOWED_SCHEMES: Final = frozenset({"http", "https"})

_LOOPBACK: Final = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
_NEVER: Final = frozenset({AddressKind.METADATA, AddressKind.SPECIAL})
_METADATA_NAMES: Final = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "metadata.azure.internal",
        "metadata.tencentyun.com",
        "metadata.platformequinix.com",
        "instance-data",
        "instance-data.ec2.internal",
    }
)
_FORBIDDEN_IN_URLS: Final = re.compile(r"[\x00-\x20\x7f\\]")
_FORBIDDEN_IN_HOSTS: Final = re.compile(r"[%@<>\"{}|^`]")


@dataclass(frozen=True, slots=True)
class EgressRules:
    """What may be connected to.

    Public addresses always may; those of the cloud's metadata and those where no service can be never may,
    whatever is written here. All others may only if the operator named them: a network in `allow`, or a base
    URL whose host is written as that address, or as `localhost`.

    Attributes:
        allow: Networks that the operator opened; they hold for addresses after unwrapping.
    """

    allow: tuple[IPNetwork, ...] = ()

    @classmethod
    def of(cls, networks: Iterable[str]) -> EgressRules:
        """Return the rules that open these networks, such as `10.0.0.0/8`.

        Raises:
            ValueError: One of them is no network.
        """
        return cls(tuple(ip_network(text.strip()) for text in networks))

    def for_host(self, host: str) -> EgressRules:
        """Return the rules for a base URL of this host: what the operator wrote as an address is meant.

        A name says nothing about the addresses that it resolves to, so it opens none.
        """
        name = canonical_host(host)
        if _is_localhost(name):
            return replace(self, allow=(*self.allow, *_LOOPBACK))
        try:
            return replace(self, allow=(*self.allow, ip_network(judge_address(name).address)))
        except ValueError:
            return self

    def objection(self, address: IPAddress | str) -> str | None:
        """Return why this address may not be connected to, in a few words; None when it may.

        Raises:
            ValueError: The text is no IP address.
        """
        verdict = judge_address(address)
        if verdict.kind is AddressKind.PUBLIC:
            return None
        is_open = any(verdict.address in network for network in self.allow)
        if is_open and verdict.kind not in _NEVER:
            return None
        return f"{verdict.address} is a {verdict.kind} address"


@dataclass(frozen=True, slots=True)
class UrlVerdict:
    """Whether a URL may be requested.

    Attributes:
        is_allowed: Whether it may, as far as is known before the connection.
        host: The host as the resolver would read it: lower case, no final dots, packed addresses unpacked.
        reason: Why it may not, in a few words without secrets; empty when it may.
    """

    is_allowed: bool
    host: str
    reason: str = ""


def judge_url(url: str, rules: EgressRules | None = None, resolves_to: Iterable[str] = ()) -> UrlVerdict:
    """Judge a URL before any connection: its scheme, its form, and every address that is known of its host.

    Args:
        url: An absolute URL.
        rules: What the operator opened; None for nothing.
        resolves_to: What the host resolved to; a host that is an address need not be resolved.

    >>> judge_url("http://0x7f.1/").reason
    '127.0.0.1 is a loopback address'
    >>> judge_url("https://api.example.com/v1", resolves_to=["93.184.216.34"]).is_allowed
    True
    """
    rules = EgressRules() if rules is None else rules
    try:
        parts = urlsplit(url)
        host = canonical_host(_bare_host(url, parts))
    except ValueError as exc:
        return UrlVerdict(is_allowed=False, host="", reason=str(exc))
    reason = _objection_to_name(parts, host, rules)
    for address in (*_literal(host), *resolves_to):
        reason = reason or _objection_to_address(rules, address)
    return UrlVerdict(is_allowed=not reason, host=host, reason=reason)


def host_of(url: str) -> str:
    """Return the host of a URL as the resolver would read it; empty for a URL that `judge_url` refuses for its form."""
    try:
        return canonical_host(_bare_host(url, urlsplit(url)))
    except ValueError:
        return ""


def canonical_host(host: str) -> str:
    """Return a host as the resolver would read it.

    Compatibility characters are folded, final dots dropped, and the forms of an IPv4 address that the C library
    takes (one to four parts, decimal, octal or hexadecimal) written with four decimal ones.

    >>> [canonical_host(host) for host in ("LOCALHOST.", "2130706433", "0x7f.0.0.1", "127.1", "[::1]")]
    ['localhost', '127.0.0.1', '127.0.0.1', '127.0.0.1', '::1']
    """
    name = unicodedata.normalize("NFKC", host).lower().replace("\u3002", ".").rstrip(".")
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    if ":" in name:
        return name.partition("%")[0]
    try:
        return str(IPv4Address(socket.inet_aton(name)))
    except (OSError, ValueError):
        return name


def _bare_host(url: str, parts: SplitResult) -> str:
    if _FORBIDDEN_IN_URLS.search(url):
        raise ValueError("it holds white space, a control character or a backslash")
    if "@" in parts.netloc:
        raise ValueError("it holds a user name")
    _ = parts.port  # raises ValueError for one that is none
    host = parts.hostname or ""
    if not host or _FORBIDDEN_IN_HOSTS.search(host):
        raise ValueError("its host is missing or malformed")
    return host


def _objection_to_name(parts: SplitResult, host: str, rules: EgressRules) -> str:
    if parts.scheme not in ALLOWED_SCHEMES:
        return f"the scheme {parts.scheme[:20]} is not allowed"
    if host in _METADATA_NAMES:
        return f"{host} is a metadata service"
    if _is_localhost(host):
        return _objection_to_address(rules, "127.0.0.1")
    return ""


def _objection_to_address(rules: EgressRules, address: str) -> str:
    try:
        return rules.objection(address) or ""
    except ValueError:
        return "it resolves to something that is no address"


def _literal(host: str) -> tuple[str, ...]:
    try:
        return (str(ip_address(host)),)
    except ValueError:
        return ()


def _is_localhost(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost")
