"""An anchor of one's own, and the ways in which it is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from breaking import broken, sound
from goffman.anchors.loader import anchors_with, load_anchor
from goffman.errors import AnchorError, InputError
from in_process import goffman


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return sound("anchor", tmp_path)


def test_an_anchor_of_ones_own_is_read(folder: Path) -> None:
    anchor = load_anchor(folder)
    first, second = anchor.values
    assert (first.value, first.n, first.n_effective, first.low, first.high) == (
        0.5,
        100,
        90.5,
        0.4,
        0.6,
    )
    assert (first.year, first.gender, first.named) == (2020, "all", "Blind")
    assert (second.item, second.value, second.gender, second.n, second.year) == (
        "milk",
        0.25,
        "all",
        None,
        None,
    )
    assert (
        goffman("validate", folder).stdout
        == f"{folder} is valid: 2 values (2 items, 1 condition).\n"
    )
    assert [one.id for one in anchors_with([folder])][-1] == "tea"


def test_validate_names_every_fault(folder: Path) -> None:
    broken(folder, [("anchor.toml", '"profile"', '"profiles"'), ("values.csv", "2020", "20200")])
    done = goffman("validate", folder)
    assert done.returncode == 2
    assert "  anchor.toml, line 12: compare is 'profiles'. Allowed: profile, " in done.stderr
    assert "  values.csv, line 2: year is '20200'. Allowed: a whole number, " in done.stderr
    assert len(json.loads(goffman("validate", folder, "--json").stdout)["faults"]) == 2


def test_a_file_that_is_no_plain_file_is_refused(folder: Path) -> None:
    (folder / "values.csv").unlink()
    os.mkfifo(folder / "values.csv")
    with pytest.raises(AnchorError, match=r"is a named pipe\. Give a regular file"):
        load_anchor(folder)


def test_two_anchors_cannot_share_an_id(folder: Path) -> None:
    broken(folder, ("anchor.toml", 'id = "tea"', 'id = "pachankis2018"'))
    with pytest.raises(
        InputError, match=r"which another anchor already has\. Change id in anchor\.toml"
    ):
        anchors_with([folder])


def test_a_folder_without_a_toml_file_is_no_anchor(tmp_path: Path) -> None:
    with pytest.raises(AnchorError, match=r"anchor\.toml: not found in"):
        load_anchor(tmp_path)
