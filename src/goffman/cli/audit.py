"""The command that asks models: audit."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from goffman.cli.params import option, settings_given, show_all
from goffman.cli.screen import print_screen
from goffman.config import OUTPUT, AuditOptions, audit_options
from goffman.console import json_text, say
from goffman.errors import InputError
from goffman.instruments.types import base_of
from goffman.progress import duration

if TYPE_CHECKING:
    from goffman.pipeline import Audit

_MODELS = (
    "Models to ask: ORG/NAME on Hugging Face, a folder, openai:NAME or http://HOST/v1#NAME. "
    "Default: the models that come with goffman."
)


def audit(
    models: list[str] | None = None,
    *,
    as_json: bool = False,
    help_all: bool = False,  # noqa: ARG001 - ends before this
    **values: Any,
) -> None:
    """Ask models, measure their answers and write a report.

    To resume a run that was stopped, run the same command again.
    """
    from goffman.api.public import audit as run_audit

    start = time.monotonic()
    try:
        config = {name: _in_python(name, value) for name, value in values.items()}
        run = run_audit(models or (), config=cast("AuditOptions", config))
    except KeyboardInterrupt:
        say("Stopped. All answers so far are kept. To resume, run the same command again.")
        raise typer.Exit(130) from None
    if run.audited:
        if values["dry_run"] and not as_json:
            print("Nothing was asked or written (--dry-run).")
            return
        rows = [vars(asked) for asked in run.audited.asked]
        print_done(run.audited, rows, as_json=as_json, seconds=time.monotonic() - start)


def _parameters() -> Iterator[inspect.Parameter]:
    """Yield the parameters of the command: models, every option of an audit, and --json."""
    positional, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    models = Annotated[list[str] | None, typer.Argument(metavar="MODEL …", help=_MODELS)]
    yield inspect.Parameter("models", positional, default=None, annotation=models)
    for name, of_audit in audit_options().items():
        default = None if of_audit.several else of_audit.default
        kind: Any = of_audit.kind
        if of_audit.kind is bool:
            default = False
        elif of_audit.several:
            kind = list[kind] | None
        elif default is None:
            kind = kind | None
        yield inspect.Parameter(
            name, keyword, default=default, annotation=Annotated[kind, option(name)]
        )
        if name == "report":
            json = typer.Option(
                "--json", help="Print JSON instead of text.", rich_help_panel=OUTPUT
            )
            yield inspect.Parameter(
                "as_json", keyword, default=False, annotation=Annotated[bool, json]
            )
    help_all = typer.Option(
        "--help-all", help="Show every option, and the settings.", is_eager=True, callback=show_all
    )
    yield inspect.Parameter(
        "help_all", keyword, default=False, annotation=Annotated[bool, help_all]
    )


audit.__signature__ = inspect.Signature([*_parameters()])  # type: ignore[attr-defined]


def _in_python(name: str, value: Any) -> Any:
    """Return the value of an option as Python users give it."""
    default = audit_options()[name].default
    if name == "settings":
        return settings_given(value) or default
    if name == "labels":
        return _labels(value)
    if name == "batch_size":
        return int(value) if value.isdecimal() else value
    if default is True:
        return not value
    return default if value is None else value


def print_done(
    done: Audit,
    rows: Sequence[Mapping[str, Any]] | None = None,
    *,
    as_json: bool,
    seconds: float = 0,
) -> None:
    """Print what was asked, the results, and where they are; ``rows``: what was asked, for JSON.

    ``seconds``: how long it took; 0 if no model was asked.
    """
    if as_json:
        rows = rows or [
            {"model": asked.model, "instrument": asked.instrument}
            | {"prompts": asked.sentences, "answers": asked.rows}
            for asked in done.asked
        ]
        entry: dict[str, Any] = {"folder": str(done.folder), "answers": rows}
        entry |= {"results": [result.entry() for result in done.results], "summary": done.summary}
        print(json_text(entry | {"report": done.report and str(done.report)}))
        return
    counts = (
        (len({asked.model for asked in done.asked}), "model"),
        (len({base_of(asked.instrument.partition(",")[0]) for asked in done.asked}), "instrument"),
        (sum(asked.sentences for asked in done.asked), "sentence"),
    )
    facts = [f"{count:,} {noun}{'' if count == 1 else 's'}" for count, noun in counts]
    if not any(asked.asked_now for asked in done.asked):
        facts.append("nothing was left to ask")
    elif seconds:
        facts.append(duration(seconds))
    print_screen(done.folder, done.results, report=done.report, about=facts)


def _labels(text: str | None) -> dict[str, str] | None:
    """Return LABEL_0=negative,LABEL_1=positive as a mapping."""
    if text is None:
        return None
    meanings: dict[str, str] = {}
    for pair in text.split(","):
        own, _, meaning = (part.strip() for part in pair.partition("="))
        if not (own and meaning):
            raise InputError(
                f"--labels has '{pair}'. Write LABEL=MEANING, such as --labels "
                "LABEL_0=negative,LABEL_1=positive. The meanings are negative, neutral and "
                "positive."
            )
        if own in meanings:
            raise InputError(
                f"--labels gives '{own}' two meanings, {meanings[own]} and {meaning}. Give it one."
            )
        meanings[own] = meaning
    return meanings
