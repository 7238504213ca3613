"""Every prompt is answered once, from disk where it was answered before."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
from contextlib import suppress
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from asking import LIMITS, asking, prompts_of
from goffman.errors import AskingError, RunError
from goffman.models.base import not_a_number
from goffman.models.resolve import load
from goffman.runs.answers import answers_folder
from goffman.runs.collect import ask_batches
from goffman.runs.manifest import Manifest, read_manifest, write_manifest
from goffman.runs.mode_adapters import Classify, FillMask
from goffman.runs.recursive_masking import Settings
from goffman.runs.run import read_answers
from goffman.schemas import FILLS, LABELS, complaints
from tiny_models import sentences

TEXTS = sentences()[::11]
SETTINGS = Settings(top_k=5)


@pytest.fixture(scope="module")
def model(tiny):
    return load(str(tiny("roberta")), kind="masked")


@pytest.fixture(scope="module")
def undisturbed(model, tmp_path_factory):
    """A run that nothing happened to."""
    folder = tmp_path_factory.mktemp("undisturbed")
    ask(folder, model)
    return folder


def ask(folder, model, prompts=None, *, settings=SETTINGS, watch=lambda _: None):
    with asking(folder, model, prompts or prompts_of(TEXTS), watch=watch) as job:
        return ask_batches(job, FillMask(model, settings))


def files(folder):
    """Every part's name, and with it the checksum of its bytes."""
    return sorted(path.name for path in (folder / "answers").rglob("*.parquet"))


def test_answers_to_some_prompts_alone_are_those_of_all_that_answer_them(undisturbed):
    fills = read_answers(undisturbed, "fills")
    some = fills["prompt_id"].unique().sort().head(2)
    found = read_answers(undisturbed, "fills", prompts=some)
    assert found.equals(fills.filter(pl.col("prompt_id").is_in(some.to_list())))
    assert 0 < found.height < fills.height


def test_each_prompt_has_its_own_model_s_answer(model, undisturbed):
    fills = read_answers(undisturbed, "fills")
    assert complaints(fills, FILLS) == []
    assert fills.height == len(TEXTS) * 5
    assert set(fills["model"]) == {model.identity.name}
    for prompt in prompts_of(TEXTS):
        alone = model.fill_batch(model.encode([prompt.text]), top_k=5)
        rows = fills.filter(pl.col("prompt_id") == prompt.id)
        assert rows["rank"].to_list() == [1, 2, 3, 4, 5]
        assert rows["token"].to_list() == [model.tokens[token] for token in alone.token_ids[0]]
        assert rows["word"].to_list() == [token.strip() for token in rows["token"]]
        assert rows["probability"].to_numpy() == pytest.approx(alone.probabilities[0], rel=1e-4)


def test_a_target_outside_the_top_k_has_its_probability_and_no_rank(model, tmp_path):
    words = ("friend", "likely", "woman", "no such word at all")
    prompts = prompts_of(TEXTS[:20])
    asked = ask(tmp_path, model, prompts, settings=Settings(top_k=5, targets=words))
    assert asked.not_one_token == ("no such word at all",)
    fills = read_answers(tmp_path, "fills")
    ids, _ = model.single_tokens(words)
    assert fills["rank"].null_count() > 0
    for prompt in prompts:
        everything = model.fill_batch(model.encode([prompt.text]), top_k=len(model.tokens))
        order = everything.token_ids[0].tolist()
        rows = fills.filter(pl.col("prompt_id") == prompt.id)
        assert rows.height == 5 + rows["rank"].null_count()
        for token in ids.values():
            (row,) = rows.filter(pl.col("token") == model.tokens[token]).rows(named=True)
            place = order.index(token)
            assert row["rank"] == (place + 1 if place < 5 else None)
            expected = everything.probabilities[0, place]
            assert row["probability"] == pytest.approx(expected, rel=1e-4)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    entry = manifest["answers"][model.identity.name]["scale"]
    assert entry["not_one_token"] == ["no such word at all"]


