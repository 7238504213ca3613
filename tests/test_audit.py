"""The whole flow: what is asked of whom, where it lies, and what never lies together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import goffman.instruments
from few_conditions import with_few_conditions
from goffman.cli.main import app
from goffman.errors import InputError, ModelError, RunError
from goffman.formatting import short_names
from goffman.models.base import LoadOptions
from goffman.models.registry import draw_sample
from goffman.models.resolve import load
from goffman.models.tokenizer import batch_limits, plan_batches
from goffman.pipeline import AskOptions, Audit, Listener, MeasureOptions, audit, default_folder
from goffman.runs.run import read_answers, read_prompts
from goffman.schemas import CONTRASTS, ESTIMATES, SCORES, SENSITIVITY, VERDICTS, complaints

DATA = Path(goffman.instruments.__file__).parent / "data"
FEW = AskOptions(controls=False, limit=12)


def ask(models, run, instruments=("care-seeking",), **more):
    """An audit, by default of few prompts, and its notes."""
    notes = []
    models = [models] if isinstance(models, str) else models
    more = {"options": FEW, "listener": Listener(note=notes.append)} | more
    return audit(models, instruments=instruments, output=run, **more), notes


def few(**options):
    return {"options": AskOptions(**{"controls": False, "limit": 12} | options)}


@pytest.fixture(scope="module")
def masked(tiny):
    return str(tiny("roberta"))


@pytest.fixture(scope="module")
def classifier(tiny):
    return str(tiny("bert", labels=("NEG", "POS")))


@pytest.fixture(scope="module")
def finished(masked, tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    ask(masked, folder)
    return folder


def test_a_few_prompts_are_of_every_group(tmp_path, masked):
    options = AskOptions(controls=False, limit=42 * 7)
    run, _ = ask(masked, tmp_path / "r", ["social-distance"], options=options)
    prompts = pl.read_parquet(run.folder / "prompts.parquet")
    assert prompts.height == 42 * 7
    asked = prompts.group_by("group", "condition", maintain_order=True).len()
    assert asked["group"].to_list()[:4] == ["baseline", "stigmatized", "non-stigmatized", "rare"]
    # Whole conditions: 42 sentences for each of their names, but for the last.
    assert all(count % 42 == 0 for count in asked["len"][:-1])


def test_every_instrument_that_a_model_can_answer_is_asked_and_the_rest_is_said(
    masked, classifier, tmp_path
):
    two_prompts = AskOptions(controls=False, limit=2)
    done, notes = ask([masked, classifier], tmp_path, (), options=two_prompts)
    assert isinstance(done, Audit)
    assert [(asked.model, asked.instrument) for asked in done.asked] == [
        (masked, "social-distance"),
        (masked, "care-seeking"),
        (masked, "attribution"),
        (masked, "coreference/pronouns"),
        (classifier, "people-sentiment"),
    ]
    # Whoever can answer any mode of an instrument is named.
    chosen = "vignettes, decisions (need a causal or chat model)."
    assert [note for note in notes if note.startswith("Skipped")] == [
        f"Skipped for {masked}: people-sentiment (needs a classifier, causal or chat model); "
        f"{chosen}",
        f"Skipped for {classifier}: social-distance, care-seeking, attribution, coreference (need "
        f"a masked, causal or chat model); {chosen}",
    ]
    prompts = read_prompts(tmp_path)
    fills, labels = read_answers(tmp_path, "fills"), read_answers(tmp_path, "labels")
    answered = {*fills["prompt_id"], *labels["prompt_id"]}
    assert answered == set(prompts["prompt_id"])
    assert prompts.group_by("instrument", maintain_order=True).len().rows() == [
        ("attribution", 2),
        ("care-seeking", 2),
        ("coreference", 2),
        ("people-sentiment", 2),
        ("social-distance", 2),
    ]
    first_step = fills.filter(pl.col("step") == 1).join(prompts, on="prompt_id")
    kept = first_step.group_by("instrument").agg(pl.col("rank").max()).sort("instrument")
    assert kept.rows() == [
        ("attribution", 10),
        ("care-seeking", 100),
        ("coreference", 10),
        ("social-distance", 50),
    ]
    assert fills.filter(pl.col("step") == 3)["parent"].str.contains("/").all()


OTHERS = (
    "or a plain text generator (a causal model), such as gpt2, or a chat model (openai:NAME, "
    "http://HOST/v1#NAME, or a model with a chat template)."
)
CLASSIFIER = f"a classifier, such as siebert/sentiment-roberta-large-english, {OTHERS}"
MASKED = f"a masked model, such as roberta-base, {OTHERS}"


@pytest.mark.parametrize(
    ("models", "instruments", "message"),
    [
        (
            ["masked"],
            ["people-sentiment"],
            "'{}' is a masked model: it fills in blanks (masks). The instrument 'people-sentiment' "
            f"needs {CLASSIFIER}",
        ),
        *(
            (
                ["classifier"],
                [name],
                f"'{{}}' is a classifier: it labels sentences. The instrument '{name}' needs "
                f"{MASKED}",
            )
            for name in ("coreference", "care-seeking")
        ),
        (
            ["masked", "other"],
            ["care-seeking", "people-sentiment"],
            "None of the models can be asked these questions. The instrument 'people-sentiment' "
            f"needs {CLASSIFIER}",
        ),
        (
            # Though the other model can answer.
            ["masked", "classifier"],
            ["care-seeking"],
            "'{1}' is a classifier: it labels sentences. The instrument 'care-seeking' needs "
            f"{MASKED}",
        ),
    ],
)
def test_a_named_instrument_that_a_model_cannot_answer_is_refused_before_anyone_is_asked(
    masked, classifier, tiny, tmp_path, models, instruments, message
):
    paths = {"masked": masked, "classifier": classifier, "other": str(tiny("bert"))}
    asked = [paths[name] for name in models]
    with pytest.raises(ModelError) as refusal:
        audit(asked, instruments=instruments, output=tmp_path / "run")
    assert str(refusal.value) == message.format(*asked)
    assert not (tmp_path / "run").exists()


def test_named_instruments_go_to_the_models_that_can_answer_them(masked, classifier, tmp_path):
    """A base model and a classifier in one command, each asked its own."""
    two_prompts = AskOptions(controls=False, limit=2)
    instruments = ["care-seeking", "people-sentiment"]
    done, notes = ask([masked, classifier], tmp_path, instruments, options=two_prompts)
    assert [(asked.model, asked.instrument) for asked in done.asked] == [
        (masked, "care-seeking"),
        (classifier, "people-sentiment"),
    ]
    assert [note.split(" (")[0] for note in notes if note.startswith("Skipped")] == [
        f"Skipped for {masked}: people-sentiment",
        f"Skipped for {classifier}: care-seeking",
    ]


def test_without_a_model_those_that_can_answer_the_instrument_are_asked():
    told = CliRunner().invoke(app, ["audit", "--instrument", "social-distance", "--dry-run"])
    assert told.exit_code == 0, told.stderr
    assert "social-distance, bundled:mini: 6,342 prompts" in told.stderr
    assert "mini-sentiment" not in told.stderr


@pytest.mark.parametrize("instrument", ["decisions", "vignettes"])
def test_a_file_that_no_model_is_asked_is_said_to_have_no_effect(instrument, tmp_path):
    (tmp_path / "bad.csv").write_text("x;y\n1;2\n", encoding="utf-8")
    setting = f"{instrument}.file={tmp_path / 'bad.csv'}"
    told = CliRunner().invoke(app, ["audit", "bundled:mini", "--set", setting, "--dry-run"])
    assert told.exit_code == 0, told.stderr
    said = (
        f"--set {instrument}.file has no effect, because none of these models can be asked "
        f"{instrument}."
    )
    assert said in " ".join(told.stderr.split())


def test_a_folder_with_other_files_is_no_place_for_a_run(masked, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "items.csv").write_text("item,text\n")
    with pytest.raises(RunError) as refusal:
        ask(masked, own)
    assert str(refusal.value) == (
        f"{own} contains other files (items.csv) and no run. Give an empty or new folder with "
        "--output."
    )
    assert [path.name for path in own.iterdir()] == ["items.csv"]
    with pytest.raises(RunError) as refusal:
        ask(masked, own / "items.csv")
    assert str(refusal.value) == (
        f"{own / 'items.csv'} is a file, not a folder. Give a folder with --output."
    )


def changed(tmp_path, name, *replacements):
    """A copy of a built-in instrument with texts replaced in its instrument.toml."""
    folder = tmp_path / "instruments" / name
    shutil.copytree(DATA / name, folder)
    toml = folder / "instrument.toml"
    text = toml.read_text()
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    toml.write_text(text)
    return str(folder)


def refusal_of(finished, model, **options):
    with pytest.raises(RunError) as refusal:
        ask(model, finished, **options)
    text = str(refusal.value)
    begin, end = (
        f"{finished} already has answers ",
        " The two cannot be mixed. Give another folder with --output, or use the same "
        "options as before.",
    )
    assert text.startswith(begin)
    assert text.endswith(end)
    return text.removeprefix(begin).removesuffix(end)


def test_another_version_of_an_instrument_never_lands_in_the_same_answers(
    finished, masked, tmp_path
):
    before = json.loads((finished / "manifest.json").read_text())["instruments"]["care-seeking"]
    other = changed(tmp_path, "care-seeking", ('version = "1.5"', 'version = "1.6"'))
    text = refusal_of(finished, masked, instruments=[other])
    assert text.startswith(
        f"to care-seeking with different settings (version: {before['version']} then, 1.6 now; "
        "the instrument's files have changed)."
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (few(top_k=7), "to care-seeking with different settings (top k: 100 then, 7 now)."),
        (
            few(targets=("she",)),
            "to care-seeking with different settings (targets: none then, she now).",
        ),
        (few(limit=13), "to a different set of care-seeking prompts (12 prompts then, 13 now)."),
        (
            few(batch_size=3),
            "of '{}' with different settings (max tokens: 1024 then, 30000 now; "
            "max size: 32 then, 3 now).",
        ),
        (
            {"loading": LoadOptions(precision="bf16")},
            "of '{}' with different settings (precision: float32 then, bf16 now).",
        ),
    ],
)
def test_what_was_asked_otherwise_never_lands_in_the_same_answers(
    finished, masked, options, message
):
    before = (finished / "manifest.json").read_bytes(), read_prompts(finished)
    assert refusal_of(finished, masked, **options) == message.format(masked)
    assert (finished / "manifest.json").read_bytes() == before[0]
    assert read_prompts(finished).equals(before[1])


def test_other_weights_under_one_name_never_land_in_the_same_answers(tiny, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(tiny("roberta"), model)
    run = tmp_path / "run"
    ask(str(model), run)
    shutil.rmtree(model)
    shutil.copytree(tiny("roberta", seed=1), model)
    text = refusal_of(run, str(model))
    assert text.startswith(f"of '{model}' with different settings (different weights")


def test_other_meanings_of_labels_never_land_in_the_same_answers(classifier, tmp_path):
    ask(classifier, tmp_path, ())
    swapped = LoadOptions(labels={"NEG": "positive", "POS": "negative"})
    text = refusal_of(tmp_path, classifier, instruments=(), loading=swapped)
    assert text == (
        f"of '{classifier}' with different settings (labels: negative, positive then, "
        "positive, negative now)."
    )


def test_another_instrument_and_model_may_join_a_run(masked, tiny, tmp_path):
    ask(masked, tmp_path)
    rows = read_answers(tmp_path, "fills").height
    second = str(tiny("bert"))
    ask(second, tmp_path, ["social-distance"])
    fills = read_answers(tmp_path, "fills").join(read_prompts(tmp_path), on="prompt_id")
    assert fills.group_by("model", "instrument").len().sort("instrument").rows() == [
        (masked, "care-seeking", rows),
        (second, "social-distance", 12 * 50),
    ]


def test_a_table_of_prompts_that_is_gone_comes_back_the_same(masked, tmp_path):
    ask(masked, tmp_path)
    before = (tmp_path / "prompts.parquet").read_bytes()
    (tmp_path / "prompts.parquet").unlink()
    assert ask(masked, tmp_path)[0].asked[0].asked_now == 0
    assert (tmp_path / "prompts.parquet").read_bytes() == before
    (tmp_path / "prompts.parquet").write_bytes(b"PAR1")
    with pytest.raises(RunError) as refusal:
        read_prompts(tmp_path)
    assert str(refusal.value) == (
        f"{tmp_path / 'prompts.parquet'} was damaged or edited after goffman wrote it. Run the "
        "goffman audit command of this run again. It writes the file again and asks no model."
    )
    assert ask(masked, tmp_path)[0].asked[0].asked_now == 0
    assert (tmp_path / "prompts.parquet").read_bytes() == before


def test_a_model_whose_answers_are_damaged_is_left_out_of_the_scores_and_named(tiny, tmp_path):
    """The other model is measured all the same, and an audit of the damaged one mends it."""
    first, second = str(tiny("roberta")), str(tiny("bert"))
    ask([first, second], tmp_path)
    whole = pl.read_parquet(tmp_path / "scores.parquet")
    parts = [p for p in (tmp_path / "answers").rglob("*.parquet") if "bert" in str(p)]
    (part,) = [p for p in parts if set(pl.read_parquet(p)["model"]) == {second}]
    part.write_bytes(part.read_bytes()[:100])
    done, notes = ask(first, tmp_path)
    assert [asked.asked_now for asked in done.asked] == [0]
    scores = pl.read_parquet(tmp_path / "scores.parquet")
    assert scores.equals(whole.filter(pl.col("model") == first))
    assert [note for note in notes if note.startswith("care-seeking")] == [
        f"care-seeking, {second}: left out of scores and estimates. {part.parent} has 0 of 1 "
        f"parts ({part.name} damaged), so answers of {second} to care-seeking are "
        f"missing. Run the goffman audit command with {second} again: it asks only what is "
        "missing."
    ]
    ask(second, tmp_path)
    assert pl.read_parquet(tmp_path / "scores.parquet").equals(whole)


def test_a_lower_precision_says_how_far_it_is_from_float32(masked, tmp_path):
    low = LoadOptions(precision="bf16")
    ask(masked, tmp_path, loading=low)
    entry = json.loads((tmp_path / "manifest.json").read_text())["models"][masked]
    assert entry["precision"] == "bf16"
    deviation = entry["deviation"]
    exact, rough = load(masked, kind="masked"), load(masked, kind="masked", options=low)
    texts = read_prompts(tmp_path)["text"].to_list()
    encoded = exact.encode(draw_sample(texts, top_k=10, seed=0).texts)
    max_tokens, max_size = batch_limits(exact.identity.device)
    lengths = [len(sentence) for sentence in encoded]
    size, largest, shares = len(exact.tokens), 0.0, []
    # In the batches of the audit: a low precision rounds otherwise in others, by the CPU's kernels.
    for batch in plan_batches(lengths, max_tokens=max_tokens, max_size=max_size):
        together = [encoded[index] for index in batch]
        one, other = (m.fill_batch(together, top_k=size) for m in (exact, rough))
        for row in range(len(batch)):
            first, second = one.token_ids[row], other.token_ids[row]
            shares.append(len({*first[:100]} & {*second[:100]}) / 100)
            by_token = dict(zip(second, other.probabilities[row], strict=True))
            top = zip(first[:100], one.probabilities[row][:100], strict=True)
            largest = max(largest, *(abs(by_token[token] - p) for token, p in top))
    assert deviation["sentences"] == len(shares) == 12
    assert 0 < deviation["largest_difference"] == pytest.approx(largest, rel=1e-6)
    assert deviation["overlap"] == pytest.approx(np.mean(shares))
    assert deviation["overlap_lowest"] == min(shares)
    again, _ = ask(masked, tmp_path, loading=low)
    assert again.asked[0].asked_now == 0


def test_a_classifier_in_a_lower_precision_says_so_too(classifier, tmp_path):
    low = LoadOptions(precision="bf16")
    ask(classifier, tmp_path, (), loading=low)
    entry = json.loads((tmp_path / "manifest.json").read_text())["models"][classifier]
    assert entry["deviation"]["sentences"] == 12
    assert 0 < entry["deviation"]["largest_difference"] < 0.2
    assert 0 <= entry["deviation"]["same_label"] <= 1


def test_the_default_folder_is_named_after_the_models(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert default_folder(["."]) == Path("runs/here")
    assert default_folder(["org/some-model@main", "./x/"]) == Path("runs/some-model-main+x")
    assert len(default_folder([f"model-{n}" for n in range(50)]).name) < 90


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (few(limit=0), "--limit is 0. Allowed: a whole number from 1 to 1,000,000,000."),
        (few(batch_size=0), "--batch-size is 0. Allowed: a whole number from 1 to 1,000,000."),
    ],
)
def test_options_that_mean_nothing_are_refused(masked, tmp_path, options, message):
    with pytest.raises(InputError) as refusal:
        ask(masked, tmp_path, (), **options)
    assert str(refusal.value) == message


def test_two_instruments_of_one_id_are_refused(masked, tmp_path):
    other = changed(tmp_path, "care-seeking")
    with pytest.raises(InputError) as refusal:
        ask(masked, tmp_path / "run", ["care-seeking", other])
    assert str(refusal.value) == (
        "Two instruments have the id 'care-seeking'. Give only one of them."
    )


def test_the_command_says_where_the_answers_lie_and_how_many(masked, tmp_path):
    arguments = ["audit", masked, "--instrument", "care-seeking", "--limit", "3", "--no-controls"]
    done = CliRunner().invoke(app, [*arguments, "--output", str(tmp_path), "--json"])
    assert done.exit_code == 0
    printed = json.loads(done.stdout)
    assert printed["folder"] == str(tmp_path)
    assert [(a["instrument"], a["sentences"], a["rows"]) for a in printed["answers"]] == [
        ("care-seeking", 3, 300)
    ]
    again = CliRunner().invoke(app, [*arguments, "--output", str(tmp_path)])
    head, *_, report, show, _ = again.stdout.splitlines()
    assert head.endswith(" · 1 model · 1 instrument · 3 sentences · nothing was left to ask")
    assert report == f"Report   {tmp_path}/report.html"
    assert show.startswith(f"Next     goffman show {tmp_path}")
    assert done.stderr.splitlines()[-3:] == [
        "Asking 1 model about 3 sentences.",
        "Measuring the answers.",
        "Writing the report.",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--batch-size", "many"],
            "--batch-size is 'many'. Allowed: auto, or a whole number, 1 or more.",
        ),
        (
            ["--correlate", "roberta-base"],
            (
                "--correlate is 'roberta-base'. Write BASE=CLASSIFIER, such as --correlate "
                "roberta-base=org/classifier. The classifier must be fine-tuned from the base "
                "model."
            ),
        ),
        (
            ["--labels", "LABEL_0:negative"],
            (
                "--labels has 'LABEL_0:negative'. Write LABEL=MEANING, such as --labels "
                "LABEL_0=negative,LABEL_1=positive. The meanings are negative, neutral and "
                "positive."
            ),
        ),
    ],
)
def test_the_command_refuses_what_it_cannot_read(masked, tmp_path, options, message):
    done = CliRunner().invoke(app, ["audit", masked, "--output", str(tmp_path), *options])
    assert isinstance(done.exception, InputError)
    assert str(done.exception) == message


@pytest.fixture(scope="module")
def measured(masked, classifier, tmp_path_factory):
    """All that both models can be asked, 30 prompts of each instrument: the folder and the audit."""
    folder = tmp_path_factory.mktemp("measured")
    pairs = ((masked, classifier),)
    options = AskOptions(controls=False, limit=30)
    done = audit(
        [masked, classifier], output=folder, options=options, measuring=MeasureOptions(pairs=pairs)
    )
    return folder, done


def test_an_audit_ends_with_scores_estimates_and_sentences(measured, masked, classifier):
    folder, done = measured
    scores = pl.read_parquet(folder / "scores.parquet")
    found = pl.read_parquet(folder / "estimates.parquet")
    assert complaints(scores, SCORES) == []
    assert complaints(found, CONTRASTS + ESTIMATES + VERDICTS) == []
    prompts = scores.filter(pl.col("level") == "prompt")
    asked = read_prompts(folder)
    # A preference is of both sentences of a pair; it stands at the one with the stereotype.
    own = (pl.col("mode") != "pronouns") | (pl.col("wording") == "pro")
    assert set(prompts["prompt_id"]) == set(asked.filter(own)["prompt_id"])
    assert dict(prompts.select("instrument", "measure").unique().rows()) == {
        "attribution": "gender-of-phrase",
        "care-seeking": "gender-of-subject",
        "coreference": "pronoun-preference",
        "people-sentiment": "negative-sentiment",
        "social-distance": "negative-attitude",
    }
    assert found["contrast"].is_unique().all()
    # One model of each kind: over all models it would be the same correlation again.
    assert found.filter(pl.col("kind") == "measures")["first"].to_list() == [
        f"negative-attitude of {masked}",
    ]
    asked_of = {*scores["instrument"]}
    headings = [line for line in done.summary if not line.startswith(" ") and line not in asked_of]
    short = short_names([masked, classifier])
    assert headings == [
        f"social-distance, {short[masked]}",
        f"care-seeking, {short[masked]}",
        f"attribution, {short[masked]}",
        f"coreference/pronouns, {short[masked]}",
        f"people-sentiment, {short[classifier]}",
        "Note",
    ]


def test_tables_that_are_gone_come_back_the_same_without_asking(measured, masked, classifier):
    folder, done = measured
    before = {
        name: (folder / name).read_bytes() for name in ("scores.parquet", "estimates.parquet")
    }
    manifest = (folder / "manifest.json").read_bytes()
    for name in before:
        (folder / name).unlink()
    again = audit(
        [masked, classifier],
        output=folder,
        options=AskOptions(controls=False, limit=30),
        measuring=MeasureOptions(pairs=((masked, classifier),)),
    )
    assert not any(asked.asked_now for asked in again.asked)
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert (folder / "manifest.json").read_bytes() == manifest
    assert again.summary == done.summary


def test_ones_own_ratings_count_and_stand_in_the_manifest(masked, tmp_path):
    ratings = tmp_path / "mine.csv"
    ask(masked, tmp_path / "run", ["social-distance"])

    def shares():
        scores = pl.read_parquet(tmp_path / "run" / "scores.parquet")
        return scores.filter(pl.col("level") == "prompt", pl.col("quantity") == "rated-share")

    words = {word.strip().casefold() for word in read_answers(tmp_path / "run", "fills")["word"]}
    assert shares()["value"].max() < 1
    rows = [f"{word},negative" for word in sorted(words) if word.isalnum()]
    ratings.write_text("\n".join(["word,label", *rows]))
    mine = MeasureOptions(ratings=(ratings,))
    again, _ = ask(masked, tmp_path / "run", ["social-distance"], measuring=mine)
    assert again.asked[0].asked_now == 0
    assert shares()["value"].min() > 0.99
    lexicons = json.loads((tmp_path / "run" / "manifest.json").read_text())["lexicons"]
    files = [source["file"] for source in lexicons["attitudes"]]
    assert files == ["shipped", "mei2023", str(ratings)]
    assert all(len(source["sha256"]) == 64 for source in lexicons["attitudes"])
    assert len(lexicons["gender"]["sha256"]) == 64


def test_a_run_with_answers_that_were_never_finished_is_measured_without_them(
    masked, finished, tmp_path
):
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    manifest = json.loads((run / "manifest.json").read_text())
    other = {"table": "fills", "sentences": None, "rows": None, "parts": None}
    manifest["models"]["other"] = manifest["models"][masked]
    manifest["answers"]["other"] = {"care-seeking": other}
    (run / "manifest.json").write_text(json.dumps(manifest))
    _, notes = ask(masked, run)
    assert "care-seeking, other: not all prompts are answered yet, so there are no scores." in notes
    assert pl.read_parquet(run / "scores.parquet")["model"].drop_nulls().unique().to_list() == [
        masked
    ]


def test_an_instrument_without_a_measure_is_asked_and_not_scored(masked, tmp_path):
    own = changed(tmp_path, "care-seeking", ('measure = "gender-of-subject"\n', ""))
    done, notes = ask(masked, tmp_path / "run", [own])
    assert "care-seeking names no measure in [settings], so it has no scores." in notes
    assert done.summary == ()
    assert pl.read_parquet(tmp_path / "run" / "scores.parquet").height == 0


def test_a_pair_of_models_that_are_not_audited_is_refused_before_anyone_is_asked(masked, tmp_path):
    pairs = ((masked, "other"),)
    with pytest.raises(InputError) as refusal:
        audit([masked], output=tmp_path / "run", measuring=MeasureOptions(pairs=pairs))
    assert str(refusal.value) == (
        "--correlate names 'other', which this audit does not ask. Add it as a model: goffman "
        f"audit {masked} other --correlate {masked}=other"
    )
    assert not (tmp_path / "run").exists()


def test_wordings_that_are_off_by_default_are_asked_and_compared_on_request(masked, tmp_path):
    """Beside the others: the run itself has the wordings that are always asked."""
    folder = changed(tmp_path, "attribution", ("depth = 3", "depth = 1"))
    with_few_conditions("care-seeking", Path(folder).parent / "care-seeking", each=2)
    options = AskOptions(controls=False, paraphrases=True)
    ask(masked, tmp_path / "run", [folder], options=options)
    assert read_prompts(tmp_path / "run")["wording"].unique().to_list() == ["first"]
    further = read_prompts(tmp_path / "run" / "paraphrases")
    # 27 statements about four diagnoses, and each without one.
    assert further.group_by("paraphrase").len().sort("paraphrase").rows() == [
        ("second", 135),
        ("third", 135),
    ]
    rows = pl.read_parquet(tmp_path / "run" / "sensitivity.parquet")
    assert complaints(rows, SENSITIVITY) == []
    by_wording = ["wording alone", "paraphrase alone", "with the paraphrases"]
    worded = rows.filter(pl.col("variation").is_in(by_wording))
    assert worded["what"].to_list() == ["first", "second", "third", ""]


def test_ones_own_gender_words_change_the_scores_and_stand_in_the_manifest(masked, tmp_path):
    """With a lexicon in which the model's commonest word is female, P(female) is larger."""
    run = tmp_path / "run"
    ask(masked, run)
    fills = read_answers(run, "fills").filter(pl.col("probability") >= 0.01)
    word = fills.group_by("word").agg(pl.col("probability").sum()).sort("probability")["word"][-1]

    def female() -> float:
        scores = pl.read_parquet(run / "scores.parquet")
        wanted = (pl.col("level") == "prompt") & (pl.col("quantity") == "female")
        return scores.filter(wanted & (pl.col("variant") == "with-names"))["value"].sum()

    before = female()
    mine = tmp_path / "mine.csv"
    mine.write_text(f"word,group,kind\n{word},female,noun\nhim,male,pronoun\n")
    ask(masked, run, measuring=MeasureOptions(gender_words=mine))
    assert female() > before
    manifest = json.loads((run / "manifest.json").read_text())
    assert '"mine.csv"' in json.dumps(manifest)


