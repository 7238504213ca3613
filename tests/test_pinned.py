"""The numbers of fixed answers to all instruments, pinned: reshaping the code must not move them.

The answers are made from hashes of the prompts, so that no model and no CPU has a say in them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl
from polars.testing import assert_frame_equal

from goffman.analysis.estimate import estimates
from goffman.analysis.score import load_words
from goffman.estimates.contrast import Comparing
from goffman.estimates.sharing import sharing_of
from goffman.instruments.coreference import without_a_chat
from goffman.instruments.load import load_instrument
from goffman.instruments.render import PromptOptions, render
from goffman.measures.catalogue import measure_of
from goffman.tables import FILLS, LABELS, REPLIES, prompt_table, schema

GOLDEN = Path(__file__).parent / "golden"
MODELS = ("one", "two")
ATTITUDES = ("likely", "easy", "good", "hard", "bad", "unlikely", "impossible", "time")
PEOPLE = ("She", "He", "woman", "man", "friend", "Mary", "James", "person", "they", "close")
PROSE = {"contrast", "family", "method", "reason", "check_reason", "over", "interval_over"}
"""What may be put in other words without any number changing."""


def drawn(*what):
    """A number from 0 to 1 that depends on these texts alone."""
    digest = hashlib.sha256("/".join(map(str, what)).encode()).digest()
    return int.from_bytes(digest[:6]) / 2**48


def few(prompts, *, conditions, items):
    """The prompts of the first conditions of each group, and of the first items of three parts."""
    # The rare conditions came later than the pinned numbers.
    frame = prompt_table([prompt for prompt in prompts if prompt.group != "rare"])
    kept = pl.concat(
        of.select("condition").unique(maintain_order=True).head(conditions)
        for of in frame.partition_by("group", maintain_order=True)
    )
    parts = pl.concat(
        of.select("item").unique(maintain_order=True).head(items)
        for of in frame.partition_by("dimension", maintain_order=True)[:3]
    )
    return frame.join(kept.unique(), on="condition", how="semi").join(parts, on="item", how="semi")


def fills_at(prompt, model, words, *, step=1, parent=""):
    weights = [0.05 + drawn(prompt, model, step, parent, word) for word in words]
    ranked = sorted(zip(words, weights, strict=True), key=lambda one: -one[1])
    total = sum(weights) / 0.9
    return [
        (prompt, model, step, parent, rank, f" {word}", word, weight / total)
        for rank, (word, weight) in enumerate(ranked, start=1)
    ]


def fills(prompts, words, *, depth=1, width=3):
    rows = []
    for model in MODELS:
        for prompt in prompts["prompt_id"]:
            parents = [""]
            for step in range(1, depth + 1):
                for parent in parents:
                    rows += fills_at(prompt, model, words, step=step, parent=parent)
                parents = [
                    f"{parent}/{rank}".removeprefix("/")
                    for parent in parents
                    for rank in range(1, width + 1)
                ]
    return pl.DataFrame(rows, schema=schema(FILLS), orient="row")


def pronouns(prompts):
    rows = []
    forms = prompts.select("item", "condition", "pronoun").unique().sort("pronoun")
    for prompt in prompts.iter_rows(named=True):
        same = forms.filter(
            pl.col("item") == prompt["item"], pl.col("condition") == prompt["condition"]
        )
        for model in MODELS:
            rows += fills_at(prompt["prompt_id"], model, [*same["pronoun"], "someone"])
    return pl.DataFrame(rows, schema=schema(FILLS), orient="row")


def labels(prompts):
    rows = []
    for model in MODELS:
        for prompt in prompts["prompt_id"]:
            negative = drawn(prompt, model)
            name = "negative" if negative > 0.4 else "positive"
            rows.append((prompt, model, name, negative, None, 1 - negative))
    return pl.DataFrame(rows, schema=schema(LABELS), orient="row")


def replies(prompts, *, trials=3):
    rows = []
    for prompt in prompts.iter_rows(named=True):
        said = (prompt["answer"], prompt["answer"], prompt["other"], "unsure", "I cannot say.")
        for model in MODELS:
            for trial in range(1, trials + 1):
                place = int(drawn(prompt["prompt_id"], model, trial) * len(said))
                rows.append((prompt["prompt_id"], model, trial, said[place], "stop"))
    known = dict(list(schema(REPLIES).items())[:5])
    return pl.DataFrame(rows, schema=known, orient="row")


def answered():
    """Of each instrument itself, some of its prompts, and the answers to them."""
    asked = {
        "social-distance": (lambda p: fills(p, ATTITUDES), {"conditions": 6, "items": 4}),
        "people-sentiment": (labels, {"conditions": 8, "items": 2}),
        "care-seeking": (lambda p: fills(p, PEOPLE), {"conditions": 4, "items": 3}),
        "attribution": (lambda p: fills(p, PEOPLE, depth=2), {"conditions": 3, "items": 2}),
    }
    for name, (make, size) in asked.items():
        instrument = load_instrument(name)
        # The other paraphrases came later than the pinned numbers.
        second = ["second"] if instrument.id == "attribution" else []
        own = [wording.id for wording in instrument.content.wordings]
        wordings = PromptOptions(wordings=[*own, *second])
        prompts = few(render(instrument, wordings).prompts, **size)
        yield instrument, prompts, make(prompts)
    coreference = load_instrument("coreference")
    some = PromptOptions(pairs=24, adjectives=["tough,understanding", "old,", ",political"], seed=0)
    for instrument, make in ((coreference, replies), (without_a_chat(coreference), pronouns)):
        prompts = prompt_table(render(instrument, some).prompts)
        yield instrument, prompts, make(prompts)


def measured():
    """Scores and estimates of all of it."""
    words = load_words()
    scores, measures, wordings, sharing = [], {}, {}, {}
    for instrument, prompts, answers in answered():
        measure = measure_of(instrument)
        for model in MODELS:
            of_model = answers.filter(pl.col("model") == model)
            ready = measure.prepare(of_model, prompts, words, cased=True)
            scores.append(measure.each(ready, prompts))
        each = pl.concat(one for one in scores if one["instrument"][0] == instrument.id)
        scores.append(measure.means(each))
        measures[instrument.id] = measure
        wordings[instrument.id] = prompts["wording"].unique(maintain_order=True).to_list()
        sharing[instrument.id] = sharing_of(prompts)
    table = pl.concat(scores)
    pairs = (MODELS,)
    compare = Comparing(seed=3, draws=199)
    asked = {"wordings": wordings, "sharing": sharing}
    return table, estimates(table, measures, **asked, pairs=pairs, compare=compare)


def numbers(frame):
    """The rows in a fixed order, without what is said in words."""
    kept = frame.select(pl.exclude(PROSE))
    return kept.sort([name for name, kind in kept.schema.items() if not kind.is_float()])


def test_the_numbers_of_fixed_answers_are_as_they_were(request):
    for name, frame in zip(("scores", "estimates"), measured(), strict=True):
        path = GOLDEN / f"measured-{name}.parquet"
        found = numbers(frame)
        if request.config.getoption("--renew-golden"):
            found.write_parquet(path, compression="zstd", compression_level=19)
        assert_frame_equal(found, pl.read_parquet(path), rel_tol=1e-9, abs_tol=1e-12)
