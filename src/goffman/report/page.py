"""report.html: one file that holds everything and asks the network for nothing."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import polars as pl

from goffman import __version__
from goffman.anchors.figures import PART
from goffman.anchors.report import anchor_sections
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
from goffman.presentation.reliability import COEFFICIENTS, reliability_rows
from goffman.presentation.sensitivity import PART as ANALYSES
from goffman.presentation.sensitivity import describe_changes, describe_file, describe_holds
from goffman.presentation.tables import describe_counts
from goffman.presentation.vega import config
from goffman.report.explorer import explored
from goffman.report.figures import sizes, svg_of
from goffman.report.overview import MANY, first_screen, results_of
from goffman.report.summary import describe_correlations
from goffman.runs.run import read_controls

if TYPE_CHECKING:
    from goffman.presentation.section import Section
    from goffman.presentation.vega import Figure
    from goffman.report.evidence import Evidence
    from goffman.report.load import MeasuredRun
    from goffman.runs.manifest import Answered, Manifest, Model

_MOST = 40
"""Rows beyond this many are left to the files."""

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
"""The kinds of contrasts in the order of the page → their headings there."""


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
"""What distinguishes models: the key in the manifest → the name shown."""


NUMBERS = {"disparity": "as stated", "keyed-disparity": "reverse-keyed"}
"""Quantity → its name where one table has contrasts of several quantities, if plain words help."""

ROUNDING = 1e-4
"""Means that differ by this much more than their difference are means of something else."""

SHIPPED_WORDS = "the list that comes with goffman"


def about_run(run: MeasuredRun) -> dict[str, Any]:
    """Return what was audited, and with what: models, instruments, lexicons and times."""
    manifest = run.manifest
    names, controls = labels_of(manifest), read_controls(run.folder, manifest)
    models: list[dict[str, Any]] = []
    for name, entry in manifest.models.items():
        answers = manifest.answers.get(name, {})
        of_replies = [
            f"{instrument}: {remark}"
            for instrument, answered in answers.items()
            for remark in answered.remarks or ()
        ]
        models.append(
            {
                "shown": names.model(name),
                "name": printable(name),
                "facts": _model_facts(entry, answers),
                "notes": [printable(note) for note in (*entry.notes, *of_replies)],
                "deviation": entry.deviation,
            }
        )
    instruments = []
    for name, part in run.sections.items():
        asked = manifest.instruments[name]
        facts = {
            "id": name,
            "title": part.names.title(name),
            "version": printable(asked.version),
            "prompts": _asked(part.prompts),
            # None: all prompts were asked.
            "in_all": None if asked.in_all == asked.prompts else asked.in_all,
            "sample": asked.sample,
            "controls": controls.filter(of_asked(name)).height,
            "models": part.models(),
        }
        instruments.append(facts)
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


def _asked(prompts: pl.DataFrame) -> int:
    """Return how many different texts a model was asked: pairs of coreference share theirs."""
    columns = [name for name in ("text", "system") if name in prompts.columns]
    return prompts.select(columns).n_unique()


def _model_facts(entry: Model, answers: Mapping[str, Answered]) -> list[tuple[str, str]]:
    """Return name and text of the manifest's entries that distinguish a model from others."""
    facts = []
    for key, name in FACTS.items():
        value = getattr(entry, key)
        value = f"{value:,}" if isinstance(value, int) else value
        if isinstance(value, str) and value:
            text = f"{value[:12]}…" if len(value) >= 40 else value
            facts.append((name, printable(text)))
    if entry.labels:
        facts.append(("classes", printable(", ".join(entry.labels))))
    drawing = vars(entry.sampling) if entry.sampling else {}
    for key, value in drawing.items():
        if value is not None:
            facts.append((humanize(key.replace("_", "-")), printable(str(value))))
    if names := dict.fromkeys(
        name for answered in answers.values() for name in answered.served_by or ()
    ):
        facts.append(("answered as", printable(", ".join(names))))
    return facts


