"""A manifest's records: what is not known is kept, what is missing is an error."""

from __future__ import annotations

import json

import pytest

from goffman.errors import RunError
from goffman.options import AskOptions
from goffman.pipeline import audit
from goffman.runs.manifest import (
    Answered,
    AskedInstrument,
    LexiconEntries,
    read_manifest,
    write_manifest,
)


@pytest.fixture(scope="module")
def run(tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("entries") / "run"
    models = [str(tiny("bert")), str(tiny("bert", labels=("NEG", "POS")))]
    audit(models, output=folder, options=AskOptions(controls=False, limit=25))
    return folder


def test_a_manifest_that_is_read_and_written_is_the_same(run, tmp_path):
    write_manifest(tmp_path, read_manifest(run))
    before, after = (json.loads((one / "manifest.json").read_text()) for one in (run, tmp_path))
    assert after == before


def test_what_a_later_goffman_wrote_is_kept(run, tmp_path):
    told = json.loads((run / "manifest.json").read_text())
    told["tomorrow"] = [1, {"a": None}]
    for entry in told["models"].values():
        entry["aura"] = "green"
    for entry in told["instruments"].values():
        entry["called"]["nickname"] = "x"
    (tmp_path / "manifest.json").write_text(json.dumps(told))
    write_manifest(tmp_path, read_manifest(tmp_path))
    assert json.loads((tmp_path / "manifest.json").read_text()) == told


def test_an_entry_without_what_it_must_have_is_no_manifest(run, tmp_path):
    told = json.loads((run / "manifest.json").read_text())
    del next(iter(told["instruments"].values()))["version"]
    (tmp_path / "manifest.json").write_text(json.dumps(told))
    with pytest.raises(RunError, match=r"was damaged or edited \(KeyError: 'version'"):
        read_manifest(tmp_path)


def test_records_know_their_fields_and_what_lies_within():
    entry = {"table": "fills", "sentences": None, "rows": None, "parts": None}
    assert Answered.of(entry).parts is None
    assert Answered.of(entry).entry() == entry
    lexicons = {"attitudes": [{"file": "a.csv", "sha256": "1", "ratings": 3}], "parser": "v1"}
    assert LexiconEntries.of(lexicons).attitudes[0].ratings == 3
    assert LexiconEntries.of(lexicons).entry() == lexicons
    with pytest.raises(KeyError, match="digest"):
        AskedInstrument.of({"version": "1"})
