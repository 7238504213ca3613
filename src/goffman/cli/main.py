"""The command line: one function for each command, which parses, calls and prints.

This module has ls, prompts and validate; the other modules of this folder have the other commands.
"""

from __future__ import annotations

import io
import os
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from goffman.cli.audit import audit
from goffman.cli.catalog import anchor_counts, anchors, models_app, replicate
from goffman.cli.check import check
from goffman.cli.export import export, read
from goffman.cli.params import (
    AuditCommand,
    Command,
    CommandGroup,
    Json,
    option,
    settings_given,
    with_help,
)
from goffman.cli.ratings import agree, rate
from goffman.cli.report import compare, report, stress
from goffman.cli.screen import show
from goffman.config import Sample, settings_by_instrument
from goffman.console import (
    Format,
    commanded,
    count_of,
    format_for,
    json_text,
    printable,
    rows_text,
    say,
    table_text,
)
from goffman.errors import (
    AnchorError,
    Fault,
    FaultsError,
    GoffmanError,
    InputError,
    InstrumentError,
    did_you_mean,
    system_error,
)
from goffman.os_support import check_system


def validate(
    path: Annotated[
        str,
        typer.Argument(metavar="INSTRUMENT|ANCHOR"),
        "A name that goffman ls or goffman anchors lists, or the folder of an instrument or "
        "anchor.",
    ],
    *,
    as_json: Json = False,
) -> None:
    """Check the files of an instrument or anchor for faults."""
    from goffman.anchors.loader import is_anchor

    what, counts = ("anchor", anchor_counts) if is_anchor(path) else ("instrument", _prompt_counts)
    numbers = {"values": 0} if what == "anchor" else {"prompts": 0, "controls": 0, "modes": {}}
    lines: list[str] = []
    faults: Sequence[Fault] = ()
    try:
        numbers, lines = counts(path)
    except FaultsError as error:
        faults = error.faults
        if not as_json:
            say(*error.lines)
    except InputError as error:
        if not as_json:
            raise
        faults = [Fault(file=path, message=str(error))]
    if as_json:
        lines = [json_text({what: path, **numbers, "faults": [*map(vars, faults)]})]
    print("\n".join(lines), end="\n" * bool(lines))
    if faults:
        raise typer.Exit(2)


def _prompt_counts(path: str) -> tuple[dict[str, Any], list[str]]:
    """Return how many prompts an instrument has, in numbers and in sentences."""
    from goffman.anchors.loader import anchor_names
    from goffman.instruments.loader import builtin_names, load_instrument, plugged_instruments
    from goffman.instruments.renderer import render
    from goffman.measures.registry import measure_of
    from goffman.modes import modes_of

    names = (*builtin_names(), *plugged_instruments())
    # os.path returns False for names that no system allows, where Path fails.
    if path not in names and not os.path.isdir(path):  # noqa: PTH112
        known_names = (*names, *anchor_names())
        raise InputError(
            f"There is no instrument or anchor '{path[:200]}'. Give a folder, or one of these: "
            f"{', '.join(known_names)}.{did_you_mean(path, known_names)}"
        )
    first, *others = modes_of(load_instrument(path))
    measure_of(first)
    rendered = render(first)
    count, controls = len(rendered.prompts), len(rendered.controls)
    further = {str(form.mode): len(render(form).prompts) for form in others}
    beside = f"{controls:,} control prompts" if controls else "no control items"
    return {"prompts": count, "controls": controls, "modes": further}, [
        f"{printable(path)} is valid: {count:,} prompts and {beside}.",
        *(f"Mode {name}: {number:,} prompts." for name, number in further.items()),
    ]


app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Ask language models the questions psychology asks people about stigma.\n\n"
    "An instrument is a set of questions. A run is a folder that holds the models' answers and "
    "the numbers measured from them.",
    epilog="\b\n"
    "Exit codes:\n"
    "  0    done\n"
    "  1    could not finish, such as when a server or the disk failed\n"
    "  2    your input cannot be used\n"
    "  130  stopped with Ctrl-C\n"
    "goffman check has its own: see goffman check --help.",
)

FAULTS_ON_A_SCREEN = 15


@app.callback(invoke_without_command=True)
@with_help
def version(
    *, show: Annotated[bool, typer.Option("--version"), "Print the version."] = False
) -> None:
    """Ask language models the questions psychology asks people about stigma."""
    if show:
        from goffman import __version__

        print(f"goffman {__version__}")
        raise typer.Exit


ASKS = 27
"""Columns for what an instrument asks."""

ABLE = ("masked", "classifier", "qa", "nli", "causal", "chat")
"""The kinds of models that the meaning of a mode may name."""