def _lexicons(manifest: Manifest) -> list[str]:
    lexicons = manifest.lexicons
    sentences = [describe_file(lexicon) for lexicon in lexicons.attitudes]
    if gender := lexicons.gender:
        file = SHIPPED_WORDS if gender.file == "shipped" else printable(gender.file)
        sentences.append(
            f"Gender of words: {file}, {gender.words:,} words (sha256 {gender.sha256[:12]}…)."
        )
    entries = [entry for of_model in manifest.answers.values() for entry in of_model.values()]
    if lexicons.parser and any(entry.table == "replies" for entry in entries):
        sentences.append(f"Replies: read by the parser {printable(lexicons.parser)}.")
    return sentences


def examples(section: Section) -> list[str]:
    """Return up to three prompts of different wordings, the shortest first."""
    prompts = section.prompts.filter(pl.col("condition") != BASELINE)
    prompts = prompts if prompts.height else section.prompts
    # Both sentences of a pair have the same text if the pronoun is masked.
    prompts = prompts.unique(["text"], keep="first", maintain_order=True)
    chosen = prompts.unique(["wording"], keep="first", maintain_order=True)
    if chosen.height < 2:
        chosen = prompts.unique(["item"], keep="first", maintain_order=True)
    return sorted((mask_to_blank(text) for text in chosen["text"].head(3)), key=len)


def contrast_rows(section: Section) -> list[dict[str, Any]]:
    """Return the contrasts between groups, genders and models as tables with title and rows."""
    tables = []
    # Models and identities are compared for every measure; all other kinds are the measure's own.
    # Contrasts with the baseline are left out, since the main figure has their numbers.
    kinds = {*section.presentation.main, *BY_IDENTITY, "models"} - {"baseline"}
    for kind in [*(kind for kind in TITLES if kind in kinds), *sorted(kinds - {*TITLES})]:
        rows = section.contrasts(kind).filter(pl.col("dimension").is_null())
        if rows.height:
            several = rows["quantity"].n_unique() > 1
            entries = [
                _contrast(row, section, several=several)
                for row in rows.head(_MOST).iter_rows(named=True)
            ]
            more = max(0, rows.height - _MOST)
            title = TITLES.get(kind, humanize(kind).capitalize())
            tables.append({"title": title, "rows": entries, "more": more, "long": kind == "models"})
    return tables


def system_prompts(section: Section) -> str:
    """Return the system prompt; "" if there is none."""
    if "system" not in section.prompts.columns:
        return ""
    return " / ".join(printable(text) for text in section.prompts["system"].drop_nulls().unique())


def reliability_rows_shown(section: Section) -> list[dict[str, str]]:
    """Return how reliable the scale is for each model and group, all items together."""
    rows = []
    for row in reliability_rows(section):
        if row["dimension"] == "all items":
            labels = [section.names.model(row["model"]), humanize(row["group"])]
            labels += [describe_variant(row["variant"])] if row["variant"] else []
            labels += ["reverse-keyed"] * section.presentation.keyed
            values = {name: row[name] for name in COEFFICIENTS}
            texts = {
                name: "–" if value is None else number(value) for name, value in values.items()
            }
            reason = printable(row["reason"] or "") if None in values.values() else ""
            rows.append({"about": ", ".join(labels), "why": reason} | texts)
    return rows


