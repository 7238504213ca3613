"""A manifest's records: what is not known is kept, what is missing is an error."""

from __future__ import annotations

import json
import shutil

import pytest

from goffman.errors import RunError
from goffman.flow import audit
from goffman.options import AskOptions
from goffman.reports.model_card import model_card_text
from goffman.reports.run import read_run
from goffman.runs.entries import KINDS_BY_USE, Answered, AskedInstrument, Lexicons, Model
from goffman.runs.manifest import Manifest, asker_of, read_manifest, with_model, write_manifest


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
    assert Lexicons.of(lexicons).attitudes[0].ratings == 3
    assert Lexicons.of(lexicons).entry() == lexicons
    with pytest.raises(KeyError, match="digest"):
        AskedInstrument.of({"version": "1"})


def of_an_earlier_goffman(entry):
    """A model's entry as it was written before there were kinds."""
    uses = {kind: use for use, kind in KINDS_BY_USE.items()}
    rest = {name: value for name, value in entry.items() if name != "kind"}
    return {"use": uses[entry["kind"]], **rest}


def test_a_run_of_an_earlier_goffman_goes_on_and_asks_nothing_again(run, tmp_path):
    told = json.loads((run / "manifest.json").read_text())
    earlier = {name: of_an_earlier_goffman(entry) for name, entry in told["models"].items()}
    assert sorted(entry["use"] for entry in earlier.values()) == ["classify", "fill"]
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    (tmp_path / "manifest.json").write_text(json.dumps(told | {"models": earlier}))
    # Once, so that the parts are called as they were: by the entry with the use in it.
    shutil.rmtree(tmp_path / "answers")
    models, options = [*earlier], AskOptions(controls=False, limit=25)
    audit(models, output=tmp_path, options=options)
    again = audit(models, output=tmp_path, options=options)
    assert {one.asked_now for one in again.asked} == {0}
    assert json.loads((tmp_path / "manifest.json").read_text())["models"] == earlier
    kinds = [one.kind for one in read_manifest(tmp_path).models.values()]
    assert sorted(kinds) == ["classifier", "masked"]
    card = model_card_text(read_run(tmp_path), models[0])
    assert 'type: "fill-mask"' in card


def test_a_use_is_read_as_a_kind_and_another_kind_is_refused(run, tmp_path):
    name, entry = next(iter(json.loads((run / "manifest.json").read_text())["models"].items()))
    for use, kind in KINDS_BY_USE.items():
        earlier = {**of_an_earlier_goffman(entry), "use": use}
        there = Manifest(models={name: Model.of(earlier)})
        assert there.models[name].kind == kind
        assert with_model(there, tmp_path, name=name, entry={**entry, "kind": kind}) is there
        with pytest.raises(RunError, match=f"kind: {kind} then, toy now"):
            with_model(there, tmp_path, name=name, entry={**entry, "kind": "toy"})
    with pytest.raises(KeyError, match="guess"):
        Model.of({**entry, "use": "guess"})


def test_parts_of_an_earlier_goffman_are_known():
    """The digest was made by the goffman that wrote uses."""
    nothing = dict.fromkeys(("revision", "weights", "weights_sha256", "tokenizer_sha256"))
    earlier = {"use": "fill", "family": "bert", **nothing, "precision": "float32", "device": "cpu"}
    there = Manifest(models={"m": Model.of({**earlier, "cased": True, "notes": ["n"]})})
    assert asker_of(there, model="m", instrument="scale") == "a242e774c14dc6a1"
