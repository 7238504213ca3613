"""Sentence pairs asked without a chat, from the command to the scores, against a naive reckoning."""

from __future__ import annotations

import json
import math
import re
from collections import Counter

import polars as pl
import pytest
import torch
import transformers
from typer.testing import CliRunner

import tiny_models
from goffman.cli.main import app
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.instruments.sentence_pairs import without_a_chat
from goffman.options import AskOptions, Listener
from goffman.pipeline import audit
from goffman.runs.batch_plan import with_one_mask
from goffman.runs.run import read_answers, read_prompts
from goffman.schemas import LIKELIHOODS, complaints
from tiny_chat import make_causal

SETTINGS = ["arrogant,responsive", "old,"]
FEW = AskOptions(
    modes=("pronouns",),
    controls=False,
    settings={"coreference.pairs": 6, "coreference.adjectives": SETTINGS},
)
ID = "coreference/pronouns"


@pytest.fixture(scope="module")
def masked(tmp_path_factory):
    """A model that has the pronouns as words, but not "himself": that one must be said."""
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        words = [*tiny_models.PEOPLE, "he", "him", "his", "her"]
        patch.setattr(tiny_models, "PEOPLE", words)
        return tiny_models.make("bert", tmp_path_factory.mktemp("masked"))


@pytest.fixture(scope="module")
def causal(tmp_path_factory):
    torch.set_num_threads(1)
    return make_causal("gpt2", tmp_path_factory.mktemp("causal"), chat=False)


@pytest.fixture(scope="module")
def run(masked, causal, tmp_path_factory):
    """Both models asked in one run."""
    folder = tmp_path_factory.mktemp("run")
    models = [str(masked), str(causal)]
    done = audit(models, instruments=["coreference"], output=folder, options=FEW)
    return folder, done


def test_the_prompts_are_the_chat_s_sentences_with_the_pronoun_masked():
    """Put back, the pronoun gives the sentence of the chat, to the letter, under every setting."""
    instrument = load_instrument("coreference")
    asked = render(instrument).prompts
    preferred = render(without_a_chat(instrument)).prompts
    question = re.compile(r" Who does '\w+' refer to\? .*")
    assert len(asked) == len(preferred) == 12_640
    for chat, prompt in zip(asked, preferred, strict=True):
        assert prompt.text.replace("<mask>", str(prompt.pronoun)) == question.sub("", chat.text)
        assert (prompt.item, prompt.wording, prompt.condition, prompt.pronoun) == (
            chat.item,
            chat.wording,
            chat.condition,
            chat.pronoun,
        )
    # What pro and anti sentences share is asked once: half of the prompts are different texts.
    assert len({prompt.text for prompt in preferred}) == 6_320


