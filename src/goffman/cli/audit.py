"""The command that asks models: audit."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from goffman.cli.anchors import AnchorPaths
from goffman.cli.audit_options import (
    Balanced,
    BatchSize,
    Concurrency,
    Correlate,
    Device,
    DryRun,
    Forms,
    GenderWords,
    Instruments,
    KeyEnv,
    LabelMeanings,
    Limit,
    MaxRequestsPerMinute,
    MaxTokens,
    MixedHardware,
    Models,
    NoControls,
    NoReport,
    NoWayOut,
    OutputFolder,
    Paraphrases,
    ParserName,
    PersonaName,
    Precision,
    PrecisionOption,
    PriceIn,
    PriceOut,
    PrintJson,
    RatingFiles,
    Seed,
    System,
    TargetWords,
    Temperature,
    Thorough,
    Timeout,
    TopK,
    TopP,
    Trials,
    TrustRemoteCode,
    Workers,
)
from goffman.cli.options import (
    AdjectivePlacement,
    Adjectives,
    DropFaulty,
    Pairs,
    Questions,
    Vignettes,
    WinoBias,
)
from goffman.errors import InputError
from goffman.terminal import printable, say, table_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goffman.flow import Audit


def audit(
    models: Models = None,
    *,
    instrument: Instruments = None,
    limit: Limit = None,
    paraphrases: Paraphrases = False,
    no_controls: NoControls = False,
    dry_run: DryRun = False,
    output: OutputFolder = None,
    no_report: NoReport = False,
    as_json: PrintJson = False,
    device: Device = "auto",
    workers: Workers = None,
    allow_mixed_hardware: MixedHardware = False,
    precision: PrecisionOption = Precision.FLOAT32,
    batch_size: BatchSize = "auto",
    top_k: TopK = None,
    targets: TargetWords = None,
    labels: LabelMeanings = None,
    trust_remote_code: TrustRemoteCode = False,
    form: Forms = None,
    thorough: Thorough = False,
    balanced: Balanced = False,
    no_way_out: NoWayOut = False,
    system: System = None,
    persona: PersonaName = None,
    trials: Trials = None,
    temperature: Temperature = 1.0,
    top_p: TopP = None,
    max_tokens: MaxTokens = 64,
    concurrency: Concurrency = 16,
    max_requests_per_minute: MaxRequestsPerMinute = None,
    timeout: Timeout = 120.0,
    key_env: KeyEnv = None,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    ratings: RatingFiles = None,
    gender_words: GenderWords = None,
    parser: ParserName = None,
    pair: Correlate = None,
    anchor: AnchorPaths = None,
    seed: Seed = 0,
    vignettes: Vignettes = None,
    questions: Questions = None,
    winobias: WinoBias = None,
    drop_faulty: DropFaulty = False,
    adjectives: Adjectives = None,
    placement: AdjectivePlacement = None,
    pairs: Pairs = None,
) -> None:
    """Ask models, measure their answers and write a report.

    To resume a run that was stopped, run the same command again.
    """
    from goffman.api.calls import audit as run_audit

    with _stopped_kindly():
        run = run_audit(
            models or (),
            instruments=instrument or (),
            limit=limit,
            paraphrases=paraphrases,
            controls=not no_controls,
            dry_run=dry_run,
            output=output,
            report=not no_report,
            device=device,
            workers=workers,
            allow_mixed_hardware=allow_mixed_hardware,
            precision=precision.value,
            batch_size=_batch_size(batch_size),
            top_k=top_k,
            targets=targets or (),
            labels=_labels(labels),
            trust_remote_code=trust_remote_code,
            forms=form or (),
            way_out=not no_way_out,
            thorough=thorough,
            balanced=balanced,
            system=system,
            persona=persona,
            trials=trials,
            temperature=temperature,
            top_p=top_p,
            max_tokens=max_tokens,
            concurrency=concurrency,
            max_requests_per_minute=max_requests_per_minute,
            timeout=timeout,
            key_env=key_env,
            price_in=price_in,
            price_out=price_out,
            ratings=ratings or (),
            gender_words=gender_words,
            parser=parser,
            correlate=pair or (),
            anchors=anchor or (),
            seed=seed,
            vignettes=vignettes,
            questions=questions,
            winobias=winobias,
            drop_faulty=drop_faulty,
            adjectives=adjectives or (),
            adjective_placement=placement,
            sentence_pairs=pairs,
        )
    if run.audited:
        _print(run.audited, as_json=as_json, dry_run=dry_run)


def _print(done: Audit, *, as_json: bool, dry_run: bool) -> None:
    """The user reads what was asked, what it says, and where it lies."""
    from goffman.runs.manifest import read_manifest

    rows = [vars(asked) for asked in done.asked]
    if as_json:
        found: dict[str, Any] = {"folder": str(done.folder), "answers": rows}
        found |= {"summary": done.summary, "report": done.report and str(done.report)}
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return
    if dry_run:
        print("Nothing was asked or written (--dry-run).")
        return
    shown = [
        {
            "model": asked.model,
            "instrument": asked.instrument,
            "sentences": asked.sentences,
            "answers": asked.rows,
            "asked now": asked.asked_now,
        }
        for asked in done.asked
    ]
    sys.stdout.write(table_text(shown, tuple(shown[0]) if shown else ()))
    manifest = read_manifest(done.folder)
    if manifest and any(one.controls for one in manifest.instruments.values()):
        print("Sentences and answers include those of control items.")
    sys.stdout.write("\n" + "".join(f"{printable(line)}\n" for line in done.summary) + "\n")
    nothing = "" if any(asked.asked_now for asked in done.asked) else "Nothing was left to ask. "
    where = printable(str(done.folder))
    print(f"{nothing}Answers, scores.parquet and estimates.parquet are in {where}.")
    if done.report:
        print(f"The report is {printable(str(done.report))}: open it in any browser.")


@contextmanager
def _stopped_kindly() -> Iterator[None]:
    """A user who stops the work is told that it can go on."""
    try:
        yield
    except KeyboardInterrupt:
        say("Stopped. All answers so far are kept. To resume, run the same command again.")
        raise typer.Exit(130) from None


def _batch_size(given: str) -> int | Any:
    """The number, or the text as it was given."""
    return int(given) if given.isdecimal() else given


def _labels(given: str | None) -> dict[str, str] | None:
    """LABEL_0=negative,LABEL_1=positive as a mapping."""
    if given is None:
        return None
    found: dict[str, str] = {}
    for pair in given.split(","):
        own, _, meaning = (part.strip() for part in pair.partition("="))
        if not (own and meaning):
            raise InputError(
                f"--labels has '{pair}'. Write LABEL=MEANING, such as --labels "
                "LABEL_0=negative,LABEL_1=positive. The meanings are negative, neutral and "
                "positive."
            )
        if own in found:
            raise InputError(
                f"--labels gives '{own}' two meanings, {found[own]} and {meaning}. Give it one."
            )
        found[own] = meaning
    return found
