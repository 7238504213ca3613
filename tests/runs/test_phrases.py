"""How probable a model finds the conditions' phrases: against a plain loop, and on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
import transformers

import goffman.models.bundled
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import carried_phrases, render
from goffman.models.resolve import load
from goffman.options import AskOptions
from goffman.pipeline import audit
from goffman.runs.manifest import read_manifest
from goffman.runs.run import read_answers
from tiny_chat import make_causal

MINI = Path(goffman.models.bundled.__path__[0]) / "mini"
PHRASES = [
    ("There is someone who ", "has depression", "."),
    ("There is someone who ", "is a lesbian", "."),
    ("There are people who ", "were overweight in the past", ", they say."),
    ("There is ", "chronic pain", ""),
]


def log_likelihood(model, phrase):
    """Σ log P(token) as goffman asks for it."""
    encoded = model.encode_phrase(*phrase)
    targets = sorted({token for _, token in encoded})
    found = model.phrase_batch([ids for ids, _ in encoded], targets=targets)
    own = [targets.index(token) for _, token in encoded]
    return float(np.log(found[np.arange(len(own)), own].astype(float)).sum())


def masked_by_hand(folder, before, phrase, after):
    """Each token that overlaps the phrase masked in turn, one forward pass for each."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).float().eval()
    given = tokenizer(f"{before}{phrase}{after}", return_offsets_mapping=True)
    begin, end = len(before), len(before) + len(phrase)
    total = 0.0
    for at, (first, last) in enumerate(given["offset_mapping"]):
        if last > first and first < end and last > begin:
            ids = torch.tensor([given["input_ids"]])
            token = int(ids[0, at])
            ids[0, at] = tokenizer.mask_token_id
            with torch.no_grad():
                logits = model(ids).logits[0, at].double()
            total += float(torch.log_softmax(logits, dim=-1)[token])
    return total


@pytest.mark.parametrize("family", ["mini", "roberta", "bert"])
@pytest.mark.parametrize("phrase", PHRASES)
def test_a_masked_model_s_phrase_is_as_probable_as_in_a_plain_loop(family, phrase, tiny):
    folder = MINI if family == "mini" else tiny(family)
    model = load("bundled:mini" if family == "mini" else str(folder), kind="masked")
    expected = masked_by_hand(folder, *phrase)
    assert log_likelihood(model, phrase) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("phrase", PHRASES[:3])
def test_a_causal_model_s_phrase_is_as_probable_as_after_what_stands_before(phrase, tmp_path):
    folder = make_causal("llama", tmp_path, chat=False)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).float().eval()
    before, whole = (
        [tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]
        for text in (phrase[0].rstrip(), phrase[0] + phrase[1])
    )
    total = 0.0
    for at in range(len(before), len(whole)):
        with torch.no_grad():
            logits = model(torch.tensor([whole[:at]])).logits[0, -1].double()
        total += float(torch.log_softmax(logits, dim=-1)[whole[at]])
    found = log_likelihood(load(str(folder), kind="causal"), phrase)
    assert found == pytest.approx(total, rel=1e-4)


def test_a_phrase_stands_in_its_instrument_s_slot():
    for name, start in (
        ("social-distance", "There is someone who "),
        ("people-sentiment", "There are people who "),
    ):
        instrument = load_instrument(name)
        prompts = render(instrument).prompts
        found = carried_phrases(instrument, prompts)
        assert len(found) == len({(p.condition, p.form) for p in prompts if p.form})
        assert {one.before for one in found} == {start}
        by_id = {one.id: one for one in prompts}
        assert all(one.phrase == by_id[one.prompt_id].phrase for one in found)
        assert all(one.phrase in by_id[one.prompt_id].text for one in found)
    assert carried_phrases(load_instrument("coreference"), ()) == []


def test_phrases_are_asked_once_and_on_disk_before_the_answers(tmp_path):
    options = AskOptions(controls=False, limit=7 * 60)
    asked = {"instruments": ["social-distance"], "output": tmp_path, "options": options}
    audit(["bundled:mini"], **asked)
    parts = {one.name: one.read_bytes() for one in tmp_path.glob("answers/fills/*/*/*.parquet")}
    own = [name for name in parts if name.startswith("0-")]
    assert own
    assert read_answers(tmp_path, "fills")["step"].unique().to_list() == [1]
    rows = read_answers(tmp_path, "fills", phrases=True)
    assert rows["rank"].null_count() == rows.height
    scores = pl.read_parquet(tmp_path / "scores.parquet")
    likely = scores.filter(pl.col("quantity") == "log-likelihood")
    prompts = pl.read_parquet(tmp_path / "prompts.parquet")
    assert set(likely["condition"]) == set(
        prompts.filter(pl.col("phrase").is_not_null())["condition"]
    )
    of = prompts.drop_nulls("phrase").group_by("condition").agg(pl.col("phrase").unique())
    condition, phrases = of.filter(pl.col("phrase").list.len() > 1).sort("condition").row(0)
    each = [masked_by_hand(MINI, "There is someone who ", phrase, ".") for phrase in phrases]
    expected = sum(each) / len(each)
    value = likely.filter(pl.col("condition") == condition)["value"].item()
    assert value == pytest.approx(expected, rel=1e-4)
    estimates = pl.read_parquet(tmp_path / "estimates.parquet")
    (row,) = estimates.filter(pl.col("kind") == "groups-adjusted").to_dicts()
    assert "likelihood, length and verb" in row["method"]
    assert row["verdict"] is None
    (entry,) = read_manifest(tmp_path).answers["bundled:mini"].values()
    assert entry.parts == len(parts)
    assert not sum(one.asked_now for one in audit(["bundled:mini"], **asked).asked)
    # A part that is lost is asked again, and is what it was.
    for name in own:
        next(tmp_path.glob(f"answers/fills/*/*/{name}")).unlink()
    audit(["bundled:mini"], **asked)
    again = {one.name: one.read_bytes() for one in tmp_path.glob("answers/fills/*/*/*.parquet")}
    assert again == parts