@pytest.mark.parametrize("labels", [("NEG", "POS"), ("positive", "neutral", "negative")])
def test_labels_have_every_class_of_the_model_and_null_for_what_it_has_not(tiny, tmp_path, labels):
    model = load(str(tiny("bert", labels=labels)), kind="classifier")
    prompts = prompts_of([text.replace("<mask>", "likely") for text in TEXTS])
    with asking(tmp_path, model, prompts) as job:
        assert ask_batches(job, Classify(model)).rows == len(prompts)
    table = read_answers(tmp_path, "labels")
    assert complaints(table, LABELS) == []
    for prompt in prompts:
        alone = model.classify_batch(model.encode([prompt.text]))[0]
        row = table.filter(pl.col("prompt_id") == prompt.id).row(0, named=True)
        assert row["label"] == model.labels[alone.argmax()]
        for name in ("negative", "neutral", "positive"):
            if name in model.labels:
                assert row[name] == pytest.approx(alone[model.labels.index(name)], rel=1e-4)
            else:
                assert row[name] is None


def test_the_order_of_the_prompts_does_not_change_a_byte(model, undisturbed, tmp_path):
    ask(tmp_path, model, random.Random(0).sample(prompts_of(TEXTS), len(TEXTS)))
    assert files(tmp_path) == files(undisturbed)


def test_what_is_on_disk_is_not_asked_again(model, undisturbed):
    before = (undisturbed / "manifest.json").read_bytes()
    assert ask(undisturbed, model).asked_now == 0
    assert (undisturbed / "manifest.json").read_bytes() == before


def test_a_run_that_was_stopped_asks_only_the_rest_and_ends_the_same(model, undisturbed, tmp_path):
    seen = []

    def stop(progress):
        seen.append(progress)
        if progress.done > 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(tmp_path, model, watch=stop)
    stopped = files(tmp_path)
    assert 0 < len(stopped) < len(files(undisturbed))
    assert set(stopped) < set(files(undisturbed))
    with pytest.raises(RunError) as refusal:
        read_answers(tmp_path, "fills")
    folder = answers_folder(tmp_path, "fills", model=model.identity.name, instrument="scale").path
    assert str(refusal.value) == (
        f"{folder} has {len(stopped)} of an unknown number of parts, so answers "
        f"of {model.identity.name} to scale are missing. Run the goffman audit command with "
        f"{model.identity.name} again: it asks only what is missing."
    )
    asked = ask(tmp_path, model, watch=seen.append)
    assert 0 < asked.asked_now < asked.sentences == len(TEXTS)
    assert files(tmp_path) == files(undisturbed)
    assert read_answers(tmp_path, "fills").equals(read_answers(undisturbed, "fills"))
    sessions = read_manifest(tmp_path).sessions
    assert len(sessions) == 2
    assert sum(session.sentences for session in sessions) == len(TEXTS)
    assert all(session.ended and session.wall_s > 0 and session.cpu_s > 0 for session in sessions)


class Otherwise:
    """A real model whose tokenizer came to split some words otherwise."""

    def __init__(self, model):
        self._model = model

    def __getattr__(self, name):
        return getattr(self._model, name)

    def encode(self, texts):
        return self._model.encode([text.replace("neighbor", "neigh bor") for text in texts])


@pytest.mark.parametrize("stop_at", [40, None])
def test_answers_to_sentences_that_a_tokenizer_now_splits_otherwise_are_asked_again(
    model, undisturbed, tmp_path, stop_at
):
    """Stopped or finished: nothing that was answered before stands for another sentence."""

    def stop(progress):
        if stop_at and progress.done > stop_at:
            raise KeyboardInterrupt

    settings = Settings(top_k=5, depth=2, width=2)
    with suppress(KeyboardInterrupt):
        ask(tmp_path / "run", model, settings=settings, watch=stop)
    before = set(files(tmp_path / "run"))
    changed = Otherwise(model)
    asked = ask(tmp_path / "run", changed, settings=settings)
    ask(tmp_path / "anew", changed, settings=settings)
    assert files(tmp_path / "run") == files(tmp_path / "anew")
    assert read_answers(tmp_path / "run", "fills").equals(read_answers(tmp_path / "anew", "fills"))
    gone = before - set(files(tmp_path / "run"))
    assert gone
    assert asked.remarks == (
        f"Stored files without this model's answers to these prompts: {len(gone)}. The prompts "
        "were asked again. The files come from another run, an earlier goffman or another version "
        "of the tokenizers package.",
    )
    assert ask(tmp_path / "run", changed, settings=settings).remarks == ()


def test_progress_counts_to_the_end(model, tmp_path):
    seen = []
    ask(tmp_path, model, settings=Settings(top_k=3, depth=2, width=2), watch=seen.append)
    assert [progress.step for progress in seen] == sorted(progress.step for progress in seen)
    for step in (1, 2):
        of_step = [progress for progress in seen if progress.step == step]
        assert of_step[0].done == 0
        assert of_step[-1].done == of_step[-1].total
        assert [p.done for p in of_step] == sorted({p.done for p in of_step})
        assert {progress.steps for progress in of_step} == {2}


