"""Files of other studies that are asked as they are, in place of an instrument's own questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from goffman.errors import FaultsError, InputError, InstrumentError
from goffman.instruments.brought_questions import read_questions
from goffman.instruments.brought_vignettes import read_vignettes
from goffman.instruments.files import Faults
from goffman.instruments.forms import known_as

if TYPE_CHECKING:
    from goffman.instruments.render import PromptOptions
    from goffman.records import Instrument, Prompt, Questionnaire

OPTIONS = {"vignettes": "--vignettes", "questions": "--questions"}
"""What an instrument may say of files in place of its own (``instead``) → the option for them."""

MOST_SAID = 20
"""Faults that are told: a file of another kind has one in every line."""

_Read: TypeAlias = "Callable[[Path, Instrument, Questionnaire, Faults], list[Prompt]]"

_READ: Mapping[str, _Read] = {
    "vignettes": read_vignettes,
    "questions": read_questions,
}


def brought(
    instrument: Instrument, content: Questionnaire, options: PromptOptions
) -> tuple[Prompt, ...] | None:
    """The prompts of the file that the user brings; None: there is none for this instrument.

    InstrumentError with every line that cannot be asked, and InputError where another option makes
    no sense beside it.
    """
    name = instrument.settings.get("instead")
    for other, option in OPTIONS.items():
        if getattr(options, other) is not None and other != name:
            raise InputError(
                f"{option} cannot be used with {known_as(instrument)}, whose questions have "
                "another form."
            )
    path = getattr(options, str(name), None) if name in OPTIONS else None
    if path is None:
        return None
    option = OPTIONS[str(name)]
    for given, other in ((options.wordings, "--wording"), (options.way_out, "--no-way-out")):
        if given is not None:
            raise InputError(
                f"{other} cannot be used with {option}, which asks the questions of the file "
                "unchanged."
            )
    faults = Faults()
    try:
        prompts = _READ[str(name)](path, instrument, content, faults)
        _check_different(path, prompts, faults)
    except FaultsError:
        # So many that reading stopped: all of them are in faults.
        pass
    if faults.found:
        more = len(faults.found) - MOST_SAID
        ending = f"There are at least {more:,} more." if more > 0 else ""
        raise InstrumentError(f"{option} {path}", faults.found[:MOST_SAID], ending=ending)
    return tuple(prompts)


def _check_different(path: Path, prompts: Sequence[Prompt], faults: Faults) -> None:
    """Note a fault where a question is there twice: it would be one prompt."""
    seen: set[str] = set()
    for prompt in prompts:
        if prompt.id in seen:
            message = f"the same question appears twice: '{prompt.text[:60]}…'."
            faults.add(path.name, None, message)
        seen.add(prompt.id)
