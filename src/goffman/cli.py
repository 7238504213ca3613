"""The command line: one function a command, each of which parses, calls and prints.

Those about ratings are in cli_ratings.py.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from goffman.cli_ratings import agree, rate
from goffman.errors import GoffmanError, InputError, InstrumentError
from goffman.terminal import table_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from goffman.records import Fault

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Ask language models the questions psychology asks people about stigma.",
)

_FAULTS_ON_A_SCREEN = 15

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
NameOrPath = Annotated[str, typer.Argument(help="An instrument's name, or the path of a folder.")]


class Precision(StrEnum):
    """In what numbers a model calculates."""

    FLOAT32 = "float32"
    BF16 = "bf16"
    FP16 = "fp16"


class Format(StrEnum):
    """How prompts are printed."""

    TABLE = "table"
    CSV = "csv"
    JSONL = "jsonl"


@app.callback(invoke_without_command=True)
def version(
    *, show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """Ask language models the questions psychology asks people about stigma."""
    if show:
        from goffman import __version__

        print(f"goffman {__version__}")
        raise typer.Exit


@app.command("ls")
def list_instruments(*, as_json: Json = False) -> None:
    """List the instruments: what can be asked."""
    from goffman.instruments.load import builtin_names, load_instrument
    from goffman.instruments.render import render

    rows: list[dict[str, Any]] = []
    for name in builtin_names():
        instrument = load_instrument(name)
        rows.append(
            {
                "instrument": instrument.id,
                "kind": instrument.kind,
                "prompts": len(render(instrument).prompts),
                "version": instrument.version,
                "title": instrument.title,
                "citation": instrument.citation,
            }
        )
    if as_json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        sys.stdout.write(table_text(rows, ("instrument", "kind", "prompts", "title", "citation")))


@app.command()
def validate(path: NameOrPath, *, as_json: Json = False) -> None:
    """Check an instrument and say every fault of it."""
    from goffman.instruments.load import load_instrument
    from goffman.instruments.render import render

    faults: Sequence[Fault] = ()
    prompts = 0
    try:
        prompts = len(render(load_instrument(path)).prompts)
    except InstrumentError as error:
        faults = error.faults
        if not as_json:
            print(error, file=sys.stderr)
    if as_json:
        found = {"instrument": path, "prompts": prompts, "faults": [vars(f) for f in faults]}
        print(json.dumps(found, ensure_ascii=False, indent=1))
    elif not faults:
        print(f"{path} is sound: {prompts:,} prompts.")
    if faults:
        raise typer.Exit(2)


@app.command()
def prompts(
    name: NameOrPath,
    *,
    style: Annotated[
        Format | None,
        typer.Option("--format", help="A table, or into a file CSV (.jsonl: JSON lines)."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N prompts.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write to this file.")] = None,
    as_json: Json = False,
    wording: Annotated[
        list[str] | None, typer.Option(help="A wording's id, or 'all'; may be repeated.")
    ] = None,
    winobias: Annotated[
        Path | None, typer.Option(help="Coreference: WinoBias's files instead of our sentences.")
    ] = None,
    drop_faulty: Annotated[
        bool, typer.Option("--drop-faulty", help="Coreference: leave out faulty WinoBias pairs.")
    ] = False,
    adjectives: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MALE,FEMALE", help="Coreference: a setting, 'all' or 'none'; may be repeated."
        ),
    ] = None,
    placement: Annotated[
        str | None, typer.Option(help="Coreference: by-stereotype or by-position.")
    ] = None,
    pairs: Annotated[int | None, typer.Option(help="Coreference: how many pairs to draw.")] = None,
    seed: Annotated[int | None, typer.Option(help="Coreference: which pairs are drawn.")] = None,
) -> None:
    """Print the prompts of an instrument, one row each."""
    from goffman.instruments.load import load_instrument
    from goffman.instruments.render import PromptOptions, render
    from goffman.tables import prompt_rows

    options = PromptOptions(
        wordings=wording,
        adjectives=adjectives,
        placement=placement,
        winobias=winobias,
        drop_faulty=drop_faulty or None,
        pairs=pairs,
        seed=seed,
    )
    rendered = render(load_instrument(name), options)
    rows = prompt_rows(rendered.prompts[:limit])
    _print_faults("left out", rendered.left_out)
    _print_faults("kept, but look at it", rendered.remarks)
    if as_json:
        text = json.dumps(rows, ensure_ascii=False, indent=1) + "\n"
    else:
        text = _formatted(rows, style or _style_for(output))
    if output:
        _write_whole(output, text)
        print(f"{len(rows):,} prompts are in {output}.", file=sys.stderr)
    else:
        sys.stdout.write(text)


@app.command()
def audit(
    models: Annotated[
        list[str], typer.Argument(metavar="MODEL …", help="A hub id (id@revision), or a folder.")
    ],
    *,
    instrument: Annotated[
        list[str] | None, typer.Option(help="A name or a folder; may be repeated. Default: all.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="The run's folder. Default: runs/MODEL.")
    ] = None,
    top_k: Annotated[
        int | None, typer.Option(min=1, help="Words kept at each mask. Default: the instrument's.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first N prompts of each instrument.")
    ] = None,
    batch_size: Annotated[str, typer.Option(help="Sentences asked together, or auto.")] = "auto",
    seed: Annotated[int, typer.Option(min=0, help="Draws the sample that tests a precision.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 …")] = "auto",
    precision: Annotated[Precision, typer.Option(help="Of weights and sums.")] = Precision.FLOAT32,
    labels: Annotated[
        str | None, typer.Option(metavar="OWN=MEANING,…", help="What a classifier's labels mean.")
    ] = None,
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run Python code that comes with a model.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Ask models, and keep every answer; the same command again goes on where it was."""
    from goffman.audit import AskOptions, Listener
    from goffman.audit import audit as run_audit
    from goffman.models.base import LoadOptions
    from goffman.terminal import ProgressLines, printable

    with _stopped_kindly(), ProgressLines(sys.stderr) as lines:
        done = run_audit(
            models,
            instruments=instrument or (),
            output=output,
            loading=LoadOptions(
                device=device,
                precision=precision.value,
                trust_remote_code=trust_remote_code,
                labels=_labels(labels),
            ),
            options=AskOptions(
                top_k=top_k, limit=limit, batch_size=_batch_size(batch_size), seed=seed
            ),
            listener=Listener(progress=lines.show, note=lines.note),
        )
    rows = [vars(asked) for asked in done.asked]
    if as_json:
        print(
            json.dumps({"folder": str(done.folder), "answers": rows}, ensure_ascii=False, indent=1)
        )
        return
    sys.stdout.write(table_text(rows, ("model", "instrument", "sentences", "rows", "asked_now")))
    nothing = "" if any(asked.asked_now for asked in done.asked) else "Nothing was left to ask. "
    print(f"{nothing}The answers are in {printable(str(done.folder))}.")


