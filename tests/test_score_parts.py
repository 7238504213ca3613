"""Many prompts are scored part by part, and the scores are those of all at once."""

from __future__ import annotations

import shutil

import pytest

from goffman import scoring
from goffman.pipeline import AskOptions, audit
from goffman.runs.manifest import read_manifest


@pytest.mark.parametrize("together", [1, 7, 40])
def test_scores_do_not_depend_on_how_many_prompts_are_scored_together(
    together, asked, monkeypatch, tmp_path
):
    run = shutil.copytree(asked, tmp_path / "run")
    manifest, words = read_manifest(run), scoring.load_words()
    whole = scoring.score(run, manifest, words)
    parts = []
    each = scoring._parts

    def counted(measure, prompts):
        for part in each(measure, prompts):
            parts.append(part.height)
            yield part

    monkeypatch.setattr(scoring, "_parts", counted)
    monkeypatch.setattr(scoring, "TOGETHER", together)
    assert scoring.score(run, manifest, words).equals(whole)
    assert max(parts) == together
    assert sum(parts) == 60


@pytest.fixture(scope="module")
def asked(tiny, tmp_path_factory):
    """A run of sixty prompts."""
    folder = tmp_path_factory.mktemp("asked") / "run"
    few = AskOptions(controls=False, limit=60)
    audit([str(tiny("roberta"))], instruments=["social-distance"], output=folder, options=few)
    return folder
