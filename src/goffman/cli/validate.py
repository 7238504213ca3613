"""The command that checks the files of an instrument or anchor: validate."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated

import typer

from goffman.cli.anchors import validate_anchor
from goffman.cli.options import Json
from goffman.errors import InputError, InstrumentError, did_you_mean
from goffman.terminal import printable, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goffman.records import Instrument


def validate(
    path: Annotated[
        str,
        typer.Argument(
            metavar="INSTRUMENT|ANCHOR",
            help="A name that goffman ls or goffman anchors lists, or the folder of an instrument "
            "or anchor.",
        ),
    ],
    *,
    as_json: Json = False,
) -> None:
    """Check the files of an instrument or anchor for faults."""
    from goffman.anchors.load import is_anchor
    from goffman.instruments.forms import form_name, forms_of
    from goffman.instruments.render import render
    from goffman.measures.catalogue import measure_of
    from goffman.records import Fault

    if is_anchor(path):
        validate_anchor(path, as_json=as_json)
        return
    count = controls = 0
    further: dict[str, int] = {}
    faults: Sequence[Fault] = ()
    try:
        instrument = _instrument_to_validate(path)
        first, *others = forms_of(instrument)
        measure_of(first)
        rendered = render(first)
        count, controls = len(rendered.prompts), len(rendered.controls)
        further = {form_name(form, instrument): len(render(form).prompts) for form in others}
    except InstrumentError as error:
        faults = error.faults
        if not as_json:
            say(str(error))
    except InputError as error:
        if not as_json:
            raise
        faults = [Fault(file=path, message=str(error))]
    if as_json:
        found = {"instrument": path, "prompts": count, "controls": controls}
        found |= {"forms": further, "faults": [vars(f) for f in faults]}
        print(json.dumps(found, ensure_ascii=False, indent=1))
    elif not faults:
        beside = f"{controls:,} control prompts" if controls else "no control items"
        print(f"{printable(path)} is valid: {count:,} prompts and {beside}.")
        for name, prompts_of_form in further.items():
            print(f"Form {name}: {prompts_of_form:,} prompts.")
    if faults:
        raise typer.Exit(2)


def _instrument_to_validate(given: str) -> Instrument:
    """The instrument; InputError where nothing is called so, neither it nor an anchor."""
    from goffman.anchors.load import anchor_names
    from goffman.instruments.load import builtin_names, load_instrument, plugged_instruments

    # os.path, which says no to names that no system allows, where Path fails.
    if given in builtin_names() or os.path.isdir(given):  # noqa: PTH112
        return load_instrument(given)
    if given in plugged_instruments():
        return load_instrument(given)
    known = (*builtin_names(), *plugged_instruments(), *anchor_names())
    raise InputError(
        f"There is no instrument or anchor '{given[:200]}'. Give a folder, or one of these: "
        f"{', '.join(known)}.{did_you_mean(given, known)}"
    )