def flip(path):
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)


DAMAGES = {
    "a flipped bit": flip,
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:200]),
    "empty": lambda path: path.write_bytes(b""),
    "no checksum": lambda path: path.rename(path.with_name("1-00001.parquet.bak")),
    "gone": lambda path: path.unlink(),
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("step", [1, 2])
def test_a_damaged_part_is_asked_again_with_the_same_result(model, tmp_path, damage, step):
    settings = Settings(top_k=3, depth=2, width=2)
    ask(tmp_path, model, settings=settings)
    before, rows = files(tmp_path), read_answers(tmp_path, "fills")
    (part,) = (tmp_path / "answers").rglob(f"{step}-00001-*.parquet")
    damage(part)
    with pytest.raises(RunError):
        read_answers(tmp_path, "fills")
    again = ask(tmp_path, model, settings=settings)
    assert 0 < again.asked_now < again.sentences
    assert files(tmp_path) == before
    assert read_answers(tmp_path, "fills").equals(rows)
    gone = damage in (DAMAGES["gone"], DAMAGES["no checksum"])
    assert len(again.damaged) == (0 if gone else 1)


def test_a_run_on_a_full_disk_ends_with_a_message_and_goes_on_later(model, undisturbed, small_disk):
    """Real room runs out; then room is made."""
    run = small_disk / "run"
    (run).mkdir()
    ballast = small_disk / "ballast"
    room = os.statvfs(small_disk)
    ballast.write_bytes(bytes(room.f_bavail * room.f_frsize - 24_000))
    with pytest.raises(AskingError) as failure:
        ask(run, model)
    assert str(failure.value).startswith(f"The disk is full: {run}")
    assert "(No space left on device)" in str(failure.value)
    kept = files(run)
    assert kept
    ballast.unlink()
    assert ask(run, model).asked_now < len(TEXTS)
    assert files(run) == files(undisturbed)


def test_a_model_that_fails_is_told_and_what_was_answered_is_kept(model, undisturbed, tmp_path):
    failing = Failing(model, after=5)
    with pytest.raises(AskingError) as failure:
        ask(tmp_path, failing)
    count, longest = failing.last
    assert str(failure.value) == (
        f"{model.identity.name} failed on {count} sentences of up to {longest} tokens of scale: "
        "CUDA error: device-side assert triggered All answers so far are kept. To resume, run "
        "the same command again."
    )
    assert files(tmp_path)
    ask(tmp_path, model)
    assert files(tmp_path) == files(undisturbed)


def test_a_probability_that_is_not_a_number_never_gets_into_a_table(model, tmp_path):
    with pytest.raises(AskingError) as failure:
        ask(tmp_path, Failing(model, after=0, with_nan=True))
    assert (
        "it gave a probability that is not a number. Its weights contain NaN or infinity, or "
        "its numbers get too large for float32. Download or save the model again. All "
        "answers so far are kept." in str(failure.value)
    )
    assert not_a_number("bf16") == (
        "it gave a probability that is not a number. Use --precision float32."
    )
    assert files(tmp_path) == []


class Failing:
    """A real model that breaks down after some batches, as a device may."""

    def __init__(self, model, *, after, with_nan=False):
        self._model, self._left, self._with_nan = model, after, with_nan

    def __getattr__(self, name):
        return getattr(self._model, name)

    def fill_batch(self, encoded, **options):
        filled = self._model.fill_batch(encoded, **options)
        self._left -= 1
        if self._left >= 0:
            return filled
        self.last = len(encoded), len(encoded[0])
        if self._with_nan:
            return replace(filled, probabilities=filled.probabilities * np.float32("nan"))
        raise RuntimeError("CUDA error: device-side assert triggered\nmore lines")


def test_answers_without_a_manifest_are_no_one_s(model, undisturbed, tmp_path):
    ask(tmp_path, model)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(RunError) as refusal:
        ask(tmp_path, model)
    assert str(refusal.value) == (
        f"{tmp_path} has answers but no manifest.json, so it is unknown which model gave them. "
        "Put the file back, or give another folder with --output."
    )


