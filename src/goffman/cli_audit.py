"""The command that asks models: audit."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from goffman.cli_anchors import AnchorPaths
from goffman.cli_audit_options import (
    AllWordings,
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
    OutputFolder,
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
from goffman.cli_models import models_folder
from goffman.cli_options import (
    AdjectivePlacement,
    Adjectives,
    DropFaulty,
    Pairs,
    Questions,
    Vignettes,
    WinoBias,
)
from goffman.errors import InputError
from goffman.inputs import read_plain
from goffman.terminal import printable, say, table_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goffman.audit import Audit
    from goffman.models.base import Calling
    from goffman.runs.forecast import Prices


def audit(
    models: Models = None,
    *,
    instrument: Instruments = None,
    limit: Limit = None,
    all_wordings: AllWordings = False,
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
    from goffman.audit import audit as run_audit
    from goffman.instruments.render import PromptOptions
    from goffman.models.base import LoadOptions, Sampling
    from goffman.models.fetch import fetched
    from goffman.models.local import BUNDLED, BUNDLED_PAIR
    from goffman.options import AskOptions, ChatOptions, Listener, MeasureOptions
    from goffman.questions import who_can_answer
    from goffman.terminal import ProgressLines

    if not models:
        bundled = [f"bundled:{name}" for name in BUNDLED]
        models = who_can_answer(bundled, instrument or ()) or bundled
    declared = (BUNDLED_PAIR,) if {*BUNDLED_PAIR} <= {*models} else ()
    chats = ChatOptions(
        trials=trials,
        sampling=Sampling(temperature=temperature, max_tokens=max_tokens, top_p=top_p),
        calling=replace(
            _keys(models, key_env),
            concurrency=concurrency,
            per_minute=max_requests_per_minute,
            timeout=timeout,
        ),
        prices=_prices(price_in, price_out),
    )
    sentences = PromptOptions(
        adjectives=adjectives,
        placement=placement,
        vignettes=vignettes,
        questions=questions,
        winobias=winobias,
        drop_faulty=drop_faulty or None,
        pairs=pairs,
    )
    with _stopped_kindly(), ProgressLines(sys.stderr) as lines:
        done = run_audit(
            models,
            instruments=instrument or (),
            output=output,
            loading=LoadOptions(
                device=device,
                workers=workers,
                mixed_hardware=allow_mixed_hardware,
                precision=precision.value,
                trust_remote_code=trust_remote_code,
                labels=_labels(labels),
                fetched=fetched(models_folder()),
            ),
            options=AskOptions(
                top_k=top_k,
                limit=limit,
                targets=_words(targets or ()),
                batch_size=_batch_size(batch_size),
                seed=seed,
                all_wordings=all_wordings,
                controls=not no_controls,
                forms=tuple(form or ()),
                thorough=thorough,
                system=_system(system, persona),
                sentences=sentences,
                chats=chats,
                dry_run=dry_run,
            ),
            measuring=MeasureOptions(
                ratings=tuple(ratings or ()),
                anchors=tuple(anchor or ()),
                gender_words=gender_words,
                parser=parser,
                pairs=_model_pairs(pair or ()) or declared,
            ),
            listener=Listener(progress=lines.show, note=lines.note),
            report=not no_report,
        )
    _print(done, as_json=as_json, dry_run=dry_run)


def _print(done: Audit, *, as_json: bool, dry_run: bool) -> None:
    """The user reads what was asked, what it says, and where it lies."""
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
    sys.stdout.write("\n" + "".join(f"{printable(line)}\n" for line in done.summary) + "\n")
    nothing = "" if any(asked.asked_now for asked in done.asked) else "Nothing was left to ask. "
    where = printable(str(done.folder))
    print(f"{nothing}Answers, scores.parquet and estimates.parquet are in {where}.")
    if done.report:
        print(f"The report is {printable(str(done.report))}: open it in any browser.")


def _system(given: str | None, persona_name: str | None) -> str | None:
    """The system prompt: a persona's, a file's text where there is such a file, or as given."""
    if persona_name is not None:
        from goffman.instruments.personas import persona

        if given is not None:
            raise InputError(
                "--system and --persona are two system prompts. Give one of them: a text that "
                "belongs to a persona can stand in its file."
            )
        return persona(persona_name).text
    if given is None or not given.strip():
        return None
    # os.path.isfile, which says no to names that no system allows, where Path.is_file fails.
    if not os.path.isfile(given):  # noqa: PTH113
        if _like_a_file(given.strip()):
            raise InputError(
                f"--system is '{given}', which looks like a file, but there is no such file. "
                "Correct the name, or give the system prompt itself."
            )
        return given.strip()
    try:
        return read_plain(Path(given)).decode().strip()
    except UnicodeDecodeError as error:
        raise InputError(f"--system: {given} is not a UTF-8 text file.") from error


def _like_a_file(text: str) -> bool:
    """Whether it is one word with a file's ending, as no system prompt is."""
    return re.fullmatch(r"\S+\.[A-Za-z]{1,8}", text) is not None


