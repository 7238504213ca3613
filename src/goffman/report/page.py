"""report.html: one file that holds everything and asks the network for nothing."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import polars as pl

from goffman import __version__
from goffman.analysis.correlation_findings import describe_correlations
from goffman.anchors.figures import PART
from goffman.console import printable
from goffman.contrasts.designs import BY_IDENTITY
from goffman.formatting import (
    describe_variant,
    ends,
    humanize,
    labels_of,
    mask_to_blank,
    number,
    p_value,
    verdict_shown,
)
from goffman.instruments.types import BASELINE, Noun, slug_of
from goffman.modes import of_asked
from goffman.presentation.answer_style import describe_measured
from goffman.presentation.multiverse import PART as ANALYSES
from goffman.presentation.multiverse import describe_holds
from goffman.presentation.reliability import COEFFICIENTS, reliability_rows
from goffman.presentation.tables import describe_counts
from goffman.presentation.user_ratings import describe_changes, describe_file
from goffman.presentation.vega import config
from goffman.report.anchors import anchor_sections
from goffman.report.explorer import explored
from goffman.report.images import sizes
from goffman.report.overview import MANY, first_screen, results_of
from goffman.runs.run import read_controls

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.presentation.vega import Figure
    from goffman.report.evidence import Evidence
    from goffman.report.load import MeasuredRun
    from goffman.runs.manifest import Answered, AskedInstrument, Manifest, Model

_MOST = 40
"""More rows than these are left to the files."""

TITLES = {
    "order": "Order of the options",
    "keying": "Keying",
    "position": "The person listed first, compared with one half",
    "wordings": "Wordings",
    "level": "Compared with 0",
    "groups": "Between groups",
    "groups-adjusted": "Between groups, adjusted for likelihood, length and verb of the phrase",
    "groups-as-asked": "Between groups, as in the study (not generalized to other sentences)",
    "gap-by-identity": "Between groups, for people of each identity",
    "interaction": "Between groups, for one identity minus the reference",
    "genders": "Female minus male",
    "genders-as-asked": "Female minus male, as in the study (prompts treated as independent)",
    "nonbinary": "Nonbinary people compared with women and men",
    "models": "Between models",
    "baseline": "Compared with the baseline",
    "trials": "Compared with the baseline, over trials of these sentences",
}
"""The kinds of contrasts in the order of the page, as they are headed there."""


FACTS = {
    "family": "family",
    "parameters": "parameters",
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
    names, controls = labels_of(manifest), read_controls(run.folder, manifest)
    models: list[dict[str, Any]] = [
        {
            "shown": names.model(name),
            "name": printable(name),
            "facts": _model_facts(entry, manifest.answers.get(name, {})),
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
            "sample": manifest.instruments[name].sample,
            "controls": controls.filter(of_asked(name)).height,
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
        "lexicons": _lexicons(manifest),
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


def _model_facts(entry: Model, answers: Mapping[str, Answered]) -> list[tuple[str, str]]:
    """The entries of a model's manifest that tell it from another, as they are shown."""
    facts = []
    for key, name in FACTS.items():
        value = getattr(entry, key)
        value = f"{value:,}" if isinstance(value, int) else value
        if isinstance(value, str) and value:
            shown = f"{value[:12]}…" if len(value) >= 40 else value
            facts.append((name, printable(shown)))
    if entry.labels:
        facts.append(("classes", printable(", ".join(entry.labels))))
    drawing = entry.sampling.entry() if entry.sampling else {}
    for key, value in drawing.items():
        if value is not None:
            facts.append((humanize(key.replace("_", "-")), printable(str(value))))
    if names := dict.fromkeys(name for one in answers.values() for name in one.served_by or ()):
        facts.append(("answered as", printable(", ".join(names))))
    return facts


