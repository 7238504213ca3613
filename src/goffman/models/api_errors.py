"""What can go wrong with a server: whether to ask again, and what to tell the user."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goffman.errors import did_you_mean
from goffman.models.rate_limit import server_wait
from goffman.models.request_params import PARAMETERS, PROBABILITIES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goffman.models.server_address import Address

TRIES = 8
"""A question is put so often before it is given up."""

QUICK_TRIES = 3
"""As above, where nothing is heard at all: no connection yet, or no answer in time."""

LONGEST_WAIT = 600.0
"""Seconds that a server may ask to wait; where it asks for more, the user decides."""

LONGEST_ANSWER = 4 * 2**20
"""Bytes of a server's answer, packed or unpacked: without an end it would fill the memory."""

LONGEST_WORDS = 200
"""Signs of a server's own words that are told."""

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
"""HTTP codes that may pass by themselves."""

BUSY = frozenset({429, 503, 529})
"""Of these the ones that say that there is too much to do."""

FILTERED = ("content_filter", "content_policy_violation")
"""How servers name a question that their filter did not let through: it has no reply."""

NO_CREDIT = "insufficient_quota"

REFUSES = frozenset({400, 422})
"""HTTP codes of a request that the server does not understand."""

UNSUPPORTED = re.compile(
    r"unsupported|not support|n't support|unknown|unrecogni[sz]ed|unexpected|deprecated|no longer|"
    r"not (?:permitted|allowed|recogni[sz]ed|accepted|available)|extra (?:fields|inputs)|"
    r"only the default|cannot be set|can't be set|(?:does not|doesn't) (?:take|accept)|"
    r"invalid (?:parameter|argument|field)",
    re.IGNORECASE,
)
"""How servers say that they do not know a parameter, as opposed to its value being too large."""

UNSUPPORTED_CODES = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter"})


@dataclass(eq=False, repr=False)
class RequestError(Exception):
    """A request without a reply that counts."""

    what: str
    """What happened, as part of a sentence."""
    tries: int = TRIES
    """So many failures end the asking; 1: this one does."""
    wait: float | None = None
    """Seconds that the server asks for; None: it does not say."""
    busy: bool = False
    """The server has too much to do."""
    nobody: bool = False
    """There was no one to talk to."""
    no_model: bool = False
    """The server does not know the model."""
    late: bool = False
    """No answer came in time."""
    refused: Sequence[str] = ()
    """Parameters that the server will not be told, as it names them."""
    unnamed: bool = False
    """The server does not understand the request, and does not say what in it."""
    server_said: str = ""
    """The HTTP code and the server's own words."""
    times: int = 1
    """So often the question was put."""
    late_in_all: int = 0
    """So many requests of all questions were not answered in time."""

    def __str__(self) -> str:
        often = f" goffman tried {self.times} times." if self.times > 1 else ""
        # With others it is the server that is slow, not one question that is long.
        if self.late and self.late_in_all > self.times:
            often += (
                f" In all, {self.late_in_all:,} requests timed out. Raise --timeout, or lower "
                "--concurrency."
            )
        return f"{self.what}{often}"


class ContentFiltered(Exception):  # noqa: N818
    """The server's filter did not let the question through."""


