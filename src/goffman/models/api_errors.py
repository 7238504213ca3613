"""What can go wrong with a server: what it refuses, when to ask again, what to tell the user."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goffman.errors import did_you_mean
from goffman.models.base import ChatRequest, Sampling
from goffman.models.rate_limit import server_wait
from goffman.models.server_address import Address

LIMITS = ("max_tokens", "max_completion_tokens")
"""The two names of the token limit: many servers know the first, OpenAI's newer models the
second."""

PROBABILITIES = ("top_logprobs", "logprobs")
"""The parameters that ask a server for the probabilities of tokens."""

PARAMETERS = (*LIMITS, "temperature", "top_p", "seed", *PROBABILITIES)
"""All parameters of a request on how a reply is drawn."""

OPTIONS = {"temperature": "--temperature", "top_p": "--top-p"} | dict.fromkeys(
    LIMITS, "--max-tokens"
)
"""The command-line options with which a user sets them."""

DEFAULTS = {"temperature": 1.0, "top_p": 1.0}
"""The values in OpenAI's protocol for parameters that a request leaves out."""

TOP = 20
"""For how many tokens a server is asked for probabilities: the most that OpenAI's allow."""

WORDS_LIMIT = 24
"""The most tokens of a reply in which a blank is filled."""

FEWER = 5
"""The number of tokens if a server refuses to give probabilities for TOP tokens."""

NO_PROBABILITIES = (
    "The server does not give the probabilities of words. In completions, the word that it says in "
    "each trial is counted instead. Questions with options are read by their text alone."
)

TRIES = 8
"""How often a question is put before it is given up."""

QUICK_TRIES = 3
"""The same, if nothing is heard at all: no connection yet, or no answer in time."""

LONGEST_WAIT = 600.0
"""Seconds that a server may ask to wait; if it asks for more, the user decides."""

LONGEST_ANSWER = 4 * 2**20
"""The most bytes of an answer, packed or unpacked: an endless one would fill the memory."""

LONGEST_WORDS = 200
"""The most characters of a server's own words that are shown."""

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
"""HTTP codes of errors that may pass by themselves."""

BUSY = frozenset({429, 503, 529})
"""Those of them that say that the server has too much to do."""

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
    """A request without a valid reply."""

    what: str
    """What happened, as part of a sentence."""
    tries: int = TRIES
    """How many failures end the asking; 1: this one does."""
    wait: float | None = None
    """Seconds that the server asks for; None: it does not say."""
    busy: bool = False
    """The server has too much to do."""
    nobody: bool = False
    """The server could not be reached."""
    no_model: bool = False
    """The server does not know the model."""
    late: bool = False
    """No answer came in time."""
    refused: Sequence[str] = ()
    """Parameters that the server does not accept, as it names them."""
    unnamed: bool = False
    """The server does not understand the request, and does not say which part of it."""
    server_said: str = ""
    """The HTTP code and the server's own words."""
    times: int = 1
    """How often the question was put."""
    late_in_all: int = 0
    """How many requests, of all questions, were not answered in time."""

    def __str__(self) -> str:
        remark = f" goffman tried {self.times} times." if self.times > 1 else ""
        # If other requests timed out, the server is slow; it is not that one question is long.
        if self.late and self.late_in_all > self.times:
            remark += (
                f" In all, {self.late_in_all:,} requests timed out. Raise --timeout, or lower "
                "--concurrency."
            )
        return f"{self.what}{remark}"


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
    """Return the error for a response without a reply; ``hidden`` removes the key from texts."""
    status, headers = response.status_code, response.headers
    error = _error(text)
    words = words_of(error, text, hidden)
    if str(error.get("code")) in FILTERED:
        return ContentFiltered()
    if status in AGAIN and NO_CREDIT not in (error.get("code"), error.get("type")):
        wait = server_wait(headers)
        if wait is None or wait <= LONGEST_WAIT:
            message = f"the server answered with HTTP {status}{words}."
            # Some servers, as started, cannot give probabilities, and report a server error.
            probabilities = [name for name in refused_in(error, text) if name in PROBABILITIES]
            return RequestError(message, wait=wait, busy=status in BUSY, refused=probabilities)
        message = f"the server asks to wait {wait:,.0f} seconds (HTTP {status}{words})."
    elif status == 401 and key_name is None:
        message = (
            "the server needs a key (HTTP 401). Put it into an environment variable, and give its "
            "name with --key-env."
        )
    elif status == 401:
        message = (
            f"the server did not accept the key in {key_name} (HTTP 401). Put a valid key there."
        )
    elif status == 404:
        message = (
            f"the server at {address.url} has no model '{address.model}', or no chat at this "
            f"address (HTTP 404{words})."
        )
    elif 300 <= status < 400:
        message = (
            f"the server at {address.url} redirects to "
            f"{hidden(headers.get('location', 'elsewhere'))[:LONGEST_WORDS]} (HTTP {status}). "
            "Give that address instead."
        )
    elif status == 429:
        message = f"the account has no credit left (HTTP 429{words})."
    else:
        message = f"the server refused a question (HTTP {status}{words})."
    refused = refused_in(error, text) if status in REFUSES else ()
    return RequestError(
        message,
        tries=1,
        no_model=status == 404,
        refused=refused,
        unnamed=status in REFUSES and not refused,
        server_said=f"HTTP {status}{words}",
    )


def refused_in(error: Mapping[str, Any], text: str) -> list[str]:
    """Return the parameters that a server's error calls unsupported, in the order of its text.

    Any complaint about probabilities counts, because fewer or none of them can be requested.
    """
    message = error.get("message")
    message = message if isinstance(message, str) else text
    names = re.findall(rf"\b({'|'.join(PARAMETERS)})\b", message)
    param = error.get("param")
    names = list(dict.fromkeys([*([param] if param in PARAMETERS else []), *names]))
    if UNSUPPORTED.search(message) or str(error.get("code")) in UNSUPPORTED_CODES:
        return names
    return [name for name in names if name in PROBABILITIES]


