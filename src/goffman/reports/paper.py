"""A run as a folder for a paper: methods, references, data with a codebook, R, tables, figures."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from goffman.errors import InputError
from goffman.presentation.table_text import markdown
from goffman.reports.paper_data import PaperData
from goffman.reports.paper_figures import PaperFigure, paper_figures
from goffman.reports.paper_methods import methods_text
from goffman.reports.paper_references import bibtex, references_of
from goffman.reports.paper_tables import latex_table, markdown_table, results_of
from goffman.runs.files import Folder, make_folder
from goffman.runs.trouble import disk_trouble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goffman.reports.run import MeasuredRun

HEADING = "# For a paper, by goffman"

_ABOUT = f"""\
{HEADING}

| file | what it is |
|---|---|
| methods.txt | models with hashes, instruments with versions, prompts, scoring, tests |
| references.bib | what to cite: studies, scales and goffman |
| data-INSTRUMENT.csv | a row for each prompt and model (and trial), for `lmer` and the like |
| estimates.csv | every contrast once, with its test, effect and intervals |
| codebook.csv | what every column of these is |
| refit.R | refits the main contrasts in base R and compares: `Rscript refit.R` |
| tables/ | the main results of each instrument, as LaTeX that fits one column, and Markdown |
| figures/ | SVG, PDF, and PNG at 300 dpi; alt-texts.md has a text for each |

In the CSV files a missing value is empty. Text that begins with =, +, - or @ gets an apostrophe in
front, so that no spreadsheet reads it as a formula. In data-INSTRUMENT.csv no prompt of a model
stands in two rows, unless it was asked several times: then `trial` says which.
"""


def write_paper(run: MeasuredRun, folder: Path) -> list[Path]:
    """The files, which are now in the folder; InputError where it holds something else."""
    _check(folder)
    with disk_trouble(folder):
        make_folder(folder)
    place = Folder(folder)
    script = files("goffman.reports").joinpath("for_paper", "refit.R").read_bytes()
    texts = {
        "methods.txt": methods_text(run),
        "references.bib": bibtex(references_of(run)),
        **dict(PaperData(run=run).texts()),
    }
    written = [_write(place, name, text.encode()) for name, text in texts.items()]
    written.append(_write(place, "refit.R", script))
    for name, section in run.sections.items():
        if results := results_of(section):
            of_tables = place / "tables"
            written.append(_write(of_tables, f"{name}.tex", latex_table(section, results).encode()))
            written.append(
                _write(of_tables, f"{name}.md", markdown_table(section, results).encode())
            )
    figures = list(paper_figures(run))
    for figure in figures:
        written += [_write(place / "figures", *file) for file in figure.files()]
    written.append(_write(place / "figures", "alt-texts.md", _alt_texts(figures).encode()))
    # Last: as long as it is not there, the folder is not known as whole.
    return [*written, _write(place, "README.md", _ABOUT.encode())]


def _check(folder: Path) -> None:
    """InputError where the folder holds files of others."""
    names = Folder(folder).names()
    if not names:
        return
    about = Folder(folder).read("README.md") or b""
    if not about.startswith(HEADING.encode()):
        raise InputError(
            f"{folder} contains other files ({', '.join(names[:3])}). Give an empty or new folder "
            "with --output."
        )


def _write(place: Folder, name: str, content: bytes) -> Path:
    place.write_changed(name, content)
    return place.path / name


def _alt_texts(figures: Sequence[PaperFigure]) -> str:
    lines = [f"- **{markdown(one.name)}**: {markdown(one.alt)}" for one in figures]
    return "\n".join(["# Alt texts", "", *lines, ""])