app.command()(rate)
app.command()(agree)


@contextmanager
def _stopped_kindly() -> Iterator[None]:
    """Nothing; a user who stops the work is told that it can go on."""
    try:
        yield
    except KeyboardInterrupt:
        print("Stopped. What was answered is kept: the same command goes on.", file=sys.stderr)
        raise typer.Exit(130) from None


def _batch_size(given: str) -> int | None:
    if given == "auto":
        return None
    if given.isdecimal() and int(given) > 0:
        return int(given)
    raise InputError(f"--batch-size is '{given}'; it is auto or a whole number of at least 1.")


def _labels(given: str | None) -> dict[str, str] | None:
    """LABEL_0=negative,LABEL_1=positive as a mapping."""
    if given is None:
        return None
    pairs = [pair.partition("=") for pair in given.split(",")]
    for own, sign, meaning in pairs:
        if not (own.strip() and sign and meaning.strip()):
            raise InputError(
                f"--labels has '{own}{sign}{meaning}'; each is the model's own label, =, and "
                "negative, neutral or positive: --labels LABEL_0=negative,LABEL_1=positive"
            )
    return {own.strip(): meaning.strip() for own, _, meaning in pairs}


def _style_for(output: Path | None) -> Format:
    if output is None:
        return Format.TABLE
    return Format.JSONL if output.suffix == ".jsonl" else Format.CSV


def _formatted(rows: Sequence[Mapping[str, str | None]], style: Format) -> str:
    """Rows as text: CSV and JSON lines to the letter, a table for reading."""
    if style is Format.TABLE:
        return table_text(rows, ("prompt_id", "item", "wording", "condition", "text"))
    if style is Format.JSONL:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _print_faults(what: str, faults: Iterable[Fault]) -> None:
    for fault in faults:
        print(f"{what}: {fault}", file=sys.stderr)


def _write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all; what stood there before stays until it is replaced."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8", newline="")
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error


def main() -> None:
    """Run the command line; every failure ends with a sentence and an exit code."""
    try:
        app()
    except InstrumentError as error:
        lines = str(error).splitlines()
        print("\n".join(lines[: 1 + _FAULTS_ON_A_SCREEN]), file=sys.stderr)
        if more := lines[1 + _FAULTS_ON_A_SCREEN :]:
            print(f"  … and {len(more)} more: goffman validate {error.where}", file=sys.stderr)
        sys.exit(error.exit_code)
    except GoffmanError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output (head, less) has gone; there is nobody left to tell.
        sys.stdout = None
        sys.exit(0)
