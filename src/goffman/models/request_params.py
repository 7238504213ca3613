"""How replies are to be drawn, as a request says it; and what a server refuses to be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goffman.models.base import ChatRequest, Sampling

LIMITS = ("max_tokens", "max_completion_tokens")
"""The two names of the token limit: many servers know the first, OpenAI's newer models the
second."""

PROBABILITIES = ("top_logprobs", "logprobs")
"""What asks a server for the probabilities of tokens."""

PARAMETERS = (*LIMITS, "temperature", "top_p", "seed", *PROBABILITIES)
"""All that a request may say of how a reply is drawn."""

OPTIONS = {"temperature": "--temperature", "top_p": "--top-p"} | dict.fromkeys(
    LIMITS, "--max-tokens"
)
"""What a user says them with."""

DEFAULTS = {"temperature": 1.0, "top_p": 1.0}
"""What OpenAI's protocol takes where a request says nothing."""

TOP = 20
"""So many tokens a server is asked for with their probabilities: the most that OpenAI's allow."""

WORDS_LIMIT = 24
"""Tokens of a reply in which a blank is filled."""

FEWER = 5
"""So many, where a server refuses to name that many."""

NO_PROBABILITIES = (
    "The server does not give the probabilities of words. In completions, the word that it says in "
    "each trial is counted instead. Questions with options are read by their text alone."
)


class Parameters:
    """What each request says, less what the server has refused and can do without."""

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
        """For so many tokens the server is asked for their probabilities; 0: it is not."""
        self.changed: tuple[str, ...] = ()
        """What is not said as it was at first, in sentences for the user."""

    def body(self, turn: ChatRequest) -> dict[str, Any]:
        """The part of a request that says how its reply is drawn."""
        said = dict(self._said)
        if "seed" in said:
            said["seed"] = turn.seed
        if turn.words:
            # The blank is the first word, or soon after the beginning of the sentence.
            said |= {name: min(said[name], WORDS_LIMIT) for name in LIMITS if name in said}
        if self.top and (turn.words or turn.options):
            said |= {"logprobs": True, "top_logprobs": self.top}
        return said

    def without(self, refused: Sequence[str], sent: Mapping[str, Any]) -> bool:
        """Whether a request that was refused for these may be sent again, said otherwise.

        Only where that does not change what is measured.
        """
        name = named(refused, sent)
        if name is None:
            return False
        if name in PROBABILITIES:
            # Where another request has not found out at the same time: fewer tokens, or none.
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
        other = LIMITS[name == LIMITS[0]]
        if other in self._tried:
            return False
        self._tried.add(other)
        self._said[other] = self._said.pop(name)
        self.changed += (f"The server takes the token limit as {other}, not {name}.",)
        return True


def named(refused: Sequence[str], sent: Mapping[str, Any]) -> str | None:
    """The parameter that the server refuses: the first that it names and was sent."""
    return next((name for name in refused if name in sent), None)


def refusal_of(name: str, value: object) -> str:
    """What a user is told of a parameter that the server refuses and that cannot be left out."""
    option = OPTIONS[name]
    if name in LIMITS:
        names = " nor as ".join(LIMITS)
        return f"the server accepts no token limit ({option} {value}), neither as {names}"
    instead = f"Ask with {option} {DEFAULTS[name]:g}" if name == "temperature" else f"Omit {option}"
    return (
        f"the server does not accept {option} {value}, and without it the replies would be "
        f"different. {instead}, or use another model"
    )
