"""Options that several commands have, spelled and explained once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
WinoBias = Annotated[
    Path | None, typer.Option(help="Coreference: WinoBias's files instead of our sentences.")
]
DropFaulty = Annotated[
    bool, typer.Option("--drop-faulty", help="Coreference: leave out faulty WinoBias pairs.")
]
Adjectives = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MALE,FEMALE", help="Coreference: a setting, 'all' or 'none'; may be repeated."
    ),
]
Placement = Annotated[str | None, typer.Option(help="Coreference: by-stereotype or by-position.")]
Pairs = Annotated[int | None, typer.Option(help="Coreference: how many pairs to draw.")]
