"""What can go wrong between a tool call and its answer, as one tree.

    UpstreamError
    ├── NotSent                  nothing was sent to the API
    │   ├── ArgumentsRefused     an argument cannot be written into the request
    │   ├── RequestInvalid       the description makes it no valid HTTP
    │   ├── ServerUnknown        nobody has said where the API is, or not in a usable way
    │   ├── CredentialsMissing   what the operation's security asks for is not there
    │   ├── AddressRefused       the server's name leads to an address that is not public
    │   └── TokenRefused         the authorization server gave no token
    ├── NoAnswer                 it was sent, or tried to be, and no whole answer came
    │   ├── ConnectFailed        no connection: name, network, TLS
    │   ├── ConnectionLost       the connection broke; whether the API acted on the request is unknown
    │   └── DeadlineExceeded     the tool's time ran out
    └── AnswerRefused            an answer came that is not handed on
        ├── RedirectRefused      it redirects where the request may not follow
        └── AnswerUnreadable     its content encoding is broken

An answer with an error status is not in here: it is an answer, and `results` renders it.

Each error keeps its facts as fields; what it was raised from is its ``__cause__``. No field holds a
credential: URLs are those of the request before credentials were added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from discern_server.result import Diagnostic


@dataclass(kw_only=True, eq=False)
class UpstreamError(Exception):
    """A tool call that got no answer to hand on.

    Attributes:
        error: A stable word for what happened, the envelope's ``error``.
        method: The request's method, where a request was built.
        url: The request's URL without credentials, where a request was built.
    """

    error: ClassVar[str] = "upstream_failed"

    method: str | None = None
    url: str | None = None

    def __str__(self) -> str:
        return f"{self.reason} ({self.method} {self.url})" if self.method and self.url else self.reason

    @property
    def reason(self) -> str:
        """What happened, in words, without the request's method and URL."""
        return "the call to the API failed"

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Findings for the person, or the model, that must act."""
        return ()

    @property
    def hints(self) -> tuple[str, ...]:
        """What to do next."""
        return ()

    @property
    def facts(self) -> dict[str, Any]:
        """The fields as JSON values, for the result's structured part."""
        return {name: value for name, value in (("method", self.method), ("url", self.url)) if value is not None}


# --- nothing was sent ---------------------------------------------------------------------------------


class NotSent(UpstreamError):  # noqa: N818 - the tree reads as what happened
    """Nothing was sent to the API."""

    error: ClassVar[str] = "not_sent"


@dataclass(kw_only=True, eq=False)
class ArgumentsRefused(NotSent):
    """Arguments that keep the tool's schema and yet cannot be written into the request.

    Attributes:
        findings: Every such argument; ``path`` is a JSON Pointer into the arguments.
    """

    error: ClassVar[str] = "invalid_arguments"

    findings: tuple[Diagnostic, ...]

    @property
    def reason(self) -> str:
        """How many arguments are wrong; the findings tell which."""
        count = "one argument" if len(self.findings) == 1 else f"{len(self.findings)} arguments"
        return f"{count} cannot be sent"

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings."""
        return self.findings


@dataclass(kw_only=True, eq=False)
class RequestInvalid(NotSent):
    """The request is no valid HTTP: a header's name or a media type in the description is broken.

    Attributes:
        detail: What the HTTP library said.
    """

    error: ClassVar[str] = "request_invalid"

    detail: str

    @property
    def reason(self) -> str:
        """What the HTTP library said."""
        return f"the API description makes this request no valid HTTP: {self.detail}"


@dataclass(kw_only=True, eq=False)
class ServerUnknown(NotSent):
    """It is not known where the API is, or the address given cannot be used.

    Attributes:
        server: The address that cannot be used, or None where there is none.
    """

    error: ClassVar[str] = "server_unknown"

    server: str | None = None

    @property
    def reason(self) -> str:
        """Which address cannot be used."""
        if self.server is None:
            return "the API description names no server"
        return f"{self.server} is no address that can be called"

    @property
    def hints(self) -> tuple[str, ...]:
        """Where to say it."""
        return ("set base_url for this source in discern.toml",)


@dataclass(kw_only=True, eq=False)
class CredentialsMissing(NotSent):
    """No alternative of the operation's security can be met.

    Attributes:
        findings: What is missing, scheme by scheme.
    """

    error: ClassVar[str] = "credentials_missing"

    findings: tuple[Diagnostic, ...]

    @property
    def reason(self) -> str:
        """That a credential is missing; the findings tell which."""
        return "the operation needs a credential that is not there"

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings."""
        return self.findings


