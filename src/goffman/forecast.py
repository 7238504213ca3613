"""What a model is about to be asked, how much that is, and roughly how long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from goffman.errors import GoffmanError
from goffman.models.files import files_of, read_object
from goffman.progress import duration

if TYPE_CHECKING:
    from goffman.instruments.types import Prompt
    from goffman.models.base import LoadOptions, Sampling
    from goffman.options import AskOptions, Prices
    from goffman.planning import Assignment
    from goffman.runs.collect_replies import Questions

SIGNS_PER_TOKEN = 4
"""In English, with the tokens of today's models; rather a little too few than too many."""

AROUND = 8
"""Tokens that a chat puts around a question."""


class Forecast(NamedTuple):
    """The number of requests still to be sent, and about how many tokens they take."""

    requests: int
    """Without requests that fail and are sent again."""
    there: int
    """Questions whose replies are on disk."""
    question_tokens: int
    """About how many tokens are sent."""
    reply_tokens: int
    """At most how many tokens are received."""

    def cost(self, prices: Prices) -> tuple[float, float]:
        """Return the cost of the questions alone, and with the longest replies."""
        questions = self.question_tokens * prices.question / 1e6
        return questions, questions + self.reply_tokens * prices.reply / 1e6


def forecast(questions: Questions, sampling: Sampling) -> Forecast:
    """Return the forecast for the questions without a reply."""
    missing = (~questions.answered).sum(axis=0)
    lengths = np.array([len(text) for text in questions.texts], dtype=np.int64)
    requests = int(missing.sum())
    tokens = -(-lengths // SIGNS_PER_TOKEN) + AROUND
    return Forecast(
        requests=requests,
        there=int(questions.answered.sum()),
        question_tokens=int((tokens * missing).sum()),
        reply_tokens=requests * sampling.max_tokens,
    )


def forecast_text(expected: Forecast, prices: Prices | None) -> str:
    """Return the forecast as a sentence."""
    present_text = f" ({expected.there:,} replies are already there)" if expected.there else ""
    requests = "1 request" if expected.requests == 1 else f"{expected.requests:,} requests"
    text = (
        f"{requests}{present_text}, about {expected.question_tokens:,} tokens sent and at most "
        f"{expected.reply_tokens:,} received"
    )
    if prices is None:
        return f"{text}."
    least, most = expected.cost(prices)
    return f"{text}. Estimated cost: {least:,.2f} for the prompts, at most {most:,.2f} in all."


SIDE = 1024
"""The size of the matrices whose product is timed; about as large as those of a small model."""
REACHED = 0.65
"""The share of that speed that a model reaches, given attention, norms and the tokens that a
template adds: on a CPU, SmolLM2-135M reaches .9, and its template adds a third to the tokens."""


def weights_used(spec: str, options: LoadOptions) -> int | None:
    """Return how many weights each token passes; None if the configuration does not say."""
    files = files_of(spec, weights=False, fetched=options.fetched)
    config = read_object(files.name, files.folder / "config.json")
    # The vocabulary does not count: it is used at only one token of a prompt.
    size = config.get("hidden_size", config.get("n_embd"))
    layers = config.get("num_hidden_layers", config.get("n_layer"))
    if not isinstance(size, int) or not isinstance(layers, int):
        return None
    heads, key_heads = config.get("num_attention_heads"), config.get("num_key_value_heads")
    key_share = key_heads / heads if isinstance(heads, int) and isinstance(key_heads, int) else 1
    attention = size * size * (2 + 2 * key_share)
    # GPT-2's kind has two inner matrices, Llama's three.
    gated, inner = config.get("intermediate_size"), config.get("n_inner")
    if isinstance(gated, int):
        return layers * int(attention + 3 * size * gated)
    return layers * int(attention + 2 * size * (inner if isinstance(inner, int) else 4 * size))


def weights_a_second(device: str) -> float:
    """Return how many weights times tokens the device computes in a second, by a short trial."""
    import torch

    from goffman.models.torch_common import choose_device

    torch_device = choose_device(device)
    left, right = (torch.ones(SIDE, SIDE, device=torch_device) for _ in range(2))
    count, start, elapsed = 0, time.perf_counter(), 0.0
    while elapsed < 0.2:
        # Only reading a value waits until a GPU has calculated it.
        (left @ right)[0, 0].item()
        count, elapsed = count + 1, time.perf_counter() - start
    return REACHED * count * SIDE**3 / elapsed


WORTH_SAYING = 120
"""Seconds: a shorter duration is over before anyone has read it."""

Duration = Callable[[int], str]
"""Tokens → ", roughly 3 hours", or "" if it is unknown or short."""


def describe_parts(
    assignments: Sequence[Assignment], loading: LoadOptions, options: AskOptions
) -> Iterator[str]:
    """Yield a line for each model that is asked a sample, or for which a sample might suffice."""
    for assignment in assignments:
        unsampled = [
            question
            for question in assignment.questions
            if 0 < len(question.part("balanced")) < len(question.prompts)
        ]
        prompts = [prompt for question in unsampled for prompt in question.prompts]
        sample_prompts = [prompt for question in unsampled for prompt in question.part("balanced")]
        duration = _durations(assignment.model, loading) if unsampled else lambda _: ""
        time = duration(_tokens(prompts))
        counts = {
            question.instrument.id: len(question.prompts) * question.trials
            for question in assignment.questions
        }
        total = sum(
            question.every or counts[question.instrument.id] for question in assignment.questions
        )
        now = sum(counts.values())
        of_total = "" if now == total else f" of {total:,}"
        sentences = [f"{assignment.model} is asked {now:,}{of_total} prompts{time}."]
        if unsampled and options.sample is None:
            sample = (
                f"{now - len(prompts) + len(sample_prompts):,}{duration(_tokens(sample_prompts))}"
            )
            sentences.append(f"A balanced sample of {sample}: --sample balanced.")
        if of_total:
            sentences.append("All: --sample all.")
        if len(sentences) > 1 or time:
            yield " ".join(sentences)


def _tokens(prompts: Sequence[Prompt]) -> int:
    return sum(-(-len(prompt.asked) // SIGNS_PER_TOKEN) + AROUND for prompt in prompts)


def _durations(model: str, loading: LoadOptions) -> Duration:
    """Return a function from tokens to how long the model takes for them where it runs."""
    if loading.workers is not None or "," in loading.device or loading.device == "cuda:all":
        return lambda _: ""
    try:
        weights = weights_used(model, loading)
    except GoffmanError:
        weights = None
    if not weights:
        return lambda _: ""
    per_second = weights_a_second(loading.device)
    return lambda tokens: _roughly(tokens * weights / per_second)


def _roughly(seconds: float) -> str:
    """Return the time as text; "" if it is short."""
    return "" if seconds < WORTH_SAYING else f" (roughly {duration(seconds)})"
