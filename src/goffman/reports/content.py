"""What a page says beside its figures: who was asked what with what, and the main contrasts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.presentation.numbers import ends, number, p_value
from goffman.presentation.ratings import file_said
from goffman.presentation.shown import blanked, names_of, plain, variant_said
from goffman.presentation.tables_reliability import COEFFICIENTS, reliability_rows
from goffman.presentation.verdicts import verdict_shown
from goffman.records import BASELINE
from goffman.runs.folder import read_controls
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.reports.run import MeasuredRun
    from goffman.runs.entries import Answered, AskedInstrument, Lexicons, Model

_MOST = 40
"""More rows than these are left to the files."""

TITLES = {
    "order": "Order of the options",
    "keying": "Keying",
    "position": "The person listed first, compared with one half",
    "wordings": "Wordings",
    "level": "Compared with 0",
    "groups": "Between groups",
    "groups-as-asked": "Between groups, as in the study (not generalized to other sentences)",
    "set-apart": "Between groups, without negations and words of probability",
    "against-rare": "Compared with rare but neutral conditions",
    "rarity": "Rare but neutral minus non-stigmatized conditions",
    "genders": "Female minus male",
    "models": "Between models",
    "baseline": "Compared with the baseline",
    "trials": "Compared with the baseline, over trials of these sentences",
}
"""The kinds of contrasts in the order of the page, as they are headed there."""


FACTS = {
    "family": "family",
    "revision": "revision",
    "weights_sha256": "weights (sha256)",
    "tokenizer_sha256": "tokenizer (sha256)",
    "precision": "precision",
    "device": "device",
    "address": "address",
}
"""What tells a model from another: its name in the manifest, and as it is shown."""


NUMBERS = {"disparity": "as stated", "keyed-disparity": "reverse-keyed"}
"""What contrasts of several numbers in one table are of, where plain words are needed."""

ROUNDING = 1e-4
"""Means that differ by this much more than their difference are means of something else."""

SHIPPED_WORDS = "the list that comes with goffman"


def about_run(run: MeasuredRun) -> dict[str, Any]:
    """Models, instruments, lexicons, times: what was audited, and with what."""
    manifest = run.manifest
    names, controls = names_of(manifest), read_controls(run.folder, manifest)
    models: list[dict[str, Any]] = [
        {
            "shown": names.model(name),
            "name": printable(name),
            "facts": [*_model_facts(entry), *_served(manifest.answers.get(name, {}))],
            "notes": [printable(note) for note in _remarks(entry, manifest.answers.get(name, {}))],
            "deviation": entry.deviation,
        }
        for name, entry in manifest.models.items()
    ]
    instruments = [
        {
            "id": name,
            "title": part.names.title(name),
            "version": printable(manifest.instruments[name].version),
            "prompts": _asked(part.prompts),
            "in_all": _in_all(manifest.instruments[name]),
            "controls": controls.filter(pl.col("instrument") == name).height,
            "models": part.models(),
        }
        for name, part in run.sections.items()
    ]
    last = manifest.sessions[-1] if manifest.sessions else None
    return {
        "models": models,
        "instruments": instruments,
        # The forms of an instrument are made from the same files.
        "of_instruments": len({manifest.instruments[name].digest for name in run.sections}),
        "prompts": sum(_asked(part.prompts) for part in run.sections.values()),
        "controls": controls.height,
        "lexicons": _lexicons(manifest.lexicons, replies=_has_replies(run)),
        "started": manifest.sessions[0].started[:10] if manifest.sessions else "",
        "versions": dict(last.versions) if last else {},
        "platform": printable(last.platform) if last else "",
        "seed": last.seed if last else None,
        "folder": printable(run.folder.resolve().name),
    }


def _in_all(entry: AskedInstrument) -> int | None:
    """How many prompts there are, where a part was asked; None: these are all."""
    return entry.in_all if entry.in_all != entry.prompts else None


def _asked(prompts: pl.DataFrame) -> int:
    """How many different texts a model was asked: pairs of coreference share theirs."""
    told = [name for name in ("text", "system") if name in prompts.columns]
    return prompts.select(told).n_unique()


def _model_facts(entry: Model) -> list[tuple[str, str]]:
    """The entries of a model's manifest that tell it from another, as they are shown."""
    facts = []
    for key, name in FACTS.items():
        value = getattr(entry, key)
        if isinstance(value, str) and value:
            shown = f"{value[:12]}…" if len(value) >= 40 else value
            facts.append((name, printable(shown)))
    if entry.labels:
        facts.append(("classes", printable(", ".join(entry.labels))))
    drawing = entry.sampling.entry() if entry.sampling else {}
    for key, value in drawing.items():
        if value is not None:
            facts.append((plain(key.replace("_", "-")), printable(str(value))))
    return facts


def _served(answers: Mapping[str, Answered]) -> list[tuple[str, str]]:
    """The name that the server answered under, as a fact."""
    names = dict.fromkeys(name for one in answers.values() for name in one.served_by or ())
    return [("answered as", printable(", ".join(names)))] if names else []


def _remarks(entry: Model, answers: Mapping[str, Answered]) -> list[str]:
    """What was said of the model when it was loaded, and of its replies when they were there."""
    of_replies = [
        f"{instrument}: {remark}"
        for instrument, one in answers.items()
        for remark in one.remarks or ()
    ]
    return [*entry.notes, *of_replies]


def _has_replies(run: MeasuredRun) -> bool:
    asked = [entry for of_model in run.manifest.answers.values() for entry in of_model.values()]
    return any(entry.table == "replies" for entry in asked)