def _contrast(row: Mapping[str, Any], section: Section, *, several: bool) -> dict[str, str]:
    """Return a row of the page; ``several``: its table has contrasts of several numbers."""
    parts = [humanize(row["group"])] if row["group"] else []
    parts += [describe_variant(row["variant"])] if row["variant"] else []
    if row["kind"] != "models":
        parts.insert(0, row["model"])
    if several:
        parts.append(NUMBERS.get(row["quantity"], humanize(row["quantity"])))
    call: Callable[[str], str] = humanize
    if row["kind"] == "models":
        call = section.names.model
    elif row["kind"] in {"baseline", "trials", "level"}:
        call = section.called
    unit = (row["unit"] or "values").replace("conditions", section.noun.many)
    contrast = " − ".join(call(row[side]) for side in ("first", "second"))
    if row["kind"] == "level":
        contrast = f"{call(row['first'])}, compared with 0"
    return {
        "about": ", ".join(parts),
        "what": contrast,
        "means": _means(row),
        "difference": number(row["difference"]),
        "interval": "–" if row["low"] is None else ends(row["low"], row["high"]),
        "p": "–" if row["p_adjusted"] is None else p_value(row["p_adjusted"]),
        "verdict": verdict_shown(row) or "–",
        "tests": "–" if row["family_size"] is None else f"{row['family_size']:,}",
        "n": f"{row['n']:,} {unit}",
    }


def _means(row: Mapping[str, Any]) -> str:
    """Return both means, if the difference is theirs.

    Over sentence pairs, the difference is corrected for the more frequent pronoun, and the means
    are not.
    """
    sides = ("mean_first",) if row["kind"] == "level" else ("mean_first", "mean_second")
    means = [row[side] for side in sides if row[side] is not None]
    if not means or row["difference"] is None:
        return "–"
    difference = means[0] - (means[1] if means[1:] else 0.0)
    is_theirs = abs(difference - row["difference"]) < ROUNDING and not (
        row["test"] or ""
    ).startswith("clustered")
    return " / ".join(number(mean) for mean in means) if is_theirs else "–"


def noun_of(sections: Mapping[str, Section]) -> Noun:
    """Return the noun for the conditions of all instruments; "conditions" if their nouns differ."""
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
"""The scripts of every page, in the order in which they run, after Vega."""

SCRIPTS = (*SHARED, "dialog.js", "explorer.js", "main.js")


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """What was made for a page: figures, their drawings, and the evidence."""

    figures: Sequence[Figure]
    evidence: Sequence[Evidence]
    notes: Sequence[str] = field(default=())
    """What a reader should know of how the page was made."""
    card: bytes = b""
    """The picture to share, as PNG."""

    @cached_property
    def svgs(self) -> Mapping[str, str]:
        """Return each figure's drawing as first shown: for paper, and where no script runs."""
        return {figure.id: svg_of(next(figure.drawn())[1]) for figure in self.figures}