def test_another_model_under_the_same_name_is_refused(model, undisturbed):
    other = Renamed(model, weights_sha256="0" * 64, precision="bf16")
    with pytest.raises(RunError) as refusal:
        ask(undisturbed, other)
    identity = model.identity
    assert str(refusal.value) == (
        f"{undisturbed} already has answers of '{identity.name}' with different settings ("
        "different weights; precision: float32 then, bf16 now). The two cannot be mixed. Give another "
        "folder with --output, or use the same options as before."
    )


class Renamed:
    """A real model that says it is another."""

    def __init__(self, model, **identity):
        self._model = model
        self.identity = replace(model.identity, **identity)

    def __getattr__(self, name):
        return getattr(self._model, name)


def test_two_models_answers_stand_apart_in_one_run(model, tiny, tmp_path):
    second = load(str(tiny("bert")), kind="masked")
    ask(tmp_path, model)
    ask(tmp_path, second)
    fills = read_answers(tmp_path, "fills")
    assert fills.group_by("model").len().sort("model").rows() == sorted(
        [(model.identity.name, len(TEXTS) * 5), (second.identity.name, len(TEXTS) * 5)]
    )
    assert len(list((tmp_path / "answers" / "fills").iterdir())) == 2


def test_a_manifest_of_another_format_or_no_manifest_at_all_is_refused(tmp_path):
    path = tmp_path / "manifest.json"
    path.write_text('{"format": 99}')
    with pytest.raises(RunError) as refusal:
        read_manifest(tmp_path)
    assert str(refusal.value) == (
        f"{path} has format 99, but this version of goffman reads format 4. Use the version of "
        "goffman that wrote it, or give another folder with --output."
    )
    path.write_text("{")
    with pytest.raises(RunError, match="was damaged or edited"):
        read_manifest(tmp_path)


def test_the_manifest_reads_back_as_it_was_written(undisturbed, tmp_path):
    manifest = read_manifest(undisturbed)
    write_manifest(tmp_path, manifest)
    assert read_manifest(tmp_path) == manifest
    session = manifest.sessions[0]
    assert set(session.versions) == {
        *("goffman", "python", "torch", "transformers", "tokenizers", "polars", "numpy"),
        *("scipy", "openai"),
    }
    assert vars(manifest.models[next(iter(manifest.models))].batches) == {
        "max_tokens": LIMITS.max_tokens,
        "max_size": LIMITS.max_size,
        "part_size": LIMITS.part_size,
    }


@pytest.fixture(scope="module")
def retrained(tiny, tmp_path_factory):
    """Two models that lay at one path, one after the other: the run of each."""
    base = tmp_path_factory.mktemp("retrained")
    runs = []
    for seed in (0, 1):
        shutil.rmtree(base / "model", ignore_errors=True)
        shutil.copytree(tiny("roberta", seed=seed), base / "model")
        model = load(str(base / "model"), kind="masked")
        ask(base / str(seed), model)
        runs.append(base / str(seed))
    assert not set(files(runs[0])) & set(files(runs[1]))
    return *runs, model


def parts_of(folder):
    return sorted((folder / "answers").rglob("*.parquet"))


def test_parts_of_other_weights_under_the_same_path_are_refused_and_asked_again(
    retrained, tmp_path
):
    """They answer the same sentences, in a folder of the same name, in a table of the same form."""
    first, second, model = retrained
    run = shutil.copytree(second, tmp_path / "run")
    (folder,) = {path.parent for path in parts_of(run)}
    parts_of(run)[0].unlink()
    shutil.copy(parts_of(first)[0], folder)
    with pytest.raises(RunError) as refusal:
        read_answers(run, "fills")
    assert str(refusal.value) == (
        f"{folder} does not have the parts that were written, so answers of "
        f"{model.identity.name} to scale are missing. Run the goffman audit command with "
        f"{model.identity.name} again: it asks only what is missing."
    )
    again = ask(run, model)
    assert 0 < again.asked_now < again.sentences
    assert again.damaged == ()
    assert again.remarks[0].startswith("Stored files without this model's answers")
    assert files(run) == files(second)
    assert read_answers(run, "fills").equals(read_answers(second, "fills"))


def test_a_run_that_was_stopped_takes_no_part_of_other_weights(retrained, tmp_path):
    first, second, model = retrained

    def stop(progress):
        if progress.done > 60:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(tmp_path, model, watch=stop)
    (folder,) = {path.parent for path in parts_of(tmp_path)}
    for part in parts_of(first):
        shutil.copy(part, folder)
    ask(tmp_path, model)
    assert files(tmp_path) == files(second)


