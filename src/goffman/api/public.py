"""goffman from Python: audit(), open_run() and compare(), which the command line calls too."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Unpack, get_type_hints

from goffman.api import arguments
from goffman.api.notebook import reporting
from goffman.api.results import Comparison, Run
from goffman.comparison.runs import compare as compare_runs
from goffman.comparison.runs import describe_verdicts
from goffman.config import AuditOptions, Several, Text, audit_options, changed, with_defaults
from goffman.errors import InputError
from goffman.instruments.identities import identities
from goffman.options import AskOptions, MeasureOptions
from goffman.pipeline import audit as ask_and_measure


def audit(
    models: Several = (),
    *,
    config: AuditOptions | None = None,
    progress: bool = True,
    **options: Unpack[AuditOptions],
) -> Run:
    """Ask models, measure their answers, write a report, and return the run.

    Every option is one of ``goffman audit`` and means the same. ``config`` holds several options;
    options given by name take precedence over it. The same call again resumes a run that was
    stopped, and asks nothing twice. Raise GoffmanError with what cannot be used.

    ``models``: names on Hugging Face, folders, ``bundled:`` names, or addresses of servers; if none
    are given, the models that come with goffman. ``correlate``: (base, classifier) pairs, or
    "BASE=CLASSIFIER". ``labels``: a classifier's own labels → negative, neutral, positive.
    ``progress``: show how far the audit is.
    """
    settings = with_defaults({**(config or {}), **options})
    instruments = arguments.texts("--instrument", settings.instruments)
    asked = arguments.models_asked(models, instruments)
    chats = arguments.chat_options(settings, asked)
    loading = arguments.load_options(settings)
    asking = AskOptions(
        top_k=settings.top_k,
        limit=settings.limit,
        targets=arguments.target_words(arguments.texts("--targets", settings.targets)),
        batch_size=arguments.batch_size(settings.batch_size),
        seed=settings.seed,
        paraphrases=settings.paraphrases,
        cross=None if settings.cross is None else identities(str(settings.cross)),
        controls=settings.controls,
        modes=arguments.texts("--mode", settings.modes),
        sample=settings.sample,
        system=arguments.system_prompt(settings.system, settings.persona),
        persona=None if settings.persona is None else str(settings.persona),
        settings=dict(settings.settings or {}),
        no_answer=False if settings.forced_choice else None,
        chats=chats,
        dry_run=settings.dry_run,
        given=changed(settings),
    )
    measuring = MeasureOptions(
        ratings=arguments.paths("--ratings", settings.ratings),
        anchors=arguments.paths("--anchor", settings.anchors),
        gender_words=arguments.path("--gender-words", settings.gender_words),
        parser=settings.parser,
        pairs=arguments.correlated(settings.correlate, asked),
    )
    with reporting(shown=progress, verbose=settings.verbose) as reporter:
        audited = ask_and_measure(
            asked,
            instruments=instruments,
            output=arguments.path("--output", settings.output),
            loading=loading,
            options=asking,
            measuring=measuring,
            listener=reporter.listener,
            report=settings.report,
        )
    return Run(folder=audited.folder, audited=audited, notes=tuple(reporter.notes))


def _signature() -> inspect.Signature:
    """Return the parameters of audit() one by one, for help() and editors that run the code."""
    own = inspect.signature(audit).parameters
    types = get_type_hints(AuditOptions)
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=parameter.default, annotation=types[name]
        )
        for name, parameter in audit_options().items()
    ]
    return inspect.Signature([*list(own.values())[:-1], *options], return_annotation=Run)


audit.__signature__ = _signature()  # type: ignore[attr-defined]


def open_run(folder: Text) -> Run:
    """Return the run in a folder that goffman wrote.

    Raise RunError if there is no run, or if it is damaged.
    """
    (path,) = arguments.paths("RUN", folder)
    run = Run(folder=path)
    # Read it now, not when somebody first asks for a number.
    _ = run.measured
    return run


def compare(first: Run | Text, *later: Run | Text, models: str | Sequence[str] = ()) -> Comparison:
    """Return the comparison of each later run with the first one, prompt by prompt.

    ``models``: compare only these; write NAME=OTHER if the later runs call the model OTHER. Raise
    GoffmanError with the reason if runs cannot be compared.
    """
    runs = [run if isinstance(run, Run) else open_run(run) for run in (first, *later)]
    for place, run in enumerate(runs):
        if run.folder.resolve() in {earlier.folder.resolve() for earlier in runs[:place]}:
            raise InputError(f"You gave the same run twice: {run.folder}. Give two different runs.")
    notes: list[str] = []
    texts = arguments.texts("--model", models)
    parts = compare_runs([run.measured for run in runs], models=texts, note=notes.append)
    messages = dict.fromkeys([*notes, *describe_verdicts(parts)])
    return Comparison(runs=tuple(runs), parts=tuple(parts), notes=tuple(messages))