def _remarks(entry: Model, answers: Mapping[str, Answered]) -> list[str]:
    """What was said of the model when it was loaded, and of its replies when they were there."""
    of_replies = [
        f"{instrument}: {remark}"
        for instrument, one in answers.items()
        for remark in one.remarks or ()
    ]
    return [*entry.notes, *of_replies]


def _lexicons(manifest: Manifest) -> list[str]:
    """What words and replies were measured with."""
    lexicons = manifest.lexicons
    said = [describe_file(one) for one in lexicons.attitudes]
    if gender := lexicons.gender:
        file = SHIPPED_WORDS if gender.file == "shipped" else printable(gender.file)
        said.append(
            f"Gender of words: {file}, {gender.words:,} words (sha256 {gender.sha256[:12]}…)."
        )
    asked = [entry for of_model in manifest.answers.values() for entry in of_model.values()]
    if lexicons.parser and any(entry.table == "replies" for entry in asked):
        said.append(f"Replies: read by the parser {printable(lexicons.parser)}.")
    return said


def examples(section: Section) -> list[str]:
    """Return up to three prompts of different wordings, the shortest first."""
    asked = section.prompts.filter(pl.col("condition") != BASELINE)
    asked = asked if asked.height else section.prompts
    # The two sides of a pair are one text where the pronoun is masked.
    asked = asked.unique(["text"], keep="first", maintain_order=True)
    chosen = asked.unique(["wording"], keep="first", maintain_order=True)
    if chosen.height < 2:
        chosen = asked.unique(["item"], keep="first", maintain_order=True)
    return sorted((mask_to_blank(text) for text in chosen["text"].head(3)), key=len)


def contrast_rows(section: Section) -> list[dict[str, Any]]:
    """The contrasts between groups, genders and models as tables: heading, columns' values."""
    tables = []
    # Models and identities are compared whatever the measure; all else is what it says of itself.
    wanted = dict.fromkeys([*section.presentation.main, *BY_IDENTITY, "models"])
    # The main figure has the contrasts with the baseline, with their numbers.
    wanted = {kind: None for kind in wanted if kind != "baseline"}
    for kind in [*(one for one in TITLES if one in wanted), *({*wanted} - {*TITLES})]:
        rows = section.contrasts(kind).filter(pl.col("dimension").is_null())
        if rows.height:
            several = rows["quantity"].n_unique() > 1
            listed = [
                _contrast(row, section, several=several)
                for row in rows.head(_MOST).iter_rows(named=True)
            ]
            more = max(0, rows.height - _MOST)
            title = TITLES.get(kind, humanize(kind).capitalize())
            tables.append({"title": title, "rows": listed, "more": more, "long": kind == "models"})
    return tables


def system_prompts(section: Section) -> str:
    """The system prompt that stands before every prompt; empty: there is none."""
    if "system" not in section.prompts.columns:
        return ""
    return " / ".join(printable(one) for one in section.prompts["system"].drop_nulls().unique())


def reliability_rows_shown(section: Section) -> list[dict[str, str]]:
    """Of each model and group how reliable the scale is, all items together."""
    listed = []
    for row in reliability_rows(section):
        if row["dimension"] == "all items":
            about = [section.names.model(row["model"]), humanize(row["group"])]
            about += [describe_variant(row["variant"])] if row["variant"] else []
            about += ["reverse-keyed"] * section.presentation.keyed
            values = {name: row[name] for name in COEFFICIENTS}
            shown = {name: "–" if v is None else number(v) for name, v in values.items()}
            why = printable(row["reason"] or "") if None in values.values() else ""
            listed.append({"about": ", ".join(about), "why": why} | shown)
    return listed


def _contrast(row: Mapping[str, Any], section: Section, *, several: bool) -> dict[str, str]:
    """A row of the page; ``several``: contrasts of several numbers stand in one table."""
    said = [humanize(row["group"])] if row["group"] else []
    said += [describe_variant(row["variant"])] if row["variant"] else []
    if row["kind"] != "models":
        said.insert(0, row["model"])
    if several:
        said.append(NUMBERS.get(row["quantity"], humanize(row["quantity"])))
    call: Callable[[str], str] = humanize
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


