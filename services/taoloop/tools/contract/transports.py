"""How a tool is reached: one record per kind of transport, and its credentials by the names of secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from taoloop.core.exact_json import ABSENT, Json, JsonValue

RESERVED_HEADERS: Final = frozenset(
    {
        "connection",
        "content-length",
        "host",
        "keep-alive",
        "te",
        "traceparent",
        "tracestate",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "x-request-id",
        "x-trace-id",
    }
)
"""Headers, in lower case, that a transport writes itself: what a contract says in one of them would be lost."""


class KeyPlace(StrEnum):
    """Where an API key travels."""

    HEADER = "header"
    QUERY = "query"


@dataclass(frozen=True, slots=True, kw_only=True)
class BearerAuth:
    """A token in the Authorization header.

    Attributes:
        secret: Name of the secret, never the token.
    """

    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicAuth:
    """User and password in the Authorization header.

    Attributes:
        user: The user's name, which is no secret.
        secret: Name of the password.
    """

    user: str
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKeyAuth:
    """A key in a header or a query parameter.

    Attributes:
        location: Where the key travels.
        name: Name of the header or parameter.
        secret: Name of the key.
    """

    location: KeyPlace
    name: str
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth2ClientCredentials:
    """A bearer token fetched by OAuth 2.0 client credentials.

    Attributes:
        token_url: Begins with `{{base.NAME}}`.
        client_id: The client's name, which is no secret.
        secret: Name of the client's secret.
        scope: Scopes joined by spaces; empty asks for the server's default.
    """

    token_url: str
    client_id: str
    secret: str
    scope: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutualTls:
    """A client certificate.

    Attributes:
        certificate: Name of the secret with the certificate chain in PEM.
        key: Name of the secret with the private key in PEM.
        ca: Name of the secret with the authorities that the server is checked against; None for the system's.
    """

    certificate: str
    key: str
    ca: str | None = None


Auth = BearerAuth | BasicAuth | ApiKeyAuth | OAuth2ClientCredentials | MutualTls


class Redirects(StrEnum):
    """Which redirects are followed."""

    NONE = "none"
    """A redirect is a fault."""

    SAME_ORIGIN = "same_origin"
    """Those that keep scheme, host and port."""

    ANY_ORIGIN = "any_origin"
    """Of reads also those to other origins, without credentials; never from https to plain text."""


class PartEncoding(StrEnum):
    """How the text of a part stands for its bytes."""

    TEXT = "text"
    """UTF-8."""

    BASE64 = "base64"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a multipart body.

    Attributes:
        content: Text with placeholders; a part that is only one placeholder is left out without its argument.
        file_name: Text with placeholders; empty for a plain field.
        content_type: Media type; empty leaves it out.
        encoding: How `content` stands for bytes once it is filled.
    """

    content: str
    file_name: str = ""
    content_type: str = ""
    encoding: PartEncoding = PartEncoding.TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpTransport:
    """One HTTP request as a template, with at most one of the four kinds of body.

    Attributes:
        method: Upper-case method.
        url: Begins with `{{base.NAME}}`; `{parameter}` stands for an argument, to be percent-encoded.
        query: Parameter to text with placeholders; what is only one placeholder is left out without its argument.
        headers: Header to text with placeholders.
        json: Body with placeholders in its texts; ABSENT sends none.
        form: Body of `application/x-www-form-urlencoded`, filled as `query` is; None sends none.
        multipart: Body of `multipart/form-data` by the names of its parts; None sends none.
        text: Body with placeholders, `text/plain` unless `headers` says otherwise; None sends none.
        auth: Credentials; None sends none.
        redirects: Which redirects are followed.
    """

    method: str
    url: str
    query: Mapping[str, JsonValue] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Json = ABSENT
    form: Mapping[str, JsonValue] | None = None
    multipart: Mapping[str, Part] | None = None
    text: str | None = None
    auth: Auth | None = None
    redirects: Redirects = Redirects.NONE


class JobState(StrEnum):
    """The states of a job; a tool's word that stands for none of them is a fault of protocol."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Tell whether the job ends in this state."""
        return self in {JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTransport:
    """A job that is created and then asked for its state; the response schema is that of its result.

    The creation sends every argument, as an HTTP tool does; query and cancel send only those that they name.

    Attributes:
        create: Creates the job from the arguments.
        query: Asks for its state; `{job.id}` stands for its id.
        cancel: Cancels it; None when the server cannot. `{job.id}` stands for its id.
        id: Pointer into the body of the creation, to the id, a text or an integer.
        created_status: Pointer into the body of the creation, to the state's word; None when it tells none and
            the job is pending.
        queried_id: Pointer into the body of the query, to the id, which must be that of the job; None when the body
            does not repeat it.
        status: Pointer into the body of the query, to the state's word.
        states: State to the tool's words for it, each word once; all states but `cancelled` have one at least.
        result: Pointer into the body of the query of a job that succeeded; the empty one takes all of it.
        poll_every_seconds: Pause between two queries, above 0.
        total_seconds: Longest time from the creation to the end, above the pause.
    """

    create: HttpTransport
    query: HttpTransport
    id: str
    status: str
    states: Mapping[JobState, tuple[str | int, ...]]
    cancel: HttpTransport | None = None
    created_status: str | None = None
    queried_id: str | None = None
    result: str = ""
    poll_every_seconds: float = 2.0
    total_seconds: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class McpHttpServer:
    """A server of the Model Context Protocol over streamable HTTP.

    Attributes:
        url: Begins with `{{base.NAME}}`, without arguments.
        auth: Credentials; None sends none.
    """

    url: str
    auth: Auth | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpCommandServer:
    """A server of the Model Context Protocol over the standard streams of a process.

    Attributes:
        command: Program and its arguments, never a line for a shell.
        environment: Variable to the name of the secret that is its value; the process inherits nothing else.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTransport:
    """A tool of a server of the Model Context Protocol; the arguments are passed as they are.

    Attributes:
        server: Where the server is.
        tool: The tool's name there.
        protocol_version: The only version that is spoken; None takes the newest that both know.
    """

    server: McpHttpServer | McpCommandServer
    tool: str
    protocol_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonTransport:
    """A function of an installed package; the arguments are passed by keyword.

    Attributes:
        entry_point: `package.module:function`, or the name of an installed entry point of the group `taoloop.tools`.
    """

    entry_point: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GrpcTransport:
    """A unary method of a gRPC service; the arguments are its request in proto3 JSON.

    Attributes:
        base: Name of a base of the catalogue: `https` for TLS, `http` for plain text.
        method: `package.Service/Method`.
        descriptor_set: File with a FileDescriptorSet, relative to the catalogue; None asks the server's reflection.
        auth: Credentials; None sends none.
    """

    base: str
    method: str
    descriptor_set: str | None = None
    auth: Auth | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlTransport:
    """One statement with named parameters, `:name`; the data are `{rows: [{column: value}], row_count}`.

    Attributes:
        database: Name of the secret with the database's URL.
        statement: The statement; each `:name` is a parameter of the tool.
        max_rows: Most rows of a result; more is a fault.
        max_bytes: Most bytes of a result as JSON; more is a fault.
        mask: Columns whose values never leave the executor.
        read_only: Whether the transaction is opened read-only.
    """

    database: str
    statement: str
    max_rows: int = 1000
    max_bytes: int = 1 << 20
    mask: tuple[str, ...] = ()
    read_only: bool = True


Transport = HttpTransport | JobTransport | McpTransport | PythonTransport | GrpcTransport | SqlTransport
