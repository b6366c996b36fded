"""What kind of address a connection would go to, once every IPv4 address is unwrapped from its IPv6 form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network


class AddressKind(StrEnum):
    """What stands behind an address."""

    PUBLIC = "public"
    """The internet."""

    LOOPBACK = "loopback"
    """This machine."""

    PRIVATE = "private"
    """A network of one's own or of one's provider: RFC 1918, unique local, shared (CGNAT), benchmarking."""

    LINK_LOCAL = "link-local"
    """The same wire."""

    METADATA = "metadata"
    """A cloud's own service for its machines, which hands out credentials to whoever asks."""

    SPECIAL = "special"
    """No place for a service: multicast, unspecified, broadcast, reserved, documentation."""


@dataclass(frozen=True, slots=True)
class AddressVerdict:
    """What an address was found to be.

    Attributes:
        address: The address, with the IPv4 address taken out of its IPv6 form.
        kind: See `AddressKind`.
    """

    address: IPAddress
    kind: AddressKind


def judge_address(address: IPAddress | str) -> AddressVerdict:
    """Return what stands behind an address; `ipaddress.is_global` is not trusted alone.

    An IPv4 address inside an IPv6 one decides: mapped, compatible, NAT64, 6to4 and Teredo forms.

    Args:
        address: An address, with or without a zone (`fe80::1%eth0`).

    Raises:
        ValueError: The text is no IP address.

    >>> judge_address("::ffff:169.254.169.254")
    AddressVerdict(address=IPv4Address('169.254.169.254'), kind=<AddressKind.METADATA: 'metadata'>)
    >>> judge_address("93.184.216.34").kind.value
    'public'
    """
    parsed = ip_address(address.partition("%")[0]) if isinstance(address, str) else address
    if parsed in _LOCAL_NAT64:
        # Which network it translates into is the operator's choice, so it counts as the operator's own.
        readings = [reading for reading in _nat64_readings(int(parsed)) if reading in _METADATA]
        return AddressVerdict(*((readings[0], AddressKind.METADATA) if readings else (parsed, AddressKind.PRIVATE)))
    inner = [AddressVerdict(each, _kind(each)) for each in _embedded(parsed)]
    if not inner:
        return AddressVerdict(parsed, _kind(parsed))
    return max(inner, key=lambda verdict: _STRICTNESS.index(verdict.kind))


def _networks(*texts: str) -> tuple[IPNetwork, ...]:
    return tuple(ip_network(text) for text in texts)


_METADATA: Final = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254",  # AWS, Google, Azure, OpenStack, Oracle, DigitalOcean
        "169.254.169.253",  # AWS, resolver
        "169.254.170.2",  # AWS, credentials of ECS tasks
        "169.254.170.23",  # AWS, credentials of EKS pods
        "169.254.0.23",  # Tencent
        "100.100.100.200",  # Alibaba, in the shared range: neither private nor global to `ipaddress`
        "192.0.0.192",  # Oracle, older
        "168.63.129.16",  # Azure, the host's agent: a public address
        "fd00:ec2::254",  # AWS
        "fd00:ec2::253",
        "fd00:ec2::23",
        "fd20:ce::254",  # Google
        "fd00:42::42",  # Scaleway
    )
)
_BY_KIND: Final[tuple[tuple[AddressKind, tuple[IPNetwork, ...]], ...]] = (
    (AddressKind.LOOPBACK, _networks("127.0.0.0/8", "::1/128")),
    (AddressKind.LINK_LOCAL, _networks("169.254.0.0/16", "fe80::/10")),
    (
        AddressKind.PRIVATE,
        _networks(
            "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15", "fc00::/7", "fec0::/10"
        ),
    ),
)
_SPECIAL: Final = _networks(
    "192.88.99.0/24",  # 6to4 relays, withdrawn
    "2001:10::/28",  # ORCHID, withdrawn
    "2001:20::/28",  # ORCHIDv2
    "3fff::/20",  # documentation, unknown to older versions of `ipaddress`
)
_COMPATIBLE: Final = IPv6Network("::/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_LOCAL_NAT64: Final = IPv6Network("64:ff9b:1::/48")
_GLOBAL_IPV6: Final = IPv6Network("2000::/3")
_LOW_32: Final = 0xFFFFFFFF
_STRICTNESS: Final = (
    AddressKind.PUBLIC,
    AddressKind.PRIVATE,
    AddressKind.LOOPBACK,
    AddressKind.LINK_LOCAL,
    AddressKind.SPECIAL,
    AddressKind.METADATA,
)


def _embedded(address: IPAddress) -> tuple[IPv4Address, ...]:
    """Return the IPv4 addresses inside an IPv6 one."""
    if isinstance(address, IPv4Address):
        return ()
    value = int(address)
    if address.ipv4_mapped is not None or address in _NAT64 or (address in _COMPATIBLE and value > 1):
        return (IPv4Address(value & _LOW_32),)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    return address.teredo or ()


def _nat64_readings(value: int) -> Iterator[IPv4Address]:
    """Yield what an address of the local NAT64 range can stand for.

    Source: RFC 6052, 2.2: four places by the length of the prefix, three of them around an octet of zeros.
    """
    yield IPv4Address(value & _LOW_32)
    without_octet = (value >> 64 << 56) | (value & ((1 << 56) - 1))
    for prefix_bits in (48, 56, 64):
        yield IPv4Address((without_octet >> (88 - prefix_bits)) & _LOW_32)


def _kind(address: IPAddress) -> AddressKind:
    if address in _METADATA:
        return AddressKind.METADATA
    for kind, networks in _BY_KIND:
        if any(address in network for network in networks):
            return kind
    is_public = address.is_global and not address.is_multicast and not any(address in network for network in _SPECIAL)
    if is_public and (isinstance(address, IPv4Address) or address in _GLOBAL_IPV6):
        return AddressKind.PUBLIC
    return AddressKind.SPECIAL
