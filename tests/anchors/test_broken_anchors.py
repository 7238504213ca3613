"""Every kind of broken anchor, and what is said of it, word for word."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from goffman.anchors.loader import anchors_with, load_anchor
from goffman.errors import AnchorError, InputError
from in_process import goffman

TOML = """\
id = "tea"
version = "1"
title = "Who drinks tea"
citation = "Nobody (2026)"
terms = "CC0-1.0"
country = "Nowhere"
year = "2026"
population = "ten people"
unit = "share"
lowest = 0.0
highest = 1.0
compare = "profile"
of = "condition"
instruments = ["social-distance"]
limits = ["It is made up."]

[[items]]
id = "tea"
name = "tea"
meaning = "drinks tea"

[[items]]
id = "milk"
name = "milk"
meaning = "takes milk"
"""
VALUES = """\
item,condition,gender,year,value,n,n_effective,low,high,named
tea,blind,all,2020,0.5,100,90.5,0.4,0.6,Blind
milk,blind,,,0.25,,,,,
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "tea"
    folder.mkdir()
    (folder / "anchor.toml").write_text(TOML, encoding="utf-8")
    (folder / "values.csv").write_text(VALUES, encoding="utf-8")
    return folder


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


FAULTS = {
    ("anchor.toml", 'id = "tea"\nversion', 'id = "Tea!"\nversion'): "anchor.toml, line 1: id is 'Tea!'. Allowed: up to 64 lower-case letters, digits and single hyphens, such as 'social-distance'.",
    ("anchor.toml", 'country = "Nowhere"\n', ""): "anchor.toml: the key 'country' is missing.",
    ("anchor.toml", "country", "contry"): "anchor.toml, line 6: unknown key 'contry'. Allowed: id, version, title, citation, terms, country, year, population, unit, compare, of, whose, set_apart, lowest, highest, design_effect, instruments, limits, items, wordings, own_texts. Did you mean 'country'?",
    ("anchor.toml", '"profile"', '"profiles"'): "anchor.toml, line 12: compare is 'profiles'. Allowed: profile, difference. Did you mean 'profile'?",
    ("anchor.toml", 'lowest = 0.0', "lowest = true"): "anchor.toml, line 10: lowest must be a number, such as 0.0.",
    ("anchor.toml", 'highest = 1.0', "highest = 1.0\ndesign_effect = 0.5"): "anchor.toml, line 12: design_effect must be a number from 1 to 10, such as 1.5.",
    ("anchor.toml", 'highest = 1.0', 'highest = 1.0\ndesign_effect = 1.5'): 'anchor.toml, line 12: design_effect is allowed with compare = "difference" only.',
    ("anchor.toml", 'highest = 1.0', "highest = -1"): "anchor.toml, line 11: highest must be above lowest.",
    ("anchor.toml", 'highest = 1.0\ncompare = "profile"', 'compare = "difference"'): 'anchor.toml, line 11: compare is "difference", so the values are shares: lowest = 0.0, highest = 1.0.',
    ("anchor.toml", '["social-distance"]', "[]"): 'anchor.toml, line 14: instruments must be a list of 1 to 100 ids, such as ["vignettes"].',
    ("anchor.toml", 'limits =', 'wordings = ["scale"]\nlimits ='): 'anchor.toml, line 15: wordings is allowed with compare = "difference" only.',
    ("anchor.toml", 'limits =', 'own_texts = ["x"]\nlimits ='): 'anchor.toml, line 15: own_texts is allowed with compare = "difference" only.',
    ("anchor.toml", 'limits =', 'wordings = "scale"\nlimits ='): 'anchor.toml, line 15: wordings must be a list of 1 to 100 ids, such as ["scale"].',
    ("anchor.toml", 'limits =', 'set_apart = "cups that are over"\nlimits ='): "anchor.toml: set_apart says what those conditions are that have yes in set_apart: give both.",
    ("anchor.toml", 'limits =', f'whose = "{"w" * 61}"\nlimits ='): "anchor.toml, line 15: whose has 61 characters. Allowed: up to 60.",
    ("anchor.toml", '["It is made up."]', '"made up"'): 'anchor.toml, line 15: limits must be a list of sentences, such as ["All names are from one country."].',
    ("anchor.toml", 'id = "milk"', 'id = "tea"'): "anchor.toml, line 23: the item 'tea' appears twice.",
    ("anchor.toml", 'name = "milk"', 'name = "tea"'): "anchor.toml, line 24: the name 'tea' appears twice.",
    ("anchor.toml", 'name = "milk"', f'name = "{"m" * 61}"'): "anchor.toml, line 24: name in [[items]] has 61 characters. Allowed: up to 60.",
    ("anchor.toml", 'meaning = "takes milk"', ""): "anchor.toml: the key 'meaning' is missing in [items].",
    ("values.csv", "item,condition", "item,kondition"): "values.csv, line 1: unknown column 'kondition'. Allowed: condition, value, item, gender, year, n, n_effective, low, high, named, set_apart. Did you mean 'condition'?",
    ("values.csv", "milk,blind", "mlk,blind"): "values.csv, line 3: item is 'mlk'. Allowed: tea, milk. Did you mean 'milk'?",
    ("values.csv", "milk,blind", ",blind"): "values.csv, line 3: item is empty. Allowed: tea, milk.",
    ("values.csv", "all,2020", "both,2020"): "values.csv, line 2: gender is 'both'. Allowed: all, female, male.",
    ("values.csv", "2020", "20200"): "values.csv, line 2: year is 20200. Allowed: 1800 to 2200.",
    ("values.csv", "0.5,100", "1.5,100"): "values.csv, line 2: value is 1.5. Allowed: 0 to 1.",
    ("values.csv", "0.5,100", "0.7,100"): "values.csv, line 2: value is 0.7. It must lie between low (0.4) and high (0.6).",
    ("values.csv", "0.5,100", "nan,100"): "values.csv, line 2: value is 'nan'. It must be a number such as 0.35.",
    ("values.csv", "0.5,100", "5e-1,100"): "values.csv, line 2: value is '5e-1'. It must be a number such as 0.35.",
    ("values.csv", "0.5,100", "0.5,1.5"): "values.csv, line 2: n is '1.5'. It must be a whole number.",
    ("values.csv", "0.4,0.6", "0.4,"): "values.csv, line 2: low and high go together: give both or none.",
    ("values.csv", "milk,blind,,", "tea,blind,all,2020"): "values.csv, line 3: tea, blind, all, 2020 is in line 2 already.",
    ("values.csv", "milk,blind,,,0.25,,,,,\n", ""): "values.csv: there is no row of the item 'milk'.",
}  # fmt: skip