def _keys(models: Sequence[str], key_env: str | None) -> Calling:
    """The keys that the models' servers want: each goes to one host alone."""
    from goffman.models.address import behind_server, parse_address
    from goffman.models.base import Calling

    addresses = [parse_address(model) for model in models if behind_server(model)]
    openai = any(address.openai for address in addresses)
    own = os.environ.get("OPENAI_API_KEY") if openai else None
    if key_env is None:
        return Calling(openai_key=own)
    hosts = list(dict.fromkeys(address.url for address in addresses if not address.openai))
    if key_env == "OPENAI_API_KEY":
        raise InputError(
            "--key-env cannot be OPENAI_API_KEY: that key is only sent to openai:NAME models. "
            "Put the key of another server into another variable."
        )
    if len(hosts) != 1:
        found = "you gave none"
        if hosts:
            found = f"your models are on {len(hosts)}: {', '.join(hosts)}"
        raise InputError(
            f"--key-env is for models on one server (http://HOST/v1#NAME), but {found}."
        )
    if key_env not in os.environ:
        raise InputError(
            f"There is no environment variable {key_env} (--key-env). Put the key of {hosts[0]} "
            "there."
        )
    return Calling(openai_key=own, key=os.environ[key_env], key_name=key_env)


def _prices(question: float | None, reply: float | None) -> Prices | None:
    from goffman.runs.forecast import Prices

    if question is None and reply is None:
        return None
    if question is None or reply is None:
        raise InputError("Give both --price-in and --price-out, or neither.")
    return Prices(question=question, reply=reply)


@contextmanager
def _stopped_kindly() -> Iterator[None]:
    """A user who stops the work is told that it can go on."""
    try:
        yield
    except KeyboardInterrupt:
        say("Stopped. All answers so far are kept. To resume, run the same command again.")
        raise typer.Exit(130) from None


def _batch_size(given: str) -> int | None:
    if given == "auto":
        return None
    if given.isdecimal():
        return int(given)
    raise InputError(f"--batch-size is '{given}'. Allowed: auto, or a whole number, 1 or more.")


def _words(given: Sequence[str]) -> tuple[str, ...]:
    """likely,unlikely as two words; each option may hold several."""
    words = [word.strip() for text in given for word in text.split(",")]
    if not all(words):
        raise InputError(
            f"--targets is '{','.join(given)}', with an empty word in it. Put one comma between "
            "words: --targets likely,unlikely"
        )
    return tuple(words)


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


def _model_pairs(given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Each BASE=CLASSIFIER as two names."""
    pairs = [text.partition("=") for text in given]
    for base, sign, classifier in pairs:
        if not (base and sign and classifier):
            raise InputError(
                f"--correlate is '{base}{sign}{classifier}'. Write BASE=CLASSIFIER, such as "
                "--correlate roberta-base=org/classifier. The classifier must be fine-tuned from "
                "the base model."
            )
    return tuple((base, classifier) for base, _, classifier in pairs)