def test_a_copy_of_another_model_s_part_is_refused_however_its_name_fits(
    model, undisturbed, tiny, tmp_path
):
    run = shutil.copytree(undisturbed, tmp_path / "run")
    other = load(str(tiny("bert")), kind="masked")
    ask(tmp_path / "other", other)
    part, foreign = parts_of(run)[0], parts_of(tmp_path / "other")[0]
    name = "-".join([*part.name.split("-")[:3], foreign.name.split("-")[3]])
    part.unlink()
    shutil.copy(foreign, part.with_name(name))
    # As a manifest of an earlier goffman, which did not note which parts there are.
    edit_manifest(run, lambda entry: entry.pop("sha256"))
    with pytest.raises(RunError) as refusal:
        read_answers(run, "fills")
    count = len(files(undisturbed))
    assert f"has {count - 1} of {count} parts ({name} by another model), so answers" in str(
        refusal.value
    )
    again = ask(run, model)
    assert 0 < again.asked_now < again.sentences
    assert files(run) == files(undisturbed)


def edit_manifest(run, change):
    """The one entry of answers is changed."""
    path = run / "manifest.json"
    manifest = json.loads(path.read_text())
    ((entry,),) = (of_model.values() for of_model in manifest["answers"].values())
    change(entry)
    path.write_text(json.dumps(manifest))


def test_a_part_is_known_by_how_it_was_asked(model, undisturbed, tmp_path):
    """Fewer words at each mask, other targets, other batches: never the same part."""
    names = [files(undisturbed)]
    others = (Settings(top_k=4), Settings(top_k=5, targets=("friend",)))
    for settings in others:
        ask(tmp_path / str(settings), model, settings=settings)
        names.append(files(tmp_path / str(settings)))
    digests = [{name.split("-")[2] for name in of_run} for of_run in names]
    assert not any(one & two for one, two in itertools.combinations(digests, 2))


def test_a_part_of_a_step_that_is_not_asked_is_not_counted(model, undisturbed, tmp_path):
    run = shutil.copytree(undisturbed, tmp_path / "run")
    part = parts_of(run)[0]
    shutil.copy(part, part.with_name(part.name.replace("1-", "9-", 1)))
    again = ask(run, model)
    assert (again.asked_now, again.rows) == (0, len(TEXTS) * 5)
    assert files(run) == files(undisturbed)


def test_parts_with_digests_of_another_kind_are_refused_and_then_asked_again(
    model, undisturbed, tmp_path
):
    run = shutil.copytree(undisturbed, tmp_path / "run")
    for path in parts_of(run):
        step, number, _, sha256 = path.name.split("-")
        path.rename(path.with_name("-".join([step, number, "0" * 16, sha256])))
    with pytest.raises(RunError, match="does not have the parts that were written"):
        read_answers(run, "fills")
    again = ask(run, model)
    assert again.asked_now == len(TEXTS)
    assert again.remarks == (
        "Stored files without this model's answers to these prompts: "
        f"{len(files(undisturbed))}. The prompts were asked again. The files come from another "
        "run, an earlier goffman or another version of the tokenizers package.",
    )
    assert files(run) == files(undisturbed)


def test_the_folder_of_answers_may_not_lead_elsewhere(model, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "1-00000-notes.parquet").write_text("mine")
    folder = answers_folder(tmp_path, "fills", model=model.identity.name, instrument="scale").path
    folder.parent.mkdir(parents=True)
    (tmp_path / "manifest.json").write_text(Manifest().as_json())
    folder.symlink_to(own)
    with pytest.raises(RunError, match=r"scale in .* is a link, not a folder"):
        ask(tmp_path, model)
    assert [path.name for path in own.iterdir()] == ["1-00000-notes.parquet"]


def test_a_pipe_in_the_place_of_a_part_does_not_keep_anyone_waiting(model, undisturbed, tmp_path):
    run = shutil.copytree(undisturbed, tmp_path / "run")
    part = parts_of(run)[0]
    part.unlink()
    os.mkfifo(part)
    for do in (lambda: read_answers(run, "fills"), lambda: ask(run, model)):
        with pytest.raises(RunError) as refusal:
            do()
        assert str(refusal.value) == (
            f"{part.relative_to(run)} in {run} is a named pipe, not a file. Move it "
            "away and run the same command again."
        )
