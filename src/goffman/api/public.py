"""goffman from Python: audit(), open_run() and compare(), which the command line calls too."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack, get_type_hints

from goffman.api import arguments
from goffman.api.progress import reporting
from goffman.api.results import Comparison, Run
from goffman.comparison.runs import compare as compare_runs
from goffman.comparison.runs import describe_verdicts
from goffman.config import AuditOptions, Several, Text, audit_options, changed, with_defaults
from goffman.errors import InputError
from goffman.instruments.identities import identities
from goffman.models.base import Sampling
from goffman.options import AskOptions, ChatOptions, MeasureOptions
from goffman.pipeline import audit as ask_and_measure


def audit(
    models: Several = (),
    *,
    config: AuditOptions | None = None,
    progress: bool = True,
    **options: Unpack[AuditOptions],
) -> Run:
    """Return the run of an audit: models are asked, their answers measured, a report written.

    Every option is one of ``goffman audit`` and means the same; ``config`` holds several, and
    those given by name count over it. The same call again resumes a run that was stopped, and asks
    nothing twice. GoffmanError says what cannot be used.

    ``models``: names on Hugging Face, folders, ``bundled:`` names, addresses of servers; none: the
    models that come with goffman. ``correlate``: (base, classifier) pairs, or "BASE=CLASSIFIER".
    ``labels``: a classifier's own labels → negative, neutral, positive. ``progress``: show how far
    it is.
    """
    told = with_defaults({**(config or {}), **options})
    of = arguments.texts("--instrument", told.instruments)
    asked = arguments.models_asked(models, of)
    chats = ChatOptions(
        trials=told.trials,
        sampling=Sampling(
            temperature=told.temperature, max_tokens=told.max_tokens, top_p=told.top_p
        ),
        calling=replace(
            arguments.keys(asked, told.key_env),
            concurrency=told.concurrency,
            per_minute=told.max_requests_per_minute,
            timeout=told.timeout,
        ),
        prices=arguments.prices(told.price_in, told.price_out),
    )
    loading = arguments.loading(
        device=told.device,
        precision=told.precision,
        trust_remote_code=told.trust_remote_code,
        labels=told.labels,
    )
    loading = replace(loading, workers=told.workers, mixed_hardware=told.allow_mixed_hardware)
    asking = AskOptions(
        top_k=told.top_k,
        limit=told.limit,
        targets=arguments.target_words(arguments.texts("--targets", told.targets)),
        batch_size=arguments.batch_size(told.batch_size),
        seed=told.seed,
        paraphrases=told.paraphrases,
        cross=None if told.cross is None else identities(str(told.cross)),
        controls=told.controls,
        modes=arguments.texts("--mode", told.modes),
        sample=told.sample,
        system=arguments.system_prompt(told.system, told.persona),
        persona=None if told.persona is None else str(told.persona),
        settings=dict(told.settings or {}),
        no_answer=False if told.forced_choice else None,
        chats=chats,
        dry_run=told.dry_run,
        given=changed(told),
    )
    measuring = MeasureOptions(
        ratings=arguments.paths("--ratings", told.ratings),
        anchors=arguments.paths("--anchor", told.anchors),
        gender_words=arguments.path("--gender-words", told.gender_words),
        parser=told.parser,
        pairs=arguments.correlated(told.correlate, asked),
    )
    with reporting(shown=progress, verbose=told.verbose) as teller:
        done = ask_and_measure(
            asked,
            instruments=of,
            output=arguments.path("--output", told.output),
            loading=loading,
            options=asking,
            measuring=measuring,
            listener=teller.listener,
            report=told.report,
        )
    return Run(folder=done.folder, audited=done, notes=tuple(teller.notes))


def _signature() -> inspect.Signature:
    """Return the parameters of audit() one by one, for help() and editors that run the code."""
    own = inspect.signature(audit).parameters
    types = get_type_hints(AuditOptions)
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=types[name]
        )
        for name, one in audit_options().items()
    ]
    return inspect.Signature([*list(own.values())[:-1], *options], return_annotation=Run)


audit.__signature__ = _signature()  # type: ignore[attr-defined]


def open_run(folder: Text) -> Run:
    """The run in a folder that goffman wrote; RunError where there is none, or it is damaged."""
    (path,) = arguments.paths("RUN", folder)
    run = Run(folder=path)
    # Now, and not when somebody first asks for a number.
    _ = run.measured
    return run


def compare(first: Run | Text, *later: Run | Text, models: str | Sequence[str] = ()) -> Comparison:
    """Each later run compared with the first one, prompt by prompt.

    ``models``: only these; NAME=OTHER where the later runs call it OTHER. GoffmanError says why
    runs cannot be compared.
    """
    runs = [one if isinstance(one, Run) else open_run(one) for one in (first, *later)]
    for place, run in enumerate(runs):
        if run.folder.resolve() in {other.folder.resolve() for other in runs[:place]}:
            raise InputError(f"You gave the same run twice: {run.folder}. Give two different runs.")
    notes: list[str] = []
    texts = arguments.texts("--model", models)
    found = compare_runs([run.measured for run in runs], models=texts, note=notes.append)
    said = dict.fromkeys([*notes, *describe_verdicts(found)])
    return Comparison(runs=tuple(runs), parts=tuple(found), notes=tuple(said))
