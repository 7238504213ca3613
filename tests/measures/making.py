"""Small tables made by hand, for tests of measures."""

from __future__ import annotations

import polars as pl

from goffman.schemas import (
    FILLS,
    GENDER,
    KIND,
    LABELS,
    PROMPT_TABLE,
    REPLIES,
    SCORES,
    complaints,
    schema,
)


def prompts(*rows, instrument="scale"):
    """PROMPT_TABLE: each row says what is not as it mostly is; ids are p1, p2 …"""
    usual = {
        "instrument": instrument,
        "item": "i1",
        "wording": "w1",
        "dimension": None,
        "keyed": "plain",
        "condition": "c1",
        "form": "f1",
        "group": "stigmatized",
        "category": None,
        "text": "It is <mask>.",
        "answer": None,
        "other": None,
        "pronoun": None,
    }
    filled = [usual | {"prompt_id": f"p{n}"} | row for n, row in enumerate(rows, start=1)]
    return pl.DataFrame(filled, schema=schema(PROMPT_TABLE))


def fills(prompt_id, words, *, model="m", step=1, parent="", label=None, gender=None):
    """FILLS of one mask from {word: probability} by rank, with label or GENDER columns.

    ``label``: word → attitude; ``gender``: word → (group, kind).
    """
    columns = schema(FILLS)
    if label is not None:
        columns["label"] = pl.String()
    if gender is not None:
        columns |= schema(GENDER)

    def meaning(word):
        read = {"label": label.get(word)} if label is not None else {}
        if gender is not None:
            kinds = (*gender.get(word, (None, None)), False)
            read |= dict(zip(schema(GENDER).names(), kinds, strict=True))
        return read

    where = {"prompt_id": prompt_id, "model": model, "step": step, "parent": parent}
    rows = [
        where
        | {"rank": rank, "token": f" {word}", "word": word, "probability": probability}
        | meaning(word)
        for rank, (word, probability) in enumerate(words.items(), start=1)
    ]
    return pl.DataFrame(rows, schema=columns)


def labels(*rows):
    """LABELS from (prompt_id, model, label, classes)."""
    return pl.DataFrame(
        [
            {"prompt_id": prompt_id, "model": model, "label": label}
            | {
                name: 0.5 if name in classes else None
                for name in ("negative", "neutral", "positive")
            }
            for prompt_id, model, label, classes in rows
        ],
        schema=schema(LABELS),
    )


def replies(*rows):
    """REPLIES + KIND from (prompt_id, trial, kind)."""
    rows = [{"prompt_id": p, "model": "m", "trial": t, "text": "…", "kind": k} for p, t, k in rows]
    return pl.DataFrame(rows, schema=schema(REPLIES + KIND))


def one(scores, **ids):
    """The one row with these ids."""
    rows = scores.filter(
        pl.col(name).is_null() if value is None else pl.col(name) == value
        for name, value in ids.items()
    )
    assert rows.height == 1, rows
    return rows.row(0, named=True)


def value(scores, **ids):
    return one(scores, **ids)["value"]


def check(scores):
    """The scores, which are sound: the columns declared, a reason exactly where there is no value."""
    assert complaints(scores, SCORES) == []
    assert (scores["value"].is_null() == scores["reason"].is_not_null()).all()
    assert (
        scores["value"].is_not_null() | (scores["n"] == 0) | (scores["over"].is_not_null())
    ).all()
    ids = [
        name
        for name in scores.columns
        if name not in ("value", "n", "missing", "sd", "low", "high", "reason")
    ]
    assert not scores.select(pl.struct(ids).is_duplicated().any()).item()
    return scores


def same_whatever_the_order(measure, answers, asked):
    """Shuffled answers and prompts give the same rows, to the bit."""
    expected = measure(answers, asked)
    for seed in range(3):
        shuffled = measure(
            answers.sample(fraction=1, shuffle=True, seed=seed),
            asked.sample(fraction=1, shuffle=True, seed=seed),
        )
        assert shuffled.equals(expected)
