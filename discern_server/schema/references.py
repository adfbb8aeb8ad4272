"""URI references, as schemas use them (RFC 3986 section 5)."""

from __future__ import annotations

from urllib.parse import unquote, urljoin, urlsplit

from discern_server.schema.errors import UnresolvableError


def join(base: str, reference: str) -> str:
    """`reference` resolved against `base`: an absolute URI where either is one.

    Raises:
        UnresolvableError: `reference` is no URI reference.
    """
    try:
        return _join(base, reference)
    except ValueError:
        raise UnresolvableError("is no URI reference") from None


def _join(base: str, reference: str) -> str:
    if reference.startswith("#") or not reference:
        return base.partition("#")[0] + reference
    scheme = urlsplit(base).scheme
    if urlsplit(reference).scheme or "://" not in base or scheme in ("http", "https", "file"):
        return urljoin(base, reference)
    # urljoin joins only schemes that it knows; RFC 3986 joins any hierarchical one.
    joined = urljoin("http" + base.removeprefix(scheme), reference)
    return scheme + joined.removeprefix("http")


def split(uri: str) -> tuple[str, str]:
    """The URI without its fragment, and the fragment percent-decoded."""
    bare, _, fragment = uri.partition("#")
    return bare, unquote(fragment)