def list_instruments(
    *,
    cite: Annotated[bool, "Print each instrument's title, modes and citation."] = False,
    as_json: Json = False,
) -> None:
    """List the instruments (sets of questions) and the modes."""
    from goffman.instruments.loader import builtin_names, load_instrument, plugged_instruments
    from goffman.instruments.renderer import render
    from goffman.modes import MEANINGS, modes_of

    rows: list[dict[str, Any]] = []
    for name in (*builtin_names(), *plugged_instruments()):
        instrument = load_instrument(name)
        rendered = render(modes_of(instrument)[0])
        rows.append(
            {
                "instrument": instrument.id,
                "built_in": name in builtin_names(),
                "language": instrument.language,
                "kind": instrument.kind,
                "modes": [str(form.mode) for form in modes_of(instrument)],
                "prompts": len(rendered.prompts),
                "controls": len(rendered.controls),
                "version": instrument.version,
                "asks": instrument.asks
                or textwrap.shorten(instrument.title, ASKS, placeholder="…"),
                "title": instrument.title,
                "citation": instrument.citation,
            }
        )
    if as_json:
        print(json_text(rows))
        return
    for row in rows:
        row["instrument"] += "" if row["built_in"] else " (plug-in)"
        words = " ".join(MEANINGS[mode] for mode in row["modes"]).split()
        row["models"] = ", ".join(kind for kind in ABLE if kind in words)
    if cite:
        fill = partial(textwrap.fill, width=80, initial_indent="  ", subsequent_indent="  ")
        for row in rows:
            facts = (row["title"], f"Modes: {', '.join(row['modes'])}", row["citation"])
            print(row["instrument"], *(fill(printable(fact)) for fact in facts), sep="\n")
        return
    sys.stdout.write(table_text(rows, ("instrument", "asks", "prompts", "models"), whole=1))
    print("\nPrompts are those of the first mode. Modes (--cite: of each instrument):")
    for form, meaning in MEANINGS.items():
        print(f"  {form:<12}{meaning}")
    print("A causal model generates text but does not chat.")


def prompts(
    name: Annotated[
        str,
        typer.Argument(metavar="INSTRUMENT"),
        "A name that goffman ls lists, or an instrument's folder.",
    ],
    *,
    style: Annotated[
        Format | None,
        typer.Option("--format"),
        "Default: a table on the screen. With --output, the ending of the file's name sets the "
        "format (CSV if it is unknown).",
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1), "Print only the first N prompts."] = None,
    output: Annotated[Path | None, "Write to this file."] = None,
    as_json: Annotated[bool, typer.Option("--json"), "The same as --format json."] = False,
    wording: Annotated[
        list[str] | None,
        "Print only this wording; 'paraphrases': those that audit --paraphrases asks; 'all': "
        "every wording. May be repeated. Default: what an audit always asks.",
    ] = None,
    settings: Annotated[list[str] | None, option("settings")] = None,
    mode: Annotated[
        str | None,
        "Print this mode. goffman ls lists and explains the modes. Default: the first one.",
    ] = None,
    sample: Annotated[
        Sample, "Print only this sample. A model on a server is asked the balanced one by default."
    ] = "all",
    forced_choice: Annotated[
        bool,
        "Leave out the last answer option, such as “I can't tell”. Works only with --mode choice "
        "or --mode reply.",
    ] = False,
    seed: Annotated[
        int | None, "Seed for drawing the sentence pairs. Works only with coreference."
    ] = None,
    no_controls: Annotated[bool, "Leave out the control items (the last rows)."] = False,
    persona: Annotated[str | None, option("persona")] = None,
    cross: Annotated[str | None, option("cross")] = None,
) -> None:
    """Print the prompts of an instrument."""
    from goffman.instruments.identities import identities, is_told, with_system
    from goffman.instruments.identities import persona as persona_named
    from goffman.instruments.renderer import PromptOptions, render, render_crossed, setting_names
    from goffman.modes import mode_of, modes_named
    from goffman.runs.files import write_output
    from goffman.schemas import prompt_rows

    if as_json and style not in {None, Format.JSON}:
        raise InputError(f"Give --json or --format {style}, not both.")
    chosen = Format.JSON if as_json else style or format_for(output)
    instrument, forms = modes_named(name)
    if mode is not None and forms[0].id == name != instrument.id:
        raise InputError(
            f"'{name}' already names a mode of {instrument.id}. Give {instrument.id} with "
            f"--mode, or {name} alone."
        )
    # If an instrument has nothing but choices, the first of its modes.
    instrument = forms[0] if mode is None else mode_of(instrument, mode)
    having = {instrument.base: setting_names(instrument)}
    changed = settings_by_instrument(settings_given(settings), having)
    options = PromptOptions(
        **({"wordings": wording} | changed.get(instrument.base, {})),
        seed=seed,
        no_answer=False if forced_choice else None,
        sample=sample,
    )
    rendered = render(instrument, options)
    if cross is not None:
        rendered = render_crossed(instrument, identities(cross), options)
    controls = () if no_controls else rendered.controls
    asked = [*rendered.prompts, *controls][:limit]
    if persona is not None:
        if not is_told(instrument):
            raise InputError(
                f"--persona is for chat models, but this mode of {instrument.id} is for other "
                "models. Add --mode completion, choice, reply or write."
            )
        asked = list(with_system(asked, instrument, persona_named(persona).text))
    rows = prompt_rows(asked)
    say(*(f"left out: {fault}" for fault in rendered.left_out))
    say(*(f"kept, but please check: {fault}" for fault in rendered.remarks))
    if chosen is Format.TABLE:
        shown = ["prompt_id", "item", "wording", "condition", "identity", "person", "order"]
        shown += ["system", "prefill", "text"]
        text = table_text(rows, [column for column in shown if rows and column in rows[0]])
    else:
        text = rows_text(rows, chosen)
    if output is None:
        sys.stdout.write(text)
    else:
        write_output(output, text.encode())
        endings = {".csv", ".json", ".jsonl"}
        odd = style is None and not as_json and output.suffix.lower() not in endings
        say(f"{count_of(len(rows), 'prompt')} in {output}{', as CSV' if odd else ''}.")