def unlisted(address: Address, names: Sequence[str]) -> str:
    """Return a message if the server lists models, but not this one; otherwise an empty text.

    A name may leave out ":latest", as users of Ollama do, or have a further ending (":free").
    """
    name = address.model
    if not names or {name, f"{name}:latest", name.partition(":")[0]} & {*names}:
        return ""
    message = f"the server at {address.url} does not list a model '{name}'."
    return str(unknown_model(RequestError(message), address, names))


def unknown_model(failed: RequestError, address: Address, names: Sequence[str]) -> RequestError:
    """Return the failure with the models that the server lists added to its message."""
    if not names:
        return failed
    shown = ", ".join(name[:LONGEST_WORDS] for name in names[:10])
    shown += " …" if len(names) > 10 else ""
    return RequestError(f"{failed} It has: {shown}.{did_you_mean(address.model, names)}", tries=1)


def unconnected(address: Address, cause: BaseException | None) -> RequestError:
    """Return the error for a failed connection: no server answers, or it was cut."""
    if type(cause).__name__ not in {"ConnectError", "ConnectTimeout"}:
        return RequestError(f"the server at {address.url} closed the connection.")
    if "certificate" in str(cause).lower():
        return RequestError(
            f"the certificate of {address.url} cannot be trusted ({cause}).", tries=1
        )
    return RequestError(
        f"cannot connect to {address.url}. Start the server, or correct the address.", nobody=True
    )


def words_of(error: Mapping[str, Any], text: str, hidden: Callable[[str], str]) -> str:
    """Return a colon and the server's own message, shortened to a line; empty if it has none."""
    message = error.get("message")
    plain = message if isinstance(message, str) else "" if text.lstrip().startswith("<") else text
    # The key is removed before the words are cut: half of it would still be a secret.
    line = re.sub(r"\s+", " ", hidden(plain)).strip().rstrip(".")
    return f": {line[:LONGEST_WORDS]}" if line else ""


def _error(text: str) -> dict[str, Any]:
    """Return the object "error" in a response; an empty one if there is none."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    error = body.get("error", body) if isinstance(body, dict) else {}
    return error if isinstance(error, dict) else {"message": error}


class Parameters:
    """The parameters of each request, without those that were refused and can be left out."""

    def __init__(self, sampling: Sampling, *, openai: bool) -> None:
        self._sent: dict[str, Any] = {
            "temperature": sampling.temperature,
            LIMITS[openai]: sampling.max_tokens,
            "seed": None,
        }
        if sampling.top_p is not None:
            self._sent["top_p"] = sampling.top_p
        self._tried = {LIMITS[openai]}
        self.top = TOP
        """For how many tokens the server is asked for probabilities; 0: for none."""
        self.changed: tuple[str, ...] = ()
        """Sentences for the user on parameters that are no longer sent as at first."""

    def body(self, turn: ChatRequest) -> dict[str, Any]:
        """Return the fields of a request that say how its reply is drawn."""
        parameters = dict(self._sent)
        if "seed" in parameters:
            parameters["seed"] = turn.seed
        if turn.words:
            # The blank is the first word, or soon after the beginning of the sentence.
            parameters |= {
                name: min(parameters[name], WORDS_LIMIT) for name in LIMITS if name in parameters
            }
        if self.top and (turn.words or turn.options):
            parameters |= {"logprobs": True, "top_logprobs": self.top}
        return parameters

    def without(self, refused: Sequence[str], sent: Mapping[str, Any]) -> bool:
        """Change or drop refused parameters; return whether the request may then be sent again.

        It may not if the change would alter what is measured.
        """
        name = named(refused, sent)
        if name is None:
            return False
        if name in PROBABILITIES:
            # Another request may already have lowered the number of probabilities.
            if self.top == sent["top_logprobs"]:
                self.top = FEWER if self.top > FEWER else 0
                if not self.top:
                    self.changed += (NO_PROBABILITIES,)
            return True
        if name not in self._sent:
            # Another request was refused for it at the same time.
            return True
        if name in LIMITS:
            return self._rename(name)
        if name != "seed" and self._sent[name] != DEFAULTS[name]:
            return False
        value = self._sent.pop(name)
        change = "The server does not take a seed, so the replies cannot be reproduced exactly."
        if name != "seed":
            change = (
                f"The server does not accept {name}, so it was left out. Its value was {value:g}, "
                "which is the default."
            )
        self.changed += (change,)
        return True

    def _rename(self, name: str) -> bool:
        new_name = LIMITS[name == LIMITS[0]]
        if new_name in self._tried:
            return False
        self._tried.add(new_name)
        self._sent[new_name] = self._sent.pop(name)
        self.changed += (f"The server takes the token limit as {new_name}, not {name}.",)
        return True


def named(refused: Sequence[str], sent: Mapping[str, Any]) -> str | None:
    """Return the first refused parameter that was sent; None if none was."""
    return next((name for name in refused if name in sent), None)


def refusal_of(name: str, value: object) -> str:
    """Return the message about a parameter that a server refuses and that cannot be left out."""
    option = OPTIONS[name]
    if name in LIMITS:
        names = " nor as ".join(LIMITS)
        return f"the server accepts no token limit ({option} {value}), neither as {names}"
    instead = f"Ask with {option} {DEFAULTS[name]:g}" if name == "temperature" else f"Omit {option}"
    return (
        f"the server does not accept {option} {value}, and without it the replies would be "
        f"different. {instead}, or use another model"
    )
