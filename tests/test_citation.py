"""CITATION.cff: what a citation needs, in the fields of the Citation File Format 1.2.0."""

from __future__ import annotations

import datetime as dt
import tomllib
from typing import Any

import pytest
import yaml

import goffman
from doc_pages import ROOT

KNOWN = {
    *("cff-version", "message", "title", "abstract", "type", "authors", "license", "version"),
    *("date-released", "keywords", "references"),
}
"""Those fields of the format that the file has."""

OF_REFERENCES = {"type", "title", "year", "authors", "collection-title", "conference"}


@pytest.fixture(scope="module")
def citation() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return found


def test_it_has_what_a_citation_needs_and_nothing_that_the_format_does_not_know(
    citation: dict[str, Any],
) -> None:
    assert {*citation} == KNOWN
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert isinstance(citation["date-released"], dt.date)
    assert all({*one} == {"name"} and one["name"] for one in citation["authors"])
    for field in ("message", "title", "abstract"):
        assert len(citation[field]) > 20


def test_it_is_this_version_under_this_license(citation: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["version"] == goffman.__version__ == project["version"]
    # The weights that the package brings have terms of their own, which their card states.
    assert project["license"].split(" AND ")[0] == citation["license"]
    assert citation["authors"] == project["authors"]
    assert citation["keywords"] == project["keywords"]


def test_it_cites_the_studies_as_papers_made_with_goffman_do(citation: dict[str, Any]) -> None:
    path = ROOT / "src" / "goffman" / "export" / "for_paper" / "references.toml"
    works = tomllib.loads(path.read_text(encoding="utf-8"))
    cited = {one["title"]: one for one in citation["references"]}
    for study in ("mei2023", "lin2022", "briegel2023"):
        work, one = works[study], cited.pop(works[study]["title"])
        assert {*one} <= OF_REFERENCES
        authors = [f"{each['family-names']}, {each['given-names']}" for each in one["authors"]]
        assert " and ".join(authors) == work["author"]
        assert str(one["year"]) == work["year"]
        assert one.get("collection-title") == work.get("booktitle")
        assert one["type"] == ("conference-paper" if "booktitle" in work else "blog")
    assert cited == {}