@pytest.mark.parametrize(("change", "said"), FAULTS.items())
def test_a_fault_is_named_by_file_and_line(
    folder: Path, change: tuple[str, str, str], said: str
) -> None:
    name, old, new = change
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(AnchorError) as error:
        load_anchor(folder)
    assert said in [str(fault) for fault in error.value.faults]
    done = goffman("validate", folder)
    assert done.returncode == 2
    assert f"  {said}\n" in done.stderr
    found = json.loads(goffman("validate", folder, "--json").stdout)
    assert len(found["faults"]) == len(error.value.faults)


def test_a_file_that_is_no_plain_file_is_refused(folder: Path) -> None:
    (folder / "values.csv").unlink()
    os.mkfifo(folder / "values.csv")
    with pytest.raises(AnchorError, match=r"is a named pipe\. Give a regular file"):
        load_anchor(folder)


def test_two_anchors_cannot_share_an_id(folder: Path) -> None:
    text = TOML.replace('id = "tea"\nversion', 'id = "pachankis2018"\nversion')
    (folder / "anchor.toml").write_text(text, encoding="utf-8")
    with pytest.raises(
        InputError, match=r"which another anchor already has\. Change id in anchor\.toml"
    ):
        anchors_with([folder])


def test_a_folder_without_a_toml_file_is_no_anchor(tmp_path: Path) -> None:
    with pytest.raises(AnchorError, match=r"anchor\.toml: not found in"):
        load_anchor(tmp_path)
