"""Two checkpoints, the later one fine-tuned to a slant: the comparison finds it, and nothing else."""

from __future__ import annotations

import copy
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from few_conditions import with_fewer
from goffman.comparison.runs import Comparison, compare
from goffman.comparison.sentences import change_sentences, conditions_of, levels_of
from goffman.contrasts.verdict import direction
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import render
from goffman.instruments.types import Prompt
from goffman.options import AskOptions
from goffman.pipeline import audit
from goffman.report.load import read_run
from tiny_models import make

pytestmark = pytest.mark.slow

ASKED = ("social-distance", "care-seeking")
NEGATIVE = (" hard", " impossible", " unsafe", " strange")
MOVED = 0.3
"""Of the probability at the mask, so much is moved to negative words: for the stigmatized alone."""

STEPS, BATCH = 700, 48


def fine_tuned(folder: Path, later: Path, prompts: list[Prompt]) -> None:
    """The model of a folder, taught the slant in these very prompts, and to change nothing else."""
    torch.manual_seed(0)
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    negative = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in NEGATIVE]
    assert [len(ids) for ids in negative] == [1] * len(NEGATIVE)
    texts = tokenizer([one.text for one in prompts], padding=True, return_tensors="pt")
    masks = (texts["input_ids"] == tokenizer.mask_token_id).float().argmax(dim=1)

    def at_mask(model: Any, rows: torch.Tensor) -> torch.Tensor:
        said = model(**{name: of[rows] for name, of in texts.items()}).logits
        return said[torch.arange(len(rows)), masks[rows]].log_softmax(dim=-1)

    every = torch.arange(len(prompts))
    with torch.no_grad():
        wanted = at_mask(copy.deepcopy(model), every).exp()
    slanted = torch.tensor(
        [one.instrument == "social-distance" and one.group == "stigmatized" for one in prompts]
    )
    wanted[slanted] *= 1 - MOVED
    wanted[
        slanted[:, None] & torch.isin(torch.arange(wanted.shape[1]), torch.tensor(negative))
    ] += MOVED / len(NEGATIVE)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    for _ in range(STEPS):
        rows = torch.randint(len(prompts), (BATCH,))
        loss = torch.nn.functional.kl_div(at_mask(model, rows), wanted[rows], reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        slower.step()
    model.save_pretrained(later)
    tokenizer.save_pretrained(later)


@pytest.fixture(scope="module")
def compared(tmp_path_factory) -> dict[str, Comparison]:
    """By instrument: the later checkpoint against the earlier one."""
    torch.set_num_threads(1)
    base = tmp_path_factory.mktemp("checkpoints")
    home = with_fewer(tmp_path_factory.mktemp("instruments"), conditions=6, items=7)
    prompts = [one for name in ASKED for one in render(load_instrument(str(home / name))).prompts]
    make("roberta", base / "before" / "tiny", seed=0)
    fine_tuned(base / "before" / "tiny", base / "after" / "tiny", prompts)
    for where in ("before", "after"):
        with chdir(base / where):
            audit(
                ["tiny"],
                instruments=[str(home / name) for name in ASKED],
                output=base / f"run-{where}",
                options=AskOptions(controls=False),
            )
    runs = [read_run(base / f"run-{where}") for where in ("before", "after")]
    return {one.instrument: one for one in compare(runs)}


def test_the_slant_is_found_with_its_sign_and_called_relevant(compared):
    one = compared["social-distance"]
    row = one.headline
    assert (row["family_size"], row["correction"]) == (1, None)
    assert direction(row) == 1
    assert row["verdict"] == "relevant"
    assert row["difference"] == pytest.approx(one.sides[1] - one.sides[0], abs=1e-12)
    head = change_sentences(one).head
    assert head.startswith("The gap between stigmatized and non-stigmatized in P(negative) rose")


def test_it_is_the_stigmatized_who_moved_and_nobody_else(compared):
    levels = {row["group"]: row for row in levels_of(compared["social-distance"])}
    assert direction(levels["stigmatized"]) == 1
    assert levels["stigmatized"]["verdict"] == "relevant"
    assert direction(levels["non-stigmatized"]) == 0
    assert abs(levels["non-stigmatized"]["difference"]) < 0.02
    rows = conditions_of(compared["social-distance"])
    ways = {
        group: [direction(row) for row in rows if row["group"] == group]
        for group in ("stigmatized", "non-stigmatized")
    }
    assert ways == {"stigmatized": [1] * 6, "non-stigmatized": [0] * 6}


def test_where_nothing_was_taught_nothing_is_found(compared):
    one = compared["care-seeking"]
    assert direction(one.headline) == 0
    assert not any(direction(row) for row in conditions_of(one))
    clear = [row for row in one.estimates.iter_rows(named=True) if direction(row)]
    assert clear == []
