"""What a page says beside its figures: who was asked what with what, and the main contrasts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from goffman.records import BASELINE
from goffman.reports.figures_settings import VALUE
from goffman.reports.shown import blanked, plain, setting_name
from goffman.reports.stands_out import number
from goffman.terminal import printable

if TYPE_CHECKING:
    from goffman.reports.figure import Part
    from goffman.reports.run import MeasuredRun

_MOST = 40
"""More rows than these are left to the files."""


def about_run(run: MeasuredRun, parts: Mapping[str, Part]) -> dict[str, Any]:
    """Models, instruments, lexicons, times: what was audited, and with what."""
    manifest = run.manifest
    names = next(iter(parts.values())).names if parts else None
    models: list[dict[str, Any]] = [
        {
            "shown": names.model(name) if names else printable(name),
            "name": printable(name),
            "facts": _model_facts(entry),
            "notes": [printable(str(note)) for note in entry.get("notes", ())],
            "deviation": entry.get("deviation"),
        }
        for name, entry in manifest.models.items()
    ]
    instruments = [
        {
            "id": name,
            "title": part.names.title(name),
            "version": printable(str(manifest.instruments[name].get("version", ""))),
            "prompts": part.prompts.height,
            "models": part.models(),
        }
        for name, part in parts.items()
        if name in manifest.instruments
    ]
    last = manifest.sessions[-1] if manifest.sessions else None
    return {
        "models": models,
        "who": _who([model["shown"] for model in models]),
        "instruments": instruments,
        "prompts": run.prompts.height,
        "lexicons": _lexicons(manifest.lexicons, replies=_has_replies(run)),
        "started": manifest.sessions[0].started[:10] if manifest.sessions else "",
        "versions": dict(last.versions) if last else {},
        "platform": printable(last.platform) if last else "",
        "seed": last.seed if last else None,
        "folder": printable(run.folder.resolve().name),
    }


def _who(models: Sequence[str]) -> str:
    """The models as the subject of a sentence; a number where they are many."""
    if len(models) > 3:
        return f"{len(models)} models"
    return " and ".join([", ".join(models[:-1]), models[-1]] if models[1:] else models)


def _model_facts(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The entries of a model's manifest that tell it from another, as they are shown."""
    wanted = ("kind", "architecture", "family", "revision", "sha256", "precision", "device")
    facts = []
    for key in wanted:
        value = entry.get(key)
        if isinstance(value, str) and value:
            shown = f"{value[:12]}…" if len(value) >= 40 else value
            facts.append((key, printable(shown)))
    if entry.get("labels"):
        facts.append(("classes", printable(", ".join(map(str, entry["labels"])))))
    for key, value in entry.get("sampling", {}).items():
        if value is not None:
            facts.append((plain(key.replace("_", "-")), printable(str(value))))
    return facts


def _has_replies(run: MeasuredRun) -> bool:
    asked = [entry for of_model in run.manifest.answers.values() for entry in of_model.values()]
    return any(entry["table"] == "replies" for entry in asked)


def _lexicons(lexicons: Mapping[str, Any], *, replies: bool) -> list[str]:
    said = [
        f"Attitudes of words: {printable(str(one['file']))}, {one['ratings']:,} ratings "
        f"(sha256 {one['sha256'][:12]}…)."
        for one in lexicons.get("attitudes", ())
    ]
    if gender := lexicons.get("gender"):
        said.append(
            f"Gender of words: {printable(str(gender['file']))}, {gender['words']:,} words "
            f"(sha256 {gender['sha256'][:12]}…)."
        )
    if replies and (parser := lexicons.get("parser")):
        said.append(f"Replies: read by the parser {printable(str(parser))}.")
    return said


def examples(part: Part) -> list[str]:
    """Up to three prompts, of different wordings, that name a condition."""
    asked = part.prompts.filter(pl.col("condition") != BASELINE)
    asked = asked if asked.height else part.prompts
    # The two sides of a pair are one text where the pronoun is masked.
    asked = asked.unique(["text"], keep="first", maintain_order=True)
    chosen = asked.unique(["wording"], keep="first", maintain_order=True)
    if chosen.height < 2:
        chosen = asked.unique(["item"], keep="first", maintain_order=True)
    return [blanked(text) for text in chosen["text"].head(3)]


def contrast_rows(part: Part) -> list[dict[str, Any]]:
    """The contrasts between groups, genders and models as tables: heading, columns' values."""
    tables = []
    for kind, title in (
        ("groups", "Between groups"),
        ("genders", "Female against male"),
        ("models", "Between models"),
        ("baseline", "Against no adjectives"),
        ("pairs", "Against no adjectives, over sentence pairs"),
    ):
        rows = part.contrasts(kind)
        if kind in {"groups", "genders"}:
            rows = rows.filter(pl.col("dimension").is_null())
        if kind == "baseline" and part.measure not in {"coreference-bias", "pronoun-preference"}:
            continue
        if rows.height:
            several = rows["quantity"].n_unique() > 1
            listed = [
                _contrast(row, kind, part, several=several)
                for row in rows.head(_MOST).iter_rows(named=True)
            ]
            more = max(0, rows.height - _MOST)
            tables.append({"title": title, "rows": listed, "more": more, "long": kind == "models"})
    return tables


def _contrast(row: Mapping[str, Any], kind: str, part: Part, *, several: bool) -> dict[str, str]:
    """A row of the page; ``several``: contrasts of several numbers stand in one table."""
    said = [plain(text) for text in (row["group"], row["variant"]) if text]
    if kind != "models":
        said.insert(0, row["model"])
    if several:
        said.append(plain(row["quantity"]))
    call: Callable[[str], str] = part.names.model if kind == "models" else plain
    if part.measure in VALUE and kind in {"baseline", "pairs"}:
        call = setting_name
    ends = "–"
    if row["low"] is not None:
        ends = f"{number(row['low'])} to {number(row['high'])}"
    effect = "–"
    if row["effect"] is not None:
        effect = f"{number(row['effect'])}"
    return {
        "about": ", ".join(said),
        "what": " − ".join(call(row[side]) for side in ("first", "second")),
        "first": number(row["mean_first"]),
        "second": number(row["mean_second"]),
        "difference": number(row["difference"]),
        "interval": ends,
        "effect": effect,
        "effect_name": printable(row["effect_name"] or ""),
        "p": p_text(row["p_adjusted"]),
        "tests": "–" if row["family_size"] is None else f"{row['family_size']:,}",
        "n": f"{row['n']:,}",
    }


def p_text(p: float | None) -> str:
    """A corrected p-value as it is printed."""
    if p is None:
        return "–"
    return "< .001" if p < 0.001 else f"{p:.3f}".lstrip("0") if p < 1 else "1"
