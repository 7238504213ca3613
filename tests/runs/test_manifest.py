"""A manifest keeps what it does not know, and knows by whom a run's parts and replies are."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from goffman.errors import RunError
from goffman.models.base import Identity, Sampling
from goffman.options import AskOptions
from goffman.pipeline import audit
from goffman.runs.batch_plan import BatchLimits
from goffman.runs.manifest import (
    LexiconEntries,
    Manifest,
    Model,
    model_entry,
    read_manifest,
    setup_digest,
    write_manifest,
)

IDENTITY = Identity(
    name="m",
    kind="classifier",
    family="bert",
    revision=None,
    weights="safetensors",
    weights_sha256="a" * 64,
    tokenizer_sha256="b" * 64,
    precision="float32",
    device="cpu",
)
LIMITS = BatchLimits(max_tokens=9, max_size=2, part_size=3)
LABELS = ("negative", "positive")
ENTRY = model_entry(IDENTITY, LIMITS, labels=LABELS)
CHAT = model_entry(IDENTITY, sampling=Sampling(), seed=0)


def setup(entry, *, model="m", instrument="scale", settings=None):
    manifest = Manifest(models={model: Model.of(entry)})
    return setup_digest(manifest, model=model, instrument=instrument, settings=settings)


OTHERS = {
    **{
        name: {**ENTRY, name: value}
        for name, value in {
            "weights_sha256": "c" * 64,
            "tokenizer_sha256": "c" * 64,
            "precision": "bf16",
            "revision": "abc",
            "device": "NVIDIA H200",
            "labels": LABELS[::-1],
        }.items()
    },
    "batches": model_entry(IDENTITY, replace(LIMITS, max_size=3), labels=LABELS),
    "chat": CHAT,
    "temperature": {**CHAT, "sampling": Sampling(temperature=0.0)},
    "seed": {**CHAT, "seed": 1},
    "address": {**CHAT, "address": "http://localhost/v1"},
}


def test_another_asker_is_known_as_another():
    setups = [setup(ENTRY), *map(setup, OTHERS.values())]
    setups += [setup(ENTRY, model="n"), setup(ENTRY, instrument="other")]
    setups.append(setup(ENTRY, settings={"top_k": 5}))
    assert {len(one) for one in setups} == {16}
    assert len({*setups}) == len(setups)


def test_askers_are_known_as_ever():
    """Parts and replies of a run bear these: another digest would be another model's."""
    assert (setup(ENTRY), setup(CHAT)) == ("f03032f5208adcee", "a1fb204ef179d927")


def test_remarks_and_when_sentences_are_prepared_change_nothing():
    noted = replace(IDENTITY, notes=("The mask was repaired.",))
    entry = model_entry(noted, replace(LIMITS, first_block=7, enough=8), labels=LABELS)
    assert setup({**entry, "deviation": {"largest_difference": 0.1}}) == setup(ENTRY)


@pytest.fixture(scope="module")
def run(tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("entries") / "run"
    models = [str(tiny("bert")), str(tiny("bert", labels=("NEG", "POS")))]
    audit(models, output=folder, options=AskOptions(controls=False, limit=25))
    return folder


@pytest.fixture
def content(run):
    return json.loads((run / "manifest.json").read_text())


def rewritten(content, folder):
    """The content of a manifest after it was read and written."""
    path = folder / "manifest.json"
    path.write_text(json.dumps(content))
    write_manifest(folder, read_manifest(folder))
    return json.loads(path.read_text())


def test_a_manifest_is_written_as_it_was_read_with_what_a_later_goffman_wrote(content, tmp_path):
    assert rewritten(content, tmp_path) == content
    content["tomorrow"] = [1, {"a": None}]
    for entry in content["models"].values():
        entry["aura"] = "green"
    for entry in content["instruments"].values():
        entry["called"]["nickname"] = "x"
    assert rewritten(content, tmp_path) == content


def test_an_entry_that_lacks_a_field_or_has_an_unknown_setting_is_refused(content, tmp_path):
    entry = next(entry for entry in content["instruments"].values() if "settings" in entry)
    # Who does not know a setting does not know how the answers came about.
    entry["settings"]["beam"] = 1
    with pytest.raises(RunError, match=r"was damaged or edited \(TypeError: .* argument 'beam'\)"):
        rewritten(content, tmp_path)
    del entry["settings"]["beam"], entry["version"]
    with pytest.raises(RunError, match=r"was damaged or edited \(KeyError: 'version'\)"):
        rewritten(content, tmp_path)


def test_records_lie_within_records():
    lexicons = {"attitudes": [{"file": "a.csv", "sha256": "1", "ratings": 3}], "parser": "v1"}
    assert LexiconEntries.of(lexicons).attitudes[0].ratings == 3
    assert LexiconEntries.of(lexicons).entry() == lexicons
