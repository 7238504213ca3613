"""The figures of an audit, drawn from what the authors published."""

from pathlib import Path

import polars as pl

from goffman.contrasts.engine import estimates
from goffman.formatting import Labels
from goffman.measures.gender import PhraseGender, SubjectGender
from goffman.presentation.section import Section
from goffman.replicate.lin2022 import read_phrase_scores, read_subjects


def test_the_authors_scores_have_every_figure_of_an_audit(published: Path) -> None:
    for scores, measure in (
        (read_subjects(published / "lin2022"), SubjectGender()),
        (read_phrase_scores(published / "lin2022"), PhraseGender()),
    ):
        name = scores["instrument"][0]
        every = pl.concat([scores, measure.aggregate(scores)])
        section = Section(
            instrument=name,
            measure=measure.name,
            unit=measure.unit,
            presentation=measure.presentation,
            scores=every,
            estimates=estimates(every, {name: measure}, wordings={name: ["first"]}),
            names=Labels(models={}, instruments={}, conditions={}, items={}),
            contrast=measure.contrast,
            against=measure.against,
            wordings=["first"],
            items=scores["item"].unique(maintain_order=True).to_list(),
            dimensions=scores["dimension"].unique(maintain_order=True).to_list(),
        )
        drawn = {one.id: one for draw in section.presentation.figures for one in draw(section)}
        kinds = ("disparities", "parts", "items", "spread", "conditions", "levels", "models")
        assert [*drawn] == [f"{name}-{kind}" for kind in kinds]
        values = drawn[f"{name}-models"].spec["data"]["values"]
        # Three pairs of models, in each part and over all.
        groups = scores["group"].n_unique()
        assert len(values) == 3 * groups * (1 + len(section.dimensions))
