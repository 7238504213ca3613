"""A folder that goffman writes for a harness: new, empty, or one that it wrote before."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from goffman.errors import InputError
from goffman.runs.files import Folder, make_folder
from goffman.runs.trouble import disk_trouble

README = "README.md"


def template(name: str) -> str:
    """A file that is written as it is."""
    return files("goffman.harnesses").joinpath("templates", name).read_text(encoding="utf-8")


def write_folder(folder: Path, texts: Mapping[str, str], *, heading: str) -> list[Path]:
    """The files, which are now in the folder; InputError where it holds something else.

    ``texts``: by path within the folder; README.md, which begins with ``heading``, is written last:
    as long as it is not there, the folder is not known as whole.
    """
    names = Folder(folder).names()
    about = Folder(folder).read(README) or b""
    if names and not about.startswith(heading.encode()):
        shown = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
        raise InputError(
            f"{folder} contains other files ({shown}). Give an empty or new folder with --output."
        )
    with disk_trouble(folder):
        make_folder(folder)
    written = []
    for path, text in sorted(texts.items(), key=lambda one: one[0] == README):
        *within, name = path.split("/")
        place = Folder(folder, tuple(within))
        with disk_trouble(place.path / name):
            place.write(name, text.encode())
        written.append(place.path / name)
    return written