def test_a_top_k_beyond_the_vocabulary_does_not_bind_the_folder(masked, tmp_path):
    message = r"--top-k is 100000 for care-seeking, but '.*' knows only"
    with pytest.raises(InputError, match=message):
        ask(masked, tmp_path / "run", **few(top_k=100_000))
    ask(masked, tmp_path / "run")


def test_a_step_that_is_asked_again_leaves_those_below_where_its_words_came_out_the_same(
    masked, tmp_path
):
    """Step 2 hangs on the words of step 1: a part answers its sentences, whoever led to them."""
    run, three = tmp_path / "run", few(limit=3)
    ask(masked, run, ["attribution"], **three)
    before = read_answers(run, "fills")
    first = next((run / "answers").rglob("1-00000-*.parquet"))
    first.write_bytes(first.read_bytes() + b"x")
    done, _ = ask(masked, run, ["attribution"], **three)
    assert done.asked[0].asked_now == 3
    assert read_answers(run, "fills").equals(before)


@pytest.mark.parametrize(
    ("loading", "message"),
    [
        (LoadOptions(labels={"NEG": "negative", "PSO": "positive"}), "--labels names 'PSO', but"),
        (LoadOptions(labels={"NEG": "positive"}), "The labels of '"),
        (LoadOptions(device="tpu"), "There is no device 'tpu'. Give auto, cpu, cuda, cuda:0,"),
        (
            LoadOptions(precision="bf61"),  # type: ignore[arg-type]
            "There is no precision 'bf61'. Did you mean 'bf16'? Allowed: float32, bf16, fp16.",
        ),
    ],
)
def test_what_the_second_model_cannot_bear_is_said_before_the_first_is_asked(
    masked, classifier, tmp_path, loading, message
):
    run = tmp_path / "run"
    with pytest.raises(ModelError) as refusal:
        ask([masked, classifier], run, (), loading=loading)
    assert str(refusal.value).startswith(message)
    assert not run.exists()


