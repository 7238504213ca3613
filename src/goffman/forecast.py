"""What a model is about to be asked, of how much, and roughly how long that takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

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
"""Of English, in the tokens of today's models; a little too few rather than too many."""

AROUND = 8
"""Tokens that a chat puts around a question."""


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What is still to be asked, and about how much it is."""

    requests: int
    """Without those that fail and are sent again."""
    there: int
    """Questions whose replies are on disk."""
    question_tokens: int
    """About so many go out."""
    reply_tokens: int
    """No more than so many come back."""

    def cost(self, prices: Prices) -> tuple[float, float]:
        """The cost of the questions alone, and with the longest replies."""
        questions = self.question_tokens * prices.question / 1e6
        return questions, questions + self.reply_tokens * prices.reply / 1e6


def forecast(questions: Questions, sampling: Sampling) -> Forecast:
    """What the questions without a reply will take."""
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


def sum_of(several: Sequence[Forecast]) -> Forecast:
    """Return what several questions take together."""
    totals = [sum(amounts) for amounts in zip(*map(astuple, several), strict=True)]
    return Forecast(**dict(zip(Forecast.__dataclass_fields__, totals, strict=True)))


def forecast_text(found: Forecast, prices: Prices | None) -> str:
    """The forecast as a sentence."""
    there = f" ({found.there:,} replies are already there)" if found.there else ""
    requests = "1 request" if found.requests == 1 else f"{found.requests:,} requests"
    text = (
        f"{requests}{there}, about {found.question_tokens:,} tokens sent and at most "
        f"{found.reply_tokens:,} received"
    )
    if prices is None:
        return f"{text}."
    least, most = found.cost(prices)
    return f"{text}. Estimated cost: {least:,.2f} for the prompts, at most {most:,.2f} in all."


SIDE = 1024
"""Of the matrices whose product is timed; about as large as those of a small model."""
REACHED = 0.65
"""So much of that speed a model comes to, beside attention, norms and the tokens that a template
adds: on a CPU, SmolLM2-135M comes to .9 of it, and its template adds a third to the tokens."""


def weights_used(spec: str, options: LoadOptions) -> int | None:
    """How many weights each token goes through; None where the configuration does not say."""
    files = files_of(spec, weights=False, fetched=options.fetched)
    config = read_object(files.name, files.folder / "config.json")
    # The vocabulary does not count, which is used at one token of a prompt only.
    size = config.get("hidden_size", config.get("n_embd"))
    layers = config.get("num_hidden_layers", config.get("n_layer"))
    if not isinstance(size, int) or not isinstance(layers, int):
        return None
    heads, of_keys = config.get("num_attention_heads"), config.get("num_key_value_heads")
    shared = of_keys / heads if isinstance(heads, int) and isinstance(of_keys, int) else 1
    attention = size * size * (2 + 2 * shared)
    # GPT-2's kind has two inner matrices, Llama's three.
    gated, inner = config.get("intermediate_size"), config.get("n_inner")
    if isinstance(gated, int):
        return layers * int(attention + 3 * size * gated)
    return layers * int(attention + 2 * size * (inner if isinstance(inner, int) else 4 * size))


def weights_a_second(device: str) -> float:
    """How many weights the device takes tokens through in a second, by a short trial."""
    import torch

    from goffman.models.torch_common import choose_device

    place = choose_device(device)
    left, right = (torch.ones(SIDE, SIDE, device=place) for _ in range(2))
    count, start, elapsed = 0, time.perf_counter(), 0.0
    while elapsed < 0.2:
        # What a GPU has calculated is known once it is read.
        (left @ right)[0, 0].item()
        count, elapsed = count + 1, time.perf_counter() - start
    return REACHED * count * SIDE**3 / elapsed


WORTH_SAYING = 120
"""Seconds: what takes less is done before it is read."""

Duration = Callable[[int], str]
"""Tokens → ", roughly 3 hours", or nothing where it is not known or short."""


def describe_parts(
    pairs: Sequence[Assignment], loading: LoadOptions, options: AskOptions
) -> Iterator[str]:
    """Yield a line for each model that is asked a sample, or so much that a sample might do."""
    for pair in pairs:
        whole = [one for one in pair.questions if 0 < len(one.part("balanced")) < len(one.prompts)]
        prompts = [prompt for question in whole for prompt in question.prompts]
        few = [prompt for question in whole for prompt in question.part("balanced")]
        duration = _durations(pair.model, loading) if whole else lambda _: ""
        time = duration(_tokens(prompts))
        asked = {one.instrument.id: len(one.prompts) * one.trials for one in pair.questions}
        every = sum(one.every or asked[one.instrument.id] for one in pair.questions)
        now = sum(asked.values())
        of_all = "" if now == every else f" of {every:,}"
        said = [f"{pair.model} is asked {now:,}{of_all} prompts{time}."]
        if whole and options.sample is None:
            sample = f"{now - len(prompts) + len(few):,}{duration(_tokens(few))}"
            said.append(f"A balanced sample of {sample}: --sample balanced.")
        if of_all:
            said.append("All: --sample all.")
        if len(said) > 1 or time:
            yield " ".join(said)


def _tokens(prompts: Sequence[Prompt]) -> int:
    return sum(-(-len(prompt.asked) // SIGNS_PER_TOKEN) + AROUND for prompt in prompts)


def _durations(model: str, loading: LoadOptions) -> Duration:
    """How long so many tokens take the model where it is to run."""
    if loading.workers is not None or "," in loading.device or loading.device == "cuda:all":
        return lambda _: ""
    try:
        weights = weights_used(model, loading)
    except GoffmanError:
        weights = None
    if not weights:
        return lambda _: ""
    a_second = weights_a_second(loading.device)
    return lambda tokens: _roughly(tokens * weights / a_second)


def _roughly(seconds: float) -> str:
    """The time, if it is worth saying."""
    return "" if seconds < WORTH_SAYING else f" (roughly {duration(seconds)})"
