"""Where a chat model behind a server is: ``openai:NAME`` or ``http://HOST/v1#NAME``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from goffman.errors import ModelError

OPENAI = "https://api.openai.com/v1"
"""Where ``openai:`` models are."""

HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?\.?")
"""A host's name, or its IPv4 address."""

HOW = "Write it like this: http://HOST:PORT/v1#MODEL"


@dataclass(frozen=True, kw_only=True)
class Address:
    """The address of a model on a server."""

    url: str
    """The URL up to the version, without credentials: http://localhost:8000/v1."""
    model: str
    """The model's name there."""
    host: str
    """The host in the URL, without the port."""
    openai: bool = False
    """Whether it was written as ``openai:NAME``."""

    @property
    def loopback(self) -> bool:
        """Return whether the server is on this machine."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def safe(self) -> bool:
        """Return whether the connection is encrypted or stays on this machine."""
        return self.url.startswith("https://") or self.loopback


def behind_server(spec: str) -> bool:
    """Return whether the model is asked over a connection, not loaded."""
    return spec.lower().startswith(("openai:", "http://", "https://"))


def address_entry(spec: str) -> dict[str, str]:
    """Return the manifest's field for a server's address; empty for a model that is loaded."""
    if not behind_server(spec):
        return {}
    address = parse_address(spec)
    return {"address": address.url, "asked_as": address.model}


def parse_address(spec: str) -> Address:
    """Return the address in a model's name; raise ModelError if it is invalid or has a secret."""
    if spec.lower().startswith("openai:"):
        name = spec[len("openai:") :]
        if not name:
            raise ModelError("'openai:' has no model name. Write openai:NAME")
        host = str(urlsplit(OPENAI).hostname)
        return Address(url=OPENAI, model=name, host=host, openai=True)
    place, _, name = spec.partition("#")
    # Checked before any part of it can get into a message.
    if "@" in place or "?" in place:
        raise ModelError(
            "The address of a model contains a user name, a password or a query (@ or ?), which "
            "would be stored with the run. Remove it. Put the key into an environment variable, "
            f"and give its name with --key-env. {HOW}"
        )
    if not name:
        raise ModelError(f"'{spec}' has no model name. {HOW}")
    try:
        parts = urlsplit(place)
        host, port = parts.hostname or "", parts.port
        shown = f"[{ip_address(host)}]" if ":" in host else host
    except ValueError as error:
        raise ModelError(f"'{spec}' is not an address: {error}. {HOW}") from error
    if not (":" in host or HOST.fullmatch(host)):
        raise ModelError(f"'{spec}' is not an address: it has no valid host. {HOW}")
    base = f"{parts.scheme}://{shown}{f':{port}' if port is not None else ''}"
    return Address(url=base + parts.path.rstrip("/"), model=name, host=host)
