"""The parameters of a request on how its reply is drawn, and what servers refuse of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goffman.models.base import ChatRequest, Sampling

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


class Parameters:
    """The parameters of each request, without those that were refused and can be left out."""

    def __init__(self, sampling: Sampling, *, openai: bool) -> None:
        self._said: dict[str, Any] = {
            "temperature": sampling.temperature,
            LIMITS[openai]: sampling.max_tokens,
            "seed": None,
        }
        if sampling.top_p is not None:
            self._said["top_p"] = sampling.top_p
        self._tried = {LIMITS[openai]}
        self.top = TOP
        """For how many tokens the server is asked for probabilities; 0: for none."""
        self.changed: tuple[str, ...] = ()
        """Sentences for the user on parameters that are no longer sent as at first."""

    def body(self, turn: ChatRequest) -> dict[str, Any]:
        """Return the part of a request that says how its reply is drawn."""
        parameters = dict(self._said)
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
        """Return whether a request with refused parameters may be sent again, after changing them.

        It may only if that does not change what is measured.
        """
        name = named(refused, sent)
        if name is None:
            return False
        if name in PROBABILITIES:
            # Unless another request has found out at the same time: fewer tokens, or none.
            if self.top == sent["top_logprobs"]:
                self.top = FEWER if self.top > FEWER else 0
                if not self.top:
                    self.changed += (NO_PROBABILITIES,)
            return True
        if name not in self._said:
            # Another request was refused for it at the same time.
            return True
        if name in LIMITS:
            return self._rename(name)
        if name != "seed" and self._said[name] != DEFAULTS[name]:
            return False
        value = self._said.pop(name)
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
        self._said[new_name] = self._said.pop(name)
        self.changed += (f"The server takes the token limit as {new_name}, not {name}.",)
        return True


def named(refused: Sequence[str], sent: Mapping[str, Any]) -> str | None:
    """Return the first parameter named by the server that was sent: the one that it refuses."""
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