COMMANDS: Mapping[str, Sequence[Callable[..., None]]] = {
    "Ask": (audit, read),
    "Read results": (show, report, export),
    "Compare and test": (compare, stress, check, replicate),
    "Rate words": (rate, agree),
    "Instruments and models": (list_instruments, prompts, validate, anchors),
}
"""Every command but models, by its heading in the help."""

for heading, commands in COMMANDS.items():
    for command in commands:
        name = "ls" if command is list_instruments else None
        cls = AuditCommand if command is audit else Command
        app.command(name, cls=cls, rich_help_panel=heading)(with_help(command))
app.add_typer(models_app, name="models", rich_help_panel=heading)


def main() -> None:
    """Run the command line; every failure ends with a sentence and an exit code."""
    # Read when torch is loaded. By default, a thread that waits for another one keeps its core
    # busy; on cores shared with others, it may block the very thread that it waits for.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if sys.stdout is None:
        # The caller closed the output: nobody reads what is printed.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that does not know a character gets its number.
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run()
        sys.stdout.flush()
    except OSError as error:
        code = 0
        if error.filename is not None:
            failure = system_error(error)
            say(*failure.lines)
            code = failure.exit_code
        elif not isinstance(error, BrokenPipeError):
            say(f"The output cannot be written: {error.strerror}.")
            code = 1
        if error.filename is None:
            # If the reader (head, less) has gone, nobody is left to read a message.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _run() -> int:
    """Run the command that was given, print any failure, and return the exit code."""
    stdout = sys.stdout
    try:
        check_system()
        check_completion(sys.argv[1:])
        with commanded(sys.argv[1:]):
            # The same name however the command was started: scripts for shells are made with it.
            app(prog_name="goffman")
    except SystemExit as end:
        if sys.stdout is not stdout:
            # typer replaces the output if its reader (head, less) has gone.
            return 0
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        say("Stopped.")
        return 130
    except (InstrumentError, AnchorError) as error:
        say(*error.lines[: 1 + FAULTS_ON_A_SCREEN])
        if more := error.lines[1 + FAULTS_ON_A_SCREEN :]:
            say(f"  … and {len(more)} more: goffman validate {error.where}")
        return error.exit_code
    except GoffmanError as error:
        say(*error.lines)
        return error.exit_code
    return 0


COMPLETION = {"--install-completion", "--show-completion"}
SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")


def check_completion(arguments: Sequence[str]) -> None:
    """Raise InputError if completion is requested in a shell for which it cannot be made."""
    if not arguments or arguments[0] not in COMPLETION:
        return
    import shellingham

    try:
        shell = shellingham.detect_shell()[0]
    except shellingham.ShellDetectionFailure:
        shell = None
    if shell not in SHELLS:
        name = "an unknown shell" if shell is None else f"'{shell}'"
        raise InputError(
            f"Completion cannot be made for {name}. Run this command directly in one of these: "
            f"{', '.join(SHELLS)}."
        )