@dataclass(kw_only=True, eq=False)
class AddressRefused(NotSent):
    """A server named by a description from the network leads to an address that is not public.

    Attributes:
        host: The host's name.
        address: The address it resolved to.
    """

    error: ClassVar[str] = "address_refused"

    host: str
    address: str

    @property
    def reason(self) -> str:
        """Which name led where."""
        return f"{self.host} leads to {self.address}, which is not a public address"

    @property
    def hints(self) -> tuple[str, ...]:
        """How to allow it."""
        return ("if this server is meant, set base_url for this source in discern.toml",)


@dataclass(kw_only=True, eq=False)
class TokenRefused(NotSent):
    """The authorization server gave no token (RFC 6749, section 5.2); the API was not called.

    Attributes:
        scheme: The security scheme's name.
        status: The status of its answer, or None where the answer was a success and held no usable token.
        oauth_error: Its ``error``, such as ``invalid_client``.
        description: Its ``error_description``.
    """

    error: ClassVar[str] = "token_refused"

    scheme: str
    status: int | None = None
    oauth_error: str | None = None
    description: str | None = None

    @property
    def reason(self) -> str:
        """What the authorization server said."""
        said = ": ".join(part for part in (self.oauth_error, self.description) if part)
        answer = f"answered {self.status}" if self.status is not None else "gave no usable token"
        return f"the authorization server of {self.scheme} {answer}" + (f" ({said})" if said else "")

    @property
    def facts(self) -> dict[str, Any]:
        """Adds ``status`` and ``oauth_error``."""
        told = {"status": self.status, "oauth_error": self.oauth_error}
        return super().facts | {name: value for name, value in told.items() if value is not None}


# --- no answer ----------------------------------------------------------------------------------------


class NoAnswer(UpstreamError):  # noqa: N818 - the tree reads as what happened
    """No whole answer came."""

    error: ClassVar[str] = "no_answer"


@dataclass(kw_only=True, eq=False)
class ConnectFailed(NoAnswer):
    """No connection could be made, so the API has not seen the request.

    Attributes:
        detail: The network's own words, such as "Connection refused".
    """

    error: ClassVar[str] = "connect_failed"

    detail: str = ""

    @property
    def reason(self) -> str:
        """The network's own words."""
        return "no connection to the API" + (f": {self.detail}" if self.detail else "")


@dataclass(kw_only=True, eq=False)
class ConnectionLost(NoAnswer):
    """The connection broke before the answer was whole.

    Attributes:
        detail: The network's own words.
    """

    error: ClassVar[str] = "connection_lost"

    detail: str = ""

    @property
    def reason(self) -> str:
        """The network's own words."""
        return "the connection broke before the answer was whole" + (f": {self.detail}" if self.detail else "")

    @property
    def hints(self) -> tuple[str, ...]:
        """What is not known."""
        return ("the API may have acted on the request: look before you repeat it",)


@dataclass(kw_only=True, eq=False)
class DeadlineExceeded(NoAnswer):
    """The tool's time ran out.

    Attributes:
        timeout_s: The time it had, in seconds.
    """

    error: ClassVar[str] = "timed_out"

    timeout_s: float

    @property
    def reason(self) -> str:
        """How long it had."""
        return f"the API did not answer within {self.timeout_s:g} s"

    @property
    def hints(self) -> tuple[str, ...]:
        """What is not known."""
        return ("the API may have acted on the request: look before you repeat it",)

    @property
    def facts(self) -> dict[str, Any]:
        """Adds ``timeout_s``."""
        return {**super().facts, "timeout_s": self.timeout_s}


# --- an answer that is not handed on ------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class AnswerRefused(UpstreamError):  # noqa: N818 - the tree reads as what happened
    """An answer came that is not handed on.

    Attributes:
        status: Its status.
    """

    error: ClassVar[str] = "answer_refused"

    status: int

    @property
    def facts(self) -> dict[str, Any]:
        """Adds ``status``."""
        return {**super().facts, "status": self.status}


@dataclass(kw_only=True, eq=False)
class RedirectRefused(AnswerRefused):
    """A redirect that is not followed.

    Attributes:
        location: Where it leads, without query and fragment.
        why: Why it is not followed.
    """

    error: ClassVar[str] = "redirect_refused"

    location: str
    why: str

    @property
    def reason(self) -> str:
        """Where it leads and why that is not followed."""
        return f"the API answered {self.status} with a redirect to {self.location}, which is not followed: {self.why}"

    @property
    def facts(self) -> dict[str, Any]:
        """Adds ``location``."""
        return {**super().facts, "location": self.location}


@dataclass(kw_only=True, eq=False)
class AnswerUnreadable(AnswerRefused):
    """An answer whose content encoding is broken.

    Attributes:
        detail: What the decoder said.
    """

    error: ClassVar[str] = "answer_unreadable"

    detail: str

    @property
    def reason(self) -> str:
        """What the decoder said."""
        return f"the API answered {self.status}, and its content cannot be decoded: {self.detail}"