def _file(name: str, shipped: str) -> str:
    """The user's file; in words that which comes with goffman."""
    return shipped if name == "shipped" else printable(name)


def _lexicons(lexicons: Lexicons, *, replies: bool) -> list[str]:
    said = [file_said(one) for one in lexicons.attitudes]
    if gender := lexicons.gender:
        said.append(
            f"Gender of words: {_file(gender.file, SHIPPED_WORDS)}, {gender.words:,} words "
            f"(sha256 {gender.sha256[:12]}…)."
        )
    if replies and lexicons.parser:
        said.append(f"Replies: read by the parser {printable(lexicons.parser)}.")
    return said


def examples(section: Section) -> list[str]:
    """Up to three prompts, of different wordings, that name a condition."""
    asked = section.prompts.filter(pl.col("condition") != BASELINE)
    asked = asked if asked.height else section.prompts
    # The two sides of a pair are one text where the pronoun is masked.
    asked = asked.unique(["text"], keep="first", maintain_order=True)
    chosen = asked.unique(["wording"], keep="first", maintain_order=True)
    if chosen.height < 2:
        chosen = asked.unique(["item"], keep="first", maintain_order=True)
    return [blanked(text) for text in chosen["text"].head(3)]


def contrast_rows(section: Section) -> list[dict[str, Any]]:
    """The contrasts between groups, genders and models as tables: heading, columns' values."""
    tables = []
    # Models are compared whatever the measure; all else is what it says of itself.
    wanted = {**dict.fromkeys(section.presentation.main), "models": None}
    for kind in [*(one for one in TITLES if one in wanted), *({*wanted} - {*TITLES})]:
        rows = section.contrasts(kind).filter(pl.col("dimension").is_null())
        if rows.height:
            several = rows["quantity"].n_unique() > 1
            listed = [
                _contrast(row, section, several=several)
                for row in rows.head(_MOST).iter_rows(named=True)
            ]
            more = max(0, rows.height - _MOST)
            title = TITLES.get(kind, plain(kind).capitalize())
            tables.append({"title": title, "rows": listed, "more": more, "long": kind == "models"})
    return tables


def told_before(section: Section) -> str:
    """The system prompt that stands before every prompt; empty: there is none."""
    if "system" not in section.prompts.columns:
        return ""
    return " / ".join(printable(one) for one in section.prompts["system"].drop_nulls().unique())


def reliability_shown(section: Section) -> list[dict[str, str]]:
    """Of each model and group how reliable the scale is, all items together."""
    listed = []
    for row in reliability_rows(section):
        if row["dimension"] == "all items":
            about = [section.names.model(row["model"]), plain(row["group"])]
            about += [variant_said(row["variant"])] if row["variant"] else []
            about += ["reverse-keyed"] * section.presentation.keyed
            values = {name: row[name] for name in COEFFICIENTS}
            shown = {name: "–" if v is None else number(v) for name, v in values.items()}
            why = printable(row["reason"] or "") if None in values.values() else ""
            listed.append({"about": ", ".join(about), "why": why} | shown)
    return listed


def _contrast(row: Mapping[str, Any], section: Section, *, several: bool) -> dict[str, str]:
    """A row of the page; ``several``: contrasts of several numbers stand in one table."""
    said = [plain(row["group"])] if row["group"] else []
    said += [variant_said(row["variant"])] if row["variant"] else []
    if row["kind"] != "models":
        said.insert(0, row["model"])
    if several:
        said.append(NUMBERS.get(row["quantity"], plain(row["quantity"])))
    call: Callable[[str], str] = plain
    if row["kind"] == "models":
        call = section.names.model
    elif row["kind"] in {"baseline", "trials", "level"}:
        call = section.called
    unit = (row["unit"] or "values").replace("conditions", section.noun.many)
    what = " − ".join(call(row[side]) for side in ("first", "second"))
    if row["kind"] == "level":
        what = f"{call(row['first'])}, compared with 0"
    return {
        "about": ", ".join(said),
        "what": what,
        "means": _means(row),
        "difference": number(row["difference"]),
        "interval": "–" if row["low"] is None else ends(row["low"], row["high"]),
        "effect": _effect(row),
        "p": "–" if row["p_adjusted"] is None else p_value(row["p_adjusted"]),
        "verdict": verdict_shown(row) or "–",
        "tests": "–" if row["family_size"] is None else f"{row['family_size']:,}",
        "n": f"{row['n']:,} {unit}",
    }


def _means(row: Mapping[str, Any]) -> str:
    """Both means, where the difference is theirs.

    Over sentence pairs it is corrected for the more frequent pronoun, and the means are not.
    """
    sides = ("mean_first",) if row["kind"] == "level" else ("mean_first", "mean_second")
    means = [row[side] for side in sides if row[side] is not None]
    if not means or row["difference"] is None:
        return "–"
    difference = means[0] - (means[1] if means[1:] else 0.0)
    own = abs(difference - row["difference"]) < ROUNDING and not (row["test"] or "").startswith(
        "clustered"
    )
    return " / ".join(number(mean) for mean in means) if own else "–"


def _effect(row: Mapping[str, Any]) -> str:
    """The effect size by its name; what its SD is of stands in the tables on disk."""
    if row["effect"] is None or _means(row) == "–":
        return "–"
    name = (row["effect_name"] or "").partition(", ")[0]
    return f"{printable(name)} {number(row['effect'])}".strip()
