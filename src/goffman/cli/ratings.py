"""The commands about what words mean: rate and agree."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goffman.cli.params import Json, RunFolder
from goffman.console import count_of, json_text, say

if TYPE_CHECKING:
    from goffman.rating.server import Desk

Port = Annotated[int, typer.Option(min=0, max=65535), "Port of the page. 0: any free port."]
NoBrowser = Annotated[
    bool, typer.Option("--no-browser"), "Do not open the page; only print its address."
]


def rate(
    run: RunFolder,
    *,
    rater: Annotated[str | None, "Your name or a pseudonym. Default: your login name."] = None,
    instrument: Annotated[
        list[str] | None,
        "Instrument whose words to rate. May be repeated. Default: social-distance.",
    ] = None,
    ratings: Annotated[
        list[Path] | None, "Skip words that are already rated in this CSV file. May be repeated."
    ] = None,
    everything: Annotated[bool, typer.Option("--all"), "Show every word of the run."] = False,
    unrated: Annotated[bool, "Show only words that goffman's own list does not rate."] = False,
    port: Port = 0,
    no_browser: NoBrowser = False,
) -> None:
    """Rate the words that models filled in, on a local web page.

    By default you rate only the most probable words, which together make up 80% of the total
    probability in the run. The most probable come first. The command says how many minutes it will
    take.
    """
    from goffman.errors import InputError
    from goffman.lexicons.attitude import load_attitudes
    from goffman.rating.server import rating
    from goffman.rating.worklist import Offer, asked_in_english, words_to_rate

    if everything and unrated:
        raise InputError("--all and --unrated cannot be used together. Give one, or neither.")
    chosen = instrument or ()
    _check_rated(run, chosen)
    offer: Offer = "all" if everything else "unrated" if unrated else "most"
    # People also rate words that language models have rated; only --unrated leaves those out.
    shipped = unrated and asked_in_english(run, chosen)
    attitudes = load_attitudes(ratings or (), shipped=shipped)
    worklist = words_to_rate(run, attitudes, instruments=chosen, offer=offer)
    with rating(run, worklist, rater=rater or _login()) as desk:
        _show_page(desk, port=port, browser=not no_browser)
        say(desk.summary())


def _check_rated(run: Path, instruments: Sequence[str]) -> None:
    """Raise InputError if an instrument does not count words by their ratings."""
    from goffman.errors import InputError
    from goffman.runs.manifest import read_manifest
    from goffman.scoring import measures_of

    manifest = read_manifest(run)
    measures = measures_of(manifest) if manifest else {}
    rated = [name for name, measure in measures.items() if measure.words == "attitudes"]
    if measures and not rated and not instruments:
        raise InputError(f"{run} has no words to rate: no instrument in it uses ratings of words.")
    for name in instruments:
        if name in measures and name not in rated:
            others = f" Words to rate are in: {', '.join(rated)}." if rated else ""
            raise InputError(
                f"{name} does not use ratings of words, so there is nothing to rate.{others}"
            )


def agree(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="RUN|FILE …"),
        "Run folders, CSV files of ratings, or files that goffman rate wrote.",
    ],
    *,
    settle: Annotated[bool, "Open a web page to choose a label where the raters disagree."] = False,
    output: Annotated[
        Path | None, "With --settle: the file for the result. Default: RUN/ratings/settled.csv."
    ] = None,
    export: Annotated[Path | None, "Write all ratings to this CSV file."] = None,
    port: Port = 0,
    no_browser: NoBrowser = False,
    as_json: Json = False,
) -> None:
    """Measure how well raters agree, and settle disagreements."""
    from goffman.rating.agreement import agreement_text, compare, settled_path, settling
    from goffman.rating.ratings import ratings_csv, read_raters
    from goffman.runs.files import write_output

    if export:
        raters = read_raters(sources)
        single_ratings = raters.ratings()
        write_output(export, ratings_csv(single_ratings).encode())
        say(f"{count_of(len(single_ratings), 'rating')} in {export}.")
        if len(raters.names) < 2 and not settle:
            return
    comparison = compare(sources)
    if as_json:
        print(json_text(comparison.as_json()))
    else:
        sys.stdout.write(agreement_text(comparison))
    if settle:
        sys.stdout.flush()
        file = settled_path(sources, output)
        with settling(comparison.raters, sources, output=file) as desk:
            _show_page(desk, port=port, browser=not no_browser)
            say(f"{desk.summary()} The settled ratings are in {file}.")


def _login() -> str:
    from getpass import getuser

    from goffman.errors import InputError

    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        raise InputError("Your login name is not known. Give a name with --rater NAME.") from None


def _show_page(desk: Desk, *, port: int, browser: bool) -> None:
    """Show the page until Ctrl-C; return at once if there is nothing to show."""
    import webbrowser

    from goffman.rating.server import serve

    say(desk.greeting())
    if not desk.worklist.entries:
        return

    def opened(address: str) -> None:
        say(f"The page is {address} (stop with Ctrl-C)")
        if browser:
            webbrowser.open(address)

    serve(desk, port=port, opened=opened)