def noun_of(sections: Mapping[str, Section]) -> Noun:
    """What the conditions of all instruments are called; where they differ, conditions."""
    nouns = {section.noun for section in sections.values()}
    return nouns.pop() if len(nouns) == 1 else Noun()


GENERAL = (
    (
        "There is no single score: two wordings of the same question can give quite different "
        "numbers."
    ),
    (
        "These are associations in what a model writes or labels. They show what could happen in "
        "use, not that anyone was harmed."
    ),
    (
        "An interval shows where a number could lie with other conditions, sentences or trials of "
        "the same kind. Where it does not cover all three, the section says so."
    ),
    (
        "Main results are not corrected for each other: each interval misses the true value 5 "
        "times in 100. Lists of tests (column “tests”) are corrected by Benjamini and Hochberg's "
        "method."
    ),
)


PAGE = Path(__file__).parent / "page"

SHARED = ("base.js", "table.js", "figures.js", "evidence.js", "pairs.js", "tabs.js", "page.js")
"""What every page has, in the order in which they run, after Vega."""

SCRIPTS = (*SHARED, "dialog.js", "explorer.js", "main.js")


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """What was made for a page: figures, their drawings, and the evidence."""

    figures: Sequence[Figure]
    svgs: Mapping[str, str]
    """By figure, as it is first shown: for paper, and for browsers without scripts."""
    evidence: Sequence[Evidence]
    notes: Sequence[str] = field(default=())
    """What a reader should know of how the page was made."""
    card: bytes = b""
    """The picture to share, as PNG."""


def page(run: MeasuredRun, drawn: Drawn) -> str:
    """The whole page."""
    noun = noun_of(run.sections)
    data = {
        "explored": explored(run.sections),
        "nouns": {name: one.noun.one for name, one in run.sections.items()},
        "titles": {name: one.names.title(name) for name, one in run.sections.items()},
        "evidence": [one.instrument for one in drawn.evidence],
    }
    first = first_screen(run.sections)
    anchors = list(anchor_sections(run))
    sections = [
        _section(section, drawn)
        | {
            "results": results_of(section, run.sections),
            "anchors": [
                {**one, "figures": figures_shown(_of_anchor(drawn.figures, one), drawn)}
                for one in anchors
                if one["instrument"] == name
            ],
        }
        for name, section in run.sections.items()
    ]
    # As on the first screen; other modes of an instrument come after its main one.
    order = [group["instrument"] for group in first["groups"]]
    sections.sort(key=lambda one: order.index(one["id"]) if one["id"] in order else len(order))
    return rendered(
        "report.html",
        SCRIPTS,
        drawn,
        data,
        about=about_run(run),
        sections=sections,
        first=first,
        together=figures_shown(
            [one for one in drawn.figures if "measures-together" in one.id], drawn
        ),
        measures_said=describe_correlations(run.correlations),
        general=GENERAL,
        many=MANY,
        noun=noun,
        card=base64.b64encode(drawn.card).decode(),
    )


def rendered(
    template: str,
    scripts: Sequence[str],
    drawn: Drawn,
    data: Mapping[str, Any],
    **content: Any,
) -> str:
    """A page of this template and these scripts, with the shared style and the scripts' own."""
    # In a function of their own: the bundle has global names too.
    own = "\n".join((PAGE / name).read_text(encoding="utf-8") for name in scripts)
    every = [vega(), f"(() => {{\n{own}\n}})();"]
    styles = [PAGE / "report.css", *((PAGE / name).with_suffix(".css") for name in scripts)]
    themes = {"light": config() | {"background": "transparent"}, "dark": config(dark=True)}
    of_figures = {figure.id: figure.instrument for figure in drawn.figures}
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGE), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["number"] = number
    return environment.get_template(template).render(
        css="\n".join(style.read_text(encoding="utf-8") for style in styles if style.exists()),
        data=as_json({"themes": themes, "instruments": of_figures, **data}),
        specs=[(figure.id, *_spec(figure)) for figure in drawn.figures],
        scripts=every,
        policy=_policy(every),
        evidence=drawn.evidence,
        notes=drawn.notes,
        version=__version__,
        **content,
    )