def test_a_second_model_without_weights_or_of_its_own_code_is_refused_first(masked, tiny, tmp_path):
    run = tmp_path / "run"
    empty = shutil.copytree(tiny("bert"), tmp_path / "empty")
    (empty / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="has no weights that goffman can read"):
        ask([masked, str(empty)], run, ())
    own = shutil.copytree(tiny("bert"), tmp_path / "own")
    config = json.loads((own / "config.json").read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Mine"}}
    (own / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="comes with Python code of its own"):
        ask([masked, str(own)], run, ())
    assert not run.exists()


def test_the_manifest_says_what_a_finished_run_was_measured_with_last(masked, classifier, tmp_path):
    run = tmp_path / "run"
    instruments = ["social-distance", "people-sentiment"]

    def measured(seed, pairs=()):
        options = few(seed=seed) | {"measuring": MeasureOptions(pairs=pairs)}
        done, _ = ask([masked, classifier], run, instruments, **options)
        manifest = json.loads((run / "manifest.json").read_text())
        made_from = manifest["measuring"].pop("made_from")
        assert len(made_from) == 64
        assert {"goffman", "numpy", "scipy"} <= manifest["measuring"].pop("versions").keys()
        return manifest["measuring"], sum(one.asked_now for one in done.asked)

    version = goffman.__version__
    assert measured(0)[0] == {"seed": 0, "pairs": [], "goffman": version}
    again, asked_now = measured(7, ((masked, classifier),))
    assert again == {"seed": 7, "pairs": [[masked, classifier]], "goffman": version}
    assert asked_now == 0


def test_targets_are_given_on_the_command_line_and_those_of_several_tokens_are_said(
    masked, tmp_path
):
    command = ["audit", masked, "--instrument", "care-seeking", "--limit", "2", "--top-k", "3"]
    command += ["--targets", "woman, man", "--targets", "no such word"]
    done = CliRunner().invoke(app, [*command, "--output", str(tmp_path / "run"), "--json"])
    assert done.exit_code == 0, done.output
    assert f"{masked} splits these words into several tokens" in done.stderr
    assert "their probability is not recorded: no such word." in done.stderr
    (asked,) = json.loads(done.stdout)["answers"]
    assert asked["not_one_token"] == ["no such word"]
    fills = read_answers(tmp_path / "run", "fills")
    for _, rows in fills.group_by("prompt_id"):
        assert {"woman", "man"} <= set(rows["word"])
    empty = CliRunner().invoke(app, ["audit", masked, "--targets", "woman,,man"])
    assert isinstance(empty.exception, InputError)
    assert str(empty.exception) == (
        "--targets is 'woman,,man', with an empty word in it. Put one comma between words: "
        "--targets likely,unlikely"
    )
