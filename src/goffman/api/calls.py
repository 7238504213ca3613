"""goffman from Python: audit(), open_run() and compare(), which the command line calls too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from goffman.api import told
from goffman.api.live import telling
from goffman.api.results import Comparison, Run
from goffman.api.told import Several, Text
from goffman.errors import InputError
from goffman.flow import audit as ask_and_measure
from goffman.instruments.render import PromptOptions
from goffman.models.base import Sampling
from goffman.options import AskOptions, ChatOptions, MeasureOptions
from goffman.reports.compare import compare as compare_runs
from goffman.reports.compare import verdicts_said


def audit(
    models: Several = (),
    *,
    instruments: Several = (),
    limit: int | None = None,
    paraphrases: bool = False,
    controls: bool = True,
    dry_run: bool = False,
    output: Text | None = None,
    report: bool = True,
    device: str = "auto",
    workers: str | None = None,
    allow_mixed_hardware: bool = False,
    precision: Literal["float32", "bf16", "fp16"] = "float32",
    batch_size: int | Literal["auto"] = "auto",
    top_k: int | None = None,
    targets: str | Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
    trust_remote_code: bool = False,
    forms: str | Sequence[str] = (),
    thorough: bool = False,
    balanced: bool = False,
    system: Text | None = None,
    persona: Text | None = None,
    trials: int | None = None,
    temperature: float = 1.0,
    top_p: float | None = None,
    max_tokens: int = 64,
    concurrency: int = 16,
    max_requests_per_minute: int | None = None,
    timeout: float = 120.0,
    key_env: str | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    ratings: Several = (),
    gender_words: Text | None = None,
    parser: str | None = None,
    correlate: Sequence[str | tuple[str, str]] = (),
    anchors: Several = (),
    seed: int = 0,
    vignettes: Text | None = None,
    questions: Text | None = None,
    winobias: Text | None = None,
    drop_faulty: bool = False,
    adjectives: str | Sequence[str] = (),
    adjective_placement: str | None = None,
    sentence_pairs: int | None = None,
    way_out: bool = True,
    progress: bool = True,
) -> Run:
    """The run of an audit: models are asked, their answers are measured and a report is written.

    Every parameter is an option of ``goffman audit`` and means the same. The same call again
    resumes a run that was stopped, and asks nothing twice. GoffmanError says what cannot be used.

    ``models``: names on Hugging Face, folders, ``bundled:`` names, addresses of servers; none: the
    models that come with goffman. ``correlate``: (base, classifier) pairs, or "BASE=CLASSIFIER".
    ``labels``: a classifier's own labels → negative, neutral, positive. ``progress``: show how far
    it is.
    """
    told.numbers(
        limit=limit,
        top_k=top_k,
        trials=trials,
        temperature=temperature,
        top_p=top_p,
        max_tokens=max_tokens,
        concurrency=concurrency,
        max_requests_per_minute=max_requests_per_minute,
        timeout=timeout,
        price_in=price_in,
        price_out=price_out,
        seed=seed,
        sentence_pairs=sentence_pairs,
    )
    of = told.texts("--instrument", instruments)
    asked = told.models_asked(models, of)
    chats = ChatOptions(
        trials=trials,
        sampling=Sampling(temperature=temperature, max_tokens=max_tokens, top_p=top_p),
        calling=replace(
            told.keys(asked, key_env),
            concurrency=concurrency,
            per_minute=max_requests_per_minute,
            timeout=timeout,
        ),
        prices=told.prices(price_in, price_out),
    )
    sentences = PromptOptions(
        adjectives=told.texts("--adjectives", adjectives) or None,
        placement=adjective_placement,
        vignettes=told.path("--vignettes", vignettes),
        questions=told.path("--questions", questions),
        winobias=told.path("--winobias", winobias),
        drop_faulty=drop_faulty or None,
        pairs=sentence_pairs,
        way_out=None if way_out else False,
    )
    loading = told.loading(
        device=device, precision=precision, trust_remote_code=trust_remote_code, labels=labels
    )
    loading = replace(loading, workers=workers, mixed_hardware=allow_mixed_hardware)
    asking = AskOptions(
        top_k=top_k,
        limit=limit,
        targets=told.target_words(told.texts("--targets", targets)),
        batch_size=told.batch_size(batch_size),
        seed=seed,
        paraphrases=paraphrases,
        controls=controls,
        forms=told.texts("--form", forms),
        thorough=thorough,
        balanced=balanced,
        system=told.system_prompt(system, persona),
        persona=None if persona is None else str(persona),
        sentences=sentences,
        chats=chats,
        dry_run=dry_run,
    )
    measuring = MeasureOptions(
        ratings=told.paths("--ratings", ratings),
        anchors=told.paths("--anchor", anchors),
        gender_words=told.path("--gender-words", gender_words),
        parser=parser,
        pairs=told.correlated(correlate, asked),
    )
    with telling(shown=progress) as teller:
        done = ask_and_measure(
            asked,
            instruments=of,
            output=told.path("--output", output),
            loading=loading,
            options=asking,
            measuring=measuring,
            listener=teller.listener,
            report=report,
        )
    return Run(folder=done.folder, audited=done, notes=tuple(teller.notes))


def open_run(folder: Text) -> Run:
    """The run in a folder that goffman wrote; RunError where there is none, or it is damaged."""
    (path,) = told.paths("RUN", folder)
    run = Run(folder=path)
    # Now, and not when somebody first asks for a number.
    _ = run.measured
    return run


def compare(
    first: Run | Text, *later: Run | Text, models: str | Sequence[str] = (), seed: int = 0
) -> Comparison:
    """Each later run compared with the first one, prompt by prompt.

    ``models``: only these; NAME=OTHER where the later runs call it OTHER. GoffmanError says why
    runs cannot be compared.
    """
    told.numbers(seed=seed)
    runs = [one if isinstance(one, Run) else open_run(one) for one in (first, *later)]
    for place, run in enumerate(runs):
        if run.folder.resolve() in {other.folder.resolve() for other in runs[:place]}:
            raise InputError(f"You gave the same run twice: {run.folder}. Give two different runs.")
    notes: list[str] = []
    found = compare_runs(
        [run.measured for run in runs],
        models=told.texts("--model", models),
        seed=seed,
        note=notes.append,
    )
    said = dict.fromkeys([*notes, *verdicts_said(found)])
    return Comparison(runs=tuple(runs), parts=tuple(found), notes=tuple(said))