LARGE = 200_000
"""A specification with more characters is packed: those of fifty models would take 11 MB."""


def _spec(figure: Figure) -> tuple[str, str]:
    """The type of a script element, and what it holds of a figure: JSON, or its gzip in base64."""
    text = as_json(figure.spec)
    if len(text) <= LARGE:
        return "application/json", text
    return "text/plain", base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def _section(section: Section, drawn: Drawn) -> dict[str, Any]:
    """Return what the template needs of one instrument."""
    own = [
        one
        for one in drawn.figures
        if one.instrument == section.instrument
        and "measures-together" not in one.id
        and PART not in one.id
    ]
    analyzed = [one for one in own if one.id.endswith(f"-{ANALYSES}")]
    own = [one for one in own if one not in analyzed]
    first = next((one for one in own if one.leads), own[0] if own else None)
    title, _, about = section.names.title(section.instrument).partition("? ")
    models = section.models()
    return {
        "id": section.instrument,
        "title": f"{title}?" if about else title,
        "about": about,
        "measured": describe_measured(section),
        "claims": section.presentation.claims,
        "instrument": section.names.instruments.get(section.instrument),
        "ratings": section.ratings,
        "examples": examples(section),
        "system": system_prompts(section),
        "contrasts": contrast_rows(section),
        "counts": describe_counts(section),
        "changes": [said for model in models for said in describe_changes(section, model)],
        "reliability": reliability_rows_shown(section),
        "holds": describe_holds(section),
        "analyses": figures_shown(analyzed, drawn),
        "first": figures_shown([one for one in own if one is first], drawn),
        "figures": figures_shown([one for one in own if one is not first], drawn),
        "evidence": next(one for one in drawn.evidence if one.instrument == section.instrument),
    }


def _of_anchor(figures: Sequence[Figure], anchor: Mapping[str, Any]) -> list[Figure]:
    """Return the figures of one instrument and anchor."""
    wanted = slug_of(f"{anchor['instrument']}-{PART}-{anchor['id']}")
    return [one for one in figures if one.id == wanted]


def figures_shown(figures: Sequence[Figure], drawn: Drawn) -> list[dict[str, Any]]:
    """Figures as the template needs them."""
    svgs = [drawn.svgs[figure.id] for figure in figures]
    return [
        {
            "id": figure.id,
            "title": figure.title,
            "instrument": figure.instrument or "",
            "rows": figure.rows,
            "description": figure.description,
            "svg": _for_page(svg),
            "height": height,
        }
        for figure, svg, (_, height) in zip(figures, svgs, sizes(svgs), strict=True)
    ]


def _for_page(svg: str) -> str:
    """The SVG as it may stand in a page: its text is escaped, and no end of an element is in it."""
    if "</noscript" in svg.lower() or "<script" in svg.lower():
        raise AssertionError("a drawing holds markup that is not its own")
    return svg


def as_json(data: object) -> str:
    """The data as a script element may hold it: no sign of it can end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@cache
def vega() -> str:
    """Vega, Vega-Lite and Vega-Embed with its interpreter of expressions, as one script."""
    import vl_convert

    # Its type stub has lost the default of the first parameter.
    bundle = str(vl_convert.javascript_bundle())  # type: ignore[call-arg]
    # The text stands in a script element, which only this would end.
    return bundle.replace("</script", "<\\/script")


def _policy(scripts: Sequence[str]) -> str:
    """The page's content security policy: these scripts, styles of its own, and no network."""
    hashes = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts
    ]
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