def failure_of(
    response: Any,
    text: str,
    *,
    address: Address,
    key_name: str | None,
    hidden: Callable[[str], str],
) -> RequestError | ContentFiltered:
    """What an answer without a reply means; ``hidden`` takes the key out of what is told."""
    status, headers = response.status_code, response.headers
    told = _error(text)
    words = words_of(told, text, hidden)
    if str(told.get("code")) in FILTERED:
        return ContentFiltered()
    if status in AGAIN and NO_CREDIT not in (told.get("code"), told.get("type")):
        wait = server_wait(headers)
        if wait is None or wait <= LONGEST_WAIT:
            what = f"the server answered with HTTP {status}{words}."
            # Some cannot name probabilities as they were started, and say so as a fault of theirs.
            named_ones = [name for name in refused_in(told, text) if name in PROBABILITIES]
            return RequestError(what, wait=wait, busy=status in BUSY, refused=named_ones)
        what = f"the server asks to wait {wait:,.0f} seconds (HTTP {status}{words})."
    elif status == 401 and key_name is None:
        what = (
            "the server needs a key (HTTP 401). Put it into an environment variable, and give its "
            "name with --key-env."
        )
    elif status == 401:
        what = f"the server did not accept the key in {key_name} (HTTP 401). Put a valid key there."
    elif status == 404:
        what = (
            f"the server at {address.url} has no model '{address.model}', or no chat at this "
            f"address (HTTP 404{words})."
        )
    elif 300 <= status < 400:
        what = (
            f"the server at {address.url} redirects to "
            f"{hidden(headers.get('location', 'elsewhere'))[:LONGEST_WORDS]} (HTTP {status}). "
            "Give that address instead."
        )
    elif status == 429:
        what = f"the account has no credit left (HTTP 429{words})."
    else:
        what = f"the server refused a question (HTTP {status}{words})."
    refused = refused_in(told, text) if status in REFUSES else ()
    return RequestError(
        what,
        tries=1,
        no_model=status == 404,
        refused=refused,
        unnamed=status in REFUSES and not refused,
        server_said=f"HTTP {status}{words}",
    )


def refused_in(told: Mapping[str, Any], text: str) -> list[str]:
    """The parameters that an answer says are not supported, in the order in which it names them.

    Probabilities are wanted, not needed: whatever it says of them, it is asked for fewer or none.
    """
    message = told.get("message")
    message = message if isinstance(message, str) else text
    names = re.findall(rf"\b({'|'.join(PARAMETERS)})\b", message)
    param = told.get("param")
    names = list(dict.fromkeys([*([param] if param in PARAMETERS else []), *names]))
    if UNSUPPORTED.search(message) or str(told.get("code")) in UNSUPPORTED_CODES:
        return names
    return [name for name in names if name in PROBABILITIES]


def unlisted(address: Address, names: Sequence[str]) -> str:
    """What is to be said of a model that the server does not list; empty: it does, or lists none.

    A name may leave out ":latest", as users of Ollama do, or have an ending of its own (":free").
    """
    name = address.model
    if not names or {name, f"{name}:latest", name.partition(":")[0]} & {*names}:
        return ""
    what = f"the server at {address.url} does not list a model '{name}'."
    return str(unknown_model(RequestError(what), address, names))


def unknown_model(failed: RequestError, address: Address, names: Sequence[str]) -> RequestError:
    """The failure with what the server has instead."""
    if not names:
        return failed
    shown = ", ".join(name[:LONGEST_WORDS] for name in names[:10])
    shown += " …" if len(names) > 10 else ""
    return RequestError(f"{failed} It has: {shown}.{did_you_mean(address.model, names)}", tries=1)


def unconnected(address: Address, cause: BaseException | None) -> RequestError:
    """What a connection that failed means: nobody there, or cut."""
    if type(cause).__name__ not in {"ConnectError", "ConnectTimeout"}:
        return RequestError(f"the server at {address.url} closed the connection.")
    if "certificate" in str(cause).lower():
        return RequestError(
            f"the certificate of {address.url} cannot be trusted ({cause}).", tries=1
        )
    return RequestError(
        f"cannot connect to {address.url}. Start the server, or correct the address.", nobody=True
    )


def badly_packed(address: Address, packing: str) -> RequestError:
    """What it means that an answer cannot be unpacked."""
    what = (
        f"the server at {address.url} compresses its answers in a way that goffman cannot read "
        f"(Content-Encoding: {packing[:LONGEST_WORDS]}). Turn compression off."
    )
    return RequestError(what, tries=QUICK_TRIES)


def words_of(told: Mapping[str, Any], text: str, hidden: Callable[[str], str]) -> str:
    """The server's own words, short and on one line, after a colon; or nothing."""
    said = told.get("message")
    plain = said if isinstance(said, str) else "" if text.lstrip().startswith("<") else text
    # The key is taken out before the words are cut: half of it would be a secret still.
    line = re.sub(r"\s+", " ", hidden(plain)).strip().rstrip(".")
    return f": {line[:LONGEST_WORDS]}" if line else ""


def _error(text: str) -> dict[str, Any]:
    """The error object of an answer, or an empty one."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    error = body.get("error", body) if isinstance(body, dict) else {}
    return error if isinstance(error, dict) else {"message": error}