def page(run: MeasuredRun, drawn: Drawn) -> str:
    """Return the whole page as HTML."""
    noun = noun_of(run.sections)
    data = {
        "explored": explored(run.sections),
        "nouns": {name: section.noun.one for name, section in run.sections.items()},
        "titles": {name: section.names.title(name) for name, section in run.sections.items()},
        "evidence": [evidence.instrument for evidence in drawn.evidence],
    }
    first = first_screen(run.sections)
    anchors: dict[str, list[dict[str, Any]]] = {}
    for anchor in anchor_sections(run.anchored, run.manifest.anchors):
        id_ = slug_of(f"{anchor['instrument']}-{PART}-{anchor['id']}")
        figures = [figure for figure in drawn.figures if figure.id == id_]
        of_instrument = anchors.setdefault(anchor["instrument"], [])
        of_instrument.append({**anchor, "figures": figures_shown(figures, drawn)})
    sections = [
        _section(section, drawn)
        | {"results": results_of(section, run.sections), "anchors": anchors.get(name, [])}
        for name, section in run.sections.items()
    ]
    # As on the first screen; other modes of an instrument come after its main one.
    order = [group["instrument"] for group in first["groups"]]
    sections.sort(
        key=lambda section: order.index(section["id"]) if section["id"] in order else len(order)
    )
    return rendered(
        "report.html",
        SCRIPTS,
        drawn,
        data,
        about=about_run(run),
        sections=sections,
        first=first,
        together=figures_shown(
            [figure for figure in drawn.figures if "measures-together" in figure.id], drawn
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
    """Return a page of this template and these scripts, with the shared and the scripts' styles."""
    # In a function of their own: the bundle has global names too.
    code = "\n".join((PAGE / name).read_text(encoding="utf-8") for name in scripts)
    all_scripts = [vega(), f"(() => {{\n{code}\n}})();"]
    styles = [PAGE / "report.css", *((PAGE / name).with_suffix(".css") for name in scripts)]
    themes = {"light": config() | {"background": "transparent"}, "dark": config(dark=True)}
    instruments = {figure.id: figure.instrument for figure in drawn.figures}
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGE), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["number"] = number
    return environment.get_template(template).render(
        css="\n".join(style.read_text(encoding="utf-8") for style in styles if style.exists()),
        data=as_json({"themes": themes, "instruments": instruments, **data}),
        specs=[(figure.id, *_spec(figure)) for figure in drawn.figures],
        scripts=all_scripts,
        policy=_policy(all_scripts),
        evidence=drawn.evidence,
        notes=drawn.notes,
        version=__version__,
        **content,
    )


LARGE = 200_000
"""A specification with more characters is packed: those of fifty models would take 11 MB."""


def _spec(figure: Figure) -> tuple[str, str]:
    """Return a script element's type and content for a figure: JSON, or its gzip in base64."""
    text = as_json(figure.spec)
    if len(text) <= LARGE:
        return "application/json", text
    return "text/plain", base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def _section(section: Section, drawn: Drawn) -> dict[str, Any]:
    figures = [
        figure
        for figure in drawn.figures
        if figure.instrument == section.instrument
        and "measures-together" not in figure.id
        and PART not in figure.id
    ]
    analyzed = [figure for figure in figures if figure.id.endswith(f"-{ANALYSES}")]
    figures = [figure for figure in figures if figure not in analyzed]
    first = next((figure for figure in figures if figure.leads), figures[0] if figures else None)
    title, _, subtitle = section.names.title(section.instrument).partition("? ")
    models = section.models()
    return {
        "id": section.instrument,
        "title": f"{title}?" if subtitle else title,
        "about": subtitle,
        "measured": describe_measured(section),
        "claims": section.presentation.claims,
        "instrument": section.names.instruments[section.instrument],
        "ratings": section.ratings,
        "examples": examples(section),
        "system": system_prompts(section),
        "contrasts": contrast_rows(section),
        "counts": describe_counts(section),
        "changes": [sentence for model in models for sentence in describe_changes(section, model)],
        "reliability": reliability_rows_shown(section),
        "holds": describe_holds(section),
        "analyses": figures_shown(analyzed, drawn),
        "first": figures_shown([figure for figure in figures if figure is first], drawn),
        "figures": figures_shown([figure for figure in figures if figure is not first], drawn),
        "evidence": next(
            evidence for evidence in drawn.evidence if evidence.instrument == section.instrument
        ),
    }


def figures_shown(figures: Sequence[Figure], drawn: Drawn) -> list[dict[str, Any]]:
    """Return figures as the template needs them."""
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
    """Return the SVG for a page: its text is escaped, and it cannot end the element around it."""
    if "</noscript" in svg.lower() or "<script" in svg.lower():
        raise AssertionError("a drawing holds markup that is not its own")
    return svg


def as_json(data: object) -> str:
    """Return the data as a script element may hold it: no character in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@cache
def vega() -> str:
    """Return Vega, Vega-Lite and Vega-Embed with its interpreter of expressions, as one script."""
    import vl_convert

    # Its type stub has lost the default of the first parameter.
    bundle = str(vl_convert.javascript_bundle())  # type: ignore[call-arg]
    # The text stands in a script element, which only this would end.
    return bundle.replace("</script", "<\\/script")


def _policy(scripts: Sequence[str]) -> str:
    """Return the page's content security policy: these scripts, its own styles, no network."""
    hashes = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts
    ]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
