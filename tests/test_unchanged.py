"""A finished run is taken as it is while nothing changed; after any change it is measured anew."""

from __future__ import annotations

import json
import shutil

import pytest

from goffman import fingerprint
from goffman.errors import RunError
from goffman.execution import Executor
from goffman.models.base import LoadOptions
from goffman.options import Listener
from goffman.pipeline import AskOptions, MeasureOptions, audit
from goffman.runs import code_digest, collect

FEW = AskOptions(limit=4)


@pytest.fixture(scope="module")
def masked(tiny):
    return str(tiny("roberta"))


@pytest.fixture(scope="module")
def finished(masked, tmp_path_factory):
    """A run, and what was said of it."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    done = audit([masked], instruments=["attribution"], output=folder, options=FEW)
    return folder, done


@pytest.fixture
def again(finished, masked, tmp_path, monkeypatch):
    """An audit of a copy: how often it loaded the model, planned a step and measured; its return."""
    folder = shutil.copytree(finished[0], tmp_path / "run")
    made = {"measured": 0, "steps": 0, "loaded": 0}

    def count(what, where, name):
        real = getattr(where, name)

        def counting(*given, **told):
            made[what] += 1
            return real(*given, **told)

        monkeypatch.setattr(where, name, counting)

    count("measured", fingerprint, "measure_run")
    count("steps", collect._Step, "ask")
    count("loaded", Executor, "load")

    def run(*, options=FEW, **told):
        made.update(measured=0, steps=0, loaded=0)
        done = audit([masked], instruments=["attribution"], output=folder, options=options, **told)
        return dict(made), done

    run.folder = folder
    return run


def tables(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


def test_nothing_is_made_again_where_nothing_changed_and_the_same_is_said(again, finished):
    before, manifest = tables(again.folder), (again.folder / "manifest.json").read_bytes()
    made, done = again()
    assert made == {"measured": 0, "steps": 0, "loaded": 0}
    assert done.summary == finished[1].summary
    assert done.summary
    assert [one.sentences for one in done.asked] == [one.sentences for one in finished[1].asked]
    assert [one.rows for one in done.asked] == [one.rows for one in finished[1].asked]
    assert tables(again.folder) == before
    assert (again.folder / "manifest.json").read_bytes() == manifest


def test_a_table_or_prompts_that_are_gone_or_damaged_are_made_again(again):
    before = tables(again.folder)
    for name, made in (("estimates", "measured"), ("scores", "measured"), ("prompts", "loaded")):
        path = again.folder / f"{name}.parquet"
        for damage in (path.unlink, lambda path=path: path.write_bytes(b"no table")):
            damage()
            assert again()[0][made] == 1
            assert tables(again.folder) == before


def test_another_seed_or_other_ratings_are_measured_anew(again, tmp_path):
    made, _ = again(options=AskOptions(limit=4, seed=1))
    assert made == {"measured": 1, "steps": 0, "loaded": 0}
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("word,label\nlikely,negative\n")
    measuring = MeasureOptions(ratings=(ratings,))
    assert again(measuring=measuring)[0]["measured"] == 1
    assert again(measuring=measuring)[0]["measured"] == 0
    ratings.write_text("word,label\nlikely,positive\n")
    assert again(measuring=measuring)[0]["measured"] == 1


def test_other_code_measures_anew_and_looks_at_the_answers_again(again, monkeypatch):
    before, sessions = tables(again.folder), sessions_of(again.folder)
    for module in (collect, fingerprint):
        monkeypatch.setattr(module, "code_digest", lambda: "another")
    made, done = again()
    assert made == {"measured": 1, "steps": 3, "loaded": 1}
    assert [one.asked_now for one in done.asked] == [0]
    assert tables(again.folder) == before
    assert sessions_of(again.folder) == sessions


def sessions_of(folder):
    return json.loads((folder / "manifest.json").read_text())["sessions"]


def test_the_code_s_digest_changes_with_any_of_its_files(tmp_path, monkeypatch):
    package = tmp_path / "goffman" / "runs"
    package.mkdir(parents=True)
    monkeypatch.setattr(code_digest, "__file__", str(package / "source.py"))
    digests = set()
    for name, text in (("a.py", "1"), ("a.py", "2"), ("b.py", "2")):
        (package / name).write_text(text)
        digests.add(code_digest.code_digest.__wrapped__())
    assert len(digests) == 3
    (package / "b.py").unlink()
    assert code_digest.code_digest.__wrapped__() in digests


def test_a_damaged_part_of_the_answers_is_asked_again_and_all_is_measured(again):
    before = tables(again.folder)
    part = next((again.folder / "answers").rglob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-1])
    made, done = again()
    assert made == {"measured": 0, "steps": 3, "loaded": 1}
    assert done.asked[0].asked_now > 0
    assert tables(again.folder) == before


def test_paraphrases_that_are_asked_or_damaged_are_a_change(again):
    more = AskOptions(limit=4, paraphrases=True)
    assert again(options=more)[0]["measured"] == 1
    assert again(options=more)[0]["measured"] == 0
    assert again()[0]["measured"] == 0
    part = next((again.folder / "paraphrases" / "answers").rglob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-1])
    assert again()[0]["measured"] == 1


def test_what_is_said_of_a_model_is_said_again_where_it_is_not_loaded(masked, tmp_path):
    options = AskOptions(limit=4, targets=("no such word", "woman"))
    asked = {"instruments": ["coreference"], "output": tmp_path / "run", "options": options}
    notes = [[], []]
    found = [audit([masked], **asked, listener=Listener(note=said.append)) for said in notes]
    assert notes[0] == notes[1]
    assert any("splits these words into several tokens" in said for said in notes[0])
    first, second = (one.asked[0].not_one_token for one in found)
    assert first == second
    assert "no such word" in first
    assert [one.asked[0].asked_now > 0 for one in found] == [True, False]


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_model_whose_files_have_changed_is_another_one(tiny, tmp_path, name):
    model = shutil.copytree(tiny("roberta"), tmp_path / "model")
    asked = {"instruments": ["attribution"], "output": tmp_path / "run", "options": FEW}
    audit([str(model)], **asked)
    path = model / name
    if name.endswith(".json"):
        path.write_text(path.read_text() + "\n")
    else:
        content = bytearray(path.read_bytes())
        content[-4] ^= 1
        path.write_bytes(content)
    with pytest.raises(RunError, match=r"different weights|a different tokenizer"):
        audit([str(model)], **asked)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"options": AskOptions(limit=4, batch_size=3)}, "max size"),
        ({"options": AskOptions(limit=4, top_k=12)}, "top k"),
        ({"options": AskOptions(limit=8)}, "prompts then"),
        ({"loading": LoadOptions(precision="bf16")}, "precision"),
    ],
)
def test_an_option_that_changes_what_is_asked_is_noticed(again, told, message):
    with pytest.raises(RunError, match=message):
        again(**told)


def test_other_meanings_of_a_classifier_s_labels_are_noticed(tiny, tmp_path):
    model = str(tiny("bert", labels=("NEG", "POS")))
    asked = {"instruments": ["people-sentiment"], "output": tmp_path / "run", "options": FEW}
    audit([model], **asked)
    turned = LoadOptions(labels={"NEG": "positive", "POS": "negative"})
    with pytest.raises(RunError, match="labels"):
        audit([model], **asked, loading=turned)


def test_a_model_with_code_of_its_own_is_loaded_every_time(again):
    own = LoadOptions(trust_remote_code=True)
    assert [again(loading=own)[0]["loaded"] for _ in range(2)] == [1, 1]


def test_another_instrument_is_asked_and_what_there_was_is_kept(again, masked):
    before = tables(again.folder)
    both = {"instruments": ["attribution", "care-seeking"], "output": again.folder, "options": FEW}
    done = audit([masked], **both)
    assert [one.asked_now > 0 for one in done.asked] == [False, True]
    made, done = again()
    assert made == {"measured": 0, "steps": 0, "loaded": 0}
    assert tables(again.folder).keys() == before.keys()


def test_a_part_of_the_answers_that_is_gone_renamed_or_one_too_many_is_noticed(again):
    before = tables(again.folder)
    folder = next((again.folder / "answers").rglob("*.parquet")).parent
    first, *_, last = sorted(folder.iterdir())
    whole = {path.name for path in folder.iterdir()}
    last.unlink()
    assert again()[0]["loaded"] == 1
    first.rename(first.with_name(first.name.replace("-00000-", "-00077-")))
    assert again()[0]["loaded"] == 1
    shutil.copy(folder / first.name, folder / first.name.replace("-00000-", "-00077-"))
    assert again()[0]["loaded"] == 1
    assert {path.name for path in folder.iterdir()} == whole
    assert tables(again.folder) == before
    assert again()[0]["loaded"] == 0