def naive_masked(folder, text, forms):
    """log P of the first form minus that of the second at the mask, one plain forward pass."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    ids = tokenizer(text.replace("<mask>", tokenizer.mask_token), return_tensors="pt")
    at = ids["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    with torch.no_grad():
        log_p = torch.log_softmax(model(**ids).logits[0, at].double(), dim=-1)
    first, second = (float(log_p[tokenizer.convert_tokens_to_ids(form)]) for form in forms)
    return first - second


def naive_causal(folder, text, forms):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    found = []
    for form in forms:
        words = tokenizer(text.replace("<mask>", form), add_special_tokens=False)["input_ids"]
        ids = torch.tensor([[tokenizer.bos_token_id, *words]])
        with torch.no_grad():
            # transformers gives the mean over predicted tokens.
            loss = model(ids, labels=ids).loss
        found.append(-float(loss) * len(words))
    return found[0] - found[1]


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_preferences_equal_a_naive_reckoning(kind, run, masked, causal):
    folder, _ = run
    model, naive = {"masked": (masked, naive_masked), "causal": (causal, naive_causal)}[kind]
    prompts = read_prompts(folder)
    forms = {
        (row["item"], row["condition"], row["wording"]): row["pronoun"]
        for row in prompts.iter_rows(named=True)
    }
    vocabulary = transformers.AutoTokenizer.from_pretrained(model).get_vocab()
    scores = pl.read_parquet(folder / "scores.parquet").filter(model=str(model), level="prompt")
    texts = dict(prompts.select("prompt_id", "text").rows())
    assert scores.height == 6 * 3
    by_setting: dict[str, list[float]] = {}
    for row in scores.iter_rows(named=True):
        two = [forms[row["item"], row["condition"], side] for side in ("pro", "anti")]
        if kind == "masked" and not all(form in vocabulary for form in two):
            assert row["reason"].startswith("a form of the pronoun has no probability")
            continue
        expected = naive(model, texts[row["prompt_id"]], two)
        assert row["value"] == pytest.approx(expected, rel=1e-4, abs=1e-4)
        by_setting.setdefault(row["condition"], []).append(expected)
    assert set(by_setting) == {"baseline", *SETTINGS}
    _check_settings(folder, str(model), by_setting)


def _check_settings(folder, model, by_setting):
    """Means, and how each setting moves them, from the naive values alone."""
    means = {name: math.fsum(values) / len(values) for name, values in by_setting.items()}
    scores = pl.read_parquet(folder / "scores.parquet").filter(model=model, level="condition")
    found = {
        (quantity, condition): value
        for quantity, condition, value in scores.select("quantity", "condition", "value").rows()
    }
    for name, mean in means.items():
        assert found["preference", name] == pytest.approx(mean, rel=1e-4, abs=1e-4)
        if name != "baseline":
            moved = found["preference-minus-baseline", name]
            assert moved == pytest.approx(mean - means["baseline"], rel=1e-3, abs=1e-3)
    estimates = pl.read_parquet(folder / "estimates.parquet").filter(model=model, kind="baseline")
    differences = dict(estimates.select("first", "difference").rows())
    assert set(differences) == set(SETTINGS)
    for name, difference in differences.items():
        assert difference == pytest.approx(means[name] - means["baseline"], rel=1e-3, abs=1e-3)


def test_they_never_stand_in_one_column_with_a_chat_model_s_bias(run):
    folder, done = run
    scores = pl.read_parquet(folder / "scores.parquet")
    assert {*scores.select("instrument", "mode").rows()} == {("coreference", "pronouns")}
    assert set(scores["measure"]) == {"pronoun-preference"}
    assert [asked.instrument for asked in done.asked] == [ID, ID]
    assert any(line.startswith(f"{ID}, ") for line in done.summary)


def test_each_sentence_is_asked_once_and_nothing_again(run, masked, causal):
    folder, done = run
    of_masked, of_causal = done.asked
    assert (of_masked.sentences, of_causal.sentences) == (6 * 3, 6 * 3 * 2)
    models = [str(masked), str(causal)]
    again = audit(models, instruments=["coreference"], output=folder, options=FEW)
    assert [asked.asked_now for asked in again.asked] == [0, 0]
    likelihoods = read_answers(folder, "likelihoods")
    assert complaints(likelihoods, LIKELIHOODS) == []
    assert likelihoods.height == 6 * 3 * 2 * 2
    assert (likelihoods["log_probability"] < 0).all()


LINES = {
    "pro": "1 [The carpenter] met the nurse because [he] was late and [he] was sorry.\n"
    "2 [The nurse] thanked the carpenter because [she] had been helped.\n",
    "anti": "1 [The carpenter] met the nurse because [she] was late and [she] was sorry.\n"
    "2 [The nurse] thanked the carpenter because [he] had been helped.\n",
}


def test_sentences_with_two_marked_pronouns_are_left_out_and_counted(causal, tmp_path):
    for side, text in LINES.items():
        (tmp_path / f"{side}_stereotyped_type1.txt.test").write_text(text)
    notes = []
    options = AskOptions(
        modes=("pronouns",),
        controls=False,
        settings={"coreference.winobias": tmp_path, "coreference.adjectives": ["old,"]},
    )
    folder = tmp_path / "run"
    audit(
        [str(causal)],
        instruments=["coreference"],
        output=folder,
        options=options,
        listener=Listener(note=notes.append),
    )
    assert (
        f"{ID}: 4 sentences are left out, because more than one pronoun is marked in them." in notes
    )
    scores = pl.read_parquet(folder / "scores.parquet")
    prompt_quantity = scores.filter(level="prompt").sort("item", "condition")
    assert prompt_quantity["reason"].to_list().count("two pronouns are marked") == 2
    of_settings = scores.filter(level="condition", quantity="preference")
    assert of_settings.select("n", "missing").unique().rows() == [(1, 1)]


def test_the_command_asks_a_masked_model_for_its_pronouns(masked, tmp_path):
    command = ["audit", str(masked), "--instrument", "coreference", "--set", "coreference.pairs=4"]
    command += [
        "--set",
        "coreference.adjectives=old,",
        "--output",
        str(tmp_path),
        "--json",
        "--no-controls",
    ]
    done = CliRunner().invoke(app, command, catch_exceptions=False)
    assert done.exit_code == 0
    answers = json.loads(done.stdout[done.stdout.index("{") :])["answers"]
    assert [(row["instrument"], row["sentences"]) for row in answers] == [(ID, 8)]


def test_a_lower_precision_s_deviation_is_in_the_manifest(causal, tmp_path):
    from goffman.models.base import LoadOptions

    audit(
        [str(causal)],
        instruments=["coreference"],
        output=tmp_path,
        options=FEW,
        loading=LoadOptions(precision="bf16"),
    )
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    deviation = manifest["models"][str(causal)]["deviation"]
    assert deviation["sentences"] == 36
    assert 0 < deviation["mean_difference"] <= deviation["largest_difference"] < 5


def test_the_prompts_can_be_looked_at(tmp_path):
    done = CliRunner().invoke(app, ["prompts", "coreference/pronouns", "--limit", "2", "--json"])
    assert done.exit_code == 0
    rows = json.loads(done.stdout)
    assert [(row["mode"], row["wording"], row["pronoun"]) for row in rows] == [
        ("pronouns", "pro", "he"),
        ("pronouns", "anti", "she"),
    ]
    assert rows[0]["text"] == rows[1]["text"]
    assert rows[0]["text"].count("<mask>") == 1


def test_of_the_study_s_sentences_those_with_two_pronouns_cannot_be_asked(published):
    """24 pro and 23 anti sentences: line 295 marks one more in pro, and is one of the faulty ones."""
    instrument = without_a_chat(load_instrument("coreference"))
    path = published / "briegel2023" / "wino-data" / "pro_stereotyped_type1.txt.test"
    prompts = render(instrument, PromptOptions(winobias=path, adjectives=["none"])).prompts
    masks = Counter((prompt.wording, prompt.text.count("<mask>")) for prompt in prompts)
    assert masks == {("pro", 1): 371, ("pro", 2): 24, ("anti", 1): 372, ("anti", 2): 23}
    assert len(with_one_mask(prompts)) == 743
